"""A scanner on a tripod or in a hand: its positions, its rays and what they report."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from point2node.rooms.floor_plan import CELL, FloorPlan, Footprint
from point2node.rooms.ray_kernels import cast_rays, pixel_of
from point2node.rooms.return_kernels import report_returns
from point2node.rooms.scanners import Scanner
from point2node.rooms.surfaces import DISC, QUAD, Floats, Surfaces

PICTURE = (0.7, 0.53)  # tangents of half the angles of view of a hand-held camera
DOWNWARDS = (0.2, 0.65)  # radians: how far it looks down on average, drawn per room
LOOKS_UP, GLANCES = 0.35, 0.08  # share of the rooms in which it ever looks up, and of the pictures there that do
JUMP, LARGEST_JUMP = 0.15, 0.05  # probability that tracking is lost once, and the largest error afterwards in metres
_X, _Y, _Z = np.eye(3)
# right, up and forward of the six faces of the cube around a scanner
CUBE = np.array([[_Y, _Z, _X], [-_Y, _Z, -_X], [-_X, _Z, _Y], [_X, _Z, -_Y], [_X, _Y, _Z], [_X, -_Y, -_Z]])


@dataclass(frozen=True)
class Scans:
    """The rays of S positions, with F faces of n × n rays each, and their returns, in the frame of the room."""

    positions: Floats
    """(S, 3) in metres."""
    faces: Floats
    """(S, F, 3, 3): right, up and forward of each face."""
    slopes: Floats
    """(n, n, 2): distance right and up of each ray of a face per unit forward."""
    depths: NDArray[np.float32]
    """(S, F, n, n): metres forward to the first hit."""
    surface: NDArray[np.int32]
    """(S, F, n, n): the index of the surface that was hit, -1 for none."""
    reported: NDArray[np.float32]
    """(S, F, n, n, 3): the position of the hit as reported by the scanner."""
    returned: NDArray[np.bool_]
    """(S, F, n, n): whether the scanner reports a hit."""


def choose_positions(rng: Generator, plan: FloorPlan, scanner: Scanner) -> Floats:
    """Choose positions (S, 3) at eye height, spread over the free floor, as far from each other as possible."""
    cells = plan.free_cells()
    if not len(cells):
        cells = np.array([[plan.x.mean(), plan.y.mean()]])
    area = len(cells) * CELL**2
    count = int(np.clip(round(rng.normal(1.5 + area / scanner.area_each, 0.7)), *scanner.positions))
    chosen: list[Floats] = []
    for _ in range(count):
        candidates = cells[rng.integers(len(cells), size=24)]
        roomy = [cell for cell in candidates if plan.is_free(Footprint(cell[0], cell[1], 0.25, 0.25))]
        candidates = np.array(roomy) if roomy else candidates
        gaps = [min((np.hypot(*(cell - other)) for other in chosen), default=0.0) for cell in candidates]
        chosen.append(candidates[int(np.argmax(gaps))])
    return np.column_stack([np.array(chosen), rng.uniform(*scanner.eye_height, count)])


def scan(rng: Generator, surfaces: Surfaces, positions: Floats, scanner: Scanner) -> Scans:
    """Scan the surfaces from these positions."""
    slopes = ray_slopes(rng, scanner.ray_step)
    if scanner.views:
        faces, shifts = _pictures(rng, len(positions), scanner.views), _drift(rng, len(positions), scanner.pose_error)
        borders = pixel_of(-PICTURE[0], len(slopes)), pixel_of(-PICTURE[1], len(slopes))
        lowest = -1.0
    else:
        faces, shifts = (
            np.stack([_turned_cube(rng) for _ in positions]),
            rng.normal(0, scanner.pose_error, positions.shape),
        )
        borders = 0, 0
        lowest = -math.sin(rng.uniform(*scanner.blind_from))
    depths, surface = first_hits(rng, surfaces, positions, faces, slopes, borders)
    reported, returned = report_returns(
        depths,
        surface,
        positions,
        shifts,
        faces,
        slopes,
        np.where(np.isin(surfaces.kind, (QUAD, DISC))[:, None], surfaces.frame[:, 2], 0.0),
        surfaces.material,
        rng.uniform(*scanner.range_noise),
        scanner.mixed_pixels,
        rng.uniform(*scanner.reach),
        lowest,
        rng.integers(2**63, dtype=np.uint64),
    )
    return Scans(positions, faces, slopes, depths, surface, reported, returned)


def first_hits(
    rng: Generator,
    surfaces: Surfaces,
    positions: Floats,
    faces: Floats,
    slopes: Floats,
    borders: tuple[int, int] = (0, 0),
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return depths and surfaces (S, F, n, n) of the first hits; ``rng`` decides which rays pass through glass."""
    return cast_rays(
        positions,
        faces,
        slopes,
        borders,
        surfaces.kind,
        surfaces.origin,
        surfaces.frame,
        np.linalg.inv(surfaces.frame),
        surfaces.form,
        surfaces.closed,
        surfaces.material,
        rng.integers(2**63, dtype=np.uint64),
    )


def _turned_cube(rng: Generator) -> Floats:
    """Return the six faces, turned about the vertical so that the seams between them are at random angles."""
    angle = rng.uniform(0, math.tau)
    cos, sin = math.cos(angle), math.sin(angle)
    turned: Floats = CUBE @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return turned


def _pictures(rng: Generator, positions: int, views: int) -> Floats:
    """Return pictures (S, F, 3, 3) in all directions, most of them tilted downwards, none exactly level."""
    yaw = rng.uniform(0, math.tau, (positions, 1)) + (np.arange(views) + rng.uniform(-0.3, 0.3, (positions, views))) * (
        math.tau / views
    )
    pitch = rng.normal(-rng.uniform(*DOWNWARDS), 0.25, yaw.shape)
    glances = GLANCES if rng.uniform() < LOOKS_UP else 0.0
    pitch = np.where(rng.uniform(size=yaw.shape) < glances, rng.uniform(0.2, 0.9, yaw.shape), pitch)
    roll = rng.normal(0, 0.07, yaw.shape)
    forward = np.stack([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)], axis=-1)
    level = np.stack([np.sin(yaw), -np.cos(yaw), np.zeros_like(yaw)], axis=-1)
    upright = np.cross(level, forward)
    right = np.cos(roll)[..., None] * level + np.sin(roll)[..., None] * upright
    return np.stack([right, np.cross(right, forward), forward], axis=-2)


def _drift(rng: Generator, positions: int, pose_error: float) -> Floats:
    """Return position errors (S, 3) in metres that accumulate along the way, sometimes with a jump."""
    steps = rng.normal(0, pose_error, (positions, 3))
    if pose_error and rng.uniform() < JUMP:
        steps[rng.integers(positions)] += rng.uniform(-LARGEST_JUMP, LARGEST_JUMP, 3)
    drift: Floats = np.cumsum(steps, axis=0)
    return drift


def ray_slopes(rng: Generator, step: float) -> Floats:
    """Return tangents (n, n, 2) of rays at equal angles over a quarter turn, each at a random position in its pixel."""
    count = max(8, round(90 / step))
    columns, rows = np.meshgrid(np.arange(count), np.arange(count))
    pixels = np.stack([columns, rows], axis=-1) + rng.uniform(0, 1, (count, count, 2))
    slopes: Floats = np.tan((pixels / count - 0.5) * (math.pi / 2))
    return slopes
