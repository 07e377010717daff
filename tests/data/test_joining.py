import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.data import modelnet
from point2node.data.modelnet import find_modelnet
from point2node.data.preparation import prepare
from point2node.data.store import open_store
from tests.data.layouts import write_modelnet_meshes, write_modelnet_texts


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(modelnet, "SHAPES_IN_PART", 1)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


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
