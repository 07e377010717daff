import numpy as np
import pytest

from point2node.show.shown_points import spacing
from point2node.show.splatting import DISC, FINER, splat, stand_at_corner


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
