import csv

import pytest

from point2node.core.errors import InputError
from point2node.training.history import COLUMNS, History, read_history, training_cost, training_seconds


def write(folder, rows, step=0):
    history = History(folder / "history.csv", folder / "tensorboard", step)
    for row in rows:
        history.add(row, {"epoch": 0, "loss": 1 / (row + 1)})
    history.close()
    return folder / "history.csv"


def steps(file):
    return [int(row["step"]) for row in read_history(file)]


def test_lines_come_back_as_they_were_added(tmp_path):
    file = write(tmp_path, [1, 2])
    with file.open(newline="") as stream:
        assert next(csv.reader(stream)) == list(COLUMNS)
    rows = read_history(file)
    assert [float(row["loss"]) for row in rows] == [1 / 2, 1 / 3]
    assert rows[0]["val_miou"] == ""


def test_a_resumed_history_forgets_what_came_after_its_step(tmp_path):
    write(tmp_path, [2, 4, 4, 6, 8])
    file = write(tmp_path, [6, 8], step=5)
    assert steps(file) == [2, 4, 4, 6, 8]
    assert file.read_text() == write(tmp_path, [8], step=6).read_text()


def test_a_run_that_begins_anew_begins_an_empty_history(tmp_path):
    write(tmp_path, [1, 2, 3])
    assert steps(write(tmp_path, [], step=0)) == []


@pytest.mark.parametrize("torn", ["1", "12", "12,0", "12,0,0.3333,,,", "x"])
def test_a_line_that_a_kill_tore_is_dropped(torn, tmp_path):
    file = write(tmp_path, [2, 4])
    with file.open("a") as stream:
        stream.write(torn)
    assert steps(file) == [2, 4]
    assert steps(write(tmp_path, [6], step=12)) == [2, 4, 6]


@pytest.mark.parametrize("content", ["", "step,ep"])
def test_a_history_torn_in_its_heading_is_begun_again(content, tmp_path):
    (tmp_path / "history.csv").write_text(content)
    assert steps(write(tmp_path, [1])) == [1]


def test_tensorboard_has_the_same_values(tmp_path):
    write(tmp_path, [1, 2])
    events = b"".join(path.read_bytes() for path in (tmp_path / "tensorboard").iterdir())
    assert b"loss" in events


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "history.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="the history of a run"):
        read_history(tmp_path / "history.csv")


def test_training_time_is_summed_over_the_speed_of_each_stretch(tmp_path):
    (tmp_path / "history.csv").write_text(
        ",".join(COLUMNS) + "\n10,0,2,0.1,0.001,100,,,,,\n10,0,,,,,,,0.4,0.3,0.2\n30,0,2,0.1,0.001,50,,,,,\n"
    )
    assert training_seconds(tmp_path / "history.csv", points_in_step=5) == pytest.approx(10 * 5 / 100 + 20 * 5 / 50)


def test_the_cost_of_a_training_is_read_off_its_history(tmp_path):
    file = tmp_path / "history.csv"
    lines = ["10,0,2,0.1,0.001,100,0.9,0.8,,,", "10,0,,,,,,,0.4,0.3,0.2", "30,0,2,0.1,0.001,50,0.7,0.6,,,"]
    file.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    cost = training_cost(file, batch_size=5, points=1)
    assert cost.steps == 30
    assert cost.hours == pytest.approx(2.5 / 3600)
    assert cost.samples_per_second == pytest.approx(30 * 5 / 2.5)
    assert cost.entropies == {"local_entropy": 0.7, "non_local_entropy": 0.6}


def test_a_history_without_a_step_has_no_cost(tmp_path):
    (tmp_path / "history.csv").write_text(",".join(COLUMNS) + "\n")
    with pytest.raises(InputError, match="found no step"):
        training_cost(tmp_path / "history.csv", batch_size=5, points=1)
