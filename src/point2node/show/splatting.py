"""Draw points without a graphics card: discs in a depth buffer, edges darkened by depth, supersampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from point2node.core.point_cloud import Array
from point2node.show.shown_points import spacing
from point2node.show.splatting_kernels import draw_discs, light_pixels, mix_colours

FINER = 2
"""Supersampling: computed pixels per drawn pixel along each side."""
ELEVATION = np.radians(52)
DISC = 1.7  # the diameter of a point, as a share of the distance between neighbours
REACHES, DEPTH = (
    (1, 3, 6),
    5.0,
)  # pixels between which depths are compared, and how much a difference darkens: eye-dome lighting


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
    """The point that each fine pixel shows (−1: none) and its brightness (0 for none), to paint in any colours."""

    shown: Array
    light: Array

    def paint(self, colours: Array) -> Array:
        """Return the picture (height, width, 4) uint8 for point colours (N, 3) uint8; transparent without points."""
        return np.asarray(mix_colours(np.array(colours, np.uint8), self.shown, self.light, FINER))


def splat(xyz: Array, view: Viewpoint, pixels: tuple[int, int]) -> Splats:
    """Project the points of a scene, which must all have positions, onto a picture of ``pixels`` (width, height)."""
    width, height = (FINER * side for side in pixels)
    u, v, depth = (xyz @ axis for axis in (view.across, view.up, view.back))
    margin = 8 * FINER
    scale = min((width - 2 * margin) / max(np.ptp(u), 1e-9), (height - 2 * margin) / max(np.ptp(v), 1e-9))
    columns = np.rint(width / 2 + (u - (u.min() + u.max()) / 2) * scale).astype(np.int64)
    rows = np.rint(height / 2 - (v - (v.min() + v.max()) / 2) * scale).astype(np.int64)
    order = np.argsort(depth, kind="stable")  # the farthest first: the last write to a pixel, the nearest, stays
    radius = min(max(DISC * spacing(xyz) * scale / 2, 0.5), margin - 1)
    shown = np.full((height, width), -1, np.int32)
    draw_discs(rows, columns, order, float(radius), shown)
    size = max(float(np.ptp(xyz, axis=0).max()), 1e-9)
    reaches = FINER * np.array(REACHES)
    return Splats(shown, light_pixels(depth - depth.min(), shown, reaches, 0.03 * size, DEPTH / size))
