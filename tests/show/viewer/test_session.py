from types import SimpleNamespace

import numpy as np
import pytest

import point2node
from point2node.core.classes import S3DIS
from point2node.data.label_sidecar import sidecar_path
from point2node.inference.labeller import Options
from point2node.show.viewer.controls import EXPLANATION, Controls
from point2node.show.viewer.session import Session
from point2node.show.viewer.workbench import Workbench
from tests.inference.labellers import card
from tests.show.viewer.pages import Client
from tests.show.viewer.weights import small_room, tiny_labeller

COLOURS = {one.colour for one in S3DIS}


@pytest.fixture(autouse=True)
def _leave(monkeypatch):
    """All visitors leave in the end, as they do at the server's."""
    sessions, make = [], Session.__init__

    def remember(self, *arguments):
        make(self, *arguments)
        sessions.append(self)

    monkeypatch.setattr(Session, "__init__", remember)
    yield
    for session in sessions:
        session.close()


def visit(labeller, scans=(), most_megabytes=1.0, workbench=None):
    """A visitor who has opened the page: client, controls, session."""
    client = Client()
    listed = {path.name: path for path in scans}
    controls = Controls(client, tuple(listed), Options())
    bench = workbench or Workbench(labeller)
    session = Session(client, bench, controls, listed, most_megabytes, lambda: client.is_there)
    session.connect()
    return client, controls, session


@pytest.fixture
def room(tmp_path):
    point2node.write(tmp_path / "room.ply", small_room(lost=2))
    return tmp_path / "room.ply"


@pytest.fixture
def visitor(labeller, room):
    return visit(labeller, [room])


def floor_point(client):
    """A place on the floor where a click meets a point."""
    points = client.scene.nodes["/scan"].points
    return points[np.argmin(points[:, 2])]


def test_a_scan_is_opened_labelled_and_coloured_by_class(visitor):
    client, controls, _ = visitor
    assert {tuple(colour) for colour in client.scene.nodes["/scan"].colors.tolist()} <= COLOURS
    assert controls.way.value == "class"
    assert "600 points" in controls.status.content
    assert "2 have no position" in controls.status.content
    assert controls.progress.visible is False
    assert controls.save.disabled is False
    assert client.scene.nodes["/scan"].precision == "float32"


def test_the_ceiling_is_cut_away_at_first_and_comes_back_with_the_slider(visitor):
    client, controls, _ = visitor
    assert client.scene.nodes["/scan"].points[:, 2].max() <= controls.cut.value < 2.1
    controls.cut.tell(value=controls.cut.max)
    assert len(client.scene.nodes["/scan"].points) == 598


def test_a_class_is_hidden_and_shown_by_its_entry_of_the_legend(visitor):
    client, controls, _ = visitor
    controls.cut.tell(value=controls.cut.max)
    entry = controls.classes[0]
    hidden = int(entry.handle.label.split(": ")[1].split(" ")[0])
    assert sum(int(one.handle.label.split(": ")[1].split(" ")[0]) for one in controls.classes) == 598
    entry.handle.tell()
    drawn = client.scene.nodes.get("/scan")  # none where the fresh network gives all points one label
    assert (0 if drawn is None else len(drawn.points)) == 598 - hidden
    entry.handle.tell()
    assert len(client.scene.nodes["/scan"].points) == 598


def test_with_every_class_hidden_nothing_is_drawn_until_one_comes_back(visitor):
    client, controls, _ = visitor
    for entry in controls.classes:
        entry.handle.tell()
    assert "/scan" not in client.scene.nodes
    controls.classes[0].handle.tell()
    assert len(client.scene.nodes["/scan"].points) > 0


def test_every_way_to_colour_changes_the_colours(visitor):
    client, controls, _ = visitor
    seen = set()
    for way in controls.way.options:
        controls.way.tell(value=way)
        seen.add(client.scene.nodes["/scan"].colors.tobytes())
    assert len(seen) == len(controls.way.options) == 5


def test_a_click_on_a_point_paints_its_block_and_says_why(visitor):
    client, controls, _ = visitor
    before = client.scene.nodes["/scan"].colors.copy()
    client.click(floor_point(client))
    assert controls.way.value == EXPLANATION
    assert controls.why.visible is True
    assert "non-local correlation" in controls.reasons.content
    assert {"/why/block", "/why/outline", "/why/graph", "/why/point", "/why/name"} <= client.scene.nodes.keys()
    assert not np.array_equal(client.scene.nodes["/scan"].colors, before)
    assert client.scene.nodes["/why/block"].points[:, 2].max() <= controls.cut.value


def test_back_to_labels_puts_the_explanation_away(visitor):
    client, controls, _ = visitor
    before = client.scene.nodes["/scan"].colors.copy()
    client.click(floor_point(client))
    controls.back.tell()
    assert np.array_equal(client.scene.nodes["/scan"].colors, before)
    assert controls.way.value == "class"
    assert EXPLANATION not in controls.way.options
    assert controls.why.visible is False
    assert list(client.scene.nodes) == ["/scan"]


def test_a_click_on_the_background_does_nothing(visitor):
    client, controls, _ = visitor
    before = dict(client.scene.nodes), controls.status.content
    client.click((50.0, 50.0, 0.0))
    assert (dict(client.scene.nodes), controls.status.content) == before
    assert controls.way.value == "class"


def test_a_hidden_point_cannot_be_clicked(visitor):
    client, controls, _ = visitor
    place = floor_point(client)
    for entry in controls.classes:
        entry.handle.tell()
    client.click(place)
    assert controls.way.value == "class"


def test_weights_that_cannot_explain_say_so(tmp_path, room):
    client, controls, _ = visit(tiny_labeller(tmp_path, variant="baseline"), [room])
    client.click(floor_point(client))
    assert "expected weights of the variant 'point2node'" in client.notifications[0]
    assert controls.way.value == "class"


def test_the_labelled_scan_is_saved_in_its_own_format_with_its_classes(visitor, tmp_path):
    client, controls, _ = visitor
    controls.save.tell()
    assert list(client.downloads) == ["room_labelled.ply", "room_labelled.ply.classes.json"]
    (tmp_path / "saved.ply").write_bytes(client.downloads["room_labelled.ply"])
    saved = point2node.read(tmp_path / "saved.ply")
    assert len(saved) == 600
    assert np.array_equal(saved.xyz, point2node.read(tmp_path / "room.ply").xyz, equal_nan=True)
    assert saved.labels[:2].tolist() == [255, 255]
    assert b'"ceiling"' in client.downloads[sidecar_path(tmp_path / "room_labelled.ply").name]


def send(controls, name, content):
    controls.upload.tell(value=SimpleNamespace(name=name, content=content))


def test_an_upload_is_labelled_and_saved_under_its_own_name(labeller, room):
    client, controls, _ = visit(labeller)
    assert "Open a scan" in controls.status.content
    send(controls, "../My <b>Room</b>.ply", room.read_bytes())
    assert controls.way.value == "class"
    controls.save.tell()
    assert next(iter(client.downloads)) == "b__labelled.ply"


def test_text_keeps_its_characters_through_upload_and_download(labeller):
    client, controls, _ = visit(labeller)
    lines = [f"{x:.2f} {y:.3f} 0.50" for x in np.arange(0, 2, 0.1) for y in np.arange(0, 2, 0.1)]
    send(controls, "room.xyz", "\n".join(lines).encode())
    controls.save.tell()
    saved = client.downloads["room_labelled.xyz"].decode().splitlines()
    assert all(line.startswith(before + " ") for line, before in zip(saved[-len(lines) :], lines, strict=True))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("room.ply", b"ply\nthis is none", "room.ply"),
        ("room.ply", bytes(1_500_000), "at most 1 MB"),
        ("room.exe", b"MZ", "readable format"),
        ("room.ply", b"", "empty file"),
        ("room.xyz", b"nan nan nan\nnan nan nan\n", "room.xyz"),
    ],
)
def test_a_bad_upload_is_one_line_and_the_page_goes_on(visitor, room, name, content, reason):
    client, controls, _ = visitor
    send(controls, name, content)
    assert reason in client.notifications[-1]
    assert reason in controls.status.content
    assert controls.progress.visible is False
    send(controls, "room.ply", room.read_bytes())
    assert "labelled by" in controls.status.content


def test_what_a_file_says_is_text_on_the_page(labeller):
    _, controls, _ = visit(labeller)
    send(controls, "room.xyz", b"1 2 3\n1 2 <img/src=x>{alert(1)}\n")
    assert "<img" not in controls.status.content


def test_the_button_lets_go_of_what_was_sent(labeller, room):
    _, controls, _ = visit(labeller)
    send(controls, "room.ply", room.read_bytes())
    assert controls.upload.value.content == b""
    assert "labelled by" in controls.status.content
    controls.say("still here")
    controls.upload.tell()  # a second callback for what the first has taken already
    assert "still here" in controls.status.content


def test_what_was_sent_is_removed_when_the_visitor_leaves(labeller, room, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    _, controls, session = visit(labeller)
    send(controls, "room.ply", room.read_bytes())
    assert list((tmp_path / "temporary").glob("*/upload.ply"))
    session.close()
    assert not list((tmp_path / "temporary").iterdir())


def test_a_scan_without_colours_is_labelled_and_the_page_says_what_that_means(labeller, tmp_path):
    point2node.write(tmp_path / "grey.ply", small_room(colour=False))
    _, controls, _ = visit(labeller, [tmp_path / "grey.ply"])
    assert "trained with colours" in controls.status.content
    assert "colour of the scan" not in controls.way.options


def test_weights_without_colours_label_and_explain(tmp_path, room):
    client, controls, _ = visit(tiny_labeller(tmp_path, features=()), [room])
    client.click(floor_point(client))
    assert controls.way.value == EXPLANATION


def test_two_visitors_keep_their_own_state(labeller, room):
    bench = Workbench(labeller)
    one, other = (visit(labeller, [room], workbench=bench) for _ in range(2))
    one[0].click(floor_point(one[0]))
    one[1].classes[0].handle.tell()
    assert other[1].way.value == "class"
    assert "/why" not in other[0].scene.nodes
    assert all(button.shown for button in other[1].classes)


def test_another_scan_replaces_the_first_with_all_that_was_shown_of_it(labeller, room, tmp_path):
    point2node.write(tmp_path / "small.ply", small_room(200, seed=3))
    client, controls, _ = visit(labeller, [room, tmp_path / "small.ply"])
    client.click(floor_point(client))
    controls.scan.tell(value="small.ply")
    assert list(client.scene.nodes) == ["/scan"]
    assert controls.way.value == "class"
    assert "200 points" in controls.status.content


def test_the_unit_of_a_scan_is_found_and_can_be_changed(labeller, tmp_path):
    cloud = small_room(600)
    point2node.write(tmp_path / "mm.ply", cloud.with_(xyz=1000 * cloud.xyz))
    client, controls, _ = visit(labeller, [tmp_path / "mm.ply"])
    assert controls.scale.value == 0.001
    assert "A unit of the file is taken as 0.001 m." in controls.status.content
    assert np.ptp(client.scene.nodes["/scan"].points[:, 0]) < 4
    controls.scale.value = 0.002
    controls.again.tell()
    assert np.ptp(client.scene.nodes["/scan"].points[:, 0]) > 4


class Leaving:
    """In the place of a labeller: the visitor goes while it works."""

    name, classes = "leaving", S3DIS
    trained = SimpleNamespace(card=card())

    def __init__(self, leave):
        self.leave, self.went_on = leave, False

    def label(self, cloud, options, report, name):
        report(1, 10, name)
        self.leave()
        report(2, 10, name)
        self.went_on = True


def test_labelling_ends_at_the_next_report_once_the_visitor_has_gone(room):
    client = Client()

    def leave():
        client.is_there = False

    labeller = Leaving(leave)
    controls = Controls(client, (room.name,), Options())
    session = Session(client, Workbench(labeller), controls, {room.name: room}, 1.0, lambda: client.is_there)
    session.connect()
    session.close()
    assert not labeller.went_on
    assert not client.notifications


def test_a_bug_is_shown_as_ours_and_keeps_its_traceback(room):
    def break_down():
        raise ZeroDivisionError

    client = Client()
    controls = Controls(client, (room.name,), Options())
    session = Session(client, Workbench(Leaving(break_down)), controls, {room.name: room}, 1.0, lambda: True)
    with pytest.raises(ZeroDivisionError):
        session.connect()
    assert "see the terminal" in client.notifications[0]
    assert controls.progress.visible is False
