"""Opens the page that 'point2node demo' writes in Chromium and takes its picture.

python docs/draw_page.py     needs playwright and Debian's chromium
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from browser import opened

from point2node.cli.demo import ROOM, WEIGHTS, demo

IMAGE = Path(__file__).parent / "images" / "page.png"


def main() -> None:
    """Write the picture."""
    with TemporaryDirectory() as folder:
        demo(Path(folder), room=ROOM, weights=WEIGHTS)
        with opened((Path(folder) / "demo_room.html").as_uri(), width=1200, height=860) as page:
            page.wait_for_timeout(4000)  # until the points are drawn
            page.locator("#lists [data-name=objects]").click()
            page.mouse.move(0, 0)
            page.wait_for_timeout(1000)
            page.screenshot(path=IMAGE)


if __name__ == "__main__":
    main()
