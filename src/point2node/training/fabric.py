"""Fabric, which trains on any number of processors and machines. It is installed with the extra ``train``."""

from __future__ import annotations

from point2node.core.errors import InputError

try:
    from lightning_fabric import Fabric
    from lightning_fabric.plugins import MixedPrecision, Precision
except ModuleNotFoundError as missing:
    if missing.name != "lightning_fabric":
        raise
    raise InputError(
        "training",
        expected="the library lightning-fabric to be installed",
        found="none",
        remedy="Run: pip install 'point2node[train]'",
    ) from missing

__all__ = ["Fabric", "MixedPrecision", "Precision"]
