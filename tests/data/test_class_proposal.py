import json

import numpy as np
import pytest
import yaml

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.class_file import read_class_file
from point2node.data.class_proposal import propose_classes
from point2node.data.label_sidecar import sidecar_path
from point2node.formats import write
from tests.data.layouts import write_own_cloud


def ignore(done, total, name):
    pass


def propose(root, target):
    propose_classes(root, target, ignore)
    classes, ignored = read_class_file(target)
    return {one.value: one.name for one in classes}, ignored


def test_every_value_gets_a_line_and_the_file_can_be_used_as_it_is(tmp_path):
    write_own_cloud(tmp_path / "scans/a.ply", [2, 5, 5])
    (tmp_path / "scans/b.xyz").write_text("x y z label\n1 2 3 5\n1 2 4 -1\n1 2 5 40\n")
    names, ignored = propose(tmp_path / "scans", tmp_path / "classes.yaml")
    assert names == {2: "class 2", 5: "class 5", 40: "class 40"}
    assert ignored == (-1,)
    assert "value: 5}  # 3 points in 2 files" in (tmp_path / "classes.yaml").read_text()


def test_las_files_have_the_names_of_their_standard(tmp_path):
    labels = np.array([0, 1, 2, 6, 7, 64])
    write(tmp_path / "a.laz", PointCloud(np.random.default_rng(0).random((6, 3)), labels=labels))
    assert propose(tmp_path, tmp_path / "classes.yaml") == ({2: "ground", 6: "building", 64: "class 64"}, (0, 1, 7))


def test_names_come_from_the_file_beside_a_labelled_cloud_and_stay_apart(tmp_path):
    write_own_cloud(tmp_path / "a.ply", [1, 2, 255])
    odd = 'a "wall": #1\\ {x'
    classes = [{"name": odd, "value": 1, "colour": [1, 2, 3]}, {"name": odd, "value": 2, "colour": [1, 2, 3]}]
    note = {"point2node": "0", "input": "", "weights": "", "classes": classes, "points": 3}
    sidecar_path(tmp_path / "a.ply").write_text(json.dumps(note))
    assert propose(tmp_path / "*.ply", tmp_path / "classes.yaml") == ({1: f"{odd} 1", 2: f"{odd} 2"}, (255,))


def test_a_folder_of_ignored_values_alone_still_has_classes(tmp_path):
    write(tmp_path / "a.las", PointCloud(np.zeros((3, 3)), labels=np.zeros(3, np.int32)))
    assert propose(tmp_path, tmp_path / "classes.yaml") == ({0: "class 0"}, ())


def test_what_cannot_be_proposed_for_is_refused_and_nothing_is_overwritten(tmp_path):
    (tmp_path / "classes.yaml").write_text("mine")
    with pytest.raises(InputError, match="found one that exists"):
        propose(tmp_path, tmp_path / "classes.yaml")
    assert yaml.safe_load((tmp_path / "classes.yaml").read_text()) == "mine"
    write(tmp_path / "a.ply", PointCloud(np.zeros((300, 3)), labels=np.arange(300)))
    with pytest.raises(InputError, match="at most 255 different labels, found 300"):
        propose(tmp_path, tmp_path / "new.yaml")
    write(tmp_path / "a.ply", PointCloud(np.zeros((3, 3))))
    with pytest.raises(InputError, match="a cloud with labels"):
        propose(tmp_path, tmp_path / "new.yaml")
    assert not (tmp_path / "new.yaml").exists()
