"""Starting a training as the user asks: its data, its folder, new or resumed; device, processes and precision."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from point2node.core.errors import InputError, LostProcessError
from point2node.core.words import Report, unreported
from point2node.data.raw_roots import open_data, open_generated_rooms
from point2node.data.store import Store
from point2node.training.fabric import Fabric, MixedPrecision, Precision
from point2node.training.loop import Outcome, Watch, train
from point2node.training.setup import Job
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import MACHINE, Settings, check_settings, parse_overrides


def default_run(preset: str, settings: Settings) -> Path:
    """Return the folder of a run if none is given."""
    return Path("runs") / f"{preset}-{settings.variant or settings.model}-seed{settings.seed}"


def find_store(settings: Settings, data: Path | None, report: Report) -> Store:
    """Open the data of a run: a prepared store, the folder of a data set, or generated rooms."""
    if data is not None:
        return open_data(settings.dataset, data, report)
    if settings.dataset != "rooms":
        raise InputError(
            "--data",
            expected=f"a prepared store or the folder of {settings.dataset}",
            found="none",
            remedy="See docs/data.md for where to get it; 'point2node train tiny' needs no data.",
        )
    return open_generated_rooms(settings.rooms, settings.rooms_seed, report)


def begin(preset: str, settings: Settings, data: Path | None, run: RunFolder, watch: Watch, report: Report) -> Outcome:
    """Start a training in a folder that has no run yet."""
    if run.exists:
        raise InputError(
            run.path,
            expected="a new folder",
            found="a finished run" if run.finished else "a run in progress",
            remedy=f"Resume with --resume {run.path}, or choose another --out.",
        )
    return _train(preset, settings, data, run, watch, report)


def resume(
    run: RunFolder, preset: str | None, words: list[str], data: Path | None, watch: Watch, report: Report
) -> Outcome | None:
    """Resume a run with the settings it was started with; return None if it was finished."""
    card, settings = run.read_card(), run.read_settings()
    if preset is not None and preset != card.preset:
        raise InputError(run.path, expected=f"preset {card.preset!r}, as it was started", found=repr(preset))
    changed = check_settings(str(run.path), settings.model_dump() | parse_overrides(words))
    for key, kept in settings.model_dump(exclude=set(MACHINE)).items():
        if getattr(changed, key) != kept:
            found = str(getattr(changed, key))
            raise InputError(f"{run.path}, {key}", expected=f"{kept}, as it was started", found=found)
    if run.finished:
        return None
    chosen = data if data is not None else None if card.data is None else Path(card.data)
    return _train(card.preset, changed, chosen, run, watch, report)


def begin_or_resume(
    preset: str, settings: Settings, data: Path | None, run: RunFolder, watch: Watch, report: Report
) -> Outcome | None:
    """Start one run of a sweep, or resume it; return None if it was finished."""
    if not run.exists:
        return begin(preset, settings, data, run, watch, report)
    refuse_other_settings(run, settings)
    return resume(run, preset, [], data, watch, report)


def refuse_other_settings(run: RunFolder, settings: Settings, ignore: frozenset[str] = MACHINE) -> None:
    """Raise InputError unless the run was started with these settings, except those to ``ignore``."""
    found = run.read_settings().model_dump(exclude=set(ignore))
    for key, value in settings.model_dump(exclude=set(ignore)).items():
        if found[key] != value:
            remedy = "Choose another folder for runs with other settings."
            raise InputError(f"{run.path}, {key}", expected=str(value), found=str(found[key]), remedy=remedy)


def _train(preset: str, settings: Settings, data: Path | None, run: RunFolder, watch: Watch, report: Report) -> Outcome:
    fabric = start_fabric(settings)
    where = None if data is None else str(data.resolve())
    with noticing_lost_processes(fabric):
        store = _open_once(fabric, settings, data, report)
        return train(Job(settings, preset, store, run, where), fabric, watch)


def _open_once(fabric: Fabric, settings: Settings, data: Path | None, report: Report) -> Store:
    """Prepare the data in one process; the others find it done."""
    if fabric.is_global_zero:
        find_store(settings, data, report)
    fabric.barrier()
    return find_store(settings, data, unreported)


def start_fabric(settings: Settings) -> Fabric:
    """Start Fabric with the device, processes and precision of the settings; torchrun sets the number of processes."""
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
    """Mixed precision that does not cast the input: in bfloat16, coordinates of a room would be decimetres off."""

    def convert_input(self, data: Any) -> Any:
        """Return the input unchanged; autocast casts inside the network."""
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
    """Raise LostProcessError for torch's exceptions when a peer process or a data loader worker dies.

    NCCL and torch's stores have their own exception classes; gloo and the loader raise a RuntimeError that only the
    message identifies.
    """
    try:
        yield
    except RuntimeError as error:
        kinds = (torch.distributed.DistBackendError, torch.distributed.DistNetworkError)
        lost_peer = fabric.world_size > 1 and (isinstance(error, kinds) or "gloo" in str(error).lower())
        if lost_peer or str(error).startswith("DataLoader worker"):
            raise LostProcessError(" ".join(str(error).split())) from error
        raise
