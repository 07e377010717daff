from dataclasses import replace

import pytest

from point2node.core.errors import InputError
from point2node.inference.labeller import Options, SceneLabeller
from point2node.training.adaptation_request import FROM_WEIGHTS, Request, refuse_other_request, training_settings
from point2node.weights.run_folder import RunFolder
from point2node.weights.trained import load_trained
from tests.inference.labellers import write_real_weights


@pytest.fixture
def scan(tmp_path):
    file = tmp_path / "scan.ply"
    file.write_text("any file")
    return file


def request_for(scan, *words, **changes):
    return Request((scan,), "weights", Options(), words=words, **changes)


def test_network_and_input_are_those_of_the_weights_and_the_rest_is_the_presets(scan, tmp_path):
    trained = load_trained(str(write_real_weights(tmp_path / "w.safetensors", block_side=2.0, features=("height",))))
    settings, data = training_settings(request_for(scan, "learning_rate=0.01"), trained)
    for key in FROM_WEIGHTS:
        assert getattr(settings, key) == getattr(trained.card, key), key
    assert {"features", "points", "block_side", "frame", "model", "size", "width", "chi_start"} <= FROM_WEIGHTS
    assert settings.learning_rate == 0.01
    assert settings.ema_decay is not None
    assert (settings.dataset, settings.validation_scenes, data) == ("rooms", 0, None)


def test_labelled_data_is_that_of_the_run_unless_other_data_is_given(scan, finished, rooms, tmp_path):
    trained = load_trained(str(finished.path))
    assert training_settings(request_for(scan), trained)[1] == rooms.path
    settings, data = training_settings(request_for(scan, data=tmp_path), trained)
    assert (settings.dataset, data) == ("folder", tmp_path)


@pytest.mark.parametrize("word", ["size=tiny", "features=[]", "start=rooms", "target=x", "dataset=folder", "points=64"])
def test_settings_of_the_weights_cannot_be_given(scan, word):
    with pytest.raises(InputError, match="found one of the weights"):
        request_for(scan, word)


def test_steps_count_where_they_are_given(scan):
    assert request_for(scan, "steps=3").gives_steps
    assert not request_for(scan, "steps=null", minutes=3.0).gives_steps
    for changes in ({"sure": 0.0}, {"sure": 1.5}, {"rounds": 0}, {"norm_share": -0.1}):
        with pytest.raises(InputError):
            request_for(scan, **changes)


def test_only_the_same_request_is_gone_on_with(scan, tmp_path):
    labeller = SceneLabeller(load_trained(str(write_real_weights(tmp_path / "w.safetensors"))))
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    file = run.path / "request.json"
    request = request_for(scan, "steps=2")
    refuse_other_request(run, file, request.as_note(labeller))
    run.write_json(file, request.as_note(labeller))
    refuse_other_request(run, file, request.as_note(labeller))
    with pytest.raises(InputError, match="expected the rounds that it was started with"):
        refuse_other_request(run, file, replace(request, rounds=3).as_note(labeller))
    scan.write_text("a longer file")
    with pytest.raises(InputError, match="expected the scans that it was started with"):
        refuse_other_request(run, file, request.as_note(labeller))
