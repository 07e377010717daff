"""One visitor: what they opened, what they look at, and what they asked. Nothing here is shared with others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.data.files import read
from point2node.engine.explaining import Explainer
from point2node.engine.labelled import Labelled
from point2node.report.viewer.colouring import fade, paint, ways
from point2node.report.viewer.controls import EXPLANATION, Controls
from point2node.report.viewer.downloads import labelled_files
from point2node.report.viewer.explanation_panel import explanation_html
from point2node.report.viewer.explanation_shapes import ExplanationShapes, shape_explanation
from point2node.report.viewer.picking import pick
from point2node.report.viewer.scan import Scan, place_scan
from point2node.report.viewer.scene_view import SceneView
from point2node.report.viewer.uploads import read_upload, shown_name
from point2node.report.viewer.workbench import Abandoned, Workbench

FADED = 0.22
"""What is left of the colours of a scan behind an explanation; its points are smaller, too."""
FADED_SIZE = 0.6
BELOW_TOP = 0.35
"""Metres below the top at which a scan is cut at first, so that one looks into a room and not at its ceiling."""
LOWEST_ROOM = 1.8
"""Metres: what is lower is no room, and not cut at first."""


class Session:
    """The page of one visitor.

    Args:
        client: the visitor.
        workbench: the network.
        controls: what they can set.
        scans: files to choose from, by the names shown.
        most_megabytes: of an upload.
        connected: whether the visitor is still there.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        workbench: Workbench,
        controls: Controls,
        scans: Mapping[str, Path],
        most_megabytes: float,
        connected: Callable[[], bool],
    ) -> None:
        self._client, self._workbench, self._controls = client, workbench, controls
        self._scans, self._most_megabytes, self._connected = scans, most_megabytes, connected
        self._view = SceneView(client)
        self._folder = TemporaryDirectory(prefix="point2node-view-")
        self._lock = RLock()  # viser runs the callbacks of one visitor on several threads
        self._job = 0
        self._scan: Scan | None = None
        self._labelled: Labelled | None = None
        self._explainer: Explainer | None = None
        self._shapes: ExplanationShapes | None = None
        self._drawn: tuple[Any, ...] = ()

    def connect(self) -> None:
        """Let the controls tell this session, and open the first scan."""
        controls = self._controls
        controls.scan.on_update(lambda _: self.open_listed())
        controls.again.on_click(lambda _: self.read_again())
        controls.way.on_update(lambda _: self.change_way())
        controls.cut.on_update(lambda _: self.redraw())
        controls.size.on_update(lambda _: self.redraw())
        controls.save.on_click(lambda _: self.save())
        controls.back.on_click(lambda _: self.back_to_labels())
        controls.upload.on_upload(lambda _: self.open_upload())
        self._client.scene.on_click()(lambda event: self.click(event.ray_origin, event.ray_direction))
        if self._scans:
            self.open_listed()
        else:
            controls.say("Open a scan to begin.")

    def close(self) -> None:
        """The visitor has gone: what is being done for them ends at its next report."""
        with self._lock:
            self._job += 1
            self._scan = self._labelled = self._explainer = None
        self._folder.cleanup()

    def open_listed(self) -> None:
        """Open and label the scan that is chosen in the list."""
        name = str(self._controls.scan.value) if len(self._scans) > 1 else next(iter(self._scans))
        path = self._scans[name]
        self._open(name, path.suffix.lower(), lambda: read(path), path)

    def open_upload(self) -> None:
        """Open and label the file that the visitor sent."""
        sent = self._controls.take_upload()
        self._controls.upload.on_upload(lambda _: self.open_upload())
        folder = Path(self._folder.name)
        name = shown_name(sent.name)
        self._open(
            name, Path(name).suffix.lower(), lambda: read_upload(sent.name, sent.content, folder, self._most_megabytes)
        )

    def read_again(self) -> None:
        """Label the same scan, read as the controls say now."""
        scan = self._scan
        if scan is not None:
            path = scan.key[0] if isinstance(scan.key, tuple) else None
            self._open(scan.name, scan.suffix, lambda: scan.cloud, path)

    def _open(self, name: str, suffix: str, get: Callable[[], PointCloud], path: Path | None = None) -> None:
        """Show a scan, then label it; whatever was being done for this visitor before is given up."""
        with self._lock:
            self._job += 1
            job = self._job
        controls = self._controls
        try:
            controls.say(f"Reading {name} …")
            controls.show_progress(0)
            cloud = get()
            options = controls.read_options()
            scan = place_scan(name, suffix, cloud, options, None if path is None else (path, options))
            self._show_scan(scan, job)
            labelled = self._label(scan, job)
            self._show_labels(scan, labelled, job)
        except Abandoned:
            return
        except InputError as error:
            if self._is_current(job):
                controls.show_progress(None)
                controls.warn("This scan cannot be labelled", str(error))

    def _label(self, scan: Scan, job: int) -> Labelled:
        started = time.monotonic()

        def report(done: int, total: int, name: str) -> None:
            self._check(job)
            left = (time.monotonic() - started) * (total - done) / max(done, 1)
            self._controls.show_progress(done / max(total, 1))
            self._controls.say(f"Labelling {name}: {done:,} of {total:,} points, about {_in_words(left)} left.")

        def waiting() -> None:
            self._check(job)
            self._controls.say("Waiting: the network is busy for another visitor.")

        self._controls.say(f"Labelling {scan.name} … (the first time, the network takes a while to start)")
        return self._workbench.label(scan, report, waiting)

    def _show_scan(self, scan: Scan, job: int) -> None:
        with self._lock:
            self._check(job)
            self._scan, self._labelled, self._explainer = scan, None, None
            self._drop_explanation()
            self._controls.offer_cut(*heights(scan))
            self._controls.save.disabled = True
            self._controls.offer_classes((), {}, self.redraw)
            names = ways(scan, None)
            self._controls.offer_ways(names, names[0])
            self._view.forget_points()
            self._drawn = ()
            self._view.look_at(scan.xyz)
            self.redraw()

    def _show_labels(self, scan: Scan, labelled: Labelled, job: int) -> None:
        with self._lock:
            self._check(job)
            self._labelled = labelled
            self._controls.show_progress(None)
            self._controls.say(describe(scan, labelled))
            self._controls.save.disabled = False
            self._controls.offer_classes(labelled.classes, labelled.counts, self.redraw)
            names = ways(scan, labelled)
            self._controls.offer_ways(names, names[0])
            self.redraw()

    def change_way(self) -> None:
        """Colour the points as the visitor has chosen."""
        with self._lock:
            self._controls.offer_ways(tuple(self._controls.way.options), str(self._controls.way.value))
            self.redraw()

    def redraw(self) -> None:
        """Draw the scan as the controls say now; nothing is sent if nothing has changed."""
        with self._lock:
            scan, labelled, controls = self._scan, self._labelled, self._controls
            if scan is None:
                return
            way, size, cut = str(controls.way.value), float(controls.size.value), float(controls.cut.value)
            explaining = way == EXPLANATION and self._shapes is not None
            wanted = (scan, labelled, way, controls.hidden, cut, size, self._shapes)
            if wanted == self._drawn:
                return
            self._drawn = wanted
            colours = paint(scan, labelled, "class" if explaining else way)
            with self._client.atomic():
                if not explaining or self._shapes is None:
                    self._view.draw_points(scan.xyz, colours, self._visible(), size)
                    self._view.remove_explanation()
                else:
                    faded = fade(colours, FADED)
                    self._view.draw_points(scan.xyz, faded, self._visible(), FADED_SIZE * size)
                    self._view.draw_explanation(self._shapes, size, cut)
            controls.why.visible = explaining

    def _visible(self) -> NDArray[np.bool_]:
        """Which of the drawn points are not hidden by the cut or by the legend."""
        scan, labelled = self._scan, self._labelled
        assert scan is not None
        visible = scan.xyz[:, 2] <= float(self._controls.cut.value)
        if labelled is not None and self._controls.hidden:
            visible &= ~np.isin(labelled.labels[scan.shown], list(self._controls.hidden))
        return visible

    def click(self, origin: tuple[float, float, float], direction: tuple[float, float, float]) -> None:
        """Explain the point under the click; a click beside all points does nothing."""
        with self._lock:
            scan, labelled, job = self._scan, self._labelled, self._job
            if scan is None or labelled is None:
                return
            candidates = np.flatnonzero(self._visible())
            met = pick(scan.xyz[candidates], origin, direction)
            if met is None:
                return
            point = int(scan.shown[candidates[met]])
        try:
            self.explain(scan, labelled, point, job)
        except Abandoned:
            return
        except InputError as error:
            self._controls.warn("No explanation", str(error))

    def explain(self, scan: Scan, labelled: Labelled, point: int, job: int) -> None:
        """Show why a point has its label."""
        self._controls.say("Asking the network about this point …")
        if self._explainer is None:
            self._explainer = Explainer(self._workbench.labeller, scan.cloud, scan.options)
        explanation = self._workbench.explain(self._explainer, point, partial(self._check, job))
        side = self._workbench.labeller.trained.card.block_side
        shapes = shape_explanation(scan, explanation, side)
        with self._lock:
            self._check(job)
            self._shapes = shapes
            self._controls.reasons.content = explanation_html(
                explanation,
                shapes,
                labelled.classes,
                int(labelled.labels[point]),
                float(labelled.confidence[point]),
                side,
            )
            self._controls.offer_ways((*ways(scan, labelled), EXPLANATION), EXPLANATION)
            self._controls.say(describe(scan, labelled))
            self.redraw()

    def back_to_labels(self) -> None:
        """Put the explanation away."""
        with self._lock:
            scan = self._scan
            if scan is not None:
                self._drop_explanation()
                names = ways(scan, self._labelled)
                self._controls.offer_ways(names, names[0])
                self.redraw()

    def _drop_explanation(self) -> None:
        self._shapes = None
        self._view.remove_explanation()
        self._controls.why.visible = False

    def save(self) -> None:
        """Send the labelled scan and the names of its classes to the browser."""
        scan, labelled = self._scan, self._labelled
        if scan is None or labelled is None:
            return
        try:
            files = labelled_files(scan, labelled)
        except InputError as error:
            self._controls.warn("The labelled scan cannot be saved", str(error))
            return
        for name, content in files:
            self._client.send_file_download(name, content, save_immediately=True)

    def _is_current(self, job: int) -> bool:
        return job == self._job and self._connected()

    def _check(self, job: int) -> None:
        if not self._is_current(job):
            raise Abandoned


def heights(scan: Scan) -> tuple[float, float, float]:
    """The lowest and the highest height of a scan, and the one above which it is cut at first."""
    low, high = float(scan.xyz[:, 2].min()), float(scan.xyz[:, 2].max())
    top = float(np.quantile(scan.xyz[:, 2], 0.99))
    return low, high, top - BELOW_TOP if top > LOWEST_ROOM else high


def describe(scan: Scan, labelled: Labelled) -> str:
    """The line that stays below the buttons once a scan is labelled."""
    parts = [f"**{scan.name}**: {len(scan.cloud):,} points labelled by {shown_name(labelled.weights)}."]
    if scan.is_thinned:
        parts.append(f"{len(scan.shown):,} of them are drawn.")
    lost = len(scan.cloud) - len(scan.placement.numbers)
    if lost:
        parts.append(f"{lost:,} have no position and no label.")
    if labelled.protocol.get("colour") == "none":
        parts.append("Without colours, which the weights were trained with: expect more mistakes.")
    return " ".join(parts)


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
