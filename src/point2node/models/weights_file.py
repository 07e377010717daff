"""Reading and writing tensors with a note in .safetensors files, which cannot contain code, and loading them."""

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
"""The metadata key of the note."""

M = TypeVar("M", bound=nn.Module)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str) -> None:
    """Write tensors with a note; an existing file is only replaced once the new one is on disk."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = safetensors.torch.save(plain, metadata={KEY: note})
    with replacing(path) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def read_tensors(path: Path) -> tuple[dict[str, Tensor], Any]:
    """Read the tensors and the note of a file; only safetensors are read, a format that cannot contain code."""
    if not path.is_file():
        raise InputError(path, expected="a .safetensors file", found="a folder" if path.is_dir() else "nothing")
    try:
        with safe_open(path, framework="pt") as file:
            note = (file.metadata() or {}).get(KEY)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
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
    """Build a network with ``build`` and load these tensors; it is in evaluation mode."""
    with torch.device("meta"):  # a note may ask for any size, so nothing is allocated before the shapes are checked
        check_tensors(path, build().state_dict(), tensors)
    network = build()
    load_tensors(path, network, tensors)
    return network.eval()


def load_tensors(path: Path, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load tensors into a network; raise InputError unless they are exactly its own."""
    check_tensors(path, network.state_dict(), tensors)
    network.load_state_dict(dict(tensors))


def check_tensors(path: Path, expected: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Raise InputError unless the tensors have exactly the expected names and shapes."""
    for name, tensor in expected.items():
        if name not in tensors:
            raise InputError(path, expected=f"weights of this network, with {name!r}", found="none of that name")
        if tensors[name].shape != tensor.shape:
            found = f"{tuple(tensors[name].shape)}"
            raise InputError(path, expected=f"{name!r} of shape {tuple(tensor.shape)}", found=found)
    foreign = [name for name in tensors if name not in expected]
    if foreign:
        raise InputError(path, expected="weights of this network only", found=f"{foreign[0]!r} as well")


def note_error(path: Path, error: ValidationError) -> InputError:
    """Return the error for an invalid note."""
    place, message = first_fault(error)
    return InputError(path, expected=f"a valid {place!r} in its note", found=message)
