import io
import json
from pathlib import Path

import laspy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from point2node.core.classes import S3DIS, SCANNET, SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.label_sidecar import read_sidecar, sidecar_path
from point2node.formats import WRITABLE, read, write
from point2node.formats.text_layout import append_columns
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labelled_files import as_if_read, read_labelled

CLASSES = (SemanticClass("floor", 1, (1, 2, 3)), SemanticClass("wall", 2, (4, 5, 6)))


def labelled(cloud, classes=CLASSES, seed=0):
    random = np.random.default_rng(seed)
    values = np.array([one.value for one in classes], np.int32)
    return LabelledCloud(
        cloud,
        random.choice(values, len(cloud)),
        random.random(len(cloud), np.float32),
        random.random(len(cloud), np.float32),
        classes,
        "some weights",
        protocol={"votes": 1},
    )


def some_cloud(points=40, seed=0, **parts):
    random = np.random.default_rng(seed)
    xyz = np.round(random.uniform(-50, 50, (points, 3)) + np.array([400_000, 5_000_000, 100]), 3)
    return PointCloud(xyz, rgb=random.integers(0, 256, (points, 3)), **parts)


@pytest.mark.parametrize("suffix", WRITABLE)
@given(points=st.integers(1, 60), seed=st.integers(0, 1000))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_comes_out_is_what_went_in_and_the_labels(tmp_path, suffix, points, seed):
    """Read a scan, label it, write it in its own format: count, order, coordinates and fields are the same."""
    scan = tmp_path / f"scan{suffix}"
    random = np.random.default_rng(seed)
    fields = {"gps": random.random(points), "ring": random.integers(0, 9, points).astype(np.int32)}
    write(scan, some_cloud(points, seed, labels=random.integers(0, 5, points), fields=fields))
    before = read(scan)
    result = labelled(before, seed=seed)
    path = result.save(tmp_path / f"out{suffix}")
    after = read(path)
    assert path.suffix == suffix
    assert np.array_equal(after.xyz, before.xyz)
    assert np.array_equal(after.rgb, before.rgb)
    assert np.array_equal(after.labels, result.labels)
    np.testing.assert_array_equal(after.fields["confidence"].astype(np.float32), result.confidence)
    np.testing.assert_array_equal(after.fields["entropy"].astype(np.float32), result.entropy)
    old = "classification_input" if suffix in (".las", ".laz") else "label_input"
    assert np.array_equal(after.fields[old], before.labels)
    for name in fields:
        assert np.array_equal(after.fields[name], before.fields[name])


@pytest.mark.parametrize("suffix", [".off", ".stl", ".obj", ".e57", ".glb"])
def test_formats_without_labels_become_ply(tmp_path, suffix):
    path = labelled(some_cloud()).save(tmp_path / f"out{suffix}")
    assert path == tmp_path / "out.ply"
    assert read(path).labels is not None


def test_the_classes_are_named_beside_the_file(tmp_path):
    result = labelled(some_cloud())
    path = result.save(tmp_path / "a b ü.ply")
    sidecar = read_sidecar(path)
    assert sidecar.classes == CLASSES
    assert sidecar.weights == "some weights"
    assert (sidecar.points, sidecar.counts, sidecar.protocol) == (40, result.counts, {"votes": 1})


@pytest.mark.parametrize(("version", "point_format"), [("1.2", 3), ("1.4", 7)])
@pytest.mark.parametrize("suffix", [".las", ".laz"])
def test_a_labelled_las_keeps_its_point_format_and_dimensions(tmp_path, version, point_format, suffix):
    header = laspy.LasHeader(version=version, point_format=point_format)
    header.scales, header.offsets = [0.001, 0.002, 0.01], [400_000, 5_000_000, 0]
    header.add_extra_dim(laspy.ExtraBytesParams("amplitude", np.float32))
    las = laspy.LasData(header)
    las.x, las.y, las.z = np.arange(9) + 400_000.0, np.arange(9) + 5_000_000.0, np.arange(9.0)
    las.classification = np.arange(9) % 3
    las.gps_time = np.arange(9) / 7
    las.return_number = np.ones(9, np.uint8)
    las["amplitude"] = np.arange(9, dtype=np.float32)
    las.write(tmp_path / f"scan{suffix}")
    result = labelled(read(tmp_path / f"scan{suffix}"))
    found = laspy.read(result.save(tmp_path / f"out{suffix}"))
    assert found.header.point_format.id == point_format
    assert np.array_equal(found.header.scales, header.scales)
    assert np.array_equal(found.X, las.X)
    assert np.array_equal(found.classification, result.labels)
    assert np.array_equal(found["classification_input"], np.arange(9) % 3)
    assert np.array_equal(found["amplitude"], las["amplitude"])
    assert np.array_equal(found.gps_time, las.gps_time)
    assert np.array_equal(found["confidence"], result.confidence)


def test_old_las_formats_that_cannot_hold_the_classes_become_ply(tmp_path):
    header = laspy.LasHeader(version="1.2", point_format=3)
    las = laspy.LasData(header)
    las.x, las.y, las.z = np.zeros(3), np.zeros(3), np.arange(3.0)
    las.write(tmp_path / "scan.las")
    cloud = read(tmp_path / "scan.las")
    wide = (SemanticClass("roof", 64, (0, 0, 0)),)
    assert labelled(cloud, wide).save(tmp_path / "out.las").suffix == ".ply"
    assert labelled(cloud).save(tmp_path / "out.las").suffix == ".las"


TEXT = "# made by hand\n# X Y Z label\n1.50 2.0e0 -3 4\n\n 7.000\t8 9 5 # corner\r\n+1.25 0 0 6\n"


def test_text_keeps_its_characters(tmp_path):
    scan = tmp_path / "scan.txt"
    scan.write_bytes(TEXT.encode())
    cloud = read(scan)
    path = LabelledCloud(
        cloud, np.array([1, 2, 255]), np.float32([0.5, 0.25, 0]), np.float32([0.125, 1, 0]), CLASSES, "w"
    ).save(tmp_path / "out.txt")
    assert path.read_bytes().decode() == (
        "# made by hand\n# X Y Z label_input label confidence entropy\n1.50 2.0e0 -3 4 1 0.5 0.125\n\n"
        " 7.000\t8 9 5 2 0.25 1.0 # corner\r\n+1.25 0 0 6 255 0.0 0.0\n"
    )
    assert read(path).labels.tolist() == [1, 2, 255]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "x,y,z\n1,2,3\n", "x,y,z,label,confidence,entropy\n1,2,3,1,0.5,0.0\n"),
        ("a.csv", '"x","y","z"\n1,2,3,\n', '"x","y","z","label","confidence","entropy"\n1,2,3,1,0.5,0.0\n'),
        ("a.pts", "1\n1 2 3", "1\n1 2 3 1 0.5 0.0"),
        ("a.xyz", "1\t2\t3\n", "1\t2\t3\t1\t0.5\t0.0\n"),
        ("a.asc", "1;2;3\n", "1;2;3;1;0.5;0.0\n"),
    ],
)
def test_new_columns_follow_the_style_of_the_text(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    result = LabelledCloud(read(tmp_path / name), np.array([1]), np.float32([0.5]), np.float32([0]), CLASSES, "w").save(
        tmp_path / f"out_{name}"
    )
    assert result.read_text() == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "1 2 3 200 100 50\n4 5 6 10 20 30\n"),
        ("a.xyz", "1 2 3\r\n4 5 6\r\n"),
        ("a.pts", "2\n1 2 3 -700 9 9 9\n4 5 6 -600 8 8 8\n"),
        ("a.csv", "1,2,3\n4,5,6\n"),
        ("a.csv", "x,y,z,label,label_input\n1,2,3,7,8\n4,5,6,7,8\n"),
    ],
)
def test_labels_can_be_read_back_from_text_with_and_without_names(tmp_path, name, text):
    (tmp_path / name).write_text(text, newline="")
    result = labelled(read(tmp_path / name))
    path = result.save(tmp_path / f"out_{name}")
    scene = read_labelled(path)
    assert scene.labels.tolist() == result.labels.tolist()
    np.testing.assert_array_equal(scene.confidence, result.confidence)
    again = labelled(read(path, columns=" ".join(columns)) if (columns := read_sidecar(path).columns) else read(path))
    assert read_labelled(again.save(tmp_path / f"again_{name}")).labels is not None


def test_characters_are_not_kept_in_another_format(tmp_path):
    (tmp_path / "a.txt").write_text("1 2 3\n4 5 6\n")
    path = labelled(read(tmp_path / "a.txt")).save(tmp_path / "out.csv")
    assert path.read_text().startswith("x,y,z,label")


def test_points_without_a_position_do_not_fit_into_las(tmp_path):
    cloud = some_cloud()
    cloud.xyz[3] = np.nan
    path = labelled(cloud).save(tmp_path / "out.laz")
    assert path.suffix == ".ply"
    assert np.isnan(read(path).xyz[3]).all()


def test_a_cloud_that_was_moved_is_not_written_with_its_old_characters(tmp_path):
    (tmp_path / "scan.xyz").write_text("1 2 3\n4 5 6\n")
    cloud = read(tmp_path / "scan.xyz")
    moved = labelled(cloud.with_(xyz=cloud.xyz + 10)).save(tmp_path / "out.xyz")
    assert read(moved).xyz.tolist() == [[11, 12, 13], [14, 15, 16]]
    (tmp_path / "scan.xyz").write_text("9 9 9\n")
    assert read(labelled(cloud).save(tmp_path / "out.xyz")).xyz.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("text", ["1 2 3\n", "1 2 3\n4 5 6\n7 8 9\n"])
def test_a_text_that_changes_while_it_is_labelled_is_not_mixed_with_the_labels(tmp_path, text):
    (tmp_path / "scan.xyz").write_text("1 2 3\n4 5 6\n")
    origin = read(tmp_path / "scan.xyz").origin
    (tmp_path / "scan.xyz").write_text(text)
    with pytest.raises(InputError, match="the file has changed"):
        append_columns(origin, {"label": ["1", "2"]}, io.BytesIO())


def test_labelling_what_was_labelled_keeps_the_first_input(tmp_path):
    write(tmp_path / "scan.ply", some_cloud(labels=np.full(40, 7)))
    once = labelled(read(tmp_path / "scan.ply")).save(tmp_path / "once.ply")
    twice = read(labelled(read(once), seed=1).save(tmp_path / "twice.ply"))
    assert (twice.fields["label_input"] == 7).all()


def test_nothing_is_left_where_writing_fails(tmp_path):
    with pytest.raises(InputError, match="a file that can be written"):
        labelled(some_cloud()).save(tmp_path / "nowhere" / "out.ply")
    with pytest.raises(InputError, match="a position for every point"):
        labelled(some_cloud().with_(xyz=np.repeat([[-1.7e308] * 3, [1.7e308] * 3], 20, axis=0))).save(
            tmp_path / "out.las"
        )
    assert list(tmp_path.iterdir()) == []


def test_the_sidecar_is_plain_json(tmp_path):
    path = labelled(some_cloud()).save(tmp_path / "out.npz")
    assert json.loads(sidecar_path(path).read_text())["unlabelled"] == 255


def test_a_point_without_a_label_does_not_fit_into_old_las_formats(tmp_path):
    header = laspy.LasHeader(point_format=3, version="1.2")
    las = laspy.LasData(header)
    las.x, las.y, las.z = np.zeros((3, 40))
    las.write(tmp_path / "scan.las")
    result = labelled(read(tmp_path / "scan.las"))
    assert result.save(tmp_path / "whole.las").suffix == ".las"
    result.labels[0] = result.unlabelled
    path = result.save(tmp_path / "out.las")
    assert path.suffix == ".ply"
    assert read(path).labels[0] == result.unlabelled


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_kill_between_the_renames_never_names_new_labels_by_old_classes(tmp_path, monkeypatch, kept):
    """Whatever number of renames was done, the classes are those of the labels, or are said to be unfinished."""
    path = tmp_path / "a.ply"
    other = (SemanticClass("door", 1, (7, 8, 9)), SemanticClass("roof", 2, (4, 5, 6)))
    labelled(some_cloud(), CLASSES, seed=0).save(path)
    before = read(path).labels
    done, rename = [], Path.replace

    def killed(self, target):
        if len(done) == kept:
            raise KeyboardInterrupt
        done.append(target)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        labelled(some_cloud(), other, seed=1).save(path)
    monkeypatch.undo()
    if kept == 0:
        assert read_sidecar(path).classes == CLASSES
        assert np.array_equal(read(path).labels, before)
        return
    with pytest.raises(InputError, match="a labelling that was interrupted"):
        read_sidecar(path)
    labelled(some_cloud(), other, seed=1).save(path)
    assert read_sidecar(path).classes == other


XYZ = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TREES = [{"name": "ground", "value": 2, "colour": [120, 90, 60]}, {"name": "tree", "value": 5, "colour": [0, 160, 0]}]


def write_cloud(path, labels, xyz=XYZ, **fields):
    fields = {name: np.asarray(values) for name, values in fields.items()}
    write(path, PointCloud(xyz, labels=None if labels is None else np.array(labels), fields=fields))
    return path


def write_sidecar(path, **changes):
    content = {"format": 1, "point2node": "0.1.0", "input": "wood.ply", "weights": "woods", "classes": TREES}
    content |= {"points": 4, "protocol": {"votes": 1}, "settings": {"colour": False}}
    sidecar_path(path).write_text(json.dumps(content | changes))


def test_names_values_and_colours_come_from_the_sidecar(tmp_path):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 255, 5], confidence=np.float32([1, 0.5, 0, 0.25]))
    write_sidecar(path)
    scene = read_labelled(path)
    assert scene.name == "wood"
    assert [one.name for one in scene.classes] == ["ground", "tree"]
    assert scene.labels.tolist() == [5, 2, 255, 5]
    assert scene.places.tolist() == [1, 0, -1, 1]
    assert scene.confidence.tolist() == [1, 0.5, 0, 0.25]
    assert list(scene.certainty) == ["confidence"]
    assert scene.truth is None
    assert scene.remarks == ()
    assert scene.notes == {
        "labelled file": "wood.ply",
        "input": "wood.ply",
        "weights": "woods",
        "labelled by": "point2node 0.1.0",
        "votes": "1",
        "colour": "no",
    }


def test_a_scan_whose_y_points_upwards_is_shown_upright(tmp_path):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 2, 5])
    write_sidecar(path, protocol={"up": "y"})
    scene = read_labelled(path).upright()
    assert scene.xyz[2].tolist() == [0, 0, 1]
    assert scene.upright().xyz[2].tolist() == [0, 0, 1]
    assert "y points upwards" in scene.remarks[0]


@pytest.mark.parametrize(("scale", "known"), [(1.0, 1.0), (0.001, 0.001), ("1", None), (0, None), (None, None)])
def test_the_unit_is_that_of_the_labelling_and_an_unusual_one_is_told(tmp_path, scale, known):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 2, 5])
    write_sidecar(path, protocol={"scale": scale})
    scene = read_labelled(path)
    assert scene.scale == known
    assert scene[np.array([0])].scale == known
    assert ("one unit is 0.001 m" in " ".join(scene.upright().remarks)) == (known == 0.001)


def test_truth_is_read_by_the_values_of_the_same_classes(tmp_path):
    path = write_cloud(tmp_path / "wood_labelled.ply", [5, 2, 2, 5])
    write_sidecar(path)
    truth = write_cloud(tmp_path / "wood.ply", [5, 5, 2, 9])
    scene = read_labelled(path, truth)
    assert scene.true_places.tolist() == [1, 1, 0, -1]
    assert scene.remarks == ("1 points of the truth have a value that is not a class (9): not scored.",)
    assert scene.notes["truth"] == "wood.ply"


def test_the_labels_that_a_scan_came_with_are_its_truth_if_it_is_named_so(tmp_path):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 2, 5], label_input=np.int32([5, 5, 2, 2]))
    write_sidecar(path)
    assert read_labelled(path).truth is None
    assert read_labelled(path, path).true_places.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("labels", "named", "classes", "remark"),
    [
        ([0, 12, 255, -1], None, S3DIS, "those of S3DIS are taken"),
        ([20, 1, 255, -1], None, ["1", "20"], "classes go by their numbers"),
        ([20, 0, 255, -1], "scannet", SCANNET, ""),
        ([2, 5, 7, -1], "classes.yaml", ["ground", "tree"], ""),
    ],
)
def test_without_a_sidecar_classes_are_named_or_guessed_and_guesses_are_told(tmp_path, labels, named, classes, remark):
    path = write_cloud(tmp_path / "scan.ply", labels)
    if named == "classes.yaml":
        named = str(tmp_path / named)
        (tmp_path / "classes.yaml").write_text(json.dumps({"classes": TREES, "ignore": [7]}))
    scene = read_labelled(path, classes=named)
    if isinstance(classes, list):
        assert [one.name for one in scene.classes] == classes
    else:
        assert scene.classes == classes
    values = [scene.classes[place].value if place >= 0 else None for place in scene.places]
    assert values == [value if value in (0, 1, 2, 5, 12, 20) else None for value in labels]
    assert [remark in one for one in scene.remarks] == ([True] if remark else [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("no labels", "scan.ply: expected a cloud with labels, found none. Label it with 'point2node predict'"),
        ("strange label", "scan.ply: expected labels that scan.ply.classes.json lists, found the value 9."),
        ("strange list", "--classes: expected s3dis, scannet or a YAML file of classes, found 'kitti'."),
        ("truth without labels", "truth.ply: expected a cloud with true labels, found none."),
        ("truth shorter", "truth.ply: expected the points of scan.ply, in the same order: 4 of them, found 3."),
        (
            "truth moved",
            "truth.ply: expected the points of scan.ply, in the same order, found 2 points elsewhere, point",
        ),
        ("truth is itself", "scan.ply: expected the input's own labels (classification_input or label_input)"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path, change, message):
    labels = {"no labels": None, "strange label": [2, 5, 9, 255]}.get(change, [2, 5, 5, 255])
    path = write_cloud(tmp_path / "scan.ply", labels)
    write_sidecar(path)
    truth = tmp_path / "truth.ply" if change.startswith("truth") else None
    if change == "truth without labels":
        write_cloud(truth, None)
    if change == "truth shorter":
        write_cloud(truth, [2, 2, 2], XYZ[:3])
    if change == "truth moved":
        write_cloud(truth, [2, 2, 2, 2], XYZ[[0, 2, 1, 3]])
    if change == "truth is itself":
        truth = path
    with pytest.raises(InputError) as caught:
        read_labelled(path, truth, "kitti" if change == "strange list" else None)
    assert message in str(caught.value)


def test_a_truth_half_a_millimetre_off_is_the_same_and_lost_points_match_lost_points(tmp_path):
    xyz = XYZ.copy()
    xyz[1] = np.nan
    path = write_cloud(tmp_path / "scan.ply", [0, 255, 1, 2], xyz)
    truth = write_cloud(tmp_path / "truth.ply", [0, 1, 1, 2], xyz + 0.0005)
    assert read_labelled(path, truth).truth.tolist() == [0, 1, 1, 2]
    with pytest.raises(InputError, match="1 points elsewhere, point 1 first"):
        read_labelled(path, write_cloud(tmp_path / "whole.ply", [0, 1, 1, 2]))


def test_a_cloud_that_was_just_labelled_is_shown_as_its_file_would_be(tmp_path):
    xyz = np.vstack([XYZ, [[np.nan] * 3]])
    labelled = LabelledCloud(
        PointCloud(xyz, rgb=np.arange(15).reshape(5, 3)),
        np.int32([1, 0, 2, 2, 255]),
        np.float32([1, 0.5, 0.5, 0.25, 0]),
        np.float32([0, 0.5, 0.5, 0.75, 0]),
        S3DIS,
        "rooms",
        protocol={"up": "y", "scale": 0.001, "votes": 1, "smooth": True},
        name="folder/input.ply",
        settings={"scale": 0.001, "up": "y", "color": True, "thin": None},
        up="y",
        scale=0.001,
    )
    path = labelled.save(tmp_path / "scan.ply")
    truth = tmp_path / "truth.ply"
    write(truth, labelled.cloud.with_(labels=np.array([1, 0, 2, 0, 255])))
    here, read = as_if_read(labelled, path, (truth, np.array([1, 0, 2, 0, 255]))), read_labelled(path, truth)
    assert here.true_places.tolist() == read.true_places.tolist() == [1, 0, 2, 0, -1]
    here, read = here.upright(), read.upright()
    for name in ("xyz", "labels", "rgb", "confidence", "entropy"):
        assert np.array_equal(getattr(here, name), getattr(read, name), equal_nan=name == "xyz"), name
    assert (here.name, here.classes, here.scale) == (read.name, read.classes, read.scale)
    assert here.remarks == tuple(remark for remark in read.remarks if "truth" not in remark)
    assert here.notes == read.notes
    assert read.notes["input"] == "input.ply"
