"""``point2node prepare``: convert a downloaded data set to a store for training."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import progress, tell
from point2node.core.errors import InputError

if TYPE_CHECKING:  # numpy is imported by the command itself: --help stays quick
    from point2node.data.preparation import Prepared
    from point2node.data.sources import Dataset


class Kind(StrEnum):
    """The data sets that can be prepared."""

    s3dis = "s3dis"
    scannet = "scannet"
    modelnet = "modelnet"
    folder = "folder"
    rooms = "rooms"


class Axis(StrEnum):
    """A vertical axis."""

    x = "x"
    y = "y"
    z = "z"


ROOMS = 100
BELONGS_TO = {
    "--repairs": Kind.s3dis,
    "--classes": Kind.folder,
    "--propose-classes": Kind.folder,
    "--rooms": Kind.rooms,
    "--up": Kind.modelnet,
}
"""The data set that each option is for; it is an error with any other."""


def prepare(
    dataset: Annotated[Kind, typer.Argument(help="The data set; 'folder': your own labelled clouds.")],
    root: Annotated[
        Path | None, typer.Argument(help="Its folder, or a pattern of files (folder); not for 'rooms'.")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option(help="The folder of the store, new or to be updated.")] = None,
    repairs: Annotated[
        Path | None, typer.Option(help="The folder of corrected files from 'doctor --repair' (s3dis).")
    ] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Skip damaged lines and files and list them in the manifest.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    classes: Annotated[Path | None, typer.Option(help="Your class list in YAML (folder).")] = None,
    propose_classes: Annotated[
        bool, typer.Option("--propose-classes", help="Only write a draft of the class list, classes.yaml (folder).")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random split and of the rooms.")] = 0,
    rooms: Annotated[
        int | None, typer.Option(min=1, help="How many rooms to generate (rooms); by default 100.")
    ] = None,
    up: Annotated[Axis | None, typer.Option(help="The vertical axis, if not the usual one (modelnet).")] = None,
) -> None:
    """Convert a data set to a store for training. Running it again updates what changed, or resumes after a stop.

    Example: point2node prepare s3dis Stanford3dDataset_v1.2_Aligned_Version --out stores/s3dis
    """
    from point2node.core.writing import refusals_named
    from point2node.data.preparation import prepare as prepare_store

    _check_options(
        dataset,
        {
            "--repairs": repairs,
            "--classes": classes,
            "--propose-classes": propose_classes or None,
            "--rooms": rooms,
            "--up": up,
        },
    )
    if propose_classes:
        _propose(root, classes or Path("classes.yaml"), out)
        return
    if out is None:
        raise InputError("--out", expected="the folder of the store", found="none")
    with refusals_named(root or out):
        if dataset is Kind.rooms:
            found = _list_rooms(root, rooms or ROOMS, seed)
        elif root is None:
            raise InputError("ROOT", expected=f"the folder of {dataset.value}", found="none")
        elif dataset is Kind.folder:
            found = _find_folder(root, out, classes, seed)
        else:
            found = _find_release(dataset, root, repairs, up)
    try:
        with progress("preparing") as report, refusals_named(out):
            prepared = prepare_store(found, out, workers=workers, skip_damaged=skip_damaged, wait=False, report=report)
    except KeyboardInterrupt:
        print("point2node: stopped; run the same command to resume.", file=sys.stderr)
        raise typer.Exit(code=130) from None
    _print_summary(prepared, out)


def _propose(root: Path | None, target: Path, out: Path | None) -> None:
    """Write a class list with the label values found in the clouds."""
    from point2node.data.class_proposal import propose_classes

    if root is None or out is not None:
        found = "--out" if root is not None else "none"
        raise InputError("--propose-classes", expected="ROOT, and no store yet", found=found)
    with progress("reading") as report:
        values = propose_classes(root, target, report).points
    print(f"{target}: {len(values)} label values; name them, then run again with --classes {target} --out STORE")


def _check_options(kind: Kind, given: dict[str, object]) -> None:
    """Raise InputError for options of another data set instead of ignoring them."""
    for option, value in given.items():
        if value is not None and BELONGS_TO[option] is not kind:
            raise InputError(option, expected=BELONGS_TO[option].value, found=kind.value)


def _list_rooms(root: Path | None, rooms: int, seed: int) -> Dataset:
    """List generated rooms."""
    from point2node.data.generated import list_rooms

    if root is not None:
        raise InputError("ROOT", expected="none for 'rooms'", found=str(root), remedy="Use --out for the store.")
    return list_rooms(rooms, seed)


def _find_release(kind: Kind, root: Path, repairs: Path | None, up: str | None) -> Dataset:
    """Find the files of a published data set."""
    if kind is Kind.s3dis:
        from point2node.data.s3dis import find_s3dis

        return find_s3dis(root, repairs)
    if kind is Kind.scannet:
        from point2node.data.scannet import find_scannet

        return find_scannet(root)
    from point2node.data.modelnet import find_modelnet

    return find_modelnet(root, up)


def _find_folder(root: Path, out: Path, classes: Path | None, seed: int) -> Dataset:
    """Find the user's own clouds."""
    from point2node.data.own_files import find_own_files, split_pattern

    # otherwise the store's arrays would be read as clouds next time
    if out.resolve().is_relative_to(split_pattern(root)[0].resolve()):
        raise InputError("--out", expected="a folder outside ROOT", found=str(out))
    if classes is None:
        remedy = "Start with --propose-classes."
        raise InputError("--classes", expected="a class list for 'folder'", found="none", remedy=remedy)
    return find_own_files(root, classes, seed=seed)


def _print_summary(prepared: Prepared, out: Path) -> None:
    manifest = prepared.manifest
    for note in manifest.notes:
        tell([f"note: {note}"])
    for lost in manifest.lost:
        place = lost.path if lost.line is None else f"{lost.path}, line {lost.line}"
        print(f"lost: {place}: {lost.bytes}", file=sys.stderr)
    points = sum(scene.points for scene in manifest.scenes)
    splits = ", ".join(f"{split} {_count(prepared, split):,}" for split in manifest.splits) or "nothing"
    damage = f", {len(manifest.lost)} damaged lines or files lost" if manifest.lost else ""
    what = f"{manifest.dataset} ({manifest.release}), {splits}; {points:,} points{damage}"
    print(f"{out}: {what}; {prepared.read} newly read")


def _count(prepared: Prepared, split: str) -> int:
    """Count the scenes of a split, or its shapes."""
    entries = [entry for entry in prepared.manifest.scenes if entry.split == split]
    return sum(1 if entry.shapes is None else entry.shapes for entry in entries)
