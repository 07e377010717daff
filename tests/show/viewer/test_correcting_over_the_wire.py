"""Corrections on the real server, 'point2node view' in a process of its own; only the browser is left out."""

import re
import subprocess
import sys

import numpy as np
import pytest

import point2node
from point2node.core.point_cloud import PointCloud
from point2node.teaching.corrections_file import corrections_path, read_corrections
from point2node.weights.trained import load_trained
from tests.show.viewer.wire import WirePage
from tests.teaching.lessons import write_fresh_weights

pytestmark = pytest.mark.slow


@pytest.fixture
def room(tmp_path):
    """A floor and a table; a click from above meets a point every centimetre."""
    random = np.random.default_rng(0)
    floor = random.uniform([-1.5, -1, 0], [1.5, 1, 0], (40_000, 3))
    top = random.uniform([0.5, 0, 0.75], [1.2, 0.7, 0.75], (10_000, 3))
    xyz = np.concatenate([floor, top])
    point2node.write(tmp_path / "room.ply", PointCloud(xyz, rgb=np.zeros((len(xyz), 3))))
    return tmp_path / "room.ply"


@pytest.fixture
def serve(room, tmp_path):
    running = []

    def start():
        weights = write_fresh_weights(tmp_path / "fresh.safetensors")
        words = ["view", str(room), "--weights", str(weights), "--port", "0", "--no-open"]
        server = subprocess.Popen(
            [sys.executable, "-m", "point2node", *words], stdout=subprocess.PIPE, text=True, cwd=tmp_path
        )
        running.append(server)
        return server, re.search(r"http://\S+", server.stdout.readline())[0]

    yield start
    for server in running:
        server.kill()
        server.wait()


def open_page(url):
    page = WirePage(url)
    page.wait_for("labelled by the weights")
    page.choose("A click", "corrects a surface")
    page.choose("Is a", "table")
    return page


def kept(room):
    return read_corrections(corrections_path(room)).done


def test_select_correct_undo_learn_relabel_and_reload_lose_nothing_and_two_tabs_share_it(serve, room, tmp_path):
    _, url = serve()
    page, other = open_page(url), open_page(url)
    page.click(0.8, 0.3)
    page.wait_for("Corrections: 1,")
    other.wait_for("Corrections: 1,")
    assert "/corrected" in page.nodes
    assert "/corrected" in other.nodes
    assert (kept(room)[0].indices >= 40_000).all()  # the table top, and nothing of the floor
    other.press("Undo")
    page.wait_for("No corrections yet")
    page.wait(lambda: "/corrected" not in page.nodes, "the paint to go")
    page.press("Redo")
    other.wait_for("Corrections: 1,")
    other.drag((0.2, 0.4), (0.3, 0.6))
    page.wait_for("Corrections: 2,")
    page.press("Next")
    page.wait(lambda: "/next" in page.nodes, "the next spot")
    page.press("Learn")
    page.wait_for("Learnt. Label other scans with")
    for one in (page, other):
        one.wait_for("labelled by the weights 'taught-room-001'")
    assert load_trained(tmp_path / "runs" / "taught-room-001").card.step == 120
    page.close()
    again = open_page(url)
    again.wait_for("Corrections: 2,")
    again.wait_for("taught-room-001")
    assert "/corrected" in again.nodes
    again.close()
    other.close()


def test_a_crash_of_the_server_between_two_clicks_loses_nothing_that_was_shown(serve, room):
    server, url = serve()
    page = open_page(url)
    page.click(0.8, 0.3)
    page.wait_for("Corrections: 1,")
    page.click(-0.8, -0.3)  # may or may not arrive
    server.kill()
    server.wait()
    before = kept(room)
    assert 1 <= len(before) <= 2
    _, url = serve()
    page = open_page(url)
    page.wait_for(f"Corrections: {len(before)},")
    page.choose("A click", "corrects a point")
    page.click(0.0, -0.5)
    page.wait_for(f"Corrections: {len(before) + 1},")
    assert kept(room)[:-1] == before
    page.close()
