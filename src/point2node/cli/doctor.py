"""``point2node doctor``: check a downloaded data set, or the installation."""

from __future__ import annotations

import json
import os
import platform
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from point2node._version import __version__
from point2node.core.errors import InputError

if TYPE_CHECKING:
    from point2node.data.doctor import Diagnosis


class DataSet(StrEnum):
    """The data sets that can be checked."""

    s3dis = "s3dis"
    scannet = "scannet"
    modelnet = "modelnet"


def doctor(
    dataset: Annotated[
        DataSet | None, typer.Argument(help="The data set; without it, the installation is checked.")
    ] = None,
    root: Annotated[Path | None, typer.Argument(help="The folder of the data set.")] = None,
    repair: Annotated[
        Path | None, typer.Option(help="Write corrected files to this folder; the originals are not changed (s3dis).")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Check a data set: exit code 0 if it is complete and undamaged, 1 with findings, 2 if it cannot be read.

    Example: point2node doctor s3dis Stanford3dDataset_v1.2_Aligned_Version --repair repairs
    """
    if dataset is None:
        _print_installation(as_json)
        return
    if root is None:
        raise InputError("ROOT", expected=f"the folder of {dataset.value}", found="none")
    from point2node.core.writing import refusals_named

    with refusals_named(repair or root):
        diagnosis = _examine(dataset, root, repair, workers)
    if as_json:
        print(json.dumps(diagnosis.as_dict(), indent=1, ensure_ascii=False))
    else:
        _print_diagnosis(diagnosis, root, repair)
    if diagnosis.findings:
        raise typer.Exit(code=1)


def _examine(dataset: DataSet, root: Path, repair: Path | None, workers: int | None) -> Diagnosis:
    if dataset is DataSet.s3dis:
        from point2node.data.doctor import examine_s3dis

        if repair is not None and repair.resolve().is_relative_to(root.resolve()):
            raise InputError("--repair", expected="a folder outside the data set", found=str(repair))
        return examine_s3dis(root, repair, workers=workers)
    if repair is not None:
        raise InputError("--repair", expected="s3dis, the data set with known repairs", found=dataset.value)
    if dataset is DataSet.scannet:
        from point2node.data.doctor import examine_scannet

        return examine_scannet(root, workers=workers)
    from point2node.data.doctor import examine_modelnet

    return examine_modelnet(root, workers=workers)


def _print_diagnosis(diagnosis: Diagnosis, root: Path, repair: Path | None) -> None:
    print(f"{root}: {diagnosis.dataset}, {diagnosis.release}")
    for split in sorted({*diagnosis.counts, *diagnosis.expected}):
        expected = diagnosis.expected.get(split)
        of = "" if expected is None else f" of {expected}"
        print(f"{split}: {diagnosis.counts.get(split, 0)}{of} {diagnosis.unit}")
    for finding in diagnosis.findings:
        print(finding)
    for file in diagnosis.repaired:
        print(f"repaired: {Path(str(repair)) / file}")
    count = len(diagnosis.findings)
    print(f"{count} finding{'s' * (count > 1)}" if count else "whole: nothing to report")


def _print_installation(as_json: bool) -> None:
    found, missing = examine_installation()
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name}: {value}")
    if missing:
        raise typer.Exit(code=1)


REQUIRED = (
    "numpy", "torch", "numba", "lightning-fabric", "matplotlib", "pydantic", "pyyaml", "rich", "safetensors",
    "tensorboardX", "typer",
)  # fmt: skip
EXTRAS = {"h5py": "h5", "laspy": "las", "lazrs": "las", "pye57": "e57", "trimesh": "mesh"}


def examine_installation() -> tuple[dict[str, Any], list[str]]:
    """Return the versions of all packages by name, and the required packages that are missing."""
    found: dict[str, Any] = {"point2node": __version__, "python": platform.python_version()}
    missing = [package for package in REQUIRED if _version(package) is None]
    found |= {package: _version(package) or f"missing; pip install {package}" for package in REQUIRED}
    if "torch" not in missing:
        import torch

        found["device"] = _device()
        found["threads"] = f"{torch.get_num_threads()} of {os.cpu_count()} cores"
    for package, extra in EXTRAS.items():
        found[package] = _version(package) or f"not installed (optional); pip install 'point2node[{extra}]'"
    return found, missing


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _device() -> str:
    import torch

    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    if torch.backends.mps.is_available():
        return "mps"
    return f"cpu ({platform.machine()})"
