"""The plan of a labelled room: outline, walls, doors, windows and furniture, with lengths, area and height."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.inference.labelled import LabelledCloud
from point2node.show.leaves import Leaf, find_leaves, place_of
from point2node.show.objects import FoundObject, find_objects
from point2node.show.outline import area_of, trace_outline
from point2node.show.planes import Plane, WallPlane, find_planes

Floats = NDArray[np.float64]
OPENINGS = ("door", "window")
NOT_DRAWN = ("beam", "board", "picture", "curtain")
"""Objects on walls or below the ceiling, which a plan does not show."""
IN_WALL = 0.2
"""Metres: points of a door nearer to the wall's plane belong to its frame, not to an open leaf."""
FEWEST = 20
"""The fewest points of a door or window in a wall."""
NARROWEST = 0.45
"""The smallest width of a door or window in metres: anything narrower is a wrong label."""
ASSUMED = 0.1
"""Metres: the thickness drawn for a wall if the scan shows only one side of it."""
THINNEST, THICKEST = 0.05, 0.4


@dataclass(frozen=True)
class PlanWall:
    """A wall with its inner face on the line from start to end."""

    plane: WallPlane
    thickness: float
    is_measured: bool
    """Whether the thickness was seen: from both sides, or in the depth of a door or window."""

    @property
    def corners(self) -> Floats:
        """(4, 2) the wall seen from above, behind its inner face."""
        start, end = np.array(self.plane.start), np.array(self.plane.end)
        back = -self.thickness * np.array(self.plane.normal[:2])
        return np.stack([start, end, end + back, start + back])


@dataclass(frozen=True)
class Opening:
    """A door or window in a wall."""

    kind: str
    wall: int
    """The index of its wall."""
    start: tuple[float, float]
    end: tuple[float, float]
    bottom: float
    """Metres above the floor."""
    height: float
    leaves: tuple[Leaf, ...] = ()
    """The open leaves of a door; a closed one does not show to which side it opens."""

    @property
    def width(self) -> float:
        """Metres along the wall."""
        return math.dist(self.start, self.end)


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """The contents of a plan, in metres and in the coordinates of the scan."""

    name: str
    outline: Floats
    """(V, 2) the inner faces of the outer walls, counter-clockwise."""
    walls: tuple[PlanWall, ...]
    openings: tuple[Opening, ...]
    furniture: tuple[FoundObject, ...]
    height: float | None
    """The height in metres from floor to ceiling; None if one of them was not seen."""

    @property
    def area(self) -> float:
        """Square metres inside the outline."""
        return area_of(self.outline)

    @property
    def perimeter(self) -> float:
        """The length of the outline in metres."""
        return float(np.linalg.norm(np.roll(self.outline, -1, axis=0) - self.outline, axis=1).sum())

    def save(self, path: Path) -> None:
        """Write the plan in the format of the suffix: .svg, .dxf or .json."""
        from point2node.show.plan_files import write_plan  # imports this module

        write_plan(self, path)

    def _repr_svg_(self) -> str:
        """Return the SVG that notebooks show."""
        from point2node.show.plan_files import plan_as_svg

        return plan_as_svg(self)


def draw_plan(
    scene: LabelledCloud,
    name: str,
    objects: Sequence[FoundObject] | None = None,
    planes: Sequence[Plane] | None = None,
) -> FloorPlan:
    """Draw the plan of a scene in metres. The room needs walls, and a floor or a ceiling.

    Objects and planes are found in the scene unless they are given.
    """
    planes = find_planes(scene) if planes is None else planes
    levels = {kind: next((plane for plane in planes if plane.kind == kind), None) for kind in ("floor", "ceiling")}
    faces = [plane for plane in planes if isinstance(plane, WallPlane)]
    if not faces or not any(levels.values()):
        missing = "walls" if not faces else "floor and ceiling"
        found = f"no points of {missing} that make a plane"
        raise InputError(name, expected="a labelled room with walls and a floor or ceiling", found=found)
    floor, ceiling = levels["floor"], levels["ceiling"]
    outline = trace_outline(scene, faces)
    objects = find_objects(scene) if objects is None else objects
    base = floor.centre[2] if floor is not None else min(face.bottom for face in faces)
    candidates = (_opening(scene, one, faces, base) for one in objects if one.kind.name in OPENINGS)
    openings = [one for one in candidates if one is not None]
    return FloorPlan(
        name=scene.name,
        outline=outline,
        walls=tuple(_with_thickness(scene, faces, number, openings) for number in range(len(faces))),
        openings=tuple(openings),
        furniture=tuple(one for one in objects if one.kind.name not in (*OPENINGS, *NOT_DRAWN)),
        height=None if floor is None or ceiling is None else ceiling.centre[2] - floor.centre[2],
    )


def _opening(scene: LabelledCloud, one: FoundObject, walls: Sequence[WallPlane], base: float) -> Opening | None:
    """Return the opening of a door or window in the wall with most of its points; None if it is too small."""
    xyz = scene.xyz[one.points]
    most, number, along, in_wall = 0, -1, np.empty(0), np.empty(0, bool)
    for candidate, wall in enumerate(walls):
        places, off = wall.frame(xyz[:, :2])
        near = (np.abs(off) <= IN_WALL) & (places >= 0) & (places <= wall.length)
        if near.sum() > most:
            most, number, along, in_wall = int(near.sum()), candidate, places, near
    if most < FEWEST:
        return None
    low, high = np.quantile(along[in_wall], [0.005, 0.995])
    if high - low < NARROWEST:
        return None
    bottom, top = np.quantile(xyz[in_wall, 2], [0.005, 0.995])
    wall = walls[number]
    start = np.array(wall.start)
    direction = (np.array(wall.end) - start) / wall.length
    leaves: tuple[Leaf, ...] = ()
    if one.kind.name == "door":
        doors = scene.xyz[(scene.places == scene.classes.index(one.kind)) & scene.placed]
        leaves = find_leaves(np.asarray(doors[:, :2], np.float64), walls, number, (float(low), float(high)))
    return Opening(
        kind=one.kind.name,
        wall=number,
        start=place_of(start + low * direction),
        end=place_of(start + high * direction),
        bottom=float(bottom - base),
        height=float(top - bottom),
        leaves=leaves,
    )


def _with_thickness(
    scene: LabelledCloud, walls: Sequence[WallPlane], number: int, openings: Sequence[Opening]
) -> PlanWall:
    """Return a wall with its thickness, from its other side if that was seen, or from the depth of its openings."""
    wall = walls[number]
    depths = [_depth(scene, wall, one) for one in openings if one.wall == number]
    other_sides = [_distance_behind(wall, other) for other in walls if other is not wall]
    found = [depth for depth in other_sides if depth is not None] or [depth for depth in depths if depth >= THINNEST]
    return PlanWall(wall, min(found) if found else ASSUMED, bool(found))


def _depth(scene: LabelledCloud, wall: WallPlane, opening: Opening) -> float:
    """Return how far points around an opening lie behind the wall's inner face."""
    places = [place for place, kind in enumerate(scene.classes) if kind.name in ("wall", opening.kind)]
    near = scene.xyz[np.isin(scene.places, places) & scene.placed]
    along, off = wall.frame(near[:, :2])
    ends = sorted(float(wall.frame(np.array([end]))[0][0]) for end in (opening.start, opening.end))
    here = (along >= ends[0] - 0.1) & (along <= ends[1] + 0.1) & (off < 0) & (off > -THICKEST)
    return float(-np.quantile(off[here], 0.03)) if here.sum() >= FEWEST else 0.0


def _distance_behind(wall: WallPlane, other: WallPlane) -> float | None:
    """Return how far ``other`` lies behind a wall, if it is the wall's other side."""
    along, off = wall.frame(np.array([other.start, other.end]))
    low, high = sorted(along)
    overlap = min(high, wall.length) - max(low, 0.0)
    is_parallel = abs(off[0] - off[1]) <= 0.05 * other.length
    is_behind = -THICKEST <= off.mean() <= -THINNEST
    return float(-off.mean()) if is_parallel and is_behind and overlap > 0.5 * min(wall.length, other.length) else None
