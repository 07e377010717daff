"""Writing a file so that there is either the whole new one or what was there before."""

from __future__ import annotations

import os
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


def check_writable(path: Path) -> None:
    """Refuse, before hours of work, a file whose folder is not there or cannot be written."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(path, expected="a file in a folder that is there", found="no such folder")
    if not os.access(folder, os.W_OK):
        raise InputError(path, expected="a file that can be written", found="permission denied")


def reason(error: OSError) -> str:
    """What the operating system says, in its own words."""
    return (error.strerror or str(error)).lower()
