"""Corrections that several people make to the same scan: one list for all, on the disk before anybody sees it."""

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
    """The corrections beside one scan.

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
        """The list as it is now."""
        return self._corrections

    def change(self, change: Callable[[Corrections], Corrections]) -> Corrections:
        """Write the changed list, then tell everybody who listens. Where writing fails, nothing has changed."""
        with self._lock:
            changed = change(self._corrections)
            if changed == self._corrections:
                return changed
            if _state_of(self._path) != self._state:
                raise InputError(
                    self._path,
                    expected="the corrections as this page has written them",
                    found="a file that something else has changed",
                    remedy="Open the scan again to go on with those.",
                )
            write_corrections(self._path, changed)
            self._corrections, self._state = changed, _state_of(self._path)
            listeners = list(self._listeners)
        for listener in listeners:
            listener()
        return changed

    def read_again(self, empty: Corrections) -> None:
        """Take over what lies on the disk, if something else has changed it, and the classes of other weights."""
        with self._lock:
            if _state_of(self._path) != self._state or empty != self._empty:
                self._corrections = read_corrections_of(self._path, empty)
                self._state, self._empty = _state_of(self._path), empty

    def listen(self, listener: Listener) -> None:
        """Be told of every change."""
        with self._lock:
            self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """Be told no more."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)


class Notebooks:
    """One notebook for each scan, whoever opens it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._open: dict[Path, Notebook] = {}

    def open(self, scan: Path, cloud: PointCloud, classes: tuple[SemanticClass, ...]) -> Notebook:
        """The notebook of a scan; refused where the corrections beside it are not this cloud's."""
        empty, path = no_corrections(cloud, classes), scan.resolve()
        with self._lock:
            notebook = self._open.get(path)
            if notebook is None:
                notebook = self._open[path] = Notebook(scan, empty)
            else:
                notebook.read_again(empty)
            return notebook


def _state_of(path: Path) -> tuple[int, int] | None:
    """What changes with the content of a file; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
