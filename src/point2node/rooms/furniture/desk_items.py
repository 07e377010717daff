"""Clutter that stands on tables, shelves and sills; its front is to -y."""

from __future__ import annotations

import colorsys
import math

from numpy.random import Generator

from point2node.rooms.materials import Material, Texture, books, metal, paper, plastic, stone
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Surfaces, ball, box, drum, join, quad, rod


def monitor(rng: Generator) -> Piece:
    """A screen on a foot; sometimes two side by side."""
    body, screen = plastic(rng), _screen(rng)
    width, height, lift = rng.uniform(0.4, 0.7), rng.uniform(0.28, 0.42), rng.uniform(0.08, 0.18)
    one = join(
        [
            box((width, 0.03, height), (0, 0, lift), body),
            box((width * 0.96, 0.004, height * 0.93), (0, -0.017, lift + height * 0.035), screen),
            box((0.05, 0.04, lift + 0.1), (0, 0.03, 0), body),
            box((0.22, 0.16, 0.012), (0, 0.02, 0), body),
        ]
    )
    if rng.uniform() < 0.25:
        turn = rng.uniform(0.1, 0.35)
        return piece(
            "clutter", [one.turned(turn).moved((-width / 2, 0, 0)), one.turned(-turn).moved((width / 2, 0, 0))]
        )
    return piece("clutter", [one.turned(rng.normal(0, 0.2))])


def old_monitor(rng: Generator) -> Piece:
    """A tube screen, as deep as it is wide."""
    body, size = plastic(rng), rng.uniform(0.34, 0.44)
    parts = [
        box((size, size * 0.5, size * 0.9), (0, -size * 0.2, 0.06), body),
        box((0.25, 0.25, 0.06), (0, 0, 0), body),
    ]
    parts += [box((size * 0.7, size * 0.5, size * 0.7), (0, size * 0.25, 0.1), body)]
    parts.append(box((size * 0.85, 0.01, size * 0.7), (0, -size * 0.455, 0.06 + size * 0.1), _screen(rng)))
    return piece("clutter", parts)


def keyboard(rng: Generator) -> Piece:
    """Keyboard and mouse."""
    body = plastic(rng)
    mouse = ball((0.03, 0.055, 0.02), (rng.choice([-1, 1]) * 0.32, 0, 0.012), body)
    return piece("clutter", [box((rng.uniform(0.36, 0.46), 0.15, 0.025), (0, 0, 0), body), mouse])


def laptop(rng: Generator) -> Piece:
    """A laptop, open."""
    body, width = plastic(rng), rng.uniform(0.3, 0.38)
    lid = box((width, 0.01, width * 0.65), (0, 0, 0), body).turned(-rng.uniform(0.2, 0.6), "x")
    return piece("clutter", [box((width, 0.24, 0.018), (0, 0, 0), body), lid.moved((0, 0.12, 0.018))])


def paper_pile(rng: Generator) -> Piece:
    """Sheets and folders in a pile, or one sheet."""
    parts, height = [], 0.0
    for _ in range(rng.integers(1, 5)):
        thick = rng.uniform(0.004, 0.05)
        sheet = box((rng.uniform(0.2, 0.33), rng.uniform(0.2, 0.33), thick), (0, 0, height), paper(rng))
        parts.append(sheet.turned(rng.normal(0, 0.3)))
        height += thick
    return piece("clutter", parts)


def book_pile(rng: Generator) -> Piece:
    """Some books upright between supports."""
    length = rng.uniform(0.15, 0.5)
    return piece("clutter", [box((length, rng.uniform(0.15, 0.24), rng.uniform(0.18, 0.3)), (0, 0, 0), books(rng))])


def cup(rng: Generator) -> Piece:
    """Cups, glasses and bottles."""
    parts = []
    for _ in range(rng.integers(1, 4)):
        place = (*rng.uniform(-0.12, 0.12, 2), 0.0)
        parts.append(
            drum(rng.uniform(0.03, 0.05), rng.uniform(0.07, 0.28), place, plastic(rng), rng.uniform(0.5, 1.15))
        )
    return piece("clutter", parts)


def phone(rng: Generator) -> Piece:
    """A desk telephone."""
    body = plastic(rng)
    base = box((0.18, 0.2, 0.05), (0, 0, 0), body).turned(0.15, "x").moved((0, 0, 0.015))
    return piece("clutter", [base, box((0.05, 0.2, 0.04), (-0.06, 0, 0.07), body)])


def desk_lamp(rng: Generator) -> Piece:
    """A lamp on a bent arm, or a table lamp with a shade."""
    frame = metal(rng)
    if rng.uniform() < 0.5:
        reach = rng.uniform(0.1, 0.25)
        arm = [
            rod((0, 0, 0.02), (0.05, 0.05, 0.3), 0.01, frame),
            rod((0.05, 0.05, 0.3), (0, -reach, 0.45), 0.01, frame),
        ]
        return piece(
            "clutter",
            [drum(0.09, 0.02, (0, 0, 0), frame), *arm, rod((0, -reach, 0.38), (0, -reach, 0.47), 0.08, frame, 0.4)],
        )
    shade = rod((0, 0, 0.22), (0, 0, 0.4), rng.uniform(0.1, 0.16), paper(rng), 0.7)
    return piece("clutter", [drum(0.07, 0.02, (0, 0, 0), frame), rod((0, 0, 0), (0, 0, 0.3), 0.015, frame), shade])


def carton(rng: Generator) -> Piece:
    """A box; sometimes with its flaps open."""
    width, depth, height = rng.uniform(0.15, 0.5), rng.uniform(0.15, 0.4), rng.uniform(0.08, 0.35)
    material = Material(
        (rng.uniform(0.5, 0.75), rng.uniform(0.4, 0.6), rng.uniform(0.25, 0.45)), Texture.BLOTCHES, 0.2, 0.15
    )
    if rng.uniform() < 0.4:
        material = paper(rng)
    parts = [box((width, depth, height), (0, 0, 0), material)]
    if rng.uniform() < 0.3:
        flap = height * 0.5
        parts += [
            quad((x * width / 2, -depth / 2, height), (x * flap * 0.6, 0, flap * 0.7), (0, depth, 0), material)
            for x in (-1, 1)
        ]
    return piece("clutter", [join(parts).turned(rng.normal(0, 0.3))])


def printer(rng: Generator) -> Piece:
    """A desktop printer with a paper tray."""
    body = plastic(rng)
    width, depth, height = rng.uniform(0.36, 0.52), rng.uniform(0.34, 0.45), rng.uniform(0.2, 0.4)
    parts = [
        box((width, depth, height), (0, 0, 0), body),
        box((width * 0.7, 0.2, 0.02), (0, -depth / 2 - 0.05, 0.05), body),
    ]
    parts.append(box((width * 0.7, depth * 0.7, 0.05), (0, 0.04, height), body))
    return piece("clutter", parts)


def pot_plant(rng: Generator) -> Piece:
    """A small plant in a pot."""
    return piece("clutter", [plant(rng, rng.uniform(0.05, 0.1), rng.uniform(0.15, 0.4))])


def plant(rng: Generator, radius: float, height: float) -> Surfaces:
    """Build a pot of this radius with leaves up to this height above it."""
    green = colorsys.hsv_to_rgb(rng.uniform(0.18, 0.4), rng.uniform(0.3, 0.8), rng.uniform(0.15, 0.6))
    leaf, pot = Material(green, Texture.BLOTCHES, 0.05, 0.4), stone(rng)
    parts = [drum(radius * 0.8, radius * 1.6, (0, 0, 0), pot, 1.25)]
    spread = height * rng.uniform(0.3, 0.7)
    for _ in range(rng.integers(12, 26)):
        length, up = rng.uniform(0.2, 0.45) * height, rng.uniform(0.15, 1.0) * height
        blade = ball((length / 2, length * rng.uniform(0.12, 0.3), 0.004), (0, 0, 0), leaf)
        tilted = blade.turned(rng.normal(0, 0.7), "y").turned(rng.uniform(0, math.tau))
        parts.append(tilted.moved((*(rng.normal(0, spread / 3, 2)), radius * 1.6 + up)))
    parts.append(rod((0, 0, radius * 1.6), (0, 0, radius * 1.6 + height * 0.8), 0.008, leaf))
    return join(parts)


def _screen(rng: Generator) -> Material:
    """Return the material of a screen: dark, absorbing rays, or lit with a picture."""
    if rng.uniform() < 0.6:
        value = rng.uniform(0.02, 0.12)
        return Material((value, value, value), absorption=rng.uniform(0.2, 0.6))
    return Material((0.6, 0.7, 0.8), Texture.PRINT, 0.08, 0.6, absorption=0.2)
