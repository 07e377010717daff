"""The materials of surfaces: colour, texture and how they reflect a ray. No class has a colour of its own."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Colour = tuple[float, float, float]


class Texture(IntEnum):
    """How brightness and hue vary over a surface; drawn by ``paint_point`` in ``shading_kernels``."""

    PLAIN = 0
    SPECKLE = 1
    GRAIN = 2
    TILES = 3
    SPINES = 4
    BLOTCHES = 5
    PRINT = 6


@dataclass(frozen=True)
class Material:
    """A surface finish; the kernels read it as a ``row``."""

    colour: Colour
    texture: Texture = Texture.PLAIN
    scale: float = 0.1
    """Metres: the size of the texture's features."""
    contrast: float = 0.1
    """0 for no texture, 1 for the strongest."""
    transmission: float = 0.0
    """Share of the rays that pass through, as through glass."""
    absorption: float = 0.0
    """Share of the rays that never return, as from dark or shiny surfaces."""

    @property
    def row(self) -> NDArray[np.float64]:
        """Return (8,): red, green, blue, texture, scale, contrast, transmission, absorption."""
        finish = (float(self.texture), self.scale, self.contrast, self.transmission, self.absorption)
        return np.array([*self.colour, *finish])


def any_colour(rng: Generator, saturation: float = 0.6, darkest: float = 0.1) -> Colour:
    """Draw a colour of any hue, more often muted than strong, from ``darkest`` to nearly white."""
    muted = rng.beta(1.0, 2.5) * saturation
    return colorsys.hsv_to_rgb(rng.uniform(), muted, rng.uniform(darkest, 0.95))


def paint(rng: Generator) -> Material:
    """Draw paint for walls, ceilings, doors and furniture: mostly off-white or grey, sometimes a strong colour."""
    if rng.uniform() < 0.25:
        colour = any_colour(rng, 0.9, 0.3)
    else:
        colour = colorsys.hsv_to_rgb(rng.uniform(0.05, 0.18), rng.uniform(0, 0.18), rng.uniform(0.6, 0.97))
    return Material(colour, Texture.BLOTCHES, rng.uniform(0.2, 0.9), rng.uniform(0.02, 0.14))


def ceiling_paint(rng: Generator) -> Material:
    """Draw paint for a ceiling: usually white."""
    if rng.uniform() < 0.2:
        return paint(rng)
    value, warmth = rng.uniform(0.75, 0.98), rng.uniform(0.0, 0.06)
    return Material(
        (value, value * (1 - warmth / 2), value * (1 - warmth)), Texture.BLOTCHES, rng.uniform(0.3, 0.9), 0.04
    )


def wall_finish(rng: Generator) -> Material:
    """Draw a wall finish: mostly paint; sometimes brick, concrete, tiles or wood."""
    return (paint, paint, paint, paint, paint, paint, stone, wood)[rng.integers(8)](rng)


def wood(rng: Generator) -> Material:
    """Draw wood, from birch to stained oak, with grain."""
    colour = colorsys.hsv_to_rgb(rng.uniform(0.05, 0.11), rng.uniform(0.2, 0.65), rng.uniform(0.22, 0.88))
    return Material(colour, Texture.GRAIN, rng.uniform(0.02, 0.1), rng.uniform(0.05, 0.3))


def fabric(rng: Generator) -> Material:
    """Draw cloth or carpet: any colour, speckled."""
    return Material(any_colour(rng, 0.9, 0.06), Texture.SPECKLE, rng.uniform(0.008, 0.04), rng.uniform(0.05, 0.35))


def leather(rng: Generator) -> Material:
    """Draw leather: black, brown or cream; the dark ones absorb rays."""
    colour = colorsys.hsv_to_rgb(rng.uniform(0.0, 0.1), rng.uniform(0.05, 0.6), rng.uniform(0.06, 0.7))
    return Material(colour, Texture.BLOTCHES, 0.15, 0.15, absorption=0.15 if max(colour) < 0.2 else 0.0)


def metal(rng: Generator) -> Material:
    """Draw metal: grey, sometimes lacquered; shiny enough to lose some rays."""
    value = rng.uniform(0.12, 0.85)
    colour = any_colour(rng) if rng.uniform() < 0.2 else (value, value, min(1.0, value * rng.uniform(0.97, 1.06)))
    return Material(colour, contrast=0.05, absorption=rng.uniform(0.0, 0.25))


def plastic(rng: Generator) -> Material:
    """Draw plastic: black, white or coloured, smooth."""
    shade = rng.uniform()
    if shade < 0.35:
        value = rng.uniform(0.04, 0.18)
        return Material((value, value, value), contrast=0.03, absorption=rng.uniform(0.05, 0.35))
    if shade < 0.65:
        value = rng.uniform(0.7, 0.95)
        return Material((value, value, value * rng.uniform(0.92, 1.0)), contrast=0.03)
    return Material(any_colour(rng, 1.0), contrast=0.03)


def stone(rng: Generator) -> Material:
    """Draw concrete, terrazzo, brick or tiles."""
    colour = colorsys.hsv_to_rgb(rng.uniform(0.02, 0.15), rng.uniform(0.0, 0.35), rng.uniform(0.3, 0.85))
    texture = (Texture.SPECKLE, Texture.BLOTCHES, Texture.TILES)[rng.integers(3)]
    scale = rng.uniform(0.15, 0.6) if texture is Texture.TILES else rng.uniform(0.02, 0.5)
    return Material(colour, texture, scale, rng.uniform(0.1, 0.4))


def paper(rng: Generator) -> Material:
    """Draw the print of posters, pages, pictures or packaging, in blocks."""
    return Material(any_colour(rng, 0.7, 0.3), Texture.PRINT, rng.uniform(0.02, 0.15), rng.uniform(0.1, 0.8))


def books(rng: Generator) -> Material:
    """Draw a row of book spines, each with its own colour."""
    return Material(any_colour(rng, 0.6, 0.3), Texture.SPINES, rng.uniform(0.015, 0.05), rng.uniform(0.4, 1.0))


def glass(rng: Generator) -> Material:
    """Draw glass: most rays pass through; dirt, blinds and reflections return the others.

    It looks overexposed, dark, or like the view outside.
    """
    light = rng.uniform()
    value = (
        rng.uniform(1.1, 2.2) if light < 0.45 else (rng.uniform(0.03, 0.2) if light < 0.65 else rng.uniform(0.3, 1.0))
    )
    colour = colorsys.hsv_to_rgb(rng.uniform(0.25, 0.65), rng.uniform(0, 0.25), value)
    return Material(colour, Texture.BLOTCHES, rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.6), rng.uniform(0.3, 0.95))


def furniture_finish(rng: Generator) -> Material:
    """Draw a finish for table tops, shelves and cabinets: wood, paint, plastic or metal."""
    makers = (wood, wood, paint, plastic, metal)
    return makers[rng.integers(len(makers))](rng)


def upholstery(rng: Generator) -> Material:
    """Draw a cover for seats: cloth, leather or plastic."""
    makers = (fabric, fabric, leather, plastic)
    return makers[rng.integers(len(makers))](rng)


def panelled(material: Material, spacing: float) -> Material:
    """Return the material with joints every ``spacing`` metres: ceiling tiles, floor tiles, cabinet fronts."""
    return replace(material, texture=Texture.TILES, scale=spacing, contrast=max(material.contrast, 0.15))
