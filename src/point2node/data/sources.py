"""What every data set provides for preparation: sources, the scenes read from them, and what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.remote import Place


@dataclass(frozen=True)
class Damage:
    """A line that cannot be read, or (without a line number) a whole file."""

    path: str
    """Relative to the data set's root, with forward slashes."""
    line: int | None
    bytes: str
    """The content, with control and non-ASCII bytes escaped."""

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.bytes}"


@dataclass(frozen=True, eq=False)
class Shapes:
    """Clouds of the same size with one label each: a split of a classification data set."""

    xyz: NDArray[np.float32]
    """(shapes, points, 3)."""
    labels: NDArray[np.int32]
    """(shapes,)."""
    names: NDArray[np.str_]
    """(shapes,)."""
    normals: NDArray[np.float32] | None = None
    """(shapes, points, 3)."""

    def __len__(self) -> int:
        return len(self.xyz)


def no_shapes() -> Shapes:
    """Make an empty set of shapes."""
    return Shapes(np.empty((0, 0, 3), np.float32), np.empty(0, np.int32), np.empty(0, np.str_))


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene as read: its points, what was lost, and notes on decisions made while reading."""

    name: str
    split: str
    content: PointCloud | Shapes
    lost: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Files that are read together, and the function that reads them.

    ``read(skip_damaged)`` yields one scene, or several if one file holds them all. It must be a module-level function
    or a partial of one, because it is pickled for spawned workers.
    """

    name: str
    split: str
    files: tuple[Path, ...]
    read: Callable[[bool], Iterable[Scene]]
    parts: tuple[Source, ...] = ()
    """If the scene consists of many shapes: sources of a few shapes each, which in order give the same scene."""

    def units(self) -> tuple[Source, ...]:
        """Return what workers read: the parts, or the source itself."""
        return self.parts or (self,)


@dataclass(frozen=True)
class Dataset:
    """A data set found under a root folder."""

    name: str
    release: str
    """A description of which published form it is."""
    classes: tuple[SemanticClass, ...]
    sources: tuple[Source, ...]
    task: str = "segmentation"
    ignored: tuple[int, ...] = ()
    """Label values that are neither learnt nor scored."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What was left out before anything was read, and why."""


def relative_name(path: Path, root: Path) -> str:
    """Return ``path`` relative to the root with forward slashes, as in findings and manifests."""
    return path.relative_to(root).as_posix()


def is_hidden(path: Place) -> bool:
    """Return whether the operating system made the file (``.DS_Store``, ``._name``, ``Thumbs.db``)."""
    return path.name.startswith(".") or path.name in ("Thumbs.db", "desktop.ini", "__MACOSX")


def visible_files(folder: Path) -> list[Path]:
    """List the files of ``folder`` that are not hidden, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.is_file() and not is_hidden(path))


def visible_folders(folder: Path) -> list[Path]:
    """List the subfolders of ``folder`` that are not hidden, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not is_hidden(path))


def existing_root(root: Path) -> Path:
    """Return ``root``; raises InputError if it is not a folder."""
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise InputError(root, expected="the folder of the data set", found=found)
    return root


def read_text(path: Path) -> str:
    """Read a small text file of a data set, such as a list of names."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise InputError(path, expected="a readable file", found=found) from error
    except UnicodeDecodeError as error:
        raise InputError(
            path, expected="a text in UTF-8", found=f"the byte {error.object[error.start]:#04x}"
        ) from error


def lost_file(path: Path, root: Path, error: InputError) -> Damage:
    """Record the loss of ``path``, or of the file below it that the error names, with the place in the file."""
    below, _, inside = error.where.removeprefix(str(path)).partition(", ")
    file = Path(f"{path}{below}") if error.where.startswith(str(path)) else path
    place = f"{inside}: " if inside else ""
    return Damage(relative_name(file, root), None, f"{place}expected {error.expected}, found {error.found}")


def lost_scene(name: str, split: str, path: Path, root: Path, error: InputError) -> Scene:
    """Make the entry of a scene that cannot be read: no points, and the reason."""
    return Scene(name, split, PointCloud(np.empty((0, 3))), lost=(lost_file(path, root, error),))


def scene_or_loss(
    name: str, split: str, path: Path, root: Path, read: Callable[[], Scene], *, skip_damaged: bool
) -> Scene:
    """Return what ``read`` returns; if it fails, raise its error or, with ``skip_damaged``, return the lost scene."""
    try:
        return read()
    except InputError as error:
        if not skip_damaged:
            raise
        return lost_scene(name, split, path, root, error)


def check_labels(path: str | Path, labels: NDArray[Any], classes: tuple[SemanticClass, ...]) -> None:
    """Raise InputError for label values of no class."""
    values = [one.value for one in classes]
    strange = np.setdiff1d(labels, values)
    if len(strange):
        listed = ", ".join(str(value) for value in strange[:5])
        raise InputError(path, expected=f"labels from {min(values)} to {max(values)}", found=listed)
