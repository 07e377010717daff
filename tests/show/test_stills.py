import matplotlib.image
import numpy as np
import pytest

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.show import stills
from point2node.show.colours import RIGHT, UNKNOWN, WRONG
from point2node.show.stills import colours_of, open_room, write_stills
from tests.show.scenes import SIZE, box_room


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(stills, "PIXELS", (700, 450))


def test_there_is_a_still_for_each_way_to_colour_a_scene(tmp_path):
    written = write_stills(box_room(), tmp_path / "room.html")
    assert {path.name for path in written} == {
        f"room_{kind}.png" for kind in ("class", "rgb", "confidence", "entropy", "truth", "error")
    }
    pictures = [matplotlib.image.imread(path) for path in written]
    assert len({picture.tobytes() for picture in pictures}) == 6
    assert sorted(tmp_path.iterdir()) == sorted(written)


def test_a_scene_that_knows_only_classes_has_one_still_in_their_colours(tmp_path):
    scene = box_room(truth=None, rgb=None, confidence=None, entropy=None)
    (path,) = write_stills(scene, tmp_path / "room.html")
    picture = (255 * matplotlib.image.imread(path)[..., :3]).round().astype(int)
    blue = (picture == [0, 0, 255]).all(axis=-1)  # the floor
    assert blue.mean() > 0.01


def test_colours_say_what_is_right_wrong_and_unknown():
    scene = box_room(7, labels=np.array([1, 1, -1, 1, 2, 2, 2]), truth=np.array([1, 2, 1, -1, 2, 2, 2]))
    assert colours_of(scene)["error"][:5].tolist() == [list(one) for one in (RIGHT, WRONG, UNKNOWN, UNKNOWN, RIGHT)]
    assert colours_of(scene)["class"][2].tolist() == list(UNKNOWN)


def test_a_room_is_opened_towards_the_viewer_and_that_is_noted():
    scene = box_room(20000)
    numbers, note = open_room(scene)
    xyz = scene.xyz[numbers]
    assert note == "everything above 2.40 and the walls towards the viewer cut away"
    assert xyz[:, 2].max() <= 2.41
    high = xyz[xyz[:, 2] > 0.5]
    assert (high[:, 0] == SIZE[0]).any() != (high[:, 0] == 0).any()  # one of two opposite walls is left
    assert (xyz[:, 2] == 0).sum() == (scene.xyz[:, 2] == 0).sum()


def test_a_scene_without_ceiling_and_walls_is_shown_whole():
    numbers, note = open_room(box_room(labels=np.full(2000, 8)))
    assert (len(numbers), note) == (2000, "")


def test_points_without_a_position_are_left_out():
    scene = box_room()
    xyz = scene.xyz.copy()
    xyz[::2] = np.nan
    assert (open_room(box_room(xyz=xyz))[0] % 2 == 1).all()
    with pytest.raises(InputError, match="expected points with positions, found none"):
        open_room(box_room(xyz=np.full_like(xyz, np.nan)))


def test_names_with_dollars_and_underscores_are_drawn_as_they_are(tmp_path, recwarn):
    scene = box_room()
    classes = tuple(SemanticClass(f"_${one.name}_$", one.value, one.colour) for one in scene.classes)
    write_stills(box_room(name="$x_{", classes=classes, rgb=None, truth=None), tmp_path / "room.html")
    assert not recwarn.list


def test_a_hundred_classes_with_long_names_leave_room_for_the_picture(tmp_path):
    classes = tuple(SemanticClass(f"{n} {'long ' * 30}", n, (n, n, 255 - n)) for n in range(100))
    scene = box_room(labels=np.arange(2000) % 100, classes=classes, rgb=None, truth=None, confidence=None, entropy=None)
    (path,) = write_stills(scene, tmp_path / "room.html")
    picture = matplotlib.image.imread(path)[..., :3]
    busy = np.abs(picture - picture[2, -2]).max(axis=-1) > 0.1
    assert busy[: len(picture) // 2].mean() > 0.02
