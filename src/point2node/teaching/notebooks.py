"""Corrections that several people make to the same scan: one shared list, written to disk before anyone sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import RLock

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.teaching.corrections import Corrections, no_corrections
from point2node.teaching.corrections_file import corrections_path, read_corrections_of, write_corrections

Listener = Callable[[], None]


class Notebook:
    """The corrections of one scan, kept in the file next to it.

    Args:
        scan: the scan's file.
        empty: the list of a scan without corrections.
    """

    def __init__(self, scan: Path, empty: Corrections) -> None:
        self.scan, self._path, self._empty = scan, corrections_path(scan), empty
        self._lock = RLock()
        self._listeners: list[Listener] = []
        self._corrections = read_corrections_of(self._path, empty)
        self._state = _state_of(self._path)

    @property
    def corrections(self) -> Corrections:
        """The current corrections."""
        return self._corrections

    def change(self, change: Callable[[Corrections], Corrections]) -> Corrections:
        """Write the changed corrections, then call the listeners. If writing fails, nothing changes."""
        with self._lock:
            changed = change(self._corrections)
            if changed == self._corrections:
                return changed
            if _state_of(self._path) != self._state:
                raise InputError(
                    self._path,
                    expected="the corrections as this page wrote them",
                    found="a file that something else has changed",
                    remedy="Open the scan again to continue with the changed file.",
                )
            write_corrections(self._path, changed)
            self._corrections, self._state = changed, _state_of(self._path)
            listeners = list(self._listeners)
        for listener in listeners:
            listener()
        return changed

    def read_again(self, empty: Corrections) -> None:
        """Read the file again if something else changed it or if ``empty``, with its classes, is different."""
        with self._lock:
            if _state_of(self._path) != self._state or empty != self._empty:
                self._corrections = read_corrections_of(self._path, empty)
                self._state, self._empty = _state_of(self._path), empty

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` after every change."""
        with self._lock:
            self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """Stop calling ``listener``."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)


class Notebooks:
    """One notebook for each scan, shared by everyone who opens it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._open: dict[Path, Notebook] = {}

    def open(self, scan: Path, cloud: PointCloud, classes: tuple[SemanticClass, ...]) -> Notebook:
        """Return the notebook of a scan. Raises InputError if the corrections next to it belong to another cloud."""
        empty, path = no_corrections(cloud, classes), scan.resolve()
        with self._lock:
            notebook = self._open.get(path)
            if notebook is None:
                notebook = self._open[path] = Notebook(scan, empty)
            else:
                notebook.read_again(empty)
            return notebook


def _state_of(path: Path) -> tuple[int, int] | None:
    """Return modification time and inode, which change with the content of a file; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
