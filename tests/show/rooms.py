"""Rooms whose objects, areas and lengths are known: walls, a floor and a ceiling of points, and boxes in them."""

import numpy as np

from point2node.core.classes import S3DIS
from tests.show.scenes import scene

PLACES = {one.name: place for place, one in enumerate(S3DIS)}
STEP = 0.03


def grid(low, high, step=STEP):
    """Points on the box between two corners, filled; flat along an axis where both agree."""
    axes = [np.arange(a, b + 1e-9, step) if b > a else np.array([a]) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def room(width=5.0, depth=4.0, height=2.5, yaw=0.0, offset=(0.0, 0.0, 0.0), objects=()):
    """A scene of a rectangular room; ``objects`` are (class, low, high). Returns it with the instance of each point."""
    parts = [
        ("floor", grid((0, 0, 0), (width, depth, 0))),
        ("ceiling", grid((0, 0, height), (width, depth, height))),
        ("wall", grid((0, 0, 0), (width, 0, height))),
        ("wall", grid((0, depth, 0), (width, depth, height))),
        ("wall", grid((0, 0, 0), (0, depth, height))),
        ("wall", grid((width, 0, 0), (width, depth, height))),
    ]
    parts += [(name, grid(low, high)) for name, low, high in objects]
    xyz = np.concatenate([points for _, points in parts])
    labels = np.concatenate([np.full(len(points), PLACES[name]) for name, points in parts])
    instances = np.concatenate([np.full(len(points), number) for number, (_, points) in enumerate(parts)])
    cos, sin = np.cos(yaw), np.sin(yaw)
    xyz = xyz @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]) + offset
    return scene("room", xyz, S3DIS, labels, confidence=np.full(len(xyz), 0.75)), instances
