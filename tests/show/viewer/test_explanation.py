"""Shapes and words of an explanation, against the network's own numbers."""

import re

import numpy as np
import pytest

from point2node.core.classes import S3DIS, SemanticClass
from point2node.inference.explainer import Explainer
from point2node.inference.labeller import Options
from point2node.show.colours import ramp
from point2node.show.viewer.colouring import row_shares
from point2node.show.viewer.explanation import box_edges, explanation_html, shape_explanation
from point2node.show.viewer.scan import place_scan
from tests.show.viewer.weights import SIDE, small_room, tiny_labeller

POINT = 123


@pytest.fixture(scope="module")
def explained(labeller):
    scan = place_scan("room.ply", ".ply", small_room(lost=3), Options())
    explanation = Explainer(labeller, scan.cloud).explain(POINT)
    return scan, explanation, shape_explanation(scan, explanation, SIDE)


def test_the_painted_row_is_the_networks_own_row(explained):
    scan, explanation, shapes = explained
    assert (shapes.block == scan.at(explanation.block)).all()
    assert (shapes.row == ramp("row", row_shares(explanation.non_local)[0])).all()
    order = np.argsort(explanation.non_local)
    green = shapes.row[order, 1].astype(int)
    assert (np.diff(green) <= 0).all(), "a heavier point is never painted lighter"
    assert green[0] > green[-1]


def test_the_point_itself_is_marked_and_the_outline_is_its_block(explained):
    scan, _, shapes = explained
    assert (shapes.point == scan.at(np.array([POINT]))[0]).all()
    corners = shapes.outline.reshape(-1, 3)
    assert np.allclose((corners.min(axis=0) + corners.max(axis=0))[:2] / 2, shapes.point[:2], atol=1e-5)
    assert np.allclose(np.ptp(corners, axis=0)[:2], SIDE, atol=1e-5)
    assert (shapes.block >= corners.min(axis=0) - 1e-5).all()
    assert (shapes.block <= corners.max(axis=0) + 1e-5).all()


def test_lines_lead_from_the_point_to_each_of_its_other_neighbours(explained):
    scan, explanation, shapes = explained
    others = explanation.neighbours[explanation.neighbours != POINT]
    assert (shapes.graph[:, 0] == shapes.point).all()
    assert (shapes.graph[:, 1] == scan.at(others)).all()
    assert shapes.graph_colours.shape == shapes.graph.shape


def test_a_box_has_twelve_different_edges_along_the_axes():
    edges = box_edges(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    lengths = np.abs(edges[:, 1] - edges[:, 0])
    assert ((lengths > 0).sum(axis=1) == 1).all()
    assert sorted(lengths.max(axis=1).tolist()) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert len({tuple(edge.ravel().tolist()) for edge in edges}) == 12


def test_the_panel_says_what_the_network_computed_and_within_which_bounds(explained):
    _, explanation, shapes = explained
    html = explanation_html(explanation, shapes, S3DIS, "wall", 0.87, SIDE)
    best = int(np.argmax(explanation.probabilities))
    assert "labelled <b>wall</b>" in html
    assert "0.87" in html
    assert html.index(S3DIS[best].name, html.index("One pass")) < html.index("Where it looks")
    assert f"{explanation.probabilities[best]:.3f}" in html
    assert "only within its block of 1.5 m × 1.5 m" in html
    assert "mean of several passes" in html
    assert f"entropy of the row is {explanation.non_local_entropy:.0%} of the highest" in html
    assert f"graph&#x27;s rows is {explanation.local_entropy:.0%} of the highest" in html
    assert len(re.findall("<tr>", html)) == 5
    assert html.count("<svg") == 1 + len(explanation.gates) == 3
    strongest = np.argsort(-explanation.channel_weights)[0]
    assert f"The strongest: {strongest} (" in html


def test_names_from_a_weights_file_are_text_on_the_page(tmp_path):
    classes = tuple(SemanticClass(f"<script>{one.name}</script>", one.value, one.colour) for one in S3DIS)
    labeller = tiny_labeller(tmp_path, classes=classes)
    scan = place_scan("room.ply", ".ply", small_room(), Options())
    explanation = Explainer(labeller, scan.cloud).explain(5)
    shapes = shape_explanation(scan, explanation, SIDE)
    html = explanation_html(explanation, shapes, labeller.classes, classes[0].name, 0.5, SIDE)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_lonely_point_is_explained_too(labeller):
    cloud = small_room()[np.array([7])]
    scan = place_scan("point.ply", ".ply", cloud, Options())
    explanation = Explainer(labeller, cloud).explain(0)
    shapes = shape_explanation(scan, explanation, SIDE)
    assert shapes.graph.shape == (0, 2, 3)
    assert "its 0 neighbours" in explanation_html(explanation, shapes, S3DIS, "wall", 1.0, SIDE)
