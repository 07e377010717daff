"""The points of a scene as text inside a page: 16-bit coordinates and 8-bit attributes, deflated, in base64."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass

import numpy as np

from point2node.show.scene import UNLABELLED, Array, LabelledScene

STEPS = 65535


@dataclass(frozen=True, eq=False)
class Payload:
    """What the page unpacks: coordinate = lower + step · number, each column of bytes by itself."""

    data: str
    """Base64 of the deflated columns, each ``points`` bytes long, in the order of ``columns``."""
    columns: tuple[str, ...]
    points: int
    lower: tuple[float, ...]
    step: tuple[float, ...]


def encode(scene: LabelledScene, walls: Array | None = None) -> Payload:
    """Pack a scene whose points all have positions, with the bits of the walls that hide it from a viewer.

    The low and the high bytes of a coordinate are columns of their own: the high ones hardly change and deflate well.
    """
    lower = scene.xyz.min(axis=0)
    step = np.ptp(scene.xyz, axis=0) / STEPS
    numbers = np.rint((scene.xyz - lower) / np.where(step > 0, step, 1)).astype(np.uint16)
    columns: dict[str, Array] = {}
    for axis, name in enumerate("xyz"):
        columns[f"{name} low"] = (numbers[:, axis] & 255).astype(np.uint8)
        columns[f"{name} high"] = (numbers[:, axis] >> 8).astype(np.uint8)
    columns["label"] = _bytes_of_labels(scene.labels)
    if scene.truth is not None:
        columns["truth"] = _bytes_of_labels(scene.truth)
    if scene.rgb is not None:
        columns |= {name: scene.rgb[:, place] for place, name in enumerate(("red", "green", "blue"))}
    for name, values in (("confidence", scene.confidence), ("entropy", scene.entropy)):
        if values is not None:
            columns[name] = bytes_of_shares(values)
    if walls is not None:
        columns["walls"] = walls
    packed = zlib.compress(b"".join(np.ascontiguousarray(column).tobytes() for column in columns.values()), 9)
    data = base64.b64encode(packed).decode("ascii")
    return Payload(data, tuple(columns), len(scene), tuple(lower.tolist()), tuple(step.tolist()))


def bytes_of_shares(values: Array) -> Array:
    """Numbers from 0 to 1 as bytes; what is not known is 0."""
    return np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8)


def _bytes_of_labels(labels: Array) -> Array:
    return np.where(labels < 0, UNLABELLED, labels).astype(np.uint8)
