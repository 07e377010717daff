"""The network that all visitors share: they take turns, and recently labelled scans are cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from point2node.core.words import Report
from point2node.inference.explainer import Explainer, PointExplanation
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import SceneLabeller
from point2node.show.viewer.scan import Scan
from point2node.teaching.corrections_file import corrections_path
from point2node.teaching.notebooks import Notebooks
from point2node.teaching.observing import TaughtScan
from point2node.teaching.rounds import Report as TeachReport
from point2node.teaching.rounds import Teacher, read_taught, teaching_settings, write_run
from point2node.weights.run_folder import RunFolder
from point2node.weights.trained import load_trained

MOST_KEPT = 3
PATIENCE = 0.3
"""Seconds between checks while a visitor waits for the network."""


class Abandoned(Exception):  # noqa: N818  not an error: the result is no longer needed
    """Raised by a callback if its visitor has left, or has requested something else."""


class Workbench:
    """Labels scans and explains points, for one visitor at a time.

    Args:
        labeller: the weights.
        scans: files with corrections to learn from.
        runs: the folder for new run folders.
    """

    def __init__(self, labeller: SceneLabeller, scans: Iterable[Path] = (), runs: Path = Path("runs")) -> None:
        self.labeller = labeller
        """The current weights: those given, or those learnt last."""
        self.notebooks = Notebooks()
        self.is_learning = False
        self.is_closed = False
        self._teacher = Teacher(labeller)
        self._scans, self._runs = tuple(scans), runs
        self._learnt: list[Callable[[], None]] = []
        self._busy = Lock()
        self._kept: OrderedDict[Hashable, LabelledCloud] = OrderedDict()

    def label(self, scan: Scan, report: Report, waiting: Callable[[], None]) -> LabelledCloud:
        """Label a scan; both callbacks may raise ``Abandoned``."""
        with self._turn(waiting):
            key = _key(scan)
            if key is not None and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            labelled = self.labeller.label(scan.cloud, scan.options, report, scan.name)
            if key is not None:
                self._kept[key] = labelled
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            return labelled

    def explain(self, explainer: Explainer, point: int, waiting: Callable[[], None]) -> PointExplanation:
        """Explain the label of a point; the callback may raise ``Abandoned``."""
        with self._turn(waiting):
            return explainer.explain(point)

    def learn(self, here: TaughtScan, path: Path, report: TeachReport) -> Path | None:
        """Learn from an open scan and all others with corrections; returns the new run folder.

        Each time, learning starts from the weights that were given, and afterwards everything is labelled with the new
        weights. Returns None if the given weights are still better: then nothing has changed.
        """

        def report_or_stop(share: float, what: str) -> None:
            if self.is_closed:
                raise Abandoned
            report(share, what)

        self.is_learning = True
        try:
            with self._turn(lambda: report_or_stop(0.0, "waiting for the network")):
                base = self._teacher.labeller
                others = (one for one in self._scans if one.resolve() != path.resolve())
                taught_on = [here, *(read_taught(one, base) for one in others if corrections_path(one).is_file())]
                settings, recipe = teaching_settings([], base)
                taught = self._teacher.learn(taught_on, recipe, report_or_stop)
                if not taught.share:
                    return None
                run = free_run(self._runs, path.stem)
                write_run(run, taught, settings, taught_on)
                self.labeller = SceneLabeller(load_trained(run.path))
                self._kept.clear()
        finally:
            self.is_learning = False
        for listener in list(self._learnt):
            listener()
        return run.path

    def on_learnt(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever new weights have been learnt."""
        self._learnt.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Stop calling ``listener``."""
        if listener in self._learnt:
            self._learnt.remove(listener)

    @contextmanager
    def _turn(self, waiting: Callable[[], None]) -> Iterator[None]:
        while not self._busy.acquire(timeout=PATIENCE):
            waiting()
        try:
            yield
        finally:
            self._busy.release()


def free_run(runs: Path, name: str) -> RunFolder:
    """Return the next run folder that does not exist yet: ``runs/taught-room-001``."""
    number = 1
    while (folder := runs / f"taught-{name}-{number:03d}").exists():
        number += 1
    return RunFolder(folder)


def _key(scan: Scan) -> Hashable:
    """Return the cache key of a scan; None for a visitor's upload and for a file that no longer exists."""
    if scan.path is None or not scan.path.is_file():
        return None
    return scan.path, scan.path.stat().st_mtime_ns, scan.options
