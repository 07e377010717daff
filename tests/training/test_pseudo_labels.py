import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import write
from point2node.inference.labeller import Options
from point2node.training.pseudo_labels import (
    Predictions,
    predict_scans,
    store_pseudo_labels,
    store_scans,
    surest_of_each_class,
)
from tests.inference.labellers import height_labeller, real_labeller
from tests.training.stores import ignore, write_scenes

LABELS = arrays.arrays(np.int64, st.integers(0, 60), elements=st.integers(-1, 4))
SHARES = st.floats(0.01, 1.0)


def confidences(labels, seed, ties):
    random = np.random.default_rng(seed)
    return random.integers(0, 3, len(labels)) / 2 if ties else random.random(len(labels))


@given(LABELS, SHARES, st.integers(0, 99), st.booleans())
def test_every_class_keeps_its_share_of_surest_points(labels, share, seed, ties):
    confidence = confidences(labels, seed, ties)
    chosen = surest_of_each_class(labels, confidence, share)
    assert not chosen[labels < 0].any()
    for label in set(labels[labels >= 0]):
        kept, left = (confidence[(labels == label) & which] for which in (chosen, ~chosen))
        assert len(kept) == math.ceil(share * (labels == label).sum())
        assert kept.min() >= left.max(initial=0)


@given(LABELS, st.integers(0, 99))
def test_without_ties_the_order_of_the_points_does_not_matter(labels, seed):
    confidence = confidences(labels, seed, ties=False)
    order = np.random.default_rng(seed).permutation(len(labels))
    chosen = surest_of_each_class(labels, confidence, 0.3)
    assert np.array_equal(surest_of_each_class(labels[order], confidence[order], 0.3), chosen[order])


@given(LABELS, SHARES, SHARES, st.integers(0, 99))
def test_a_larger_share_keeps_all_that_a_smaller_one_keeps(labels, one, other, seed):
    confidence = confidences(labels, seed, ties=True)
    small, large = (surest_of_each_class(labels, confidence, share) for share in sorted((one, other)))
    assert not (small & ~large).any()
    assert np.array_equal(surest_of_each_class(labels, confidence, 1.0), labels >= 0)


def test_a_class_that_is_never_sure_is_not_crowded_out():
    labels = np.repeat([0, 1], [900, 10])
    confidence = np.where(labels == 0, 0.99, 0.2)
    assert surest_of_each_class(labels, confidence, 0.3)[labels == 1].sum() == 3


def test_parts_are_those_of_each_scan():
    predictions = Predictions(np.arange(6), np.zeros(6, np.float32), (1, 3, 2))
    assert [part.tolist() for part in predictions.parts(predictions.labels)] == [[0], [1, 2, 3], [4, 5]]


def scan(points=900, seed=0):
    random = np.random.default_rng(seed)
    return PointCloud(random.uniform(0, [3, 2, 2.5], (points, 3)), rgb=random.integers(0, 256, (points, 3)))


def test_scans_are_stored_upright_in_metres_and_thinned_without_their_labels(tmp_path):
    cloud = scan()
    lying = cloud.with_(xyz=1000 * cloud.xyz[:, [0, 2, 1]] * [1, 1, -1] + 7e5, labels=np.zeros(900))
    write(tmp_path / "a.ply", cloud)
    write(tmp_path / "b.ply", lying)
    plain = store_scans([tmp_path / "a.ply"], height_labeller(), Options(thin=0.3), tmp_path / "plain", ignore)
    turned = store_scans(
        [tmp_path / "b.ply"], height_labeller(), Options(0.001, "y", thin=0.3), tmp_path / "turned", ignore
    )
    (name,) = plain.scenes()
    assert name == "001 a.ply"
    assert plain.entry(name).arrays == ("rgb", "xyz")
    xyz = plain.arrays(name)["xyz"]
    cells = np.floor((xyz - xyz.min(axis=0)) / 0.3 - 1e-4)
    assert 300 < len(xyz) < 900
    assert len(np.unique(cells, axis=0)) > 0.9 * len(xyz)
    other = turned.arrays("001 b.ply")["xyz"]
    assert np.ptp(other, axis=0) == pytest.approx(np.ptp(cloud.xyz, axis=0), abs=0.31)


def test_normals_are_stored_where_the_weights_take_them_and_colours_where_they_may(tmp_path):
    write(tmp_path / "a.ply", scan())
    labeller = real_labeller(features=("normals",))
    store = store_scans([tmp_path / "a.ply"], labeller, Options(thin=0.1), tmp_path / "store", ignore)
    arrays_of = store.arrays("001 a.ply")
    assert sorted(arrays_of) == ["normals", "xyz"]
    assert np.linalg.norm(arrays_of["normals"], axis=1) == pytest.approx(1, abs=0.02)
    grey = store_scans([tmp_path / "a.ply"], real_labeller(), Options(color=False), tmp_path / "grey", ignore)
    assert grey.entry("001 a.ply").arrays == ("xyz",)


def test_doubts_are_noted_and_scans_with_too_few_points_are_refused(tmp_path):
    write(tmp_path / "mm.ply", scan().with_(xyz=1000 * scan().xyz))
    store = store_scans([tmp_path / "mm.ply"], height_labeller(), Options(), tmp_path / "store", ignore)
    assert any("millimetres" in note for note in store.manifest.notes)
    write(tmp_path / "few.ply", scan(63))
    with pytest.raises(InputError, match=r"few\.ply: expected at least 64 points to adapt to, found 63"):
        store_scans([tmp_path / "few.ply"], height_labeller(), Options(), tmp_path / "few", ignore)


def test_scans_are_predicted_once_and_their_surest_labels_become_a_store(tmp_path):
    store = write_scenes(tmp_path / "scans", {"train": ("a", "b")}, points=400)
    labeller, told = height_labeller(), []
    found = predict_scans(labeller, store, tmp_path / "predicted", lambda *words: told.append(words))
    assert found.lengths == (400, 400)
    for name, labels in zip("ab", found.parts(found.labels), strict=True):
        assert np.array_equal(labels, labeller.label(store.load(name)).places)
    assert told[-1][:2] == (800, 800)
    asked = len(labeller.network.colours)
    again = predict_scans(labeller, store, tmp_path / "predicted", ignore)
    assert len(labeller.network.colours) == asked
    assert np.array_equal(again.labels, found.labels)
    assert np.array_equal(again.confidence, found.confidence)

    targets = store_pseudo_labels(store, found, 0.25, "teacher", tmp_path / "targets")
    chosen = surest_of_each_class(found.labels, found.confidence, 0.25)
    for name, labels, kept in zip("ab", found.parts(found.labels), found.parts(chosen), strict=True):
        stored = targets.number_labels(np.asarray(targets.arrays(name)["labels"]))
        assert np.array_equal(stored, np.where(kept, labels, -1))
        assert np.array_equal(targets.arrays(name)["xyz"], store.arrays(name)["xyz"])
    other = Predictions((found.labels + 1) % 5, found.confidence, found.lengths)
    renewed = store_pseudo_labels(store, other, 0.25, "another teacher", tmp_path / "targets")
    assert renewed.checksum != targets.checksum
