"""Device, processes and precision of a run."""

from __future__ import annotations

import os

from lightning_fabric import Fabric

from point2node.core.errors import InputError
from point2node.engine.settings import Settings


def start_fabric(settings: Settings) -> Fabric:
    """Device, processes and precision, as the settings say; a launch by torchrun decides the number of processes."""
    devices, nodes, strategy = settings.devices, settings.num_nodes, settings.strategy
    if "TORCHELASTIC_RUN_ID" in os.environ:
        devices = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // devices
        strategy = "ddp" if strategy == "auto" else strategy
    if settings.accelerator == "cpu" and devices == "auto":
        devices = 1
    try:
        fabric = Fabric(
            accelerator=settings.accelerator,
            devices=devices,
            num_nodes=nodes,
            strategy=strategy,
            precision=settings.precision,  # type: ignore[arg-type]  # Fabric checks it
        )
        fabric.launch()
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        found = " ".join(str(error).split())
        where = "accelerator, devices, strategy or precision"
        raise InputError(where, expected="what this machine has", found=found) from error
    return fabric
