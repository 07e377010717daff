import os
from threading import Event, Thread

import pytest

from point2node.inference.labeller import Options
from point2node.show.viewer.scan import place_scan
from point2node.show.viewer.workbench import MOST_KEPT, Abandoned, Workbench
from tests.show.viewer.weights import small_room


def ignore(*progress):
    """Nobody asks."""


def listed(path, options=None):
    return place_scan(path.name, ".ply", small_room(), options or Options(), path)


class Counting:
    """In the place of a labeller: gives a new result each time."""

    def __init__(self, before=ignore):
        self.asked, self.before = [], before

    def label(self, cloud, options, report, name):
        self.asked.append(name)
        self.before()
        report(1, 2, name)
        return object()


def files(folder, count):
    paths = [folder / f"{number}.ply" for number in range(count)]
    for path in paths:
        path.touch()
    return paths


def test_a_listed_scan_is_labelled_once_for_all_visitors(tmp_path):
    bench, (path,) = Workbench(Counting()), files(tmp_path, 1)
    first = bench.label(listed(path), ignore, ignore)
    assert bench.label(listed(path), ignore, ignore) is first
    assert bench.label(listed(path, Options(scale=2.0)), ignore, ignore) is not first


def test_a_scan_that_has_changed_on_the_disk_is_labelled_again(tmp_path):
    bench, (path,) = Workbench(Counting()), files(tmp_path, 1)
    first = bench.label(listed(path), ignore, ignore)
    os.utime(path, ns=(1, 1))
    assert bench.label(listed(path), ignore, ignore) is not first


def test_what_a_visitor_sent_is_kept_for_nobody():
    bench = Workbench(Counting())
    scan = place_scan("mine.ply", ".ply", small_room(), Options())
    assert bench.label(scan, ignore, ignore) is not bench.label(scan, ignore, ignore)


def test_only_the_latest_scans_are_kept(tmp_path):
    bench = Workbench(Counting())
    paths = files(tmp_path, MOST_KEPT + 1)
    for path in paths:
        bench.label(listed(path), ignore, ignore)
    bench.label(listed(paths[0]), ignore, ignore)
    assert len(bench.labeller.asked) == MOST_KEPT + 2


def test_a_visitor_who_goes_frees_the_network_for_the_next(tmp_path):
    bench, (path,) = Workbench(Counting()), files(tmp_path, 1)

    def gone(done, total, name):
        raise Abandoned

    with pytest.raises(Abandoned):
        bench.label(listed(path), gone, ignore)
    assert bench.label(listed(path), ignore, ignore) is not None


def test_a_waiting_visitor_is_asked_and_may_go(tmp_path):
    working, finish = Event(), Event()

    def hold():
        working.set()
        finish.wait(60)

    bench, (path,) = Workbench(Counting(hold)), files(tmp_path, 1)
    first = Thread(target=bench.label, args=(listed(path), ignore, ignore))
    first.start()
    assert working.wait(60)

    def go():
        raise Abandoned

    with pytest.raises(Abandoned):
        bench.label(listed(path), ignore, go)
    finish.set()
    first.join(60)
    assert bench.labeller.asked == ["0.ply"]
