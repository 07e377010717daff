"""The front door: label a scan, look at it and ask why, in a line each.

It lies above inference, which labels, and show, which draws, because its results can do both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal, Unpack, overload

import torch

from point2node.core.words import Report, unreported
from point2node.inference.classifier import ShapeClassifier
from point2node.inference.explainer import Explainer, PointExplanation
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labelled_files import just_labelled
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.looks import Quality
from point2node.inference.scan_check import examine_cloud, settle_scale
from point2node.inference.working import Given, as_device, fetch_trained, open_given
from point2node.models.pretrained import HubOptions
from point2node.show.floor_plan import FloorPlan, draw_plan
from point2node.show.objects import FoundObject, find_objects
from point2node.show.scene_page import write_scene_page
from point2node.show.stills import write_still

Name = str | PathLike[str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Labelled(LabelledCloud):
    """A labelled scan: its labels as arrays, and what can be done with them."""

    labeller: Labeller
    options: Options
    """How the scan was read; ``scale`` is the one that was used."""
    doubts: tuple[str, ...]
    """What may be wrong with the scan for these weights: no colours, an axis that is not the vertical …"""

    def page(self, path: Name) -> Path:
        """Write one HTML page to look around in, which needs nothing else; returns it."""
        target = Path(path)
        write_scene_page(self._scene, target)
        return target

    def picture(self, path: Name, by: str = "class") -> Path:
        """Write a PNG of the scan, opened for the eye; coloured by class, rgb, confidence or entropy. Returns it."""
        target = Path(path)
        write_still(self._scene, target, by)
        return target

    def objects(self) -> list[FoundObject]:
        """The pieces of furniture, doors, windows … with their boxes in metres, found from the labels."""
        return find_objects(self._scene.in_metres())

    def plan(self) -> FloorPlan:
        """The floor plan; an ``InputError`` where the labels have no walls, or neither a floor nor a ceiling."""
        return draw_plan(self._scene.in_metres(), self.name)

    def explain(self, point: int) -> PointExplanation:
        """Why a point has its label: the correlations of the network in the block around it."""
        return self._explainer.explain(point)

    @cached_property
    def _scene(self) -> LabelledCloud:
        return just_labelled(self).upright()

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self.labeller, self.cloud, self.options)


class Labeller(SceneLabeller):
    """Pretrained weights that label every point of a scan.

    labeller = Labeller.from_pretrained("rooms")
    labelled = labeller("scan.laz")
    labelled.save("labelled.laz")
    """

    def __call__(
        self,
        scan: Given,
        *,
        scale: float | None = None,
        up: str = "z",
        color: bool = True,
        votes: int | None = None,
        thin: float | None = None,
        quality: Quality | None = None,
        smooth: bool | None = None,
        norm_share: float = 0.0,
        memory: float | None = None,
        progress: Report | None = None,
    ) -> Labelled:
        """Label every point that has a position, as ``point2node predict`` does.

        Args:
            scan: a file of any readable format, a ``PointCloud``, or an array: (N, 3) coordinates or (N, 6)
                coordinates and colours.
            scale: metres in one unit: 0.001 for millimetres. By default what the file says, or the unit in which the
                scan is a room.
            up: the axis that points upwards: x, y or z, or with a minus before it.
            color: whether its colours are used.
            votes: how often each point is labelled, the scan turned otherwise each time; more is slower and steadier.
                As ``quality`` says if not given.
            thin: metres: the network labels one point in each cube of this edge, the probabilities of others are
                interpolated from the nearest three of these; 0 for every point, as the weights say if not given.
            quality: "fast": one look at the scan; "balanced", the default: further looks at blocks that are
                unsure after it; "best": all looks at every point.
            smooth: whether probabilities are averaged over smooth surfaces; as the weights say if not given.
            norm_share: from 0 to 1: how much of the batch norms' statistics are those of the scan itself.
            memory: bytes to stay below; 60 % of what is free if not given.
            progress: called with how many points are labelled, how many there are, and the name of the scan.
        """
        limit = None if memory is None else int(memory)
        options = Options(
            scale=scale,
            up=up,
            color=color,
            votes=votes,
            thin=thin,
            quality=quality,
            smooth=smooth,
            memory=limit,
            norm_share=norm_share,
        )
        cloud, name = open_given(scan, limit)
        options, _ = settle_scale(cloud, self, options)
        doubts = tuple(doubt.text for doubt in examine_cloud(cloud, self, options, name).doubts)
        found = self.label(cloud, options, progress or unreported, name)
        said = {one.name: getattr(found, one.name) for one in fields(found)}
        return Labelled(**said, labeller=self, options=options, doubts=doubts)


@overload
def load(
    name: Literal["rooms"], *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
) -> Labeller: ...


@overload
def load(
    name: Literal["modelnet10", "modelnet40"], *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
) -> ShapeClassifier: ...


@overload
def load(
    name: Name, *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
) -> Labeller | ShapeClassifier: ...


def load(
    name: Name, *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
) -> Labeller | ShapeClassifier:
    """What the weights called ``name`` can do: label the points of scans, or name single shapes.

    The short form of ``Labeller.from_pretrained`` and ``ShapeClassifier.from_pretrained``, whose arguments it takes.
    """
    trained = fetch_trained(name, **hub)
    kind = Labeller if trained.card.task == "segmentation" else ShapeClassifier
    return kind(trained, as_device(device))
