"""Pieces: labelled objects in their own frame or in a room, each in one of several styles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator

from point2node.core.errors import unknown_choice
from point2node.rooms.surfaces import Floats, Surfaces, join


@dataclass(frozen=True)
class Top:
    """A level rectangle on which things can stand: two opposite corners and its height."""

    low: tuple[float, float]
    high: tuple[float, float]
    height: float


@dataclass(frozen=True)
class Piece:
    """Surfaces of one class. In its own frame it stands on z = 0 around the origin, with its front towards -y."""

    label: str
    surfaces: Surfaces
    tops: tuple[Top, ...] = ()
    style: str = ""

    @cached_property
    def extent(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of its bounding box."""
        return self.surfaces.bounds()

    @property
    def size(self) -> Floats:
        """Width, depth and height."""
        low, high = self.extent
        return high - low

    def placed(self, x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> Piece:
        """Return the piece turned about the vertical, then moved; the tops stay in the piece's own frame."""
        return replace(self, surfaces=self.surfaces.turned(yaw).moved((x, y, z)))


def piece(label: str, parts: Sequence[Surfaces], tops: Sequence[Top] = ()) -> Piece:
    """Return a piece made of these parts."""
    return Piece(label, join(parts), tuple(tops))


Styles = Literal["train", "held_out", "all"]
T = TypeVar("T")

HELD_OUT_SHARE = 0.8  # how often styles="held_out" takes a held-out style if there is one


@dataclass(frozen=True)
class Style(Generic[T]):
    """A named style and how often it is drawn relative to the others of its kind."""

    name: str
    build: Callable[..., T]
    weight: float = 1.0
    held_out: bool = False


def choose_style(choices: Sequence[Style[T]], styles: Styles, rng: Generator) -> Style[T]:
    """Draw one of the choices: never a held-out one for "train", mostly one of those for "held_out"."""
    allowed = [choice for choice in choices if not choice.held_out]
    held_out = [choice for choice in choices if choice.held_out]
    if styles == "all":
        allowed = list(choices)
    elif styles == "held_out" and held_out and (not allowed or rng.uniform() < HELD_OUT_SHARE):
        allowed = held_out
    ends = np.cumsum([choice.weight for choice in allowed])
    return allowed[int(np.searchsorted(ends, rng.uniform(0, ends[-1])))]


def check_styles(styles: str) -> None:
    """Raise InputError if this is not one of the three values."""
    if styles not in get_args(Styles):
        raise unknown_choice("styles", styles, get_args(Styles))
