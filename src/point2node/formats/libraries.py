"""Optional libraries for some formats: a missing library and a failing one both give a clear one-line error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from point2node.core.errors import InputError


def import_library(path: Path, name: str, extra: str) -> ModuleType:
    """Import the library that reads ``path``; raises InputError with the install command if it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            path,
            expected=f"the library {name} to be installed, which {path.suffix.lower()} files need",
            found="none",
            remedy=f"Run: pip install 'point2node[{extra}]'",
        ) from error


@contextmanager
def damage_reported(path: Path, expected: str) -> Iterator[None]:
    """Convert any exception of a library on a damaged file to an InputError that names the file.

    Libraries do not define the exception for damage: fuzzing finds KeyError, RuntimeError, MemoryError and more.
    """
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # a panic of lazrs, which is written in Rust, is not a subclass of Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(path, expected=expected, found=f"a damaged one ({reason.rstrip('.')})") from error
