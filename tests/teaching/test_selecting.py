import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.teaching.selecting import (
    camera_of,
    find_segments,
    rectangle,
    select_brush,
    select_lasso,
    select_point,
    select_segment,
)

FORWARD = (1.0, 0.0, 0.0, 0.0)
"""The camera looks along z, x to the right, y down."""


def grid(*sides, step=0.03):
    axes = [np.arange(0, side, step) if side else np.zeros(1) for side in sides]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def room():
    """A floor, a wall and a table top; which is which."""
    floor, wall, top = grid(3, 3, 0), grid(0, 3, 2), grid(1, 1, 0) + np.array([1, 1, 0.75])
    return np.concatenate([floor, wall, top]), np.repeat([0, 1, 2], [len(floor), len(wall), len(top)])


def test_a_click_on_a_table_top_selects_the_top_and_nothing_of_floor_and_wall():
    xyz, truth = room()
    segments = find_segments(xyz)
    middle = int(np.argmin(np.linalg.norm(xyz - [1.5, 1.5, 0.75], axis=1)))
    selected = select_segment(segments, middle)
    assert (truth[selected] == 2).all()
    assert len(selected) > 0.9 * (truth == 2).sum()


def test_floor_and_wall_are_different_segments():
    xyz, _ = room()
    segments = find_segments(xyz)
    on_floor, on_wall = (int(np.argmin(np.linalg.norm(xyz - place, axis=1))) for place in ([2, 2, 0], [0, 1.5, 1]))
    assert segments[on_floor] != segments[on_wall]


def test_rough_things_are_segments_of_at_most_a_cube():
    random = np.random.default_rng(0)
    xyz = random.uniform(0, 1.5, (20_000, 3))
    segments = find_segments(xyz)
    for number in range(segments.max() + 1):
        assert np.ptp(xyz[segments == number], axis=0).max() < 0.5


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200), st.integers(0, 5), st.floats(0.01, 5))
def test_segments_cover_every_point_once_without_gaps_in_their_numbers(count, seed, size):
    xyz = np.random.default_rng(seed).uniform(0, size, (count, 3)).astype(np.float32)
    segments = find_segments(xyz)
    assert segments.shape == (count,)
    assert np.array_equal(np.unique(segments), np.arange(segments.max() + 1))
    for point in range(0, count, 17):
        assert point in select_segment(segments, point)


def test_one_point_and_no_point_have_segments_too():
    assert find_segments(np.zeros((1, 3))).tolist() == [0]
    assert find_segments(np.empty((0, 3))).tolist() == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.floats(0, 3))
def test_the_brush_takes_the_points_within_its_radius(point, radius):
    xyz = np.random.default_rng(1).uniform(0, 2, (100, 3))
    near = np.linalg.norm(xyz - xyz[point], axis=1)
    selected = select_brush(xyz, point, radius)
    assert point in selected
    assert near[selected].max() <= radius + 1e-9
    assert (np.delete(near, selected) >= radius - 1e-9).all()


def test_a_single_point_is_itself():
    assert select_point(7).tolist() == [7]


def test_a_point_ahead_of_the_camera_is_in_the_middle_of_the_screen():
    camera = camera_of((0, 0, -2), FORWARD, np.pi / 2, 1.5)
    places, depth = camera.project(np.array([[0, 0, 0], [3, 0, 0], [0, 2, 0], [0, 0, -3]], float))
    assert places[:3].tolist() == [[0.5, 0.5], [1.0, 0.5], [0.5, 1.0]]
    assert depth.tolist() == [2, 2, 2, -1]
    assert np.isnan(places[3]).all()


def test_a_lasso_takes_what_is_inside_it_and_nothing_behind_the_camera():
    camera = camera_of((0, 0, -2), FORWARD, np.pi / 2, 1.0)
    xyz = np.array([[0.1, 0.1, 0], [1.5, 0, 0], [0.1, 0.1, -4], [0.2, 0.1, 3]])
    triangle = [(0.4, 0.4), (0.8, 0.5), (0.4, 0.8)]
    assert select_lasso(xyz, camera, triangle).tolist() == [0, 3]


def test_a_lasso_leaves_out_what_is_hidden_behind_the_foremost_points():
    camera = camera_of((0, 0, -2), FORWARD, np.pi / 2, 1.0)
    front, wall = grid(0.5, 0.5, 0) - [0.25, 0.25, 0], grid(6, 6, 0) - [3, 3, -2]
    xyz = np.concatenate([front, wall])
    selected = select_lasso(xyz, camera, rectangle((0.45, 0.45), (0.55, 0.55)), behind=0.3)
    assert len(selected)
    assert (selected < len(front)).all()
    assert (select_lasso(xyz, camera, rectangle((0.45, 0.45), (0.55, 0.55))) >= len(front)).any()


@pytest.mark.parametrize("polygon", [[], [(0, 0), (1, 1)], [(0.5, 0.5)] * 3])
def test_a_lasso_without_an_area_selects_nothing(polygon):
    camera = camera_of((0, 0, -2), FORWARD, np.pi / 2, 1.0)
    assert not len(select_lasso(grid(1, 1, 0) + np.array([0.01, 0.01, 0]), camera, polygon))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 2), st.floats(0.3, 3))
def test_the_whole_screen_holds_exactly_the_points_whose_place_is_on_it(seed, fov, aspect):
    random = np.random.default_rng(seed)
    camera = camera_of(random.normal(size=3), random.normal(size=4), fov, aspect)
    xyz = random.normal(size=(60, 3)) * 3
    places, depth = camera.project(xyz)
    inside = (
        (depth > 0) & (np.nan_to_num(places, nan=-1) > 0).all(axis=1) & (np.nan_to_num(places, nan=2) < 1).all(axis=1)
    )
    assert select_lasso(xyz, camera, rectangle((0, 0), (1, 1))).tolist() == np.flatnonzero(inside).tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 2), st.floats(0.3, 3), st.floats(0.1, 20))
def test_a_place_on_the_screen_is_where_its_point_is_seen(seed, fov, aspect, ahead):
    random = np.random.default_rng(seed)
    camera = camera_of(random.normal(size=3), random.normal(size=4), fov, aspect)
    drawn = random.uniform(size=(7, 2))
    places, depth = camera.project(camera.unproject(drawn, ahead))
    assert np.allclose(places, drawn)
    assert np.allclose(depth, ahead)


def test_a_camera_that_moved_turned_or_changed_its_shape_sees_otherwise():
    camera = camera_of((0, 0, -2), FORWARD, 1.0, 1.5)
    assert camera.sees_as(camera_of((0, 0, -2.0001), FORWARD, 1.0, 1.5))
    assert not camera.sees_as(camera_of((0, 0, -2.1), FORWARD, 1.0, 1.5))
    assert not camera.sees_as(camera_of((0, 0, -2), (1, 0.1, 0, 0), 1.0, 1.5))
    assert not camera.sees_as(camera_of((0, 0, -2), FORWARD, 1.1, 1.5))
    assert not camera.sees_as(camera_of((0, 0, -2), FORWARD, 1.0, 1.2))
