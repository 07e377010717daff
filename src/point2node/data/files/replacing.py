"""Writing a file so that there is either the whole new one or what was there before."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from point2node.core.errors import InputError

TEMPORARY = ".point2node-"
"""How the names of files begin that are not finished."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream into a temporary file beside ``path``, renamed to it at the end and removed on any failure."""
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(6)}{path.suffix}")
    try:
        try:
            with temporary.open("xb+") as stream:
                yield stream
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(path, expected="a file that can be written", found=reason(error)) from error


def reason(error: OSError) -> str:
    """What the operating system says, in its own words."""
    return (error.strerror or str(error)).lower()
