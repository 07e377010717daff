"""Use of a downloaded data set as if it were prepared: it is prepared into a cache first."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from point2node.core.errors import InputError
from point2node.core.words import Report, unreported
from point2node.data.generated import list_rooms
from point2node.data.modelnet import find_modelnet
from point2node.data.own_files import find_own_files
from point2node.data.preparation import prepare
from point2node.data.s3dis import find_s3dis
from point2node.data.scannet import find_scannet
from point2node.data.sources import Dataset
from point2node.data.store import MANIFEST, Store, open_store


def find_folder(root: Path) -> Dataset:
    """Find the user's own clouds, with their class list in the same folder."""
    return find_own_files(root, root / "classes.yaml")


FINDERS: MappingProxyType[str, Callable[[Path], Dataset]] = MappingProxyType(
    {"s3dis": find_s3dis, "scannet": find_scannet, "modelnet": find_modelnet, "folder": find_folder}
)


def open_data(dataset: str, data: Path, report: Report = unreported) -> Store:
    """Open the store in ``data``, or prepare the raw root ``data`` into the cache; only what changed is read."""
    if (data / MANIFEST).is_file():
        return open_store(data)
    if not data.is_dir():
        raise InputError(
            data,
            expected="a prepared store or the folder of a data set",
            found="nothing there",
            remedy="Give its folder with --data.",
        )
    if dataset not in FINDERS:
        raise InputError(data, expected="a prepared store", found="a folder without a manifest.json")
    mark = hashlib.sha256(f"{dataset} {data.resolve()}".encode()).hexdigest()[:12]
    store = cache_folder() / "stores" / f"{dataset}-{mark}"
    prepare(FINDERS[dataset](data), store, report=report)
    return open_store(store)


def open_generated_rooms(rooms: int, seed: int, report: Report = unreported) -> Store:
    """Open the store of generated rooms, made on first use and kept in the cache."""
    store = cache_folder() / "stores" / f"rooms-{rooms}-seed{seed}"
    prepare(list_rooms(rooms, seed), store, report=report)
    return open_store(store)


def cache_folder() -> Path:
    """Return ``$POINT2NODE_CACHE``, or the operating system's folder for caches."""
    chosen = os.environ.get("POINT2NODE_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "point2node"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "point2node"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "point2node"
