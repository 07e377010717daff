"""A visitor's corrections of labels: selecting points, showing corrections to all visitors, and learning from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.inference.labelled import LabelledCloud
from point2node.show.viewer.controls import put_value
from point2node.show.viewer.correct_panel import BRUSH, HELP, ONLY_FILES, POINT, SEGMENT, CorrectPanel
from point2node.show.viewer.picture import Picture
from point2node.show.viewer.scan import Scan, name_of
from point2node.show.viewer.workbench import Abandoned, Workbench
from point2node.teaching.corrections import Corrections, apply_corrections
from point2node.teaching.corrections_file import corrections_path
from point2node.teaching.notebooks import Notebook
from point2node.teaching.observing import TaughtScan
from point2node.teaching.selecting import (
    Camera,
    camera_of,
    find_segments,
    rectangle,
    select_brush,
    select_lasso,
    select_point,
    select_segment,
)
from point2node.teaching.spots import best_spot

Indices = NDArray[np.int64]

NOTHING_LEARNT = (
    "Nothing learnt yet: with these corrections the network gets other labels wrong. They are kept; correct some more, "
    "and confirm correct labels of other classes."
)
BEHIND = 0.3
"""Metres: points farther behind the foremost ones of a rectangle or an outline are not selected."""
CLOSES = 0.025
"""A click within this share of the picture's height from the first corner closes the outline."""
AHEAD = 0.3
"""The distance in metres from the camera at which the outline is drawn, in front of the scan."""


class Correcting:
    """Corrections of the scan that a visitor looks at.

    Args:
        client: the visitor.
        workbench: the network and the corrections that all visitors share.
        panel: the controls for corrections.
        picture: the picture of the scan.
        alone: runs a function while nothing else changes the picture.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        workbench: Workbench,
        panel: CorrectPanel,
        picture: Picture,
        alone: Callable[[Callable[[], None]], None],
    ) -> None:
        self._client, self._workbench, self._panel = client, workbench, panel
        self._picture, self._alone = picture, alone
        self._notebook: Notebook | None = None
        self._scan: Scan | None = None
        self._plain: LabelledCloud | None = None
        self._segments: Indices | None = None
        self._passed: set[int] = set()
        self._outline: list[tuple[float, float]] = []
        self._outline_seen: Camera | None = None
        panel.say(ONLY_FILES)

    def connect(self) -> None:
        """Connect the panel's events."""
        panel = self._panel
        panel.tool.on_update(lambda _: self._alone(self._drop_outline))
        panel.undo.on_click(lambda _: self._change(Corrections.undo))
        panel.redo.on_click(lambda _: self._change(Corrections.redo))
        panel.add.on_click(lambda _: self._add_class())
        panel.next.on_click(lambda _: self.go_to_next())
        panel.learn.on_click(lambda _: self.learn())
        self._client.scene.on_rect_select(modifier="shift")(self._select_rectangle)

    def open(self, scan: Scan, labelled: LabelledCloud) -> LabelledCloud:
        """Open another scan, or new labels of the same one; returns the labels to show, with all corrections."""
        same = self._scan is not None and scan.cloud is self._scan.cloud and scan.options == self._scan.options
        self.close()
        self._drop_outline()
        self._scan, self._plain = scan, labelled
        self._segments = self._segments if same else None
        self._passed = self._passed if same else set()
        self._panel.offer(None)
        if scan.path is None:
            self._panel.say(ONLY_FILES)
            self._picture.marked = None
            return labelled
        try:
            self._notebook = self._workbench.notebooks.open(scan.path, scan.cloud, labelled.classes)
        except InputError as error:
            self._panel.say(f"⚠ {error}")
            self._picture.marked = None
            return labelled
        self._notebook.listen(self._show)
        return self._painted(self._notebook)

    def close(self) -> None:
        """Stop listening to other visitors' corrections."""
        if self._notebook is not None:
            self._notebook.leave(self._show)
        self._notebook = None

    def take_click(self, point: int) -> bool:
        """Correct the points that a click selects; False if clicks do not correct."""
        if not self._panel.corrects:
            return False
        if self._notebook is None:
            self._panel.say(ONLY_FILES)
            return True
        select = SELECT[str(self._panel.tool.value)]
        self._correct(select(self, point))
        return True

    def take_corner(self, place: tuple[float, float]) -> None:
        """Add a corner to the outline on the screen; the first one again closes it and corrects the points inside."""
        if self._notebook is None:
            self._panel.say(ONLY_FILES)
            return
        self._alone(partial(self._draw_corner, place))

    def _draw_corner(self, place: tuple[float, float]) -> None:
        seen = self._camera()
        if self._outline_seen is None or not seen.sees_as(self._outline_seen):
            self._outline = []  # corners of another view are at other places in this one
        corners = np.array([*self._outline, place])
        nearness = np.linalg.norm((corners[0] - corners[-1]) * np.array([seen.aspect, 1.0]))
        if len(corners) > 3 and nearness < CLOSES:
            self._drop_outline()
            self._correct_inside(seen, corners[:-1])
            return
        self._outline, self._outline_seen = [*self._outline, place], seen
        self._picture.draw_outline(seen.unproject(corners, AHEAD))
        self._panel.say(f"Corners of the outline: {len(corners)}. Click the first one again to close it.")

    def _drop_outline(self) -> None:
        self._outline, self._outline_seen = [], None
        self._picture.draw_outline(None)

    def _camera(self) -> Camera:
        camera = self._client.camera
        return camera_of(camera.position, camera.wxyz, camera.fov, camera.aspect)

    def _select_rectangle(self, event: Any) -> None:
        if self._notebook is not None:
            self._correct_inside(self._camera(), rectangle(event.screen_min, event.screen_max))

    def _correct_inside(self, seen: Camera, polygon: NDArray[np.float64]) -> None:
        """Correct the visible points inside a polygon on the screen."""
        assert self._scan is not None
        placement = self._scan.placement
        numbers = placement.numbers[select_lasso(placement.xyz, seen, polygon, BEHIND)]
        if len(numbers):
            self._correct(numbers[self._picture.visible(numbers)])

    def _correct(self, numbers: Indices) -> None:
        name = str(self._panel.name.value)
        if len(numbers):
            self._change(lambda corrections: corrections.add(name, numbers))

    def _add_class(self) -> None:
        name = " ".join(self._panel.take_new_class().split())
        self._change(lambda corrections: corrections.add_class(name))
        if self._notebook is not None and name in self._notebook.corrections.class_names:
            put_value(self._panel.name, name)

    def _change(self, change: Callable[[Corrections], Corrections]) -> None:
        """Change the list; all visitors of the scan are notified, including this one."""
        notebook = self._notebook
        if notebook is None:
            return
        try:
            notebook.change(change)
        except InputError as error:
            self._panel.say(f"⚠ {error}")

    def _show(self) -> None:
        """Show the changed list."""

        def show() -> None:
            if self._notebook is not None:
                self._picture.change_labels(self._painted(self._notebook))

        self._alone(show)

    def _painted(self, notebook: Notebook) -> LabelledCloud:
        """Return the labels with the corrections applied, and mark the corrected points in the picture."""
        assert self._plain is not None
        corrections = notebook.corrections
        self._picture.marked = corrections.class_indices() >= 0
        self._panel.offer(corrections, busy=self._workbench.is_learning)
        if corrections.done:
            points = int(self._picture.marked.sum())
            kept = corrections_path(notebook.scan).name
            self._panel.say(f"Corrections: {len(corrections.done)}, of {points:,} points, kept in {kept}.")
        else:
            self._panel.say(f"No corrections yet. {HELP}")
        return apply_corrections(self._plain, corrections)

    def _all_segments(self) -> Indices:
        """Return the segment of each placed point; computed once per scan."""
        assert self._scan is not None
        if self._segments is None:
            self._panel.say("Finding surfaces …")
            self._segments = find_segments(self._scan.placement.xyz)
        return self._segments

    def _placed(self, point: int) -> int:
        """Return the index among the placed points of a point of the cloud."""
        assert self._scan is not None
        return int(np.searchsorted(self._scan.placement.numbers, point))

    def _segment(self, point: int) -> Indices:
        assert self._scan is not None
        return self._scan.placement.numbers[select_segment(self._all_segments(), self._placed(point))]

    def _brush(self, point: int) -> Indices:
        assert self._scan is not None
        placement = self._scan.placement
        return placement.numbers[select_brush(placement.xyz, self._placed(point), float(self._panel.radius.value))]

    def _point(self, point: int) -> Indices:
        return select_point(point)

    def go_to_next(self) -> None:
        """Show the spot where a correction helps most; another one if it is called again without a click."""
        scan, labelled, notebook = self._scan, self._plain, self._notebook
        if scan is None or labelled is None or notebook is None:
            return
        numbers = scan.placement.numbers
        corrected = notebook.corrections.class_indices()[numbers] >= 0
        entropy, labels = labelled.entropy[numbers], labelled.labels[numbers]
        spot = best_spot(scan.placement.xyz, self._all_segments(), entropy, labels, corrected, self._passed)
        if spot is None:
            self._panel.say("Everything is corrected.")
            return
        self._passed.add(spot.segment)
        point = int(numbers[spot.point])
        label = f"{name_of(labelled, point)}? ({labelled.confidence[point]:.0%})"
        self._alone(lambda: self._picture.point_out(point, label))

    def learn(self) -> None:
        """Learn from all corrections in the background, then label the scans of all visitors again."""
        scan, notebook = self._scan, self._notebook
        if scan is None or notebook is None or self._workbench.is_learning:
            return
        here = TaughtScan(notebook.scan.name, scan.cloud, notebook.corrections, scan.options)
        self._panel.learn.disabled = True
        Thread(target=partial(self._learn, here, notebook.scan), daemon=True).start()

    def _learn(self, here: TaughtScan, path: Path) -> None:
        panel = self._panel

        def report(share: float, what: str) -> None:
            panel.show_progress(share)
            panel.say(f"Learning: {what}, {share:.0%}.")

        try:
            report(0.0, "waiting for the network")
            run = self._workbench.learn(here, path, report)
            panel.say(
                NOTHING_LEARNT
                if run is None
                else f"Learnt. Label other scans with: point2node predict SCAN --weights {run}"
            )
        except Abandoned:
            return
        except InputError as error:
            panel.say(f"⚠ {error}")
        except Exception:  # our bug: the traceback goes to the terminal, but the visitor must not wait forever
            panel.say("⚠ Something went wrong in Point2Node: see the terminal.")
            raise
        finally:
            panel.show_progress(None)
            panel.offer(None if self._notebook is None else self._notebook.corrections)


SELECT: MappingProxyType[str, Callable[[Correcting, int], Indices]] = MappingProxyType(
    {SEGMENT: Correcting._segment, BRUSH: Correcting._brush, POINT: Correcting._point}
)
"""For each tool, the points that a click on a point selects."""
