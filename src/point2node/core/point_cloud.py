"""The point cloud that every reader returns and every writer takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError

Array = NDArray[Any]
PARTS = ("rgb", "normals", "intensity", "labels", "instance", "faces")
"""The optional parts of a cloud."""


@dataclass(frozen=True, eq=False)
class PointCloud:
    """N points with their data. Checked once, when it is made; treat the arrays as read-only.

    Networks never see ``xyz`` itself, because absolute map coordinates need double precision, but the float32 copy that
    ``local`` returns.
    """

    xyz: Array
    """(N, 3) float64, absolute. NaN marks a point without a position."""
    rgb: Array | None = None
    """(N, 3) uint8."""
    normals: Array | None = None
    """(N, 3) float32."""
    intensity: Array | None = None
    """(N,), in the file's own type and scale."""
    labels: Array | None = None
    """(N,) int32."""
    instance: Array | None = None
    """(N,) int32, the number of the object that a point belongs to."""
    fields: Mapping[str, Array] = field(default_factory=dict)
    """All other data of the points, by name, (N,) or (N, width) each."""
    faces: Array | None = None
    """(F, 3) int32: triangles, if the points are the vertices of a mesh."""
    unit: float | None = None
    """Metres per unit of the coordinates, if the file states it."""
    origin: object = None
    """What the writer of the same format needs to reproduce the file; not used elsewhere."""

    def __post_init__(self) -> None:
        points = len(self.xyz)
        put = object.__setattr__  # the dataclass is frozen; only this method sets its fields
        put(self, "xyz", _checked("xyz", self.xyz, np.float64, (points, 3)))
        put(self, "rgb", _checked("rgb", self.rgb, np.uint8, (points, 3)))
        put(self, "normals", _checked("normals", self.normals, np.float32, (points, 3)))
        put(self, "intensity", _checked("intensity", self.intensity, None, (points,)))
        put(self, "labels", _checked("labels", self.labels, np.int32, (points,)))
        put(self, "instance", _checked("instance", self.instance, np.int32, (points,)))
        put(self, "faces", _checked("faces", self.faces, np.int32, (None, 3)))
        checked = {name: _checked(name, values, None, (points, ...)) for name, values in self.fields.items()}
        put(self, "fields", MappingProxyType(checked))

    def __len__(self) -> int:
        return len(self.xyz)

    def __repr__(self) -> str:
        placed = self.xyz[np.isfinite(self.xyz).all(axis=1)]
        size = " × ".join(f"{side:.4g}" for side in np.ptp(placed, axis=0)) if len(placed) else "no positions"
        parts = [part for part in PARTS if getattr(self, part) is not None]
        known = ", ".join([*parts, *self.fields])
        return f"<PointCloud: {len(self):,} points, {size}{' with ' if known else ''}{known}>"

    def __getitem__(self, chosen: slice | Array) -> PointCloud:
        """Select points by slice, mask or indices; faces are dropped."""

        def take(values: Array | None) -> Array | None:
            return None if values is None else values[chosen]

        return PointCloud(
            xyz=self.xyz[chosen],
            rgb=take(self.rgb),
            normals=take(self.normals),
            intensity=take(self.intensity),
            labels=take(self.labels),
            instance=take(self.instance),
            fields={name: values[chosen] for name, values in self.fields.items()},
            unit=self.unit,
        )

    def with_(self, **changes: Any) -> PointCloud:
        """Return the cloud with some of its parts replaced."""
        return replace(self, fields=changes.pop("fields", dict(self.fields)), **changes)

    def local(self) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return coordinates in the room frame, float32, and the float64 shift (3,) back to absolute ones.

        The origin of x and y is the centre of the bounding box, that of z its bottom. The subtraction is in double
        precision, so map coordinates lose nothing.
        """
        if not len(self):
            return np.empty((0, 3), np.float32), np.zeros(3)
        lower, upper = np.nanmin(self.xyz, axis=0), np.nanmax(self.xyz, axis=0)
        shift = np.array([(lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2, lower[2]])
        return (self.xyz - shift).astype(np.float32), shift


def _checked(name: str, values: Any, dtype: Any, shape: tuple[Any, ...]) -> Any:
    """Convert to an array of ``dtype`` (None: keep) and check its ``shape`` (None: any length; …: any further axes)."""
    if values is None:
        return None
    array = np.asarray(values)
    fits = len(array.shape) == len(shape) or (shape[-1] is ... and array.ndim in (1, 2))
    for found, wanted in zip(array.shape, shape, strict=False):
        fits = fits and (wanted is None or wanted is ... or found == wanted)
    if not fits:
        wanted_text = ", ".join("any" if n is None else "…" if n is ... else str(n) for n in shape)
        raise InputError(name, expected=f"an array of shape ({wanted_text})", found=str(array.shape))
    if dtype is None or array.dtype == dtype:
        return array
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        if array.dtype.kind not in "biu" and not np.array_equal(array, np.rint(array)):
            raise InputError(name, expected="whole numbers", found=f"{array.dtype} values that are not")
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            span = f"{array.min()} to {array.max()}"
            raise InputError(name, expected=f"values from {limits.min} to {limits.max}", found=span)
    return array.astype(dtype)
