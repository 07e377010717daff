import numpy as np
import pytest

from point2node.core.errors import InputError
from point2node.data.doctor import examine_s3dis
from point2node.data.s3dis import find_s3dis
from tests.data.layouts import number_lines, write_room, write_s3dis


def read_all(dataset, skip_damaged=False):
    return {scene.name: scene for source in dataset.sources for scene in source.read(skip_damaged)}


@pytest.mark.parametrize("top", ["", "Stanford3dDataset_v1.2_Aligned_Version", "Büro, zweite Kopie"])
def test_rooms_are_found_with_and_without_the_top_folder(tmp_path, top):
    write_s3dis(tmp_path / top)
    dataset = find_s3dis(tmp_path)
    assert [source.name for source in dataset.sources] == [
        "Area_1_office_1",
        "Area_1_office_2",
        "Area_5_office_1",
        "Area_5_office_2",
    ]
    assert {source.split for source in dataset.sources} == {"Area_1", "Area_5"}
    assert dataset.release == "raw annotations, aligned"


def test_the_release_that_is_not_aligned_is_told_by_its_angles(tmp_path):
    write_s3dis(tmp_path)
    (tmp_path / "Area_1" / "Area_1_alignmentAngle.txt").write_text("## Room Angle\noffice_1 90\n")
    dataset = find_s3dis(tmp_path)
    assert dataset.release == "raw annotations, not aligned"
    assert len(dataset.sources) == 4


def test_every_point_of_every_object_comes_with_its_class(tmp_path):
    room = write_room(tmp_path / "Area_1", "office_1", {"beam_1": 4, "chair_1": 2, "chair_12": 3})
    scene = read_all(find_s3dis(tmp_path))["Area_1_office_1"]
    lines = [line for file in sorted(room.glob("Annotations/*.txt")) for line in file.read_bytes().splitlines()]
    expected = np.array([[float(value) for value in line.split()] for line in lines])
    np.testing.assert_array_equal(scene.content.xyz, expected[:, :3])
    np.testing.assert_array_equal(scene.content.rgb, expected[:, 3:])
    np.testing.assert_array_equal(scene.content.labels, [3] * 4 + [8] * 5)


def test_stairs_and_unknown_classes_are_clutter_and_the_unknown_is_noted(tmp_path):
    write_room(tmp_path / "Area_1", "office_1", {"stairs_1": 2, "lamp_1": 3})
    scene = read_all(find_s3dis(tmp_path))["Area_1_office_1"]
    assert set(scene.content.labels) == {12}
    assert scene.notes == ("Area_1/office_1/Annotations/lamp_1.txt: unknown class, counted as clutter",)


def test_files_of_the_system_are_no_data_and_oddly_named_texts_are_noted(tmp_path):
    room = write_room(tmp_path / "Area_1", "office_1", {"wall_1": 2})
    for stray in (tmp_path, tmp_path / "Area_1", room, room / "Annotations"):
        (stray / ".DS_Store").write_bytes(b"\x00\x01Bud1")
    (room / "Annotations" / "._wall_1.txt").write_bytes(b"\x00\x05\x16\x07")
    (room / "Annotations" / "Thumbs.db").write_bytes(b"\xd0\xcf")
    (room / "Annotations" / "wall.txt").write_bytes(b"1 2 3 4 5 6\n")
    scene = read_all(find_s3dis(tmp_path))["Area_1_office_1"]
    assert len(scene.content) == 2
    assert scene.notes == ("Area_1/office_1/Annotations/wall.txt: not named <class>_<number>.txt, left out",)


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_other_line_ends_lose_no_point(tmp_path, end):
    write_room(tmp_path / "Area_1", "office_1", {"wall_1": 7}, end=end)
    assert len(read_all(find_s3dis(tmp_path))["Area_1_office_1"].content) == 7


def test_an_empty_room_gives_an_empty_scene(tmp_path):
    write_s3dis(tmp_path)
    (tmp_path / "Area_1" / "storage_1" / "Annotations").mkdir(parents=True)
    (tmp_path / "Area_1" / "storage_2").mkdir()
    scenes = read_all(find_s3dis(tmp_path))
    assert len(scenes["Area_1_storage_1"].content) == len(scenes["Area_1_storage_2"].content) == 0


def test_damage_stops_with_path_line_bytes_and_a_remedy(tmp_path):
    lines = number_lines(3)
    lines[1] = b"1 2 3 185\x00187 4"
    write_room(tmp_path / "Area_5", "hallway_6", {"ceiling_1": lines})
    with pytest.raises(InputError) as caught:
        read_all(find_s3dis(tmp_path))
    assert str(caught.value) == (
        "Area_5/hallway_6/Annotations/ceiling_1.txt, line 2: expected six numbers x y z r g b, "
        r"found '1 2 3 185\x00187 4'. Run 'point2node doctor s3dis ROOT --repair DIR'."
    )


def test_points_in_are_points_out_plus_the_lost_lines(tmp_path):
    lines = number_lines(10)
    lines[3], lines[7] = b"1 2 3", b"\xff"
    write_room(tmp_path / "Area_5", "hallway_6", {"ceiling_1": lines, "floor_1": 5})
    scene = read_all(find_s3dis(tmp_path), skip_damaged=True)["Area_5_hallway_6"]
    assert len(scene.content) + len(scene.lost) == 15
    assert [(lost.line, lost.bytes) for lost in scene.lost] == [(4, "'1 2 3'"), (8, r"'\xff'")]


def test_corrected_copies_are_read_in_place_of_the_damaged_files(tmp_path):
    root, repairs = tmp_path / "root", tmp_path / "repairs"
    write_room(root / "Area_5", "hallway_6", {"ceiling_1": [b"1 2 3 185\x00187 4"]})
    copy = repairs / "Area_5/hallway_6/Annotations/ceiling_1.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"1 2 3 185 187 4\n")
    scene = read_all(find_s3dis(root, repairs))["Area_5_hallway_6"]
    np.testing.assert_array_equal(scene.content.rgb, [[185, 187, 4]])
    with pytest.raises(InputError, match="doctor --repair"):
        find_s3dis(root, tmp_path / "nothing")


def test_one_array_a_room_is_read(tmp_path):
    table = np.hstack([np.random.default_rng(0).uniform(0, 5, (6, 3)), np.full((6, 3), 200), [[n] for n in range(6)]])
    np.save(tmp_path / "Area_5_office_1.npy", table)
    dataset = find_s3dis(tmp_path)
    scene = read_all(dataset)["Area_5_office_1"]
    assert dataset.release == "preprocessed, one N×7 array a room"
    assert scene.split == "Area_5"
    np.testing.assert_array_equal(scene.content.xyz, table[:, :3])
    np.testing.assert_array_equal(scene.content.labels, range(6))


def test_a_folder_of_arrays_a_room_is_read(tmp_path):
    room = tmp_path / "s3dis" / "Area_2" / "office_1"
    room.mkdir(parents=True)
    np.save(room / "coord.npy", np.ones((4, 3), np.float32))
    np.save(room / "color.npy", np.full((4, 3), 7, np.uint8))
    np.save(room / "segment.npy", np.array([[0], [1], [2], [12]], np.int16))
    np.save(room / "normal.npy", np.zeros((4, 3), np.float32))
    scene = read_all(find_s3dis(tmp_path))["Area_2_office_1"]
    np.testing.assert_array_equal(scene.content.labels, [0, 1, 2, 12])
    assert scene.content.normals is not None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((3, 6)), r"shape \(N, 7\)"),
        (np.array([["a"] * 7]), "expected numbers, found <U1"),
        (np.array([[0, 0, 0, 1, 1, 1, 13.0]]), "found 13.0"),
        (np.array([[np.nan, 0, 0, 1, 1, 1, 0]]), "finite coordinates"),
        (np.array([[0, 0, 0, 0.5, 1, 1, 0]]), "whole numbers"),
        (np.array([None]), "expected an NPY file"),
    ],
)
def test_a_wrong_array_is_refused_by_name(tmp_path, table, message):
    np.save(tmp_path / "Area_5_office_1.npy", table)
    with pytest.raises(InputError, match=rf"Area_5_office_1\.npy.*{message}"):
        read_all(find_s3dis(tmp_path))


def test_a_header_that_claims_more_than_the_file_holds_is_refused_before_memory_is_taken(tmp_path):
    with (tmp_path / "Area_5_office_1.npy").open("wb") as file:
        claim = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 7)}
        np.lib.format.write_array_header_1_0(file, claim)
    with pytest.raises(InputError, match=r"Area_5_office_1\.npy: expected an NPY file, found a damaged one"):
        read_all(find_s3dis(tmp_path))


def test_damaged_arrays_are_lost_as_a_whole_with_the_file_and_the_reason(tmp_path):
    np.save(tmp_path / "Area_5_office_1.npy", np.zeros((3, 6)))
    (scene,) = read_all(find_s3dis(tmp_path), skip_damaged=True).values()
    assert len(scene.content) == 0
    assert [lost.path for lost in scene.lost] == ["Area_5_office_1.npy"]

    room = tmp_path / "other" / "Area_2" / "office_1"
    room.mkdir(parents=True)
    np.save(room / "coord.npy", np.ones((4, 3)))
    np.save(room / "color.npy", np.ones((4, 3)))
    (scene,) = read_all(find_s3dis(tmp_path / "other"), skip_damaged=True).values()
    assert [str(lost) for lost in scene.lost] == ["Area_2/office_1/segment.npy: expected a .npy file, found none"]
    np.save(room / "segment.npy", np.zeros(4))
    np.save(room / "normal.npy", np.zeros((3, 3)))
    with pytest.raises(InputError, match="office_1, normals: expected an array of shape"):
        read_all(find_s3dis(tmp_path / "other"))


def test_a_file_that_is_no_text_of_an_object_is_left_out_and_noted(tmp_path):
    room = write_room(tmp_path / "Area_1", "office_1", {"wall_1": 2})
    (room / "Annotations" / "chair_1.csv").write_bytes(b"1 2 3 4 5 6\n")
    (room / "Annotations" / ".DS_Store").write_bytes(b"\0")
    (scene,) = read_all(find_s3dis(tmp_path)).values()
    assert scene.notes == ("Area_1/office_1/Annotations/chair_1.csv: not named <class>_<number>.txt, left out",)
    assert "Area_1/office_1/Annotations/chair_1.csv: wrong name" in "".join(
        map(str, examine_s3dis(tmp_path, workers=1).findings)
    )


def test_a_root_without_areas_and_a_root_that_is_missing_say_where_to_point(tmp_path):
    with pytest.raises(InputError, match="Point ROOT at the folder that holds Area_1"):
        find_s3dis(tmp_path)
    (tmp_path / "Area_1" / "office_1").mkdir(parents=True)
    with pytest.raises(InputError, match="Point ROOT at the folder that holds Area_1"):
        find_s3dis(tmp_path)
    with pytest.raises(InputError, match="found nothing"):
        find_s3dis(tmp_path / "nowhere")
