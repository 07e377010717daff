"""Safe reading of pickles of numpy arrays and plain containers: nothing in them is executed.

A pickle is a program that names functions and calls them. Here the few names that arrays need resolve to stand-ins,
which only record their arguments; any other name is rejected before anything is imported.
"""

from __future__ import annotations

import math
import pickle
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from point2node.core.errors import InputError

NUMBERS = re.compile("b1|[iu][1248]|f[248]")  # the types an array may have, as numpy spells them


def load_pickles(path: Path, count: int) -> list[Any]:
    """Load the first ``count`` objects of a file into which several were dumped one after another."""
    from point2node.formats.libraries import damage_reported

    expected = "a pickle of plain containers and numpy arrays"
    with damage_reported(path, expected), path.open("rb") as file:
        try:
            return [_to_plain(_ArrayUnpickler(file).load(), {}) for _ in range(count)]
        except pickle.UnpicklingError as error:  # what we reject; damage can raise any other exception
            raise InputError(path, expected=expected, found=str(error)) from error


class _Dtype:
    """Records the arguments of ``numpy.dtype``."""

    def __init__(self, code: str | bytes, *_: object) -> None:
        self.code = code.decode("ascii") if isinstance(code, bytes) else code
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order = state[1]
        self.order = order.decode("ascii") if isinstance(order, bytes) else order

    def to_numpy(self) -> np.dtype[Any]:
        """Return the type; raises UnpicklingError if it is not a plain number."""
        if not isinstance(self.code, str) or not NUMBERS.fullmatch(self.code):
            raise pickle.UnpicklingError(f"an array of {self.code!r}, not of numbers")
        found = np.dtype(self.code)
        return found.newbyteorder(">") if self.order == ">" else found


class _Array:
    """Records the state of an array."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.dtype, self.is_fortran, self.data = state

    def to_numpy(self) -> NDArray[Any]:
        """Build the array."""
        if not isinstance(self.dtype, _Dtype):
            raise pickle.UnpicklingError("an array without a type")
        data = self.data.encode("latin-1") if isinstance(self.data, str) else self.data
        values = np.frombuffer(data, self.dtype.to_numpy())
        if len(values) != math.prod(self.shape):
            raise pickle.UnpicklingError(f"an array of shape {self.shape} with {len(values)} numbers")
        return values.reshape(self.shape, order="F" if self.is_fortran else "C")


class _ArrayClass:
    """Stands in for ``numpy.ndarray``, which is only passed as an argument."""


def _reconstruct(*_: object) -> _Array:
    return _Array()


def _from_buffer(data: bytes, dtype: _Dtype, shape: tuple[int, ...], order: str) -> _Array:
    array = _Array()
    array.__setstate__((1, shape, dtype, order == "F", data))
    return array


def _encode(text: str, encoding: str) -> bytes:
    """Stand-in for ``codecs.encode``, which Python 3 uses for bytes in old protocols."""
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"the encoding {encoding!r}")
    return text.encode("latin-1")


def _no_bytes() -> bytes:
    """Stand-in for ``bytes``, which Python 3 uses for empty bytes in old protocols."""
    return b""


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _ArrayClass,
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _no_bytes,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
}


PythonUnpickler: Any = pickle._Unpickler  # typeshed does not declare its methods


class _ArrayUnpickler(PythonUnpickler):  # type: ignore[misc]
    """An unpickler that resolves only the stand-ins.

    It extends the Python implementation, because the C one trusts a damaged memo index and allocates memory for all
    indices below it.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="bytes")  # Python 2 stored the numbers of arrays in strings

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a name."""
        if (module, name) not in _STAND_INS:
            raise pickle.UnpicklingError(f"a call of {module}.{name}, which is refused")
        return _STAND_INS[module, name]

    def load_bytearray8(self) -> None:
        """Read bytes of a given length without allocating memory for a damaged length."""
        length = int.from_bytes(self.read(8), "little")
        content = bytearray(self.read(min(length, sys.maxsize)))
        if len(content) < length:
            raise pickle.UnpicklingError(f"{len(content)} bytes where {length} were announced")
        self.append(content)

    dispatch = {**PythonUnpickler.dispatch, pickle.BYTEARRAY8[0]: load_bytearray8}  # noqa: RUF012


def _to_plain(value: Any, done: dict[int, Any]) -> Any:
    """Replace the stand-ins in containers by arrays; shared objects are converted once."""
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, _Array):
        plain: Any = value.to_numpy()
    elif isinstance(value, list | tuple):
        plain = type(value)(_to_plain(item, done) for item in value)
    elif isinstance(value, dict):
        plain = {key: _to_plain(item, done) for key, item in value.items()}
    else:
        return value
    done[id(value)] = plain
    return plain
