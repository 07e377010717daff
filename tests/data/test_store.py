import json

import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.preparation import prepare
from point2node.data.sources import Dataset, Scene, Shapes, Source
from point2node.data.store import open_store


def scene_source(name, cloud, split="train"):
    return Source(name, split, (), lambda skip_damaged: [Scene(name, split, cloud)])


def store_of(folder, *sources, **settings):
    prepare(Dataset("toy", "toy", S3DIS, sources, **settings), folder, workers=1)
    return open_store(folder)


def random_cloud(points=50, offset=0.0, extent=20.0, **attributes):
    rng = np.random.default_rng(points)
    xyz = rng.uniform(-extent, extent, (points, 3)) + offset
    return PointCloud(xyz, labels=rng.integers(0, 13, points), **attributes)


def test_what_is_stored_comes_back(tmp_path):
    rgb = np.arange(150, dtype=np.uint8).reshape(50, 3)
    cloud = random_cloud(rgb=rgb, normals=np.ones((50, 3)), intensity=np.arange(50.0), instance=np.arange(50))
    loaded = store_of(tmp_path / "store", scene_source("a", cloud)).load("a")
    np.testing.assert_allclose(loaded.xyz, cloud.xyz, atol=1e-6, rtol=0)
    for name in ("rgb", "normals", "intensity", "labels", "instance"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(cloud, name))
    assert not loaded.fields


@pytest.mark.parametrize("field", ["gps time", "xyz", "a/b\\c:d", 'Höhe?"<*>|%', "..", "\0\n", "long" * 100])
def test_further_fields_come_back_whatever_their_name(tmp_path, field):
    fields = {field: np.arange(50.0), "wide": np.ones((50, 2), np.int16)}
    store = store_of(tmp_path / "store", scene_source("a", random_cloud(fields=fields)))
    store.check("a")
    loaded = store.load("a")
    assert loaded.fields.keys() == fields.keys()
    for name, values in fields.items():
        assert loaded.fields[name].dtype == values.dtype
        np.testing.assert_array_equal(loaded.fields[name], values)


def test_rooms_take_single_precision_and_labels_one_byte(tmp_path):
    store_of(tmp_path / "store", scene_source("a", random_cloud(extent=10.0)))
    (folder,) = (tmp_path / "store" / "scenes").iterdir()
    assert np.load(folder / "xyz.npy").dtype == np.float32
    assert np.load(folder / "labels.npy").dtype == np.uint8


def test_map_coordinates_over_kilometres_come_back_to_a_micrometre(tmp_path):
    cloud = random_cloud(offset=np.array([4e5, 5e6, 100.0]), extent=3000.0)
    loaded = store_of(tmp_path / "store", scene_source("a", cloud)).load("a")
    assert np.abs(loaded.xyz - cloud.xyz).max() <= 1e-6


def test_shapes_are_one_mapped_array_for_each_split(tmp_path):
    shapes = Shapes(np.zeros((4, 8, 3), np.float32), np.array([0, 1, 1, 2], np.int32), np.array(["ä", "b", "c", "d"]))
    source = Source("train", "train", (), lambda skip_damaged: [Scene("train", "train", shapes)])
    store = store_of(tmp_path / "store", source, task="classification")
    loaded = store.shapes("train")
    assert isinstance(loaded.xyz, np.memmap)
    assert list(loaded.names) == ["ä", "b", "c", "d"]
    assert store.entry("train").labels == {0: 1, 1: 2, 2: 1}
    with pytest.raises(InputError, match="expected a store for segmentation, found one for classification"):
        store.load("train")


def test_names_may_have_spaces_slashes_and_letters_of_any_alphabet(tmp_path):
    names = ("Büro 1/Raum: ä", "Büro 1", "会議室%2F", "x" * 400)
    store = store_of(tmp_path / "mein Speicher", *(scene_source(name, random_cloud()) for name in names))
    assert set(store.scenes("train")) == set(names)
    assert all(len(store.load(name)) == 50 for name in names)


def test_numbered_labels_leave_out_what_is_ignored(tmp_path):
    store = store_of(tmp_path / "store", scene_source("a", random_cloud()), ignored=(3,))
    np.testing.assert_array_equal(store.number_labels(np.array([0, 3, 12, 99])), [0, -1, 12, -1])


def test_the_manifest_has_no_times_and_no_absolute_paths(tmp_path):
    store_of(tmp_path / "store", scene_source("a", random_cloud()))
    text = (tmp_path / "store" / "manifest.json").read_text()
    assert str(tmp_path) not in text
    manifest = json.loads(text)
    assert manifest["classes"][0] == {"name": "ceiling", "value": 0, "colour": [0, 255, 0]}
    assert {"name", "split", "points", "checksum", "lost"} <= set(manifest["scenes"][0])


def test_a_split_or_scene_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    store = store_of(tmp_path / "store", scene_source("a", random_cloud()))
    with pytest.raises(InputError, match="one of train"):
        store.scenes("tran")
    with pytest.raises(InputError, match="one of a"):
        store.load("b")


def test_opening_something_else_says_what_it_is(tmp_path):
    with pytest.raises(InputError, match="found none"):
        open_store(tmp_path)
    (tmp_path / "scenes").mkdir()
    with pytest.raises(InputError, match="found an unfinished one"):
        open_store(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "dataset": 3}', "\x00"])
def test_a_damaged_manifest_is_one_clear_error(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json"):
        open_store(tmp_path)


def test_a_checksum_does_not_lead_out_of_the_store(tmp_path):
    manifest = store_of(tmp_path / "s", scene_source("a", random_cloud())).path / "manifest.json"
    content = json.loads(manifest.read_text())
    content["scenes"][0]["checksum"] = "/../../../out" + "0" * 51
    manifest.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"a valid 'scenes\.0\.checksum'"):
        open_store(manifest.parent)


def test_a_missing_a_truncated_and_a_changed_array_are_noticed(tmp_path):
    store = store_of(tmp_path / "store", scene_source("a", random_cloud()))
    store.check("a")
    (file,) = (tmp_path / "store").glob("scenes/*/xyz.npy")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(InputError, match="expected the checksum"):
        store.check("a")
    file.write_bytes(whole[:-8])
    with pytest.raises(InputError, match=r"a complete \.npy file"):
        store.load("a")
    file.unlink()
    with pytest.raises(InputError, match="expected the xyz of 'a', found nothing"):
        open_store(tmp_path / "store")


def test_a_manifest_nested_too_deeply_is_refused_in_one_line(tmp_path):
    (tmp_path / "manifest.json").write_text("[" * 20_000)
    with pytest.raises(InputError, match="nested too deeply"):
        open_store(tmp_path)
