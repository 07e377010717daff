import shutil

import numpy as np
import pytest
import torch

from point2node.cli.progress import SilentWatch
from point2node.core.classes import S3DIS, SemanticClass
from point2node.core.errors import InputError
from point2node.data.samples import MixedSources, RoomBlocks
from point2node.evaluation.splits import divide
from point2node.training.launch import begin, resume
from point2node.training.loop import FINAL_FILES
from point2node.training.setup import build_source, labelled_share, start_from
from point2node.weights.cards import card_of, read_weights, write_weights
from point2node.weights.run_folder import RunFolder
from tests.training.stores import ignore, quick, random_cloud, write_scenes


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A scan of which every fourth point has a label."""
    cloud = random_cloud(400, seed=7)
    labels = np.where(np.arange(400) % 4, 255, cloud.labels)
    folder = tmp_path_factory.mktemp("target") / "store"
    return write_scenes(folder, {"train": ("scan",)}, ignored=(255,), clouds={"scan": cloud.with_(labels=labels)})


def samples_of(source):
    return [source.draw(number, np.random.default_rng(number)) for number in range(len(source))]


def test_samples_come_from_both_stores_and_weigh_what_the_settings_say(rooms, target):
    settings = quick(f"target={target.path}", "target_share=0.25", "source_weight=0.5", "target_weight=2")
    source = build_source(settings, rooms, divide(settings, rooms).training)
    assert isinstance(source, MixedSources)
    drawn = samples_of(source)
    from_target = [sample for sample in drawn if sample.scene == "scan"]
    assert len(from_target) / len(drawn) == pytest.approx(0.25, abs=0.1)
    assert labelled_share(target) == 0.25
    assert {sample.weight for sample in from_target} == {2 / 0.25}
    assert {sample.weight for sample in drawn if sample.scene != "scan"} == {0.5}
    assert {label for sample in from_target for label in sample.labels} <= set(range(-1, 13))
    assert np.mean([sample.labels >= 0 for sample in from_target]) == pytest.approx(0.25, abs=0.15)


def test_without_a_target_samples_are_blocks_of_weight_1(rooms):
    settings = quick()
    source = build_source(settings, rooms, divide(settings, rooms).training)
    assert isinstance(source, RoomBlocks)
    assert {sample.weight for sample in samples_of(source)} == {1.0}


def test_a_target_with_other_classes_or_without_labels_is_refused(rooms, tmp_path):
    other = write_scenes(tmp_path / "other", {"train": ("a",)}, classes=S3DIS[:5])
    cloud = random_cloud(100)
    empty = write_scenes(
        tmp_path / "empty", {"train": ("a",)}, clouds={"a": cloud.with_(labels=np.full(100, 255))}, ignored=(255,)
    )
    for store, message in ((other, "expected the classes of"), (empty, "expected labelled points, found none")):
        settings = quick(f"target={store.path}")
        with pytest.raises(InputError, match=message):
            build_source(settings, rooms, divide(settings, rooms).training)


@pytest.mark.parametrize(
    ("words", "preset", "message"),
    [
        (("target=x",), "modelnet10", "null for shapes"),
        (("target=x", "source_weight=0", "target_weight=0"), "tiny", "above 0"),
    ],
)
def test_targets_that_make_no_sense_are_refused(words, preset, message):
    with pytest.raises(InputError, match=message):
        quick(*words, preset=preset)


def test_a_run_with_a_target_is_resumed_to_the_same_bytes(rooms, target, tmp_path):
    class StoppedError(Exception):
        pass

    class StoppingWatch(SilentWatch):
        def step(self, step, epoch, values):
            if step == 2:
                raise StoppedError

    settings = quick(f"target={target.path}", "steps=3", "checkpoint_seconds=0.001", "ema_decay=0.9")
    assert begin("tiny", settings, rooms.path, RunFolder(tmp_path / "whole"), SilentWatch(), ignore).finished
    with pytest.raises(StoppedError):
        begin("tiny", settings, rooms.path, RunFolder(tmp_path / "run"), StoppingWatch(), ignore)
    assert resume(RunFolder(tmp_path / "run"), None, ["num_workers=1"], None, SilentWatch(), ignore).finished
    for name in FINAL_FILES:
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


OTHERS = tuple(SemanticClass(name, number, (number, 0, 0)) for number, name in enumerate(("low", "middle", "high")))


def test_all_weights_are_taken_over(finished, rooms):
    card = card_of(quick(), rooms)
    network = card.build()
    told = start_from(network, card, str(finished.path))
    expected, _ = read_weights(finished.best)
    assert told == f"started from {finished.path}"
    ours, theirs = network.state_dict(), expected.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_training_starts_from_the_mean_of_several_weights(finished, rooms, tmp_path):
    card = card_of(quick(), rooms)
    other = card.build()
    write_weights(tmp_path / "a,b.safetensors", other.state_dict(), card)
    network = card.build()
    assert start_from(network, card, str(tmp_path / "a,b.safetensors")).endswith("a,b.safetensors")
    shutil.copy(tmp_path / "a,b.safetensors", tmp_path / "b.safetensors")
    told = start_from(network, card, f"{finished.path},{tmp_path / 'b.safetensors'}")
    assert told == f"started from the mean of {finished.path}, {tmp_path / 'b.safetensors'}"
    first, second = read_weights(finished.best)[0].state_dict(), other.state_dict()
    for name, tensor in network.state_dict().items():
        if tensor.is_floating_point():
            torch.testing.assert_close(tensor, (first[name] + second[name]) / 2, msg=name)


def test_the_last_layer_stays_new_where_the_classes_are_others(finished, tmp_path):
    store = write_scenes(tmp_path / "store", {"train": ("a",)}, classes=OTHERS)
    card = card_of(quick("classes=null"), store)
    network = card.build()
    drawn = {name: tensor.clone() for name, tensor in network.head.logits.state_dict().items()}
    told = start_from(network, card, str(finished.path))
    assert "the classes are different" in told
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
    assert "which was trained on blocks in the frame of the room" in start_from(card.build(), card, str(finished.path))


@pytest.mark.parametrize("word", ["width=2", "variant=baseline"])
def test_another_network_is_refused_in_one_line(finished, rooms, word):
    card = card_of(quick(word), rooms)
    with pytest.raises(InputError, match=r"finished: expected .*, found "):
        start_from(card.build(), card, str(finished.path))


def test_a_training_begins_where_it_was_told_to_and_is_resumed_without_those_weights(finished, rooms, tmp_path):
    shutil.copy(finished.best, tmp_path / "start.safetensors")
    settings = quick(f"start={tmp_path / 'start.safetensors'}", "learning_rate=1e-12", "lowest_rate=0", "steps=1")
    run = RunFolder(tmp_path / "run")
    begin("tiny", settings, rooms.path, run, SilentWatch(), ignore)
    ours, theirs = read_weights(run.last)[0], read_weights(finished.best)[0]
    for (name, one), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0, msg=name)
    (tmp_path / "start.safetensors").unlink()
    run.summary.unlink()
    assert resume(run, None, [], rooms.path, SilentWatch(), ignore).finished
