"""A room while it is being furnished: its outline, its pieces and the space that is left."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from point2node.rooms.building.openings import Opening, Surroundings
from point2node.rooms.catalogue import OPENINGS, PIECES
from point2node.rooms.floor_plan import FloorPlan, Footprint, Wall, walls_of
from point2node.rooms.materials import wall_finish
from point2node.rooms.pieces import Piece, Styles, choose_style
from point2node.rooms.surfaces import Floats

Place = tuple[float, float, float]  # x, y and yaw of a piece on the floor
TRIES = 16  # random places to try for a piece before it is left out


class Room:
    """A room to which pieces are added one by one; each reserves the space it takes."""

    def __init__(self, outline: Floats, height: float, styles: Styles, rng: Generator, rise: float = 0.0) -> None:
        self.outline, self.height, self.styles, self.rng = outline, height, styles, rng
        self.rise = rise
        """Metres by which the highest part of a sloped ceiling is above ``height``."""
        self.finish = wall_finish(rng)
        """The finish of the walls, and of doors, columns and beams that are painted like them."""
        self.holes: list[tuple[float, float, float, float]] = []
        """Rectangles in the ceiling for lamps: low x, high x, low y, high y."""
        self.plan = FloorPlan(outline)
        self.walls = walls_of(outline)
        self._wall_ends = np.cumsum([wall.length for wall in self.walls])
        self.pieces: list[Piece] = []
        self.openings: list[tuple[Wall, float, Opening]] = []
        self.fillings: list[int] = []
        """Indices in ``pieces`` of the doors and windows, one for each opening."""

    def pick(self, purpose: str, **size: Any) -> Piece:
        """Create a piece for a purpose of the catalogue, in one of the allowed styles."""
        style = choose_style(PIECES[purpose], self.styles, self.rng)
        return replace(style.build(self.rng, **size), style=style.name)

    def pick_opening(self, purpose: str, wall: Wall) -> Opening:
        """Create a door or window for a wall, in one of the allowed styles."""
        style = choose_style(OPENINGS[purpose], self.styles, self.rng)
        opening = style.build(self.rng, Surroundings(self.finish, wall.length, self.height))
        return replace(opening, filling=replace(opening.filling, style=style.name))

    def stand(self, piece: Piece, x: float, y: float, yaw: float, gap: float = 0.03) -> bool:
        """Put a piece on the floor if there is space for it and a gap around it; return whether it was put there."""
        if piece.size[2] > self.height + 0.01 or not self.plan.is_free(footprint_of(piece, x, y, yaw, gap)):
            return False
        self._take_floor(piece, x, y, yaw)
        self.pieces.append(piece.placed(x, y, 0.0, yaw))
        return True

    def stand_somewhere(self, piece: Piece, *, aligned: bool = False, gap: float = 0.03) -> Place | None:
        """Put a piece anywhere on the floor, parallel to a wall if ``aligned``; None if no place was found."""
        cells = self.plan.free_cells()
        if not len(cells):
            return None
        for x, y in cells[self.rng.integers(len(cells), size=TRIES)]:
            yaw = self.walls[self.rng.integers(len(self.walls))].yaw if aligned else self.rng.uniform(0, math.tau)
            if self.stand(piece, x, y, yaw, gap):
                return x, y, yaw
        return None

    def stand_at_wall(self, piece: Piece, *, front: float = 0.0, sunk: float = 0.0) -> Place | None:
        """Put a piece with its back to a wall, or ``sunk`` metres into it, with ``front`` metres of free floor."""
        low, high = piece.extent
        if high[2] > self.height + 0.01:
            return None
        half = (high[0] - low[0]) / 2
        middle = (high[0] + low[0]) / 2
        for _ in range(TRIES):
            wall = self.random_wall()
            distance = self._along(wall, half)
            if distance is None or not wall.is_free(distance - half, distance + half, 0.0, high[2]):
                continue
            gap = 0.01 + abs(self.rng.normal(0, 0.03)) if not sunk else -sunk
            x, y = wall.at(distance + middle, gap + high[1])
            depth = high[1] - low[1] + front + min(0.0, gap)
            centre = wall.at(distance, max(0.0, gap) + depth / 2 + 0.03)
            if not self.plan.is_free(Footprint(centre[0], centre[1], half - 0.03, depth / 2 - 0.03, wall.yaw)):
                continue
            self._take_floor(piece, x, y, wall.yaw)
            wall.taken.append((distance - half, distance + half, 0.0, high[2]))
            self.pieces.append(piece.placed(x, y, 0.0, wall.yaw))
            return x, y, wall.yaw
        return None

    def stand_in_corner(self, piece: Piece) -> bool:
        """Put a piece into a corner of the room, with its back and one of its sides against walls."""
        low, high = piece.extent
        half, middle = (high[0] - low[0]) / 2, (high[0] + low[0]) / 2
        for number in self.rng.permutation(2 * len(self.walls)):
            wall = self.walls[number // 2]
            distance = half if number % 2 else wall.length - half
            centre = wall.at(distance, (high[1] - low[1]) / 2)
            spot = Footprint(centre[0], centre[1], half - 0.06, (high[1] - low[1]) / 2 - 0.06, wall.yaw)
            span = max(0.02, distance - half), min(wall.length - 0.02, distance + half)
            if not self.plan.is_free(spot) or not wall.is_free(*span, 0.0, high[2]):
                continue
            x, y = wall.at(distance + middle, high[1])
            self._take_floor(piece, x, y, wall.yaw)
            wall.taken.append((distance - half, distance + half, 0.0, high[2]))
            self.pieces.append(piece.placed(x, y, 0.0, wall.yaw))
            return True
        return False

    def hang(self, piece: Piece, bottom: float, wall: Wall | None = None) -> bool:
        """Put a piece on a wall with its lower edge at this height."""
        half, height = piece.size[0] / 2, piece.size[2]
        if bottom + height > self.height - 0.05:
            return False
        for _ in range(TRIES):
            on = wall or self.random_wall()
            distance = self._along(on, half)
            if distance is None or not on.is_free(distance - half, distance + half, bottom, bottom + height):
                continue
            on.taken.append((distance - half, distance + half, bottom, bottom + height))
            x, y = on.at(distance)
            self.pieces.append(piece.placed(x, y, bottom, on.yaw))
            return True
        return False

    def open_wall(self, opening: Opening, on: Wall) -> bool:
        """Cut an opening into a wall; the floor in front of a door is kept free."""
        half = opening.width / 2
        for _ in range(TRIES):
            distance = self._along(on, half + 0.08)
            top = opening.bottom + opening.height
            if distance is None or top > self.height - 0.08:
                continue
            if not on.is_free(distance - half - 0.05, distance + half + 0.05, opening.bottom, top):
                continue
            x, y = on.at(distance, opening.clearance / 2)
            front = Footprint(x, y, half, opening.clearance / 2, on.yaw)
            if opening.clearance and not self.plan.is_free(replace(front, half_width=half - 0.06, half_depth=0.3)):
                continue
            if opening.clearance:
                self.plan.take(front)
            low, high = distance - half - opening.side_clearance, distance + half + opening.side_clearance
            on.taken.append((low, high, opening.bottom, top))
            self.openings.append((on, distance, opening))
            self.fillings.append(len(self.pieces))
            x, y = on.at(distance)
            self.pieces.append(opening.filling.placed(x, y, opening.bottom, on.yaw))
            return True
        return False

    def put_on(self, host: Piece, place: Place, item: Piece, used: list[Floats]) -> bool:
        """Put an item on one of the tops of a piece at ``place``; ``used`` are the centres and radii of other items."""
        if not host.tops:
            return False
        top = host.tops[self.rng.integers(len(host.tops))]
        half = item.size[:2] / 2
        low, high = np.array(top.low) + half, np.array(top.high) - half
        if (low > high).any():
            return False
        for _ in range(3):
            spot = self.rng.uniform(low, high)
            if all(np.hypot(*(spot - other[:2])) > max(half) + other[2] for other in used):
                used.append(np.array([*spot, max(half)]))
                self.set_on(place, item, spot, top.height)
                return True
        return False

    def set_on(self, place: Place, item: Piece, spot: Floats, height: float) -> None:
        """Put an item at a height and a spot, which is given in the frame of a piece at ``place``."""
        self.pieces.append(item.placed(*in_room(place, spot), height, place[2]))

    def _take_floor(self, piece: Piece, x: float, y: float, yaw: float) -> None:
        """Mark the floor under a piece as taken; an L-shaped desk leaves the floor between its two tops free."""
        if len(piece.tops) < 2:
            self.plan.take(footprint_of(piece, x, y, yaw, 0.0))
            return
        for top in piece.tops:
            middle, half = np.add(top.low, top.high) / 2, np.subtract(top.high, top.low) / 2
            self.plan.take(Footprint(*in_room((x, y, yaw), middle), half[0], half[1], yaw))

    def random_wall(self) -> Wall:
        """Draw a wall, with a probability proportional to its length."""
        ends = self._wall_ends
        return self.walls[int(np.searchsorted(ends, self.rng.uniform(0, ends[-1])))]

    def _along(self, wall: Wall, half: float) -> float | None:
        """Draw a distance along the wall where a piece of this half width fits; None if it does not fit."""
        if wall.length < 2 * half + 0.1:
            return None
        return float(self.rng.uniform(half + 0.03, wall.length - half - 0.03))


def footprint_of(piece: Piece, x: float, y: float, yaw: float, gap: float) -> Footprint:
    """Return the floor under a piece at x, y, yaw, with a gap around it."""
    low, high = piece.extent
    middle, half = (low + high) / 2, (high - low) / 2 + gap
    return Footprint(*in_room((x, y, yaw), middle), half[0], half[1], yaw)


def in_room(place: Place, spot: Floats) -> tuple[float, float]:
    """Return the x and y in the room of a spot in the frame of a piece at ``place``."""
    x, y, yaw = place
    cos, sin = math.cos(yaw), math.sin(yaw)
    return x + cos * spot[0] - sin * spot[1], y + sin * spot[0] + cos * spot[1]
