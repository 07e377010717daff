"""The common part of all uses of trained weights: the right task, on a device, in evaluation mode."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.memory import memory_limited
from point2node.core.point_cloud import PointCloud
from point2node.formats import read
from point2node.formats.arrays import cloud_from_array
from point2node.inference.asking import choose_device, device_of
from point2node.models.layers import count_parameters
from point2node.models.network import Task
from point2node.models.pretrained import HubOptions, UploadOptions, fetch
from point2node.weights.trained import Trained, load_trained

KINDS: dict[str, tuple[str, str]] = {
    "segmentation": ("weights that label points", "predict"),
    "classification": ("weights that classify whole shapes", "classify"),
}
"""For each task, a description of its weights and the command that uses them."""

CloudInput = str | PathLike[str] | NDArray[Any] | PointCloud
"""The input of weights: a file, an array as in an .npy file, or a cloud."""


class LoadedWeights:
    """Trained weights on a device, ready to use.

    Args:
        trained: the weights.
        device: the device to run on; by default CUDA if available.
    """

    task: ClassVar[Task]
    """The task that the weights must have been trained for; set by subclasses."""

    def __init__(self, trained: Trained, device: torch.device | None = None) -> None:
        if trained.card.task != self.task:
            found, command = KINDS[trained.card.task]
            remedy = f"Use 'point2node {command}' with them."
            raise InputError(trained.name, expected=KINDS[self.task][0], found=found, remedy=remedy)
        self.trained = trained
        self.network = trained.network.to(choose_device() if device is None else device).eval()
        self.classes = trained.card.classes

    @classmethod
    def from_pretrained(
        cls, name: str | PathLike[str], *, device: torch.device | str | None = None, **hub: Unpack[HubOptions]
    ) -> Self:
        """Load the weights called ``name``.

        Args:
            name: a pretrained model ("rooms"), a run folder, a folder written by ``save_pretrained``, a .safetensors
                file, or a repository of the Hugging Face Hub ("user/name").
            device: the device to run on; by default CUDA if available.
            hub: how to download it; see ``HubOptions``.
        """
        return cls(fetch_trained(name, **hub), as_device(device))

    def save_pretrained(self, folder: str | PathLike[str]) -> Path:
        """Write the weights into a folder that ``from_pretrained`` can read; returns the folder."""
        return self.network.save_pretrained(folder)

    def push_to_hub(self, repository: str, **options: Unpack[UploadOptions]) -> str:
        """Upload the weights to the Hugging Face Hub; returns the address of the commit."""
        return self.network.push_to_hub(repository, **options)

    @property
    def name(self) -> str:
        """The name of the weights."""
        return self.trained.name

    def __repr__(self) -> str:
        card, device = self.trained.card, device_of(self.network)
        size = f"{card.model} with {count_parameters(self.network) / 1e6:.2g} million parameters"
        return f"<{type(self).__name__}: weights {self.name!r}, {len(self.classes)} classes, {size} on {device}>"


def fetch_trained(name: str | PathLike[str], **hub: Unpack[HubOptions]) -> Trained:
    """Load the weights called ``name``; those downloaded from the Hugging Face Hub keep that name."""
    place = fetch(name, **hub)
    trained = load_trained(place)
    return trained if place == str(name) else replace(trained, name=str(name))


def as_device(device: torch.device | str | None) -> torch.device | None:
    """Return a device by its name; raises InputError if this machine does not have it."""
    if device is None:
        return None
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        expected = "a device that is available to torch: cpu, cuda, cuda:1, mps …"
        raise InputError("device", expected=expected, found=repr(str(device))) from error


def open_input(given: CloudInput, memory: int | None = None) -> tuple[PointCloud, str]:
    """Return a cloud and its name; raises InputError for files that do not fit into ``memory`` bytes."""
    if isinstance(given, PointCloud):
        return given, "cloud"
    if isinstance(given, np.ndarray):
        return cloud_from_array(Path("array"), given), "array"
    if isinstance(given, str | PathLike):
        with memory_limited(memory):
            return read(Path(given)), fspath(given)
    found = f"a {type(given).__name__}"
    raise InputError("scan", expected="a file, an array of shape (N, 3) or (N, 6), or a PointCloud", found=found)
