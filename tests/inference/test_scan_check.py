import numpy as np
import pytest

from point2node.core.point_cloud import PointCloud
from point2node.geometry.frames import UPWARDS
from point2node.inference.labeller import Options
from point2node.inference.scan_check import apply_fixes, choose_scale, examine_cloud
from point2node.rooms import RoomSettings, generate_room
from tests.inference.labellers import height_labeller


@pytest.fixture(scope="module")
def rooms():
    whole = RoomSettings(layouts=("open_office",), scanners=("panoramic", "laser"), lost_ceiling=0, cut_room=0)
    return [generate_room(5, index, points=30_000, settings=whole) for index in range(4)]


@pytest.fixture(scope="module")
def labeller():
    return height_labeller()


def doubts(cloud, labeller, options=None):
    return [doubt.option or doubt.text for doubt in examine_cloud(cloud, labeller, options or Options()).doubts]


def test_a_room_in_metres_raises_no_doubt(rooms, labeller):
    for room in rooms:
        card = examine_cloud(room, labeller, Options())
        assert [doubt for doubt in card.doubts if doubt.fix is not None] == []
        assert card.extent[2] == pytest.approx(np.ptp(room.xyz[:, 2]), rel=0.1)
        assert card.coloured
        assert 0.005 < card.spacing < 0.1
        assert abs(card.floor) < 0.5


@pytest.mark.parametrize(("scale", "option"), [(0.001, "--scale 0.001"), (0.01, "--scale 0.01")])
def test_millimetres_and_centimetres_are_noticed_and_fixed(rooms, labeller, scale, option):
    for room in rooms:
        cloud = room.with_(xyz=room.xyz / scale)
        card = examine_cloud(cloud, labeller, Options())
        assert option in [doubt.option for doubt in card.doubts]
        mended, done = apply_fixes(Options(), card)
        assert done == [option]
        assert mended.scale == pytest.approx(scale)
        assert not [one for one in examine_cloud(cloud, labeller, mended).doubts if one.fix is not None]


@pytest.mark.parametrize("up", ["x", "y"])
def test_another_vertical_is_noticed(rooms, labeller, up):
    found = [f"--up {up}" in doubts(room.with_(xyz=room.xyz @ UPWARDS[up]), labeller) for room in rooms]
    assert sum(found) >= 3
    room = rooms[found.index(True)]
    assert f"--up {up}" not in doubts(room.with_(xyz=room.xyz @ UPWARDS[up]), labeller, Options(up=up))


def test_the_floor_is_where_it_is(rooms, labeller):
    cloud = rooms[0].with_(xyz=rooms[0].xyz + np.array([0, 0, 120.0]))
    low = np.quantile(cloud.xyz[:, 2], 0.005)
    assert examine_cloud(cloud, labeller, Options()).floor == pytest.approx(low, abs=0.3)


def test_a_scan_without_colour_is_labelled_by_shape_and_that_is_said(rooms, labeller):
    assert any(text.startswith("no colour") for text in doubts(rooms[0].with_(rgb=None), labeller))
    assert not any("colour" in text for text in doubts(rooms[0].with_(rgb=None), height_labeller(features=())))


def test_one_colour_for_all_is_worse_than_none(rooms, labeller):
    grey = rooms[0].with_(rgb=np.full((len(rooms[0]), 3), 255))
    assert "--no-color" in doubts(grey, labeller)
    assert "--no-color" not in doubts(grey, labeller, Options(color=False))


def test_an_outdoor_tile_is_said_to_be_one(labeller):
    random = np.random.default_rng(0)
    tile = PointCloud(random.uniform(0, [400, 400, 25], (20_000, 3)))
    assert any("outdoor" in text for text in doubts(tile, labeller))
    assert any("apart" in text for text in doubts(tile, labeller))


@pytest.mark.parametrize("xyz", [np.zeros((1, 3)), np.ones((700, 3)), np.zeros((3, 3)), np.eye(3)])
def test_tiny_and_degenerate_clouds_get_a_line_and_go_on(xyz, labeller):
    card = examine_cloud(PointCloud(xyz), labeller, Options())
    assert card.doubts
    assert str(card)
    assert all("\n" not in str(doubt) for doubt in card.doubts)


def test_points_without_a_position_and_points_below_the_floor_are_counted(rooms, labeller):
    xyz = rooms[0].xyz.copy()
    xyz[:3] = np.nan
    xyz[3:8, 2] -= 20
    texts = doubts(rooms[0].with_(xyz=xyz), labeller)
    assert any(text.startswith("3 points have no position") for text in texts)
    assert any(text.startswith("5 points lie more than 0.3 m below") for text in texts)


def test_two_fixes_at_once_leave_each_other_alone(rooms, labeller):
    cloud = rooms[0].with_(xyz=rooms[0].xyz * 1000, rgb=np.full((len(rooms[0]), 3), 255))
    mended, done = apply_fixes(Options(), examine_cloud(cloud, labeller, Options()))
    assert done == ["--scale 0.001", "--no-color"]
    assert (mended.scale, mended.color) == (0.001, False)


@pytest.mark.parametrize("units", [1, 100, 1000])
def test_a_room_without_a_stated_unit_gets_the_one_that_makes_it_a_room(rooms, labeller, units):
    for room in rooms:
        settled, why = choose_scale(room.with_(xyz=room.xyz * units), labeller, Options(up="z"))
        assert settled == Options(scale=1 / units, up="z")
        assert bool(why) == (units != 1)


def test_a_unit_that_is_given_or_stated_is_never_guessed(rooms, labeller):
    big = rooms[0].with_(xyz=rooms[0].xyz * 1000)
    assert choose_scale(big, labeller, Options(scale=1.0)) == (Options(scale=1.0), "")
    assert choose_scale(big.with_(unit=1.0), labeller, Options()) == (Options(scale=1.0), "")
    settled, why = choose_scale(rooms[0].with_(unit=0.3048), labeller, Options())
    assert settled.scale == 0.3048
    assert "coordinate system" in why


def test_weights_of_other_scenes_and_clouds_of_a_few_points_get_metres(rooms):
    big = rooms[0].with_(xyz=rooms[0].xyz * 1000)
    assert choose_scale(big, height_labeller(dataset="folder"), Options())[0].scale == 1.0
    assert choose_scale(big[:20], height_labeller(), Options())[0].scale == 1.0
    assert choose_scale(PointCloud(np.empty((0, 3))), height_labeller(), Options())[0].scale == 1.0
