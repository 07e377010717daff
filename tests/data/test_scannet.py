import json
import os
import pickle

import numpy as np
import pytest

from point2node.core.classes import SCANNET
from point2node.core.errors import InputError
from point2node.data.scannet import NYU40_NAMES, find_scannet, from_nyu40
from tests.data.layouts import write_label_map, write_ply, write_scannet_pickles, write_scannet_scene, write_segments

VALUE = {one.name: one.value for one in SCANNET}


def read_all(dataset, skip_damaged=False):
    return {scene.name: scene for source in dataset.sources for scene in source.read(skip_damaged)}


def test_the_class_list_is_the_one_of_the_pickles_and_holds_all_twenty_nyu40_classes():
    assert [one.value for one in SCANNET] == list(range(21))
    assert [one.name for one in SCANNET[:4]] == ["unannotated", "wall", "floor", "chair"]
    assert set(NYU40_NAMES.values()) == {one.name for one in SCANNET[1:]}


def test_nyu40_numbers_are_mapped_by_name_and_the_rest_is_unannotated(tmp_path):
    labels = from_nyu40(tmp_path, np.array([0, 1, 5, 24, 39, 13, 40]))
    names = ["unannotated", "wall", "chair", "refrigerator", "otherfurniture", "unannotated", "unannotated"]
    np.testing.assert_array_equal(labels, [VALUE[name] for name in names])
    with pytest.raises(InputError, match="from 0 to 40"):
        from_nyu40(tmp_path, np.array([41]))


def test_raw_scenes_are_read_with_the_labels_of_their_second_mesh(tmp_path):
    write_scannet_scene(tmp_path, "scene0000_00", [1, 2, 5, 0])
    dataset = find_scannet(tmp_path)
    scene = read_all(dataset)["scene0000_00"]
    np.testing.assert_array_equal(scene.content.labels, [VALUE["wall"], VALUE["floor"], VALUE["chair"], 0])
    assert scene.content.rgb is not None
    assert dataset.ignored == (0,)
    assert scene.split == "all"


def test_segments_and_the_label_map_give_the_same_labels_with_its_odd_spelling(tmp_path):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [0] * 5, segments=True)
    groups = [("wall", [7]), ("fridge", [9]), ("office chair", [3]), ("spaceship", [4])]
    write_segments(folder, [7, 9, 3, 4, 1], groups)
    write_label_map(tmp_path)
    scene = read_all(find_scannet(tmp_path))["scene0000_00"]
    expected = [VALUE["wall"], VALUE["refrigerator"], VALUE["chair"], 0, 0]
    np.testing.assert_array_equal(scene.content.labels, expected)
    assert scene.notes == ("scene0000_00.aggregation.json: unknown class 'spaceship', counted as unannotated",)


def test_the_split_files_decide_and_what_they_do_not_name_is_noted(tmp_path):
    for number in range(3):
        write_scannet_scene(tmp_path, f"scene000{number}_00", [1])
    (tmp_path / "scannetv2_train.txt").write_text("scene0000_00\r\n")
    (tmp_path / "scannetv2_val.txt").write_text("scene0001_00\n")
    dataset = find_scannet(tmp_path)
    assert {source.name: source.split for source in dataset.sources} == {
        "scene0000_00": "train",
        "scene0001_00": "test",
    }
    assert dataset.notes == ("scene0002_00: in none of the split files, left out",)


def test_lists_beside_the_scans_are_found_from_the_folder_above(tmp_path):
    write_scannet_scene(tmp_path / "scannet", "scene0000_00", [1])
    folder = write_scannet_scene(tmp_path / "scannet", "scene0001_00", [1], segments=True)
    write_segments(folder, [7], [("wall", [7])])
    write_label_map(tmp_path / "scannet")
    (tmp_path / "scannet" / "scannetv2_train.txt").write_text("scene0000_00\n")
    (tmp_path / "scannet" / "scannetv2_val.txt").write_text("scene0001_00\n")
    assert [source.split for source in find_scannet(tmp_path).sources] == ["train", "test"]


def test_the_first_release_divides_the_1201_once_more(tmp_path):
    for number, split in enumerate(("train", "val", "test")):
        write_scannet_scene(tmp_path, f"scene000{number}_00", [1])
        (tmp_path / f"scannetv1_{split}.txt").write_text(f"scene000{number}_00\n")
    assert [source.split for source in find_scannet(tmp_path).sources] == ["train", "train", "test"]


def test_a_scene_without_labels_is_left_out_and_noted(tmp_path):
    write_scannet_scene(tmp_path, "scene0000_00", [1])
    write_scannet_scene(tmp_path, "scene0707_00", [1], segments=True)
    dataset = find_scannet(tmp_path)
    assert [source.name for source in dataset.sources] == ["scene0000_00"]
    assert dataset.notes == ("scene0707_00: no mesh or no labels, left out",)


def test_labels_that_do_not_fit_the_mesh_are_refused_or_lost_as_a_whole(tmp_path):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [1, 2, 3], segments=True)
    write_segments(folder, [7, 7], [("wall", [7])])
    write_label_map(tmp_path)
    with pytest.raises(InputError, match="a label for each of the 3 vertices, found 2"):
        read_all(find_scannet(tmp_path))
    scene = read_all(find_scannet(tmp_path), skip_damaged=True)["scene0000_00"]
    assert len(scene.content) == 0
    assert scene.lost[0].line is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"segGroups": 3}', '{"segGroups": [{"label": "wall"}]}'])
def test_a_damaged_aggregation_is_refused_by_name(tmp_path, text):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [1], segments=True)
    write_segments(folder, [7], [])
    write_label_map(tmp_path)
    (folder / "scene0000_00.aggregation.json").write_text(text)
    with pytest.raises(InputError, match=r"aggregation\.json"):
        read_all(find_scannet(tmp_path))


@pytest.mark.parametrize("of_vertex", [["a", 1, 2], [10**30, 1, 2], [[1, 2], [3]], [None, 1, 2], 5])
def test_segments_that_are_no_numbers_are_refused_by_name(tmp_path, of_vertex):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [1, 2, 5], segments=True)
    write_segments(folder, [1, 1, 2], [("wall", [1])])
    write_label_map(tmp_path)
    (folder / "scene0000_00_vh_clean_2.0.010000.segs.json").write_text(json.dumps({"segIndices": of_vertex}))
    with pytest.raises(InputError, match=r"segs\.json: expected"):
        read_all(find_scannet(tmp_path))


@pytest.mark.parametrize("name", ["scannetv2_train.txt", "scannetv2-labels.combined.tsv"])
def test_lists_that_are_no_text_are_refused_by_name(tmp_path, name):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [1, 2, 5], segments=True)
    write_segments(folder, [1, 1, 2], [("wall", [1])])
    write_label_map(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=f"{name}: expected a text in UTF-8"):
        read_all(find_scannet(tmp_path))


def test_the_two_pickles_are_read(tmp_path):
    write_scannet_pickles(tmp_path)
    dataset = find_scannet(tmp_path)
    scenes = read_all(dataset)
    assert sorted(scenes) == ["test_0000", "test_0001", "train_0000", "train_0001", "train_0002"]
    assert len(scenes["train_0002"].content) == 22
    assert scenes["train_0002"].content.labels is not None


def test_a_pickle_with_code_in_it_is_refused(tmp_path):
    class Attack:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/trace",)

    (tmp_path / "scannet_train.pickle").write_bytes(pickle.dumps([Attack()]))
    with pytest.raises(InputError, match="refused"):
        read_all(find_scannet(tmp_path))
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("clouds", "labels"),
    [
        ([np.zeros((2, 3))], []),
        ([np.zeros((2, 3))], [np.zeros(3)]),
        ([np.zeros((1, 3))], [np.array([21])]),
        ([np.zeros((1, 3))], [np.array([np.nan])]),
        ([np.zeros(3)], [np.zeros(3)]),
        ([np.zeros((3, 2))], [np.zeros(3)]),
        ([np.zeros(())], [np.zeros(())]),
        ([np.full((1, 3), np.nan)], [np.zeros(1)]),
        ([[1, 2, 3]], [np.zeros(1)]),
        ({}, {}),
    ],
)
def test_pickles_that_do_not_hold_labelled_clouds_are_refused(tmp_path, clouds, labels):
    (tmp_path / "scannet_test.pickle").write_bytes(pickle.dumps(clouds) + pickle.dumps(labels))
    with pytest.raises(InputError, match=r"scannet_test\.pickle"):
        read_all(find_scannet(tmp_path))


def test_a_damaged_scene_of_a_pickle_is_lost_and_the_others_are_not(tmp_path):
    clouds, labels = [np.zeros((1, 3)), np.full((1, 3), np.inf)], [np.zeros(1), np.zeros(1)]
    (tmp_path / "scannet_train.pickle").write_bytes(pickle.dumps(clouds) + pickle.dumps(labels))
    (tmp_path / "scannet_test.pickle").write_bytes(b"")
    scenes = read_all(find_scannet(tmp_path), skip_damaged=True)
    assert {name: len(scene.content) for name, scene in scenes.items()} == {"train_0000": 1, "train_0001": 0, "test": 0}
    assert [str(lost) for lost in scenes["train_0001"].lost] == [
        "scannet_train.pickle: scene 1: expected finite coordinates, found 3 that are not"
    ]
    assert [lost.path for lost in scenes["test"].lost] == ["scannet_test.pickle"]


def test_a_mesh_with_a_vertex_nowhere_is_refused_or_lost_by_the_name_of_its_file(tmp_path):
    folder = write_scannet_scene(tmp_path, "scene0000_00", [1, 2])
    write_ply(folder / "scene0000_00_vh_clean_2.ply", np.array([[0, 0, 0], [np.nan, 0, 0]]))
    with pytest.raises(InputError, match=r"vh_clean_2\.ply: expected finite coordinates"):
        read_all(find_scannet(tmp_path))
    (scene,) = read_all(find_scannet(tmp_path), skip_damaged=True).values()
    assert [lost.path for lost in scene.lost] == ["scans/scene0000_00/scene0000_00_vh_clean_2.ply"]


def test_a_root_without_scenes_says_what_was_expected(tmp_path):
    with pytest.raises(InputError, match="Point ROOT at the folder that holds scans"):
        find_scannet(tmp_path)
