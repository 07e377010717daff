"""The main interface: label a scan, look at the result and explain a label, in one line each.

It imports both inference, which labels, and show, which draws, because its results can do both.
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
from point2node.inference.labelled_files import as_if_read
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.looks import Quality
from point2node.inference.scan_check import choose_scale, examine_cloud
from point2node.inference.working import CloudInput, as_device, fetch_trained, open_input
from point2node.models.pretrained import HubOptions
from point2node.show.floor_plan import FloorPlan, draw_plan
from point2node.show.objects import FoundObject, find_objects
from point2node.show.scene_page import write_scene_page
from point2node.show.stills import write_still

Name = str | PathLike[str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Labelled(LabelledCloud):
    """A labelled scan: its labels as arrays, and methods to save, show and explain them."""

    labeller: Labeller
    options: Options
    """How the scan was read, with the ``scale`` that was used."""
    doubts: tuple[str, ...]
    """Possible problems of the scan with these weights: no colours, the wrong vertical axis …"""

    def page(self, path: Name) -> Path:
        """Write a self-contained HTML page with a 3-D view of the scan; returns its path."""
        target = Path(path)
        write_scene_page(self._scene, target)
        return target

    def picture(self, path: Name, by: str = "class") -> Path:
        """Write a PNG of the scan, cut open, coloured by class, rgb, confidence or entropy; returns its path."""
        target = Path(path)
        write_still(self._scene, target, by)
        return target

    def objects(self) -> list[FoundObject]:
        """Find furniture, doors, windows … from the labels, with their boxes in metres."""
        return find_objects(self._scene.in_metres())

    def plan(self) -> FloorPlan:
        """Draw the floor plan; raises ``InputError`` if the labels have no walls, or neither floor nor ceiling."""
        return draw_plan(self._scene.in_metres(), self.name)

    def explain(self, point: int) -> PointExplanation:
        """Explain the label of a point by the network's correlations in the block around it."""
        return self._explainer.explain(point)

    @cached_property
    def _scene(self) -> LabelledCloud:
        return as_if_read(self).upright()

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
        scan: CloudInput,
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
            scale: metres per unit: 0.001 for millimetres. Default: the file's unit, or the unit in which the scan has
                the size of a room.
            up: the axis that points upwards: x, y, z, -x, -y or -z.
            color: whether the scan's colours are used.
            votes: how often each point is labelled, with the scan turned differently each time; more is slower and
                more stable. Default: set by ``quality``.
            thin: edge of a cube in metres: the network labels one point per cube, and the probabilities of the others
                are interpolated from the nearest three of these; 0 for every point. Default: set by the weights.
            quality: "fast": one pass over the scan; "balanced", the default: further passes over blocks that are
                uncertain after the first; "best": all passes over every point.
            smooth: whether probabilities are averaged over smooth surfaces. Default: set by the weights.
            norm_share: from 0 to 1: the share of the scan's own statistics in the batch norms.
            memory: memory limit in bytes. Default: 60 % of the free memory.
            progress: called with the number of labelled points, the number of all points and the scan's name.
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
        cloud, name = open_input(scan, limit)
        options, _ = choose_scale(cloud, self, options)
        doubts = tuple(doubt.text for doubt in examine_cloud(cloud, self, options, name).doubts)
        found = self.label(cloud, options, progress or unreported, name)
        values = {one.name: getattr(found, one.name) for one in fields(found)}
        return Labelled(**values, labeller=self, options=options, doubts=doubts)


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
    """Load the weights called ``name``: a ``Labeller`` for scans or a ``ShapeClassifier`` for single shapes.

    Short for ``Labeller.from_pretrained`` and ``ShapeClassifier.from_pretrained``, with the same arguments.
    """
    trained = fetch_trained(name, **hub)
    kind = Labeller if trained.card.task == "segmentation" else ShapeClassifier
    return kind(trained, as_device(device))
