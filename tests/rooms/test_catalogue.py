"""Every style of every purpose, over many seeds."""

from __future__ import annotations

import numpy as np
import pytest

from point2node.rooms.building.doors import flush_door
from point2node.rooms.building.openings import Surroundings
from point2node.rooms.building.windows import casement
from point2node.rooms.catalogue import OPENINGS, PIECES
from point2node.rooms.furniture.sofas import pad
from point2node.rooms.materials import Material
from point2node.rooms.surfaces import CUSHION, QUAD

GREY = Material((0.5, 0.5, 0.5))
SIZES = {
    "column": {"height": 2.7, "finish": GREY},
    "beam": {"length": 4.0, "finish": GREY},
    "soffit": {"length": 4.0, "width": 0.6, "drop": 0.5, "finish": GREY},
    "curtain": {"height": 2.2, "width": 0.6},
    "channel": {"length": 3.0},
}
HANGING = {"light", "ceiling_item", "duct", "beam", "soffit"}
ON_WALLS = {
    "wall_item",
    "small_wall_item",
    "bathroom_wall",
    "wall_cabinet",
    "wall_shelf",
    "channel",
    "radiator",
    "curtain",
    "wall_board",
}
PIECE_CASES = [
    pytest.param(purpose, style, id=f"{purpose}-{style.name}") for purpose in PIECES for style in PIECES[purpose]
]


@pytest.mark.parametrize(("purpose", "style"), PIECE_CASES)
def test_a_piece_stands_on_the_floor_or_hangs_where_it_should(purpose, style):
    for seed in range(10):
        piece = style.build(np.random.default_rng(seed), **SIZES.get(purpose, {}))
        low, high = piece.extent
        assert piece.label == style.name.split("/")[0]
        if purpose in HANGING:
            assert -1.3 < low[2] < high[2] < 0.16
        elif purpose in ON_WALLS:
            assert -0.07 < high[1] < 0.05, "the back is on the wall"
            assert low[1] > -0.5
            assert low[2] > -0.13, "it starts at z = 0, save for the pipe of a radiator"
        else:
            assert -0.05 < low[2] < 0.1, "it stands on z = 0"
            assert np.abs((low + high)[:2] / 2).max() < 0.75, "it is around the origin"
        for top in piece.tops:
            below_cupboards = style.name == "clutter/fitted_kitchen"
            assert 0.8 < top.height < 0.95 if below_cupboards else abs(top.height - high[2]) < 0.35
            assert (np.subtract(top.low, low[:2]) > -0.05).all()
            assert (np.subtract(top.high, high[:2]) < 0.05).all()


@pytest.mark.parametrize("style", OPENINGS["door"], ids=lambda style: style.name)
def test_a_door_fills_its_opening(style):
    for seed in range(10):
        door = style.build(np.random.default_rng(seed), Surroundings(GREY, 4.0, 2.7))
        low, high = door.filling.extent
        assert abs(high[2] - door.height) < 0.02
        assert low[0] <= -door.width / 2 + 0.01
        assert high[0] >= door.width / 2 - 0.01
        assert door.clearance > 0


def closed_leaves(piece) -> np.ndarray:
    """How far the middles of the upright faces parallel to the wall are behind it (y > 0) or before it."""
    normals = piece.surfaces.frame[:, 2] / np.linalg.norm(piece.surfaces.frame[:, 2], axis=1, keepdims=True)
    middles = piece.surfaces.origin + piece.surfaces.frame[:, :2].sum(axis=1) / 2
    area = np.linalg.norm(np.cross(piece.surfaces.frame[:, 0], piece.surfaces.frame[:, 1]), axis=1)
    towards_the_room = (normals[:, 1] < -0.999) & (area > 0.8)
    return middles[towards_the_room, 1]


def test_most_closed_doors_are_nearly_flush_with_the_wall():
    offsets, closed = [], 0
    for seed in range(200):
        found = closed_leaves(flush_door(np.random.default_rng(seed), Surroundings(GREY, 4.0, 2.7)).filling)
        closed += len(found) > 0
        offsets += found.tolist()
    assert 80 < closed < 160
    assert -0.05 < min(offsets) < 0.0
    assert 0.05 < max(offsets) < 0.11


def test_a_third_of_the_doors_are_painted_like_the_wall():
    walls = [flush_door(np.random.default_rng(seed), Surroundings(GREY, 4.0, 2.7)).filling for seed in range(200)]
    share = np.mean([(one.surfaces.material == GREY.row).all(axis=1).any() for one in walls])
    assert 0.3 < share < 0.75, "leaf or frame"


@pytest.mark.parametrize("style", PIECES["wall_board"], ids=lambda style: style.name)
def test_the_face_of_a_board_is_at_most_six_centimetres_off_the_wall(style):
    for seed in range(20):
        board = style.build(np.random.default_rng(seed))
        area = np.prod(np.linalg.norm(board.surfaces.frame[:, :2], axis=2), axis=1)
        face = board.surfaces.origin[np.argmax(area * (board.surfaces.frame[:, 2, 1] < -0.9)), 1]
        assert -0.066 <= face <= -0.004


@pytest.mark.parametrize("style", OPENINGS["window"], ids=lambda style: style.name)
@pytest.mark.parametrize("height", [2.3, 3.6])
def test_a_window_fits_below_the_ceiling(style, height):
    for seed in range(10):
        window = style.build(np.random.default_rng(seed), Surroundings(GREY, 3.0, height))
        assert 0 < window.bottom < window.bottom + window.height < height
        assert abs(window.filling.extent[1][0] * 2 - window.width) < 0.1


def test_panes_return_everywhere_in_patches_or_seldom():
    answers = []
    for seed in range(150):
        window = casement(np.random.default_rng(seed), Surroundings(GREY, 4.0, 2.8)).filling
        material = window.surfaces.material
        answers.append((material[:, 6].max() > 0, material[:, 7].max() >= 0.6))
    clear, patchy = np.mean(answers, axis=0)
    assert 0.1 < clear < 0.5
    assert 0.15 < patchy < 0.5


def test_a_cushion_seat_is_rounder_than_a_box():
    rng = np.random.default_rng(3)
    kinds = [pad(rng, (0.5, 0.5, 0.1), (0, 0, 0.4), GREY, hard).kind[0] for hard in (0.0, 1.0)]
    assert kinds == [CUSHION, QUAD]
