"""What one visitor looks at: a scan, its labels and an explanation, drawn as the controls say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from point2node.engine.labelled import LabelledCloud
from point2node.report.viewer.colouring import fade, paint, ways
from point2node.report.viewer.controls import EXPLANATION, Controls, put_value
from point2node.report.viewer.describing import describe, first_cut
from point2node.report.viewer.explanation_shapes import ExplanationShapes
from point2node.report.viewer.picking import pick
from point2node.report.viewer.scan import Scan
from point2node.report.viewer.scene_view import SceneView

FADED = 0.22
"""What is left of the colours of a scan behind an explanation; its points are smaller, too."""
FADED_SIZE = 0.8


class Picture:
    """Keeps what is shown and draws it. Not for several threads at a time.

    Args:
        view: where it is drawn.
        controls: how.
    """

    def __init__(self, view: SceneView, controls: Controls) -> None:
        self._view, self._controls = view, controls
        self.scan: Scan | None = None
        self.labelled: LabelledCloud | None = None
        self._shapes: ExplanationShapes | None = None
        self._pointed = ""
        self._drawn: tuple[Any, ...] = ()
        self.marked: NDArray[np.bool_] | None = None
        """(N,) which points of the cloud were corrected by hand; they are drawn larger."""

    def show_scan(self, scan: Scan) -> None:
        """A scan without labels."""
        self.scan = self.labelled = self._shapes = self.marked = None  # nothing is drawn before all controls fit it
        self._controls.offer_cut(*first_cut(scan))
        self._controls.offer_classes((), {})
        self._controls.save.disabled = True
        self._view.forget_points()
        self._view.look_at(scan.xyz)
        self.scan = scan
        self._offer_ways()

    def show_labels(self, labelled: LabelledCloud) -> None:
        """The labels of the scan that is shown."""
        assert self.scan is not None
        self.labelled = labelled
        self._controls.say(describe(self.scan, labelled))
        self._controls.offer_classes(labelled.classes, labelled.counts)
        self._controls.save.disabled = False
        self._offer_ways()

    def change_labels(self, labelled: LabelledCloud) -> None:
        """Other labels of the same scan; what is hidden and how points are coloured stays."""
        if self.scan is None or self.labelled is None:
            return
        self.labelled = labelled
        self._controls.offer_classes(labelled.classes, labelled.counts)
        self.redraw()

    def point_out(self, point: int, text: str) -> None:
        """Look at a point of the cloud from where it is in sight, and mark it."""
        if self.scan is None:
            return
        place = self.scan.at(np.array([point]))[0]
        if place[2] > float(self._controls.cut.value):
            put_value(self._controls.cut, self._controls.cut.max)
            self.redraw()
        self._view.point_out(place, text)

    def show_explanation(self, shapes: ExplanationShapes, name: str, html: str) -> None:
        """Why the point called ``name`` has its label."""
        self._shapes, self._pointed = shapes, name
        self._controls.reasons.content = html
        self._offer_ways(EXPLANATION)

    def put_explanation_away(self) -> None:
        """Back to the labels."""
        self._shapes = None
        self._offer_ways()

    def change_way(self) -> None:
        """Colour the points as the visitor has chosen."""
        self._offer_ways(str(self._controls.way.value))

    def _offer_ways(self, chosen: str | None = None) -> None:
        if self.scan is None:
            return
        names = ways(self.scan, self.labelled) + ((EXPLANATION,) if self._shapes is not None else ())
        self._controls.offer_ways(names, chosen if chosen in names else names[0])
        self.redraw()

    def redraw(self) -> None:
        """Draw the scan as the controls say now; nothing is sent if nothing has changed."""
        scan, controls = self.scan, self._controls
        if scan is None:
            return
        way, size, cut = str(controls.way.value), float(controls.size.value), float(controls.cut.value)
        shapes = self._shapes if way == EXPLANATION else None
        wanted = (scan, self.labelled, shapes, way, controls.hidden, cut, size)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        colours = paint(scan, self.labelled, "class" if shapes is not None else way)
        if shapes is None:
            self._view.draw_points(scan.xyz, colours, self._visible(scan), size)
            self._view.remove_explanation()
        else:
            self._view.draw_points(scan.xyz, fade(colours, FADED), self._visible(scan), FADED_SIZE * size)
            self._view.draw_explanation(shapes, self._pointed, size, cut)
        marked = None if self.marked is None else self.marked[scan.shown] & self._visible(scan)
        if self.labelled is None or marked is None or shapes is not None or not marked.any():
            self._view.remove_marks()
        else:
            marks = paint(scan, self.labelled, "class")
            self._view.draw_marks(scan.xyz[marked], marks[marked], size)
        controls.why.visible = shapes is not None

    def pick(self, origin: ArrayLike, direction: ArrayLike) -> int | None:
        """The number of the point under a click, of those that are seen; None beside all of them."""
        if self.scan is None:
            return None
        seen = np.flatnonzero(self._visible(self.scan))
        met = pick(self.scan.xyz[seen], origin, direction)
        return None if met is None else int(self.scan.shown[seen[met]])

    def visible(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of some points of the cloud are hidden neither by the cut nor by the legend."""
        assert self.scan is not None
        visible: NDArray[np.bool_] = self.scan.at(numbers)[:, 2] <= float(self._controls.cut.value)
        if self.labelled is not None and self._controls.hidden:
            visible &= ~np.isin(self.labelled.labels[numbers], list(self._controls.hidden))
        return visible

    def _visible(self, scan: Scan) -> NDArray[np.bool_]:
        """Which of the drawn points are hidden neither by the cut nor by the legend."""
        visible = scan.xyz[:, 2] <= float(self._controls.cut.value)
        hidden = self._controls.hidden
        if self.labelled is not None and hidden:
            visible &= ~np.isin(self.labelled.labels[scan.shown], list(hidden))
        return visible
