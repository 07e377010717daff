import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.words import SURROUNDINGS, WIDTHS
from point2node.geometry.normals import find_axes
from point2node.geometry.surroundings import DESCRIPTIONS, describe_surroundings

SIZE, LOWEST, HIGHEST, UPRIGHT = 0, 1, 2, 6  # columns of ``segment``


def grid(x, y, z, step=0.02):
    """Points of a box's surface or volume: (low, high) or a single value for each axis."""
    axes = [np.arange(*span, step) if isinstance(span, tuple) else np.array([span]) for span in (x, y, z)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)


FLOOR = grid((0, 4), (0, 3), 0.0)
CEILING = grid((0, 4), (0, 3), 2.5)
WALL = grid(0.0, (0, 3), (0, 2.5))
TABLE = grid((1.5, 2.5), (1, 2), 0.74)
ROOM = np.concatenate([FLOOR, CEILING, WALL, TABLE])
PARTS = {"floor": FLOOR, "ceiling": CEILING, "wall": WALL, "table": TABLE}


def of_parts(name, xyz=ROOM):
    """The median of a feature over each part of the room."""
    found = describe_surroundings(xyz, (name,))
    ends = np.cumsum([len(part) for part in PARTS.values()])
    values = np.split(found.table[found.number], ends[:-1])
    return {part: np.median(value, axis=0) for part, value in zip(PARTS, values, strict=True)}


@pytest.mark.parametrize("points", [1, 2, 5, 40])
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_any_number_of_points_can_be_described(name, points):
    found = describe_surroundings(np.random.default_rng(points).random((points, 3)), (name,))
    assert found.number.shape == (points,)
    assert found.table.shape == (found.number.max() + 1, WIDTHS[name])
    assert np.isfinite(found.table).all()


def test_copies_of_one_point_can_be_described():
    found = describe_surroundings(np.ones((30, 3)), SURROUNDINGS)
    assert len(found.table) == 1
    assert np.isfinite(found.table).all()


def test_surfaces_are_flat_and_their_normals_upright_or_not():
    shape = of_parts("shape")
    for part, upright in (("floor", 1), ("ceiling", 1), ("wall", 0), ("table", 1)):
        z, linearity, planarity, variation, thickness, axis = shape[part][:6]
        assert z == pytest.approx(upright, abs=0.02)
        assert planarity > 0.5 > linearity
        assert variation < 0.05
        assert thickness < 0.1
        if upright:
            assert axis < 0.1


def test_a_wire_is_linear_at_every_scale():
    wire = grid((0, 6), 0.0, 0.0, step=0.01)
    found = describe_surroundings(wire, ("shape",)).table.reshape(-1, 4, 6)
    assert (np.median(found[:, :, 1], axis=0) > 0.95).all()


def test_columns_tell_what_is_below_and_above():
    column = of_parts("column")
    below, above, filled = column["table"][:3]
    assert below == pytest.approx(0.74, abs=0.05)
    assert above == pytest.approx(2.5 - 0.74, abs=0.05)
    assert filled == pytest.approx(0.3)  # floor, table top, ceiling
    assert column["wall"][2] == pytest.approx(2.6, abs=0.11)
    assert column["floor"][0] == pytest.approx(0, abs=0.03)
    assert column["ceiling"][1] == pytest.approx(0, abs=0.03)


def test_the_boundary_is_where_the_scan_ends():
    boundary = of_parts("boundary")
    assert boundary["wall"][0] <= 0.1
    assert boundary["table"][0] == pytest.approx(1.25, abs=0.15)


def test_gaps_and_holes_of_the_footprint_are_no_boundary():
    ring = FLOOR[~((np.abs(FLOOR[:, 0] - 2) < 0.8) & (np.abs(FLOOR[:, 1] - 1.5) < 0.8))]
    found = describe_surroundings(ring, ("boundary",))
    inner = np.abs(ring[:, 0] - 2) < 0.85
    assert found.table[found.number][inner & (np.abs(ring[:, 1] - 1.5) < 0.5)].min() > 0.9


def test_a_segment_is_one_surface():
    segment = of_parts("segment")
    assert segment["table"][LOWEST] == pytest.approx(0.74, abs=0.03)
    assert segment["table"][HIGHEST] == pytest.approx(0.74, abs=0.03)
    assert segment["wall"][HIGHEST] - segment["wall"][LOWEST] > 2
    assert segment["floor"][SIZE] > segment["table"][SIZE]
    assert segment["wall"][UPRIGHT] < 0.05 < 0.95 < segment["ceiling"][UPRIGHT]


@given(st.integers(0, 2**32 - 1))
def test_segments_of_the_second_tolerance_lie_within_those_of_the_first(seed):
    random = np.random.default_rng(seed)
    cloud = random.random((2000, 3)) * [1.5, 1.5, 0.03] + random.normal(scale=0.003, size=(2000, 3))
    loose, tight = np.split(describe_surroundings(cloud, ("segment",)).table, 2, axis=1)
    assert (tight[:, SIZE] <= loose[:, SIZE]).all()
    assert (tight[:, LOWEST] >= loose[:, LOWEST]).all()
    assert (tight[:, HIGHEST] <= loose[:, HIGHEST]).all()


@given(st.integers(0, 2**32 - 1))
def test_places_far_from_the_origin_make_no_difference(seed):
    random = np.random.default_rng(seed)
    cloud = random.random((300, 3)) * [2, 2, 1]
    cloud[0] = 0  # cells are counted from the lowest corner, which rounding must not move
    far = np.array([4096.0, -8192.0, 128.0])
    one, other = (describe_surroundings(xyz, SURROUNDINGS) for xyz in (cloud, cloud + far))
    if np.array_equal(one.number, other.number):  # but for points on the border of two cells
        np.testing.assert_allclose(one.table, other.table, atol=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_axes_are_those_of_the_covariance(seed, count):
    random = np.random.default_rng(seed)
    points = random.normal(size=(50, 3)) * random.uniform(0.01, 1, 3)
    neighbours = random.integers(0, 50, (30, count))
    values, least, most = find_axes(points, neighbours)
    around = points[neighbours] - points[neighbours].mean(axis=1, keepdims=True)
    covariance = np.einsum("mki,mkj->mij", around, around) / count
    expected, _ = np.linalg.eigh(covariance)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    for place, axis in ((0, least), (2, most)):
        np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1, atol=1e-9)
        moved = np.einsum("mij,mj->mi", covariance, axis)
        np.testing.assert_allclose(moved, values[:, place, None] * axis, atol=1e-7)


def test_every_description_has_its_width():
    assert tuple(DESCRIPTIONS) == SURROUNDINGS
