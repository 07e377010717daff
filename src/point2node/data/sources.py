"""What every data set offers to be prepared: sources, the scenes they give, and what was lost on the way."""

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
    """One line that cannot be read, or (without a line number) one whole file."""

    path: str
    """Relative to the data set's root, with forward slashes."""
    line: int | None
    bytes: str
    """What was found, with control and non-ASCII bytes escaped."""

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.bytes}"


@dataclass(frozen=True, eq=False)
class Shapes:
    """Clouds of one and the same size, one label each: a split of a classification data set."""

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
    """What is left of a split of which everything was lost."""
    return Shapes(np.empty((0, 0, 3), np.float32), np.empty(0, np.int32), np.empty(0, np.str_))


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene as read: its points, and what was lost or decided while reading them."""

    name: str
    split: str
    content: PointCloud | Shapes
    lost: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Files that are read together, and the function that reads them.

    ``read(skip_damaged)`` gives one scene, or several where one file holds them all. It is a module-level function or
    a partial of one: it travels to spawned workers.
    """

    name: str
    split: str
    files: tuple[Path, ...]
    read: Callable[[bool], Iterable[Scene]]
    parts: tuple[Source, ...] = ()
    """Where the scene is one of many shapes: some of them each, in order, which together give the same scene."""

    def units(self) -> tuple[Source, ...]:
        """What workers read: the parts, or the source itself."""
        return self.parts or (self,)


@dataclass(frozen=True)
class Dataset:
    """A data set found under some root."""

    name: str
    release: str
    """Which of the forms in circulation it is, in words."""
    classes: tuple[SemanticClass, ...]
    sources: tuple[Source, ...]
    task: str = "segmentation"
    ignored: tuple[int, ...] = ()
    """Label values that are neither learnt nor scored."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What was left out before anything was read, and why."""


def relative_name(path: Path, root: Path) -> str:
    """``path`` as findings and manifests name it: from the root, with forward slashes on every system."""
    return path.relative_to(root).as_posix()


def is_hidden(path: Place) -> bool:
    """Whether the system put the file there (``.DS_Store``, ``._name``, ``Thumbs.db``): such files are no data."""
    return path.name.startswith(".") or path.name in ("Thumbs.db", "desktop.ini", "__MACOSX")


def visible_files(folder: Path) -> list[Path]:
    """The files of ``folder`` that somebody meant to put there, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.is_file() and not is_hidden(path))


def visible_folders(folder: Path) -> list[Path]:
    """The folders in ``folder`` that somebody meant to put there, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not is_hidden(path))


def existing_root(root: Path) -> Path:
    """``root``, if it is a folder."""
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing"
        raise InputError(root, expected="the folder of the data set", found=found)
    return root


def read_text(path: Path) -> str:
    """A small text that comes with a data set, such as a list of names."""
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
    """The loss of ``path``, or of the file below it that the error names; where inside the file stands before why."""
    below, _, inside = error.where.removeprefix(str(path)).partition(", ")
    file = Path(f"{path}{below}") if error.where.startswith(str(path)) else path
    place = f"{inside}: " if inside else ""
    return Damage(relative_name(file, root), None, f"{place}expected {error.expected}, found {error.found}")


def lost_scene(name: str, split: str, path: Path, root: Path, error: InputError) -> Scene:
    """What is left of a scene that cannot be read: no points, and why."""
    return Scene(name, split, PointCloud(np.empty((0, 3))), lost=(lost_file(path, root, error),))


def scene_or_loss(
    name: str, split: str, path: Path, root: Path, read: Callable[[], Scene], *, skip_damaged: bool
) -> Scene:
    """What ``read`` gives; an error if it fails, or where ``skip_damaged`` holds, the lost scene."""
    try:
        return read()
    except InputError as error:
        if not skip_damaged:
            raise
        return lost_scene(name, split, path, root, error)


def check_labels(path: str | Path, labels: NDArray[Any], classes: tuple[SemanticClass, ...]) -> None:
    """Refuse label values that stand for no class."""
    values = [one.value for one in classes]
    strange = np.setdiff1d(labels, values)
    if len(strange):
        listed = ", ".join(str(value) for value in strange[:5])
        raise InputError(path, expected=f"labels from {min(values)} to {max(values)}", found=listed)
