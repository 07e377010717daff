import os
from threading import Thread

import pytest

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.teaching.corrections_file import corrections_path, read_corrections, write_corrections
from point2node.teaching.notebooks import Notebooks
from tests.teaching.test_corrections import cloud, empty


@pytest.fixture
def scan(tmp_path):
    return tmp_path / "room.ply"


def test_every_change_is_on_the_disk_before_anybody_is_told(scan):
    notebook, told = Notebooks().open(scan, cloud(), S3DIS), []
    notebook.listen(lambda: told.append(len(read_corrections(corrections_path(scan)).done)))
    notebook.change(lambda one: one.add("chair", [1]))
    notebook.change(lambda one: one.add("chair", [2]))
    notebook.change(lambda one: one.undo())
    assert told == [1, 2, 1]


def test_two_visitors_of_a_scan_share_its_corrections_and_a_new_server_finds_them(scan):
    books = Notebooks()
    first, second = books.open(scan, cloud(), S3DIS), books.open(scan, cloud(), S3DIS)
    assert first is second
    first.change(lambda one: one.add("chair", [1]))
    assert Notebooks().open(scan, cloud(), S3DIS).corrections == first.corrections


def test_a_visitor_who_has_left_is_told_no_more(scan):
    notebook, told = Notebooks().open(scan, cloud(), S3DIS), []
    listener = lambda: told.append(1)  # noqa: E731
    notebook.listen(listener)
    notebook.leave(listener)
    notebook.leave(listener)
    notebook.change(lambda one: one.add("chair", [1]))
    assert not told


def test_clicks_of_many_threads_are_all_kept(scan):
    notebook = Notebooks().open(scan, cloud(), S3DIS)
    threads = [
        Thread(target=lambda point=point: notebook.change(lambda one: one.add("chair", [point]))) for point in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (read_corrections(corrections_path(scan)).class_indices() >= 0).sum() == 12


def test_a_change_by_another_program_is_not_overwritten(scan):
    books = Notebooks()
    notebook = books.open(scan, cloud(), S3DIS)
    notebook.change(lambda one: one.add("chair", [1]))
    write_corrections(corrections_path(scan), empty().add("table", [2]))
    with pytest.raises(InputError, match="something else has changed"):
        notebook.change(lambda one: one.add("chair", [3]))
    assert [one.name for one in read_corrections(corrections_path(scan)).done] == ["table"]
    again = books.open(scan, cloud(), S3DIS)
    assert [one.name for one in again.corrections.done] == ["table"]
    again.change(lambda one: one.add("chair", [3]))


def test_where_writing_fails_nothing_has_changed(scan, monkeypatch):
    notebook = Notebooks().open(scan, cloud(), S3DIS)

    def fail(path, corrections):
        raise InputError(path, expected="a file that can be written", found="no space left on device")

    monkeypatch.setattr("point2node.teaching.notebooks.write_corrections", fail)
    with pytest.raises(InputError):
        notebook.change(lambda one: one.add("chair", [1]))
    assert notebook.corrections == empty()
    assert not os.path.exists(corrections_path(scan))  # noqa: PTH110


def test_corrections_of_other_points_are_refused_when_the_scan_is_opened(scan):
    write_corrections(corrections_path(scan), empty().add("table", [2]))
    with pytest.raises(InputError, match="found those of another"):
        Notebooks().open(scan, cloud(seed=5), S3DIS)
