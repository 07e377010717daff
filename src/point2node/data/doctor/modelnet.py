"""The state of a copy of ModelNet."""

from __future__ import annotations

from pathlib import Path

from point2node.data.doctor.findings import Diagnosis, Finding, compare_counts, examine_sources, from_note
from point2node.data.modelnet import find_modelnet

SHAPES = {40: {"train": 9843, "test": 2468}, 10: {"train": 3991, "test": 908}}  # by the number of classes
H5_TRAIN = 9840  # the h5 release of ModelNet40 came with three shapes fewer than there are meshes


def examine_modelnet(root: Path, *, workers: int | None = None) -> Diagnosis:
    """Which release it is, what is missing, and every file that cannot be read."""
    dataset = find_modelnet(root)
    counts, findings = examine_sources(dataset, root, workers)
    findings += map(from_note, dataset.notes)
    expected = SHAPES.get(len(dataset.classes), {})
    differing = compare_counts(counts, expected, "shapes")
    if dataset.release.startswith("h5") and counts.get("train") == H5_TRAIN:
        differing = [finding for finding in differing if finding.path != "train"]
    if not expected:
        differing.append(Finding("classes", None, f"{len(dataset.classes)} classes, expected 10 or 40"))
    up = dataset.settings["up"]
    release = f"{dataset.release}, {len(dataset.classes)} classes, {up} up"
    return Diagnosis("modelnet", release, "shapes", counts, expected, (*findings, *differing))
