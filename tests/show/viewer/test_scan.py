import numpy as np
import pytest

from point2node.core.point_cloud import PointCloud
from point2node.inference.labeller import Options
from point2node.show.shown_points import ceiling_cut
from point2node.show.viewer.scan import first_cut, place_scan
from tests.show.scenes import CHAIR, box_room, labelled_box
from tests.show.viewer.weights import small_room


def test_a_small_scan_is_drawn_whole_and_points_without_a_position_are_left_out():
    scan = place_scan("room.ply", ".ply", small_room(lost=5), Options())
    assert not scan.is_thinned
    assert scan.shown.tolist() == list(range(5, 600))
    assert np.isfinite(scan.xyz).all()


def test_a_large_scan_is_thinned_to_the_limit_and_always_to_the_same_points():
    cloud = small_room(1000)
    scan, again = (place_scan("room.ply", ".ply", cloud, Options(), most=300) for _ in range(2))
    assert scan.is_thinned
    assert len(np.unique(scan.shown)) == 300
    assert (scan.shown == again.shown).all()
    assert (scan.at(scan.shown) == scan.xyz).all()


def test_points_lie_in_metres_upright_with_the_floor_at_zero():
    cloud = small_room()
    turned = cloud.with_(xyz=1000 * cloud.xyz[:, [0, 2, 1]] * [1, 1, -1] + 7e6)
    scan = place_scan("room.ply", ".ply", turned, Options(scale=0.001, up="y"))
    assert np.allclose(np.ptp(scan.xyz, axis=0), np.ptp(cloud.xyz, axis=0), atol=1e-4)
    assert abs(scan.xyz[:, 2].min()) < 1e-5


def test_a_labelled_scan_is_cut_where_its_page_is():
    labelled = labelled_box()
    scan = place_scan("box.ply", ".ply", labelled.cloud, Options())
    low, high, cut = first_cut(scan, labelled)
    assert (low, high) == (0, pytest.approx(3))
    assert cut == pytest.approx(ceiling_cut(labelled), abs=1e-4)
    assert first_cut(scan, labelled_box(labels=np.full(20000, CHAIR, np.int32))) == first_cut(scan)


def test_before_labels_a_room_is_cut_below_its_top_and_a_low_thing_is_not():
    _, high, cut = first_cut(place_scan("box.ply", ".ply", PointCloud(box_room(20000).xyz), Options()))
    assert cut == pytest.approx(2.4, abs=0.02)
    _, high, cut = first_cut(place_scan("low.ply", ".ply", PointCloud(box_room(20000).xyz * [1, 1, 0.5]), Options()))
    assert cut == high
