"""LAS and LAZ files, through laspy: everything that was read is written back, with new labels if there are any."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from point2node.core.errors import InputError
from point2node.core.memory import check_unpacked
from point2node.core.point_cloud import Array, PointCloud
from point2node.formats.columns import cloud_from_columns, plain_name
from point2node.formats.las_header import COLOURS, LasOrigin, dimensions_from_cloud, fill, make_header, unit_of
from point2node.formats.libraries import damage_reported
from point2node.formats.pieces import POINTS_AT_ONCE, Pieces, check_alike

PIECE = 1 << 26  # bytes decompressed at once, so that memory does not depend on what a damaged file claims
RECORD, EXTENDED_RECORD = 54, 60  # bytes before the contents of a VLR and an EVLR
HEADER_1_4 = 375  # bytes


def read(path: Path) -> PointCloud:
    """Read every dimension; labels are the extra dimension ``label`` if there is one, else ``classification``.

    The header with its scales, offsets, CRS and other records is kept in ``origin``, and so are 16-bit colours. A CRS
    in feet or metres also sets the cloud's ``unit``.
    """
    with _opened(path) as (laspy, reader):
        header = reader.header
        if header.are_points_compressed and header.point_count:
            check_unpacked(path, header.point_count * header.point_format.size)
        found = [piece.array for piece in reader.chunk_iterator(max(1, PIECE // header.point_format.size))]
        record = np.concatenate(found) if found else np.empty(0, header.point_format.dtype())
        _check_read(path, header, len(record))
        return _cloud(path, laspy, header, record)


def pieces(path: Path) -> Pieces | None:
    """Open the file for reading in pieces; a LAZ file is decompressed again each time."""
    with _opened(path) as (_, reader):
        points, row = reader.header.point_count, reader.header.point_format.size

    def read_pieces() -> Iterator[PointCloud]:
        read = 0
        with _opened(path) as (laspy, reader):
            for piece in reader.chunk_iterator(POINTS_AT_ONCE):
                read += len(piece.array)
                yield _cloud(path, laspy, reader.header, piece.array)
            _check_read(path, reader.header, read)

    return Pieces(points, row, read_pieces)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """Return laspy and its reader of a file, after checking the header."""
    laspy = import_module("laspy")
    _check_records(path)
    decoder = laspy.LazBackend.Lazrs  # single-threaded: the parallel one crashes the process on some damaged files
    # coordinates of a damaged file can overflow; callers handle infinite ones
    with (
        damage_reported(path, "a LAS file"),
        np.errstate(over="ignore"),
        laspy.open(path, laz_backend=decoder) as reader,
    ):
        header = reader.header
        _check_scales(path, header)
        if header.are_points_compressed and header.point_count:
            check_chunks(path, header, import_module("lazrs"))
        _check_count(path, header)
        yield laspy, reader


def _cloud(path: Path, laspy: Any, header: Any, record: Array) -> PointCloud:
    points = laspy.ScaleAwarePointRecord(record, header.point_format, header.scales, header.offsets)
    names = [name for name in header.point_format.dimension_names if name not in ("X", "Y", "Z")]
    columns = {name: np.array(points[name]) for name in ("x", "y", "z", *names)}
    extra = {plain_name(name) for name in header.point_format.extra_dimension_names}
    deep = set(COLOURS) <= set(columns) and not extra & set(COLOURS)  # the format's own 16 bits, no extra dimensions
    colours = np.stack([columns[name] for name in COLOURS], axis=1) if deep else None
    if "label" not in extra:
        columns["label"] = columns["classification"]
    if "intensity" in extra:
        del columns["intensity"]  # the extra dimension exists because this one could not store the values
    return cloud_from_columns(path, columns, unit=unit_of(header), origin=LasOrigin(header, colours))


def _check_read(path: Path, header: Any, points: int) -> None:
    if points != header.point_count:
        raise InputError(path, expected=f"{header.point_count} points", found=str(points))


def _check_records(path: Path) -> None:
    """Raise InputError if the file has no room for its records, before laspy looks for every one of them."""
    with path.open("rb") as stream:
        start = stream.read(HEADER_1_4)
    if start[:4] != b"LASF":
        raise InputError(path, expected="a LAS file, which begins with 'LASF'", found=repr(start[:16])[1:])
    needed = RECORD * struct.unpack_from("<I", start, 100)[0] if len(start) >= 104 else 0
    if len(start) == HEADER_1_4 and start[25] >= 4:
        needed += EXTENDED_RECORD * struct.unpack_from("<I", start, 243)[0]
    if needed > path.stat().st_size:
        raise InputError(path, expected=f"{needed} bytes of records", found=f"{path.stat().st_size} in all")


def _check_scales(path: Path, header: Any) -> None:
    """Raise InputError for a scale of 0, which would put all points in one plane, and for NaN and infinity."""
    for name, values, fit in (
        ("scale", header.scales, np.isfinite(header.scales) & (header.scales != 0)),
        ("offset", header.offsets, np.isfinite(header.offsets)),
    ):
        if not fit.all():
            axis = int(np.argmin(fit))
            expected = f"a {name} of {'xyz'[axis]} that can be reckoned with"
            raise InputError(path, expected=expected, found=f"{values[axis]:g} in the header")


def _check_count(path: Path, header: Any) -> None:
    """Compare the number of points with the file's size, if uncompressed."""
    room = path.stat().st_size - header.offset_to_point_data
    needed = header.point_count * header.point_format.size
    if not header.are_points_compressed and needed > room:
        raise InputError(path, expected=f"{needed} bytes for {header.point_count} points", found=str(max(room, 0)))


def write(path: Path, cloud: PointCloud, stream: BinaryIO) -> None:
    """Write labels as ``classification``, and all other parts and fields as the dimensions of the same name.

    Fields that the point format does not have become extra dimensions. LAS cannot store faces.
    """
    write_pieces(path, [cloud], len(cloud), stream)


def write_pieces(path: Path, pieces: Iterable[PointCloud], points: int, stream: BinaryIO) -> None:
    """Write points that come in pieces; they must be from a LAS file, whose header defines their encoding."""
    laspy = import_module("laspy")
    with ExitStack() as stack:
        writer, names = None, set[str]()
        for piece in pieces:
            dimensions = dimensions_from_cloud(path, piece)
            if writer is None:
                header, names = make_header(laspy, path, piece, dimensions), set(dimensions)
                compress = path.suffix.lower() == ".laz"
                writer = stack.enter_context(laspy.LasWriter(stream, header, do_compress=compress, closefd=False))
            check_alike(path, sorted(names), sorted(dimensions))
            record = laspy.ScaleAwarePointRecord.zeros(len(piece), header=writer.header)
            fill(path, record, piece, dimensions)
            writer.write_points(record)
        if writer is not None and header.version.minor >= 4 and header.evlrs is not None:
            writer.write_evlrs(header.evlrs)


# The decoder allocates memory for whatever sizes a file claims, and if that fails, it ends the process without an
# exception. So the sizes of the chunks are compared with the file's beforehand.

LAYERED = 3  # the compressor of point formats 6 to 10: every chunk starts with the sizes of its layers
ITEMS_AT = 32  # bytes before the items of a LASzip record
BYTES_14 = 14  # the item of extra bytes: a layer for each
LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}  # of the other items: point, colour, colour and infrared, wave packet


def check_chunks(path: Path, header: Any, lazrs: Any) -> None:
    """Raise InputError if the chunk table or the chunks claim more bytes than the file has."""
    record: bytes = header.vlrs.get("LasZipVlr")[0].record_data
    with path.open("rb") as stream:
        if not _chunks_fit(stream, header, record, lazrs):
            raise InputError(path, expected="compressed points inside the file", found="sizes that go beyond it")


def _chunks_fit(stream: BinaryIO, header: Any, record: bytes, lazrs: Any) -> bool:
    size, start, point_size = stream.seek(0, 2), header.offset_to_point_data, header.point_format.size
    table_at = _unpack_chunk(stream, "<q", start)[0]
    if table_at == -1:  # a writer that could not go back put it at the end
        table_at = _unpack_chunk(stream, "<q", size - 8)[0]
    if not start + 8 <= table_at <= size - 8:
        return False
    chunks = _unpack_chunk(stream, "<II", table_at)[1]
    if chunks * point_size > size:  # every chunk stores its first point uncompressed
        return False
    stream.seek(start)
    table = lazrs.read_chunk_table(stream, lazrs.LazVlr(record))
    layers = _count_layers(record)
    position = start + 8
    for _, length in table:
        if position + length > table_at:
            return False
        if layers:
            sizes = _unpack_chunk(stream, f"<{1 + layers}I", position + point_size)[1:]  # after the number of points
            if point_size + 4 * (1 + layers) + sum(sizes) > length:
                return False
        position += length
    return bool(sum(points for points, _ in table) >= header.point_count)


def _count_layers(record: bytes) -> int:
    """Return the number of separately compressed layers in a chunk; 0 if points are stored one by one."""
    if struct.unpack_from("<H", record)[0] != LAYERED:
        return 0
    items = struct.unpack_from("<H", record, ITEMS_AT)[0]
    kinds = [struct.unpack_from("<HH", record, ITEMS_AT + 2 + 6 * item) for item in range(items)]
    return sum(size if kind == BYTES_14 else LAYERS[kind] for kind, size in kinds)


def _unpack_chunk(stream: BinaryIO, layout: str, position: int) -> tuple[int, ...]:
    stream.seek(position)
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))
