"""Objects and plan beside the picture, without a browser."""

from base64 import b64decode
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.inference.labeller import Options
from point2node.show.viewer.controls import Controls
from point2node.show.viewer.object_list import CLOSE, OPEN, ObjectList
from point2node.show.viewer.picture import Picture, SceneView
from point2node.show.viewer.scan import place_scan
from tests.show.scenes import CHAIR, labelled_box
from tests.show.viewer.pages import Client


def visit(labelled):
    client = Client()
    client.camera = SimpleNamespace()
    picture = Picture(SceneView(client), Controls(client, (), Options()))
    objects = ObjectList(client, picture, lambda change: change())
    objects.connect()
    picture.show_scan(place_scan("<b>box.ply", ".ply", labelled.cloud, Options()))
    assert objects.open.disabled
    picture.show_labels(labelled)
    return client, picture, objects


def test_the_list_names_objects_with_size_and_confidence_and_draws_their_boxes():
    client, _, objects = visit(labelled_box())
    assert "/boxes" not in client.scene.nodes
    objects.open.tell()
    assert objects.panel.visible
    assert [one.label for one in objects.buttons] == ["chair_01: 0.50 × 0.50 × 0.50 m, 90%"]
    assert client.scene.nodes["/boxes"].points.shape == (12, 2, 3)
    assert "Objects: 1. Surfaces seen: wall" in objects.status.content
    assert objects.open.label == CLOSE


def test_an_object_is_seen_alone_by_its_button_and_by_a_click_on_it_and_then_everything_again():
    client, picture, objects = visit(labelled_box())
    chairs = int((picture.labelled.labels == CHAIR).sum())
    objects.open.tell()
    everything = len(client.scene.nodes["/scan"].points)
    objects.buttons[0].tell()
    assert len(client.scene.nodes["/scan"].points) == chairs < everything
    assert picture.visible(np.array([0])).tolist() == [False]
    objects.everything.tell()
    assert len(client.scene.nodes["/scan"].points) == everything
    objects.take_click(len(picture.labelled) - 1)  # of the chair
    assert len(client.scene.nodes["/scan"].points) == chairs
    objects.everything.tell()
    objects.take_click(0)  # of a wall
    assert len(client.scene.nodes["/scan"].points) == everything


def test_the_plan_is_a_picture_and_can_be_saved():
    client, _, objects = visit(labelled_box())
    objects.open.tell()
    svg = b64decode(objects.plan.content.partition("base64,")[2].partition('"')[0])
    assert b"Perimeter" in svg
    assert b"<b>" not in svg
    objects.save.tell()
    assert client.downloads == {"<b>box_plan.svg": svg}


def test_other_labels_close_the_list_and_show_everything():
    client, picture, objects = visit(labelled_box())
    everything = len(client.scene.nodes["/scan"].points)
    objects.open.tell()
    objects.buttons[0].tell()
    (button,) = objects.buttons
    picture.change_labels(labelled_box())
    assert button.removed
    assert not objects.panel.visible
    assert objects.open.label == OPEN
    assert not objects.open.disabled
    assert "/boxes" not in client.scene.nodes
    assert len(client.scene.nodes["/scan"].points) == everything


@pytest.mark.parametrize("missing", ["walls", "classes"])
def test_without_walls_or_with_other_classes_the_panel_says_so(missing):
    if missing == "walls":
        labelled = labelled_box(labels=np.full(20000, CHAIR, np.int32))
    else:
        labelled = labelled_box(classes=tuple(replace(one, name=f"kind {one.value}") for one in S3DIS))
    _, _, objects = visit(labelled)
    objects.open.tell()
    assert "There is no plan" in objects.plan.content or "not those of rooms" in objects.plan.content
    assert objects.save.disabled
