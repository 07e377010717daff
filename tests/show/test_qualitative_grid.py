import matplotlib.image
import numpy as np
import pytest

from point2node.show import qualitative_grid
from point2node.show.qualitative_grid import GridRow, draw_grid
from tests.show.scenes import box_room


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(qualitative_grid, "PIXELS", (210, 150))


def draw(path, *rows):
    draw_grid(rows, box_room().classes, path)
    return matplotlib.image.imread(path)


def test_rows_are_rooms_and_columns_are_what_there_is(tmp_path):
    scene = box_room()
    full = {"rgb": scene.rgb, "ground truth": scene.truth, "baseline": scene.labels, "Point2Node": scene.truth}
    two = draw(tmp_path / "two.png", GridRow("a", scene.xyz, full), GridRow("b", scene.xyz, full))
    one = draw(tmp_path / "one.png", GridRow("a", scene.xyz, {"ground truth": scene.truth}))
    assert 3.5 * one.shape[1] < two.shape[1] < 4 * one.shape[1]  # the name of a row is there once
    assert two.shape[0] > one.shape[0] + 100  # though its legend needs fewer lines


def test_a_heading_that_a_row_lacks_leaves_its_place_empty(tmp_path):
    scene = box_room()
    picture = draw(
        tmp_path / "grid.png",
        GridRow("a", scene.xyz, {"rgb": scene.rgb, "Point2Node": scene.labels}),
        GridRow("b", scene.xyz, {"Point2Node": scene.labels}),
    )
    height, width = picture.shape[0] // 2, picture.shape[1] // 2
    busy = [
        np.ptp(part, axis=(0, 1)).max() for part in (picture[:height, 40:width], picture[height + 40 : -60, 60:width])
    ]
    assert busy[0] > 0.5
    assert busy[1] < 0.01
