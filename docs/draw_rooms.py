"""Draws nine generated rooms from above at an angle, without their ceilings: colours above, labels below.

python docs/draw_rooms.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from numpy.typing import NDArray

from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.rooms import RoomSettings, generate_room

Array = NDArray[Any]

IMAGE = Path(__file__).parent / "images" / "rooms.png"
SEED = 7
ROOMS = (
    ("office", "panoramic", 33),
    ("conference_room", "panoramic", 33),
    ("corridor", "panoramic", 30),
    ("open_office", "laser", 25),
    ("lounge", "laser", 33),
    ("storage", "laser", 34),
    ("living_room", "handheld", 36),
    ("bedroom", "handheld", 37),
    ("kitchen", "handheld", 34),
)
RAY_STEP = {"panoramic": 0.25, "laser": 0.2, "handheld": 0.35}
COLUMNS = 3
PIXELS = (960, 720)
ELEVATION, TURN = np.radians(48), np.radians(-12)
COLUMN, FRONT = 0.2, 0.45  # metres: how finely, and how deep, the wall towards the viewer is taken away
HANGING = [entry.value for entry in S3DIS if entry.name in ("clutter", "beam")]
WALL = next(entry.value for entry in S3DIS if entry.name == "wall")
SHELL = [entry.value for entry in S3DIS if entry.name in ("wall", "door", "window", "board", "column", "beam")]
BACKGROUND = 232
COLOURS = np.array([entry.colour for entry in S3DIS], np.uint8)


def main() -> None:
    """Write the picture."""
    figure, axes = plt.subplots(2 * len(ROOMS) // COLUMNS, COLUMNS, figsize=(16.5, 25), layout="constrained")
    for number, (layout, scanner, index) in enumerate(ROOMS):
        settings = RoomSettings(
            layouts=(layout,), scanners=(scanner,), ray_step=RAY_STEP[scanner], even=0.012, cut_room=0, grey=0
        )
        cloud = cut_open(generate_room(SEED, index, settings=settings))
        row, column = 2 * (number // COLUMNS), number % COLUMNS
        axes[row, column].imshow(render(cloud.xyz, np.asarray(cloud.rgb)))
        axes[row, column].set_title(f"{layout.replace('_', ' ')}, {scanner}")
        axes[row + 1, column].imshow(render(cloud.xyz, COLOURS[cloud.labels]))
    for one in axes.flat:
        one.axis("off")
    legend = [Patch(color=COLOURS[entry.value] / 255, label=entry.name) for entry in S3DIS]
    figure.legend(handles=legend, loc="outside lower center", ncols=len(S3DIS))
    figure.savefig(IMAGE, dpi=72)


def cut_open(cloud: PointCloud) -> PointCloud:
    """The room seen along y, longer side across, without ceiling, hanging things and the wall towards the viewer."""
    xyz = cloud.xyz - (cloud.xyz.min(axis=0) + cloud.xyz.max(axis=0)) / 2
    if np.ptp(xyz[:, 1]) > np.ptp(xyz[:, 0]):
        xyz = np.stack([xyz[:, 1], -xyz[:, 0], xyz[:, 2]], axis=1)
    floor, ceiling = np.quantile(xyz[:, 2], (0.01, 0.99))
    columns = np.floor((xyz[:, 0] - xyz[:, 0].min()) / COLUMN).astype(int)
    front = np.full(columns.max() + 1, np.inf)
    shell, wall = np.isin(np.asarray(cloud.labels), SHELL), cloud.labels == WALL
    np.minimum.at(front, columns[wall], xyz[wall, 1])
    front = np.minimum.reduce([np.roll(front, by) for by in (-2, -1, 0, 1, 2)])  # a door leaves no wall in its column
    hidden = shell & (xyz[:, 1] < front[columns] + FRONT) & (xyz[:, 2] > floor + 0.2)
    hidden |= np.isin(np.asarray(cloud.labels), HANGING) & (xyz[:, 2] > floor + 1.55)
    return cloud.with_(xyz=xyz)[~hidden & (xyz[:, 2] < ceiling - 0.3)]


def render(xyz: Array, colours: Array) -> Array:
    """The cloud seen obliquely from above, nearer points over farther ones."""
    x = xyz[:, 0] * np.cos(TURN) - xyz[:, 1] * np.sin(TURN)
    away = xyz[:, 0] * np.sin(TURN) + xyz[:, 1] * np.cos(TURN)
    y = away * np.sin(ELEVATION) + xyz[:, 2] * np.cos(ELEVATION)
    towards = xyz[:, 2] * np.sin(ELEVATION) - away * np.cos(ELEVATION)
    scale = min((PIXELS[0] - 8) / np.ptp(x), (PIXELS[1] - 8) / np.ptp(y))
    columns = ((x - (x.min() + x.max()) / 2) * scale + PIXELS[0] / 2).astype(int)
    rows = (PIXELS[1] / 2 - (y - (y.min() + y.max()) / 2) * scale).astype(int)
    image = np.full((PIXELS[1], PIXELS[0], 3), BACKGROUND, np.uint8)
    order = np.argsort(towards, kind="stable")  # painter's algorithm: the last write wins
    for dy, dx in np.ndindex(2, 2):  # points of two by two pixels close the gaps between them
        image[rows[order] + dy, columns[order] + dx] = colours[order]
    return image


if __name__ == "__main__":
    main()
