"""The libraries behind some formats: one that is missing and one that fails both end as one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from point2node.core.errors import InputError


def import_library(path: Path, name: str, extra: str) -> ModuleType:
    """The library that reads ``path``, or an error with the line that installs it."""
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
    """Whatever a library raises on a damaged file becomes an InputError that names the file.

    Libraries promise no exception type for damage: fuzzing meets KeyError, RuntimeError, MemoryError and more.
    """
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # a panic of lazrs, which is written in Rust, reaches Python beside Exception, not below it
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(path, expected=expected, found=f"a damaged one ({reason.rstrip('.')})") from error
