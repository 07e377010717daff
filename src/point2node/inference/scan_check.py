"""Check a cloud before labelling: its size and density, and possible problems with these weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.point_cloud import PointCloud
from point2node.geometry.frames import FARTHEST, FARTHEST_BELOW, HIGHEST, LOOKED_AT, UPWARDS, place, strays
from point2node.geometry.neighbours import k_nearest_neighbours
from point2node.inference.labeller import Options, SceneLabeller

SAMPLE = 20_000
NEIGHBOURS = 16
UNITS = (("metres", 1.0), ("centimetres", 0.01), ("millimetres", 0.001))
ROOM_HEIGHT = (1.5, 12.0)
"""Metres between the lowest and the highest point of indoor scans, except for single objects and halls."""
LARGEST_INDOORS = 120.0
"""Metres: training rooms are up to 40 m long, buildings with several rooms a few times that."""
THINNEST = 0.08
"""Metres between neighbouring points: in sparser scans, chairs and tables are no longer recognisable."""
CLEARLY = 1.5
"""The factor by which more surface must face along another axis before that axis is taken as the vertical."""
FEW_POINTS = 500
INDOORS = ("rooms", "s3dis", "scannet")
"""The data sets that indoor weights are trained on."""


@dataclass(frozen=True)
class Doubt:
    """A possible problem of the cloud with these weights."""

    text: str
    option: str = ""
    """The command-line option that fixes it."""
    fix: Options | None = None
    """The options with the fix applied."""

    def __str__(self) -> str:
        return f"{self.text}; {self.option} fixes that" if self.option else self.text


@dataclass(frozen=True)
class InputCard:
    """A description of a cloud as read with the given options; lengths are in metres."""

    points: int
    without_position: int
    extent: tuple[float, float, float]
    up: str
    scale: float
    floor: float
    """The height of the floor in the cloud's own coordinates, in metres."""
    spacing: float
    """The median distance between neighbouring points."""
    coloured: bool
    doubts: tuple[Doubt, ...]

    def __str__(self) -> str:
        x, y, z = self.extent
        colour = "coloured" if self.coloured else "no colour"
        spacing = "" if np.isnan(self.spacing) else f"a point every {1000 * self.spacing:.0f} mm, "
        return (
            f"{self.points:,} points, {x:.1f} × {y:.1f} × {z:.1f} m, {self.up} up, floor at {self.floor:.2f} m, "
            f"{spacing}{colour}"
        )


def examine_cloud(cloud: PointCloud, labeller: SceneLabeller, options: Options, name: str = "cloud") -> InputCard:
    """Describe a cloud as read with the options, with all doubts about it."""
    scale = options.scale_of(cloud)
    placement = place(cloud, scale, options.up, name)
    xyz = placement.xyz
    random = np.random.default_rng(0)
    sample = xyz[random.choice(len(xyz), SAMPLE, replace=False)] if len(xyz) > SAMPLE else xyz
    extent = _extent(sample if len(xyz) > SAMPLE else xyz)
    spacing, facing = _surface(sample, len(xyz))
    file_axis = "xyz".index(options.up[-1])
    sign = -1 if options.up.startswith("-") else 1
    lowest = float(np.min(sign * cloud.xyz[placement.numbers, file_axis])) * scale
    card = InputCard(
        points=len(cloud),
        without_position=len(cloud) - len(xyz),
        extent=extent,
        up=options.up,
        scale=scale,
        floor=sign * (lowest - float(xyz[:, 2].min())),
        spacing=spacing,
        coloured=cloud.rgb is not None and options.color,
        doubts=(),
    )
    doubts = [
        *_doubts_about_points(card, cloud, xyz),
        *_doubts_about_frame(card, extent, facing, labeller, options),
        *_doubts_about_colour(cloud, labeller, options),
    ]
    return replace(card, doubts=tuple(doubts))


def choose_scale(cloud: PointCloud, labeller: SceneLabeller, options: Options) -> tuple[Options, str]:
    """Return the options with a scale, and the reason if it is not 1.

    The scale is the one given, the file's unit, or the only unit in which the scan has the size of a room: the labels
    of a room are worthless if its coordinates are not in metres.
    """
    if options.scale is not None:
        return options, ""
    settled = replace(options, scale=options.scale_of(cloud))
    if cloud.unit is not None:
        why = "" if cloud.unit == 1 else f"a unit is {cloud.unit:.6g} m, according to the file's coordinate system"
        return settled, why
    sample = cloud.xyz[:: -(-max(len(cloud), 1) // LOOKED_AT)]
    sample = sample[np.isfinite(sample).all(axis=1)]
    if labeller.trained.card.dataset not in INDOORS or len(sample) < FEW_POINTS:
        return settled, ""
    extent = _extent(sample)
    scale = _guess_scale(extent)
    if scale is None:
        return settled, ""
    unit = next(name for name, metres in UNITS if metres == scale)
    sides = " × ".join(f"{side:,.0f}" for side in extent)
    why = f"taken as {unit}: {sides} is not a room in metres (--scale 1 if they are metres)"
    return replace(options, scale=scale), why


def apply_fixes(options: Options, card: InputCard) -> tuple[Options, list[str]]:
    """Return the options with all obvious fixes of the card applied, and a list of these fixes."""
    given, done = options, []
    for doubt in card.doubts:
        if doubt.fix is not None:
            changed = {key: value for key, value in vars(doubt.fix).items() if value != getattr(given, key)}
            options = replace(options, **changed)
            done.append(doubt.option)
    return options, done


def _doubts_about_points(card: InputCard, cloud: PointCloud, xyz: NDArray[np.float32]) -> list[Doubt]:
    doubts = []
    nowhere = int((~np.isfinite(cloud.xyz).all(axis=1)).sum())
    if nowhere:
        doubts.append(Doubt(f"{nowhere:,} points have no position: they stay in the output, unlabelled"))
    if card.without_position > nowhere:
        text = f"{card.without_position - nowhere:,} points lie over {FARTHEST / 1000:g} km from the rest"
        doubts.append(Doubt(f"{text}, or {HIGHEST:g} m above or below it: they stay in the output, unlabelled"))
    far = int(strays(xyz).sum())
    if far:
        doubts.append(Doubt(f"{far:,} points lie far outside the rest: labelled, but not shown on the page"))
    if len(xyz) < FEW_POINTS:
        doubts.append(Doubt(f"only {len(xyz)} point{'s' * (len(xyz) != 1)}: there is little to recognise"))
    elif not np.ptp(xyz, axis=0).any():
        doubts.append(Doubt("all points are at one place"))
    below = int((xyz[:, 2] < -FARTHEST_BELOW).sum())
    if below:
        doubts.append(Doubt(f"{below:,} points lie more than {FARTHEST_BELOW} m below the floor, reflections perhaps"))
    return doubts


def _doubts_about_frame(
    card: InputCard,
    extent: tuple[float, float, float],
    facing: NDArray[np.float64],
    labeller: SceneLabeller,
    options: Options,
) -> list[Doubt]:
    if labeller.trained.card.dataset not in INDOORS or card.points < FEW_POINTS:
        return []
    factor = _guess_scale(extent)
    if factor is not None:
        unit = next(name for name, metres in UNITS if metres == factor)
        fixed = replace(options, scale=card.scale * factor)
        height = f"{extent[2]:.0f} m high as metres"
        return [Doubt(f"the coordinates look like {unit} ({height})", f"--scale {fixed.scale:g}", fixed)]
    doubts = []
    up = _guess_up(facing, extent)
    if up is not None:
        axis = _file_axis(options.up, up)
        text = f"most surfaces face along {axis}, which may be the vertical instead of {options.up}"
        doubts.append(Doubt(text, f"--up {axis}", replace(options, up=axis)))
    if max(extent) > LARGEST_INDOORS or extent[2] > ROOM_HEIGHT[1] + 3:
        doubts.append(
            Doubt(
                f"{extent[0]:.0f} × {extent[1]:.0f} × {extent[2]:.0f} m is more than the indoor rooms that the weights "
                f"{labeller.name!r} were trained on: an outdoor scene gets indoor labels"
            )
        )
    if card.spacing > THINNEST:
        doubts.append(Doubt(f"points are {100 * card.spacing:.0f} cm apart: too thin to recognise furniture"))
    return doubts


def _doubts_about_colour(cloud: PointCloud, labeller: SceneLabeller, options: Options) -> list[Doubt]:
    if not labeller.takes_colour or not options.color:
        return []
    if cloud.rgb is None:
        return [Doubt("no colour: the weights know coloured scans best, and label this one by its shape alone")]
    if len(cloud) and (np.ptp(cloud.rgb, axis=0) == 0).all():
        text = "all points have the same colour, so colour carries no information"
        return [Doubt(text, "--no-color", replace(options, color=False))]
    return []


def _extent(xyz: NDArray[np.floating]) -> tuple[float, float, float]:
    """Return the sides of the box that holds all but the outermost 0.5 % of the points on each side."""
    low, high = np.quantile(xyz, [0.005, 0.995], axis=0)
    x, y, z = (high - low).tolist()
    return x, y, z


def _guess_scale(extent: tuple[float, float, float]) -> float | None:
    """Return the unit in which a cloud has the size of a room; None if it may as well be in metres."""
    if ROOM_HEIGHT[0] / 3 <= min(extent) <= LARGEST_INDOORS and max(extent) <= 10 * LARGEST_INDOORS:
        return None
    for _, scale in UNITS[1:]:
        sides = [scale * side for side in extent]
        if ROOM_HEIGHT[0] <= min(sides) <= ROOM_HEIGHT[1] and max(sides) <= LARGEST_INDOORS:
            return scale
    return None


def _surface(sample: NDArray[np.float32], points: int) -> tuple[float, NDArray[np.float64]]:
    """Estimate the distance between neighbouring points, and the share of surface that faces along each axis (3,).

    On surfaces, the distance in a sample grows with the root of the factor by which it is thinned.
    """
    if len(sample) < NEIGHBOURS + 1:
        return float("nan"), np.full(3, 1 / 3)
    cloud = torch.from_numpy(sample)[None]
    queries = cloud[:, :: max(1, len(sample) // 2000)]
    distances, numbers = k_nearest_neighbours(queries, cloud, NEIGHBOURS)
    spacing = float(distances[0, :, 1].median()) * (len(sample) / points) ** 0.5
    around = sample[numbers[0].numpy()]
    centred = (around - around.mean(axis=1, keepdims=True)).astype(np.float64)
    values, vectors = np.linalg.eigh(centred.transpose(0, 2, 1) @ centred)
    flat = values[:, 0] < 0.05 * values[:, 1]
    normals = np.abs(vectors[flat, :, 0])
    return spacing, (normals > 0.95).mean(axis=0) if len(normals) else np.full(3, 1 / 3)


def _guess_up(facing: NDArray[np.float64], extent: tuple[float, float, float]) -> int | None:
    """Return the axis along which clearly more surface faces than along z, since floors and ceilings are the largest
    surfaces. It must not be the longest side, where the walls of a corridor would be mistaken for them.
    """
    axis = int(np.argmax(facing[:2]))
    clear = facing[axis] > CLEARLY * max(facing[2], 0.05) and extent[axis] < extent[2]
    return axis if clear else None


def _file_axis(up: str, axis: int) -> str:
    """Return the axis of the file that lies along ``axis`` of the placed cloud."""
    row = UPWARDS[up][axis]
    return "xyz"[int(np.argmax(np.abs(row)))]
