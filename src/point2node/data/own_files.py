"""A folder of the user's own labelled clouds, in any readable format, as a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from point2node.core.errors import InputError
from point2node.data.class_file import read_class_file
from point2node.data.sources import Dataset, Scene, Source, existing_root, is_hidden, lost_scene, relative_name

SPLITS = ("train", "val", "test")
FRACTIONS = (0.8, 0.1, 0.1)


def find_own_files(
    root: Path, class_file: Path, *, seed: int = 0, fractions: tuple[float, float, float] = FRACTIONS
) -> Dataset:
    """Find the clouds under ``root``: split by its folders train, val and test, otherwise at random by ``seed``.

    ``root`` may end in a pattern (``scans/*.laz``, ``scans/**/floor_?.ply``); then only matching files are used.
    """
    classes, ignored = read_class_file(class_file)
    files, others = find_clouds(root, class_file)
    root, _ = split_pattern(root)
    names = [relative_name(file.with_suffix(""), root) for file in files]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        found = f"{repeated[0]!r} in several formats"
        raise InputError(root, expected="one file for each scene", found=found, remedy="Keep one of them.")
    by_folder = any((root / split).is_dir() for split in SPLITS)
    splits = [_folder_split(file, root) for file in files] if by_folder else draw_splits(len(files), seed, fractions)
    known = (*(one.value for one in classes), *ignored)
    sources = tuple(
        Source(name, split, (file,), partial(read_own_file, name, split, file, root, known))
        for name, split, file in zip(names, splits, files, strict=True)
    )
    settings = (
        {"split": "by folder"} if by_folder else {"split": "at random", "seed": seed, "fractions": list(fractions)}
    )
    notes = tuple(f"{relative_name(file, root)}: no readable format, left out" for file in others)
    return Dataset("folder", "own files", classes, sources, ignored=ignored, settings=settings, notes=notes)


def split_pattern(path: Path) -> tuple[Path, str]:
    """Split a path with wildcards into its folder and its pattern; a path that exists is never a pattern."""
    parts = path.parts
    first = next((place for place, part in enumerate(parts) if set(part) & set("*?[")), None)
    if first is None or path.exists():
        return path, "**/*"
    return Path(*parts[:first]), "/".join(parts[first:])


def draw_splits(count: int, seed: int, fractions: tuple[float, float, float] = FRACTIONS) -> list[str]:
    """Draw the split of each of ``count`` scenes, with shares as close to ``fractions`` as possible.

    Val and test get a scene each before train gets a second one, so that no split is empty unless it has to be.
    """
    held_out = [max(round(fraction * count), int(fraction > 0)) for fraction in fractions[1:]]
    val, test = held_out if sum(held_out) < count else (int(count > 1), int(count > 2))
    order = np.random.default_rng(seed).permutation(count)
    places = {int(scene): place for place, scene in enumerate(order)}
    return ["val" if places[n] < val else "test" if places[n] < val + test else "train" for n in range(count)]


def read_own_file(
    name: str, split: str, file: Path, root: Path, known: tuple[int, ...], skip_damaged: bool
) -> Iterator[Scene]:
    """Read one labelled cloud; every label must be a known value. A damaged file is lost as a whole."""
    from point2node.formats import read

    try:
        cloud = read(file)
    except InputError as error:
        if not skip_damaged:
            raise
        yield lost_scene(name, split, file, root, error)
        return
    if cloud.labels is None:
        raise InputError(file, expected="a cloud with labels", found="none", remedy="Name the field 'label'.")
    strange = np.setdiff1d(cloud.labels, known)
    if len(strange):
        raise InputError(
            file,
            expected="labels that the class file lists",
            found=f"the value {strange[0]}",
            remedy="Add it to the classes, or to 'ignore'.",
        )
    placed = np.asarray(np.isfinite(cloud.xyz).all(axis=1))
    lacking = len(cloud) - int(placed.sum())  # how scanners mark rays without a return
    notes = [f"{name}: {lacking} points without a position, left out"] if lacking else []
    notes += [f"{name}: faces are not stored, left out"] if cloud.faces is not None else []
    if cloud.unit not in (None, 1.0):  # the same as when labelling
        notes.append(f"{name}: the file's unit is {cloud.unit:.6g} m; converted to metres")
        cloud = cloud.with_(xyz=cloud.xyz * cloud.unit, unit=1.0)
    yield Scene(name, split, cloud[placed] if lacking else cloud, notes=tuple(notes))


def find_clouds(asked: Path, class_file: Path) -> tuple[list[Path], list[Path]]:
    """List the readable files in a folder, or that match a pattern, and the other files."""
    from point2node.formats import READABLE

    root, pattern = split_pattern(asked)
    below = (path for path in sorted(existing_root(root).glob(pattern)) if path.is_file())
    shown = [path for path in below if not any(map(is_hidden, (path, *_folders_to(path, root))))]
    files = [path for path in shown if path.suffix.lower() in READABLE]
    others = [path for path in shown if path not in files and path.resolve() != class_file.resolve()]
    if not files:
        raise InputError(
            asked,
            expected="labelled point clouds",
            found="no file of a readable format",
            remedy="Readable are " + ", ".join(READABLE) + ".",
        )
    return files, others


def _folders_to(path: Path, root: Path) -> list[Path]:
    return [parent for parent in path.parents if parent.is_relative_to(root) and parent != root]


def _folder_split(file: Path, root: Path) -> str:
    split = file.relative_to(root).parts[0]
    if split not in SPLITS or len(file.relative_to(root).parts) < 2:
        expected = "every cloud in train, val or test, since these folders exist"
        raise InputError(file, expected=expected, found="one outside them")
    return split
