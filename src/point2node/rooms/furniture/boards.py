"""Boards to write on: on the wall (back to +y, bottom at z = 0) or on a stand."""

from __future__ import annotations

import colorsys

from numpy.random import Generator

from point2node.rooms.materials import Material, Texture, any_colour, furniture_finish, metal, paper, wood
from point2node.rooms.pieces import Piece, piece
from point2node.rooms.surfaces import Surfaces, box, join, rod


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
    """A panel with a frame around it, half a centimetre to four centimetres off the wall."""
    edge, off, rim = rng.uniform(0.01, 0.05), 0.004 + 0.036 * rng.beta(1, 2.5), rng.uniform(0.0, 0.01)
    parts = [box((width, off, height), (0, -off / 2, 0), face)]
    parts += [box((width, off + rim, edge), (0, -(off + rim) / 2, z), frame) for z in (0, height - edge)]
    parts += [box((edge, off + rim, height), (x * (width - edge) / 2, -(off + rim) / 2, 0), frame) for x in (-1, 1)]
    if rng.uniform() < 0.45:
        parts.append(box((width * rng.uniform(0.3, 0.95), 0.08, 0.02), (0, -0.05, 0), frame))
    return join(parts)
