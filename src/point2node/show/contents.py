"""The contents of a labelled room, for display: objects, surfaces and the plan, found from the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from point2node.core.errors import InputError
from point2node.inference.labelled import LabelledCloud
from point2node.show.floor_plan import FloorPlan, draw_plan
from point2node.show.objects import SURFACES, FoundObject, Numbers, find_objects
from point2node.show.planes import Plane, find_planes

ROOM = frozenset({"wall", "floor"})
"""Classes that every class list for rooms contains."""
LONGEST = 100.0
"""Metres: larger scans are not rooms, and the grids for their plans would be too large."""


@dataclass(frozen=True, eq=False)
class Contents:
    """The objects of a scene, its surfaces and its plan, in metres."""

    objects: tuple[FoundObject, ...]
    surfaces: tuple[Plane, ...]
    plan: FloorPlan | None
    """None if there are no walls, or neither a floor nor a ceiling."""

    def number_points(self, points: int) -> Numbers:
        """Return the number of each point's object, from 1, (points,); 0 for none."""
        numbers = np.zeros(points, np.int64)
        for number, one in enumerate(self.objects, start=1):
            numbers[one.points] = number
        return numbers

    @property
    def areas(self) -> dict[str, tuple[int, float]]:
        """The number of planes of each kind of surface and their total area; missing kinds are left out."""
        found = {kind: [one.area for one in self.surfaces if one.kind == kind] for kind in SURFACES}
        return {kind: (len(areas), sum(areas)) for kind, areas in found.items() if areas}


def find_contents(scene: LabelledCloud) -> Contents | None:
    """Find the contents of a scene; None if its classes are not those of rooms, or if it is far too large for one."""
    metres = scene.in_metres()
    placed = metres.xyz[metres.placed]
    names = {one.name for one in scene.classes}
    if not names >= ROOM or not len(placed) or np.ptp(placed, axis=0).max() > LONGEST:
        return None
    objects, surfaces = find_objects(metres), find_planes(metres)
    try:
        plan = draw_plan(metres, scene.name, objects, surfaces)
    except InputError:
        plan = None
    return Contents(tuple(objects), tuple(surfaces), plan)
