import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from point2node.models.reference.acnn import AnnularConvolution, Ring, choose_ring, fit_normals, order_around


def on_circle(angles, height=0.0):
    angles = torch.tensor(angles, dtype=torch.float64)
    return torch.stack([angles.cos(), angles.sin(), torch.full_like(angles, height)], dim=-1)[None, None]


def test_a_ring_holds_the_nearest_points_between_its_radii_and_repeats_the_first():
    squares = torch.tensor([[[0.0, 0.05, 0.12, 0.15, 0.3]]]) ** 2
    assert choose_ring(squares, Ring(0.1, 0.2, 4, ())).tolist() == [[[2, 3, 2, 2]]]
    assert choose_ring(squares, Ring(0.0, 0.2, 2, ())).tolist() == [[[1, 2]]]  # without the centre
    assert choose_ring(squares, Ring(0.2, 0.25, 2, ())).tolist() == [[[3, 3]]]  # empty: the nearest to the ring


@given(st.lists(st.integers(0, 359), min_size=3, max_size=12, unique=True))
def test_points_are_walked_counter_clockwise_from_the_outermost(degrees):
    offsets = on_circle([math.radians(one) for one in degrees])
    order = order_around(offsets, torch.tensor([[[0.0, 0.0, 1.0]]], dtype=torch.float64))[0, 0]
    walked = torch.tensor(degrees)[order]
    steps = (walked.roll(-1) - walked) % 360
    assert steps.sum() == 360  # once around


def test_seen_from_below_the_walk_is_reversed():
    offsets = on_circle([0.0, 1.0, 2.0, 4.0])
    up = torch.tensor([[[0.0, 0.0, 1.0]]], dtype=torch.float64)
    above, below = order_around(offsets, up)[0, 0], order_around(offsets, -up)[0, 0]
    turned = below.flip(0)
    start = int((turned == above[0]).nonzero())
    assert torch.equal(turned.roll(-start), above)


def test_normals_stand_on_the_plane_and_point_outwards():
    offsets = on_circle([0.0, 1.0, 2.0, 4.0])
    queries = torch.tensor([[[0.0, 0.0, 2.0]]], dtype=torch.float64)
    points = torch.zeros(1, 5, 3, dtype=torch.float64)
    torch.testing.assert_close(fit_normals(offsets, queries, points)[0, 0].tolist(), [0.0, 0.0, 1.0])
    torch.testing.assert_close(fit_normals(offsets, -queries, points)[0, 0].tolist(), [0.0, 0.0, -1.0])


def test_the_start_of_a_closed_ring_does_not_matter():
    torch.manual_seed(0)
    layer, x = AnnularConvolution(4, 6).double().eval(), torch.randn(1, 2, 8, 4, dtype=torch.float64)
    torch.testing.assert_close(layer(x.roll(3, dims=2)), layer(x).roll(3, dims=2))
    assert not torch.allclose(layer(x.flip(2)).max(2).values, layer(x).max(2).values), "the direction does"


def test_the_kernel_sees_three_points_in_a_row():
    layer = AnnularConvolution(1, 1)
    x = torch.zeros(1, 1, 8, 1)
    x[0, 0, 5] = 1
    with torch.no_grad():
        layer.linear.weight.fill_(1)
    assert layer.eval()(x).flatten().tolist() == pytest.approx([0, 0, 0, 1, 1, 1, 0, 0], abs=1e-4)
