"""Checking of coordinates, and shifting them to where float32 is precise."""

from __future__ import annotations

from types import MappingProxyType

import torch
from torch import Tensor

from point2node.core.errors import InputError


def check_coordinates(xyz: Tensor, name: str = "xyz") -> None:
    """Raise ``InputError`` unless ``xyz`` is (B, N, 3), float32 or float64, with B, N >= 1 and finite throughout."""
    if xyz.dim() != 3 or xyz.shape[2] != 3:
        raise InputError(
            name,
            expected="coordinates of shape (B, N, 3)",
            found=f"shape {tuple(xyz.shape)}",
            remedy="Add the batch dimension of a single cloud with xyz.unsqueeze(0).",
        )
    if xyz.dtype not in (torch.float32, torch.float64):
        raise InputError(
            name,
            expected="coordinates in float32 or float64",
            found=str(xyz.dtype).removeprefix("torch."),
            remedy="Convert them with xyz.float() or xyz.double().",
        )
    if 0 in xyz.shape:
        raise InputError(name, expected="at least one cloud of at least one point", found=f"shape {tuple(xyz.shape)}")
    finite = xyz.isfinite()
    if not finite.all():
        bad = (~finite).nonzero()
        raise InputError(
            name,
            expected="finite coordinates",
            found=f"{len(bad)} NaN or infinite, the first at index {tuple(bad[0].tolist())}",
            remedy="Remove these points.",
        )


def shift_to_float32(xyz: Tensor) -> tuple[Tensor, Tensor]:
    """Convert absolute coordinates (B, N, 3) to the room frame; returns them and the float64 shift (B, 1, 3) back.

    The room frame is that of S3DIS: the origin of x and y is the centre of the bounding box, that of z its
    bottom, so that shifted + shift = xyz. The subtraction is in double precision, followed by rounding:
    map coordinates of 10^6 m, where float32 has steps of 6 cm, keep every millimetre.
    """
    check_coordinates(xyz)
    exact = xyz.double()
    lower = exact.amin(dim=1, keepdim=True)
    upper = exact.amax(dim=1, keepdim=True)
    centre = (lower + upper) / 2
    shift = torch.cat([centre[..., :2], lower[..., 2:]], dim=-1)
    return (exact - shift).float(), shift


def room_frame(xyz: Tensor) -> Tensor:
    """Convert to the room frame of S3DIS (B, N, 3), float32: x and y centred, z from 0."""
    return shift_to_float32(xyz)[0]


def unit_sphere(xyz: Tensor) -> Tensor:
    """Convert to the frame of the ModelNet releases (B, N, 3), float32: centred and scaled into the unit sphere."""
    centred = (xyz.double() - xyz.double().mean(dim=1, keepdim=True)).float()
    radius = centred.norm(dim=-1).amax(dim=1)[:, None, None]
    return centred / radius.clamp_min(torch.finfo(torch.float32).tiny)


TASK_FRAMES = MappingProxyType({"segmentation": room_frame, "classification": unit_sphere})
"""The frame of the networks of a task; ``FRAMES`` is applied to the blocks of a room after it."""
