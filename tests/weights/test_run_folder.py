import json

import pytest

from point2node import __version__
from point2node.core.errors import InputError
from point2node.weights.run_folder import RunFolder
from tests.training.stores import quick


def test_a_finished_run_has_everything(finished, rooms):
    names = {path.name for path in finished.path.iterdir()}
    assert {"settings.yaml", "run.json", "state.safetensors", "last.safetensors", "best.safetensors"} <= names
    assert {"history.csv", "tensorboard", "summary.json"} <= names
    assert not [name for name in names if name.startswith(".")]  # no half-written file is left
    assert finished.read_settings() == quick()
    card = finished.read_card()
    assert (card.preset, card.seed, card.steps, card.point2node) == ("tiny", 0, 2, __version__)
    assert (card.data, card.data_checksum) == (str(rooms.path.resolve()), rooms.checksum)
    assert (card.training, card.validation, card.test_split) == (4, 1, "test")
    assert [one.name for one in card.classes] == [one.name for one in rooms.classes]
    assert finished.finished


@pytest.mark.parametrize(("make", "found"), [(True, "a folder without a run.json"), (False, "nothing there")])
def test_what_is_no_run_is_refused(make, found, tmp_path):
    run = RunFolder(tmp_path / "run")
    if make:
        run.path.mkdir()
    assert not run.exists
    for read in (run.read_card, run.read_settings):
        with pytest.raises(InputError, match=f"a run folder made by 'point2node train', found {found}"):
            read()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"format": 1}', b"[1]"])
def test_a_damaged_card_is_refused_in_one_line(content, tmp_path):
    run = RunFolder(tmp_path)
    run.card.write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json: expected the card of a run") as caught:
        run.read_card()
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path, finished):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder that can be written"):
        RunFolder(tmp_path / "file" / "run").create(quick(), finished.read_card())


def test_the_card_comes_after_the_settings(tmp_path, finished, monkeypatch):
    run = RunFolder(tmp_path / "run")
    card = finished.read_card()
    monkeypatch.setattr("point2node.weights.run_folder.dump_json", None)  # a kill before the card
    with pytest.raises(TypeError):
        run.create(quick(), card)
    assert not run.exists


def test_json_is_whole_and_readable(tmp_path):
    run = RunFolder(tmp_path)
    run.write_json(run.evaluations / "one.json", {"ä": 1})
    assert json.loads((run.evaluations / "one.json").read_text(encoding="utf-8")) == {"ä": 1}


def test_a_run_is_called_by_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert RunFolder(tmp_path / "one" / ".." / "two").name == "two"
