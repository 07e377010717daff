"""Files that visitors upload, checked and stored under names of our choice, and files that they save."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path, PurePath
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.writing import lock, replacing
from point2node.data.label_sidecar import sidecar_path
from point2node.formats import READABLE, read
from point2node.inference.labelled import LabelledCloud
from point2node.show.viewer.scan import Scan

MEGABYTE = 1_000_000
LONGEST_NAME = 60
PREFIX = "point2node-view-"
LOCK = "in_use"


class UploadFolder:
    """A temporary folder for the uploads of one visitor; a lock in it marks it as in use."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        self._lock = (self.path / LOCK).open("wb")
        lock(self._lock)

    def remove(self) -> None:
        """Remove the folder with its contents."""
        self._lock.close()
        self._folder.cleanup()


def remove_abandoned_uploads() -> None:
    """Remove the folders of servers that were killed: they are ours, and their lock is free."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # already removed, or without a lock: still being made, or not an upload folder
            status = folder.lstat()
            owner = os.getuid() if hasattr(os, "getuid") else status.st_uid  # Windows has no locks either
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner:
                continue
            with (folder / LOCK).open("rb+") as stream:
                if lock(stream):
                    rmtree(folder, ignore_errors=True)


def check_upload(name: str, size: int, most_megabytes: float) -> str:
    """Return the suffix of an upload; raises InputError for its size or format, before anything is decoded."""
    shown = shown_name(name)
    if size > most_megabytes * MEGABYTE:
        raise InputError(
            shown,
            expected=f"at most {most_megabytes:g} MB",
            found=f"{size / MEGABYTE:.0f} MB",
            remedy="Start 'point2node view' with a larger --max-upload, or give it the file's path.",
        )
    suffix = PurePath(name).suffix.lower()
    if suffix not in READABLE:
        raise InputError(shown, expected=f"a file of a readable format ({', '.join(READABLE)})", found=suffix or "none")
    if not size:
        raise InputError(shown, expected="a point cloud", found="an empty file")
    return suffix


def read_upload(name: str, content: bytes, folder: Path, most_megabytes: float) -> PointCloud:
    """Read the cloud of an upload. Only the checked suffix of its name is used on the disk."""
    suffix = check_upload(name, len(content), most_megabytes)
    kept = folder / f"upload{suffix}"
    try:
        with replacing(kept) as stream:
            stream.write(content)
        return read(kept)
    except InputError as error:  # the visitor knows the file by its original name, not by ours
        raise InputError(
            error.where.replace(str(kept), shown_name(name)),
            expected=error.expected,
            found=error.found,
            remedy=error.remedy,
        ) from error


def shown_name(name: str) -> str:
    """Return a file name that is safe to show and to save under: its last part, short, without special characters."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(letter if letter.isalnum() or letter in " ._-()" else "_" for letter in last)
    return plain[-LONGEST_NAME:].strip() or "upload"


def labelled_files(scan: Scan, labelled: LabelledCloud) -> list[tuple[str, bytes]]:
    """Return the names and contents of the files to save; a PLY if the scan's format cannot hold labels."""
    stem = PurePath(scan.name).stem + "_labelled"
    with TemporaryDirectory(prefix="point2node-") as folder:
        written = labelled.save(Path(folder) / f"scan{scan.suffix}")
        target = PurePath(stem + written.suffix)
        return [
            (target.name, written.read_bytes()),
            (sidecar_path(Path(target)).name, sidecar_path(written).read_bytes()),
        ]
