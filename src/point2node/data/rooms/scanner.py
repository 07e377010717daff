"""A scanner on its tripod: where it stands, where its rays go and what they report."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.data.rooms.floor_plan import CELL, FloorPlan, Footprint
from point2node.data.rooms.ray_kernels import cast_rays
from point2node.data.rooms.return_kernels import report_returns
from point2node.data.rooms.settings import RoomSettings
from point2node.data.rooms.surfaces import BALL, TUBE, Floats, Surfaces

AREA_EACH = 9.0  # square metres for which an operator sets up the scanner once more
BLIND_FROM = (0.9, 1.4)  # radians below the horizon, where the tripod hides the floor
LARGEST_BUMP = 0.006  # of the range
_X, _Y, _Z = np.eye(3)
# right, up and forward of the six faces of the cube around a scanner
CUBE = np.array([[_Y, _Z, _X], [-_Y, _Z, -_X], [-_X, _Z, _Y], [_X, _Z, -_Y], [_X, _Y, _Z], [_X, -_Y, -_Z]])


@dataclass(frozen=True)
class Scans:
    """The rays of S positions, six faces of n × n rays each, and what they report, in the frame of the room."""

    positions: Floats
    """(S, 3)"""
    faces: Floats
    """(S, 6, 3, 3): right, up and forward of each face."""
    slopes: Floats
    """(n, n, 2): how far right and up each ray of a face goes for one unit forward."""
    depths: NDArray[np.float32]
    """(S, 6, n, n): units forward to the first hit."""
    surface: NDArray[np.int32]
    """(S, 6, n, n): the surface that was hit, -1 for none."""
    reported: NDArray[np.float32]
    """(S, 6, n, n, 3): where the scanner says the hit is."""
    returned: NDArray[np.bool_]
    """(S, 6, n, n): whether it says anything."""


def choose_positions(rng: Generator, plan: FloorPlan, bounds: tuple[int, int]) -> Floats:
    """(S, 3): spread over the free floor, the farther from each other the better, at eye height."""
    cells = plan.free_cells()
    if not len(cells):
        cells = np.array([[plan.x.mean(), plan.y.mean()]])
    area = len(cells) * CELL**2
    count = int(np.clip(round(rng.normal(1.5 + area / AREA_EACH, 0.7)), *bounds))
    chosen: list[Floats] = []
    for _ in range(count):
        candidates = cells[rng.integers(len(cells), size=24)]
        roomy = [cell for cell in candidates if plan.is_free(Footprint(cell[0], cell[1], 0.25, 0.25))]
        candidates = np.array(roomy) if roomy else candidates
        gaps = [min((np.hypot(*(cell - other)) for other in chosen), default=0.0) for cell in candidates]
        chosen.append(candidates[int(np.argmax(gaps))])
    return np.column_stack([np.array(chosen), rng.uniform(1.2, 1.8, count)])


def scan(rng: Generator, surfaces: Surfaces, positions: Floats, settings: RoomSettings) -> Scans:
    """What a scanner at these positions reports of the surfaces."""
    faces = np.stack([_turned_cube(rng) for _ in positions])
    slopes = ray_slopes(rng, settings.ray_step)
    depths, surface = first_hits(rng, surfaces, positions, faces, slopes)
    reported, returned = report_returns(
        depths,
        surface,
        positions,
        rng.normal(0, settings.pose_error, positions.shape),
        faces,
        slopes,
        _range_bumps(rng, slopes),
        np.where(np.isin(surfaces.kind, (TUBE, BALL))[:, None], 0.0, surfaces.frame[:, 2]),
        surfaces.material,
        rng.uniform(*settings.range_noise),
        settings.mixed_pixels,
        -math.sin(rng.uniform(*BLIND_FROM)),
        rng.integers(2**63, dtype=np.uint64),
    )
    return Scans(positions, faces, slopes, depths, surface, reported, returned)


def first_hits(
    rng: Generator, surfaces: Surfaces, positions: Floats, faces: Floats, slopes: Floats
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Depths and surfaces (S, 6, n, n) of the first hits; the generator decides which rays pass through glass."""
    return cast_rays(
        positions,
        faces,
        slopes,
        surfaces.kind,
        surfaces.origin,
        surfaces.frame,
        np.linalg.inv(surfaces.frame),
        surfaces.taper,
        surfaces.closed,
        surfaces.material,
        rng.integers(2**63, dtype=np.uint64),
    )


def _turned_cube(rng: Generator) -> Floats:
    """The six faces, turned about the vertical so that their seams fall anywhere."""
    angle = rng.uniform(0, math.tau)
    cos, sin = math.cos(angle), math.sin(angle)
    turned: Floats = CUBE @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return turned


def ray_slopes(rng: Generator, step: float) -> Floats:
    """(n, n, 2): tangents of n × n rays at equal angles over a quarter turn, each anywhere in its pixel."""
    count = max(8, round(90 / step))
    columns, rows = np.meshgrid(np.arange(count), np.arange(count))
    pixels = np.stack([columns, rows], axis=-1) + rng.uniform(0, 1, (count, count, 2))
    slopes: Floats = np.tan((pixels / count - 0.5) * (math.pi / 2))
    return slopes


def _range_bumps(rng: Generator, slopes: Floats) -> Floats:
    """(n, n): smooth errors of the range over a face, as depth cameras have them; a share of the range."""
    bumps = np.zeros(slopes.shape[:2])
    for _ in range(4):
        bumps += np.sin(slopes @ rng.normal(0, 6, 2) + rng.uniform(0, math.tau))
    return bumps * rng.uniform(0, LARGEST_BUMP / 4)
