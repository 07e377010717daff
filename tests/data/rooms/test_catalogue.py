"""Every style of every purpose, over many seeds."""

from __future__ import annotations

import numpy as np
import pytest

from point2node.data.rooms.catalogue import OPENINGS, PIECES

SIZES = {"column": {"height": 2.7}, "beam": {"length": 4.0}, "curtain": {"height": 2.2}}
HANGING = {"light", "ceiling_item", "duct", "beam"}
ON_WALLS = {"wall_item", "small_wall_item", "radiator", "curtain", "wall_board"}
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
            assert -1.3 < low[2] < high[2] < 0.06
        elif purpose in ON_WALLS:
            assert -0.07 < high[1] < 0.05, "the back is on the wall"
            assert low[1] > -0.45
        else:
            assert -0.05 < low[2] < 0.1, "it stands on z = 0"
            assert np.abs((low + high)[:2] / 2).max() < 0.75, "it is around the origin"
        for top in piece.tops:
            assert abs(top.height - high[2]) < 0.35
            assert (np.subtract(top.low, low[:2]) > -0.05).all()
            assert (np.subtract(top.high, high[:2]) < 0.05).all()


@pytest.mark.parametrize("style", OPENINGS["door"], ids=lambda style: style.name)
def test_a_door_fills_its_opening(style):
    for seed in range(10):
        door = style.build(np.random.default_rng(seed))
        low, high = door.filling.extent
        assert abs(high[2] - door.height) < 0.01
        assert low[0] <= -door.width / 2 + 0.01
        assert high[0] >= door.width / 2 - 0.01
        assert door.clearance > 0


@pytest.mark.parametrize("style", OPENINGS["window"], ids=lambda style: style.name)
@pytest.mark.parametrize("height", [2.3, 3.6])
def test_a_window_fits_below_the_ceiling(style, height):
    for seed in range(10):
        window = style.build(np.random.default_rng(seed), height)
        assert 0 < window.bottom < window.bottom + window.height < height
        assert abs(window.filling.extent[1][0] * 2 - window.width) < 0.1
