"""ModelNet: detecting the release, its classes and its splits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PureWindowsPath

from point2node.core.classes import SemanticClass, spread_colour
from point2node.core.errors import InputError
from point2node.data.modelnet_shapes import SAMPLED_POINTS, ShapeFile, read_h5, read_off, read_texts
from point2node.data.sources import Dataset, Scene, Source, existing_root, read_text, visible_files, visible_folders

SPLITS = ("train", "val", "test")
RESAMPLED = ("modelnet40", "modelnet10")  # one folder of text files has the lists of both
MODELNET40_CLASSES = 40
SHAPES_IN_PART = 100  # a few seconds of work


def find_modelnet(root: Path, up: str | None = None) -> Dataset:
    """Find the shapes under ``root`` or its only subfolder. ``up`` overrides the vertical axis of the release."""
    places = [root] if _finder(existing_root(root)) else visible_folders(root)
    found = [(base, find) for base in places if (find := _finder(base)) is not None]
    if len(found) == 1:
        base, find = found[0]
        return find(base, up)
    if found:
        names = ", ".join(base.name for base, _ in found)
        raise InputError(root, expected="one copy of ModelNet", found=names, remedy="Point ROOT at one of them.")
    raise InputError(
        root,
        expected="train_files.txt with h5 files, modelnet40_shape_names.txt, or folders <class>/train with .off files",
        found="none of them",
    )


def _finder(base: Path) -> Callable[[Path, str | None], Dataset] | None:
    """Return the function that finds the shapes of the release in ``base``; None if there is none."""
    names = {file.name for file in visible_files(base)}
    if names & {f"{split}_files.txt" for split in SPLITS}:
        return _find_h5
    for prefix in RESAMPLED:
        if f"{prefix}_shape_names.txt" in names:
            return partial(_find_text, prefix)
    meshes = any((folder / split).is_dir() for folder in visible_folders(base) for split in SPLITS)
    return _find_off if meshes else None


def listed_h5_files(base: Path, split: str) -> list[Path]:
    """Return the h5 files in a list, by file name only: the listed paths are from the authors' machine."""
    path = base / f"{split}_files.txt"
    lines = read_lines(path) if path.is_file() else []
    return [base / PureWindowsPath(line).name for line in lines]


def read_lines(path: Path) -> list[str]:
    """Read the lines of a list that are not blank."""
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def _find_h5(base: Path, up: str | None) -> Dataset:
    classes = _listed_classes(base / "shape_names.txt")
    up = up or ("y" if len(classes) == MODELNET40_CLASSES else "z")
    sources, missing = [], []
    for split in SPLITS:
        listed = listed_h5_files(base, split)
        files = tuple(file for file in listed if file.is_file())
        missing += [
            f"{file.name}: listed in {split}_files.txt but missing, left out" for file in listed if file not in files
        ]
        if files:
            sources.append(Source(split, split, files, partial(read_h5, split, files, len(classes))))
    return _dataset("h5 files of sampled shapes", classes, sources, {"up": up}, tuple(missing))


def _find_text(prefix: str, base: Path, up: str | None) -> Dataset:
    classes = _listed_classes(base / f"{prefix}_shape_names.txt")
    sources, missing = [], []
    for split in SPLITS:
        path = base / f"{prefix}_{split}.txt"
        shapes = []
        for name in read_lines(path) if path.is_file() else []:
            folder = name.rpartition("_")[0]  # night_stand_0001 is in night_stand
            shape = _shape(base, base / folder / f"{name}.txt", folder, classes)
            if shape.path.is_file():
                shapes.append(shape)
            else:
                missing.append(f"{shape.shown}: listed in {path.name} but missing, left out")
        sources += _shape_source(split, shapes, read_texts)
    return _dataset("texts of resampled shapes with normals", classes, sources, {"up": up or "y"}, tuple(missing))


def _find_off(base: Path, up: str | None) -> Dataset:
    folders = [folder for folder in visible_folders(base) if any((folder / split).is_dir() for split in SPLITS)]
    classes = _class_list([folder.name for folder in folders])
    sources, others = [], []
    for split in SPLITS:
        inside = [(folder, folder / split) for folder in folders if (folder / split).is_dir()]
        files = [_shape(base, file, folder.name, classes) for folder, deep in inside for file in visible_files(deep)]
        sources += _shape_source(split, [one for one in files if one.path.suffix.lower() == ".off"], read_off)
        others += [f"{one.shown}: no .off mesh, left out" for one in files if one.path.suffix.lower() != ".off"]
    settings = {"up": up or "z", "points": SAMPLED_POINTS, "scale": "unit sphere"}
    return _dataset("raw .off meshes", classes, sources, settings, tuple(others))


def _shape(base: Path, path: Path, class_name: str, classes: tuple[SemanticClass, ...]) -> ShapeFile:
    values = {one.name: one.value for one in classes}
    if class_name not in values:
        raise InputError(path, expected="a shape of one of the listed classes", found=repr(class_name))
    return ShapeFile(path, path.relative_to(base).as_posix(), values[class_name])


def _shape_source(
    split: str, shapes: list[ShapeFile], read: Callable[[str, tuple[ShapeFile, ...], bool], Iterable[Scene]]
) -> list[Source]:
    """Make a source of all shapes of a split, in parts that workers share and that are not repeated after a kill."""

    def source(name: str, some: tuple[ShapeFile, ...], parts: tuple[Source, ...] = ()) -> Source:
        return Source(name, split, tuple(shape.path for shape in some), partial(read, split, some), parts)

    cut = [tuple(shapes[first : first + SHAPES_IN_PART]) for first in range(0, len(shapes), SHAPES_IN_PART)]
    parts = tuple(source(f"{split}/{number:04d}", some) for number, some in enumerate(cut))
    return [source(split, tuple(shapes), parts)] if shapes else []


def _listed_classes(path: Path) -> tuple[SemanticClass, ...]:
    names = read_lines(path) if path.is_file() else []
    repeated = [name for name in names if names.count(name) > 1]
    if repeated or not names:
        found = f"{repeated[0]!r} more than once" if repeated else "none"
        raise InputError(path, expected="the names of the classes, one per line", found=found)
    return _class_list(names)


def _class_list(names: list[str]) -> tuple[SemanticClass, ...]:
    """Make classes in the order of their names."""
    return tuple(SemanticClass(name, value, spread_colour(value, len(names))) for value, name in enumerate(names))


def _dataset(
    release: str,
    classes: tuple[SemanticClass, ...],
    sources: list[Source],
    settings: dict[str, object],
    notes: tuple[str, ...] = (),
) -> Dataset:
    return Dataset("modelnet", release, classes, tuple(sources), "classification", settings=settings, notes=notes)
