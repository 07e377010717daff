"""Whether the compressed chunks of a LAZ file lie inside it.

The decoder takes memory for whatever sizes a file claims, and ends the whole process where there is not enough: no
exception could be caught. So the sizes are compared with the file's before it sees them.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from point2node.core.errors import InputError

LAYERED = 3  # the compressor of point formats 6 to 10: every chunk begins with the sizes of its layers
ITEMS_AT = 32  # bytes before the items of a LASzip record
BYTES_14 = 14  # the item of extra bytes: a layer for each
LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}  # of the other items: point, colour, colour and infrared, wave packet


def check_chunks(path: Path, header: Any, lazrs: Any) -> None:
    """Refuse a file whose chunk table or chunks claim more bytes than there are."""
    record: bytes = header.vlrs.get("LasZipVlr")[0].record_data
    with path.open("rb") as stream:
        if not _fits(stream, header, record, lazrs):
            raise InputError(path, expected="compressed points inside the file", found="sizes that go beyond it")


def _fits(stream: BinaryIO, header: Any, record: bytes, lazrs: Any) -> bool:
    size, start, point_size = stream.seek(0, 2), header.offset_to_point_data, header.point_format.size
    table_at = _unpack(stream, "<q", start)[0]
    if table_at == -1:  # a writer that could not go back put it at the end
        table_at = _unpack(stream, "<q", size - 8)[0]
    if not start + 8 <= table_at <= size - 8:
        return False
    chunks = _unpack(stream, "<II", table_at)[1]
    if chunks * point_size > size:  # every chunk holds its first point as it is
        return False
    stream.seek(start)
    table = lazrs.read_chunk_table(stream, lazrs.LazVlr(record))
    layers = _count_layers(record)
    position = start + 8
    for _, length in table:
        if position + length > table_at:
            return False
        if layers:
            sizes = _unpack(stream, f"<{1 + layers}I", position + point_size)[1:]  # after the number of points
            if point_size + 4 * (1 + layers) + sum(sizes) > length:
                return False
        position += length
    return bool(sum(points for points, _ in table) >= header.point_count)


def _count_layers(record: bytes) -> int:
    """How many separately compressed layers a chunk has; 0 where points follow each other."""
    if struct.unpack_from("<H", record)[0] != LAYERED:
        return 0
    items = struct.unpack_from("<H", record, ITEMS_AT)[0]
    kinds = [struct.unpack_from("<HH", record, ITEMS_AT + 2 + 6 * item) for item in range(items)]
    return sum(size if kind == BYTES_14 else LAYERS[kind] for kind, size in kinds)


def _unpack(stream: BinaryIO, layout: str, position: int) -> tuple[int, ...]:
    stream.seek(position)
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))
