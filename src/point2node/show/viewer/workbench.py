"""The one network that all visitors share: they take turns, and scans labelled once are not labelled again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock

from point2node.core.words import Report
from point2node.inference.explainer import Explainer, PointExplanation
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import SceneLabeller
from point2node.show.viewer.scan import Scan

MOST_KEPT = 3
PATIENCE = 0.3
"""Seconds after which a waiting visitor looks up again."""


class Abandoned(Exception):  # noqa: N818  it is no error: nobody waits for the result any more
    """Raised by a report whose visitor has gone, or has asked for something else."""


class Workbench:
    """Labels scans and explains points, for one visitor at a time.

    Args:
        labeller: the weights.
    """

    def __init__(self, labeller: SceneLabeller) -> None:
        self.labeller = labeller
        self._busy = Lock()
        self._kept: OrderedDict[Hashable, LabelledCloud] = OrderedDict()

    def label(self, scan: Scan, report: Report, waiting: Callable[[], None]) -> LabelledCloud:
        """The labels of a scan; both callbacks may raise ``Abandoned``."""
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
        """Why a point has its label; the callback may raise ``Abandoned``."""
        with self._turn(waiting):
            return explainer.explain(point)

    @contextmanager
    def _turn(self, waiting: Callable[[], None]) -> Iterator[None]:
        while not self._busy.acquire(timeout=PATIENCE):
            waiting()
        try:
            yield
        finally:
            self._busy.release()


def _key(scan: Scan) -> Hashable:
    """What scans with the same labels have in common; None for a visitor's own and for a file that has gone."""
    if scan.path is None or not scan.path.is_file():
        return None
    return scan.path, scan.path.stat().st_mtime_ns, scan.options
