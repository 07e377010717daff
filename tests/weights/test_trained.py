import hashlib
import shutil
from importlib import resources

import pytest
import torch

from point2node.core.errors import InputError
from point2node.models import pretrained
from point2node.models.catalogue import create_model
from point2node.weights.cards import read_model_card, read_weights
from point2node.weights.trained import load_trained


def test_a_run_folder_gives_its_best_or_its_last_weights(finished):
    for which in ("best", "last"):
        found = load_trained(str(finished.path), which)
        expected, card = read_weights(finished.path / f"{which}.safetensors")
        assert found.card == card
        assert (found.name, found.weights) == ("finished", which)
        assert found.settings == finished.read_settings()
        assert found.run_card == finished.read_card()
        ours, theirs = found.network.state_dict(), expected.state_dict()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_file_needs_nothing_beside_it(finished, tmp_path):
    shutil.copy(finished.best, tmp_path / "mine.safetensors")
    found = load_trained(str(tmp_path / "mine.safetensors"))
    assert (found.name, found.run, found.settings) == ("mine", None, None)
    for name in (str(tmp_path / "mine.safetensors"), "rooms"):
        with pytest.raises(InputError, match="--weights: expected a run folder"):
            load_trained(name, "calibrated")


def test_shipped_weights_are_found_by_name(finished, tmp_path, monkeypatch):
    (tmp_path / "weights").mkdir()
    shutil.copy(finished.best, tmp_path / "weights" / "rooms.safetensors")
    shipped = read_model_card(resources.files("point2node") / "weights" / "rooms.json")
    checksum = hashlib.sha256(finished.best.read_bytes()).hexdigest()
    card = shipped.model_copy(update={"sha256": checksum}).model_dump_json()
    (tmp_path / "weights" / "rooms.json").write_text(card)
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    assert pretrained.pretrained_names() == ("rooms",)
    assert load_trained("rooms").weights == "shipped"
    assert load_trained("rooms").settings == shipped.settings
    with pytest.raises(InputError, match=r"a pretrained model \(rooms\), found nothing there"):
        load_trained("room")


def test_a_folder_that_a_network_was_saved_in_needs_no_run(finished, tmp_path):
    trained = load_trained(str(finished.path))
    trained.network.save_pretrained(tmp_path / "mine")
    found = load_trained(tmp_path / "mine")
    assert (found.name, found.weights, found.run, found.card) == ("mine", "saved", None, trained.card)
    with pytest.raises(InputError, match="--weights: expected a run folder"):
        load_trained(tmp_path / "mine", "last")


def test_a_network_without_the_names_of_its_classes_cannot_label(tmp_path):
    create_model(preset="tiny").save_pretrained(tmp_path / "mine")
    with pytest.raises(InputError, match="expected weights that name their classes and features, found a network"):
        load_trained(tmp_path / "mine")


def test_an_unknown_name_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"no-such-run: expected a run folder, a \.safetensors file or a pretrained"):
        load_trained("no-such-run")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"without a run\.json"):
        load_trained(str(tmp_path))


def test_a_run_without_validated_weights_says_what_to_do(finished, tmp_path):
    shutil.copytree(finished.path, tmp_path / "run")
    (tmp_path / "run" / "best.safetensors").unlink()
    with pytest.raises(InputError, match=r"the best weights of the run, found none yet.*--weights last"):
        load_trained(str(tmp_path / "run"))
    assert load_trained(str(tmp_path / "run"), "last").weights == "last"
