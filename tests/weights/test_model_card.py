import hashlib
from importlib import resources

import pytest

from point2node.core.errors import InputError
from point2node.models.pretrained import shipped_weights
from point2node.weights.model_card import read_model_card
from point2node.weights.trained import load_trained

FOLDER = resources.files("point2node") / "weights"


def test_the_default_of_predict_is_shipped():
    assert "rooms" in shipped_weights()
    assert load_trained("rooms").card.task == "segmentation"


@pytest.mark.parametrize("name", shipped_weights())
def test_shipped_weights_are_those_of_their_card(name):
    card = read_model_card(FOLDER / f"{name}.json")
    content = (FOLDER / f"{name}.safetensors").read_bytes()
    assert card.name == name
    assert hashlib.sha256(content).hexdigest() == card.sha256
    assert card.limits
    assert load_trained(name).card.step == card.steps
    for figure in card.figures:
        assert figure["protocol"]["data"]


def test_a_folder_of_scans_that_is_called_like_weights_is_no_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rooms").mkdir()
    assert load_trained("rooms").weights == "shipped"


def test_a_card_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InputError, match=r"a\.json: expected the card of shipped weights"):
        read_model_card(tmp_path / "a.json")


def test_all_weights_together_stay_small():
    sizes = [len((FOLDER / f"{name}.safetensors").read_bytes()) for name in shipped_weights()]
    assert sum(sizes) <= 30e6
