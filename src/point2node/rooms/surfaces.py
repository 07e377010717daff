"""Surfaces as arrays: parallelograms, discs, tubes, balls and cushions, each an affine image of its unit shape.

A point p of the unit shape is at ``origin + p @ frame`` in the room. The unit shapes are

- quad: 0 ≤ x, y ≤ 1, z = 0
- disc: x² + y² ≤ 1, z = 0
- tube: x² + y² = (1 + (form − 1)·z)², 0 ≤ z ≤ 1
- ball: x² + y² + z² = 1
- cushion: |x|ᵖ + |y|ᵖ + |z|ᵖ = 1 with the even exponent p = form: a box with soft edges, softer for smaller p
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from point2node.rooms.materials import Material

QUAD, DISC, TUBE, BALL, CUSHION = range(5)
Floats = NDArray[np.float64]
Point = Sequence[float] | NDArray[Any]

# the corners of the box around each unit shape, by kind
UNIT_LOW = np.array([[0, 0, 0], [-1, -1, 0], [-1, -1, 0], [-1, -1, -1], [-1, -1, -1]], float)
UNIT_HIGH = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]], float)

_BOX_ORIGINS = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], float)
_X, _Y, _Z = np.eye(3)
# two edges and the normal of each face; they are ordered so that the normal points out of the box
_BOX_AXES = np.array(
    [[_Y, _Z, _X], [_Z, _Y, -_X], [_X, _Z, -_Y], [_Z, _X, _Y], [_X, _Y, _Z], [_Y, _X, -_Z]],
)
_BOX_KIND, _BOX_FORM, _BOX_CLOSED = np.full(6, QUAD, np.int8), np.ones(6), np.ones(6, bool)


@dataclass(frozen=True)
class Surfaces:
    """P surfaces in one frame of reference."""

    kind: NDArray[np.int8]
    origin: Floats
    """(P, 3)"""
    frame: Floats
    """(P, 3, 3): the images of the unit axes, one per row."""
    form: Floats
    """(P,): the ratio of a tube's top radius to its bottom radius; the exponent of a cushion; 1 for the others."""
    closed: NDArray[np.bool_]
    """(P,): whether it is part of a solid body, so never seen from behind."""
    material: Floats
    """(P, 8): ``Material.row`` of each."""

    def __len__(self) -> int:
        return len(self.kind)

    def moved(self, by: Point) -> Surfaces:
        """Return the surfaces shifted by a vector."""
        return self._at(self.origin + by, self.frame)

    def copied(self, to: Sequence[Point] | Floats) -> Surfaces:
        """Return one copy for each vector (K, 3), shifted by it."""
        count = len(to)
        return Surfaces(
            np.tile(self.kind, count),
            (np.asarray(to, float)[:, None] + self.origin).reshape(-1, 3),
            np.tile(self.frame, (count, 1, 1)),
            np.tile(self.form, count),
            np.tile(self.closed, count),
            np.tile(self.material, (count, 1)),
        )

    def turned(self, angle: float, axis: Literal["x", "y", "z"] = "z") -> Surfaces:
        """Return the surfaces rotated counter-clockwise about an axis through the origin, in radians."""
        cos, sin = math.cos(angle), math.sin(angle)
        if axis == "z":
            rotation = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        elif axis == "x":
            rotation = np.array([[1.0, 0.0, 0.0], [0.0, cos, sin], [0.0, -sin, cos]])
        else:
            rotation = np.array([[cos, 0.0, -sin], [0.0, 1.0, 0.0], [sin, 0.0, cos]])
        return self._at(self.origin @ rotation, self.frame @ rotation)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the lower and upper corner of an axis-aligned box around all surfaces."""
        one, other = UNIT_LOW[self.kind][:, :, None] * self.frame, UNIT_HIGH[self.kind][:, :, None] * self.frame
        wider = (self.kind == TUBE) & (self.form > 1)
        if wider.any():  # a tube that widens
            one[wider, :2] *= self.form[wider, None, None]
            other[wider, :2] *= self.form[wider, None, None]
        low, high = np.minimum(one, other).sum(axis=1), np.maximum(one, other).sum(axis=1)
        return (self.origin + low).min(axis=0), (self.origin + high).max(axis=0)

    def _at(self, origin: Floats, frame: Floats) -> Surfaces:
        # not dataclasses.replace, which would take a fifth of the time of furnishing a room
        return Surfaces(self.kind, origin, frame, self.form, self.closed, self.material)


def join(parts: Sequence[Surfaces]) -> Surfaces:
    """Join the surfaces of all parts."""
    return Surfaces(
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.origin for part in parts]),
        np.concatenate([part.frame for part in parts]),
        np.concatenate([part.form for part in parts]),
        np.concatenate([part.closed for part in parts]),
        np.concatenate([part.material for part in parts]),
    )


def quad(corner: Point, first: Point, second: Point, material: Material) -> Surfaces:
    """Return a parallelogram, visible from both sides, given by a corner and two edges."""
    u, v = np.asarray(first, float), np.asarray(second, float)
    normal = _cross(u, v)
    return _single(QUAD, corner, (u, v, normal / np.linalg.norm(normal)), material)


def box(size: Point, at: Point, material: Material) -> Surfaces:
    """Return a solid box; ``at`` is the centre of its bottom face."""
    lengths = np.asarray(size, float)
    corner = np.asarray(at, float) - lengths * (0.5, 0.5, 0.0)
    frame = _BOX_AXES.copy()
    frame[:, :2] *= lengths
    materials = material.row[None].repeat(6, axis=0)
    return Surfaces(_BOX_KIND, _BOX_ORIGINS * lengths + corner, frame, _BOX_FORM, _BOX_CLOSED, materials)


def disc(radius: float, at: Point, material: Material) -> Surfaces:
    """Return a level disc, visible from both sides; ``at`` is its centre."""
    return _single(DISC, at, (radius * _X, radius * _Y, _Z), material)


def ball(radii: Point, at: Point, material: Material) -> Surfaces:
    """Return an ellipsoid with these half axes; ``at`` is its centre."""
    return _single(BALL, at, np.diag(np.asarray(radii, float)), material, closed=True)


def cushion(size: Point, at: Point, material: Material, exponent: int = 4) -> Surfaces:
    """Return a box with soft edges; ``at`` is the centre of its bottom, ``exponent`` is 4 (a pillow) to 10 (a slab)."""
    half = np.asarray(size, float) / 2
    centre = (at[0], at[1], at[2] + half[2])
    return _single(CUSHION, centre, np.diag(half), material, float(exponent), closed=True)


def rod(start: Point, end: Point, radius: float, material: Material, taper: float = 1.0) -> Surfaces:
    """Return an open tube from one point to another; ``taper`` is the ratio of end radius to start radius."""
    axis = np.asarray(end, float) - np.asarray(start, float)
    sideways = _cross(axis, _X if abs(axis[0]) < abs(axis[2]) else _Z)
    u = radius * sideways / np.linalg.norm(sideways)
    v = _cross(axis, u)
    return _single(TUBE, start, (u, radius * v / np.linalg.norm(v), axis), material, taper)


def drum(radius: float, height: float, at: Point, material: Material, taper: float = 1.0) -> Surfaces:
    """Return an upright tube with a lid; ``at`` is the centre of its bottom."""
    top = (at[0], at[1], at[2] + height)
    return join([rod(at, top, radius, material, taper), disc(radius * taper, top, material)])


def _cross(a: Floats, b: Floats) -> Floats:
    """Return the cross product; np.cross takes thirty times as long for one pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _single(
    kind: int,
    origin: Point,
    frame: Sequence[Floats] | Floats,
    material: Material,
    form: float = 1.0,
    *,
    closed: bool = False,
) -> Surfaces:
    return Surfaces(
        np.array([kind], np.int8),
        np.asarray(origin, float)[None],
        np.asarray(frame, float)[None],
        np.array([form]),
        np.array([closed]),
        material.row[None],
    )
