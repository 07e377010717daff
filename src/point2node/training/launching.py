"""Device, processes and precision of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins import MixedPrecision, Precision

from point2node.core.errors import InputError, LostProcessError
from point2node.weights.settings import Settings


def start_fabric(settings: Settings) -> Fabric:
    """Device, processes and precision, as the settings say; a launch by torchrun decides the number of processes."""
    devices, nodes, strategy = settings.devices, settings.num_nodes, settings.strategy
    if "TORCHELASTIC_RUN_ID" in os.environ:
        devices = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // devices
        strategy = "ddp" if strategy == "auto" else strategy
    if settings.accelerator == "cpu" and devices == "auto":
        devices = 1
    precision = _precision(settings)
    try:
        fabric = Fabric(
            accelerator=settings.accelerator,
            devices=devices,
            num_nodes=nodes,
            strategy=strategy,
            plugins=precision,
        )
        fabric.launch()
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        found = " ".join(str(error).split())
        where = "accelerator, devices or strategy"
        raise InputError(where, expected="what this machine has", found=found) from error
    return fabric


class AutocastOnly(MixedPrecision):
    """Mixed precision that leaves the input as it is: in bfloat16, coordinates of a room would be decimetres off."""

    def convert_input(self, data: Any) -> Any:
        """Nothing is cast; autocast chooses inside the network."""
        return data


def _precision(settings: Settings) -> Precision:
    if settings.precision == "32-true":
        return Precision()
    on_gpu = settings.accelerator in ("cuda", "gpu") or (settings.accelerator == "auto" and torch.cuda.is_available())
    if settings.precision == "16-mixed" and not on_gpu:
        raise InputError("precision", expected="32-true or bf16-mixed without CUDA", found="16-mixed")
    return AutocastOnly(settings.precision, "cuda" if on_gpu else "cpu")


@contextmanager
def noticing_lost_processes(fabric: Fabric) -> Iterator[None]:
    """Turn what torch says when a peer, or a process that builds batches, dies into one exception.

    NCCL and torch's stores raise classes of their own; gloo raises a plain RuntimeError that names its sources, and so
    does the loader.
    """
    try:
        yield
    except RuntimeError as error:
        kinds = (torch.distributed.DistBackendError, torch.distributed.DistNetworkError)
        lost_peer = fabric.world_size > 1 and (isinstance(error, kinds) or "gloo" in str(error).lower())
        if lost_peer or str(error).startswith("DataLoader worker"):
            raise LostProcessError(" ".join(str(error).split())) from error
        raise
