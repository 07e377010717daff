import h5py
import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.data.modelnet import find_modelnet
from point2node.data.preparation import prepare
from point2node.data.store import open_store
from tests.data.layouts import write_modelnet_h5, write_modelnet_meshes, write_modelnet_texts


def read_all(dataset, skip_damaged=False):
    return {scene.name: scene for source in dataset.sources for scene in source.read(skip_damaged)}


@pytest.mark.parametrize("top", ["", "modelnet40_ply_hdf5_2048"])
def test_h5_folders_are_read_whatever_path_their_lists_name(tmp_path, top):
    write_modelnet_h5(tmp_path / top, normals=True)
    dataset = find_modelnet(tmp_path)
    scenes = read_all(dataset)
    assert [one.name for one in dataset.classes] == ["chair", "table", "sofa"]
    assert scenes["train"].content.xyz.shape == (9, 16, 3)
    assert scenes["train"].content.normals.shape == (9, 16, 3)
    assert scenes["test"].content.names[2] == "test_00002"


def test_lists_with_windows_separators_and_line_ends_are_read(tmp_path):
    write_modelnet_h5(tmp_path)
    (tmp_path / "test_files.txt").write_bytes(b"data\\modelnet\\ply_data_test0.h5\r\n")
    assert len(read_all(find_modelnet(tmp_path))["test"].content) == 3


def test_shapes_to_validate_on_may_have_a_list_of_their_own(tmp_path):
    write_modelnet_h5(tmp_path)
    (tmp_path / "val_files.txt").write_text("ply_data_train1.h5\n")
    (tmp_path / "train_files.txt").write_text("ply_data_train0.h5\n")
    scenes = read_all(find_modelnet(tmp_path))
    assert {name: len(scene.content) for name, scene in scenes.items()} == {"train": 5, "val": 4, "test": 3}


@pytest.mark.parametrize(("classes", "up"), [(40, "y"), (10, "z")])
def test_the_up_axis_is_stated_and_can_be_set(tmp_path, classes, up):
    write_modelnet_h5(tmp_path, classes=[f"class{n}" for n in range(classes)])
    assert find_modelnet(tmp_path).settings["up"] == up
    assert find_modelnet(tmp_path, up="x").settings["up"] == "x"


def test_one_split_is_enough_and_a_listed_file_that_is_missing_is_noted(tmp_path):
    write_modelnet_h5(tmp_path)
    (tmp_path / "test_files.txt").unlink()
    (tmp_path / "ply_data_train1.h5").unlink()
    dataset = find_modelnet(tmp_path)
    assert len(read_all(dataset)["train"].content) == 5
    assert dataset.notes == ("ply_data_train1.h5: listed in train_files.txt but missing, left out",)


def test_damaged_h5_files_are_refused_by_name(tmp_path):
    write_modelnet_h5(tmp_path, train=(2,), test=())
    file = tmp_path / "ply_data_train0.h5"
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"ply_data_train0\.h5"):
        read_all(find_modelnet(tmp_path))
    file.write_bytes(whole)
    with h5py.File(file, "a") as opened:
        opened["label"][...] = 3
    with pytest.raises(InputError, match="labels from 0 to 2"):
        read_all(find_modelnet(tmp_path))


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ({"data": np.full((2, 4, 3), b"a"), "label": [0, 1]}, "data: expected numbers"),
        ({"data": np.zeros((2, 4, 3)), "label": [b"a", b"b"]}, "label: expected numbers"),
        ({"data": np.zeros((2, 4, 3)), "label": [np.nan, 1]}, "labels from 0 to 2, .* found nan"),
        ({"data": np.zeros((2, 4, 3)), "label": [0.5, 1]}, "labels from 0 to 2, .* found 0.5"),
        ({"data": np.zeros((2, 4, 3)), "label": [0, 1], "normal": np.full((2, 4, 3), b"a")}, "normal: expected num"),
        ({"data": np.zeros((2, 4, 3)), "label": [0, 1], "name": np.array([1j, 2j])}, "name: expected numbers or texts"),
    ],
)
def test_h5_files_of_other_things_are_refused_by_name_or_lost(tmp_path, datasets, message):
    write_modelnet_h5(tmp_path, train=(3, 2), points=4)
    with h5py.File(tmp_path / "ply_data_train0.h5", "w") as file:
        for name, values in datasets.items():
            file[name] = values
    with pytest.raises(InputError, match=rf"ply_data_train0\.h5.*{message}"):
        read_all(find_modelnet(tmp_path))
    scene = read_all(find_modelnet(tmp_path), skip_damaged=True)["train"]
    assert len(scene.content) == 2
    assert [lost.path for lost in scene.lost] == ["ply_data_train0.h5"]


def test_an_h5_file_may_not_choose_other_files_of_the_machine(tmp_path):
    write_modelnet_h5(tmp_path, train=(1,), test=(), points=4)
    np.zeros(12, np.float32).tofile(tmp_path / "secret")
    with h5py.File(tmp_path / "ply_data_train0.h5", "w") as file:
        file.create_dataset("data", (1, 4, 3), "f4", external=[(str(tmp_path / "secret"), 0, 48)])
        file["label"] = [0]
    with pytest.raises(InputError, match="data inside the file"):
        read_all(find_modelnet(tmp_path))
    scene = read_all(find_modelnet(tmp_path), skip_damaged=True)["train"]
    assert (len(scene.content), len(scene.lost)) == (0, 1)


def test_names_in_an_h5_file_may_be_of_any_bytes(tmp_path):
    write_modelnet_h5(tmp_path, train=(2,), test=(), points=4)
    with h5py.File(tmp_path / "ply_data_train0.h5", "a") as file:
        file["name"] = [b"chair_1", b"\xff"]
    assert list(read_all(find_modelnet(tmp_path))["train"].content.names) == ["chair_1", r"\xff"]


def test_resampled_texts_are_read_with_their_normals(tmp_path):
    write_modelnet_texts(tmp_path)
    dataset = find_modelnet(tmp_path)
    train = read_all(dataset)["train"].content
    assert dataset.settings["up"] == "y"
    assert list(train.names) == ["chair_0000", "night_stand_0001"]
    np.testing.assert_array_equal(train.labels, [0, 1])
    written = np.loadtxt(tmp_path / "chair" / "chair_0000.txt", delimiter=",", dtype=np.float32)
    np.testing.assert_array_equal(train.xyz[0], written[:, :3])
    np.testing.assert_array_equal(train.normals[0], written[:, 3:])


def test_another_order_of_the_class_names_gives_other_labels_in_a_store_that_was_there(tmp_path):
    write_modelnet_texts(tmp_path / "root")
    prepare(find_modelnet(tmp_path / "root"), tmp_path / "store", workers=1)
    assert open_store(tmp_path / "store").shapes("train").labels.tolist() == [0, 1]
    (tmp_path / "root" / "modelnet40_shape_names.txt").write_text("night_stand\nchair\n")
    prepare(find_modelnet(tmp_path / "root"), tmp_path / "store", workers=1)
    assert open_store(tmp_path / "store").shapes("train").labels.tolist() == [1, 0]


def test_a_damaged_text_stops_or_is_lost_with_its_lines(tmp_path):
    write_modelnet_texts(tmp_path)
    file = tmp_path / "chair" / "chair_0000.txt"
    file.write_bytes(b"1,2,x\n" + file.read_bytes())
    with pytest.raises(InputError, match=r"chair/chair_0000\.txt, line 1: expected six numbers"):
        read_all(find_modelnet(tmp_path))
    scene = read_all(find_modelnet(tmp_path), skip_damaged=True)["train"]
    assert list(scene.content.names) == ["night_stand_0001"]
    assert str(scene.lost[0]) == "chair/chair_0000.txt, line 1: '1,2,x'"


@pytest.mark.parametrize("header", ["OFF\n4 4 0\n", "OFF4 4 0\n"])
def test_meshes_are_sampled_into_the_unit_sphere_the_same_every_time(tmp_path, header):
    write_modelnet_meshes(tmp_path, header)
    dataset = find_modelnet(tmp_path)
    train = read_all(dataset)["train"].content
    assert dataset.settings["up"] == "z"
    assert train.xyz.shape == (2, 2048, 3)
    radii = np.linalg.norm(train.xyz, axis=2).max(axis=1)
    np.testing.assert_allclose(radii, 1, rtol=1e-6)
    np.testing.assert_array_equal(train.xyz, read_all(find_modelnet(tmp_path))["train"].content.xyz)


def test_a_damaged_mesh_stops_or_is_lost_as_a_whole(tmp_path):
    write_modelnet_meshes(tmp_path)
    (tmp_path / "chair/train/chair_0001.off").write_text("OFF\n3 1\n")
    with pytest.raises(InputError, match=r"chair_0001\.off"):
        read_all(find_modelnet(tmp_path))
    scene = read_all(find_modelnet(tmp_path), skip_damaged=True)["train"]
    assert list(scene.content.names) == ["night_stand_0001"]
    assert scene.lost[0].path == "chair/train/chair_0001.off"


def test_an_empty_text_is_named_and_not_the_shapes_beside_it(tmp_path):
    write_modelnet_texts(tmp_path)
    (tmp_path / "chair" / "chair_0000.txt").write_bytes(b"\n")
    with pytest.raises(InputError, match=r"chair/chair_0000\.txt: expected six numbers .*, found no points"):
        read_all(find_modelnet(tmp_path))
    scene = read_all(find_modelnet(tmp_path), skip_damaged=True)["train"]
    assert str(scene.lost[0]) == "chair/chair_0000.txt: no points"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("shape_names.txt", b"ch\xffair\n", r"shape_names\.txt: expected a text in UTF-8, found the byte 0xff"),
        ("shape_names.txt", b"", r"shape_names\.txt: expected the names of the classes, one per line, found none"),
        ("shape_names.txt", b"a\nb\na\n", "found 'a' more than once"),
        ("train_files.txt", b"\xff\n", r"train_files\.txt: expected a text in UTF-8"),
    ],
)
def test_lists_that_make_no_sense_are_refused_by_name(tmp_path, name, content, message):
    write_modelnet_h5(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        find_modelnet(tmp_path)


def test_a_list_with_a_byte_order_mark_is_read(tmp_path):
    write_modelnet_h5(tmp_path)
    (tmp_path / "shape_names.txt").write_bytes(b"\xef\xbb\xbfchair\r\ntable\r\nsofa\r\n")
    assert [one.name for one in find_modelnet(tmp_path).classes] == ["chair", "table", "sofa"]


def test_a_file_beside_the_meshes_that_is_none_is_noted(tmp_path):
    write_modelnet_meshes(tmp_path)
    (tmp_path / "chair" / "train" / "chair_0002.ply").touch()
    (tmp_path / "chair" / "train" / ".DS_Store").touch()
    assert find_modelnet(tmp_path).notes == ("chair/train/chair_0002.ply: no .off mesh, left out",)


def test_two_releases_side_by_side_are_not_guessed_between(tmp_path):
    write_modelnet_h5(tmp_path / "h5")
    write_modelnet_meshes(tmp_path / "meshes")
    with pytest.raises(InputError, match=r"found h5, meshes\. Point ROOT at one of them"):
        find_modelnet(tmp_path)


def test_a_root_of_something_else_says_what_was_expected(tmp_path):
    with pytest.raises(InputError, match=r"train_files\.txt"):
        find_modelnet(tmp_path)
