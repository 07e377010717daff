"""What the operating system refuses, said in one line like every other thing that a person can fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from point2node.core.errors import InputError


@contextmanager
def refusals_named(place: Path) -> Iterator[None]:
    """A file or folder that cannot be read or written becomes an InputError; ``place`` stands in for one unnamed."""
    try:
        yield
    except BrokenPipeError:
        raise  # nobody reads what is printed any more
    except OSError as error:
        where = str(error.filename or place)
        found = (error.strerror or str(error)).lower()
        raise InputError(where, expected="a place that can be read and written", found=found) from error
