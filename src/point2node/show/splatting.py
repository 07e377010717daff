"""Drawing points without a graphics card: discs in a depth buffer, edges darkened by depth, smooth by supersampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from point2node.show.scene import Array
from point2node.show.shown_points import spacing

FINER = 2
"""Pixels are computed so much finer than they are drawn, along each side."""
ELEVATION = np.radians(52)
DISC = 1.7  # the diameter of a point, as a share of the distance between neighbours
REACHES, DEPTH = (1, 3, 6), 5.0  # pixels between which depths are compared, and how much a difference darkens
NOWHERE = np.float32(-1e9)  # the depth of a pixel without a point: behind everything


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """The directions of a picture, orthographic: across, up, and towards the viewer."""

    across: Array
    up: Array
    back: Array

    @property
    def angle(self) -> float:
        """Where the viewer stands around the scene, in radians from x."""
        return float(np.arctan2(self.back[1], self.back[0]))


def stand_at_corner(xyz: Array) -> Viewpoint:
    """Look from above a corner, with the longer side across."""
    width, depth = np.ptp(xyz[:, :2], axis=0)
    yaw = -1.05 if depth > width else -0.5
    along, over = np.array([np.cos(yaw), np.sin(yaw)]), np.array([np.sin(ELEVATION), np.cos(ELEVATION)])
    back = np.array([along[1] * over[1], -along[0] * over[1], over[0]])
    return Viewpoint(np.array([*along, 0.0]), np.array([-along[1] * over[0], along[0] * over[0], over[1]]), back)


@dataclass(frozen=True, eq=False)
class Splats:
    """Which point each fine pixel shows (−1: none) and how bright it is (0 there); any colours can be painted."""

    shown: Array
    light: Array

    def paint(self, colours: Array) -> Array:
        """(height, width, 4) uint8 from the colours (N, 3) uint8 of the points; transparent where there is none."""
        fine = np.take(colours, self.shown, axis=0) * self.light[..., None]  # no light where there is no point
        share = _coarse(self.shown >= 0)[..., None]
        coarse = _coarse(fine) / np.maximum(share, 1e-6)  # pixels without a point are no colour, not black
        return np.concatenate([coarse, 255 * share], axis=-1).round().astype(np.uint8)


def _coarse(fine: Array) -> Array:
    """The mean of every FINER × FINER pixels."""
    total = sum(fine[down::FINER, right::FINER].astype(np.float32) for down in range(FINER) for right in range(FINER))
    return np.asarray(total / FINER**2)


def splat(xyz: Array, view: Viewpoint, pixels: tuple[int, int]) -> Splats:
    """Put every point of a scene, of which all have positions, onto a picture of ``pixels`` (width, height)."""
    width, height = (FINER * side for side in pixels)
    u, v, depth = (xyz @ axis for axis in (view.across, view.up, view.back))
    margin = 8 * FINER
    scale = min((width - 2 * margin) / max(np.ptp(u), 1e-9), (height - 2 * margin) / max(np.ptp(v), 1e-9))
    columns = np.rint(width / 2 + (u - (u.min() + u.max()) / 2) * scale).astype(np.int64)
    rows = np.rint(height / 2 - (v - (v.min() + v.max()) / 2) * scale).astype(np.int64)
    order = np.argsort(depth, kind="stable")  # the farthest first: of equal pixels the last write, the nearest, stays
    radius = min(max(DISC * spacing(xyz) * scale / 2, 0.5), margin - 1)
    nearest = np.full((height, width), -1, np.int32)
    nearest[rows[order], columns[order]] = np.arange(len(xyz))
    nearest = _grow(nearest, radius)
    covered = nearest >= 0
    shown = np.where(covered, order[nearest], -1)
    near = np.where(covered, depth[shown] - depth.min(), NOWHERE).astype(np.float32)
    light = _light(near, max(float(np.ptp(xyz, axis=0).max()), 1e-9))
    return Splats(shown, np.where(covered, light, 0))


def _grow(nearest: Array, radius: float) -> Array:
    """Every point as a disc: a pixel takes the highest number, which is the nearest point, within the radius.

    A disc is made of rows: along each row the highest number is carried ever farther, and each time taken over into the
    rows above and below that the disc meets just as far out. That is four passes for each pixel of the radius, where
    one for each pixel of the disc would be hundreds.
    """
    grown, along = nearest.copy(), nearest.copy()
    reach = int(radius)
    widths = [max(right for right in range(reach + 1) if down**2 + right**2 <= radius**2) for down in range(reach + 1)]
    for right in range(reach + 1):
        for side in {right, -right} - {0}:
            _raise(along, nearest, 0, side)
        for down in (down for down, width in enumerate(widths) if width == right):
            for side in {down, -down}:
                _raise(grown, along, side, 0)
    return grown


def _raise(to: Array, by: Array, down: int, right: int) -> None:
    """Raise each pixel to the one of ``by`` that lies so far above and to the left of it, if that is higher."""
    height, width = to.shape
    here = to[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)]
    there = by[max(-down, 0) : height + min(-down, 0), max(-right, 0) : width + min(-right, 0)]
    np.maximum(here, there, out=here)


def _light(near: Array, size: float) -> Array:
    """Eye-dome lighting: a pixel is darker the more its neighbours lie in front of it, on opposite sides on average.

    A slanted plane, whose one side lies in front and the other behind, is as bright as a level one.
    """
    shade = np.zeros(near.shape, np.float32)
    for reach in REACHES:
        step = FINER * reach
        for down, right in ((0, step), (step, 0), (step, step), (step, -step)):
            both = (_shifted(near, down, right) + _shifted(near, -down, -right)) / 2
            shade += np.clip(both - near, 0, 0.03 * size)
    return np.maximum(np.exp(-DEPTH / size * shade), 0.3)


def _shifted(near: Array, down: int, right: int) -> Array:
    """What each pixel has so far below and to the right of it; NOWHERE beyond the border."""
    margin = max(abs(down), abs(right))
    padded = np.pad(near, margin, constant_values=NOWHERE)
    return padded[margin + down :, margin + right :][: near.shape[0], : near.shape[1]]
