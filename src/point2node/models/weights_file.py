"""Tensors with one note in a .safetensors file, which cannot hold code, and putting them into a network."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import safetensors.torch
import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from point2node.core.documents import first_fault, parse_json
from point2node.core.errors import InputError
from point2node.core.writing import replacing

KEY = "point2node"
"""Under which the note stands in the file."""

M = TypeVar("M", bound=nn.Module)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str) -> None:
    """Write tensors with one note; on the disk before it takes the place of the file that was there."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = safetensors.torch.save(plain, metadata={KEY: note})
    with replacing(path) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def read_tensors(path: Path) -> tuple[dict[str, Tensor], Any]:
    """The tensors of a file and its note. Only safetensors are read: a format that cannot hold code."""
    if not path.is_file():
        raise InputError(path, expected="a .safetensors file", found="a folder" if path.is_dir() else "nothing")
    try:
        with safe_open(path, framework="pt") as file:
            note = (file.metadata() or {}).get(KEY)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no mapping
    except (SafetensorError, OSError, ValueError) as error:
        found = "something else: " + " ".join(str(error).split())
        raise InputError(
            path, expected="weights in the safetensors format", found=found, remedy="Pickled weights are not read."
        ) from error
    try:
        return tensors, parse_json(note or "")
    except ValueError as error:
        raise InputError(path, expected=f"weights with a {KEY!r} note", found="none that can be read") from error


def build_with(path: Path, build: Callable[[], M], tensors: Mapping[str, Tensor]) -> M:
    """What ``build`` makes, with these tensors, in evaluation mode."""
    with torch.device("meta"):  # a note may ask for a network of any size: nothing is allocated before it fits
        check_tensors(path, build().state_dict(), tensors)
    network = build()
    load_tensors(path, network, tensors)
    return network.eval()


def load_tensors(path: Path, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put tensors into a network; they must be its own."""
    check_tensors(path, network.state_dict(), tensors)
    network.load_state_dict(dict(tensors))


def check_tensors(path: Path, expected: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors that are not the expected ones, name by name and shape by shape."""
    for name, tensor in expected.items():
        if name not in tensors:
            raise InputError(path, expected=f"weights of this network, with {name!r}", found="none of that name")
        if tensors[name].shape != tensor.shape:
            found = f"{tuple(tensors[name].shape)}"
            raise InputError(path, expected=f"{name!r} of shape {tuple(tensor.shape)}", found=found)
    foreign = [name for name in tensors if name not in expected]
    if foreign:
        raise InputError(path, expected="weights of this network only", found=f"{foreign[0]!r} as well")


def note_refused(path: Path, error: ValidationError) -> InputError:
    """The error for a note that is not what it should be."""
    place, message = first_fault(error)
    return InputError(path, expected=f"a valid {place!r} in its note", found=message)
