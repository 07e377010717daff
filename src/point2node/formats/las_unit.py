"""The unit of length that the coordinate system of a LAS file counts in."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

WKT, GEO_KEYS = 2112, 34735  # records of 'LASF_Projection'
PROJECTED_UNIT, VERTICAL_UNIT = 3076, 4099  # GeoTIFF keys
EPSG_UNITS = {9001: 1.0, 9002: 0.3048, 9003: 1200 / 3937}
"""Metres, feet and US survey feet."""
SYSTEMS = {"PROJCS", "LOCAL_CS", "VERT_CS", "PROJCRS", "PROJECTEDCRS", "ENGCRS", "VERTCRS", "VERTICALCRS"}
TOKEN = re.compile(r'"(?:[^"]|"")*"|[A-Za-z_]+(?=\s*[\[(])|[\])]|[-+]?\d[\d.eE+-]*')


def unit_of(header: Any) -> float | None:
    """Metres in one unit; None if the file does not say, or counts heights in another unit than the plane."""
    records = [*header.vlrs, *(header.evlrs or ())]
    projection = {one.record_id: one.record_data_bytes() for one in records if one.user_id == "LASF_Projection"}
    found = _units_in_wkt(projection[WKT].decode("utf-8", "replace")) if WKT in projection else []
    if not found and GEO_KEYS in projection:
        found = _units_in_keys(projection[GEO_KEYS])
    valid = [unit for unit in found if math.isfinite(unit) and unit > 0]
    alike = valid and math.isclose(min(valid), max(valid), rel_tol=1e-5)  # feet and US survey feet differ by 2e-6
    return valid[0] if alike else None


def _units_in_wkt(text: str) -> list[float]:
    """The units of the projected and the vertical system, in either version of the format.

    Others are those of an ellipsoid or a parameter, and degrees.
    """
    found: list[float] = []
    path: list[str] = []
    for token in TOKEN.findall(text):
        if token in ("]", ")"):
            path = path[:-1]
        elif token[0].isalpha():
            path.append(token.upper())
        elif token[0] != '"' and path and path[-1] in ("UNIT", "LENGTHUNIT"):
            holder = path[-3] if path[-2:-1] == ["AXIS"] and len(path) > 2 else path[-2] if len(path) > 1 else ""
            if holder in SYSTEMS:
                found.append(_number(token))
            path[-1] = "READ"  # what follows the factor is a code
    return found


def _number(token: str) -> float:
    try:
        return float(token)
    except ValueError:
        return math.nan


def _units_in_keys(data: bytes) -> list[float]:
    """The units that are named by their EPSG code."""
    keys = list(struct.iter_unpack("<4H", data[8 : len(data) - len(data) % 8]))
    values = {key: value for key, place, _, value in keys if place == 0}
    return [EPSG_UNITS.get(values[key], math.nan) for key in (PROJECTED_UNIT, VERTICAL_UNIT) if key in values]
