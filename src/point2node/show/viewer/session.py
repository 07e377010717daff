"""The session of one visitor. Only the workbench is shared with others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import RLock

import viser
from numpy.typing import ArrayLike

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.formats import read
from point2node.inference.explainer import Explainer
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options
from point2node.inference.scan_check import choose_scale
from point2node.show.viewer.controls import Controls, put_value
from point2node.show.viewer.correct_panel import CorrectPanel
from point2node.show.viewer.correcting import Correcting
from point2node.show.viewer.explanation import explanation_html, shape_explanation
from point2node.show.viewer.files import UploadFolder, labelled_files, read_upload, shown_name
from point2node.show.viewer.object_list import ObjectList
from point2node.show.viewer.picture import Picture, SceneView
from point2node.show.viewer.scan import Scan, describe, in_words, name_of, place_scan
from point2node.show.viewer.workbench import Abandoned, Workbench

INTERNAL_ERROR = "Something went wrong in Point2Node: see the terminal."


class Session:
    """The page of one visitor.

    Args:
        client: the visitor.
        workbench: the network.
        controls: the visitor's controls.
        scans: files to choose from, by the names shown.
        most_megabytes: the largest size of an upload.
        connected: returns whether the visitor is still connected.
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
        self._picture = Picture(SceneView(client), controls)
        self._uploads = UploadFolder()
        self._lock = RLock()  # viser runs the callbacks of one visitor on several threads
        self._job = 0
        self._explainer: Explainer | None = None
        self._objects = ObjectList(client, self._picture, self._alone)
        self._panel = CorrectPanel(client)
        self._correcting = Correcting(client, workbench, self._panel, self._picture, self._alone)

    def connect(self) -> None:
        """Connect the events of the controls, and open the first scan."""
        controls, picture = self._controls, self._picture
        controls.scan.on_update(lambda _: self.open_listed())
        controls.upload.on_upload(lambda _: self.open_upload())
        controls.again.on_click(lambda _: self.read_again())
        controls.way.on_update(lambda _: self._alone(picture.change_way))
        controls.cut.on_update(lambda _: self._alone(picture.redraw))
        controls.size.on_update(lambda _: self._alone(picture.redraw))
        controls.back.on_click(lambda _: self._alone(picture.hide_explanation))
        controls.on_switch = lambda: self._alone(picture.redraw)
        controls.save.on_click(lambda _: self.save())
        self._objects.connect()
        self._correcting.connect()
        self._workbench.on_learnt(self.label_again)
        self._client.scene.on_click()(lambda event: self.click(event.ray_origin, event.ray_direction, event.screen_pos))
        if self._scans:
            self.open_listed()
        else:
            controls.say("Open a scan to start.")

    def close(self) -> None:
        """End the session: running work stops at its next report, and uploads are removed."""
        with self._lock:
            self._job += 1
        self._workbench.forget(self.label_again)
        self._correcting.close()
        self._uploads.remove()

    def open_listed(self) -> None:
        """Open and label the scan chosen in the list."""
        name = str(self._controls.scan.value)
        path = self._scans[name]
        options = self._controls.first_options()
        self._open(shown_name(name), path.suffix.lower(), options, lambda: read(path), path)

    def open_upload(self) -> None:
        """Open and label the file that the visitor uploaded."""
        with self._lock:
            sent, content = self._controls.take_upload()
        if not sent:
            return  # a later upload has replaced this one
        name, folder = shown_name(sent), self._uploads.path
        options = self._controls.first_options()
        read_it = partial(read_upload, sent, content, folder, self._most_megabytes)
        self._open(name, Path(name).suffix.lower(), options, read_it)

    def read_again(self) -> None:
        """Label the same scan again with the current settings."""
        scan = self._picture.scan
        if scan is not None:
            self._open(scan.name, scan.suffix, self._controls.read_options(), lambda: scan.cloud, scan.path)

    def _open(
        self, name: str, suffix: str, options: Options, get: Callable[[], PointCloud], path: Path | None = None
    ) -> None:
        """Show a scan, then label it; earlier work for this visitor is abandoned."""
        with self._lock:
            self._job += 1
            job = self._job
        controls = self._controls
        try:
            controls.say(f"Reading {name} …")
            controls.show_progress(0)
            cloud = get()
            options, _ = choose_scale(cloud, self._workbench.labeller, options)
            scan = place_scan(name, suffix, cloud, options, path)
            with self._lock:
                self._check(job)
                put_value(controls.scale, options.scale)
                self._explainer = None
                self._picture.show_scan(scan)
            labelled = self._label(scan, job)
            with self._lock:
                self._check(job)
                self._picture.show_labels(self._correcting.open(scan, labelled))
                self._picture.redraw()
                controls.show_progress(None)
        except Abandoned:
            return
        except InputError as error:
            self._report_failure(job, str(error))
        except Exception:  # our bug: the traceback goes to the terminal, but the visitor must not wait forever
            self._report_failure(job, INTERNAL_ERROR)
            raise

    def label_again(self) -> None:
        """Label the open scan with newly learnt weights, while the old labels stay visible."""
        scan = self._picture.scan
        if scan is None:
            return
        with self._lock:
            self._job += 1
            job, self._explainer = self._job, None
        try:
            labelled = self._label(scan, job)
            with self._lock:
                self._check(job)
                self._picture.change_labels(self._correcting.open(scan, labelled))
                self._controls.say(describe(scan, labelled))
                self._controls.show_progress(None)
        except Abandoned:
            return
        except InputError as error:
            self._report_failure(job, str(error))

    def _report_failure(self, job: int, reason: str) -> None:
        if self._is_current(job):
            self._controls.show_progress(None)
            self._controls.warn("This scan cannot be labelled", reason)

    def _label(self, scan: Scan, job: int) -> LabelledCloud:
        started = time.monotonic()

        def report(done: int, total: int, name: str) -> None:
            self._check(job)
            left = (time.monotonic() - started) * (total - done) / max(done, 1)
            self._controls.show_progress(done / max(total, 1))
            self._controls.say(f"Labelling {name}: {done:,} of {total:,} points, about {in_words(left)} left.")

        def waiting() -> None:
            self._check(job)
            self._controls.say("Waiting: the network is busy with another visitor.")

        self._controls.say(f"Labelling {scan.name} … The network takes a while to start the first time.")
        return self._workbench.label(scan, report, waiting)

    def click(self, origin: ArrayLike, direction: ArrayLike, screen: tuple[float, float]) -> None:
        """Apply the chosen tool to the point under the click, or to the place on the screen.

        A click that hits no point does nothing, unless it sets a corner of an outline.
        """
        if self._panel.draws:
            self._correcting.take_corner(screen)
            return
        with self._lock:
            scan, labelled, job = self._picture.scan, self._picture.labelled, self._job
            point = self._picture.pick(origin, direction)
        if scan is None or labelled is None or point is None or self._correcting.take_click(point):
            return
        if self._panel.isolates:
            self._objects.take_click(point)
            return
        try:
            self._explain(scan, labelled, point, job)
        except Abandoned:
            return
        except InputError as error:
            self._controls.warn("No explanation", str(error))

    def _explain(self, scan: Scan, labelled: LabelledCloud, point: int, job: int) -> None:
        self._controls.say("Asking the network about this point …")
        with self._lock:
            self._check(job)
            explainer = self._explainer or Explainer(self._workbench.labeller, scan.cloud, scan.options)
            self._explainer = explainer
        explanation = self._workbench.explain(explainer, point, partial(self._check, job))
        side = self._workbench.labeller.trained.card.block_side
        shapes = shape_explanation(scan, explanation, side)
        name, confidence = name_of(labelled, point), float(labelled.confidence[point])
        html = explanation_html(explanation, shapes, labelled.classes, name, confidence, side)
        with self._lock:
            self._check(job)
            self._picture.show_explanation(shapes, name, html)
            self._controls.say(describe(scan, labelled))

    def save(self) -> None:
        """Send the labelled scan and the names of its classes to the browser."""
        scan, labelled = self._picture.scan, self._picture.labelled
        if scan is None or labelled is None:
            return
        try:
            files = labelled_files(scan, labelled)
        except InputError as error:
            self._controls.warn("The labelled scan cannot be saved", str(error))
            return
        for name, content in files:
            self._client.send_file_download(name, content, save_immediately=True)

    def _alone(self, change: Callable[[], None]) -> None:
        """Change the picture while no other thread does; all changes of one step arrive together."""
        with self._lock, self._client.atomic():
            change()

    def _is_current(self, job: int) -> bool:
        return job == self._job and self._connected()

    def _check(self, job: int) -> None:
        if not self._is_current(job):
            raise Abandoned
