"""Opens the page that 'point2node demo' writes in Chromium and takes its picture.

python docs/draw_page.py     needs playwright and Debian's chromium
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from point2node.cli.demo import WEIGHTS, demo

IMAGE = Path(__file__).parent / "images" / "page.png"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE = (1200, 860)


def main() -> None:
    """Write the picture."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        demo(Path(folder), room=0, weights=WEIGHTS)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.goto((Path(folder) / "demo_room.html").as_uri())
        page.wait_for_timeout(4000)  # until the points are drawn
        page.screenshot(path=IMAGE)
        browser.close()


if __name__ == "__main__":
    main()
