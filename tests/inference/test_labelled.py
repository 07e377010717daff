import numpy as np
import pytest

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.errors import InputError
from tests.show.scenes import box_room, scene


def test_a_value_that_no_class_has_means_no_label():
    labelled = scene("s", np.zeros((3, 3)), (S3DIS[9], S3DIS[4]), np.array([255, -1, 4]))
    assert labelled.places.tolist() == [-1, -1, 1]
    assert labelled.count(labelled.places).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.zeros((2000, 1))}, "box, labels: expected shape (2000,), found (2000, 1)."),
        ({"truth": np.zeros(3, int)}, "box, truth: expected shape (2000,), found (3,)."),
        ({"classes": ()}, "box: expected 1 to 255 classes, found 0."),
        ({"classes": (SemanticClass("a", 0, (0, 0, 0)),) * 256}, "box: expected 1 to 255 classes, found 256."),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError) as caught:
        box_room(**changes)
    assert str(caught.value) == message


def test_a_choice_of_points_keeps_everything_of_them():
    scene = box_room(remarks=("mind",))
    chosen = scene[np.array([5, 3])]
    for name in ("xyz", "labels", "rgb", "confidence", "entropy", "truth"):
        assert np.array_equal(getattr(chosen, name), getattr(scene, name)[[5, 3]])
    assert (chosen.name, chosen.notes, chosen.remarks) == (scene.name, scene.notes, scene.remarks)
