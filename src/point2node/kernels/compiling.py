"""Compiling kernels, and caching the machine code on disk so that processes and read-only installations can share it.

numba's own cache has three problems. If no folder is writable, importing a kernel fails. If two processes compile a
kernel for different arguments at the same time, they may swap each other's code, because both number their files the
same way. And code is not recompiled if only a function or a constant in another file has changed. Here the file name
is a digest of everything that the code depends on, so a file is written once, atomically, and never becomes stale.

This uses private parts of numba. If a version of numba has changed them, kernels fall back to plain ``njit``: the
results are the same, but each process compiles again.
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
PRIVATE_API_CHANGED = (AttributeError, TypeError)
"""The exceptions raised if numba's private API has changed."""


_on_compile: ContextVar[Callable[[], None] | None] = ContextVar("on_compile", default=None)


@contextmanager
def announce_compiling(announce: Callable[[], None]) -> Iterator[None]:
    """Call ``announce`` once, before the first kernel that is compiled inside; the wait would look like a hang."""
    announced = False

    def once() -> None:
        nonlocal announced
        if not announced:
            announced = True
            announce()

    token = _on_compile.set(once)
    try:
        yield
    finally:
        _on_compile.reset(token)


def kernel(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function that Python calls, with ``numba.njit(**options)``, and cache it on disk if possible.

    It releases Python's global lock, so threads can work on different clouds in parallel.
    """

    def decorate(function: Kernel) -> Kernel:
        compiled = numba.njit(nogil=True, **options)(function)
        with suppress(RuntimeError, *PRIVATE_API_CHANGED):  # such as no writable folder: each process then compiles
            compiled._cache = _CodeCache(function)
        return compiled

    return decorate


class _CodeCache(FunctionCache):
    """A cache in the folder that numba chooses, with our own files in it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call, unused-ignore]
        files = _CodeFiles(Path(self.cache_path), self._impl.filename_base, _source_digest(function))
        self._cache_file: Any = files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if it has to be compiled."""
        with suppress(*PRIVATE_API_CHANGED):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call, unused-ignore]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code; if that fails, for example on a full disk, the next process compiles it again."""
        with suppress(OSError, *PRIVATE_API_CHANGED):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call, unused-ignore]


class _CodeFiles:
    """The compiled forms of one function."""

    def __init__(self, folder: Path, name: str, source_digest: str) -> None:
        self._folder, self._name, self._source_digest = folder, name, source_digest

    def load(self, key: object) -> Any:
        """Return the code for a key, or None if it is not on disk."""
        try:
            return pickle.loads(self._path(key).read_bytes())  # as trusted as the .pyc files next to it
        except OSError:
            announce = _on_compile.get()
            if announce is not None:
                announce()
            return None

    def save(self, key: object, code: Any) -> None:
        """Write the code to a file atomically."""
        path = self._path(key)
        unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(dumps(code))  # type: ignore[no-untyped-call, unused-ignore]
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        """Return the file for a key, which contains the argument types, the processor and the function's own code."""
        digest = hashlib.sha256(repr((key, self._source_digest, numba.__version__)).encode()).hexdigest()
        return self._folder / f"{self._name}.{digest[:32]}.nbc"


def _source_digest(function: Callable[..., Any]) -> str:
    """Return a digest of the source files of a function: its own and those that it imports from its package."""
    digest = hashlib.sha256()
    for path in sorted(_sources(function.__module__, set())):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources(module: str, seen: set[Path]) -> set[Path]:
    """Return the module's file and those of all modules of the same package that it imports, recursively.

    They are found from the import statements, because an imported constant does not know where it came from.
    """
    file = sys.modules[module].__file__
    if file is not None and Path(file) not in seen:
        seen.add(Path(file))
        for line in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            home = (line.module or "") if isinstance(line, ast.ImportFrom) else ""
            if home.partition(".")[0] == module.partition(".")[0] and home in sys.modules:
                _sources(home, seen)
    return seen
