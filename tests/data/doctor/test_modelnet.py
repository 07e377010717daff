import pytest

from point2node.data.doctor.modelnet import examine_modelnet
from tests.data.layouts import write_modelnet_h5, write_modelnet_meshes, write_modelnet_texts

FORTY = tuple(f"class{number}" for number in range(40))


def said(diagnosis):
    return [str(finding) for finding in diagnosis.findings]


@pytest.mark.parametrize("train", [9843, 9840])
def test_a_whole_modelnet40_has_no_findings_and_the_h5_release_may_lack_three(tmp_path, train):
    write_modelnet_h5(tmp_path, classes=FORTY, train=(train,), test=(2468,), points=1)
    diagnosis = examine_modelnet(tmp_path, workers=1)
    assert said(diagnosis) == []
    assert diagnosis.release == "h5 files of sampled shapes, 40 classes, y up"


def test_missing_shapes_and_files_are_named(tmp_path):
    write_modelnet_h5(tmp_path, classes=FORTY)
    (tmp_path / "ply_data_train0.h5").unlink()
    (tmp_path / "ply_data_test0.h5").write_bytes(b"not h5")
    findings = said(examine_modelnet(tmp_path, workers=1))
    assert "ply_data_train0.h5: listed in train_files.txt but missing, left out" in findings
    assert "train: 4 shapes, expected 9843" in findings
    assert any(one.startswith("ply_data_test0.h5: expected an HDF5 file") for one in findings)


def test_an_unusual_number_of_classes_is_a_finding(tmp_path):
    write_modelnet_h5(tmp_path)
    assert said(examine_modelnet(tmp_path, workers=1)) == ["classes: 3 classes, expected 10 or 40"]


def test_every_damaged_mesh_and_line_is_named(tmp_path):
    write_modelnet_meshes(tmp_path / "meshes")
    for split in ("train", "test"):
        (tmp_path / "meshes/chair" / split / "chair_0001.off").write_text("OFF\n1 1\n")
    findings = said(examine_modelnet(tmp_path / "meshes", workers=1))
    assert sum("chair_0001.off: " in one for one in findings) == 2
    write_modelnet_texts(tmp_path / "texts")
    (tmp_path / "texts/chair/chair_0000.txt").write_text("x\n1,2,3,4,5,6\ny\n")
    findings = said(examine_modelnet(tmp_path / "texts", workers=1))
    assert [one.split(":")[0] for one in findings[:2]] == [
        "chair/chair_0000.txt, line 1",
        "chair/chair_0000.txt, line 3",
    ]
