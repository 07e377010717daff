"""The picture of one visitor: a scan, its labels and an explanation, drawn with the settings of the controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import viser
from numpy.typing import ArrayLike, NDArray

from point2node.geometry.boxes import EDGES
from point2node.inference.labelled import LabelledCloud
from point2node.show.objects import FoundObject
from point2node.show.viewer.colouring import Colours, fade, paint, ways
from point2node.show.viewer.controls import EXPLANATION, Controls, put_value
from point2node.show.viewer.explanation import ExplanationShapes
from point2node.show.viewer.scan import Floats, Scan, describe, first_cut

FADED = 0.22
"""The share of colour that a scan keeps behind an explanation; its points are smaller as well."""
FADED_SIZE = 0.8


class Picture:
    """Holds the current scan, labels and explanation, and draws them. Not thread-safe.

    Args:
        view: the scene to draw on.
        controls: the settings.
    """

    def __init__(self, view: SceneView, controls: Controls) -> None:
        self._view, self._controls = view, controls
        self.scan: Scan | None = None
        self.labelled: LabelledCloud | None = None
        self._shapes: ExplanationShapes | None = None
        self._point_name = ""
        self._offered_cut = 0.0
        self._drawn: tuple[Any, ...] = ()
        self.marked: NDArray[np.bool_] | None = None
        """(N,) whether each point of the cloud was corrected by hand; these points are drawn larger."""
        self._isolated: NDArray[np.int64] | None = None
        self.on_labels: Callable[[], None] = lambda: None
        """Called when the scan or its labels have changed."""

    def show_scan(self, scan: Scan) -> None:
        """Show a scan without labels."""
        self.scan = self.labelled = self._shapes = None  # nothing is drawn until all controls are updated
        self.marked = self._isolated = None
        self._offered_cut = self._controls.offer_cut(*first_cut(scan))
        self._controls.offer_classes((), {})
        self._controls.save.disabled = True
        self._view.forget_points()
        self._view.look_at(scan.xyz)
        self.scan = scan
        self._offer_ways()
        self.on_labels()

    def show_labels(self, labelled: LabelledCloud) -> None:
        """Show the labels of the current scan."""
        assert self.scan is not None
        self.labelled = labelled
        if float(self._controls.cut.value) == self._offered_cut:  # the visitor has not moved it
            self._offered_cut = self._controls.offer_cut(*first_cut(self.scan, labelled))
        self._controls.say(describe(self.scan, labelled))
        self._controls.offer_classes(labelled.classes, labelled.counts)
        self._controls.save.disabled = False
        self._offer_ways()
        self.on_labels()

    def change_labels(self, labelled: LabelledCloud) -> None:
        """Show new labels of the same scan; hidden classes and the colouring are kept."""
        if self.scan is None or self.labelled is None:
            return
        self.labelled = labelled
        self._controls.offer_classes(labelled.classes, labelled.counts)
        self.redraw()
        self.on_labels()

    def isolate(self, numbers: NDArray[np.int64] | None, boxes: Sequence[FoundObject]) -> None:
        """Draw only some points of the cloud, or all if None, and boxes around some objects."""
        self._view.draw_boxes(boxes)
        if numbers is not None or self._isolated is not None:
            self._isolated, self._drawn = numbers, ()
            self.redraw()

    def point_out(self, point: int, text: str) -> None:
        """Move the camera to a point of the cloud, and mark it."""
        if self.scan is None:
            return
        place = self.scan.at(np.array([point]))[0]
        if place[2] > float(self._controls.cut.value):
            put_value(self._controls.cut, self._controls.cut.max)
            self.redraw()
        self._view.point_out(place, text)

    def draw_outline(self, corners: NDArray[np.float64] | None) -> None:
        """Draw the unfinished outline on the screen; None removes it."""
        self._view.draw_outline(corners)

    def show_explanation(self, shapes: ExplanationShapes, name: str, html: str) -> None:
        """Show the explanation of a point, whose label is called ``name``."""
        self._shapes, self._point_name = shapes, name
        self._controls.reasons.content = html
        self._offer_ways(EXPLANATION)

    def hide_explanation(self) -> None:
        """Return to the labels."""
        self._shapes = None
        self._offer_ways()

    def change_way(self) -> None:
        """Apply the colouring that the visitor has chosen."""
        self._offer_ways(str(self._controls.way.value))

    def _offer_ways(self, chosen: str | None = None) -> None:
        if self.scan is None:
            return
        names = ways(self.scan, self.labelled) + ((EXPLANATION,) if self._shapes is not None else ())
        self._controls.offer_ways(names, chosen if chosen in names else names[0])
        self.redraw()

    def redraw(self) -> None:
        """Draw the scan with the current settings; nothing is sent if nothing has changed."""
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
            self._view.draw_explanation(shapes, self._point_name, size, cut)
        marked = None if self.marked is None else self.marked[scan.shown] & self._visible(scan)
        if self.labelled is None or marked is None or shapes is not None or not marked.any():
            self._view.remove_marks()
        else:
            marks = paint(scan, self.labelled, "class")
            self._view.draw_marks(scan.xyz[marked], marks[marked], size)
        controls.why.visible = shapes is not None

    def pick(self, origin: ArrayLike, direction: ArrayLike) -> int | None:
        """Return the index of the visible point under a click; None if there is none."""
        if self.scan is None:
            return None
        seen = np.flatnonzero(self._visible(self.scan))
        met = pick(self.scan.xyz[seen], origin, direction)
        return None if met is None else int(self.scan.shown[seen[met]])

    def visible(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some points of the cloud are visible: not hidden by the cut, the legend or isolation."""
        assert self.scan is not None
        if self._isolated is not None:
            return np.isin(numbers, self._isolated)
        visible: NDArray[np.bool_] = self.scan.at(numbers)[:, 2] <= float(self._controls.cut.value)
        if self.labelled is not None and self._controls.hidden:
            visible &= ~np.isin(self.labelled.labels[numbers], list(self._controls.hidden))
        return visible

    def _visible(self, scan: Scan) -> NDArray[np.bool_]:
        """Return which of the drawn points are visible: not hidden by the cut, the legend or isolation."""
        if self._isolated is not None:
            return np.isin(scan.shown, self._isolated)
        visible = scan.xyz[:, 2] <= float(self._controls.cut.value)
        hidden = self._controls.hidden
        if self.labelled is not None and hidden:
            visible &= ~np.isin(self.labelled.labels[scan.shown], list(hidden))
        return visible


REACH = 0.004
"""The largest angle in radians of a point from the ray; a few pixels in a window of typical size."""


def pick(xyz: NDArray[np.float32], origin: ArrayLike, direction: ArrayLike, reach: float = REACH) -> int | None:
    """Return the index of the nearest of the points (N, 3) along the ray; None if the click hits none."""
    away = xyz - np.asarray(origin, np.float32)
    ahead = np.asarray(direction, np.float64)
    depth = away @ (ahead / np.linalg.norm(ahead)).astype(np.float32)
    off_ray = np.sqrt(np.maximum(np.einsum("nd,nd->n", away, away) - depth**2, 0))
    met = np.flatnonzero((depth > 0) & (off_ray <= np.tan(reach) * depth))
    return int(met[np.argmin(depth[met])]) if len(met) else None


SCAN, WHY, CORRECTED, NEXT, BOXES, DRAWN = "/scan", "/why", "/corrected", "/next", "/boxes", "/drawn"
MARKED_SIZE = 1.6
"""Corrected points are drawn larger than the others by this factor."""
NEAR = 2.5
"""The distance in metres of the camera from a place that is pointed out."""
OUTLINE = (60, 60, 60)
MARK = (240, 0, 90)
CORNER = 0.003
"""Metres: the radius of the first corner of an outline, which is drawn just in front of the camera."""
GAMMA = 2.2
"""viser treats the colours of lines as linear light; without this, all but pure colours would look pale."""
PAINTED_SIZE = 2.5
"""Painted points are drawn larger than the others by this factor."""
VIEW_FROM = np.array([0.4, -0.75, 1.25])
"""The initial direction of the camera from the middle of the scan, over its longer side."""


class SceneView:
    """Draws on the scene of one client only.

    Args:
        client: the visitor.
    """

    def __init__(self, client: viser.ClientHandle) -> None:
        self._client = client
        self._points: viser.PointCloudHandle | None = None
        self._mask: NDArray[np.bool_] | None = None
        client.scene.configure_default_lights(enabled=True, cast_shadow=False)

    def look_at(self, xyz: Floats) -> None:
        """Place the camera so that the whole scan is visible, looking down at an angle."""
        low, high = np.quantile(xyz, (0.002, 0.998), axis=0)
        middle, extent = (low + high) / 2, high - low
        across = VIEW_FROM if extent[0] >= extent[1] else VIEW_FROM[[1, 0, 2]] * np.array([-1, 1, 1])
        away = max(0.9 * float(np.linalg.norm(extent)), 0.5)
        camera = self._client.camera
        camera.up_direction = (0.0, 0.0, 1.0)
        camera.position = middle + away * across / np.linalg.norm(across)  # also moves look_at
        camera.look_at = middle

    def draw_points(self, xyz: Floats, colours: Colours, visible: NDArray[np.bool_], size: float) -> None:
        """Draw the visible points; only changes are sent."""
        if not visible.any():  # viser's page complains about clouds without points
            self._client.scene.remove_by_name(SCAN)
            self.forget_points()
            return
        if self._points is not None and self._mask is not None and np.array_equal(self._mask, visible):
            self._points.colors = colours[visible]
            self._points.point_size = size
            return
        self._mask = visible
        self._points = self._client.scene.add_point_cloud(
            SCAN,
            xyz[visible],
            colours[visible],
            point_size=size,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def forget_points(self) -> None:
        """Prepare for another scan."""
        self._mask = None
        self.remove_pin()

    def draw_marks(self, xyz: Floats, colours: Colours, size: float) -> None:
        """Draw corrected points over the scan, larger and in the colours of their classes."""
        self._client.scene.add_point_cloud(
            CORRECTED,
            xyz,
            colours,
            point_size=MARKED_SIZE * size,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def remove_marks(self) -> None:
        """Remove the marks of corrected points."""
        self._client.scene.remove_by_name(CORRECTED)

    def draw_boxes(self, objects: Sequence[FoundObject]) -> None:
        """Draw the boxes of some objects in the colours of their classes; an empty sequence removes them."""
        if not objects:
            self._client.scene.remove_by_name(BOXES)
            return
        lines = np.concatenate([one.box.corners[EDGES] for one in objects]).astype(np.float32)
        shares = np.array([one.kind.colour for one in objects]).repeat(len(EDGES), axis=0) / 255
        colours = np.round(255 * shares**GAMMA).astype(np.uint8)
        self._client.scene.add_line_segments(
            BOXES, lines, np.repeat(colours[:, None], 2, axis=1), thickness=2.5, thickness_units="screen"
        )

    def draw_outline(self, corners: NDArray[np.float64] | None) -> None:
        """Draw a line through corners (P, 3) and mark the first one; None removes it."""
        scene = self._client.scene
        scene.remove_by_name(DRAWN)
        if corners is None:
            return
        lines = np.stack([corners[:-1], corners[1:]], axis=1).astype(np.float32)
        with self._client.atomic():
            scene.add_frame(DRAWN, show_axes=False)
            scene.add_icosphere(f"{DRAWN}/first", radius=CORNER, color=MARK, position=corners[0], cast_shadow=False)
            if len(lines):
                scene.add_line_segments(f"{DRAWN}/line", lines, MARK, thickness=3.5, thickness_units="screen")

    def point_out(self, place: Floats, text: str) -> None:
        """Move the camera near a place, keeping its direction, and put a pin with a text there."""
        camera, scene = self._client.camera, self._client.scene
        away = np.asarray(camera.position, np.float64) - np.asarray(camera.look_at, np.float64)
        away[2] = max(away[2], 0.5 * float(np.linalg.norm(away)))  # from above, walls block the view less often
        with self._client.atomic():
            scene.add_icosphere(f"{NEXT}", radius=0.05, color=MARK, position=place, cast_shadow=False)
            scene.add_label(f"{NEXT}/text", text, anchor="bottom-left")
            camera.position = place + NEAR * away / max(float(np.linalg.norm(away)), 1e-6)
            camera.look_at = place

    def remove_pin(self) -> None:
        """Remove the pin."""
        self._client.scene.remove_by_name(NEXT)

    def draw_explanation(self, shapes: ExplanationShapes, name: str, size: float, cut: float) -> None:
        """Draw the painted block up to the cut, its outline, the local graph and the named point over the scan."""
        scene = self._client.scene
        low = shapes.block[:, 2] <= cut
        with self._client.atomic():
            scene.remove_by_name(WHY)
            scene.add_frame(WHY, show_axes=False)
            scene.add_point_cloud(
                f"{WHY}/block",
                shapes.block[low],
                shapes.row[low],
                point_size=PAINTED_SIZE * size,
                point_shape="circle",
                point_shading="flat",
                precision="float32",
            )
            scene.add_line_segments(f"{WHY}/outline", shapes.outline, OUTLINE, thickness=1.5, thickness_units="screen")
            if len(shapes.graph):
                scene.add_line_segments(
                    f"{WHY}/graph", shapes.graph, shapes.graph_colours, thickness=3, thickness_units="screen"
                )
            scene.add_icosphere(f"{WHY}/point", radius=1.6 * size, color=MARK, position=shapes.point, cast_shadow=False)

            scene.add_label(f"{WHY}/name", name, position=shapes.point, anchor="bottom-left")

    def remove_explanation(self) -> None:
        """Remove the explanation from the scene."""
        self._client.scene.remove_by_name(WHY)
