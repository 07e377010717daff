import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.classes import SCANNET
from point2node.core.errors import InputError
from point2node.evaluation.splits import check_classes, class_weights, divide, find_part
from point2node.weights.settings import load_preset
from tests.training.stores import AREAS, SHAPE_CLASSES, quick, random_cloud, write_areas, write_scenes, write_shapes


@pytest.fixture(scope="module")
def areas(tmp_path_factory):
    return write_areas(tmp_path_factory.mktemp("areas"), rooms=4)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    return write_shapes(tmp_path_factory.mktemp("shapes"), {"train": (20, 11, 1), "test": (2, 2, 2)})


def fold(area, seed=0, share=0.2):
    return load_preset("s3dis", [f"test_area={area}", f"split_seed={seed}", f"validation_share={share}"])


@given(area=st.integers(1, 6), seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.01, 0.3, 0.99]))
def test_the_held_out_area_is_neither_learnt_nor_validated_on(areas, area, seed, share):
    division = divide(fold(area, seed, share), areas)
    training, validation = set(division.training.scenes), set(division.validation.scenes)
    held_out = set(areas.scenes(f"Area_{area}"))
    assert not held_out & (training | validation)
    assert not training & validation
    assert training | validation | held_out == set(areas.scenes())
    assert training
    assert len(validation) == (0 if share == 0 else min(max(1, round(share * 20)), 19))


def test_the_validation_rooms_depend_on_the_split_seed_and_on_nothing_else(areas):
    first = divide(fold(5), areas).validation.scenes
    assert divide(load_preset("s3dis", ["seed=9", "validation_share=0.2"]), areas).validation.scenes == first
    assert len({divide(fold(5, seed), areas).validation.scenes for seed in range(8)}) > 1


def test_a_split_val_is_used_where_there_is_one(tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a", "b"), "val": ("c",), "test": ("d",)}, points=20)
    division = divide(quick(), store)
    assert division.training.scenes == ("a", "b")
    assert division.validation.scenes == ("c",)
    assert find_part(quick(), store, "val").scenes == ("c",)


def test_without_a_split_train_or_areas_there_is_nothing_to_learn_from(tmp_path):
    store = write_scenes(tmp_path / "store", {"test": ("a",)}, points=20)
    with pytest.raises(InputError, match="scenes to train on, found only test"):
        divide(quick(), store)


def test_each_class_gives_its_share_of_shapes(shapes):
    settings = load_preset("modelnet10", ["validation_share=0.1"])
    division = divide(settings, shapes)
    labels = np.asarray(shapes.shapes("train").labels)
    held = [int((labels[division.validation.shapes] == one.value).sum()) for one in SHAPE_CLASSES]
    assert held == [2, 1, 0]  # at least one of a class, never its only one
    both = np.concatenate([division.training.shapes, division.validation.shapes])
    assert np.array_equal(np.sort(both), np.arange(32))
    again = divide(settings, shapes)
    assert np.array_equal(again.validation.shapes, division.validation.shapes)


def test_shapes_with_a_split_val_are_validated_on_it(tmp_path):
    store = write_shapes(tmp_path / "store", {"train": (3, 3, 3), "val": (1, 1, 0)})
    division = divide(load_preset("modelnet10"), store)
    assert (len(division.training), len(division.validation), division.validation.split) == (9, 2, "val")


def test_a_share_of_0_learns_from_everything(areas):
    division = divide(fold(5, share=0.0), areas)
    assert (len(division.training), len(division.validation)) == (20, 0)
    with pytest.raises(InputError, match="something to score, found nothing"):
        find_part(fold(5, share=0.0), areas, "val")


def test_parts_are_found_by_their_split(areas, shapes):
    assert find_part(None, areas, "Area_3").scenes == areas.scenes("Area_3")
    assert find_part(fold(5), areas, "val").scenes == divide(fold(5), areas).validation.scenes
    assert np.array_equal(find_part(None, shapes, "test").shapes, np.arange(6))


@pytest.mark.parametrize(("split", "settings"), [("Area_7", fold(5)), ("test", fold(5)), ("val", None)])
def test_an_unknown_split_is_answered_with_those_there_are(areas, split, settings):
    with pytest.raises(InputError, match="one of " + ", ".join(AREAS)):
        find_part(settings, areas, split)


def test_data_with_other_classes_is_refused_in_words(areas, shapes):
    check_classes(fold(5), areas)
    check_classes(quick("classes=null"), shapes)
    check_classes(quick("classes=3"), shapes)
    with pytest.raises(InputError, match=r"13 classes of s3dis: ceiling, .*, found bed, chair, desk\. Give the data"):
        check_classes(fold(5), shapes)
    with pytest.raises(InputError, match=r"expected 40 classes, found 3\. Give the data"):
        check_classes(load_preset("modelnet40"), shapes)
    with pytest.raises(InputError, match="Did you mean 's3dis'"):
        check_classes(quick("classes=s3diss"), areas)


def test_weights_are_the_inverse_root_of_the_share_with_mean_1(tmp_path):
    cloud = random_cloud(100, classes=SCANNET).with_(labels=np.repeat([0, 1, 2], [19, 16, 65]))
    other = cloud.with_(labels=np.repeat([0, 1, 2], [100, 0, 0]))
    splits = {"train": ("a",), "test": ("b",)}
    clouds = {"a": cloud, "b": other}
    store = write_scenes(tmp_path / "store", splits, classes=SCANNET, ignored=(0,), clouds=clouds)
    settings = quick("class_weights=balanced", "classes=scannet", "validation_share=0")
    found = class_weights(settings, store, divide(settings, store).training)
    raw = np.array([(16 / 81) ** -0.5, (65 / 81) ** -0.5])  # the ignored points are no share
    expected = np.zeros(21)
    expected[1:3] = raw / raw.mean()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.dtype == np.float32


def test_weights_of_shapes_follow_the_shapes_that_are_learnt_from(shapes):
    settings = load_preset("modelnet10", ["class_weights=balanced", "validation_share=0.1"])
    division = divide(settings, shapes)
    found = class_weights(settings, shapes, division.training)
    raw = (np.array([18, 10, 1]) / 29) ** -0.5
    np.testing.assert_allclose(found, raw / raw.mean(), rtol=1e-6)


def test_without_balance_there_are_no_weights(areas):
    assert class_weights(quick(), areas, divide(fold(5), areas).training) is None


def test_training_looks_at_some_validation_scenes_and_evaluate_at_all(tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a",), "val": ("b", "c", "d")})
    part = find_part(quick("validation_scenes=2"), store, "val")
    assert part.scenes == ("b", "c", "d")
    assert part.first(2).scenes == ("b", "c")
    assert part.first(None).scenes == part.scenes


def test_parts_know_what_they_share(areas, shapes):
    division = divide(fold(5), areas)
    assert find_part(None, areas, "Area_1").overlaps(division.training)
    assert not find_part(None, areas, "Area_5").overlaps(division.training)
    assert not division.validation.overlaps(division.training)
    shared = divide(load_preset("modelnet10", ["validation_share=0.1"]), shapes)
    assert find_part(None, shapes, "train").overlaps(shared.training)
    assert not shared.validation.overlaps(shared.training)
    assert not find_part(None, shapes, "test").overlaps(shared.training)


def in_fold(number, folds=4, preset="modelnet10"):
    return load_preset(preset, [f"folds={folds}", f"fold={number}", "classes=null"])


def test_every_shape_is_held_back_in_exactly_one_fold(shapes):
    held = [divide(in_fold(number), shapes).validation.shapes for number in range(4)]
    assert sorted(np.concatenate(held).tolist()) == list(range(32))
    labels = np.asarray(shapes.shapes("train").labels)
    for number, fold_of_shapes in enumerate(held):
        assert np.count_nonzero(labels[fold_of_shapes] == SHAPE_CLASSES[0].value) == 5  # of 20
        training = divide(in_fold(number), shapes).training.shapes
        assert not set(training) & set(fold_of_shapes)
        assert len(training) + len(fold_of_shapes) == 32


def test_every_room_is_held_back_in_exactly_one_fold(areas):
    settings = [load_preset("s3dis", ["test_area=1", "folds=5", f"fold={number}"]) for number in range(5)]
    held = [scene for one in settings for scene in divide(one, areas).validation.scenes]
    assert sorted(held) == sorted(set(areas.scenes()) - set(areas.scenes("Area_1")))


@pytest.mark.parametrize("split", ["val", "test", "train"])
def test_a_store_of_one_split_can_be_scored(split, tmp_path):
    only = write_shapes(tmp_path / "shapes", {split: (3, 2, 1)})
    assert len(find_part(load_preset("modelnet10"), only, split)) == 6
    rooms = write_scenes(tmp_path / "rooms", {split: ("a", "b")})
    assert find_part(load_preset("rooms"), rooms, split).scenes == ("a", "b")
