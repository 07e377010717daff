"""PLY files: text and both binary kinds are read, little-endian binary is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, columns_from_cloud, narrow, usual_type
from point2node.formats.ply_binary import read_binary
from point2node.formats.ply_header import CORNERS, Element, read_header
from point2node.formats.ply_text import read_text
from point2node.formats.triangles import fan

TYPE_NAMES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float", "f8": "double",
}  # fmt: skip
OWN_REMARK = "comment written by point2node"


@dataclass(frozen=True)
class PlyOrigin:
    """What the header says beside the elements."""

    remarks: tuple[str, ...]


def read(path: Path) -> PointCloud:
    """Read the vertices and, as triangles, the faces; other elements are stepped over."""
    data = path.read_bytes()
    header = read_header(path, data)
    names = [element.name for element in header.elements]
    if names.count("vertex") != 1 or names.count("face") > 1:
        raise InputError(path, expected="one element 'vertex' and at most one 'face'", found=", ".join(names) or "none")
    for element in header.elements:
        _check(path, element)
    body = data[header.size :]
    columns, faces = read_text(path, header, body) if not header.byte_order else read_binary(path, header, body)
    triangles = None if faces is None else fan(path, *faces, len(columns["x"]))
    return cloud_from_columns(path, columns, faces=triangles, origin=PlyOrigin(header.remarks))


def _check(path: Path, element: Element) -> None:
    """Refuse what no reader could make sense of."""
    names = [prop.name for prop in element.properties]
    if len(set(names)) < len(names):
        raise InputError(f"{path}, element {element.name}", expected="properties of different names", found=str(names))
    if element.name == "vertex" and element.has_lists():
        lists = ", ".join(prop.name for prop in element.properties if prop.length_type)
        raise InputError(f"{path}, element vertex", expected="one number per property", found=f"a list ({lists})")
    if element.name == "face" and any(prop.name in CORNERS and prop.type[0] == "f" for prop in element.properties):
        raise InputError(f"{path}, element face", expected="whole vertex numbers", found="fractions")
    if element.name == "vertex" and not {"x", "y", "z"} <= set(names):
        raise InputError(f"{path}, element vertex", expected="properties x, y and z", found=", ".join(names) or "none")


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write little-endian binary: double coordinates, every field in its own type, the faces."""
    columns = narrow(path, columns_from_cloud(path, cloud))
    columns = {name: _storable(path, name, values) for name, values in columns.items()}
    remarks = cloud.origin.remarks if isinstance(cloud.origin, PlyOrigin) else ()
    lines = ["ply", "format binary_little_endian 1.0", *dict.fromkeys((*remarks, OWN_REMARK))]
    lines += [f"element vertex {len(cloud)}"]
    lines += [f"property {TYPE_NAMES[values.dtype.str[1:]]} {name}" for name, values in columns.items()]
    table = np.empty(len(cloud), [(name, values.dtype.newbyteorder("<")) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    if cloud.faces is not None:
        lines += [f"element face {len(cloud.faces)}", "property list uchar int vertex_indices"]
    stream.write(("\n".join([*lines, "end_header"]) + "\n").encode())
    stream.write(table.tobytes())
    if cloud.faces is not None:
        faces = np.empty(len(cloud.faces), [("length", "u1"), ("corners", "<i4", (3,))])
        faces["length"], faces["corners"] = 3, cloud.faces
        stream.write(faces.tobytes())


def _storable(path: Path, name: str, values: Array) -> Array:
    """``values`` in a type that PLY has; 64-bit integers only where 32 bits hold them."""
    values = usual_type(values)
    if values.dtype.str[1:] in TYPE_NAMES:
        return values
    smaller = values.astype(np.int32 if values.dtype.kind == "i" else np.uint32)
    if not np.array_equal(smaller, values):
        remedy = "Write .npz instead, which keeps every type."
        raise InputError(f"{path}, {name}", expected="numbers that fit 32 bits", found=str(values.dtype), remedy=remedy)
    return smaller
