import numpy as np
import pytest

from point2node.show.shown_points import spacing
from point2node.show.splatting import DEPTH, DISC, FINER, REACHES, splat, stand_at_corner


def splat_naively(xyz, view, pixels):
    """The nearest of the points whose discs cover a pixel, pixel by pixel."""
    width, height = (FINER * side for side in pixels)
    u, v, depth = xyz @ view.across, xyz @ view.up, xyz @ view.back
    margin = 8 * FINER
    scale = min((width - 2 * margin) / np.ptp(u), (height - 2 * margin) / np.ptp(v))
    columns = np.rint(width / 2 + (u - (u.min() + u.max()) / 2) * scale)
    rows = np.rint(height / 2 - (v - (v.min() + v.max()) / 2) * scale)
    radius = min(max(DISC * spacing(xyz) * scale / 2, 0.5), margin - 1)
    shown = np.full((height, width), -1)
    for row, column in np.ndindex(height, width):
        covering = np.flatnonzero((rows - row) ** 2 + (columns - column) ** 2 <= radius**2)
        if len(covering):
            shown[row, column] = covering[depth[covering].argmax()]
    return shown


@pytest.mark.parametrize("points", [3, 40, 400])
def test_every_pixel_shows_the_nearest_of_the_points_that_cover_it(points):
    xyz = np.random.default_rng(points).random((points, 3)) * [2, 3, 1]
    view = stand_at_corner(xyz)
    assert np.array_equal(splat(xyz, view, (60, 40)).shown, splat_naively(xyz, view, (60, 40)))


def test_the_axes_of_a_view_are_orthonormal_with_the_viewer_above():
    for size in ([2, 1, 1], [1, 2, 1]):
        view = stand_at_corner(np.array([[0, 0, 0], size]))
        axes = np.stack([view.across, view.up, view.back])
        assert np.allclose(axes @ axes.T, np.eye(3))
        assert np.linalg.det(axes) == pytest.approx(1)
        assert view.back[2] > 0


def test_pixels_without_points_are_transparent_and_edges_keep_their_colour():
    xyz = np.random.default_rng(0).random((300, 3))
    picture = splat(xyz, stand_at_corner(xyz), (200, 150)).paint(np.full((300, 3), [200, 100, 0], np.uint8))
    assert picture.shape == (150, 200, 4)
    assert (picture[0] == 0).all()
    seen = picture[picture[..., 3] > 0].astype(float)
    assert set(np.unique(picture[..., 3])) > {0, 255}  # smooth edges
    assert np.allclose(seen[:, 1], seen[:, 0] / 2, atol=1)  # darker or not, never mixed with black
    assert (seen[:, 2] == 0).all()


def test_what_lies_behind_an_edge_is_darker():
    random = np.random.default_rng(0)
    floor = np.column_stack([random.random((20000, 2)) * 4, np.zeros(20000)])
    table = np.column_stack([random.random((5000, 2)) + 1.5, np.full(5000, 1.0)])
    xyz = np.concatenate([floor, table])
    splats = splat(xyz, stand_at_corner(xyz), (200, 150))
    on_floor = (splats.shown >= 0) & (splats.shown < 20000)
    on_table = splats.shown >= 20000
    assert splats.light[on_floor].min() < 0.6
    assert np.median(splats.light[on_floor]) > 0.95
    assert np.median(splats.light[on_table]) > 0.95


@pytest.mark.parametrize("points", [1, 5])
def test_points_at_one_place_are_drawn(points):
    xyz = np.full((points, 3), 3.0)
    assert (splat(xyz, stand_at_corner(xyz), (30, 30)).shown >= 0).any()


def test_colours_are_the_mean_of_the_fine_pixels_that_show_a_point():
    random = np.random.default_rng(3)
    xyz, colours = random.random((500, 3)), random.integers(0, 256, (500, 3)).astype(np.uint8)
    splats = splat(xyz, stand_at_corner(xyz), (50, 40))

    def coarse(fine):
        return sum(fine[down::FINER, right::FINER] for down in range(FINER) for right in range(FINER)) / FINER**2

    share = coarse((splats.shown >= 0).astype(float))[..., None]
    wanted = coarse(colours[splats.shown] * splats.light[..., None].astype(float)) / np.maximum(share, 1e-6)
    painted = splats.paint(colours).astype(float)
    assert np.abs(painted - np.concatenate([wanted, 255 * share], axis=-1)).max() <= 0.51


def test_light_is_that_of_a_pixel_by_pixel_twin():
    xyz = np.random.default_rng(4).random((60, 3)) * [1, 2, 1]
    view = stand_at_corner(xyz)
    splats, depth = splat(xyz, view, (24, 20)), xyz @ view.back
    height, width = splats.shown.shape

    def depth_at(row, column):
        inside = 0 <= row < height and 0 <= column < width and splats.shown[row, column] >= 0
        return depth[splats.shown[row, column]] if inside else -1e9

    size = np.ptp(xyz, axis=0).max()
    for row, column in np.argwhere(splats.shown >= 0):
        shade = 0.0
        for step in FINER * np.array(REACHES):
            for down, right in ((0, step), (step, 0), (step, step), (step, -step)):
                both = (depth_at(row + down, column + right) + depth_at(row - down, column - right)) / 2
                shade += np.clip(both - depth_at(row, column), 0, 0.03 * size)
        assert splats.light[row, column] == pytest.approx(max(np.exp(-DEPTH / size * shade), 0.3), abs=1e-5)
    assert not splats.light[splats.shown < 0].any()
