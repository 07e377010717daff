"""The viewer in a real browser."""

import time
from dataclasses import replace
from threading import Event

import numpy as np
import pytest

import point2node
from point2node.show.viewer.workbench import Abandoned
from tests.browser.viewer_pages import (
    PATIENCE,
    WHY,
    on_screen,
    open_page,
    settled_camera,
    visitor_of,
    wait_until_drawn,
)
from tests.show.scenes import labelled_box
from tests.show.viewer.weights import small_room, tiny_labeller

pytest.importorskip("viser", reason="BROWSER TESTS NOT RUN: pip install 'point2node[view]'")
pytestmark = pytest.mark.slow

CANVAS = {"x": 380, "y": 0, "width": 500, "height": 790}
"""What neither panel covers."""


@pytest.fixture(scope="module")
def labeller(tmp_path_factory):
    return tiny_labeller(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    path = tmp_path_factory.mktemp("scans") / "room.ply"
    point2node.write(path, small_room(3000, lost=4))
    return path


@pytest.fixture(scope="module")
def viewer(labeller, room):
    from point2node.show.viewer.app import Viewer

    running = Viewer(labeller, {room.name: room}, port=0, most_megabytes=1)
    yield running
    running.stop()


@pytest.fixture
def page(browser, viewer):
    opened = open_page(browser, viewer)
    wait_until_drawn(opened)
    yield opened
    assert not opened.errors
    opened.close()


def click_on_a_point(page, viewer, room):
    """Click on the point of the floor that is nearest to its middle."""
    client = visitor_of(viewer)
    settled_camera(client)
    xyz = point2node.read(room).xyz
    xyz = xyz[np.isfinite(xyz).all(axis=1)] - [1.5, 1, 0]
    point = xyz[np.argmin(np.linalg.norm(xyz - [0.3, -0.3, 0], axis=1))]
    page.mouse.click(*on_screen(page, client, point[None])[0])


def test_the_scan_is_drawn_and_its_classes_are_listed(page):
    assert page.evaluate("window.__viserTestpoints.rendererInfo.render.points") > 1000
    page.get_by_text("%)").first.wait_for(timeout=PATIENCE)
    page.get_by_text("4 have no position").wait_for(timeout=PATIENCE)


def test_a_click_on_a_point_changes_the_colours_and_says_why_and_back_undoes_it(page, viewer, room):
    before = page.screenshot(clip=CANVAS, timeout=PATIENCE)
    click_on_a_point(page, viewer, room)
    page.wait_for_function(WHY, timeout=PATIENCE)
    page.get_by_text("Where it looks: non-local correlation").wait_for(timeout=PATIENCE)
    wait_until_drawn(page)
    assert page.screenshot(clip=CANVAS, timeout=PATIENCE) != before
    page.get_by_text("only within its block of 1.5 m").wait_for(timeout=PATIENCE)
    page.get_by_text("Back to labels").click()
    page.wait_for_function(f"() => !({WHY})()", timeout=PATIENCE)
    page.get_by_text("Where it looks").wait_for(state="hidden", timeout=PATIENCE)


def test_a_click_on_the_background_does_nothing(page, viewer, room):
    settled_camera(visitor_of(viewer))
    page.mouse.click(40, 760)
    click_on_a_point(page, viewer, room)  # clicks are answered in turn: once this one is, so was the other
    page.wait_for_function(WHY, timeout=PATIENCE)
    page.get_by_text("Where it looks").wait_for(timeout=PATIENCE)
    page.get_by_text("Back to labels").click()
    page.wait_for_function(f"() => !({WHY})()", timeout=PATIENCE)
    page.mouse.click(40, 760)
    time.sleep(3)
    assert not page.evaluate(WHY)


def test_the_legend_hides_the_points_of_a_class(page):
    points = "() => window.__viserTestpoints.rendererInfo.render.points"
    before = page.evaluate(points)
    page.get_by_text("%)").first.click()
    page.wait_for_function(f"() => ({points})() < {before}", timeout=PATIENCE)


def test_two_tabs_keep_their_own_state(page, browser, viewer, room):
    other = open_page(browser, viewer)
    wait_until_drawn(other)
    click_on_a_point(other, viewer, room)
    other.wait_for_function(WHY, timeout=PATIENCE)
    assert not page.evaluate(WHY)
    assert page.get_by_text("Back to labels").count() == 0
    other.close()
    page.get_by_text("%)").first.click()
    page.get_by_text("labelled by the weights").wait_for(timeout=PATIENCE)


def test_an_object_is_seen_alone_and_the_plan_is_shown(browser, labeller, tmp_path, monkeypatch):
    from point2node.show.viewer.app import Viewer

    labelled, path = labelled_box(), tmp_path / "box.ply"
    point2node.write(path, labelled.cloud)
    running = Viewer(labeller, {path.name: path}, port=0)
    monkeypatch.setattr(running._workbench, "label", lambda scan, *given: replace(labelled, cloud=scan.cloud))
    page = open_page(browser, running)
    wait_until_drawn(page)
    points = "() => window.__viserTestpoints.rendererInfo.render.points"
    boxes = "() => '/boxes' in window.__viserSceneTree.getState()"
    before = page.evaluate(points)
    page.get_by_text("Objects and plan", exact=True).click()
    page.wait_for_function(boxes, timeout=3 * PATIENCE)  # kernels may have to be compiled first
    page.get_by_text("chair_01: 0.50 × 0.50 × 0.50 m, 90%").click()
    page.wait_for_function(f"() => ({points})() < {before} / 2", timeout=PATIENCE)
    page.get_by_text("Plan", exact=True).click()
    page.get_by_alt_text("The plan of the room").wait_for(timeout=PATIENCE)
    page.get_by_text("Close objects and plan").click()
    page.wait_for_function(f"() => !({boxes})() && ({points})() === {before}", timeout=PATIENCE)
    assert not page.errors
    page.close()
    running.stop()


def send(page, name, content):
    with page.expect_file_chooser() as chosen:
        page.get_by_text("Open a scan…").click()
    chosen.value.set_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_too_large_and_broken_uploads_are_one_line_each_and_a_good_one_is_labelled(page, room):
    send(page, "large.ply", bytes(1_500_000))
    page.get_by_text("expected at most 1 MB, found 2 MB").first.wait_for(timeout=PATIENCE)
    send(page, "broken.ply", b"ply\nformat nonsense\n")
    page.get_by_text("broken.ply").first.wait_for(timeout=PATIENCE)
    send(page, "good.ply", room.read_bytes())
    page.get_by_text("good.ply: 3,000 points, labelled by").wait_for(timeout=PATIENCE)


def test_no_notice_of_an_upload_stays_and_what_was_sent_goes_with_the_tab(browser, viewer, room, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened = open_page(browser, viewer)
    send(opened, "good.ply", room.read_bytes())
    opened.get_by_text("good.ply: 3,000 points, labelled by").wait_for(timeout=PATIENCE)
    opened.get_by_text("Uploading").wait_for(state="hidden", timeout=PATIENCE)
    assert list(tmp_path.glob("*/upload.ply"))
    opened.close()
    for _ in range(300):
        if not list(tmp_path.iterdir()):
            break
        time.sleep(0.2)
    assert not list(tmp_path.iterdir())


SPY = """<script>
const socket = new WebSocket("ADDRESS", "PROTOCOL");
socket.onopen = () => { document.title = "came in"; };
socket.onerror = () => { document.title = "turned away"; };
</script>"""


def test_a_page_of_another_site_cannot_open_the_socket_of_a_browser_that_was_let_in(browser, viewer):
    """The browser has our cookie; the page has even the token."""
    import viser

    context = browser.new_context()
    try:
        own = context.new_page()
        own.goto(viewer.url)
        own.get_by_text("labelled by the weights").first.wait_for(timeout=PATIENCE)
        for host in ("127.0.0.1", "localhost"):
            address = viewer.url.replace("http://127.0.0.1", f"ws://{host}")
            script = SPY.replace("ADDRESS", address).replace("PROTOCOL", f"viser-v{viser.__version__}")
            foreign = context.new_page()
            foreign.route("http://elsewhere.test/", lambda route, _, body=script: route.fulfill(body=body))
            foreign.goto("http://elsewhere.test/")
            foreign.wait_for_function("() => document.title", timeout=PATIENCE)
            assert foreign.title() == "turned away"
            foreign.close()
        again = context.new_page()
        again.goto(viewer.url.partition("?")[0])  # the cookie is enough for our own page
        again.get_by_text("labelled by the weights").first.wait_for(timeout=PATIENCE)
    finally:
        context.close()


def test_a_visitor_without_the_link_is_told_where_to_find_it(browser, viewer):
    stranger = browser.new_context().new_page()
    answer = stranger.goto(viewer.url.partition("?")[0])
    assert answer.status == 403
    stranger.get_by_text("Open the link that 'point2node view' printed").wait_for(timeout=PATIENCE)
    stranger.context.close()


def test_the_labelled_file_and_its_classes_are_downloaded(page, tmp_path):
    downloads = []
    page.on("download", lambda download: downloads.append(download))
    page.get_by_text("Save labelled file").click()
    for _ in range(300):
        if len(downloads) == 2:
            break
        page.wait_for_timeout(200)
    names = sorted(one.suggested_filename for one in downloads)
    assert names == ["room_labelled.ply", "room_labelled.ply.classes.json"]
    downloads[0].save_as(tmp_path / "saved.ply")
    assert len(point2node.read(tmp_path / "saved.ply").labels) == 3000


class Patient:
    """A labeller whose first scan takes until its visitor has gone."""

    def __init__(self, labeller):
        self.labeller, self.name, self.classes, self.trained = (
            labeller,
            labeller.name,
            labeller.classes,
            labeller.trained,
        )
        self.started, self.abandoned = Event(), Event()

    def label(self, cloud, options, report, name):
        if not self.abandoned.is_set():
            self.started.set()
            try:
                for done in range(600):
                    report(done, 600, name)
                    time.sleep(0.1)
            except Abandoned:
                self.abandoned.set()
                raise
        return self.labeller.label(cloud, options, report, name)


def test_a_tab_that_is_closed_during_labelling_ends_it_and_the_next_one_is_served(browser, labeller, room):
    from point2node.show.viewer.app import Viewer

    patient = Patient(labeller)
    viewer = Viewer(patient, {room.name: room}, port=0)
    try:
        leaving = open_page(browser, viewer, says="Labelling room.ply: ")
        assert patient.started.is_set()
        leaving.close()
        assert patient.abandoned.wait(60)
        staying = open_page(browser, viewer)
        wait_until_drawn(staying)
        staying.close()
    finally:
        viewer.stop()
