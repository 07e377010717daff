"""Compiling kernels, with the machine code kept on disk in a way that processes and read-only installations can share.

numba's own cache has three gaps. Where no folder can be written to, importing a kernel fails. Two processes that
compile a kernel for different arguments at the same time may swap each other's code, since both number their files
alike. And code is not renewed when only a function or a number in another file has changed. Here a file's name says
all that the code in it depends on: it is written once, whole, and never becomes wrong.

That builds on parts of numba that are private to it. With a numba that has changed them, kernels are plain ``njit``:
the same results, compiled again by each process.
"""

from __future__ import annotations

import ast
import hashlib
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numba

try:
    from numba.core.caching import FunctionCache
    from numba.core.serialize import dumps
except ImportError:
    FunctionCache, dumps = object, None  # type: ignore[assignment, misc, unused-ignore]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
CHANGED = (AttributeError, TypeError)
"""What using a private part of numba raises once it is called or made otherwise."""


_heard: ContextVar[Callable[[], None] | None] = ContextVar("heard", default=None)


@contextmanager
def compiling_announced(say: Callable[[], None]) -> Iterator[None]:
    """Inside, ``say`` is called once when the first kernel has to be compiled: the wait would look like a hang."""
    told = False

    def once() -> None:
        nonlocal told
        if not told:
            told = True
            say()

    token = _heard.set(once)
    try:
        yield
    finally:
        _heard.reset(token)


def kernel(**options: Any) -> Callable[[Kernel], Kernel]:
    """``numba.njit(**options)`` for a function that Python calls; kept on disk wherever that is possible.

    It runs without Python's global lock, so that threads can work on clouds of their own.
    """

    def decorate(function: Kernel) -> Kernel:
        compiled = numba.njit(nogil=True, **options)(function)
        with suppress(RuntimeError, *CHANGED):  # no folder to write to, say: each process compiles what it uses
            compiled._cache = _CodeCache(function)
        return compiled

    return decorate


class _CodeCache(FunctionCache):
    """numba's choice of the folder, with files of our own in it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        files = _CodeFiles(Path(self.cache_path), self._impl.filename_base, _stamp(function))
        self._cache_file: Any = files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None where it has to be compiled."""
        with suppress(*CHANGED):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code; where that fails, on a full disk say, this process has it and the next compiles again."""
        with suppress(OSError, *CHANGED):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call, unused-ignore]


class _CodeFiles:
    """The compiled forms of one function."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def load(self, key: object) -> Any:
        """The code for a key, or None."""
        try:
            return pickle.loads(self._path(key).read_bytes())  # as trusted as the .pyc files beside it
        except OSError:
            announce = _heard.get()
            if announce is not None:
                announce()
            return None

    def save(self, key: object, code: Any) -> None:
        """Keep the code in a file that appears whole."""
        path = self._path(key)
        unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(dumps(code))  # type: ignore[no-untyped-call, unused-ignore]
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        """``key`` holds the types of the arguments, the processor and the function's own code."""
        digest = hashlib.sha256(repr((key, self._stamp, numba.__version__)).encode()).hexdigest()
        return self._folder / f"{self._name}.{digest[:32]}.nbc"


def _stamp(function: Callable[..., Any]) -> str:
    """A digest of the files that a function's code comes from: its own and those that it imports from its package."""
    digest = hashlib.sha256()
    for path in sorted(_sources(function.__module__, set())):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(module: str, seen: set[Path]) -> set[Path]:
    """The module's file and those of the modules of the same package that it imports, and so on.

    Read from the import lines: of a number that was imported nothing tells where it came from.
    """
    file = sys.modules[module].__file__
    if file is not None and Path(file) not in seen:
        seen.add(Path(file))
        for line in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            home = (line.module or "") if isinstance(line, ast.ImportFrom) else ""
            if home.partition(".")[0] == module.partition(".")[0] and home in sys.modules:
                _sources(home, seen)
    return seen
