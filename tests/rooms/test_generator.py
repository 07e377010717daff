"""Generated rooms: the same every time, labelled consistently, as varied as real buildings."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.rooms import RoomSettings, describe_room, generate_room
from point2node.rooms.catalogue import OPENINGS, PIECES
from point2node.rooms.layouts import HOMES, LAYOUTS

COARSE = RoomSettings(ray_step=1.5, even=0.05)
WHOLE = RoomSettings(
    scanners=("panoramic", "laser"), ray_step=1.5, even=0.05, lost_ceiling=0, cut_room=0, lost_patches=0
)
HELD_OUT = {style.name for choices in (*PIECES.values(), *OPENINGS.values()) for style in choices if style.held_out}
# per cent of the points of S3DIS, and how far off the generated rooms may be
SHARES = {
    "ceiling": (18.1, 1.3),
    "floor": (15.4, 1.3),
    "wall": (26.4, 1.4),
    "beam": (1.7, 2.5),
    "column": (2.0, 1.8),
    "window": (2.6, 1.8),
    "door": (5.2, 1.6),
    "table": (3.5, 1.6),
    "chair": (4.3, 1.6),
    "sofa": (0.5, 3.0),
    "bookcase": (6.9, 1.6),
    "board": (1.2, 2.0),
    "clutter": (12.2, 1.6),
}


def as_bytes(cloud: PointCloud) -> bytes:
    return b"".join(part.tobytes() for part in (cloud.xyz, cloud.rgb, cloud.labels, cloud.instance))


def test_the_same_arguments_give_the_same_bytes():
    assert as_bytes(generate_room(3, 5, settings=COARSE)) == as_bytes(generate_room(3, 5, settings=COARSE))


def test_the_number_of_threads_does_not_change_a_byte():
    before = numba.get_num_threads()
    many = as_bytes(generate_room(0, 1, settings=COARSE))
    try:
        numba.set_num_threads(1)
        one = as_bytes(generate_room(0, 1, settings=COARSE))
    finally:
        numba.set_num_threads(before)
    assert one == many


def test_another_index_and_another_seed_give_other_rooms():
    rooms = {as_bytes(generate_room(seed, index, settings=COARSE)) for seed, index in ((0, 0), (0, 1), (1, 0))}
    assert len(rooms) == 3


def test_all_thirteen_classes_appear():
    found = {int(label) for index in range(20) for label in np.unique(generate_room(0, index, settings=COARSE).labels)}
    assert found == {entry.value for entry in S3DIS}


def test_every_instance_has_one_class():
    for index in range(5):
        cloud = generate_room(1, index, settings=COARSE)
        pairs = np.unique(np.stack([cloud.instance, cloud.labels]), axis=1)
        assert len(np.unique(pairs[0])) == pairs.shape[1]


@pytest.mark.parametrize("points", [1, 1000, 500_000])
def test_points_are_exactly_as_many_as_asked(points):
    assert len(generate_room(0, 2, points=points, settings=COARSE)) == points


def test_no_point_is_drawn_twice_while_there_are_enough():
    seen = generate_room(0, 2, settings=COARSE)
    drawn = generate_room(0, 2, points=len(seen), settings=COARSE)
    assert np.array_equal(np.unique(drawn.xyz, axis=0), np.unique(seen.xyz, axis=0))


def test_a_room_can_have_more_than_a_hundred_thousand_points():
    assert len(generate_room(0, 0, settings=RoomSettings(layouts=("open_office",)))) > 100_000


def test_the_floor_is_near_zero_and_the_ceiling_where_ceilings_are():
    for index in range(8):
        cloud = generate_room(2, index, settings=WHOLE)
        floor, ceiling = (np.median(cloud.xyz[cloud.labels == label, 2]) for label in (0, 1)[::-1])
        assert abs(floor) < 0.25
        assert 2.2 < ceiling - floor < 5.1


def test_nothing_lies_far_outside_the_walls():
    for index in range(8):
        cloud = generate_room(4, index, settings=WHOLE)
        walls = cloud.xyz[cloud.labels == 2]
        assert (cloud.xyz > walls.min(axis=0) - 1.2).all()
        assert (cloud.xyz < walls.max(axis=0) + 1.2).all()


@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_every_layout_can_be_asked_for(layout):
    settings = RoomSettings(layouts=(layout,), ray_step=2, even=0.05)
    assert describe_room(0, 0, styles="all", settings=settings).layout == layout
    assert len(generate_room(0, 0, styles="all", settings=settings)) > 1000


def test_training_rooms_never_use_a_held_out_style_or_layout():
    held_out_layouts = {layout.name for layout in LAYOUTS if layout.held_out}
    for index in range(40):
        room = describe_room(0, index, styles="train")
        assert not HELD_OUT & set(room.styles)
        assert room.layout not in held_out_layouts


def test_held_out_rooms_use_every_held_out_style():
    furnished = RoomSettings(layouts=("office", "lounge", "conference_room", "open_office"))
    rooms = [describe_room(0, index, styles="held_out", settings=furnished) for index in range(60)]
    assert set().union(*(room.styles for room in rooms)) >= HELD_OUT


def test_most_held_out_rooms_are_of_a_held_out_layout():
    rooms = [describe_room(0, index, styles="held_out") for index in range(30)]
    assert sum(room.layout in ("seminar_room", "studio") for room in rooms) > 15


def test_every_furniture_class_has_a_held_out_style():
    assert {"chair", "table", "sofa", "bookcase", "board", "clutter"} <= {name.split("/")[0] for name in HELD_OUT}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1, "index": 0}, "seed: expected a whole number of at least 0, found -1"),
        ({"seed": 0, "index": 0, "styles": "trian"}, "Did you mean 'train'?"),
        ({"seed": 0, "index": 0, "points": 0}, "points: expected at least 1, found 0"),
        ({"seed": 0, "index": 0, "settings": RoomSettings(layouts=("ofice",))}, "Did you mean 'office'?"),
        ({"seed": 0, "index": 0, "settings": RoomSettings(layouts=("seminar_room",))}, "found seminar_room"),
    ],
)
def test_what_cannot_be_generated_is_named(arguments, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        generate_room(**arguments)


def test_a_setting_out_of_range_is_named():
    with pytest.raises(InputError, match=r"RoomSettings\.even: expected 0\.01 to 1, found 0\.001"):
        RoomSettings(even=0.001)


@pytest.mark.slow
def test_class_shares_at_work_are_near_those_of_real_rooms():
    at_work = tuple(layout.name for layout in LAYOUTS if layout.name not in HOMES and not layout.held_out)
    settings = replace(COARSE, layouts=at_work, scanners=("panoramic", "laser"))
    counts = sum(np.bincount(generate_room(0, index, settings=settings).labels, minlength=13) for index in range(120))
    for entry, share in zip(S3DIS, 100 * counts / counts.sum(), strict=True):
        expected, factor = SHARES[entry.name]
        assert expected / factor < share < expected * factor, f"{entry.name}: {share:.2f} against {expected}"


def test_a_description_names_the_doors_and_windows_with_their_true_width_and_leaves():
    whole = 0
    for index in range(6):
        room, description = generate_room(4, index, settings=WHOLE), describe_room(4, index, settings=WHOLE)
        for opening in description.openings:
            points = room.xyz[room.instance == opening.instance]
            names = {S3DIS[int(label)].name for label in room.labels[room.instance == opening.instance]}
            assert names <= {opening.kind}
            if len(points) < 200 or any(leaf.angle for leaf in opening.leaves):
                continue
            width = np.ptp(points[:, :2], axis=0).max()  # rooms are turned by a few degrees at most
            assert width < opening.width + 0.25
            whole += abs(width - opening.width) < 0.1  # furniture hides parts of the others
        assert all(
            leaf.side in ("left", "right") and abs(leaf.angle) <= 3 for o in description.openings for leaf in o.leaves
        )
    assert whole > 3
