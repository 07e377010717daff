"""The state of a copy of ScanNet."""

from __future__ import annotations

from pathlib import Path

from point2node.data.doctor.findings import Diagnosis, Finding, compare_counts, examine_sources, from_note
from point2node.data.scannet import find_scannet, find_scene_folders, read_splits

SCENES = {"train": 1201, "test": 312}


def examine_scannet(root: Path, *, workers: int | None = None) -> Diagnosis:
    """Which release it is, what is missing, and every scene that cannot be read."""
    dataset = find_scannet(root)
    counts, findings = examine_sources(dataset, root, workers)
    findings += map(from_note, dataset.notes)
    splits = read_splits(root)
    present = {folder.name for folder in find_scene_folders(root)}
    if present:
        findings += [Finding(name, None, "missing scene") for name in sorted(splits) if name not in present]
    expected = {"all": sum(SCENES.values())} if present and not splits else SCENES
    findings += compare_counts(counts, expected, "scenes")
    return Diagnosis("scannet", dataset.release, "scenes", counts, expected, tuple(findings))
