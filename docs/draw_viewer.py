"""Opens the viewer on a generated office in Chromium, clicks a point and takes the picture of the page.

python docs/draw_viewer.py [--weights NAME|RUN]     needs playwright and Debian's chromium
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from browser import opened
from playwright.sync_api import Page

import point2node
from point2node.inference.labeller import SceneLabeller
from point2node.rooms import RoomSettings, generate_room
from point2node.show.viewer.app import Viewer
from point2node.weights.trained import load_trained

IMAGE = Path(__file__).parent / "images" / "viewer.png"
SEED, ROOM, POINTS = 7, 20, 400_000
SIZE = (1200, 760)
CLICK = (440, 400)
"""Pixels: about the middle of the room; where there is no point, the next try is a little lower."""
PATIENCE = 600_000


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", default="rooms")
    weights = parser.parse_args().weights
    settings = RoomSettings(
        layouts=("office",), scanners=("laser",), ray_step=0.2, even=0.012, positions=(5, 7), cut_room=0, grey=0
    )
    with TemporaryDirectory() as folder:
        scan = Path(folder) / "office.ply"
        point2node.write(scan, generate_room(SEED, ROOM, points=POINTS, settings=settings).with_(labels=None))
        viewer = Viewer(SceneLabeller(load_trained(weights)), {scan.name: scan}, port=0)
        with opened(viewer.url, *SIZE) as page:
            photograph(page)
        viewer.stop()


def photograph(page: Page) -> None:
    """Take the page with an explanation of the clicked point."""
    page.get_by_text("labelled by the weights").wait_for(timeout=PATIENCE)
    page.locator(".mantine-Notification-closeButton").first.click()  # of the notice that there is no graphics card
    settle(page)
    for try_ in range(20):
        page.mouse.click(CLICK[0], CLICK[1] + 4 * try_)
        settle(page)
        if page.get_by_text("Where it looks").count():
            break
    page.mouse.move(SIZE[0] // 2, SIZE[1] - 5)
    page.screenshot(path=IMAGE)


def settle(page: Page) -> None:
    """Wait until the camera and the points have come to rest."""
    page.wait_for_timeout(8000)


if __name__ == "__main__":
    main()
