"""Chromium on the viewer's page: when it is ready, where a point is on the screen."""

import time

import numpy as np

PATIENCE = 120_000
DRAWN = """() => window.__viserSceneTree?.getState()['/scan']
    && window.__viserTestpoints?.rendererInfo.render.points > 0
    && [...document.querySelectorAll('canvas')].every(one => getComputedStyle(one).opacity === '1')"""
WHY = "() => '/why/block' in window.__viserSceneTree.getState()"


def open_page(browser, viewer, says="labelled by the weights", size=(1280, 800)):
    """A tab that shows the scan, and ``says`` a text; its ``errors`` are what the console complains of."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.goto(viewer.url)
    page.get_by_text(says).first.wait_for(timeout=PATIENCE)
    return page


def wait_until_drawn(page):
    """All is on the screen."""
    page.wait_for_function(DRAWN, timeout=PATIENCE)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def visitor_of(viewer):
    """What the server knows of its latest visitor."""
    return viewer.server.get_clients()[max(viewer.server.get_clients())]


def on_screen(page, client, points):
    """The pixels (N, 2) of points (N, 3), by the camera that the page has last told of."""
    w, x, y, z = client.camera.wxyz
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    seen = (points - client.camera.position) @ rotation  # x to the right, y down, z ahead
    box = page.locator("canvas").first.bounding_box()
    focal = box["height"] / 2 / np.tan(client.camera.fov / 2)
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    return middle + focal * seen[:, :2] / seen[:, 2:]


def settled_camera(client):
    """Wait until the page has told of the camera that the server gave it."""
    before = None
    for _ in range(100):
        now = (*client.camera.position, *client.camera.wxyz, client.camera.image_width)
        if now == before:
            return
        before = now
        time.sleep(0.3)
    raise AssertionError("the camera never comes to rest")
