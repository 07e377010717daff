import math
import os
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.batches import Sample
from point2node.data.block_cache import blocks_of
from point2node.data.features import missing_colour_notes
from point2node.data.preparation import prepare
from point2node.data.samples import MixedSources, Portion, RoomBlocks, ShapeClouds, mix_quarters
from point2node.data.sources import Dataset, Scene, Shapes, Source
from point2node.data.store import open_store
from point2node.geometry.augment import Augmentation
from point2node.geometry.blocks import BlockRules

RULES = BlockRules(side=1.0, grid=0.1, max_points=200)
SHAPES = (SemanticClass("chair", 0, (0, 0, 0)), SemanticClass("table", 1, (9, 9, 9)))

TURNED = Augmentation(turn=math.pi, scale=0.1)


def room_cloud(seed):
    random = np.random.default_rng(seed)
    xyz = random.uniform(0, [3.0, 2.0, 2.5], (900, 3)) + np.array([400_000, 5_000_000, 100])
    return PointCloud(xyz, rgb=random.integers(0, 256, (900, 3)), labels=random.integers(0, 13, 900))


def read_room(name, seed, skip_damaged):
    return [Scene(name, "train", room_cloud(seed))]


def give_scene(scene, skip_damaged):
    return [scene]


def read_shapes(skip_damaged):
    random = np.random.default_rng(0)
    normals = random.normal(size=(6, 64, 3)).astype(np.float32)
    xyz = random.normal(size=(6, 64, 3)).astype(np.float32)
    names = np.array([f"shape {i}" for i in range(6)])
    return [Scene("train", "train", Shapes(xyz, np.array([0, 1] * 3, np.int32), names, normals))]


@pytest.fixture
def rooms(tmp_path):
    sources = tuple(Source(name, "train", (), partial(read_room, name, i)) for i, name in enumerate(("a", "b ü")))
    prepare(Dataset("rooms", "test", S3DIS, sources), tmp_path / "store", workers=1)
    return open_store(tmp_path / "store")


@pytest.fixture
def shapes(tmp_path):
    sources = (Source("train", "train", (), read_shapes),)
    prepare(Dataset("modelnet", "test", SHAPES, sources, task="classification"), tmp_path / "shapes", workers=1)
    return open_store(tmp_path / "shapes")


def test_a_sample_is_points_of_one_block_with_their_own_colours_and_labels(rooms):
    source = RoomBlocks(rooms, ("a", "b ü"), points=64, rules=RULES)
    cloud = {name: rooms.load(name) for name in ("a", "b ü")}
    for number in range(len(source)):
        sample = source.draw(number, np.random.default_rng(number))
        assert sample.xyz.shape == (64, 3)
        local = cloud[sample.scene].local()[0]
        match = np.abs(sample.xyz[:, None] - local[None]).max(-1).argmin(1)
        np.testing.assert_allclose(sample.xyz, local[match], atol=1e-6)
        assert np.array_equal(sample.labels, cloud[sample.scene].labels[match])
        np.testing.assert_allclose(sample.features, cloud[sample.scene].rgb[match] / np.float32(255) - 0.5, atol=1e-6)
        assert np.ptp(sample.xyz[:, 0]) <= 2 + 1e-6


def test_every_block_of_both_offsets_is_a_sample(rooms):
    source = RoomBlocks(rooms, ("a", "b ü"), points=64, rules=RULES)
    counts = [len(blocks_of(rooms, name, RULES, (0.0, 0.5), rooms.path / "blocks")) for name in ("a", "b ü")]
    assert len(source) == sum(counts)
    assert {source.draw(i, np.random.default_rng(0)).scene for i in (0, counts[0] - 1)} == {"a"}
    assert source.draw(counts[0], np.random.default_rng(0)).scene == "b ü"


def test_blocks_cover_every_point_at_each_offset_and_are_cut_only_once(rooms, monkeypatch):
    folder = rooms.path / "blocks"
    first = blocks_of(rooms, "a", RULES, (0.0,), folder)
    assert np.array_equal(np.unique(np.concatenate([first[i] for i in range(len(first))])), np.arange(900))
    monkeypatch.setattr("point2node.data.block_cache.cut_blocks", None)  # a second cut would fail
    again = blocks_of(rooms, "a", RULES, (0.0,), folder)
    assert all(np.array_equal(first[i], again[i]) for i in range(len(first)))


def test_preparing_again_keeps_the_store_usable_beside_its_blocks(rooms):
    RoomBlocks(rooms, ("a",), points=8, rules=RULES)
    before = sorted(path.name for path in (rooms.path / "blocks").iterdir())
    assert open_store(rooms.path).scenes() == rooms.scenes()
    assert sorted(path.name for path in (rooms.path / "blocks").iterdir()) == before


def test_a_scene_without_labels_is_refused(tmp_path):
    source = Source("a", "train", (), partial(give_scene, Scene("a", "train", room_cloud(0).with_(labels=None))))
    prepare(Dataset("rooms", "test", S3DIS, (source,)), tmp_path / "store", workers=1)
    with pytest.raises(InputError, match=r"scene 'a': expected labels, found only rgb, xyz"):
        RoomBlocks(open_store(tmp_path / "store"), ("a",), points=8)


def test_scenes_without_colour_are_grey_and_all_else_is_as_it_was(tmp_path):
    stores = {}
    for name in ("coloured", "plain"):
        cloud = room_cloud(0) if name == "coloured" else room_cloud(0).with_(rgb=None)
        source = Source("a", "train", (), partial(give_scene, Scene("a", "train", cloud)))
        prepare(Dataset("rooms", "test", S3DIS, (source,)), tmp_path / name, workers=1)
        stores[name] = open_store(tmp_path / name)
    augmentation = Augmentation(turn=1.0, jitter=0.01, colour_jitter=0.0)
    coloured, plain = (
        RoomBlocks(store, ("a",), 64, ("rgb",), augmentation, RULES).draw(0, np.random.default_rng(0))
        for store in stores.values()
    )
    assert coloured.features.any()
    assert plain.features.shape == coloured.features.shape
    assert not plain.features.any()
    assert np.array_equal(plain.xyz, coloured.xyz)
    assert missing_colour_notes(stores["coloured"], ("rgb",)) == []
    assert missing_colour_notes(stores["plain"], ()) == []
    assert missing_colour_notes(stores["plain"], ("rgb",)) == [
        "note: 1 of 1 scenes have no colour and are treated as grey"
    ]


def flat_sample(name, height, points=64, seed=0):
    random = np.random.default_rng(seed)
    xyz = np.column_stack([random.uniform(-1, 1, (points, 2)), np.full(points, height)]).astype(np.float32)
    return Sample(xyz, np.full((points, 3), height, np.float32), np.full(points, height, np.int64), name)


@pytest.mark.parametrize("seed", range(20))
def test_a_mixed_sample_has_each_quarter_from_one_of_the_two(seed):
    first, second = flat_sample("a", 1, seed=seed), flat_sample("b", 2, seed=seed + 100)
    mixed = mix_quarters(first, second, np.random.default_rng(seed))
    assert mixed.xyz.shape == (64, 3)
    assert mixed.scene == "a with b"
    assert np.array_equal(mixed.labels, mixed.xyz[:, 2].astype(int))  # points keep their own labels and features
    assert np.array_equal(mixed.features[:, 0], mixed.xyz[:, 2])
    assert set(mixed.labels) == {1, 2}
    points = {tuple(point) for sample in (first, second) for point in sample.xyz.tolist()}
    assert {tuple(point) for point in mixed.xyz.tolist()} <= points
    # some vertical line cuts the plane into four quarters of one sample each
    cuts = [np.sort(mixed.xyz[:, axis]) for axis in (0, 1)]
    assert any(
        all(
            len(set(mixed.labels[((mixed.xyz[:, 0] > x) == right) & ((mixed.xyz[:, 1] > y) == above)])) < 2
            for right in (True, False)
            for above in (True, False)
        )
        for x in cuts[0]
        for y in cuts[1]
    )


def test_samples_are_mixed_as_often_as_asked(rooms):
    source = RoomBlocks(rooms, ("a", "b ü"), 64, ("rgb",), TURNED, RULES, "block", mix=0.5)
    mixed = [" with " in source.draw(0, np.random.default_rng(seed)).scene for seed in range(60)]
    assert 15 < sum(mixed) < 45


def test_balance_draws_blocks_that_hold_rare_classes(tmp_path):
    random = np.random.default_rng(0)
    xyz = random.uniform(0, [20.0, 2.0, 2.5], (4000, 3))
    labels = np.where(xyz[:, 0] > 19.0, 8, 2)  # chairs at one end of a long hall, walls everywhere else
    source = Source("a", "train", (), partial(give_scene, Scene("a", "train", PointCloud(xyz, labels=labels))))
    prepare(Dataset("rooms", "test", S3DIS, (source,)), tmp_path / "store", workers=1)
    store = open_store(tmp_path / "store")
    shares = []
    for balance in (0.0, 1.0):
        blocks = RoomBlocks(store, ("a",), 32, (), rules=RULES, balance=balance)
        samples = [blocks.draw(number, np.random.default_rng(number)) for number in range(len(blocks))]
        shares.append(np.mean([(sample.labels == 8).any() for sample in samples]))
    assert shares[0] < 0.2
    assert 0.3 < shares[1] < 0.8


def test_no_scenes_are_refused(rooms):
    with pytest.raises(InputError, match="at least one scene"):
        RoomBlocks(rooms, (), points=8)


def test_a_shape_gives_distinct_points_and_normals_that_turn_with_them(shapes):
    stored = shapes.shapes("train")
    still = ShapeClouds(shapes, "train", 32, ("normals",))
    turned = ShapeClouds(shapes, "train", 32, ("normals",), Augmentation(turn=1.0))
    a, b = (source.draw(3, np.random.default_rng(1)) for source in (still, turned))
    assert a.labels == stored.labels[3] == 1
    assert len(np.unique(a.xyz, axis=0)) == 32
    np.testing.assert_allclose(np.linalg.norm(b.features, axis=1), 1, rtol=1e-5)
    cosine = (a.xyz * a.features).sum(1) / np.linalg.norm(a.features, axis=1)
    np.testing.assert_allclose((b.xyz * b.features).sum(1), cosine, rtol=1e-4, atol=1e-5)
    assert not np.allclose(a.xyz, b.xyz)


def test_shapes_need_enough_points_and_the_features_asked_for(shapes):
    with pytest.raises(InputError, match="at least 65 points, found shapes of 64"):
        ShapeClouds(shapes, "train", 65)
    with pytest.raises(InputError, match="expected rgb"):
        ShapeClouds(shapes, "train", 8, ("rgb",))


@pytest.fixture(params=["rooms", "shapes"])
def source(request):
    if request.param == "rooms":
        augmentation = Augmentation(turn=1.0, scale=0.1, affine=0.1, elastic=0.1, holes=2, density=0.5)
        rooms = request.getfixturevalue("rooms")
        everything = ("rgb", "relative_rgb", "normals", "height")
        return RoomBlocks(rooms, ("a", "b ü"), 64, everything, augmentation, RULES, "block", balance=0.5, mix=0.5)
    return ShapeClouds(request.getfixturevalue("shapes"), "train", 32, ("normals",), TURNED, np.array([4, 1, 2]))


def test_a_source_travels_to_a_worker_as_a_few_names_and_gives_the_same_samples(source):
    message = pickle.dumps(source)
    assert len(message) < 64_000
    copy = pickle.loads(message)
    assert len(copy) == len(source)
    for number in range(len(source)):
        ours, theirs = (one.draw(number, np.random.default_rng(number)) for one in (source, copy))
        assert ours.scene == theirs.scene
        for name in ("xyz", "features", "labels"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name))


def test_a_store_travels_as_its_place(rooms):
    message = pickle.dumps(rooms)
    assert len(message) < 1000
    assert pickle.loads(message) == rooms


def test_chosen_shapes_are_counted_by_their_place_in_the_choice(shapes):
    stored = shapes.shapes("train")
    source = ShapeClouds(shapes, "train", 32, numbers=np.array([4, 1]))
    assert len(source) == 2
    assert [source.draw(n, np.random.default_rng(0)).scene for n in (0, 1)] == [stored.names[4], stored.names[1]]


@pytest.fixture
def unwritable(rooms):
    """The store where nothing can be written: a file is where the blocks would go, which stops even root."""
    (rooms.path / "blocks").write_text("")
    return rooms


def test_blocks_of_a_store_that_cannot_be_written_stay_in_memory(unwritable, tmp_path):
    kept = [blocks_of(unwritable, "a", RULES, (0.0, 0.5), folder) for folder in (unwritable.path / "blocks", tmp_path)]
    assert len(kept[0]) == len(kept[1]) > 1
    assert all(np.array_equal(kept[0][i], kept[1][i]) for i in range(len(kept[0])))
    assert (unwritable.path / "blocks").read_text() == ""


def test_training_draws_from_a_store_that_cannot_be_written(unwritable):
    source = RoomBlocks(unwritable, ("a", "b ü"), points=64, rules=RULES)
    copy = pickle.loads(pickle.dumps(source))
    ours, theirs = (one.draw(3, np.random.default_rng(0)) for one in (source, copy))
    assert np.array_equal(ours.xyz, theirs.xyz)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_store_is_as_good(rooms):
    rooms.path.chmod(0o500)
    assert len(RoomBlocks(rooms, ("a",), points=64, rules=RULES)) > 1
    rooms.path.chmod(0o700)


@pytest.mark.parametrize("up", ["z", "y", "-x"])
def test_shapes_stand_upright_whatever_their_release_calls_up(up, tmp_path):
    """A turn about the vertical leaves the height of every point as it was."""
    sources = (Source("train", "train", (), read_shapes),)
    dataset = Dataset("modelnet", "test", SHAPES, sources, task="classification", settings={"up": up})
    prepare(dataset, tmp_path / "shapes", workers=1)
    store = open_store(tmp_path / "shapes")
    axis = "xyz".index(up[-1])
    heights = store.shapes("train").xyz[2, :, axis] * (-1 if up.startswith("-") else 1)
    for augmentation in (Augmentation(), Augmentation(turn=math.pi)):
        sample = ShapeClouds(store, "train", 64, ("normals",), augmentation).draw(2, np.random.default_rng(0))
        np.testing.assert_allclose(np.sort(sample.xyz[:, 2]), np.sort(heights), atol=1e-5)
        assert sample.features.shape == (64, 3)


def test_a_store_with_an_unknown_vertical_axis_is_refused(tmp_path):
    sources = (Source("train", "train", (), read_shapes),)
    dataset = Dataset("modelnet", "test", SHAPES, sources, task="classification", settings={"up": "w"})
    prepare(dataset, tmp_path / "shapes", workers=1)
    with pytest.raises(InputError, match=r"'up'.*'w'"):
        ShapeClouds(open_store(tmp_path / "shapes"), "train", 64)


def test_mixed_shapes_hold_points_of_both_in_the_shares_of_their_labels(shapes):
    always = ShapeClouds(shapes, "train", 64, mix=1.0)
    plain = ShapeClouds(shapes, "train", 64)
    for number in range(6):
        mixed, alone = (source.draw(number, np.random.default_rng(number)) for source in (always, plain))
        kept = (mixed.xyz == alone.xyz).all(axis=1).mean()
        assert mixed.labels.shape == (2,)
        assert mixed.labels.sum() == pytest.approx(1)
        assert mixed.labels[alone.labels] >= kept - 1e-6  # the other may be of the same class
        assert 0.5 <= kept <= 1
    never = ShapeClouds(shapes, "train", 64, mix=1e-9).draw(1, np.random.default_rng(0))
    assert never.labels.tolist() == [0.0, 1.0]


class Numbered:
    """A source whose samples tell which source and number they are of."""

    def __init__(self, name, length):
        self.name, self.length = name, length

    def __len__(self):
        return self.length

    def draw(self, number, random):
        assert 0 <= number < self.length
        return Sample(random.random((2, 3)).astype(np.float32), None, np.array([number] * 2), self.name)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.05, 0.95))
def test_mixed_sources_give_their_shares_and_every_sample_of_each(first, second, share):
    mixed = MixedSources([Portion(Numbered("a", first), 1 - share, 0.5), Portion(Numbered("b", second), share, 2.0)])
    drawn = [mixed.draw(number, np.random.default_rng(number)) for number in range(len(mixed))]
    for name, length, wanted, weight in (("a", first, 1 - share, 0.5), ("b", second, share, 2.0)):
        samples = [sample for sample in drawn if sample.scene == name]
        assert {int(sample.labels[0]) for sample in samples} == set(range(length))
        assert abs(len(samples) - wanted * len(drawn)) <= 2
        assert {sample.weight for sample in samples} == {weight}


def test_a_portion_without_a_share_is_never_drawn_and_nothing_else_of_a_sample_changes():
    source = Numbered("b", 3)
    mixed = MixedSources([Portion(Numbered("a", 5), 0.0), Portion(source, 1.0, 0.25)])
    assert len(mixed) == 3
    for number in range(3):
        ours, theirs = (one.draw(number, np.random.default_rng(number)) for one in (mixed, source))
        assert np.array_equal(ours.xyz, theirs.xyz)
        assert (ours.scene, ours.weight) == ("b", 0.25)
