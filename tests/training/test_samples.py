import numpy as np
import pytest

from point2node.cli.progress import SilentWatch
from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.data.samples import MixedSources, RoomBlocks
from point2node.evaluation.splits import divide
from point2node.training.launch import begin, resume
from point2node.training.loop import FINAL_FILES
from point2node.training.samples import build_source, labelled_share
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
