import json

import pytest

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.data.label_sidecar import LabelSidecar, read_sidecar, sidecar_path

CONTENT = {
    "format": 1,
    "point2node": "0.1.0",
    "input": "room.ply",
    "weights": "rooms",
    "classes": [{"name": one.name, "value": one.value, "colour": list(one.colour)} for one in S3DIS],
    "unlabelled": 255,
    "points": 12345,
    "counts": {"ceiling": 100},
    "columns": ["x", "y", "z", "label"],
    "protocol": {"blocks": "1.5 m", "votes": 1, "rule": "mean_probability"},
    "settings": {"colour": True, "scale": 0.001, "up": None},
}


def test_the_sidecar_stands_beside_the_cloud_under_its_whole_name(tmp_path):
    labelled = tmp_path / "room_labelled.ply"
    assert sidecar_path(labelled) == tmp_path / "room_labelled.ply.classes.json"
    assert read_sidecar(labelled) is None


def test_a_sidecar_is_read_as_it_is_written(tmp_path):
    labelled = tmp_path / "room.laz"
    sidecar_path(labelled).write_text(json.dumps(CONTENT))
    sidecar = read_sidecar(labelled)
    assert sidecar.classes == S3DIS
    assert json.loads(sidecar.model_dump_json()) == CONTENT
    assert sidecar == LabelSidecar(**CONTENT)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"format": 2}, "'format': Input should be 1"),
        ({"classes": []}, "'classes': Tuple should have at least 1 item"),
        (
            {"classes": [{"name": "a", "value": 0, "colour": [0, 0, 256]}]},
            "'classes.0': Value error, a colour has three",
        ),
        ({"unlabelled": 12}, "different values for all classes and 'unlabelled', found one twice"),
        ({"protocol": {"deep": {}}}, "'protocol.deep"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(tmp_path, changes, found):
    labelled = tmp_path / "room.ply"
    sidecar_path(labelled).write_text(json.dumps(CONTENT | changes))
    with pytest.raises(InputError) as caught:
        read_sidecar(labelled)
    assert found in str(caught.value)
    assert str(sidecar_path(labelled)) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json_is_refused(tmp_path):
    sidecar_path(tmp_path / "room.ply").write_text("{")
    with pytest.raises(InputError, match="expected the classes of a labelled cloud, format 1, found Invalid JSON"):
        read_sidecar(tmp_path / "room.ply")
