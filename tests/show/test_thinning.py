import numpy as np
import pytest

from point2node.show.thinning import spacing, spatial_order, thin


def uneven_square(points=20000):
    """A flat square whose left half is scanned nine times as densely as its right half."""
    random = np.random.default_rng(0)
    xyz = np.concatenate([random.random((points, 2)), random.random((points, 2))[::-1]])
    xyz = xyz[(xyz[:, 0] < 0.5) | (np.arange(len(xyz)) % 9 == 0)]
    return np.column_stack([xyz, np.zeros(len(xyz))])


def test_a_small_cloud_is_left_whole():
    assert np.array_equal(thin(np.random.default_rng(0).random((50, 3)), 50), np.arange(50))


def test_thinning_gives_exactly_as_many_different_points_and_the_same_ones_every_time():
    xyz = uneven_square()
    chosen = thin(xyz, 3000)
    assert len(np.unique(chosen)) == 3000
    assert np.array_equal(chosen, np.sort(chosen))
    assert np.array_equal(chosen, thin(xyz, 3000))


def test_thinning_evens_out_how_densely_surfaces_were_scanned():
    xyz = uneven_square()
    left = (xyz[:, 0] < 0.5).mean()
    chosen = (xyz[thin(xyz, 3000), 0] < 0.5).mean()
    assert left > 0.85
    assert chosen == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("points", [1, 100])
def test_points_at_one_place_can_be_thinned_and_measured(points):
    xyz = np.full((points, 3), 7.0)
    assert len(thin(xyz, 10)) == min(points, 10)
    assert spacing(xyz) > 0
    assert sorted(spatial_order(xyz)) == list(range(points))


def test_spacing_is_about_the_distance_of_neighbours_on_a_surface():
    side = np.arange(0, 1, 0.01)
    x, y = np.meshgrid(side, side)
    xyz = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    assert spacing(xyz) == pytest.approx(0.01, rel=0.1)


def test_the_spatial_order_puts_neighbours_together():
    xyz = np.random.default_rng(0).random((4000, 3))
    order = spatial_order(xyz)
    assert np.array_equal(np.sort(order), np.arange(4000))
    steps = [np.linalg.norm(np.diff(one, axis=0), axis=1).mean() for one in (xyz, xyz[order])]
    assert steps[1] < steps[0] / 5
