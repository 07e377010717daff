import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled import LabelledCloud
from point2node.inference.output_rules import Box, Polygon, output_rules

CLASSES = tuple(SemanticClass(name, value, (0, 0, 0)) for value, name in enumerate(("wall", "floor", "cup")))
XYZ = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 1], [3, 3, 1]], float)


def labelled(given=None):
    cloud = PointCloud(XYZ, labels=None if given is None else np.array(given))
    found = np.array([0, 1, 2, 255], np.int32)
    return LabelledCloud(cloud, found, np.float32([0.9, 0.8, 0.7, 0]), np.float32([0.1, 0.2, 0.3, 0]), CLASSES, "w")


def apply(given=None, **words):
    rules = output_rules(CLASSES, **words)
    scan = labelled(given)
    rules.check(scan.cloud, "z", "scan")
    return rules.apply(scan)


def test_without_any_rule_there_is_nothing_to_apply():
    assert output_rules(CLASSES) is None


def test_only_and_drop_leave_the_other_points_unlabelled():
    assert apply(only="wall,floor").labels.tolist() == [0, 1, 255, 255]
    assert apply(drop="wall").labels.tolist() == [255, 1, 2, 255]
    assert apply(drop="wall").confidence.tolist() == pytest.approx([0, 0.8, 0.7, 0])


def test_points_left_out_keep_the_label_they_came_with_as_sure():
    result = apply(given=[5, 6, 6, -1], only="wall")
    assert result.labels.tolist() == [0, 6, 6, 255]
    assert result.confidence.tolist() == pytest.approx([0.9, 1, 1, 0])
    assert result.entropy.tolist() == pytest.approx([0.1, 0, 0, 0])
    assert [(one.name, one.value) for one in result.classes[3:]] == [("input 6", 6)]
    assert result.counts == {"wall": 1, "floor": 0, "cup": 0, "input 6": 2}


def test_protected_labels_stay_and_may_be_named_by_value_or_class():
    assert apply(given=[5, 6, 1, 5], protect="6,floor").labels.tolist() == [0, 6, 1, 5]


def test_within_limits_by_box_rectangle_or_given_class():
    assert apply(within="0.5,-1,0.5,9,9,9").labels.tolist() == [255, 255, 2, 255]
    assert apply(within="-1,-1,1.5,1").labels.tolist() == [0, 1, 255, 255]
    assert apply(given=[8, 9, 8, 8], within="class:8").labels.tolist() == [0, 9, 2, 8]


def test_a_scheme_renames_and_its_unlabelled_value_is_used(tmp_path):
    (tmp_path / "s.yaml").write_text("classes:\n  - {name: all, value: 7, from: others}\nunlabelled: 0")
    result = apply(classes=str(tmp_path / "s.yaml"))
    assert result.labels.tolist() == [7, 7, 7, 0]
    assert result.unlabelled == 0
    assert [one.name for one in result.classes] == ["all"]


def test_rules_that_differ_in_a_file_differ_in_their_words(tmp_path):
    words = []
    for source in ("wall", "floor"):
        (tmp_path / "s.yaml").write_text(
            f"- {{name: a, value: 7, from: [{source}]}}\n- {{name: b, value: 8, from: others}}"
        )
        words.append(output_rules(CLASSES, classes=str(tmp_path / "s.yaml")).words)
    assert words[0] != words[1]


@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=1, max_size=40))
def test_a_polygon_that_is_a_rectangle_holds_what_the_box_holds(places):
    cloud = PointCloud(np.array([(x, y, 0.0) for x, y in places]) + np.array([0.1234567, 0.7654321, 0]))
    corners = np.array([(-2.0, -1.0), (2.0, -1.0), (2.0, 3.0), (-2.0, 3.0)])
    assert np.array_equal(Polygon(corners).contains(cloud), Box((-2.0, -1.0), (2.0, 3.0)).contains(cloud))


def test_a_polygon_may_have_a_notch(tmp_path):
    (tmp_path / "p.txt").write_text("# corners\n-1, -1\n4, -1\n4, 4\n1, 0.5\n-1, 4\n")
    assert apply(within=str(tmp_path / "p.txt")).labels.tolist() == [0, 1, 2, 255]
    assert not Polygon(np.array([(-1, -1), (4, -1), (4, 4), (1, 0.5), (-1, 4)])).contains(PointCloud([[1, 1, 0]]))[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"only": "wal"}, "--only: expected one of wall, floor, cup, found 'wal'. Did you mean 'wall'?"),
        ({"only": "wall", "drop": "cup"}, "--drop: expected no --only as well"),
        ({"drop": "wall,floor,cup"}, "at least one class that is left"),
        ({"protect": "six"}, "--protect: expected label values such as 2,6 or names (wall, floor, cup), found 'six'"),
        ({"protect": "6"}, "scan: expected a scan that has labels, for --protect"),
        ({"within": "class:6"}, "scan: expected a scan that has labels"),
        ({"within": "1,2,3"}, "--within: expected x0,y0,x1,y1 or"),
        ({"within": "0,0,nan,1"}, "--within: expected x0,y0,x1,y1 or"),
        ({"within": "3,3,1,1"}, "the lower corner first"),
        ({"within": "nowhere.txt"}, "nowhere.txt: expected a text file with a corner"),
        ({"classes": "nowhere.yaml"}, "nowhere.yaml: expected a file of classes"),
    ],
)
def test_rules_that_cannot_be_used_are_explained(words, said):
    with pytest.raises(InputError) as caught:
        apply(**words)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["1 2\n3\n", "1 2\n3 x\n4 5\n", "1 2\n3 4\n"])
def test_a_file_that_is_no_polygon_is_explained(tmp_path, text):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(InputError, match=r"p\.txt"):
        output_rules(CLASSES, within=str(tmp_path / "p.txt"))


def test_a_rectangle_needs_z_up_and_a_box_does_not():
    scan = PointCloud(XYZ)
    output_rules(CLASSES, within="0,0,0,1,1,1").check(scan, "y", "scan")
    with pytest.raises(InputError, match="z up"):
        output_rules(CLASSES, within="0,0,1,1").check(scan, "y", "scan")
