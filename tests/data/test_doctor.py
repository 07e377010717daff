import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.data.doctor import examine_modelnet, examine_s3dis, examine_scannet
from tests.data.layouts import (
    KNOWN_DAMAGE,
    write_damaged_s3dis,
    write_label_map,
    write_modelnet_h5,
    write_modelnet_meshes,
    write_modelnet_texts,
    write_ply,
    write_room,
    write_s3dis,
    write_scannet_pickles,
    write_scannet_scene,
    write_segments,
    write_whole_s3dis,
)


def said(diagnosis):
    return [str(finding) for finding in diagnosis.findings]


def test_a_whole_copy_has_no_findings(tmp_path):
    diagnosis = examine_s3dis(write_whole_s3dis(tmp_path))
    assert said(diagnosis) == []
    assert sum(diagnosis.counts.values()) == 272


def test_missing_rooms_are_counted_by_area(tmp_path):
    write_s3dis(tmp_path)
    assert "Area_1: 2 rooms, expected 44" in said(examine_s3dis(tmp_path, workers=1))
    assert "Area_6: 0 rooms, expected 48" in said(examine_s3dis(tmp_path, workers=1))


@pytest.mark.parametrize("path", KNOWN_DAMAGE)
def test_every_known_damage_is_named_by_path_line_and_bytes(tmp_path, path):
    write_damaged_s3dis(tmp_path)
    damaged, original = (repr(line)[2:-1] for line in KNOWN_DAMAGE[path])
    expected = f"{path}, line 2: expected six numbers x y z r g b, found '{damaged}'; repairable as '{original}'"
    assert expected in said(examine_s3dis(tmp_path, workers=1))


def test_repairing_writes_only_the_corrected_files_and_leaves_the_originals(tmp_path):
    root, repairs = write_damaged_s3dis(tmp_path / "root"), tmp_path / "repairs"
    before = {path: path.read_bytes() for path in root.rglob("*.txt")}
    diagnosis = examine_s3dis(root, repairs, workers=1)
    written = sorted(path.relative_to(repairs).as_posix() for path in repairs.rglob("*") if path.is_file())
    assert written == sorted(KNOWN_DAMAGE) == sorted(diagnosis.repaired)
    for path, (damaged, original) in KNOWN_DAMAGE.items():
        assert (repairs / path).read_bytes() == before[root / path].replace(damaged, original)
    assert {path: path.read_bytes() for path in root.rglob("*.txt")} == before


def test_what_cannot_be_repaired_is_said_and_left(tmp_path):
    write_room(
        tmp_path / "root" / "Area_1", "office_1", {"wall_1": [b"1 2 3 4 5 6", b"1 2 3 O 5 6", b"1 2\x003 4 5 6"]}
    )
    findings = said(examine_s3dis(tmp_path / "root", tmp_path / "repairs", workers=1))
    assert any("line 2" in one and one.endswith("not repairable without guessing") for one in findings)
    corrected = (tmp_path / "repairs/Area_1/office_1/Annotations/wall_1.txt").read_bytes()
    assert corrected.splitlines() == [b"1 2 3 4 5 6", b"1 2 3 O 5 6", b"1 2 3 4 5 6"]


def test_wrong_names_unknown_classes_missing_files_and_empty_rooms_are_named(tmp_path):
    write_damaged_s3dis(tmp_path)
    room = write_room(tmp_path / "Area_1", "office_9", {"lamp_1": 2, "stairs_1": 2, "wall_1": []})
    (room / "office_9.txt").unlink()
    (room / "Annotations" / ".DS_Store").write_bytes(b"\x00")
    (tmp_path / "Area_1" / "storage_1" / "Annotations").mkdir(parents=True)
    findings = said(examine_s3dis(tmp_path, workers=1))
    assert "Area_6/copyRoom_1/copy_Room_1.txt: wrong name: expected copyRoom_1.txt" in findings
    assert "Area_1/office_9/Annotations/lamp_1.txt: unknown class 'lamp', counted as clutter" in findings
    assert "Area_1/office_9/Annotations/wall_1.txt: no points" in findings
    assert "Area_1/office_9/office_9.txt: missing file" in findings
    assert "Area_1/storage_1/Annotations: empty room: no <class>_<number>.txt" in findings
    assert not any("stairs" in one or "DS_Store" in one for one in findings)


def test_preprocessed_rooms_that_cannot_be_read_are_named(tmp_path):
    np.save(tmp_path / "Area_1_office_1.npy", np.zeros((3, 7)))
    np.save(tmp_path / "Area_1_office_2.npy", np.zeros((3, 6)))
    np.save(tmp_path / "office_3.npy", np.zeros((3, 7)))
    diagnosis = examine_s3dis(tmp_path, workers=1)
    assert diagnosis.counts == {"Area_1": 1}
    assert said(diagnosis)[0].startswith("Area_1_office_2.npy: expected an array of shape (N, 7)")
    assert "office_3.npy: not named Area_k_<room>.npy, left out" in said(diagnosis)


def test_something_else_is_unreadable(tmp_path):
    with pytest.raises(InputError):
        examine_s3dis(tmp_path, workers=1)


def test_scenes_are_counted_against_1201_and_312(tmp_path):
    write_scannet_pickles(tmp_path)
    diagnosis = examine_scannet(tmp_path, workers=1)
    assert diagnosis.release == "two pickles of PointNet++"
    assert said(diagnosis) == ["train: 3 scenes, expected 1201", "test: 2 scenes, expected 312"]


def test_a_whole_pair_of_pickles_has_no_findings(tmp_path):
    write_scannet_pickles(tmp_path, train=1201, test=312)
    assert said(examine_scannet(tmp_path, workers=1)) == []


def test_missing_scenes_missing_labels_unknown_classes_and_misfits_are_named(tmp_path):
    write_label_map(tmp_path)
    write_scannet_scene(tmp_path, "scene0000_00", [1, 2])
    write_scannet_scene(tmp_path, "scene0001_00", [1], segments=True)
    folder = write_scannet_scene(tmp_path, "scene0002_00", [0, 0], segments=True)
    write_segments(folder, [1, 2], [("spaceship", [1])])
    broken = write_scannet_scene(tmp_path, "scene0003_00", [1, 2])
    write_ply(broken / "scene0003_00_vh_clean_2.labels.ply", np.zeros((1, 3)), np.array([1]))
    names = [f"scene000{number}_00" for number in range(5)]
    (tmp_path / "scannetv2_train.txt").write_text("\n".join(names))
    findings = said(examine_scannet(tmp_path, workers=1))
    assert "scene0001_00: no mesh or no labels, left out" in findings
    assert "scene0002_00.aggregation.json: unknown class 'spaceship', counted as unannotated" in findings
    misfit = "scans/scene0003_00/scene0003_00_vh_clean_2.labels.ply: expected a label"
    assert any(one.startswith(misfit) for one in findings)
    assert "scene0004_00: missing scene" in findings
    assert "train: 2 scenes, expected 1201" in findings


def test_without_split_files_all_scenes_are_counted_together(tmp_path):
    write_scannet_scene(tmp_path, "scene0000_00", [1])
    assert said(examine_scannet(tmp_path, workers=1)) == ["all: 1 scenes, expected 1513"]


FORTY = tuple(f"class{number}" for number in range(40))


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
