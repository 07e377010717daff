"""Generated rooms as a scanner would record them: the training data that comes with the package."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud
from point2node.rooms.colours import photograph
from point2node.rooms.floor_plan import inside
from point2node.rooms.fusion import fuse
from point2node.rooms.layouts import LAYOUTS
from point2node.rooms.pieces import Styles, check_styles
from point2node.rooms.return_kernels import first_in_each_cube
from point2node.rooms.scanners import SCANNERS, Scanner, with_settings
from point2node.rooms.scanning import choose_positions, scan
from point2node.rooms.scene import LABELS, PlacedOpening, Scene, build_scene
from point2node.rooms.settings import RoomSettings
from point2node.rooms.surfaces import Floats

FINEST = 0.01  # metres: the smallest cube that keeps one point
MOST_OF_AN_OBJECT = (4_000, 10_000)  # points
BELOW = 0.31  # metres below the floor and above the ceiling: no return lies farther out


@dataclass(frozen=True)
class RoomDescription:
    """The layout, scanner and styles of a generated room, by name."""

    layout: str
    scanner: str
    """"panoramic", "laser" or "handheld"."""
    styles: tuple[str, ...]
    """The style of each piece, e.g. "chair/swivel"."""
    outline: tuple[tuple[float, float], ...]
    """(V, 2): corners counter-clockwise in metres, before the room is turned and moved."""
    height: float
    openings: tuple[PlacedOpening, ...]


def generate_room(
    seed: int,
    index: int,
    *,
    points: int | None = None,
    styles: Styles = "train",
    settings: RoomSettings | None = None,
) -> PointCloud:
    """Generate room number ``index`` of the series ``seed``: xyz in metres, z up, rgb, S3DIS labels and instances.

    The same arguments give the same bytes, on any number of threads.

    Args:
        seed: the series of rooms; 0 or more.
        index: the number of the room in the series; 0 or more.
        points: exactly this many points, repeated only if the scan has fewer; None for the whole scan.
        styles: "train" excludes the held-out styles and layouts, "held_out" uses mostly those, "all" allows any.
        settings: settings of the rooms and the scanner.
    """
    settings = settings or RoomSettings()
    if points is not None and points < 1:
        raise InputError("points", expected="at least 1", found=str(points))
    rng, scan_rng = _generators(seed, index, styles, settings)
    scene = build_scene(rng, styles, settings)
    cloud = _scan_scene(scan_rng, scene, settings)
    return cloud if points is None else _resample(scan_rng, cloud, points)


def describe_room(
    seed: int, index: int, *, styles: Styles = "train", settings: RoomSettings | None = None
) -> RoomDescription:
    """Describe the room that ``generate_room`` returns for the same arguments, without scanning it."""
    settings = settings or RoomSettings()
    scene = build_scene(_generators(seed, index, styles, settings)[0], styles, settings)
    outline = tuple((float(x), float(y)) for x, y in scene.outline)
    return RoomDescription(scene.layout, scene.scanner, scene.styles, outline, float(scene.height), scene.openings)


def _generators(seed: int, index: int, styles: str, settings: RoomSettings) -> list[Generator]:
    """Check the arguments and return two independent random generators, one for the scene and one for the scan."""
    for name, value in (("seed", seed), ("index", index)):
        if value < 0:
            raise InputError(name, expected="a whole number of at least 0", found=str(value))
    check_styles(styles)
    held_out = {layout.name: layout.held_out for layout in LAYOUTS}
    for wanted in settings.scanners:
        if wanted not in SCANNERS:
            raise unknown_choice("RoomSettings.scanners", wanted, SCANNERS)
    for wanted in settings.layouts:
        if wanted not in held_out:
            raise unknown_choice("RoomSettings.layouts", wanted, held_out)
    if styles == "train" and settings.layouts and all(held_out[wanted] for wanted in settings.layouts):
        raise InputError(
            "RoomSettings.layouts",
            expected='a layout of the training rooms for styles="train"',
            found=", ".join(settings.layouts),
            remedy='Pass styles="held_out" or styles="all".',
        )
    return [default_rng(child) for child in SeedSequence([seed, index]).spawn(2)]


def _scan_scene(rng: Generator, scene: Scene, settings: RoomSettings) -> PointCloud:
    """Scan the scene from a few positions and merge the scans."""
    scanner = with_settings(SCANNERS[scene.scanner], settings)
    scans = scan(rng, scene.surfaces, choose_positions(rng, scene.plan, scanner), scanner)
    reported, surface = scans.reported.reshape(-1, 3), scans.surface.ravel()
    rays = np.flatnonzero(scans.returned)
    if settings.even:
        low = np.array([*(scene.outline.min(axis=0) - settings.margin), -BELOW])
        high = np.array([*(scene.outline.max(axis=0) + settings.margin), scene.height + BELOW])
        edge = max(FINEST, settings.even * rng.uniform(*scanner.density))
        rays = first_in_each_cube(reported, scans.returned.ravel(), low, high, edge)
    labels = scene.labels[scene.piece[surface[rays]]]
    rays = rays[choose_survivors(rng, reported[rays], labels, scene.outline, scanner, settings)]
    if rng.uniform() < scanner.equal_objects:
        rays = rays[at_most_each(rng, scene.piece[surface[rays]], int(rng.integers(*MOST_OF_AN_OBJECT)))]
    pieces = scene.piece[surface[rays]]
    return PointCloud(
        xyz=_turn_and_move(rng, fuse(rng, scans, rays, scanner)),
        rgb=photograph(rng, scene, scans, rays, settings),
        labels=scene.labels[pieces],
        instance=pieces,
    )


def _turn_and_move(rng: Generator, xyz: NDArray[np.float32]) -> Floats:
    """Turn the points (N, 3) by quarter turns and a few degrees, and move them; the floor is near 0, not exactly 0."""
    yaw = rng.integers(4) * math.pi / 2 + rng.normal(0, math.radians(2))
    cos, sin = math.cos(yaw), math.sin(yaw)
    x, y, z = xyz.T.astype(np.float64)
    # no matrix product: its last digits could depend on the number of threads
    turned = np.stack([cos * x - sin * y, sin * x + cos * y, z], axis=1)
    turned += [*rng.uniform(-30, 30, 2), rng.normal(0, 0.04)]
    return turned


def _resample(rng: Generator, cloud: PointCloud, points: int) -> PointCloud:
    """Draw exactly ``points`` points; none is drawn twice before all are drawn once."""
    order = rng.permutation(len(cloud))[:points]
    if points > len(order):
        order = np.concatenate([order, rng.integers(len(cloud), size=points - len(order))])
    return cloud[order]


MOST_PATCHES = 6
LARGEST_CUT = 0.35  # share of the room's length


def choose_survivors(
    rng: Generator,
    xyz: NDArray[np.float32],
    labels: NDArray[np.int32],
    outline: Floats,
    scanner: Scanner,
    settings: RoomSettings,
) -> NDArray[np.bool_]:
    """Return which points (N,) are in the final scan."""
    kept = within(xyz, outline, settings.margin)
    if rng.uniform() < scanner.lost_ceiling:
        kept &= labels != LABELS["ceiling"]
    if rng.uniform() < settings.cut_room:
        angle = rng.uniform(0, math.tau)
        along = math.cos(angle) * xyz[:, 0] + math.sin(angle) * xyz[:, 1]
        kept &= along < along.max() - rng.uniform(0.1, LARGEST_CUT) * np.ptp(along)
    if rng.uniform() < settings.lost_patches and len(xyz):
        for centre in xyz[rng.integers(len(xyz), size=rng.integers(1, MOST_PATCHES + 1))]:
            # an ellipsoid, so that patches on a wall are not all round
            x, y, z = ((xyz[:, axis] - centre[axis]) / np.float32(rng.uniform(0.1, 0.7)) for axis in range(3))
            kept &= x * x + y * y + z * z > 1
    return kept


def at_most_each(rng: Generator, numbers: NDArray[np.int32], most: int) -> NDArray[np.bool_]:
    """Choose points (N,) at random so that every number has at most about ``most`` of them."""
    counts = np.bincount(numbers)
    share = most / np.maximum(counts, 1)
    kept: NDArray[np.bool_] = rng.uniform(size=len(numbers)) < share[numbers]
    return kept


def within(xyz: NDArray[np.float32], outline: Floats, margin: float) -> NDArray[np.bool_]:
    """Return which points (N,) are inside the outline or at most ``margin`` metres outside it."""
    result = inside(outline, xyz[:, 0], xyz[:, 1])
    outside = np.flatnonzero(~result)
    places = xyz[outside, :2]
    nearest = np.full(len(outside), np.inf)
    for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        (dx, dy), (x, y) = end - start, (places - start).T
        share = np.clip((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - share * dx, y - share * dy))
    result[outside] = nearest <= margin
    return result
