import time
from types import SimpleNamespace

import numpy as np
import pytest

import point2node
from point2node.core.classes import S3DIS
from point2node.inference.labeller import Options
from point2node.show.viewer.controls import Controls
from point2node.show.viewer.correct_panel import BRUSH, EXPLAIN, LASSO, POINT, SEGMENT
from point2node.show.viewer.session import Session
from point2node.show.viewer.workbench import Workbench
from point2node.teaching.corrections_file import corrections_path, read_corrections
from point2node.weights.trained import load_trained
from tests.show.viewer.pages import Client
from tests.show.viewer.weights import small_room
from tests.teaching.lessons import fresh_labeller

DOOR = next(one for one in S3DIS if one.name == "door")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return fresh_labeller(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def room(tmp_path):
    point2node.write(tmp_path / "room.ply", small_room(3000, lost=2))
    return tmp_path / "room.ply"


@pytest.fixture
def bench(fresh, room, tmp_path):
    return Workbench(fresh, [room], tmp_path / "runs")


@pytest.fixture
def visit(bench, room):
    sessions = []

    def come():
        client = Client()
        client.camera = SimpleNamespace(position=np.array([0, -4.0, 3]), look_at=np.zeros(3))
        controls = Controls(client, (room.name,), Options())
        session = Session(client, bench, controls, {room.name: room}, 1.0, lambda: client.is_there)
        session.connect()
        sessions.append(session)
        return SimpleNamespace(client=client, controls=controls, session=session, panel=session._correcting._panel)

    yield come
    for session in sessions:
        session.close()


def click(visitor, place=(0.3, -0.3, 0.0), tool=SEGMENT, name="door"):
    """Correct what a click on the point of the floor that is nearest to a place selects."""
    visitor.panel.tool.value, visitor.panel.name.value = tool, name
    points = visitor.client.scene.nodes["/scan"].points
    visitor.client.click(points[np.argmin(np.linalg.norm(points - np.array(place), axis=1))])


def kept(room):
    return read_corrections(corrections_path(room)).done


def door_count(visitor):
    return sum((visitor.client.scene.nodes["/scan"].colors == DOOR.colour).all(axis=1))


def test_a_click_corrects_a_surface_paints_it_and_keeps_it_beside_the_scan(visit, room):
    visitor = visit()
    click(visitor)
    (correction,) = kept(room)
    assert correction.name == "door"
    xyz = point2node.read(room).xyz[correction.indices]
    assert len(xyz) > 500
    assert (np.abs(xyz[:, 2]) < 0.1).mean() > 0.95
    marked = visitor.client.scene.nodes["/corrected"]
    assert {tuple(colour) for colour in marked.colors.tolist()} == {DOOR.colour}
    assert door_count(visitor) >= len(marked.points)
    assert "Corrections: 1" in visitor.panel.status.content
    assert "/why/block" not in visitor.client.scene.nodes


def test_with_the_first_tool_a_click_still_says_why(visit, room):
    visitor = visit()
    click(visitor, tool=EXPLAIN)
    assert "/why/block" in visitor.client.scene.nodes
    assert not corrections_path(room).exists()


def test_brush_and_point_correct_what_they_say(visit, room):
    visitor = visit()
    visitor.panel.radius.value = 0.3
    click(visitor, tool=BRUSH)
    click(visitor, tool=POINT, name="table")
    brush, point = kept(room)
    xyz = point2node.read(room).xyz
    assert len(point.indices) == 1
    assert len(brush.indices) > 5
    assert np.linalg.norm(xyz[brush.indices] - xyz[point.indices], axis=1).max() <= 0.3 + 1e-6


def test_undo_takes_the_paint_away_and_redo_brings_it_back(visit, room):
    visitor = visit()
    before = visitor.client.scene.nodes["/scan"].colors.copy()
    assert visitor.panel.undo.disabled is True
    click(visitor)
    visitor.panel.undo.tell()
    assert np.array_equal(visitor.client.scene.nodes["/scan"].colors, before)
    assert "/corrected" not in visitor.client.scene.nodes
    assert not kept(room)
    visitor.panel.redo.tell()
    assert len(kept(room)) == 1
    assert "/corrected" in visitor.client.scene.nodes


def test_another_visitor_sees_the_correction_at_once_and_can_undo_it(visit, room):
    first, second = visit(), visit()
    click(first)
    assert door_count(second) == door_count(first) > 0
    assert second.panel.undo.disabled is False
    second.panel.undo.tell()
    assert "/corrected" not in first.client.scene.nodes


def test_a_page_that_is_opened_anew_shows_what_was_corrected(visit):
    first = visit()
    click(first)
    first.session.close()
    again = visit()
    assert "/corrected" in again.client.scene.nodes
    assert "Corrections: 1" in again.panel.status.content


def test_an_own_class_is_added_chosen_and_shown_in_the_legend(visit, room):
    visitor = visit()
    visitor.panel.new.value = " potted  plant "
    visitor.panel.add.tell()
    assert visitor.panel.name.value == "potted plant"
    assert visitor.panel.name.options[-1] == "potted plant"
    click(visitor, name="potted plant")
    assert kept(room)[0].name == "potted plant"
    assert any(one.entry.name == "potted plant" for one in visitor.controls.classes)


def test_a_class_that_is_there_already_is_refused_in_one_line(visit):
    visitor = visit()
    visitor.panel.new.value = "door"
    visitor.panel.add.tell()
    assert "not in the list yet" in visitor.panel.status.content


def test_a_class_that_is_hidden_stays_hidden_when_something_is_corrected(visit):
    visitor = visit()
    click(visitor, place=(0, 0, 0), tool=POINT)
    entry = next(one for one in visitor.controls.classes if one.entry.name == "door")
    entry.handle.tell()
    click(visitor, tool=POINT, name="table")
    assert DOOR.value in visitor.controls.hidden


def test_next_moves_the_camera_and_puts_a_pin(visit):
    visitor = visit()
    visitor.panel.next.tell()
    assert "/next" in visitor.client.scene.nodes
    place = visitor.client.scene.nodes["/next"].position
    assert np.allclose(visitor.client.camera.look_at, place)
    assert 1 < np.linalg.norm(visitor.client.camera.position - place) < 4


def look_down(visitor, height=5.0):
    visitor.client.camera = SimpleNamespace(
        position=np.array([0.0, 0.0, height]), wxyz=np.array([0.0, 1.0, 0.0, 0.0]), fov=1.0, aspect=1.0
    )


def draw(visitor, corners):
    for corner in corners:
        visitor.client.click((0, 0), screen_pos=corner)


TRIANGLE = ((0.4, 0.6), (0.6, 0.6), (0.5, 0.4))


def test_an_outline_corrects_what_is_seen_inside_it(visit, room):
    visitor = visit()
    look_down(visitor)
    visitor.panel.tool.value, visitor.panel.name.value = LASSO, "door"
    draw(visitor, TRIANGLE)
    assert not corrections_path(room).exists()
    assert len(visitor.client.scene.nodes["/drawn/line"].points) == 2
    assert "outline: 3" in visitor.panel.status.content
    draw(visitor, [(0.405, 0.605)])
    (correction,) = kept(room)
    xyz = point2node.read(room).xyz[correction.indices] - [1.5, 1, 0]
    side = 5 * 2 * np.tan(0.5)  # of the floor, as it is seen
    u, v = 0.5 + xyz[:, 0] / side, 0.5 - xyz[:, 1] / side
    assert len(u) > 5
    assert ((v < 0.601) & (v > 0.4 + 2 * np.abs(u - 0.5) - 0.001)).all()
    assert not any(name.startswith("/drawn") for name in visitor.client.scene.nodes)


def test_an_outline_starts_again_when_the_view_has_moved_and_goes_with_its_tool(visit, room):
    visitor = visit()
    look_down(visitor)
    visitor.panel.tool.value = LASSO
    draw(visitor, TRIANGLE)
    look_down(visitor, 4.0)
    draw(visitor, [TRIANGLE[0]])
    assert not corrections_path(room).exists()
    assert "outline: 1" in visitor.panel.status.content
    visitor.panel.tool.tell(value=POINT)
    assert not any(name.startswith("/drawn") for name in visitor.client.scene.nodes)


def test_a_rectangle_corrects_what_is_seen_in_it(visit, room):
    visitor = visit()
    visitor.panel.name.value = "door"
    look_down(visitor)
    for callback in visitor.client.scene.rectangles:
        callback(SimpleNamespace(screen_min=(0.45, 0.45), screen_max=(0.55, 0.55)))
    (correction,) = kept(room)
    xyz = point2node.read(room).xyz[correction.indices] - [1.5, 1, 0]
    assert np.abs(xyz[:, :2]).max() < 0.4


def test_corrections_for_another_scan_are_one_line_and_the_labels_are_still_shown(visit, room):
    visitor = visit()
    click(visitor)
    point2node.write(room, small_room(2000, seed=4))
    again = visit()
    assert "found those of another" in again.panel.status.content
    assert again.panel.undo.disabled is True
    click(again)
    assert again.controls.way.value == "class"


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_learning_gives_a_run_that_labels_for_everybody(visit, bench, room, tmp_path):
    first, second = visit(), visit()
    click(first)
    before = bench.labeller
    first.panel.learn.tell()
    wait_for(lambda: "Learnt" in first.panel.status.content)
    run = tmp_path / "runs" / "taught-room-001"
    assert load_trained(run).card.step == 120
    assert bench.labeller is not before
    for visitor in (first, second):
        assert "taught-room-001" in visitor.controls.status.content
        assert "/corrected" in visitor.client.scene.nodes
    assert str(run) in first.panel.status.content
    assert first.panel.learn.disabled is False
    assert first.panel.progress.visible is False
    first.panel.learn.tell()
    wait_for(lambda: "taught-room-002" in first.panel.status.content)


def test_learning_ends_with_the_server(visit, bench):
    visitor = visit()
    click(visitor)
    bench.is_closed = True
    visitor.panel.learn.tell()
    wait_for(lambda: visitor.panel.progress.visible is False and not bench.is_learning)
    assert "Learnt" not in visitor.panel.status.content


def test_a_visitors_own_upload_cannot_be_corrected_and_the_page_says_why(visit, room):
    visitor = visit()
    visitor.controls.upload.tell(value=SimpleNamespace(name="mine.ply", content=room.read_bytes()))
    assert "Only scans that the program was started with" in visitor.panel.status.content
    click(visitor)
    assert "/corrected" not in visitor.client.scene.nodes


def test_the_saved_file_holds_the_corrections(visit, tmp_path):
    visitor = visit()
    click(visitor)
    visitor.controls.save.tell()
    (tmp_path / "saved.ply").write_bytes(visitor.client.downloads["room_labelled.ply"])
    assert (point2node.read(tmp_path / "saved.ply").labels == DOOR.value).sum() > 500


def test_where_nothing_is_learnt_the_weights_stay_and_the_visitor_is_told(visit, bench, tmp_path, monkeypatch):
    visitor, before = visit(), bench.labeller
    click(visitor)
    monkeypatch.setattr(bench._teacher, "learn", lambda *given: SimpleNamespace(share=0.0))
    visitor.panel.learn.tell()
    wait_for(lambda: "Nothing learnt yet" in visitor.panel.status.content)
    assert bench.labeller is before
    assert not (tmp_path / "runs").exists()


def test_next_pressed_again_leads_to_another_spot(visit):
    visitor = visit()
    visitor.panel.next.tell()
    first = visitor.client.scene.nodes["/next"].position
    visitor.panel.next.tell()
    assert not np.allclose(first, visitor.client.scene.nodes["/next"].position)
