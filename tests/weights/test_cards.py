import errno
import hashlib
import io
import json
import os
import pickle
import struct
from contextlib import contextmanager, suppress
from importlib import resources
from types import SimpleNamespace

import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from point2node.core.errors import InputError
from point2node.core.writing import replacing
from point2node.models import weights_file
from point2node.models.pretrained import pretrained_names
from point2node.models.weights_file import KEY, read_tensors, write_tensors
from point2node.weights.cards import card_of, check_points, check_task, read_model_card, read_weights, write_weights
from point2node.weights.trained import load_trained
from tests.training.stores import quick, write_scenes, write_shapes


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    store = write_scenes(tmp_path_factory.mktemp("store"), {"train": ("a",)}, points=20)
    return card_of(quick(), store)


@pytest.fixture(scope="module")
def network(card):
    torch.manual_seed(3)
    return card.build()


@pytest.fixture
def file(card, network, tmp_path):
    write_weights(tmp_path / "one.safetensors", network.state_dict(), card)
    return tmp_path / "one.safetensors"


def rewrite(file, change, note=None):
    """Write the file anew with its tensors changed."""
    tensors, old = read_tensors(file)
    change(tensors)
    write_tensors(file, tensors, json.dumps(old if note is None else note))


def refused(file, match):
    with pytest.raises(InputError, match=match) as caught:
        read_weights(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_weights_come_back_to_the_bit_with_their_card(file, card, network):
    found, its_card = read_weights(file)
    assert its_card == card
    assert not found.training
    ours, theirs = network.state_dict(), found.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_same_weights_give_the_same_bytes(file, card, network, tmp_path):
    shuffled = dict(reversed(list(network.state_dict().items())))
    write_weights(tmp_path / "elsewhere.safetensors", shuffled, card)
    assert (tmp_path / "elsewhere.safetensors").read_bytes() == file.read_bytes()


def test_the_file_says_nothing_of_times_paths_or_machines(file, card):
    assert set(json.loads(read_metadata(file)[KEY])) == set(type(card).model_fields)
    assert str(file.parent).encode() not in file.read_bytes()
    assert not {"steps", "seed", "num_workers", "data", "accelerator"} & set(type(card).model_fields)


def read_metadata(file):
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])["__metadata__"]


class Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth", ".ckpt"])
@pytest.mark.parametrize("form", ["pickle", "torch", "legacy torch"])
def test_a_pickle_is_refused_whatever_it_is_called_and_nothing_of_it_is_executed(suffix, form, tmp_path):
    trace, stream = tmp_path / "trace", io.BytesIO()
    content = {"weight": Trap(trace)}
    if form == "pickle":
        pickle.dump(content, stream)
    else:
        torch.save(content, stream, _use_new_zipfile_serialization=form == "torch")
    file = tmp_path / f"weights{suffix}"
    file.write_bytes(stream.getvalue())
    refused(file, "safetensors format.*Pickled weights are not read")
    assert not trace.exists()
    pickle.loads(pickle.dumps(content))["weight"].close()  # the trap works
    assert trace.exists()


def test_a_pickle_inside_the_note_stays_text(file, tmp_path):
    trace = tmp_path / "trace"
    write_tensors(file, {}, pickle.dumps(Trap(trace), protocol=0).decode())
    refused(file, "a 'point2node' note")
    assert not trace.exists()


@pytest.mark.parametrize("length", [0, 1, 7, 8, 100, -1])
def test_a_truncated_file_is_refused(file, length):
    file.write_bytes(file.read_bytes()[:length])
    refused(file, "safetensors format")


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 3000), byte=st.integers(0, 255))
def test_a_damaged_byte_in_the_header_is_refused_or_changes_nothing_that_matters(file, place, byte):
    content = bytearray(file.read_bytes())
    content[place] = byte
    damaged = file.with_name("damaged.safetensors")
    damaged.write_bytes(content)
    with suppress(InputError):  # any other exception is our bug, and fails the test
        read_weights(damaged)


def test_foreign_safetensors_are_refused(tmp_path):
    file = tmp_path / "foreign.safetensors"
    safetensors.torch.save_file({"weight": torch.zeros(3)}, file)
    refused(file, "weights with a 'point2node' note, found none")


@pytest.mark.parametrize("note", ["{", "[" * 100_000, '"text"', "{}", '{"format": 1}'])
def test_a_note_that_is_no_card_is_refused(note, file):
    write_tensors(file, {}, note)
    refused(file, "note")


def test_a_missing_tensor_is_named(file):
    rewrite(file, lambda tensors: tensors.pop("head.logits.bias"))
    refused(file, r"with 'head\.logits\.bias', found none of that name")


def test_a_tensor_of_another_shape_is_named(file):
    rewrite(file, lambda tensors: tensors.update({"head.logits.bias": torch.zeros(14)}))
    refused(file, r"'head\.logits\.bias' of shape \(13,\), found \(14,\)")


def test_a_tensor_too_many_is_named(file):
    rewrite(file, lambda tensors: tensors.update({"spare": torch.zeros(1)}))
    refused(file, "found 'spare' as well")


def test_a_card_that_asks_for_a_giant_is_refused_before_anything_is_allocated(file, card):
    rewrite(file, lambda tensors: None, card.model_dump(mode="json") | {"width": 10**6})
    refused(file, "of shape")


def test_a_card_of_an_unknown_network_is_refused(file, card):
    rewrite(file, lambda tensors: None, card.model_dump(mode="json") | {"model": "point3node"})
    with pytest.raises(InputError, match="Did you mean 'point2node'"):
        read_weights(file)


@pytest.mark.parametrize(("make", "found"), [(lambda path: None, "nothing"), (lambda path: path.mkdir(), "a folder")])
def test_what_is_no_file_is_refused(make, found, tmp_path):
    make(tmp_path / "it.safetensors")
    refused(tmp_path / "it.safetensors", f"found {found}")


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk_leaves_the_previous_file_and_nothing_else(where, file, card, network, monkeypatch):
    before = file.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def replacing_on_a_full_disk(path):
        with replacing(path):
            yield SimpleNamespace(write=fail)

    if where == "fsync":
        monkeypatch.setattr(weights_file.os, "fsync", fail)
    else:
        monkeypatch.setattr(weights_file, "replacing", replacing_on_a_full_disk)
    with pytest.raises(InputError, match=r"one\.safetensors: expected a file that can be written, found no space left"):
        write_weights(file, network.state_dict(), card)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_samples_too_small_for_the_network_are_refused(card, network):
    check_points(card, network)
    with pytest.raises(InputError, match=r"^points: expected at least 192, .* of point2node 'tiny', found 191"):
        check_points(card.model_copy(update={"points": 191}), network)


def test_a_network_for_the_other_task_is_refused(tmp_path):
    card = card_of(quick("classes=null", "features=[]"), write_shapes(tmp_path / "store"))
    with pytest.raises(InputError, match="size 'tiny': expected a network for classification, found one for segm"):
        check_task(card, card.build())


def test_a_size_that_is_none_is_named_with_its_key(card):
    with pytest.raises(InputError, match=r"^size: expected one of s3dis, .*, found 'nix'"):
        card.model_copy(update={"size": "nix"}).build()


FOLDER = resources.files("point2node") / "weights"


def test_the_default_of_predict_is_shipped():
    assert "rooms" in pretrained_names()
    assert load_trained("rooms").card.task == "segmentation"


@pytest.mark.parametrize("name", pretrained_names())
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
    with pytest.raises(InputError, match=r"a\.json: expected the card of a pretrained model"):
        read_model_card(tmp_path / "a.json")


def test_all_weights_together_stay_small():
    sizes = [len((FOLDER / f"{name}.safetensors").read_bytes()) for name in pretrained_names()]
    assert sum(sizes) <= 30e6
