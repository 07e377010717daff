"""Correcting labels in a real browser."""

import numpy as np
import pytest

import point2node
from point2node.teaching.corrections_file import corrections_path, read_corrections
from tests.browser.viewer_pages import PATIENCE, on_screen, open_page, settled_camera, visitor_of, wait_until_drawn
from tests.show.viewer.weights import small_room
from tests.teaching.lessons import fresh_labeller

pytest.importorskip("viser", reason="BROWSER TESTS NOT RUN: pip install 'point2node[view]'")
pytestmark = pytest.mark.slow

CORRECTED = "() => '/corrected' in window.__viserSceneTree.getState()"
CANVAS = {"x": 60, "y": 60, "width": 800, "height": 700}
"""What no panel covers."""


@pytest.fixture
def room(tmp_path):
    point2node.write(tmp_path / "room.ply", small_room(6000))
    return tmp_path / "room.ply"


@pytest.fixture
def viewer(room, tmp_path, monkeypatch):
    from point2node.show.viewer.app import Viewer

    monkeypatch.chdir(tmp_path)  # what is learnt goes to the folder runs
    running = Viewer(fresh_labeller(tmp_path), {room.name: room}, port=0)
    yield running
    running.stop()


def open_tab(browser, viewer):
    page = open_page(browser, viewer, size=(1280, 1200))
    wait_until_drawn(page)
    return page


def choose(page, label, option):
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def correct_the_floor(page, viewer, room, name="door"):
    choose(page, "A click", "corrects a surface")
    choose(page, "Is a", name)
    client = visitor_of(viewer)
    settled_camera(client)
    xyz = point2node.read(room).xyz - [1.5, 1, 0]
    point = xyz[np.argmin(np.linalg.norm(xyz - [0.3, -0.3, 0], axis=1))]
    page.mouse.click(*on_screen(page, client, point[None])[0])
    page.get_by_text("Corrections: 1,").wait_for(timeout=PATIENCE)
    page.wait_for_function(CORRECTED, timeout=PATIENCE)
    wait_until_drawn(page)


def kept(room):
    return read_corrections(corrections_path(room)).done


def test_a_click_selects_and_paints_a_surface_and_undo_takes_it_back(browser, viewer, room):
    page = open_tab(browser, viewer)
    before = page.screenshot(clip=CANVAS, timeout=PATIENCE)
    correct_the_floor(page, viewer, room)
    assert page.screenshot(clip=CANVAS, timeout=PATIENCE) != before
    assert len(kept(room)[0].indices) > 1000
    page.get_by_text("Undo", exact=True).click()
    page.wait_for_function(f"() => !({CORRECTED})()", timeout=PATIENCE)
    assert not kept(room)
    page.get_by_text("Redo", exact=True).click()
    page.wait_for_function(CORRECTED, timeout=PATIENCE)
    assert not page.errors
    page.close()


def test_learn_labels_again_and_a_reload_loses_nothing(browser, viewer, room, tmp_path):
    page = open_tab(browser, viewer)
    correct_the_floor(page, viewer, room)
    page.get_by_text("Learn", exact=True).click()
    page.get_by_text("Learnt. Label other scans with").wait_for(timeout=PATIENCE)
    page.get_by_text("labelled by the weights 'taught-room-001'").wait_for(timeout=PATIENCE)
    assert (tmp_path / "runs" / "taught-room-001" / "best.safetensors").is_file()
    page.reload()
    page.get_by_text("labelled by the weights 'taught-room-001'").wait_for(timeout=PATIENCE)
    page.get_by_text("Corrections: 1,").wait_for(timeout=PATIENCE)
    page.wait_for_function(CORRECTED, timeout=PATIENCE)
    page.close()


def test_two_tabs_share_the_corrections(browser, viewer, room):
    other = open_tab(browser, viewer)
    page = open_tab(browser, viewer)
    correct_the_floor(page, viewer, room)
    other.wait_for_function(CORRECTED, timeout=PATIENCE)
    other.get_by_text("Undo", exact=True).click()
    page.wait_for_function(f"() => !({CORRECTED})()", timeout=PATIENCE)
    other.close()
    page.close()


def test_next_moves_the_picture_to_a_pin(browser, viewer):
    page = open_tab(browser, viewer)
    before = page.screenshot(clip=CANVAS, timeout=PATIENCE)
    page.get_by_text("Next", exact=True).click()
    page.wait_for_function("() => '/next' in window.__viserSceneTree.getState()", timeout=PATIENCE)
    wait_until_drawn(page)
    page.wait_for_timeout(2000)
    assert page.screenshot(clip=CANVAS, timeout=PATIENCE) != before
    page.close()


def test_an_outline_is_drawn_corner_by_corner_and_corrects_what_it_encloses(browser, viewer, room):
    page = open_tab(browser, viewer)
    choose(page, "A click", "draws an outline")
    choose(page, "Is a", "door")
    client = visitor_of(viewer)
    settled_camera(client)
    corners = np.array([[-0.4, -0.4, 0], [0.4, -0.4, 0], [0.5, 0.3, 0], [-0.2, 0.4, 0]])
    places = on_screen(page, client, corners)
    for number, place in enumerate(places, start=1):
        page.mouse.click(*place)
        page.get_by_text(f"Corners of the outline: {number}.").wait_for(timeout=PATIENCE)
    page.wait_for_function("() => '/drawn/line' in window.__viserSceneTree.getState()", timeout=PATIENCE)
    wait_until_drawn(page)
    page.mouse.click(*places[0])
    page.get_by_text("Corrections: 1,").wait_for(timeout=PATIENCE)
    page.wait_for_function("() => !('/drawn' in window.__viserSceneTree.getState())", timeout=PATIENCE)
    xyz = point2node.read(room).xyz[kept(room)[0].indices] - [1.5, 1, 0]
    floor = xyz[np.abs(xyz[:, 2]) < 0.1]
    assert len(floor) > 50
    assert np.abs(floor[:, :2]).max() < 0.55
    assert not page.errors
    page.close()
