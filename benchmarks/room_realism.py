"""The similarity of generated rooms to real scans: ``python -m benchmarks.room_realism FOLDER``.

The folder contains labelled rooms with the 13 classes as NPZ files, in one folder for each kind of scanner:
``panoramic/…/*.npz``, ``handheld/…/*.npz``. They are compared with generated rooms of the same kind of scanner.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from point2node import read
from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.rooms import RoomSettings, generate_room
from point2node.rooms.scanners import SCANNERS

Array = NDArray[Any]
Table = dict[str, Array]

NAMES = [entry.name for entry in S3DIS]
FLOOR, WALL = NAMES.index("floor"), NAMES.index("wall")
EDGE = 0.02  # metres: one point per cube, as in the real rooms
SAMPLED = 400  # points of each class in each room
NEAR, PATCH, REACH = 0.06, 0.12, 1.0  # metres


def describe(cloud: PointCloud) -> Table:
    """Compute statistics by class (13,), NaN if the room has too few points of a class."""
    rng = np.random.default_rng(0)
    xyz, labels = _one_per_cube(cloud)
    tree, walls = cKDTree(xyz), xyz[labels == WALL]
    wall_tree = cKDTree(walls) if len(walls) else None
    floor = np.quantile(xyz[labels == FLOOR, 2], 0.5) if (labels == FLOOR).any() else xyz[:, 2].min()
    rows = (
        "per cent of the points",
        "low end above the floor, m",
        "high end above the floor, m",
        "points within 6 cm",
        "median off a plane of 12 cm, mm",
        "nine tenths off it, mm",
        "median off the wall plane, cm",
        "per cent of neighbours that are wall",
        "brightness",
        "its spread",
        "saturation",
    )
    table = {row: np.full(len(NAMES), np.nan) for row in rows}
    for label in range(len(NAMES)):
        members = np.flatnonzero(labels == label)
        table[rows[0]][label] = 100 * len(members) / len(labels)
        if len(members) < 50:
            continue
        table[rows[1]][label], table[rows[2]][label] = np.quantile(xyz[members, 2], (0.02, 0.98)) - floor
        chosen = rng.choice(members, min(SAMPLED, len(members)), replace=False)
        near = tree.query_ball_point(xyz[chosen], NEAR)
        table[rows[3]][label] = np.median([len(one) for one in near])
        residuals = [_residual(xyz[one]) for one in tree.query_ball_point(xyz[chosen], PATCH) if len(one) > 9]
        if residuals:
            table[rows[4]][label], table[rows[5]][label] = 1000 * np.quantile(residuals, (0.5, 0.9))
        if wall_tree is not None and label != WALL:
            offsets = [_distance_from_wall(place, walls, wall_tree) for place in xyz[chosen]]
            if np.isfinite(offsets).any():
                table[rows[6]][label] = 100 * np.nanmedian(offsets)
        _, around = tree.query(xyz[chosen], 16)
        table[rows[7]][label] = 100 * (labels[around] == WALL).mean()
        if cloud.rgb is not None:
            rgb = np.asarray(cloud.rgb, float)[np.asarray(cloud.labels) == label]
            table[rows[8]][label], table[rows[9]][label] = rgb.mean(), rgb.mean(axis=1).std()
            table[rows[10]][label] = np.ptp(rgb, axis=1).mean()
    return table


def _one_per_cube(cloud: PointCloud) -> tuple[Array, Array]:
    _, first = np.unique(np.floor(cloud.xyz / EDGE), axis=0, return_index=True)
    return cloud.xyz[first], np.asarray(cloud.labels)[first]


def _residual(places: Array) -> float:
    """Return the root mean square of the distances from the best plane."""
    centred = places - places.mean(axis=0)
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(centred.T @ centred)[0]) / len(places)))


def _distance_from_wall(place: Array, walls: Array, tree: Any) -> float:
    """Return the distance of a place from the vertical plane through the wall points nearest to it."""
    distances, nearest = tree.query(place, 48, distance_upper_bound=REACH)
    near = walls[nearest[np.isfinite(distances)], :2]
    if len(near) < 16:
        return float("nan")
    centred = near - near.mean(axis=0)
    normal = np.linalg.eigh(centred.T @ centred)[1][:, 0]
    return float(abs((place[:2] - near.mean(axis=0)) @ normal))


def average(tables: Sequence[Table]) -> Table:
    """Return the mean over the rooms that have the class."""
    result = {}
    for row in tables[0]:
        stacked = np.stack([table[row] for table in tables])
        counts = np.isfinite(stacked).sum(axis=0)
        result[row] = np.where(counts > 0, np.nansum(stacked, axis=0) / np.maximum(counts, 1), np.nan)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rooms", type=int, default=10, help="generated rooms of each kind")
    given = parser.parse_args()
    for kind in SCANNERS:
        files = sorted((given.folder / kind).rglob("*.npz"))
        if not files:
            continue
        real = average([describe(_labelled(read(file))) for file in files])
        settings = RoomSettings(scanners=(kind,))
        generated = average([describe(generate_room(1, index, settings=settings)) for index in range(given.rooms)])
        print(f"{kind}: {len(files)} real rooms, {given.rooms} generated ones below each")
        print(" " * 38 + "".join(f"{name[:8]:>9}" for name in NAMES))
        for row in real:
            for name, table in ((row, real), ("", generated)):
                print(
                    f"{name:<38}" + "".join(f"{value:9.1f}" if np.isfinite(value) else " " * 9 for value in table[row])
                )


def _labelled(cloud: PointCloud) -> PointCloud:
    return cloud[np.flatnonzero(np.asarray(cloud.labels) < len(NAMES))]


if __name__ == "__main__":
    main()
