"""Clutter of homes that stands on the floor: beds, cupboards, kitchens and bathrooms; its back is to +y."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from point2node.rooms.furniture.bookcases import cupboard
from point2node.rooms.furniture.sofas import pad
from point2node.rooms.materials import Material, fabric, furniture_finish, metal, paint, plastic, stone, wood
from point2node.rooms.pieces import Piece, Top, piece
from point2node.rooms.surfaces import Surfaces, ball, box, cushion, disc, drum, join, rod


def bed(rng: Generator) -> Piece:
    """A single or double bed with its head at the wall, with pillows and a blanket, made or thrown back."""
    width, length = float(rng.choice([rng.uniform(0.85, 1.1), rng.uniform(1.35, 1.95)])), rng.uniform(1.9, 2.15)
    frame, sheet, cover = furniture_finish(rng), fabric(rng), fabric(rng)
    top, thick = rng.uniform(0.4, 0.65), rng.uniform(0.16, 0.3)
    parts = [cushion((width, length, thick), (0, 0, top - thick), sheet, 10)]
    if rng.uniform() < 0.6:
        parts.append(box((width + 0.04, length + 0.04, top - thick), (0, 0, 0.02), frame))
    else:
        parts.append(box((width, length, 0.1), (0, 0, top - thick - 0.1), frame))
        corners = [(x * (width / 2 - 0.05), y * (length / 2 - 0.05)) for x in (-1, 1) for y in (-1, 1)]
        parts += [box((0.06, 0.06, top - thick - 0.1), (*corner, 0), frame) for corner in corners]
    if rng.uniform() < 0.8:
        # a board as wide as the bed, or a panel that covers the wall behind it
        panel = rng.uniform() < 0.4
        size = (width + (rng.uniform(0.1, 1.0) if panel else 0.06), rng.uniform(0.04, 0.1), rng.uniform(0.7, 1.2))
        if panel:
            size = (size[0], size[1], rng.uniform(0.9, 1.6))
        parts.append(pad(rng, size, (0, length / 2 + 0.01 + size[1] / 2, 0.05), frame, hard=0.6))
    reach = length * rng.uniform(0.4, 0.8)
    size = (width + rng.uniform(0.0, 0.1), reach, rng.uniform(0.08, 0.16))
    parts.append(cushion(size, (0, -length / 2 + reach / 2, top - 0.06), cover, 6))
    for x in (-0.25, 0.25) if width > 1.2 else (0.0,):
        pillow = cushion((0.6, 0.4, rng.uniform(0.12, 0.2)), (0, 0, 0), fabric(rng)).turned(rng.uniform(-0.1, 0.5), "x")
        parts.append(pillow.turned(rng.normal(0, 0.15)).moved((x * width, length / 2 - 0.3, top - 0.04)))
    if rng.uniform() < 0.4:  # clothes
        lump = cushion((rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.6), rng.uniform(0.08, 0.25)), (0, 0, 0), fabric(rng))
        parts.append(lump.turned(rng.uniform(0, 3)).moved((rng.uniform(-0.2, 0.2) * width, 0, top)))
    return piece("clutter", parts)


def wardrobe(rng: Generator) -> Piece:
    """A tall cupboard for clothes."""
    return piece(
        "clutter",
        *cupboard(rng, furniture_finish(rng), rng.uniform(0.8, 2.4), rng.uniform(0.5, 0.65), rng.uniform(1.75, 2.25)),
    )


def chest(rng: Generator) -> Piece:
    """A chest of drawers, a night stand or a sideboard."""
    width, height = rng.uniform(0.35, 1.5), rng.uniform(0.4, 1.1)
    return piece("clutter", *cupboard(rng, furniture_finish(rng), width, rng.uniform(0.35, 0.5), height))


def kitchen_units(rng: Generator) -> Piece:
    """Base cabinets below a worktop with a sink or a hob."""
    width, depth, height = rng.uniform(0.8, 3.2), rng.uniform(0.55, 0.65), rng.uniform(0.84, 0.94)
    parts, _ = cupboard(rng, furniture_finish(rng), width, depth - 0.04, height - 0.04)
    worktop, steel = (stone, wood)[rng.integers(2)](rng), metal(rng)
    parts.append(box((width + 0.02, depth, 0.04), (0, 0, height - 0.04), worktop))
    x = rng.uniform(-0.3, 0.3) * width
    if rng.uniform() < 0.7:  # a tap over a sink
        parts += [
            box((0.5, 0.4, 0.006), (x, 0, height), steel),
            rod((x, 0.2, height), (x, 0.2, height + 0.28), 0.013, steel),
        ]
        parts.append(rod((x, 0.2, height + 0.28), (x, 0.02, height + 0.24), 0.012, steel))
    if rng.uniform() < 0.5:
        parts.append(box((0.56, 0.5, 0.008), (-x, 0, height), plastic(rng)))
    return piece("clutter", parts, [Top((-width / 2, -depth / 2), (width / 2, depth / 2), height)])


def fitted_kitchen(rng: Generator) -> Piece:
    """Units with a row of cupboards above them, sometimes with a gap for a hood, and a tall cupboard at one end."""
    units = kitchen_units(rng)
    (left, _, _), (right, back, _) = units.extent
    front, bottom = furniture_finish(rng), units.tops[0].height + rng.uniform(0.42, 0.62)
    depth, height = rng.uniform(0.28, 0.4), rng.uniform(0.45, 0.9)
    start, parts = left, [units.surfaces]
    while right - start > 0.3:
        width = min(rng.uniform(0.4, 1.2), right - start)
        if rng.uniform() < 0.85:
            row, _ = cupboard(rng, front, width - 0.01, depth, height)
            parts += [part.moved((start + width / 2, back - depth / 2, bottom)) for part in row]
        start += width
    if rng.uniform() < 0.45:
        width, deep = rng.uniform(0.5, 0.75), rng.uniform(0.55, 0.68)
        tall, _ = cupboard(rng, front, width, deep, bottom + height)
        x = right + width / 2 if rng.uniform() < 0.5 else left - width / 2
        parts += [part.moved((x, back - deep / 2, 0)) for part in tall]
    return piece("clutter", parts, units.tops)


def cooker(rng: Generator) -> Piece:
    """A cooker, a dishwasher or a washing machine."""
    body, width, height = _enamel(rng), rng.uniform(0.5, 0.65), rng.uniform(0.82, 0.92)
    parts = [box((width, 0.58, height), (0, 0, 0), body)]
    if rng.uniform() < 0.5:
        door = drum(width * 0.32, 0.03, (0, 0, 0), plastic(rng)).turned(math.pi / 2, "x")
        parts.append(door.moved((0, -0.29, height * 0.45)))
    else:
        parts.append(box((width - 0.06, 0.03, height * 0.55), (0, -0.3, height * 0.15), plastic(rng)))
        parts.append(
            rod((-width / 2 + 0.08, -0.34, height * 0.72), (width / 2 - 0.08, -0.34, height * 0.72), 0.01, metal(rng))
        )
    return piece("clutter", parts, [Top((-width / 2, -0.29), (width / 2, 0.29), height)])


def television_stand(rng: Generator) -> Piece:
    """A low cupboard with a television on it."""
    width, height = rng.uniform(0.9, 1.9), rng.uniform(0.35, 0.65)
    parts, _ = cupboard(rng, furniture_finish(rng), width, rng.uniform(0.35, 0.5), height)
    wide, black = rng.uniform(0.7, min(1.5, width)), plastic(rng)
    parts += [
        box((wide, 0.05, wide * 0.57), (0, 0.05, height + 0.07), black),
        box((wide * 0.4, 0.2, 0.02), (0, 0.05, height), black),
        box((0.08, 0.04, 0.1), (0, 0.07, height), black),
    ]
    return piece("clutter", parts)


def toilet(rng: Generator) -> Piece:
    """Bowl, seat and cistern."""
    white, depth = _enamel(rng), rng.uniform(0.5, 0.6)
    parts = [
        rod((0, -0.08, 0), (0, -0.08, 0.38), 0.13, white, 1.45),
        cushion((0.38, depth - 0.1, 0.07), (0, -0.06, 0.37), white, 4),
        box((0.36, 0.18, rng.uniform(0.3, 0.4)), (0, depth / 2 - 0.08, 0.4), white),
        box((0.2, depth * 0.7, 0.36), (0, 0.05, 0), white),
    ]
    return piece("clutter", parts)


def basin(rng: Generator) -> Piece:
    """A wash basin on a pedestal or on a cupboard, with its tap."""
    white, width, steel = _enamel(rng), rng.uniform(0.45, 0.9), metal(rng)
    if rng.uniform() < 0.5:
        parts = [rod((0, 0.08, 0), (0, 0.08, 0.7), 0.09, white, 0.9)]
    else:
        parts, _ = cupboard(rng, furniture_finish(rng), width, 0.4, 0.7)
    parts.append(cushion((width, 0.46, 0.2), (0, 0, 0.67), white, 6))
    parts.append(rod((0, 0.17, 0.85), (0, 0.17, 1.0), 0.013, steel))
    parts.append(rod((0, 0.17, 1.0), (0, 0.03, 0.97), 0.011, steel))
    return piece("clutter", parts)


def bathtub(rng: Generator) -> Piece:
    """A tub that is open at the top."""
    white, width, depth, height = _enamel(rng), rng.uniform(1.4, 1.8), rng.uniform(0.68, 0.8), rng.uniform(0.45, 0.6)
    rim = 0.07
    parts = [box((width, rim, height), (0, y * (depth - rim) / 2, 0), white) for y in (-1, 1)] + [
        box((rim, depth, height), (x * (width - rim) / 2, 0, 0), white) for x in (-1, 1)
    ]
    parts.append(box((width - 0.1, depth - 0.1, 0.12), (0, 0, 0), white))
    return piece("clutter", parts)


def shower(rng: Generator) -> Piece:
    """A tray with a pole and a curtain on one side."""
    side, height = rng.uniform(0.75, 1.0), rng.uniform(1.9, 2.1)
    cloth, steel = fabric(rng), metal(rng)
    parts = [box((side, side, rng.uniform(0.05, 0.16)), (0, 0, 0), _enamel(rng))]
    for x in np.arange(-side / 2, side / 2, 0.12):
        parts.append(rod((x, -side / 2, 0.15), (x, -side / 2, height), 0.045, cloth))
    parts.append(rod((-side / 2, -side / 2, height), (side / 2, -side / 2, height), 0.015, steel))
    return piece("clutter", parts)


def heap(rng: Generator) -> Piece:
    """Clothes, bags and bundles in a heap."""
    parts = []
    for _ in range(rng.integers(2, 7)):
        size = rng.uniform((0.2, 0.2, 0.08), (0.55, 0.45, 0.35))
        lump = cushion(size, (0, 0, 0), fabric(rng)).turned(rng.normal(0, 0.25), "x").turned(rng.uniform(0, math.tau))
        bottom = lump.bounds()[0][2]
        parts.append(lump.moved((*rng.normal(0, 0.12, 2), abs(rng.normal(0, 0.08)) - bottom - 0.02)))
    return piece("clutter", parts)


def suitcase(rng: Generator) -> Piece:
    """A suitcase or a holdall, upright or lying."""
    width, depth, height = rng.uniform(0.35, 0.55), rng.uniform(0.2, 0.32), rng.uniform(0.5, 0.75)
    size = (width, depth, height) if rng.uniform() < 0.7 else (height, width, depth)
    return piece("clutter", [cushion(size, (0, 0, 0), fabric(rng), 8).turned(rng.normal(0, 0.2))])


def basket(rng: Generator) -> Piece:
    """A laundry or toy basket with things sticking out of it."""
    radius, height = rng.uniform(0.18, 0.3), rng.uniform(0.25, 0.55)
    parts = [rod((0, 0, 0), (0, 0, height), radius * 0.85, plastic(rng), 1.18)]
    for _ in range(rng.integers(1, 4)):
        place = (*rng.normal(0, radius / 4, 2), height - rng.uniform(0, 0.1))
        parts.append(ball(rng.uniform(0.08, 0.18, 3), place, fabric(rng)))
    return piece("clutter", parts)


def bicycle(rng: Generator) -> Piece:
    """Two wheels, a frame and a handlebar, along x."""
    frame, tyre, radius, half = metal(rng), plastic(rng), rng.uniform(0.28, 0.35), rng.uniform(0.48, 0.55)
    parts: list[Surfaces] = []
    for x in (-half, half):
        angles = np.linspace(0, math.tau, 13)
        rim = np.stack([x + radius * np.cos(angles), np.zeros(13), radius + radius * np.sin(angles)], axis=1)
        parts += [rod(rim[n], rim[n + 1], 0.02, tyre) for n in range(12)]
    hub, crank, saddle, head = (-half, 0, radius), (-0.08, 0, radius), (-0.22, 0, 0.85), (half - 0.12, 0, 0.85)
    for start, end in ((hub, crank), (crank, saddle), (hub, saddle), (crank, head), (saddle, head)):
        parts.append(rod(start, end, 0.018, frame))
    parts += [
        rod(head, (half, 0, radius), 0.018, frame),
        rod((head[0], -0.28, 0.98), (head[0], 0.28, 0.98), 0.014, frame),
    ]
    parts += [rod(head, (head[0], 0, 0.98), 0.015, frame), cushion((0.25, 0.14, 0.06), (-0.24, 0, 0.86), tyre)]
    return piece("clutter", parts)


def ladder(rng: Generator) -> Piece:
    """An upright step ladder, or brooms and poles."""
    material, height, width = metal(rng), rng.uniform(1.2, 2.1), rng.uniform(0.35, 0.5)
    parts: list[Surfaces] = []
    for y, lean in ((-0.25, 0.2), (0.25, -0.2)):
        for x in (-width / 2, width / 2):
            parts.append(rod((x, y, 0), (x * 0.8, y + lean, height), 0.02, material))
    for z in np.arange(0.25, height, 0.28):
        parts.append(box((width, 0.08, 0.02), (0, -0.25 + 0.2 * z / height, z), material))
    return piece("clutter", parts)


def stairs(rng: Generator) -> Piece:
    """A flight of steps that rises towards the wall."""
    width, rise, going, count = (
        rng.uniform(0.8, 1.3),
        rng.uniform(0.16, 0.2),
        rng.uniform(0.24, 0.3),
        int(rng.integers(3, 9)),
    )
    body = (wood, stone, paint)[rng.integers(3)](rng)
    steps = []
    for number in range(count):
        deep = (count - number) * going
        steps.append(box((width, deep, rise), (0, (count * going - deep) / 2, number * rise), body))
    return piece("clutter", steps)


def trolley(rng: Generator) -> Piece:
    """A cart of shelves on castors."""
    frame, width, depth = metal(rng), rng.uniform(0.45, 0.8), rng.uniform(0.35, 0.5)
    heights = sorted(rng.uniform(0.12, 0.95, int(rng.integers(2, 4))))
    parts = [box((width, depth, 0.03), (0, 0, z), frame) for z in heights]
    corners = [(x * width / 2, y * depth / 2) for x in (-1, 1) for y in (-1, 1)]
    parts += [rod((*corner, 0.03), (*corner, heights[-1] + 0.05), 0.014, frame) for corner in corners]
    for z in heights:
        if rng.uniform() < 0.7:
            parts.append(box((width * 0.6, depth * 0.6, 0.12), (0, 0, z + 0.03), plastic(rng)))
    return piece("clutter", parts)


def fan(rng: Generator) -> Piece:
    """A fan or a heater on a stand."""
    body, height = plastic(rng), rng.uniform(0.6, 1.3)
    head = join([drum(0.2, 0.08, (0, 0, -0.04), body), disc(0.2, (0, 0, -0.04), body)]).turned(math.pi / 2, "x")
    return piece(
        "clutter",
        [drum(0.18, 0.03, (0, 0, 0), body), rod((0, 0, 0), (0, 0, height), 0.02, body), head.moved((0, 0, height))],
    )


def _enamel(rng: Generator) -> Material:
    """Return enamel, mostly white."""
    if rng.uniform() < 0.15:
        return plastic(rng)
    value = rng.uniform(0.78, 1.0)
    return Material((value, value, value * rng.uniform(0.95, 1.0)), contrast=0.02, absorption=rng.uniform(0, 0.15))
