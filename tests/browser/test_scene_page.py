"""The page of a labelled scene in a real browser, opened from disk."""

import io
import time

import numpy as np
import pytest
from matplotlib.image import imread

from point2node.show.scene_page import write_scene_page
from tests.show.scenes import CHAIR, FLOOR, box_room

pytestmark = pytest.mark.slow

DESKTOP = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}
FINISHED = "window.point2node && (window.point2node.ready || window.point2node.failed)"


def wait_until_finished(page, seconds=60):
    """Asked from outside: Playwright's own waiting evaluates text inside the page, which its policy forbids."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(FINISHED):
        assert time.monotonic() < deadline, f"the page was not drawn within {seconds} s"
        page.wait_for_timeout(50)


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a scene's page and gives it back when it is drawn; what it complains of is a failure."""
    complaints = []
    contexts = []

    def opened(scene, viewport=DESKTOP, before="", **options):
        path = tmp_path / "scene.html"
        write_scene_page(scene, path)
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != path.as_uri() else None)
        if before:
            page.add_init_script(before)
        page.goto(path.as_uri())
        wait_until_finished(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [one for one in complaints if not one.startswith("data:")] == []


def pixels(page, left=0, top=0, width=None, height=None):
    """(height, width, 3): what a part of the canvas shows, once it has been drawn again."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    box = page.locator("#canvas").bounding_box()
    clip = {
        "x": box["x"] + left,
        "y": box["y"] + top,
        "width": width or box["width"],
        "height": height or box["height"],
    }
    picture = imread(io.BytesIO(page.screenshot(clip=clip)), format="png")
    return (255 * picture[..., :3]).round().astype(int)


def differing(one, other):
    """Which share of the pixels differs."""
    return float((one != other).any(axis=-1).mean())


def share_of(picture, colour):
    """Which share of the pixels has a colour, brighter or darker."""
    lit = picture.max(axis=-1) > 60
    unit = picture / np.maximum(np.linalg.norm(picture, axis=-1, keepdims=True), 1)
    return float((lit & (np.linalg.norm(unit - np.array(colour) / np.linalg.norm(colour), axis=-1) < 0.05)).mean())


def test_points_are_drawn_in_the_colours_of_their_classes(open_page):
    scene = box_room(20000)
    page = open_page(scene)
    assert page.evaluate("window.point2node.viewer.cloud.points") == 20000
    picture = pixels(page)
    assert share_of(picture, scene.classes[FLOOR].colour) > 0.02
    assert share_of(picture, scene.classes[CHAIR].colour) > 0.001
    assert not page.locator("#message").is_visible()


def test_the_legend_hides_shows_and_isolates_classes(open_page):
    scene = box_room(20000)
    page = open_page(scene)
    floor, chair = scene.classes[FLOOR].colour, scene.classes[CHAIR].colour
    entry = page.locator("#legend .entry", has_text="floor").locator("button").first
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    assert share_of(pixels(page), floor) == 0
    entry.click()
    assert share_of(pixels(page), floor) > 0.02
    page.locator("#legend .entry", has_text="chair").locator("button").first.dblclick()
    picture = pixels(page)
    assert share_of(picture, chair) > 0.001
    assert share_of(picture, floor) == 0
    page.get_by_text("show all").click()
    assert share_of(pixels(page), floor) > 0.02


def test_prediction_and_truth_turn_together(open_page):
    page = open_page(box_room(20000, labels=box_room(20000).truth))
    panes = page.evaluate("window.point2node.viewer.panes()")
    assert panes[1]["x"] == panes[0]["width"]

    def both():  # below the names of the panes and beside the buttons
        return [pixels(page, pane["x"] + 8, 50, pane["width"] - 68, pane["height"] - 60) for pane in panes]

    before = both()
    assert differing(*before) < 0.01  # the same labels from the same side, but for rounding
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 320, steps=4)
    page.mouse.up()
    after = both()
    assert differing(*after) < 0.01
    assert differing(before[0], after[0]) > 0.1


@pytest.mark.parametrize(
    "gesture",
    ["zoom button", "wheel", "pan", "arrow key", "cut", "walls", "size", "mode", "above"],
)
def test_every_control_changes_the_picture_and_reset_brings_the_view_back(open_page, gesture):
    page = open_page(box_room(20000))
    before = pixels(page)
    box = page.locator("#canvas").bounding_box()
    match gesture:
        case "zoom button":
            page.locator("#nearer").click()
        case "wheel":
            page.mouse.move(box["x"] + 200, box["y"] + 200)
            page.mouse.wheel(0, -240)
        case "pan":
            page.keyboard.down("Shift")
            page.mouse.move(box["x"] + 200, box["y"] + 200)
            page.mouse.down()
            page.mouse.move(box["x"] + 260, box["y"] + 240)
            page.mouse.up()
            page.keyboard.up("Shift")
        case "arrow key":
            page.locator("#canvas").focus()
            page.keyboard.press("ArrowLeft")
        case "cut":
            page.locator("#cut").fill("300")
        case "walls":
            page.locator("#walls").click()
        case "size":
            page.locator("#size").fill("3")
        case "mode":
            page.locator("[data-name=error]").click()
        case "above":
            page.locator("#above").click()
    page.mouse.move(5, 5)
    assert differing(pixels(page), before) > 0.01
    if gesture in ("zoom button", "wheel", "pan", "arrow key", "above"):
        page.locator("#reset").click()
        page.locator("#canvas").evaluate("one => one.blur()")
        page.mouse.move(5, 5)
        assert differing(pixels(page), before) < 0.002  # but for the button's own focus


def test_a_click_tells_what_a_point_is_and_a_click_beside_the_scene_nothing(open_page):
    scene = box_room(20000)
    page = open_page(scene)
    page.locator("#legend .entry", has_text="chair").locator("button").nth(1).click()
    page.locator("#above").click()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    place = page.evaluate(
        """() => {
          const viewer = window.point2node.viewer, pane = viewer.panes()[0];
          const chairs = [...Array(viewer.cloud.points).keys()].filter((n) =>
            viewer.cloud.label(n) === 8 && viewer.cloud.truth(n) === 8);
          return viewer.cloud.project(chairs[0], viewer.camera.view().matrix, pane.width, pane.height);
        }"""
    )
    box = page.locator("#canvas").bounding_box()
    page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
    told = page.locator("#picked").inner_text().split("\n")
    assert told[:5] == ["class chair", "truth chair", "objectchair_01", "confidence0.90", "entropy0.10"]
    x, y, z = (float(one) for one in told[5].removeprefix("x, y, z").split(","))
    assert 2 <= x <= 2.5
    assert 3 <= y <= 3.5
    assert 0 <= z <= 0.5
    for marker in page.locator(".marker").all():  # one a pane; placed when the next frame is drawn
        marker.wait_for(state="visible")
    assert page.locator(".marker:visible").count() == 2
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] - 8)
    assert not page.locator("#picked").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_without_scrolling_sideways(open_page, scheme):
    page = open_page(box_room(20000), PHONE, has_touch=True, is_mobile=True, device_scale_factor=2, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    panes = page.evaluate("window.point2node.viewer.panes()")
    assert panes[0]["width"] >= 150
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") == (scheme == "light")
    before = pixels(page)
    page.locator("[data-name=confidence]").tap()
    assert differing(pixels(page), before) > 0.02


def test_two_fingers_pinch(open_page):
    page = open_page(box_room(20000), PHONE, has_touch=True)
    before = page.evaluate("window.point2node.viewer.camera.zoomed")
    send = page.context.new_cdp_session(page).send
    box = page.locator("#canvas").bounding_box()
    x, y = box["x"] + 150, box["y"] + 150

    def touch(kind, apart):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 20)
    touch("touchMove", 40)
    touch("touchMove", 80)
    touch("touchEnd", None)
    assert page.evaluate("window.point2node.viewer.camera.zoomed") < 0.6 * before


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("HTMLCanvasElement.prototype.getContext = () => null", "This browser has no WebGL 2"),
        ("delete window.DecompressionStream", "This browser cannot unpack the points"),
    ],
)
def test_a_browser_that_cannot_draw_says_so_and_shows_the_tables(open_page, missing, told):
    page = open_page(box_room(), before=missing)
    assert told in page.locator("#message").inner_text()
    assert page.locator("text=Confusion matrix").is_visible()
    assert not page.locator("#modes").is_visible()


def test_a_browser_that_cannot_draw_shows_the_plan_all_the_same(open_page):
    page = open_page(furnished(), before="HTMLCanvasElement.prototype.getContext = () => null")
    assert page.locator("#plan img").is_visible()


def test_a_confusion_is_told_in_words(open_page):
    page = open_page(box_room())
    page.locator(".matrix td.right").first.click()
    assert "ceiling found:" in page.locator("#told-cell").inner_text()


def furnished():
    return box_room(20000, labels=box_room(20000).truth)


def test_an_object_is_boxed_seen_alone_and_put_back(open_page):
    scene = furnished()
    page = open_page(scene)
    floor, chair = scene.classes[FLOOR].colour, scene.classes[CHAIR].colour
    plain = pixels(page)
    page.locator("#lists [data-name=objects]").click()
    page.mouse.move(5, 5)
    boxed = pixels(page)
    assert 0.001 < differing(plain, boxed) < 0.2
    row = page.locator(".object", has_text="chair_01")
    assert "0.50 × 0.50 × 0.50 m" in row.inner_text()
    assert "90 %" in row.inner_text()
    row.click()
    alone = pixels(page)
    assert share_of(alone, floor) == 0
    assert share_of(alone, chair) > 5 * share_of(boxed, chair)
    assert row.get_attribute("aria-pressed") == "true"
    assert page.locator("#picked").inner_text().split("\n")[0] == "object chair_01"
    row.click()
    page.mouse.move(5, 5)
    assert differing(pixels(page), boxed) < 0.002
    page.locator("#lists [data-name=classes]").click()
    page.mouse.move(5, 5)
    assert differing(pixels(page), plain) < 0.002


def test_a_click_on_an_object_in_the_picture_isolates_it_and_one_beside_it_brings_the_room_back(open_page):
    page = open_page(furnished())
    page.locator("#lists [data-name=objects]").click()
    page.locator("#above").click()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    place = page.evaluate(
        """() => {
          const viewer = window.point2node.viewer, pane = viewer.panes()[0], { cloud } = viewer;
          const chairs = [...Array(cloud.points).keys()].filter((n) => cloud.object(n) === 1);
          const highest = chairs.reduce((best, n) => (cloud.height(n) > cloud.height(best) ? n : best));
          return cloud.project(highest, viewer.camera.view().matrix, pane.width, pane.height);
        }"""
    )
    box = page.locator("#canvas").bounding_box()
    page.mouse.click(box["x"] + place["x"], box["y"] + place["y"])
    assert page.evaluate("window.point2node.viewer.alone") == 1
    assert page.locator(".object[aria-pressed=true]").count() == 1
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] - 8)
    assert page.evaluate("window.point2node.viewer.alone") == 0


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_the_plan_takes_the_place_of_the_picture_and_gives_it_back(open_page, viewport):
    page = open_page(furnished(), viewport)
    assert not page.locator("#plan").is_visible()
    page.locator("#views [data-name=plan]").click()
    assert page.locator("#plan img").evaluate("one => one.complete && one.naturalWidth > 100")
    assert not page.locator("#canvas").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    page.locator("#lists [data-name=objects]").click()
    page.locator(".object").first.click()
    assert page.locator("#canvas").is_visible()
    assert not page.locator("#plan").is_visible()
    assert page.locator("#canvas").bounding_box()["y"] >= 0


def test_without_truth_there_is_one_pane_and_no_errors_to_show(open_page):
    page = open_page(box_room(truth=None, entropy=None))
    assert page.locator("#modes button").all_inner_texts() == ["class", "rgb", "confidence"]
    assert page.evaluate("window.point2node.viewer.panes().length") == 1
    assert not page.locator("#pane-1").is_visible()


def test_a_lost_graphics_card_is_made_up_for(open_page):
    page = open_page(box_room(20000))
    before = pixels(page)
    page.evaluate(
        """async () => {
          const { canvas, painter } = window.point2node.viewer;
          const lost = painter.gl.getExtension("WEBGL_lose_context");
          const until = (kind) => new Promise((done) => canvas.addEventListener(kind, done, { once: true }));
          const gone = until("webglcontextlost");
          lost.loseContext();
          await gone;
          const back = until("webglcontextrestored");
          setTimeout(() => lost.restoreContext());
          await back;
        }"""
    )
    assert differing(pixels(page), before) < 0.002
