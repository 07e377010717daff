"""The picture of one visitor: the scan's points and, over them, an explanation."""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

from point2node.report.viewer.colouring import Colours
from point2node.report.viewer.explanation_shapes import ExplanationShapes
from point2node.report.viewer.scan import Floats

SCAN, WHY, CORRECTED, NEXT = "/scan", "/why", "/corrected", "/next"
MARKED_SIZE = 1.6
"""Corrected points are drawn larger than the others by this factor."""
NEAR = 2.5
"""Metres from which a place that is pointed out is looked at."""
OUTLINE = (60, 60, 60)
MARK = (240, 0, 90)
PAINTED_SIZE = 2.5
"""Painted points are drawn larger than the others by this factor."""
VIEW_FROM = np.array([0.4, -0.75, 1.25])
"""The direction in which the camera starts, from the middle of the scan, over its longer side."""


class SceneView:
    """Draws on one client's scene; others' are never touched.

    Args:
        client: the visitor.
    """

    def __init__(self, client: viser.ClientHandle) -> None:
        self._client = client
        self._points: viser.PointCloudHandle | None = None
        self._mask: NDArray[np.bool_] | None = None
        client.scene.configure_default_lights(enabled=True, cast_shadow=False)

    def look_at(self, xyz: Floats) -> None:
        """Put the camera where the whole scan is in sight, looking down at an angle."""
        low, high = np.quantile(xyz, (0.002, 0.998), axis=0)
        middle, extent = (low + high) / 2, high - low
        across = VIEW_FROM if extent[0] >= extent[1] else VIEW_FROM[[1, 0, 2]] * np.array([-1, 1, 1])
        away = max(0.9 * float(np.linalg.norm(extent)), 0.5)
        camera = self._client.camera
        camera.up_direction = (0.0, 0.0, 1.0)
        camera.position = middle + away * across / np.linalg.norm(across)  # moves what is looked at along
        camera.look_at = middle

    def draw_points(self, xyz: Floats, colours: Colours, visible: NDArray[np.bool_], size: float) -> None:
        """Draw the visible ones; only what has changed is sent."""
        if not visible.any():  # viser's page complains of clouds without points
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
        """Another scan follows."""
        self._mask = None
        self.remove_pin()

    def draw_marks(self, xyz: Floats, colours: Colours, size: float) -> None:
        """Draw points that were corrected over the scan, larger and in the colours of their classes."""
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
        """Nothing was corrected."""
        self._client.scene.remove_by_name(CORRECTED)

    def point_out(self, place: Floats, text: str) -> None:
        """Move the camera near a place, in the direction in which it looks, and put a pin with a text there."""
        camera, scene = self._client.camera, self._client.scene
        away = np.asarray(camera.position, np.float64) - np.asarray(camera.look_at, np.float64)
        away[2] = max(away[2], 0.5 * float(np.linalg.norm(away)))  # from above: walls stand in the way less often
        with self._client.atomic():
            scene.add_icosphere(f"{NEXT}", radius=0.05, color=MARK, position=place, cast_shadow=False)
            scene.add_label(f"{NEXT}/text", text, anchor="bottom-left")
            camera.position = place + NEAR * away / max(float(np.linalg.norm(away)), 1e-6)
            camera.look_at = place

    def remove_pin(self) -> None:
        """Nothing is pointed out any more."""
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
        """Leave the scan alone."""
        self._client.scene.remove_by_name(WHY)
