import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.point_cloud import PointCloud
from point2node.core.words import SURROUNDINGS, WIDTHS
from point2node.data.features import SceneFeatures, stored_features
from point2node.data.samples import RoomBlocks
from point2node.geometry.augment import Augmentation
from point2node.geometry.blocks import BlockRules
from point2node.geometry.surroundings import describe_surroundings
from tests.training.stores import random_cloud, write_scenes

EVERYTHING = tuple(WIDTHS)
SOME = np.array([3, 1, 1, 0])


def described(wanted, points=6, **arrays):
    random = np.random.default_rng(0)
    given = {"rgb": random.integers(0, 256, (points, 3)), "normals": random.normal(size=(points, 3))}
    around = tuple(name for name in wanted if name in SURROUNDINGS)
    if around:
        given["surroundings"] = describe_surroundings(random.random((points, 3)), around)
    return SceneFeatures(wanted, **(given | arrays))


@pytest.mark.parametrize("wanted", [(name,) for name in EVERYTHING] + [EVERYTHING, EVERYTHING[::-1]])
def test_features_stand_side_by_side_in_the_order_asked_for(wanted):
    xyz = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    found = described(wanted).of(SOME, xyz)
    parts = [described((name,)).of(SOME, xyz) for name in wanted]
    assert found.dtype == np.float32
    assert found.shape == (4, sum(WIDTHS[name] for name in wanted))
    assert np.array_equal(found, np.concatenate(parts, axis=1))


def test_nothing_wanted_gives_nothing():
    assert described(()).of(SOME, np.zeros((4, 3), np.float32)) is None


def test_heights_are_those_of_the_augmented_points():
    xyz = np.array([[0, 0, 1.5], [0, 0, 3]], np.float32)
    found = described(("height",), floor=0.5).of(np.array([0, 1]), xyz)
    assert found.tolist() == [[1.0], [2.5]]


@given(st.integers(0, 2**32))
def test_the_sign_and_length_of_normals_make_no_difference(seed):
    random = np.random.default_rng(seed)
    normals = random.normal(size=(6, 3))
    matrix = Augmentation(turn=3.0, tilt=0.1, scale=0.05, mirror=0.5).draw(random)
    flipped = normals * random.choice([-3.0, 1.0], (6, 1))
    one, other = (described(("normals",), normals=n).of(SOME, None, matrix) for n in (normals, flipped))
    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, atol=1e-5)
    assert (one >= 0).all()


def test_a_scene_of_one_colour_has_no_relative_colours():
    found = described(("relative_rgb",), rgb=np.full((6, 3), 77)).of(SOME, None)
    assert not found.any()


def test_normals_of_a_store_are_estimated_once_and_kept(tmp_path, monkeypatch):
    store = write_scenes(tmp_path / "store", {"train": ("a", "b")})
    first = stored_features(store, "a", ("normals",), store.block_cache)
    monkeypatch.setattr("point2node.data.features.compact_normals", None)  # a second estimate would fail
    again = stored_features(store, "a", ("normals",), store.block_cache)
    assert np.array_equal(first.normals, again.normals)
    assert first.normals.dtype == np.int8
    stored_features(store, "b", ("rgb", "height"), store.block_cache)  # nobody asks for normals


def test_surroundings_of_a_store_are_described_once_and_kept(tmp_path, monkeypatch):
    store = write_scenes(tmp_path / "store", {"train": ("a",)})
    xyz, everything = np.asarray(store.arrays("a")["xyz"], np.float32), np.arange(300)
    first = stored_features(store, "a", SURROUNDINGS, store.block_cache).of(everything, xyz)
    direct = describe_surroundings(xyz, SURROUNDINGS)
    np.testing.assert_allclose(first, direct.table[direct.number], atol=2e-3)
    monkeypatch.setattr("point2node.data.features.describe_surroundings", None)  # a second description would fail
    assert np.array_equal(stored_features(store, "a", SURROUNDINGS, store.block_cache).of(everything, xyz), first)


def test_a_store_that_cannot_be_written_keeps_estimates_in_memory(tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a",)})
    (tmp_path / "file").write_text("in the way")
    found = stored_features(store, "a", ("normals",), tmp_path / "file")
    assert found.normals.any()


def test_normals_in_a_store_are_used_as_they_are(tmp_path):
    cloud = random_cloud().with_(normals=np.tile([0.0, 0.6, -0.8], (300, 1)))
    store = write_scenes(tmp_path / "store", {"train": ("a",)}, clouds={"a": cloud})
    rules = BlockRules(side=1.0, grid=0.1, max_points=200)
    sample = RoomBlocks(store, ("a",), 32, ("normals",), rules=rules).draw(0, np.random.default_rng(0))
    np.testing.assert_allclose(sample.features, np.tile([0.0, 0.6, 0.8], (32, 1)), atol=1e-6)


def test_stray_points_below_the_floor_do_not_lower_it(tmp_path):
    xyz = random_cloud(2000).xyz
    xyz[0, 2] = -4.0
    store = write_scenes(tmp_path / "store", {"train": ("a",)}, clouds={"a": PointCloud(xyz, labels=np.zeros(2000))})
    found = stored_features(store, "a", ("height",), store.block_cache)
    heights = found.of(np.arange(2000), np.asarray(store.arrays("a")["xyz"], np.float32))[:, 0]
    assert heights[0] == pytest.approx(-4, abs=0.05)
    assert np.quantile(heights, 0.01) == pytest.approx(0, abs=0.05)
