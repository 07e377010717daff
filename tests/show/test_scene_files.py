import json

import numpy as np
import pytest

from point2node.core.classes import S3DIS, SCANNET
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.label_sidecar import sidecar_path
from point2node.formats import write
from point2node.inference.labelled import LabelledCloud
from point2node.show.scene_files import read_scene, scene_of

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
    scene = read_scene(path)
    assert scene.name == "wood"
    assert [one.name for one in scene.classes] == ["ground", "tree"]
    assert scene.labels.tolist() == [1, 0, -1, 1]
    assert scene.confidence.tolist() == [1, 0.5, 0, 0.25]
    assert scene.entropy is None
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
    scene = read_scene(path)
    assert scene.xyz[2].tolist() == [0, 0, 1]
    assert "y points upwards" in scene.remarks[0]


@pytest.mark.parametrize(("scale", "known"), [(1.0, 1.0), (0.001, 0.001), ("1", None), (0, None), (None, None)])
def test_the_unit_is_that_of_the_labelling_and_an_unusual_one_is_told(tmp_path, scale, known):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 2, 5])
    write_sidecar(path, protocol={"scale": scale})
    scene = read_scene(path)
    assert scene.scale == known
    assert scene[np.array([0])].scale == known
    assert ("one unit is 0.001 m" in " ".join(scene.remarks)) == (known == 0.001)


def test_truth_is_read_by_the_values_of_the_same_classes(tmp_path):
    path = write_cloud(tmp_path / "wood_labelled.ply", [5, 2, 2, 5])
    write_sidecar(path)
    truth = write_cloud(tmp_path / "wood.ply", [5, 5, 2, 9])
    scene = read_scene(path, truth)
    assert scene.truth.tolist() == [1, 1, 0, -1]
    assert scene.remarks == ("1 points of the truth have a value that is no class (9): not scored.",)
    assert scene.notes["truth"] == "wood.ply"


def test_the_labels_that_a_scan_came_with_are_its_truth_if_it_is_named_so(tmp_path):
    path = write_cloud(tmp_path / "wood.ply", [5, 2, 2, 5], label_input=np.int32([5, 5, 2, 2]))
    write_sidecar(path)
    assert read_scene(path).truth is None
    assert read_scene(path, path).truth.tolist() == [1, 1, 0, 0]


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
    scene = read_scene(path, classes=named)
    if isinstance(classes, list):
        assert [one.name for one in scene.classes] == classes
    else:
        assert scene.classes == classes
    values = [scene.classes[place].value if place >= 0 else None for place in scene.labels]
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
        ("truth is itself", "scan.ply: expected labels that the scan came with (classification_input or label_input)"),
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
        read_scene(path, truth, "kitti" if change == "strange list" else None)
    assert message in str(caught.value)


def test_a_truth_half_a_millimetre_off_is_the_same_and_lost_points_match_lost_points(tmp_path):
    xyz = XYZ.copy()
    xyz[1] = np.nan
    path = write_cloud(tmp_path / "scan.ply", [0, 255, 1, 2], xyz)
    truth = write_cloud(tmp_path / "truth.ply", [0, 1, 1, 2], xyz + 0.0005)
    assert read_scene(path, truth).truth.tolist() == [0, 1, 1, 2]
    with pytest.raises(InputError, match="1 points elsewhere, point 1 first"):
        read_scene(path, write_cloud(tmp_path / "whole.ply", [0, 1, 1, 2]))


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
    )
    path = labelled.save(tmp_path / "scan.ply")
    truth = tmp_path / "truth.ply"
    write(truth, labelled.cloud.with_(labels=np.array([1, 0, 2, 0, 255])))
    here, read = scene_of(labelled, "scan", path, (truth, np.array([1, 0, 2, 0, 255]))), read_scene(path, truth)
    assert here.truth.tolist() == read.truth.tolist() == [1, 0, 2, 0, -1]
    for name in ("xyz", "labels", "rgb", "confidence", "entropy"):
        assert np.array_equal(getattr(here, name), getattr(read, name), equal_nan=name == "xyz"), name
    assert (here.name, here.classes, here.scale) == (read.name, read.classes, read.scale)
    assert here.remarks == tuple(remark for remark in read.remarks if "truth" not in remark)
    assert here.notes == read.notes
    assert read.notes["input"] == "input.ply"
