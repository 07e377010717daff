import shutil

import pytest
import torch

from point2node.cli.progress import SilentWatch
from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError
from point2node.training.launch import begin, resume
from point2node.training.starting import start_from
from point2node.weights.cards import card_of, read_weights
from point2node.weights.run_folder import RunFolder
from tests.training.stores import ignore, quick, write_scenes

OTHERS = tuple(SemanticClass(name, number, (number, 0, 0)) for number, name in enumerate(("low", "middle", "high")))


def test_all_weights_are_taken_over(finished, rooms):
    card = card_of(quick(), rooms)
    network = card.build()
    told = start_from(network, card, str(finished.path))
    expected, _ = read_weights(finished.best)
    assert told == f"begun from {finished.path}"
    ours, theirs = network.state_dict(), expected.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_the_last_layer_stays_new_where_the_classes_are_others(finished, tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a",)}, classes=OTHERS)
    card = card_of(quick("classes=null"), store)
    network = card.build()
    drawn = {name: tensor.clone() for name, tensor in network.head.logits.state_dict().items()}
    told = start_from(network, card, str(finished.path))
    assert "the classes are others" in told
    assert all(torch.equal(tensor, drawn[name]) for name, tensor in network.head.logits.state_dict().items())
    expected, _ = read_weights(finished.best)
    kept = [name for name in expected.state_dict() if not name.startswith("head.logits")]
    assert all(torch.equal(network.state_dict()[name], expected.state_dict()[name]) for name in kept)


@pytest.mark.parametrize("features", ["[]", "[normals]"])
def test_another_input_is_refused_even_where_it_is_as_wide(finished, rooms, features):
    card = card_of(quick(f"features={features}"), rooms)
    with pytest.raises(InputError, match=r"features: expected xyz \+ rgb, the input of .*finished, found xyz"):
        start_from(card.build(), card, str(finished.path))


def test_another_frame_is_told(finished, rooms):
    card = card_of(quick("frame=block"), rooms)
    assert "which saw blocks in the frame of the room" in start_from(card.build(), card, str(finished.path))


@pytest.mark.parametrize("word", ["width=2", "variant=baseline"])
def test_another_network_is_refused_in_one_line(finished, rooms, word):
    card = card_of(quick(word), rooms)
    with pytest.raises(InputError, match=r"finished: expected .*, found "):
        start_from(card.build(), card, str(finished.path))


def test_a_training_begins_where_it_was_told_to_and_is_resumed_without_those_weights(finished, rooms, tmp_path):
    shutil.copy(finished.best, tmp_path / "begun.safetensors")
    settings = quick(f"start={tmp_path / 'begun.safetensors'}", "learning_rate=1e-12", "lowest_rate=0", "steps=1")
    run = RunFolder(tmp_path / "run")
    begin("tiny", settings, rooms.path, run, SilentWatch(), ignore)
    ours, theirs = read_weights(run.last)[0], read_weights(finished.best)[0]
    for (name, one), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0, msg=name)
    (tmp_path / "begun.safetensors").unlink()
    run.summary.unlink()
    assert resume(run, None, [], rooms.path, SilentWatch(), ignore).finished
