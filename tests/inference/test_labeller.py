from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.geometry.frames import UPWARDS, place
from point2node.inference.labeller import Options, SceneLabeller, thin_out, turn_about_z
from point2node.inference.looks import QUALITIES, TURNS
from point2node.inference.strips import Plan
from point2node.weights.trained import Trained
from tests.inference.labellers import STEP, HeightNetwork, card, height_labeller, real_labeller


def room(points=3000, seed=0, extent=(4.0, 3.0, 2.5), **parts):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, extent, (points, 3))
    xyz[0] = 0  # the floor
    return PointCloud(xyz, rgb=random.integers(0, 256, (points, 3)), **parts)


def by_height(heights):
    return np.clip(np.floor(np.float32(heights) / STEP), 0, 12)


def agreement(labels, heights):
    """The share of right labels, points on the border between two classes left aside."""
    border = np.abs(heights / STEP - np.rint(heights / STEP)) < 1e-3
    return 1 - (labels != by_height(heights))[~border].sum() / len(labels)


@given(st.integers(1, 900), st.integers(0, 1000), st.sampled_from([0.3, 5.0, 60.0]))
@settings(max_examples=15, deadline=None)
def test_every_point_gets_its_own_label_in_the_order_of_the_cloud(points, seed, extent):
    cloud = room(points, seed, (extent, extent, 2.5))
    labelled = height_labeller().label(cloud)
    heights = cloud.xyz[:, 2] - cloud.xyz[:, 2].min()
    assert agreement(labelled.labels, heights) == 1
    assert len(labelled) == points
    assert labelled.cloud is cloud
    assert (labelled.confidence > 0.9).all()
    assert ((labelled.entropy >= 0) & (labelled.entropy < 0.1)).all()
    assert sum(labelled.counts.values()) == points


def test_places_are_those_of_the_labels_in_the_class_list_whatever_their_values():
    cloud = room(300)
    xyz = cloud.xyz.copy()
    xyz[5] = np.nan
    classes = [asdict(one) | {"value": 100 - 7 * number} for number, one in enumerate(card().classes)]
    labelled = height_labeller(classes=classes).label(cloud.with_(xyz=xyz))
    assert labelled.places[5] == -1
    values = np.array([one["value"] for one in classes])
    kept = np.arange(300) != 5
    assert np.array_equal(values[labelled.places[kept]], labelled.labels[kept])
    assert len(set(labelled.places[kept])) > 3


def test_map_coordinates_lose_nothing():
    cloud = room()
    far = cloud.with_(xyz=cloud.xyz + np.array([400_000, 5_000_000, 300]))
    assert np.array_equal(height_labeller().label(far).labels, height_labeller().label(cloud).labels)


def test_points_without_a_position_stay_and_are_unlabelled():
    cloud = room(500)
    xyz = cloud.xyz.copy()
    xyz[[3, 99]] = np.nan
    xyz[7, 1] = np.inf
    labelled = height_labeller().label(cloud.with_(xyz=xyz))
    missing = np.isin(np.arange(500), [3, 7, 99])
    assert (labelled.labels[missing] == 255).all()
    assert not labelled.confidence[missing].any()
    assert agreement(labelled.labels[~missing], xyz[~missing, 2]) == 1


@pytest.mark.parametrize("up", list(UPWARDS))
@pytest.mark.parametrize("scale", [1.0, 0.001, 0.3048])
def test_unit_and_axis_are_put_right_for_the_network_alone(up, scale):
    cloud = room()
    turned = cloud.with_(xyz=cloud.xyz @ UPWARDS[up] / scale)
    labelled = height_labeller().label(turned, Options(scale=scale, up=up))
    assert agreement(labelled.labels, cloud.xyz[:, 2]) > 0.999
    assert np.array_equal(labelled.cloud.xyz, turned.xyz)


def test_turning_never_mirrors():
    for matrix in UPWARDS.values():
        assert np.linalg.det(matrix) == pytest.approx(1)


@pytest.mark.parametrize("colour", ["none in the cloud", "not wanted"])
def test_without_colour_the_network_is_given_the_middle_grey(colour):
    labeller = height_labeller()
    cloud = room(300)
    given_cloud, wanted = (cloud.with_(rgb=None), True) if colour == "none in the cloud" else (cloud, False)
    labelled = labeller.label(given_cloud, Options(color=wanted))
    assert all(not colours.any() for colours in labeller.network.colours)
    assert labelled.protocol["colour"] == "none"
    labeller.network.colours.clear()
    assert labeller.label(cloud).protocol["colour"] == "used"
    assert any(colours.any() for colours in labeller.network.colours)


def test_without_colour_weights_that_also_take_normals_are_given_both():
    cloud = PointCloud(np.random.default_rng(0).random((100, 3)), normals=np.tile([0.0, 0.0, 1.0], (100, 1)))
    labeller = height_labeller(features=("rgb", "normals"))
    labeller.label(cloud)
    for features in labeller.network.colours:
        assert features.shape[-1] == 6
        assert not features[..., :5].any()
        assert (features[..., 5] == 1).all()


def test_normals_that_a_cloud_lacks_are_estimated_in_the_frame_of_the_network():
    random = np.random.default_rng(0)
    floor = np.column_stack([random.uniform(0, 2, (4000, 2)), np.zeros(4000)])
    for up, matrix in UPWARDS.items():
        labeller = height_labeller(features=("normals",))
        labeller.label(PointCloud(floor @ matrix), Options(up=up))
        for features in labeller.network.colours:
            np.testing.assert_allclose(features, torch.tensor([0.0, 0.0, 1.0]).expand_as(features), atol=0.01)


def test_normals_of_the_file_are_turned_upright_and_lose_their_sign():
    cloud = PointCloud(np.random.default_rng(0).random((100, 3)), normals=np.tile([0.0, -0.6, 0.8], (100, 1)))
    labeller = height_labeller(features=("normals",))
    labeller.label(cloud, Options(up="y"))
    for features in labeller.network.colours:
        np.testing.assert_allclose(features, torch.tensor([0.0, 0.8, 0.6]).expand_as(features), atol=1e-6)


def test_heights_are_counted_from_the_floor_whatever_the_frame_of_the_scan():
    cloud = room(500)
    for lift in (0.0, -37.5):
        labeller = height_labeller(features=("height",))
        labeller.label(cloud.with_(xyz=cloud.xyz + np.array([0, 0, lift])))
        heights = torch.cat([features.flatten() for features in labeller.network.colours])
        assert heights.min() == pytest.approx(0, abs=1e-4)
        assert heights.max() == pytest.approx(np.ptp(cloud.xyz[:, 2]), abs=1e-4)


def test_relative_colours_do_not_see_the_light():
    cloud = room(500)
    dark = cloud.with_(rgb=(cloud.rgb * 0.4 + np.array([30, 10, 0])).round().astype(np.uint8))
    given = []
    for one in (cloud, dark):
        labeller = height_labeller(features=("relative_rgb",))
        labeller.label(one)
        given.append(torch.cat([features.flatten() for features in labeller.network.colours]))
    assert (given[0] - given[1]).abs().max() < 0.02
    assert given[0].abs().max() <= 0.5
    assert given[0].std() > 0.2


def test_weights_for_shapes_do_not_label_scenes():
    with pytest.raises(InputError, match="point2node classify"):
        SceneLabeller(Trained("shapes", HeightNetwork(), card(task="classification"), "best"))


@pytest.mark.parametrize("thin", [0.1, 0.5])
def test_probabilities_of_points_that_are_thinned_away_are_interpolated_from_the_nearest_three(thin):
    cloud = room(4000)
    labelled = height_labeller().label(cloud, Options(thin=thin, quality="best"))
    seen = thin_out(_placed(cloud), thin)
    assert len(seen) < 4000
    probabilities = torch.nn.functional.one_hot(torch.from_numpy(by_height(cloud.xyz[seen, 2]).astype(int)), 13) * 9.0
    distances = np.linalg.norm(cloud.xyz[:, None] - cloud.xyz[None, seen], axis=-1)
    nearest = np.argsort(distances, axis=1)[:, :3]
    weights = 1 / np.maximum(np.take_along_axis(distances, nearest, axis=1), 1e-9)
    weights /= weights.sum(axis=1, keepdims=True)
    mean = (weights[..., None] * probabilities.softmax(dim=1).numpy()[nearest]).sum(axis=1)
    assert (labelled.labels == mean.argmax(axis=1)).mean() > 0.995
    assert np.median(np.abs(labelled.confidence - mean.max(axis=1))) < 1e-4
    assert (labelled.labels[seen] == by_height(cloud.xyz[seen, 2])).mean() > 0.995


@pytest.mark.parametrize("quality", QUALITIES)
def test_labels_stay_with_their_points_where_no_two_share_a_cube(quality):
    cloud = room(400)
    labelled = height_labeller(turn=180.0).label(cloud, Options(thin=0.001, quality=quality))
    assert len(thin_out(_placed(cloud), 0.001)) == 400
    sure = labelled.confidence > 0.9  # others are interpolated between two classes
    assert sure.mean() > 0.3
    assert agreement(labelled.labels[sure], cloud.xyz[sure, 2]) > 0.98


def _placed(cloud):
    from point2node.geometry.frames import place

    return place(cloud)


def test_strips_change_nothing_for_a_network_that_sees_single_points(monkeypatch):
    cloud = room(6000, extent=(30.0, 6.0, 2.5))
    whole = height_labeller().label(cloud)
    monkeypatch.setattr("point2node.inference.labeller.plan_memory", lambda *_, **__: Plan(700, 0, 0))
    strips = height_labeller().label(cloud)
    assert np.array_equal(whole.labels, strips.labels)


def test_more_votes_look_again():
    labeller = height_labeller()
    once = labeller.label(room())
    asked = len(labeller.network.colours)
    often = labeller.label(room(), Options(votes=3))
    assert len(labeller.network.colours) - asked > 4 * asked  # and everywhere, at two offsets
    assert np.array_equal(once.labels, often.labels)


def test_weights_that_know_turned_clouds_are_asked_about_a_turned_one_each_time(monkeypatch):
    cloud = room(6000, extent=(30.0, 6.0, 2.5))
    once, told = height_labeller().label(cloud), []
    labeller = height_labeller(turn=180.0)
    often = labeller.label(cloud, Options(quality="best"), report=lambda done, total, name: told.append(done))
    assert (once.protocol["votes"], often.protocol["votes"]) == (1, 2)
    assert [look.degrees for look in labeller.looks(Options(votes=8))][::2] == [*TURNS, *TURNS[:2]]
    assert np.array_equal(once.labels, often.labels)
    assert told == sorted(told)
    assert told[-1] == len(cloud)
    assert len({round(float(one), 3) for one in _directions(labeller, cloud)}) == 2
    monkeypatch.setattr("point2node.inference.labeller.plan_memory", lambda *_, **__: Plan(1200, 0, 0))
    for quality in QUALITIES:
        labelled = height_labeller(turn=180.0).label(cloud, Options(quality=quality))
        assert np.array_equal(labelled.labels, once.labels)
        assert labelled.protocol["quality"] == quality


def _directions(labeller, cloud):
    """The direction from the first to the second point in each of the scenes that are asked about."""
    for look in labeller.looks(Options(quality="best")):
        xyz = labeller.scene(turn_about_z(place(cloud), look.degrees), cloud, Options()).xyz
        yield np.arctan2(*(xyz[1] - xyz[0])[:2])


@given(st.floats(-360, 360))
@settings(deadline=None)
def test_a_turn_keeps_heights_lengths_and_normals_of_surfaces(degrees):
    placement = place(room(50))
    turned = turn_about_z(placement, degrees)
    np.testing.assert_array_equal(turned.xyz[:, 2], placement.xyz[:, 2])
    np.testing.assert_allclose(np.linalg.norm(turned.xyz, axis=1), np.linalg.norm(placement.xyz, axis=1), rtol=1e-5)
    off = placement.rotation.T @ placement.xyz[1], turned.rotation.T @ turned.xyz[1]
    np.testing.assert_allclose(*off, atol=1e-5)


def test_the_same_cloud_gives_the_same_labels_on_any_number_of_threads():
    cloud = room(1500)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2, 2):
        torch.set_num_threads(threads)
        results.append(real_labeller().label(cloud))
    torch.set_num_threads(before)
    assert np.array_equal(results[1].labels, results[2].labels)
    assert np.array_equal(results[1].confidence, results[2].confidence)
    assert (results[0].labels == results[1].labels).mean() > 0.999


def test_progress_ends_with_all_points():
    told = []
    height_labeller().label(
        room(2000), report=lambda done, total, name: told.append((done, total, name)), name="my scan"
    )
    assert told[-1] == (2000, 2000, "my scan")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_a_class_called_255_makes_way_for_the_unlabelled():
    classes = tuple({"name": f"c{value}", "value": value, "colour": (0, 0, 0)} for value in (0, 255, 7, 8, 9, 10))
    labelled = height_labeller(classes=classes).label(room(200))
    assert labelled.unlabelled == 256
    assert set(labelled.labels) <= {0, 255, 7, 8, 9, 10}


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (PointCloud(np.empty((0, 3))), "found no point at all"),
        (PointCloud(np.full((3, 3), np.nan)), "found 3 points, all of them NaN"),
    ],
)
def test_clouds_without_a_single_position_are_refused(cloud, message):
    with pytest.raises(InputError, match=message):
        height_labeller().label(cloud)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"votes": 0}, "votes"),
        ({"thin": np.nan}, "thin"),
        ({"thin": -1}, "thin"),
        ({"quality": "good"}, "quality"),
        ({"quality": "best", "votes": 2}, "votes"),
    ],
)
def test_options_that_mean_nothing_are_refused(wrong, name):
    with pytest.raises(InputError, match=f"{name}: expected"):
        Options(**wrong)


def test_wrong_options_are_named():
    with pytest.raises(InputError, match="scale"):
        height_labeller().label(room(10), Options(scale=0))
    with pytest.raises(InputError, match="up: expected one of z, y, x"):
        height_labeller().label(room(10), Options(up="w"))


def test_stray_points_below_the_floor_do_not_lower_it():
    cloud = room(3000)
    xyz = cloud.xyz.copy()
    xyz[5, 2] = -7.0
    labelled = height_labeller().label(cloud.with_(xyz=xyz))
    assert agreement(labelled.labels[6:], xyz[6:, 2] - np.quantile(np.float32(xyz[:, 2]), 0.005)) > 0.99


def test_labels_are_the_values_of_the_classes():
    labelled = height_labeller().label(room(400))
    assert {one.name for one in labelled.classes} == {one.name for one in S3DIS}
    assert labelled.counts["ceiling"] == (labelled.labels == 0).sum()


class DoubtfulNetwork(HeightNetwork):
    """Of two classes it prefers the true one, 1 below and 2 above 1 m, for two points of three."""

    def forward(self, features, pyramid):
        xyz = pyramid.levels[0]
        wrong = (xyz.abs().sum(dim=-1) * 1000).long() % 3 == 0
        classes = torch.where((xyz[..., 2] < 1.0) ^ wrong, 1, 2)
        return torch.nn.functional.one_hot(classes, self.classes).float()


def two_floors(points=6000):
    """Two level surfaces, one above the other."""
    random = np.random.default_rng(0)
    xyz = np.column_stack([random.uniform(0, 1.4, (points, 2)), np.repeat([0.0, 2.0], points // 2)])
    return PointCloud(xyz), np.repeat([1, 2], points // 2)


@pytest.mark.parametrize(
    ("card_says", "option", "smooth"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_labels_are_smoothed_along_surfaces_where_the_weights_or_the_user_say_so(card_says, option, smooth):
    described = card(smooth=card_says, features=())
    labeller = SceneLabeller(Trained("doubtful", DoubtfulNetwork(13), described, "best"))
    cloud, truth = two_floors()
    labelled = labeller.label(cloud, Options(smooth=option))
    right = (labelled.labels == truth).mean()
    assert labelled.protocol["smooth"] is smooth
    assert right == 1.0 if smooth else 0.6 < right < 0.75
    assert (labelled.confidence > 0).all()


def test_a_smoothed_cloud_in_strips_is_labelled_as_a_whole_one(monkeypatch):
    labeller = SceneLabeller(Trained("doubtful", DoubtfulNetwork(13), card(smooth=True, features=()), "best"))
    random = np.random.default_rng(0)
    cloud = PointCloud(np.column_stack([random.uniform(0, [12, 1], (8000, 2)), np.zeros(8000)]))
    plan = Plan(points_at_once=4500, needed=0, limit=0)
    monkeypatch.setattr("point2node.inference.labeller.plan_memory", lambda *_, **__: plan)
    assert (labeller.label(cloud).labels == 1).all()


@pytest.mark.parametrize("distance", [-5000, 400, 9000])
def test_a_reflection_far_above_or_below_leaves_all_other_labels_alone(distance):
    cloud = room(3000)
    xyz = np.concatenate([cloud.xyz, cloud.xyz[:1] + np.array([0, 0, distance])])
    stray = PointCloud(xyz, rgb=np.concatenate([cloud.rgb, cloud.rgb[:1]]))
    labelled, expected = real_labeller().label(stray), real_labeller().label(cloud)
    assert labelled.labels[-1] == labelled.unlabelled
    assert np.array_equal(labelled.labels[:-1], expected.labels)


@pytest.mark.parametrize("factor", [1000, 1e6, 1e12])
def test_coordinates_that_cannot_be_metres_are_refused_before_the_network_is_asked(factor):
    labeller = height_labeller()
    cloud = room(3000)
    for thin in (0.0, 0.03):
        with pytest.raises(InputError, match=r"expected coordinates in metres.*--scale 0\.001 for millimetres"):
            labeller.label(cloud.with_(xyz=cloud.xyz * factor), Options(thin=thin))
    assert labeller.network.colours == []


def test_the_unit_that_a_cloud_states_is_used_unless_another_is_given():
    cloud = room(3000)
    feet = cloud.with_(xyz=cloud.xyz / 0.3048, unit=0.3048)
    assert np.array_equal(height_labeller().label(feet).labels, height_labeller().label(cloud).labels)
    assert height_labeller().label(feet).protocol["scale"] == 0.3048
    assert height_labeller().label(feet, Options(scale=1.0)).protocol["scale"] == 1.0


class HalfSureNetwork(HeightNetwork):
    """Sure of every point but those beyond x = 3 m, of which it says nothing; counts the groups it is asked about."""

    def forward(self, features, pyramid):
        sure = (features[..., :1] < 0).float()
        return super().forward(features, pyramid) * sure


def half_sure(points=6000):
    """A labeller, and a cloud that tells by its colour where the network knows something: below x = 3 m."""
    labeller = SceneLabeller(Trained("half sure", HalfSureNetwork(13), card(turn=180.0, thin=0.01), "best"))
    xyz = room(points, extent=(6.0, 3.0, 2.5)).xyz
    xyz[:, 2] = np.where(xyz[:, 2] < 1.2, 0.1, 2.35)  # apart: between classes, nothing interpolated would be sure
    dark = np.where(xyz[:, :1] < 3.0, 0, 255)
    return labeller, PointCloud(xyz, rgb=np.broadcast_to(dark, (points, 3)).astype(np.uint8))


def test_only_blocks_that_the_first_look_leaves_unsure_are_looked_at_again():
    asked = {}
    for quality in QUALITIES:
        labeller, cloud = half_sure()
        labeller.label(cloud, Options(quality=quality))
        features = torch.cat([one.flatten(0, 1) for one in labeller.network.colours])
        asked[quality] = [int((features[:, 0] < 0).sum()), int((features[:, 0] > 0).sum())]
    (fast_sure, fast_unsure), (balanced_sure, balanced_unsure), (best_sure, best_unsure) = asked.values()
    assert balanced_unsure > 2 * fast_unsure
    assert balanced_sure < 1.8 * fast_sure  # blocks that hold points of both
    assert best_sure > 6 * fast_sure
    assert best_unsure > balanced_unsure


@pytest.mark.parametrize("quality", QUALITIES)
def test_every_quality_labels_every_point_and_gives_the_same_bits_again(quality):
    torch.manual_seed(0)
    labeller = real_labeller(turn=180.0, thin=0.05)
    cloud = room(1500)
    first, again = (labeller.label(cloud, Options(quality=quality)) for _ in range(2))
    assert (first.confidence > 0).all()
    assert np.array_equal(first.labels, again.labels)
    assert np.array_equal(first.confidence, again.confidence)
    assert np.array_equal(first.entropy, again.entropy)


def test_with_thin_0_every_quality_asks_about_every_point():
    for quality in QUALITIES:
        labeller = height_labeller(thin=0.5)
        assert all(look.share == 1 for look in labeller.looks(Options(quality=quality, thin=0.0)))
