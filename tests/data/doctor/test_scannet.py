import numpy as np

from point2node.data.doctor.scannet import examine_scannet
from tests.data.layouts import write_label_map, write_ply, write_scannet_pickles, write_scannet_scene, write_segments


def said(diagnosis):
    return [str(finding) for finding in diagnosis.findings]


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
