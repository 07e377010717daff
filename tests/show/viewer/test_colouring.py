import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options
from point2node.show.viewer.colouring import MEANINGS, fade, paint, row_shares, ways
from point2node.show.viewer.scan import place_scan
from tests.show.viewer.weights import small_room


def labelled_scan(**changes):
    cloud = small_room(**changes)
    random = np.random.default_rng(1)
    labelled = LabelledCloud(
        cloud,
        random.integers(0, 13, len(cloud)).astype(np.int32),
        random.random(len(cloud), np.float32),
        random.random(len(cloud), np.float32),
        S3DIS,
        "tiny",
    )
    return place_scan("room.ply", ".ply", cloud, Options()), labelled


def test_a_faded_colour_is_nearer_to_the_paper():
    colours = np.array([[0, 128, 255]], np.uint8)
    assert (fade(colours, 1.0) == colours).all()
    assert fade(colours, 0.0).tolist() == [[246, 246, 246]]


def test_a_row_is_painted_by_its_logarithm_from_its_weakest_to_its_strongest():
    row = np.geomspace(1e-4, 1e-1, 301)
    shares, low, high = row_shares(row)
    assert (high, low) == (0.1, pytest.approx(np.quantile(row, 0.02)))
    assert shares.min() == 0
    assert shares.max() == 1
    assert (np.diff(shares[10:]) > 0).all()


def test_an_even_row_is_painted_evenly():
    shares, low, high = row_shares(np.full(512, 1 / 512, np.float32))
    assert low < high
    assert np.ptp(shares) == 0


def test_every_way_to_colour_has_a_meaning_and_a_colour_for_every_drawn_point():
    scan, labelled = labelled_scan(lost=7)
    assert ways(scan, labelled)[0] == "class"
    for way in ways(scan, labelled):
        assert MEANINGS[way]
        colours = paint(scan, labelled, way)
        assert colours.shape == (593, 3)
        assert colours.dtype == np.uint8


def test_a_scan_without_colours_is_shown_by_its_height():
    scan, labelled = labelled_scan(colour=False)
    assert "colour of the scan" not in ways(scan, labelled)
    assert ways(scan, None) == ("height",)
    assert (paint(scan, None, "height") == paint(scan, labelled, "height")).all()


def test_before_labels_no_way_that_needs_them_is_offered():
    scan, _ = labelled_scan()
    assert ways(scan, None) == ("colour of the scan", "height")
