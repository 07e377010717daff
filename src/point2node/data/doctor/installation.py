"""The state of the installation: versions, the device, threads, and how to get what is missing."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from point2node._version import __version__

REQUIRED = (
    "numpy", "torch", "numba", "lightning-fabric", "matplotlib", "pydantic", "pyyaml", "rich", "safetensors",
    "tensorboardX", "typer",
)  # fmt: skip
EXTRAS = {"h5py": "h5", "laspy": "las", "lazrs": "las", "pye57": "e57", "trimesh": "mesh"}


def examine_installation() -> tuple[dict[str, Any], list[str]]:
    """What is there, by name, and what the package cannot do without but is missing."""
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
