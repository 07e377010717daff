"""Things on walls (back at y = 0, bottom at z = 0), clutter and boards to write on; some boards stand on the floor."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.random import Generator

from point2node.rooms.furniture.bookcases import cupboard
from point2node.rooms.materials import (
    Material,
    Texture,
    any_colour,
    fabric,
    furniture_finish,
    metal,
    paper,
    plastic,
    wood,
)
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Surfaces, box, cushion, drum, join, quad, rod


def picture(rng: Generator) -> Piece:
    """A framed picture or a bare poster."""
    width, height = rng.uniform(0.25, 1.2), rng.uniform(0.25, 1.0)
    parts = [box((width, 0.01, height), (0, -0.005, 0), paper(rng))]
    if rng.uniform() < 0.6:
        frame = furniture_finish(rng)
        parts += [box((width, 0.025, 0.03), (0, -0.0125, z), frame) for z in (0, height - 0.03)]
        parts += [box((0.03, 0.025, height), (x * (width / 2 - 0.015), -0.0125, 0), frame) for x in (-1, 1)]
    return piece("clutter", parts)


def radiator(rng: Generator) -> Piece:
    """A ribbed or flat radiator above the floor."""
    width, height, material = rng.uniform(0.6, 1.8), rng.uniform(0.4, 0.65), metal(rng)
    if rng.uniform() < 0.5:
        rib = box((0.05, 0.1, height), (0.04 - width / 2, -0.09, 0), material)
        return piece("clutter", [rib.copied([(x, 0, 0) for x in np.arange(0, width, 0.08)])])
    return piece(
        "clutter",
        [
            box((width, 0.07, height), (0, -0.075, 0), material),
            rod((width / 2, -0.08, 0.05), (width / 2, -0.08, -0.12), 0.012, material),
        ],
    )


def channel(rng: Generator, length: float) -> Piece:
    """Pipes, a cable channel or a ventilation duct along the wall."""
    off, parts = rng.uniform(0.02, 0.06), []
    if rng.uniform() < 0.5:
        for _ in range(rng.integers(1, 4)):
            radius = rng.uniform(0.012, 0.06)
            off += radius
            z = radius + rng.uniform(0, 0.25)
            parts.append(rod((-length / 2, -off, z), (length / 2, -off, z), radius, metal(rng)))
        return piece("clutter", parts)
    size = (length, rng.uniform(0.04, 0.2), rng.uniform(0.06, 0.3))
    return piece("clutter", [box(size, (0, -size[1] / 2, 0), furniture_finish(rng))])


def pipe(rng: Generator) -> Piece:
    """Upright pipes or cables."""
    radius, height, material = rng.uniform(0.01, 0.06), rng.uniform(0.6, 2.4), metal(rng)
    places = np.arange(rng.integers(1, 4)) * rng.uniform(0.06, 0.2)
    return piece(
        "clutter", [rod((x, -radius - 0.02, 0), (x, -radius - 0.02, height), radius, material) for x in places]
    )


def mirror(rng: Generator) -> Piece:
    """A mirror, a notice or a tapestry: flat, with any colours."""
    width, height = rng.uniform(0.3, 1.2), rng.uniform(0.4, 1.5)
    face = (paper, fabric, plastic)[rng.integers(3)](rng)
    return piece("clutter", [box((width, 0.015, height), (0, -rng.uniform(0.005, 0.03), 0), face)])


def wall_cabinet(rng: Generator, width: float = 0.0) -> Piece:
    """A cupboard on the wall, as above a kitchen worktop."""
    wide, depth, height = width or rng.uniform(0.4, 1.8), rng.uniform(0.25, 0.38), rng.uniform(0.5, 0.8)
    parts, _ = cupboard(rng, furniture_finish(rng), wide, depth, height)
    return piece("clutter", [part.moved((0, -depth / 2, 0)) for part in parts])


def hood(rng: Generator) -> Piece:
    """A cooker hood, a boiler or an air conditioner."""
    body, width = plastic(rng), rng.uniform(0.4, 0.9)
    size = (width, rng.uniform(0.2, 0.45), rng.uniform(0.2, 0.7))
    parts = [cushion(size, (0, -size[1] / 2, 0), body, 10)]
    if rng.uniform() < 0.4:
        parts.append(box((0.25, 0.25, 0.3), (0, -0.125, size[2] - 0.02), body))
    return piece("clutter", parts)


def towels(rng: Generator) -> Piece:
    """Cloth over a rail."""
    width, cloth = rng.uniform(0.3, 0.7), fabric(rng)
    parts = [rod((-width / 2, -0.08, 0.6), (width / 2, -0.08, 0.6), 0.012, metal(rng))]
    parts.append(cushion((width * 0.8, 0.07, rng.uniform(0.35, 0.6)), (0, -0.08, 0.05), cloth, 8))
    return piece("clutter", parts)


def television(rng: Generator) -> Piece:
    """A television or a display on a bracket."""
    width = rng.uniform(0.8, 1.6)
    body = plastic(rng)
    return piece(
        "clutter", [box((width, 0.05, width * 0.57), (0, -0.1, 0), body), box((0.3, 0.08, 0.3), (0, -0.04, 0.1), body)]
    )


def switch(rng: Generator) -> Piece:
    """A switch, a socket, a thermostat or a sign."""
    size = rng.uniform(0.07, 0.22)
    return piece("clutter", [box((size, 0.02, rng.uniform(0.8, 1.6) * size), (0, -0.01, 0), plastic(rng))])


def clock(rng: Generator) -> Piece:
    """A round clock."""
    dial = drum(rng.uniform(0.12, 0.2), 0.04, (0, 0, 0), plastic(rng)).turned(np.pi / 2, "x")
    return piece("clutter", [dial.moved((0, 0, 0.2))])


def extinguisher(rng: Generator) -> Piece:
    """A fire extinguisher on a bracket."""
    red = Material((rng.uniform(0.5, 0.9), 0.1, 0.1))
    return piece(
        "clutter",
        [
            drum(0.08, 0.45, (0, -0.1, 0), red),
            drum(0.03, 0.1, (0, -0.1, 0.45), metal(rng)),
            rod((0.03, -0.1, 0.5), (0.12, -0.1, 0.15), 0.012, plastic(rng)),
        ],
    )


def coats(rng: Generator) -> Piece:
    """Hooks with coats and bags."""
    width = rng.uniform(0.5, 1.2)
    parts = [box((width, 0.03, 0.1), (0, -0.015, 0.9), furniture_finish(rng))]
    for x in np.arange(-width / 2 + 0.12, width / 2, 0.22):
        if rng.uniform() < 0.6:
            length = rng.uniform(0.5, 0.95)
            parts.append(cushion((rng.uniform(0.2, 0.34), 0.2, length), (x, -0.11, 0.95 - length), fabric(rng), 4))
    return piece("clutter", parts)


def curtain(rng: Generator, height: float, width: float) -> Piece:
    """Cloth in folds."""
    material = fabric(rng)
    folds = max(4, round(width / rng.uniform(0.06, 0.12)))
    x = np.linspace(-width / 2, width / 2, folds + 1)
    y = -0.06 - 0.05 * (np.arange(folds + 1) % 2) * rng.uniform(0.6, 1.0, folds + 1)
    parts = [
        quad((x[n], y[n], 0), (x[n + 1] - x[n], y[n + 1] - y[n], 0), (0, 0, height), material) for n in range(folds)
    ]
    return piece(
        "clutter", [*parts, rod((-width / 2 - 0.1, -0.08, height), (width / 2 + 0.1, -0.08, height), 0.015, metal(rng))]
    )


def whiteboard(rng: Generator) -> Piece:
    """A white or tinted writing surface in a thin frame, often with a tray."""
    value = rng.uniform(0.75, 1.0)
    face = Material((value, value, value), Texture.BLOTCHES, 0.3, rng.uniform(0.0, 0.2), absorption=rng.uniform(0, 0.2))
    if rng.uniform() < 0.2:  # glass boards come in colours
        face = Material(any_colour(rng, 0.9), absorption=rng.uniform(0, 0.3))
    width, height = rng.uniform(0.7, 3.2), rng.uniform(0.6, 1.3)
    return piece("board", [_framed(rng, width, height, face, metal(rng))])


def blackboard(rng: Generator) -> Piece:
    """Black or green slate in a wooden frame with a chalk tray, up to a whole wall wide."""
    colour = colorsys.hsv_to_rgb(rng.uniform(0.3, 0.45), rng.uniform(0, 0.5), rng.uniform(0.08, 0.3))
    face = Material(colour, Texture.BLOTCHES, 0.4, rng.uniform(0.1, 0.5), absorption=0.1)
    return piece("board", [_framed(rng, rng.uniform(1.4, 4.0), rng.uniform(1.0, 1.3), face, wood(rng))])


def projector_screen(rng: Generator) -> Piece:
    """A white cloth pulled down from its case, or a flat display for presentations."""
    width, value = rng.uniform(1.2, 2.6), rng.uniform(0.85, 1.0)
    height, off = width * rng.uniform(0.55, 0.8), rng.uniform(0.01, 0.06)
    cloth = Material((value, value, value), contrast=0.02)
    case = box((width + 0.1, 0.09, 0.09), (0, -0.045, height), metal(rng))
    bar = box((width, 0.02, 0.03), (0, -off, 0), metal(rng))
    return piece("board", [box((width, 0.005, height), (0, -off, 0), cloth), case, bar])


def pin_board(rng: Generator) -> Piece:
    """Cork or felt with notes pinned to it."""
    face = Material(any_colour(rng, 0.7, 0.3), Texture.SPECKLE, 0.01, 0.2)
    width, height = rng.uniform(0.8, 1.8), rng.uniform(0.7, 1.2)
    parts = [_framed(rng, width, height, face, furniture_finish(rng))]
    for _ in range(rng.integers(0, 8)):
        note = (rng.uniform(0.1, 0.3), 0.004, rng.uniform(0.1, 0.3))
        place = (rng.uniform(-0.4, 0.4) * width, -0.042, rng.uniform(0.05, 0.6) * height)
        parts.append(box(note, place, paper(rng)))
    return piece("board", parts)


def mobile_board(rng: Generator) -> Piece:
    """A whiteboard on a stand with castors."""
    value, frame = rng.uniform(0.7, 1.0), metal(rng)
    width, height, bottom = rng.uniform(1.1, 1.8), rng.uniform(0.9, 1.2), rng.uniform(0.7, 0.9)
    panel = box((width, 0.03, height), (0, 0, bottom), Material((value, value, value), absorption=0.1))
    parts = [panel]
    for x in (-width / 2, width / 2):
        parts += [rod((x, 0, 0.05), (x, 0, bottom + height), 0.02, frame), box((0.04, 0.6, 0.05), (x, 0, 0.03), frame)]
    return piece("board", [*parts, rod((-width / 2, 0, 0.3), (width / 2, 0, 0.3), 0.015, frame)])


def flip_chart(rng: Generator) -> Piece:
    """A pad of paper on a tripod."""
    frame, page = metal(rng), Material((0.92, 0.92, 0.88), Texture.PRINT, 0.1, rng.uniform(0, 0.3))
    width, height, bottom = rng.uniform(0.65, 0.75), rng.uniform(0.9, 1.05), rng.uniform(0.8, 0.95)
    pad = box((width, 0.03, height), (0, 0, 0), page).turned(-0.12, "x").moved((0, 0, bottom))
    top = (0.0, 0.12, bottom + height)
    feet = [(-0.4, -0.2, 0.0), (0.4, -0.2, 0.0), (0.0, 0.5, 0.0)]
    return piece("board", [pad, *(rod(foot, top, 0.014, frame) for foot in feet)])


def _framed(rng: Generator, width: float, height: float, face: Material, frame: Material) -> Surfaces:
    """Build a panel with a frame around it, half a centimetre to four centimetres off the wall."""
    edge, off, rim = rng.uniform(0.01, 0.05), 0.004 + 0.036 * rng.beta(1, 2.5), rng.uniform(0.0, 0.01)
    parts = [box((width, off, height), (0, -off / 2, 0), face)]
    parts += [box((width, off + rim, edge), (0, -(off + rim) / 2, z), frame) for z in (0, height - edge)]
    parts += [box((edge, off + rim, height), (x * (width - edge) / 2, -(off + rim) / 2, 0), frame) for x in (-1, 1)]
    if rng.uniform() < 0.45:
        parts.append(box((width * rng.uniform(0.3, 0.95), 0.08, 0.02), (0, -0.05, 0), frame))
    return join(parts)
