"""The header of a LAS file to be written: the one that was read, or a new one that loses no millimetre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud

FINEST_SCALE = 1e-4  # metres: coordinates come back within half of it
LARGEST_CODE = 2**31 - 1  # coordinates are stored as 32-bit multiples of the scale
LONGEST_NAME = 32  # bytes
WITH_COLOUR, WITHOUT_COLOUR = 7, 6  # point formats of LAS 1.4


@dataclass(frozen=True)
class LasOrigin:
    """What a LAS file says of the whole cloud, and its colours before they were made 8-bit."""

    header: Any
    colours: Array | None


def make_header(laspy: Any, path: Path, cloud: PointCloud, dimensions: Mapping[str, Array]) -> Any:
    """The header of the file that ``cloud`` came from, or a new one, with exactly the given dimensions."""
    if isinstance(cloud.origin, LasOrigin):
        header = cloud.origin.header.copy()
        # an index of where the octants of the old file lie; a rewritten file has none of them there
        header.vlrs = [record for record in header.vlrs if record.user_id != "copc"]
        if header.evlrs is not None:
            header.evlrs = type(header.evlrs)([record for record in header.evlrs if record.user_id != "copc"])
    else:
        header = _new_header(laspy, path, cloud)
    gone = set(header.point_format.extra_dimension_names) - set(dimensions)
    header.remove_extra_dims(gone)
    known = set(header.point_format.dimension_names)
    for name, values in dimensions.items():
        if name not in known:
            if len(name.encode()) > LONGEST_NAME:
                raise InputError(f"{path}, fields", expected=f"names of at most {LONGEST_NAME} bytes", found=repr(name))
            header.add_extra_dim(laspy.ExtraBytesParams(name, values.dtype))
    return header


def _new_header(laspy: Any, path: Path, cloud: PointCloud) -> Any:
    """LAS 1.4 with the finest scale, down to 0.1 mm, at which the cloud's extent can be coded."""
    header = laspy.LasHeader(version="1.4", point_format=WITHOUT_COLOUR if cloud.rgb is None else WITH_COLOUR)
    header.global_encoding.wkt = True  # the standard asks for it from point format 6 on
    if not np.isfinite(cloud.xyz).all() or not np.isfinite(_span(cloud.xyz)):
        lower, upper = cloud.xyz.min(axis=0), cloud.xyz.max(axis=0)
        raise InputError(
            f"{path}, xyz", expected="a position for every point that LAS can hold", found=f"{lower} to {upper}"
        )
    lower = cloud.xyz.min(axis=0) if len(cloud) else np.zeros(3)
    header.scales, header.offsets = np.full(3, coding_scale(cloud.xyz)), np.floor(lower)
    return header


def coding_scale(xyz: Array) -> float:
    """The finest scale, down to 0.1 mm, at which 32 bits hold the coordinates' extent."""
    scale = FINEST_SCALE
    while _span(xyz) / scale > LARGEST_CODE:
        scale *= 10
    return scale


def _span(xyz: Array) -> float:
    """The longest side, and one for the offset's rounding; halved first: the whole difference may be infinite."""
    if not len(xyz):
        return 1.0
    return float(np.max(xyz.max(axis=0) / 2 - xyz.min(axis=0) / 2)) * 2 + 1
