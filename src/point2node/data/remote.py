"""Files at URLs (s3://, gs://, https:// and others that fsspec supports), with the methods of Path that scans need."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from point2node.core.errors import InputError

Result = TypeVar("Result")

WILD = frozenset("*?[")
VERSIONS = ("ETag", "etag", "generation", "md5Hash", "LastModified", "last_modified", "mtime", "created")
"""The names under which file systems report a file's version."""


@dataclass(frozen=True)
class RemoteState:
    """Identifies a version of a remote file, with the field names of ``Path.stat``."""

    st_size: int
    st_mtime_ns: int
    """Not a time but a number that changes with the file: servers report checksums, versions or times."""


@dataclass(frozen=True, order=True)
class RemotePath:
    """A file or folder at a URL. Failed access raises OSError, as for a local file."""

    url: str

    def __str__(self) -> str:
        """Return the URL without passwords and signatures, safe for logs and summaries."""
        host, slash, rest = str(self._path).partition("/")
        return f"{self._scheme}://{host.rpartition('@')[2]}{slash}{rest}"

    def __truediv__(self, relative: str | PurePosixPath) -> RemotePath:
        return self._moved(self._path / relative)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._path.name

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return self._path.stem

    @property
    def suffix(self) -> str:
        """The suffix, with the dot."""
        return self._path.suffix

    @property
    def parent(self) -> RemotePath:
        """The parent folder."""
        return self._moved(self._path.parent)

    def with_name(self, name: str) -> RemotePath:
        """Return the file called ``name`` next to this one."""
        return self._moved(self._path.with_name(name))

    def with_suffix(self, suffix: str) -> RemotePath:
        """Return the file with another suffix next to this one."""
        return self._moved(self._path.with_suffix(suffix))

    def relative_to(self, folder: RemotePath) -> PurePosixPath:
        """Return the path relative to a folder."""
        return self._path.relative_to(folder._path)

    def exists(self) -> bool:
        """Return whether it exists."""
        return self._ask(lambda files, path: bool(files.exists(path)))

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return self._ask(lambda files, path: bool(files.isfile(path)))

    def stat(self) -> RemoteState:
        """Return its size and version."""
        info: dict[str, Any] = self._ask(lambda files, path: files.info(path))
        version = repr([str(info.get(key)) for key in VERSIONS])
        return RemoteState(int(info.get("size") or 0), int(hashlib.sha256(version.encode()).hexdigest()[:15], 16))

    def read_text(self, encoding: str = "utf-8") -> str:
        """Read its content."""
        content: bytes = self._ask(lambda files, path: files.cat_file(path))
        return content.decode(encoding)

    def write_bytes(self, content: bytes) -> None:
        """Replace its content."""
        self._ask(lambda files, path: files.pipe_file(_with_parent(files, path), content))

    def fetch(self, target: Path) -> None:
        """Copy it to a local file."""
        self._ask(lambda files, path: files.get_file(path, str(target)))

    def send(self, source: Path) -> None:
        """Replace it with a local file."""
        self._ask(lambda files, path: files.put_file(str(source), _with_parent(files, path)))

    def find(self) -> tuple[RemotePath, list[RemotePath]]:
        """Return the folder of this folder or pattern, and the files in it that match."""
        folder = self
        while WILD & set(folder._path.as_posix()):
            folder = folder.parent
        try:
            found = self._ask(lambda files, path: self._below(folder, files, path))
        except OSError as error:
            raise InputError(self, expected="scans that can be listed", found=_one_line(error)) from error
        return folder, [folder / one for one in found]

    def _below(self, folder: RemotePath, files: Any, path: str) -> list[str]:
        """Return the matching files relative to the folder; file systems prefix their paths in different ways."""
        found = files.find(path) if folder == self else [one for one in files.glob(path) if files.isfile(one)]
        start = len(files._strip_protocol(folder.url))
        return [one[start:].lstrip("/") for one in sorted(found)]

    def _ask(self, question: Callable[[Any, str], Result]) -> Result:
        """Call ``question`` with the URL's file system and path; any error it raises becomes an OSError."""
        try:
            from fsspec.core import url_to_fs
        except ModuleNotFoundError as error:
            raise self._missing("no fsspec") from error
        try:
            files, path = url_to_fs(self.url)
        except ImportError as error:  # its text names the package for this kind of URL
            raise self._missing(_one_line(error)) from error
        except ValueError as error:
            raise InputError(self, expected="a URL such as s3://bucket/scans", found=_one_line(error)) from error
        try:
            files.invalidate_cache()  # other machines may write there too
            return question(files, path)
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{type(error).__name__}: {_one_line(error)}") from error

    def _missing(self, found: str) -> InputError:
        expected = f"the packages that read {self._scheme}:// to be installed"
        return InputError(self, expected=expected, found=found, remedy="Run: pip install 'point2node[remote]'")

    @property
    def _scheme(self) -> str:
        return self.url.partition("://")[0]

    @property
    def _path(self) -> PurePosixPath:
        """Host or bucket, and path; without the query of web addresses."""
        rest = self.url.partition("://")[2]
        return PurePosixPath(rest.partition("?")[0] if self._scheme in ("http", "https") else rest)

    def _moved(self, path: PurePosixPath) -> RemotePath:
        return RemotePath(f"{self._scheme}://{path}")


Place = Path | RemotePath


def place_of(word: str) -> Place:
    """Convert a word from the command line to a URL or a local path."""
    return RemotePath(word) if "://" in word else Path(word)


def _with_parent(files: Any, path: str) -> str:
    """Return the path after making its folder if needed."""
    files.makedirs(files._parent(path), exist_ok=True)
    return path


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
