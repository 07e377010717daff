import re
from base64 import b64decode
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.evaluation.metrics import count_confusion, score
from point2node.show import scene_page
from point2node.show.scene_page import encode, to_scene_page, write_scene_page
from tests.show import scenes
from tests.show.scenes import CEILING, CHAIR, FLOOR, WALL, box_room, coordinates, embedded, unpack

NASTY = "</script><b>"


def test_the_page_carries_every_point_with_its_label_and_truth():
    scene = box_room()
    described, columns = embedded(to_scene_page(scene))
    found = coordinates(described, columns)
    near = np.linalg.norm(found[:, None] - scene.xyz[None, ::20], axis=2)
    place, off = near.argmin(axis=0), near.min(axis=0)
    assert described["points"] == len(scene)
    assert off.max() < 1e-3
    assert np.array_equal(columns["label"][place], scene.labels[::20])
    assert np.array_equal(columns["truth"][place], scene.truth[::20])
    assert np.array_equal(columns["red"][place], scene.rgb[::20, 0])


def test_counts_are_those_of_all_points_even_if_few_are_drawn(monkeypatch):
    monkeypatch.setattr(scene_page, "SHOWN", 300)
    scene = box_room()
    page = to_scene_page(scene)
    described, columns = embedded(page)
    assert described["points"] == len(columns["label"]) == 300
    assert [one["count"] for one in described["classes"]] == scene.count(scene.labels).tolist()
    assert [one["true"] for one in described["classes"]] == scene.count(scene.truth).tolist()
    assert "300 of 2,000 points are drawn" in page


def test_a_page_of_all_points_does_not_speak_of_thinning():
    assert "points are drawn" not in to_scene_page(box_room())


def test_scores_are_those_of_the_engine():
    scene = box_room()
    scores = score(count_confusion(scene.truth, scene.labels, 13), [one.name for one in scene.classes])
    text = visible(to_scene_page(scene))
    assert f"OA {100 * scores.oa:.1f} mAcc {100 * scores.macc:.1f} mIoU {100 * scores.miou:.1f}" in text
    assert f"chair {100 * scores.iou['chair']:.1f} {100 * scores.accuracy['chair']:.1f}" in text
    assert re.search(r"beam – – 0 0\.0 % 0", text)  # a class that is not there has no score


def test_the_confusion_matrix_tells_numbers_and_shares_of_each_row():
    scene = box_room()
    taken = int(((scene.truth == WALL) & (scene.labels == CHAIR)).sum())
    walls = int((scene.truth == WALL).sum())
    told = f"wall taken for chair: {taken:,} of {walls:,} points ({100 * taken / walls:.1f} %)"
    assert told in to_scene_page(scene)


def test_points_without_a_label_or_a_truth_are_counted_and_not_scored():
    scene = box_room()
    labels, truth = scene.labels.copy(), scene.truth.copy()
    labels[:10], truth[5:25] = -1, -1
    text = visible(to_scene_page(box_room(labels=labels, truth=truth)))
    assert "10 of 2,000 points have no label." in text
    assert "over the 1,975 points that have both" in text


def test_points_without_a_position_are_left_out_and_told():
    scene = box_room()
    xyz = scene.xyz.copy()
    xyz[:7, 1] = np.nan
    page = to_scene_page(box_room(xyz=xyz))
    assert embedded(page)[0]["points"] == 1993
    assert "7 points have no position" in page
    with pytest.raises(InputError, match="expected points with positions, found none"):
        to_scene_page(box_room(xyz=np.full_like(xyz, np.nan)))


def test_names_and_notes_are_text_and_never_markup():
    scene = box_room()
    classes = tuple(SemanticClass(NASTY + one.name, one.value, one.colour) for one in scene.classes)
    page = to_scene_page(
        box_room(name=NASTY, classes=classes, notes={NASTY: NASTY + "&"}, remarks=("$policy " + NASTY,))
    )
    assert NASTY not in page
    assert page.count("</script>") == 3
    assert embedded(page)[0]["classes"][0]["name"] == NASTY + "ceiling"
    assert "$policy </script><b>" in visible(page)


def test_without_truth_there_are_no_scores_and_without_colour_none_is_carried():
    page = to_scene_page(box_room(truth=None, rgb=None, confidence=None, entropy=None, notes={}))
    described, columns = embedded(page)
    assert not {"truth", "red", "confidence", "entropy"} & set(columns)
    assert "mIoU" not in visible(page)
    assert "Confusion" not in page
    assert "Protocol" not in page
    assert described["unlabelled"] == 0


def test_the_page_may_load_nothing_and_run_only_its_own_script():
    page = to_scene_page(box_room())
    policy = unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page)[1])
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.search(r"https?://|@import|url\(", page)


def test_a_ceiling_is_cut_off_at_first_and_the_page_says_so():
    page = to_scene_page(box_room())
    assert embedded(page)[0]["cut"] == pytest.approx(0.8, abs=0.02)
    assert "drawn without the ceiling and the walls towards you" in page
    flat = to_scene_page(box_room(labels=np.full(2000, CHAIR)))
    assert embedded(flat)[0]["cut"] == 1
    assert "drawn without" not in flat


@pytest.mark.parametrize("xyz", [np.zeros((1, 3)), np.full((5, 3), 4.2), np.eye(3) * 1e6])
def test_odd_clouds_have_a_page_too(xyz):
    described, columns = embedded(to_scene_page(scenes.scene("odd", xyz, S3DIS, np.zeros(len(xyz), int))))
    found = coordinates(described, columns)
    assert np.allclose(np.sort(found, axis=0), np.sort(xyz, axis=0))


def test_200_000_points_in_two_panes_stay_under_3_megabytes():
    random = np.random.default_rng(0)
    noise = {"confidence": random.random(200_000), "entropy": random.random(200_000)}
    scene = box_room(200_000, **noise)
    mixed = scene[random.permutation(len(scene))]
    assert len(to_scene_page(mixed).encode()) < 3_000_000


def test_a_page_is_written_whole(tmp_path):
    write_scene_page(box_room(), tmp_path / "room.html")
    assert (tmp_path / "room.html").read_text().endswith("</html>\n")
    assert [path.name for path in tmp_path.iterdir()] == ["room.html"]


def plan_of(page):
    """The plan that a page carries, as XML; None without one."""
    found = re.search(r'<figure id="plan"><img src="data:image/svg\+xml;base64,(.*?)"', page)
    return None if found is None else ElementTree.fromstring(b64decode(found[1]))


def test_objects_are_listed_with_class_size_confidence_and_their_points():
    scene = box_room(20000, labels=box_room(20000).truth)
    page = to_scene_page(scene)
    described, columns = embedded(page)
    (chair,) = described["objects"]
    assert chair["name"] == "chair_01"
    assert chair["mark"] == CHAIR
    assert chair["size"] == pytest.approx([0.5, 0.5, 0.5], abs=0.02)
    assert chair["points"] == int((scene.labels == CHAIR).sum())
    inside = (columns["object low"] == 1) & (columns["object high"] == 0)
    assert np.array_equal(inside, columns["label"] == CHAIR)
    assert np.ptp(chair["corners"], axis=0) == pytest.approx([0.5, 0.5, 0.5], abs=0.02)
    assert "chair 1 0.50 × 0.50 × 0.50 m" in visible(page)


def test_the_plan_is_a_picture_with_the_measures_of_the_room():
    page = to_scene_page(box_room(20000, labels=box_room(20000).truth))
    words = " ".join(plan_of(page).itertext())
    assert "Area 24." in words or "Area 23." in words
    assert re.search(r"area 2[34]\.\d m² height (3\.00|2\.99) m objects 1", visible(page))


def test_objects_and_plan_of_a_scan_in_millimetres_are_in_metres():
    scene = box_room(20000, labels=box_room(20000).truth, scale=0.001)
    page = to_scene_page(replace(scene, cloud=PointCloud(1000 * scene.xyz)))
    (chair,) = embedded(page)[0]["objects"]
    assert chair["size"] == pytest.approx([0.5, 0.5, 0.5], abs=0.02)
    assert np.ptp(chair["corners"], axis=0) == pytest.approx([500, 500, 500], abs=20)
    assert plan_of(page) is not None


def test_names_in_the_plan_are_text_and_never_markup():
    nasty = NASTY + "&\x00\x07\"'"
    classes = [*S3DIS]
    classes[CHAIR] = replace(classes[CHAIR], name=nasty)
    page = to_scene_page(box_room(20000, name=nasty, classes=tuple(classes), labels=box_room(20000).truth))
    assert NASTY not in page
    assert page.count("</script>") == 3
    assert NASTY in " ".join(plan_of(page).itertext())
    assert embedded(page)[0]["objects"][0]["name"].startswith(NASTY)


def test_without_walls_there_are_objects_and_no_plan():
    scene = box_room(20000, labels=box_room(20000).truth)
    page = to_scene_page(scene[~np.isin(scene.labels, (WALL, FLOOR, CEILING))])
    assert len(embedded(page)[0]["objects"]) == 1
    assert plan_of(page) is None
    assert "There is no plan" in page


def test_other_classes_than_those_of_rooms_have_neither_objects_nor_a_plan():
    classes = tuple(replace(one, name=f"kind {place}") for place, one in enumerate(S3DIS))
    page = to_scene_page(box_room(20000, classes=classes))
    assert embedded(page)[0]["objects"] == []
    assert plan_of(page) is None
    assert "plan" not in visible(page)


def test_a_scan_far_too_large_for_a_room_has_a_page_without_objects():
    scene = box_room(20000)
    page = to_scene_page(replace(scene, cloud=PointCloud(1e6 * scene.xyz)))
    assert embedded(page)[0]["objects"] == []


def visible(page):
    """The words of a page without its script, style and data."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


@pytest.mark.parametrize(
    ("scale", "size", "unit"),
    [(None, "4.0 × 6.0 × 3.0 ·", ""), (1.0, "4.0 × 6.0 × 3.0 m", " m"), (0.1, "0.4 × 0.6 × 0.3 m", "")],
)
def test_the_size_is_in_metres_where_the_unit_is_known(scale, size, unit):
    page = to_scene_page(box_room(scale=scale))
    assert size in unescape(page)
    assert embedded(page)[0]["unit"] == unit


clouds = st.integers(1, 40).flatmap(
    lambda points: st.tuples(
        arrays(np.float64, (points, 3), elements=st.floats(-1e7, 1e7)),
        arrays(np.int64, points, elements=st.integers(-1, len(S3DIS) - 1)),
        arrays(np.float64, points, elements=st.floats(0, 1)),
    )
)


@given(clouds)
def test_what_is_packed_is_unpacked_to_within_half_a_step(cloud):
    xyz, labels, share = cloud
    scene = scenes.scene("s", xyz, S3DIS, labels, confidence=share, truth=labels[::-1])
    packed = encode(scene)
    columns = unpack(packed.data, packed.columns, packed.points)
    for axis, name in enumerate("xyz"):
        numbers = columns[f"{name} low"] + 256.0 * columns[f"{name} high"]
        found = packed.lower[axis] + packed.step[axis] * numbers
        assert np.abs(found - xyz[:, axis]).max() <= 0.501 * packed.step[axis] + 1e-8
    assert np.array_equal(columns["label"].astype(np.int8), labels)  # 255 as a signed byte is -1
    assert np.array_equal(columns["truth"].astype(np.int8), labels[::-1])
    assert np.abs(columns["confidence"] / 255 - share).max() <= 0.5 / 255 + 1e-12


def test_only_what_is_known_takes_room():
    bare = scenes.scene("s", np.eye(3), S3DIS, np.zeros(3, int))
    assert encode(bare).columns == ("x low", "x high", "y low", "y high", "z low", "z high", "label")
    full = encode(scenes.scene("s", np.eye(3), S3DIS, np.zeros(3, int), rgb=np.full((3, 3), [1, 2, 3], np.uint8)))
    columns = unpack(full.data, full.columns, 3)
    assert [columns[name][0] for name in ("red", "green", "blue")] == [1, 2, 3]


@pytest.mark.parametrize("value", [np.nan, -0.1])
def test_a_share_that_is_none_is_packed_as_zero(value):
    packed = encode(scenes.scene("s", np.zeros((2, 3)), S3DIS, np.zeros(2, int), entropy=np.array([value, 1])))
    assert unpack(packed.data, packed.columns, 2)["entropy"].tolist() == [0, 255]
