"""The header of a PLY file: its elements and the properties of their rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from point2node.core.errors import InputError

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
    "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
BYTE_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
CORNERS = ("vertex_indices", "vertex_index")  # names of the list of a face's corners
FIRST_LINE = re.compile(rb"ply[ \t]*(\r\n|\n|\r)")
LAST_LINE = re.compile(rb"[\r\n]end_header[ \t]*(\r\n|\n|\r)")


@dataclass(frozen=True)
class Property:
    """A scalar in each row, or a list preceded by its length."""

    name: str
    type: str
    length_type: str = ""


@dataclass(frozen=True)
class Element:
    """A table of ``count`` rows."""

    name: str
    count: int
    properties: list[Property]

    def has_lists(self) -> bool:
        """Whether rows can differ in length."""
        return any(prop.length_type for prop in self.properties)


@dataclass(frozen=True)
class Header:
    """The content of the header, and where the data starts."""

    byte_order: str
    """``<``, ``>``, or nothing for text."""
    elements: list[Element]
    remarks: tuple[str, ...]
    """The lines ``comment`` and ``obj_info``, where some programs store the coordinate system."""
    lines: int
    size: int
    """The header's length in bytes."""


def read_header(path: Path, data: bytes) -> Header:
    """Read the header at the start of ``data``."""
    first = FIRST_LINE.match(data)
    if first is None:
        raise InputError(path, expected="a PLY file, which begins with 'ply'", found=repr(data[:16])[1:])
    last = LAST_LINE.search(data)
    if last is None:
        raise InputError(path, expected="a PLY header that ends with 'end_header'", found="no such line")
    # the same line end as in the header: a lone carriage return must not consume a newline of the binary data
    size = last.start(1) + len(first[1])
    lines = [line.decode("utf-8", "replace") for line in data[: last.start(1)].splitlines()]
    byte_order, elements, remarks = None, list[Element](), list[str]()
    for number, line in enumerate(lines[1:-1], start=2):
        try:
            match line.split():
                case ["format", kind, _]:
                    byte_order = BYTE_ORDERS[kind]
                case ["element", name, count]:
                    elements.append(Element(name, _count(count), []))
                case ["property", "list", length_type, type_, name] if TYPES[length_type][0] != "f":
                    elements[-1].properties.append(Property(name, TYPES[type_], TYPES[length_type]))
                case ["property", type_, name]:
                    elements[-1].properties.append(Property(name, TYPES[type_]))
                case ["comment" | "obj_info", *_]:
                    remarks.append(line)
                case []:
                    pass
                case _:
                    raise ValueError(line)
        except (ValueError, LookupError) as error:
            where = f"{path}, line {number}"
            raise InputError(where, expected="a line of a PLY header", found=repr(line[:60])) from error
    if byte_order is None:
        raise InputError(path, expected="a line 'format …' in the PLY header", found="none")
    return Header(byte_order, elements, tuple(remarks), len(lines), size)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError(text)
    return count


def truncated(path: Path, element: Element) -> InputError:
    """Make the error for an element that ends too early."""
    return InputError(path, expected=f"{element.count} rows of the element {element.name!r}", found="fewer")
