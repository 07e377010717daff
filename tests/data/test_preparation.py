import os
from functools import partial

import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data import modelnet
from point2node.data.modelnet import find_modelnet
from point2node.data.preparation import prepare
from point2node.data.s3dis import find_s3dis
from point2node.data.sources import Dataset, Scene, Source
from point2node.data.store import open_store
from tests.data.layouts import write_modelnet_meshes, write_modelnet_texts, write_room, write_s3dis


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def read_toy(name, points, skip_damaged):
    yield Scene(name, "train", PointCloud(np.zeros((points, 3)), labels=np.zeros(points)))


def toy(*names, points=3):
    sources = (Source(name, "train", (), partial(read_toy, name, points)) for name in names)
    return Dataset("toy", "toy", S3DIS, tuple(sources))


def test_workers_and_one_process_give_the_same_bytes(tmp_path):
    root = write_s3dis(tmp_path / "root")
    prepare(find_s3dis(root), tmp_path / "one", workers=1)
    prepare(find_s3dis(root), tmp_path / "two", workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_running_again_reads_only_what_changed(tmp_path):
    root = write_s3dis(tmp_path / "root")
    assert prepare(find_s3dis(root), tmp_path / "store", workers=1).read == 4
    before = contents(tmp_path / "store")
    assert prepare(find_s3dis(root), tmp_path / "store", workers=1).read == 0
    assert contents(tmp_path / "store") == before

    changed = root / "Area_5/office_2/Annotations/chair_1.txt"
    changed.write_bytes(changed.read_bytes() + b"1 2 3 4 5 6\n")
    write_room(root / "Area_5", "office_3", {"wall_1": 5})
    prepared = prepare(find_s3dis(root), tmp_path / "store", workers=1)
    assert prepared.read == 2
    assert [scene.points for scene in prepared.manifest.scenes] == [60, 60, 60, 61, 5]
    prepare(find_s3dis(root), tmp_path / "fresh", workers=1)
    assert contents(tmp_path / "store") == contents(tmp_path / "fresh")


def test_a_file_touched_without_a_change_gives_the_same_arrays(tmp_path):
    root = write_s3dis(tmp_path / "root")
    prepare(find_s3dis(root), tmp_path / "store", workers=1)
    manifest = (tmp_path / "store" / "manifest.json").read_bytes()
    os.utime(root / "Area_1/office_1/Annotations/chair_1.txt", (1, 1))
    assert prepare(find_s3dis(root), tmp_path / "store", workers=1).read == 1
    assert (tmp_path / "store" / "manifest.json").read_bytes() == manifest


def test_what_was_finished_before_an_error_is_kept(tmp_path):
    root = write_s3dis(tmp_path / "root")
    damaged = root / "Area_5/office_2/Annotations/chair_1.txt"
    whole = damaged.read_bytes()
    damaged.write_bytes(b"1 2 3\n")
    with pytest.raises(InputError, match=r"chair_1\.txt, line 1"):
        prepare(find_s3dis(root), tmp_path / "store", workers=1)
    with pytest.raises(InputError, match="unfinished"):
        open_store(tmp_path / "store")
    damaged.write_bytes(whole)
    assert prepare(find_s3dis(root), tmp_path / "store", workers=1).read == 1


def test_a_store_stays_readable_while_it_is_brought_up_to_date(tmp_path):
    prepare(toy("a", "b", points=3), tmp_path / "store", workers=1)
    old = open_store(tmp_path / "store")

    def fail(skip_damaged):
        raise InputError("b", expected="points", found="none")

    changed = Dataset(
        "toy", "toy", S3DIS, (toy("a", points=5).sources[0], Source("b", "train", (), fail)), settings={"new": 1}
    )
    with pytest.raises(InputError):
        prepare(changed, tmp_path / "store", workers=1)
    assert len(open_store(tmp_path / "store").load("a")) == len(old.load("b")) == 3


def test_nothing_is_left_of_scenes_that_are_gone_or_of_a_killed_run(tmp_path):
    prepare(toy("a", "b"), tmp_path / "store", workers=1)
    (tmp_path / "store/scenes/.123.partial").mkdir()
    (tmp_path / "store/scenes/.123.partial/xyz.npy").write_bytes(b"half")
    prepare(toy("a"), tmp_path / "store", workers=1)
    prepare(toy("a"), tmp_path / "fresh", workers=1)
    assert contents(tmp_path / "store") == contents(tmp_path / "fresh")


def test_a_damaged_journal_only_costs_time(tmp_path):
    prepare(toy("a"), tmp_path / "store", workers=1)
    (tmp_path / "store/.journal/a.json").write_text("{")
    assert prepare(toy("a"), tmp_path / "store", workers=1).read == 1


def test_a_folder_that_is_no_store_is_never_swept(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="a folder with other contents"):
        prepare(toy("a"), tmp_path, workers=1)
    assert (tmp_path / "thesis.tex").exists()


def test_a_store_of_another_data_set_is_never_written_over(tmp_path):
    prepare(toy("a"), tmp_path / "store", workers=1)
    with pytest.raises(InputError, match="found a store of toy"):
        prepare(Dataset("other", "toy", S3DIS, toy("b").sources), tmp_path / "store", workers=1)
    assert open_store(tmp_path / "store").scenes() == ("a",)


@pytest.mark.parametrize("damage", [lambda text: text.replace('"format": 1', '"format": 99'), lambda text: text[:50]])
def test_a_store_of_another_version_or_with_a_damaged_manifest_is_made_anew(tmp_path, damage):
    prepare(toy("a"), tmp_path / "store", workers=1)
    manifest = tmp_path / "store" / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(damage(whole))
    with pytest.raises(InputError, match="Run 'point2node prepare' again"):
        open_store(tmp_path / "store")
    prepare(toy("a"), tmp_path / "store", workers=1)
    assert manifest.read_text() == whole


def test_a_scene_without_points_is_left_out_and_noted(tmp_path):
    dataset = Dataset("toy", "toy", S3DIS, (*toy("a").sources, *toy("empty", points=0).sources))
    prepared = prepare(dataset, tmp_path / "store", workers=1)
    assert [scene.name for scene in prepared.manifest.scenes] == ["a"]
    assert prepared.manifest.notes == ("empty: no points, left out",)
    assert prepare(dataset, tmp_path / "store", workers=1).read == 0


def test_a_data_set_without_anything_to_prepare_is_refused_and_nothing_is_written(tmp_path):
    nothing = Dataset("toy", "toy", S3DIS, (), notes=("a.h5: missing, left out",))
    with pytest.raises(InputError, match=r"toy: expected scenes or shapes to prepare, found none; a\.h5: missing"):
        prepare(nothing, tmp_path / "store", workers=1)
    assert not (tmp_path / "store").exists()


def test_two_scenes_of_one_name_are_refused(tmp_path):
    sources = (Source("a", "train", (), partial(read_toy, "x", 3)), Source("b", "train", (), partial(read_toy, "x", 3)))
    with pytest.raises(InputError, match="'x' more than once"):
        prepare(Dataset("toy", "toy", S3DIS, sources), tmp_path / "store", workers=1)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(modelnet, "SHAPES_IN_PART", 1)


@pytest.mark.parametrize("write", [write_modelnet_meshes, write_modelnet_texts])
def test_parts_read_by_workers_give_the_bytes_of_the_whole_read_at_once(tmp_path, monkeypatch, write):
    root = write(tmp_path / "root")
    prepare(find_modelnet(root), tmp_path / "whole", workers=1)
    (whole,) = (scene for source in find_modelnet(root).sources[:1] for scene in source.read(False))
    monkeypatch.setattr(modelnet, "SHAPES_IN_PART", 1)
    dataset = find_modelnet(root)
    assert [part.name for part in dataset.sources[0].parts] == ["train/0000", "train/0001"]
    prepare(dataset, tmp_path / "parts", workers=2)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    stored = open_store(tmp_path / "parts").shapes("train")
    for name in ("xyz", "labels", "names", "normals"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(whole.content, name))


def test_parts_that_were_finished_before_an_error_are_kept(tmp_path, small_parts):
    root = write_modelnet_meshes(tmp_path / "root")
    damaged = root / "night_stand/train/night_stand_0001.off"
    sound = damaged.read_bytes()
    damaged.write_bytes(b"OFF\n3 1\n")
    with pytest.raises(InputError, match=r"night_stand_0001\.off"):
        prepare(find_modelnet(root), tmp_path / "store", workers=1)
    damaged.write_bytes(sound)
    assert prepare(find_modelnet(root), tmp_path / "store", workers=1).read == 3
    prepare(find_modelnet(root), tmp_path / "fresh", workers=1)
    left = {path: data for path, data in contents(tmp_path / "store").items() if ".journal" not in path.parts}
    assert left == {path: data for path, data in contents(tmp_path / "fresh").items() if ".journal" not in path.parts}
    assert prepare(find_modelnet(root), tmp_path / "store", workers=1).read == 0


def test_what_is_lost_from_a_part_is_listed(tmp_path, small_parts):
    root = write_modelnet_meshes(tmp_path / "root")
    for name in ("chair", "night_stand"):
        (root / name / "test" / f"{name}_0001.off").write_bytes(b"OFF\n3 1\n")
    (root / "chair/train/chair_0001.off").write_bytes(b"OFF\n3 1\n")
    manifest = prepare(find_modelnet(root), tmp_path / "store", workers=1, skip_damaged=True).manifest
    assert [(scene.name, scene.shapes) for scene in manifest.scenes] == [("train", 1)]
    assert [lost.path for lost in manifest.lost] == [
        "chair/test/chair_0001.off", "night_stand/test/night_stand_0001.off", "chair/train/chair_0001.off",
    ]  # fmt: skip
    assert manifest.notes == ("test: no points, left out",)


def test_shapes_of_different_sizes_in_different_parts_are_refused_by_name(tmp_path, small_parts):
    root = write_modelnet_texts(tmp_path / "root")
    file = root / "night_stand/night_stand_0001.txt"
    file.write_bytes(file.read_bytes() + b"1,2,3,0,0,1\n")
    with pytest.raises(InputError, match=r"night_stand_0001\.txt: expected 8 points, as in the others, found 9"):
        prepare(find_modelnet(root), tmp_path / "store", workers=1)
