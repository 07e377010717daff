"""Generated rooms as a data set: the same interface as the downloaded ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.data.own_files import draw_splits
from point2node.data.sources import Dataset, Scene, Source

GENERATOR = 2  # increased when the same seed gives other rooms, so that stores are prepared again


def list_rooms(count: int, seed: int = 0) -> Dataset:
    """List ``count`` rooms, split at random; most test rooms have styles unseen in training."""
    if count < 1:
        raise InputError("--rooms", expected="1 or more", found=str(count))
    splits = draw_splits(count, seed)
    names = [f"room_{index:05d}" for index in range(count)]
    sources = tuple(
        Source(name, split, (), partial(generate, name, split, seed, index))
        for index, (name, split) in enumerate(zip(names, splits, strict=True))
    )
    return Dataset("rooms", "generated", S3DIS, sources, settings={"seed": seed, "generator": GENERATOR})


def generate(name: str, split: str, seed: int, index: int, skip_damaged: bool) -> Iterator[Scene]:
    """Generate one room."""
    from point2node.rooms import generate_room

    yield Scene(name, split, generate_room(seed, index, styles="held_out" if split == "test" else "train"))
