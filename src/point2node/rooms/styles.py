"""Styles: each kind of thing in several named forms, some of them held out of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator

from point2node.core.errors import unknown_choice

Styles = Literal["train", "held_out", "all"]
T = TypeVar("T")

HELD_OUT_SHARE = 0.8  # how often styles="held_out" takes a held-out form where there is one


@dataclass(frozen=True)
class Style(Generic[T]):
    """One named form and how often it is drawn, relative to the others of its kind."""

    name: str
    build: Callable[..., T]
    weight: float = 1.0
    held_out: bool = False


def choose_style(choices: Sequence[Style[T]], styles: Styles, rng: Generator) -> Style[T]:
    """One of the choices, as ``styles`` allows: "train" never a held-out one, "held_out" mostly one of those."""
    allowed = [choice for choice in choices if not choice.held_out]
    held_out = [choice for choice in choices if choice.held_out]
    if styles == "all":
        allowed = list(choices)
    elif styles == "held_out" and held_out and (not allowed or rng.uniform() < HELD_OUT_SHARE):
        allowed = held_out
    ends = np.cumsum([choice.weight for choice in allowed])
    return allowed[int(np.searchsorted(ends, rng.uniform(0, ends[-1])))]


def check_styles(styles: str) -> None:
    """Raise an InputError for anything but the three."""
    if styles not in get_args(Styles):
        raise unknown_choice("styles", styles, get_args(Styles))
