import laspy
import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.own_files import draw_splits, find_own_files
from point2node.data.preparation import prepare
from point2node.data.store import open_store
from point2node.formats import write
from tests.data.layouts import CLASS_FILE, write_own_cloud, write_ply


@pytest.fixture
def class_file(tmp_path):
    path = tmp_path / "classes.yaml"
    path.write_text(CLASS_FILE)
    return path


def read_all(dataset, skip_damaged=False):
    return {scene.name: scene for source in dataset.sources for scene in source.read(skip_damaged)}


def test_clouds_of_any_format_in_any_folder_are_read(tmp_path, class_file):
    root = tmp_path / "meine Scans"
    write_own_cloud(root / "a.ply", [2, 5])
    write_own_cloud(root / "Straße 1" / "ä b.PLY", [6, 0, 7])
    (root / "c.txt").write_text("x y z label\n1 2 3 2\n4 5 6 5\n")
    (root / ".DS_Store").write_bytes(b"\x00")
    (root / "notes.docx").write_bytes(b"PK")
    dataset = find_own_files(root, class_file)
    scenes = read_all(dataset)
    assert sorted(scenes) == ["Straße 1/ä b", "a", "c"]
    np.testing.assert_array_equal(scenes["Straße 1/ä b"].content.labels, [6, 0, 7])
    assert dataset.ignored == (0, 7)
    assert dataset.notes == ("notes.docx: no readable format, left out",)


def test_folders_named_after_the_splits_decide(tmp_path, class_file):
    root = tmp_path / "root"
    for split in ("train", "val", "test"):
        write_own_cloud(root / split / "a.ply", [2])
    assert [source.split for source in find_own_files(root, class_file).sources] == ["test", "train", "val"]
    write_own_cloud(root / "b.ply", [2])
    with pytest.raises(InputError, match=r"b\.ply: expected every cloud in train, val or test"):
        find_own_files(root, class_file)


def test_without_such_folders_the_seed_decides(tmp_path, class_file):
    for number in range(20):
        write_own_cloud(tmp_path / "root" / f"{number:02d}.ply", [2])
    drawn = [
        [source.split for source in find_own_files(tmp_path / "root", class_file, seed=s).sources] for s in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [drawn[0].count(split) for split in ("train", "val", "test")] == [16, 2, 2]


@pytest.mark.parametrize(("count", "sizes"), [(1, (1, 0, 0)), (2, (1, 1, 0)), (3, (1, 1, 1)), (10, (8, 1, 1))])
def test_few_scenes_leave_no_split_empty_that_need_not_be(count, sizes):
    splits = draw_splits(count, seed=0)
    assert tuple(splits.count(split) for split in ("train", "val", "test")) == sizes


def test_a_value_that_is_not_listed_is_refused_with_file_and_value(tmp_path, class_file):
    write_own_cloud(tmp_path / "root" / "a.ply", [2, 9])
    with pytest.raises(InputError, match=r"a\.ply: .*found the value 9\. Add it to the classes, or to 'ignore'\."):
        read_all(find_own_files(tmp_path / "root", class_file))


def test_points_without_a_position_are_left_out_and_noted(tmp_path, class_file):
    (tmp_path / "root").mkdir()
    write_ply(tmp_path / "root" / "a.ply", np.array([[0.0, 1, 2], [np.nan, np.nan, np.nan]]), np.array([2, 5]))
    scene = read_all(find_own_files(tmp_path / "root", class_file))["a"]
    np.testing.assert_array_equal(scene.content.labels, [2])
    assert scene.notes == ("a: 1 points without a position, left out",)


def test_everything_a_file_says_of_its_points_comes_back_from_the_store(tmp_path, class_file):
    (tmp_path / "root").mkdir()
    header = "x y z r g b nx ny nz intensity label instance roughness time\n"
    (tmp_path / "root" / "a.txt").write_text(header + "1 2 3 4 5 6 0 0 1.0 77 2 9 0.5 8\n")
    prepared = prepare(find_own_files(tmp_path / "root", class_file), tmp_path / "store", workers=1)
    assert prepared.manifest.notes == ()
    store = open_store(tmp_path / "store")
    store.check("a")
    cloud = store.load("a")
    parts = (cloud.rgb, cloud.normals, cloud.intensity, cloud.instance)
    assert [part.tolist() for part in parts] == [[[4, 5, 6]], [[0, 0, 1]], [77], [9]]
    assert {name: values.tolist() for name, values in cloud.fields.items()} == {"roughness": [0.5], "time": [8]}


def test_the_faces_of_a_mesh_are_left_out_and_noted(tmp_path, class_file):
    cloud = PointCloud(np.eye(3), labels=np.array([2, 5, 6]), faces=np.array([[0, 1, 2]]))
    (tmp_path / "root").mkdir()
    write(tmp_path / "root" / "a.ply", cloud)
    scene = read_all(find_own_files(tmp_path / "root", class_file))["a"]
    assert scene.notes == ("a: faces are not stored, left out",)


def test_a_damaged_file_stops_or_is_lost_with_the_reason_and_wrong_labels_always_stop(tmp_path, class_file):
    write_own_cloud(tmp_path / "root" / "sound.ply", [2])
    (tmp_path / "root" / "deep").mkdir()
    (tmp_path / "root" / "deep" / "a, b.txt").write_text("x y z label\n1 2 3 2\n1 2 q 2\n")
    dataset = find_own_files(tmp_path / "root", class_file)
    with pytest.raises(InputError, match=r"a, b\.txt, line 3"):
        read_all(dataset)
    scenes = read_all(dataset, skip_damaged=True)
    assert [str(lost) for lost in scenes["deep/a, b"].lost] == [
        "deep/a, b.txt: line 3: expected numbers, found '1 2 q 2'"
    ]
    assert len(scenes["deep/a, b"].content) == 0
    assert len(scenes["sound"].content) == 1
    write_own_cloud(tmp_path / "root" / "sound.ply", [99])
    with pytest.raises(InputError, match="the value 99"):
        read_all(dataset, skip_damaged=True)


def test_a_cloud_without_labels_is_refused(tmp_path, class_file):
    (tmp_path / "root").mkdir()
    write_ply(tmp_path / "root" / "a.ply", np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"a\.ply: expected a cloud with labels"):
        read_all(find_own_files(tmp_path / "root", class_file))


def test_two_formats_of_one_scene_and_an_empty_folder_are_refused(tmp_path, class_file):
    (tmp_path / "root").mkdir()
    with pytest.raises(InputError, match="no file of a readable format"):
        find_own_files(tmp_path / "root", class_file)
    write_own_cloud(tmp_path / "root" / "a.ply", [2])
    (tmp_path / "root" / "a.txt").write_text("1 2 3 2\n")
    with pytest.raises(InputError, match="'a' in several formats"):
        find_own_files(tmp_path / "root", class_file)


def test_a_pattern_takes_only_the_files_that_match(tmp_path, class_file):
    root = tmp_path / "meine Scans"
    for name in ("a.ply", "b.ply", "deep/er/a.ply"):
        write_own_cloud(root / name, [2])
    (root / "c.txt").write_text("x y z label\n1 2 3 2\n")
    assert sorted(read_all(find_own_files(root / "*.ply", class_file))) == ["a", "b"]
    assert sorted(read_all(find_own_files(root / "**" / "a.*", class_file))) == ["a", "deep/er/a"]
    with pytest.raises(InputError, match=r"\*\.las: expected labelled point clouds"):
        find_own_files(root / "*.las", class_file)


def test_a_folder_whose_name_looks_like_a_pattern_is_taken_by_its_name(tmp_path, class_file):
    write_own_cloud(tmp_path / "scan[1]" / "a.ply", [2])
    assert sorted(read_all(find_own_files(tmp_path / "scan[1]", class_file))) == ["a"]


def test_a_file_that_states_its_unit_becomes_metres_and_that_is_noted(tmp_path, class_file):
    root = tmp_path / "clouds"
    root.mkdir()
    xyz = np.random.default_rng(0).random((9, 3))
    write(root / "feet.las", PointCloud(xyz / 0.3048, labels=np.full(9, 2)))
    las = laspy.read(root / "feet.las")
    las.vlrs.append(laspy.VLR("LASF_Projection", 2112, "WKT", b'LOCAL_CS["site",UNIT["foot",0.3048]]\0'))
    las.write(root / "feet.las")
    scene = read_all(find_own_files(root, class_file))["feet"]
    np.testing.assert_allclose(scene.content.xyz, xyz, atol=1e-4)
    assert "feet: the file's unit is 0.3048 m; converted to metres" in scene.notes
