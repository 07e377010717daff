"""Networks are saved, found and loaded by name; what is read is data, and what does not fit is refused in one line."""

import inspect
import json
import shutil
import sys
from importlib import resources
from pathlib import Path

import pytest
import torch

from point2node.core.errors import InputError
from point2node.models.catalogue import create_model
from point2node.models.network import Network
from point2node.models.point2node.design import Design
from point2node.models.point2node.network import Point2NodeClassifier, Point2NodeSegmenter
from point2node.models.pretrained import CONFIG, MODEL, README, HubOptions, pretrained_file, pretrained_names
from point2node.models.weights_file import read_tensors, write_tensors
from tests.local_hub import LocalHub
from tests.small_networks import small_network


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(0)
    model = create_model(
        preset="tiny", num_classes=4, in_features=0, dropout=0.1, design=Design(correlation_scale=True)
    )
    return model, model.save_pretrained(tmp_path / "mine")


def assert_same(one, other):
    ours, theirs = one.state_dict(), other.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def refused(name, match):
    with pytest.raises(InputError, match=match) as caught:
        Network.from_pretrained(name)
    assert "\n" not in str(caught.value)


def test_a_saved_network_comes_back_from_its_folder_and_from_its_file(saved):
    model, folder = saved
    for name in (folder, str(folder), folder / MODEL):
        found = Network.from_pretrained(name)
        assert not found.training
        assert found.card == model.card
        assert_same(found, model)


def test_a_folder_holds_what_the_hub_asks_for_and_no_pickle(saved):
    model, folder = saved
    assert sorted(path.name for path in folder.iterdir()) == sorted([MODEL, CONFIG, README])
    assert json.loads((folder / CONFIG).read_text()) == model.card
    assert 'from_pretrained("mine")' in (folder / README).read_text()


def test_a_readme_that_is_there_stays(saved):
    model, folder = saved
    (folder / README).write_text("mine")
    model.save_pretrained(folder)
    assert (folder / README).read_text() == "mine"


@pytest.mark.parametrize(("name", "kind"), [("rooms", Point2NodeSegmenter), ("modelnet10", Point2NodeClassifier)])
def test_shipped_weights_are_loaded_by_name_as_the_class_that_they_are_of(name, kind):
    assert type(kind.from_pretrained(name)) is kind
    other = Point2NodeClassifier if kind is Point2NodeSegmenter else Point2NodeSegmenter
    with pytest.raises(InputError, match=f"expected weights of a {other.__name__}, found those of a {kind.__name__}"):
        other.from_pretrained(name)


def test_weights_that_were_loaded_keep_their_card_when_they_are_saved(tmp_path):
    model = Network.from_pretrained("rooms")
    again = Network.from_pretrained(model.save_pretrained(tmp_path / "again"))
    assert again.card == model.card
    assert [one["name"] for one in again.card["classes"]][:2] == ["ceiling", "floor"]


def test_a_folder_of_scans_called_like_shipped_weights_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rooms").mkdir()
    assert Network.from_pretrained("rooms").card["dataset"] == "rooms"


def test_damaged_shipped_weights_are_refused(tmp_path, monkeypatch):
    shutil.copytree(resources.files("point2node") / "weights", tmp_path / "weights")
    file = tmp_path / "weights/rooms.safetensors"
    content = file.read_bytes()
    file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    with pytest.raises(InputError, match="install point2node again"), pretrained_file("rooms"):
        pass


def test_what_is_not_there_is_refused_with_what_could_be(tmp_path):
    refused(
        "no-such-weights", rf"a pretrained model \({', '.join(pretrained_names())}\), a folder, .* found nothing there"
    )
    refused(tmp_path, "a folder with model.safetensors, or best.safetensors of a training, found neither")
    refused(tmp_path / "user/name", "found nothing there")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"size": 3}, "'size' in its note"),
        ({"model": "point3node"}, "Did you mean 'point2node'"),
        ({"width": 10**6}, "of shape"),
        ({"num_classes": 5}, "of shape"),
        ({"chi_start": "x"}, "'design.chi_start' in its note"),
        ({"features": [["rgb"]]}, "unknown feature"),
    ],
)
def test_a_note_that_does_not_fit_is_refused(change, match, saved):
    model, folder = saved
    write_tensors(folder / MODEL, read_tensors(folder / MODEL)[0], json.dumps({**model.card, **change}))
    refused(folder, match)


def test_a_pickle_is_not_opened(tmp_path):
    torch.save({}, tmp_path / MODEL)
    refused(tmp_path, "Pickled weights are not read")


def test_a_network_put_together_by_hand_cannot_be_saved(tmp_path):
    with pytest.raises(InputError, match="expected one that create_model made"):
        small_network("segmentation", "point2node").save_pretrained(tmp_path)


def test_classes_that_are_not_the_networks_are_refused_before_anything_is_written(saved, tmp_path):
    with pytest.raises(
        InputError, match="expected 4 classes and features of width 0, as the network has, found 2 and 3"
    ):
        saved[0].save_pretrained(tmp_path / "x", trained_on={"classes": ["a", "b"], "features": ["rgb"]})
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written_is_named(saved, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/mine: expected a folder that can be written, found not a directory"):
        saved[0].save_pretrained(tmp_path / "file/mine")


@pytest.fixture
def local_hub(tmp_path, monkeypatch):
    stand_in = LocalHub(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    monkeypatch.chdir(tmp_path)
    return stand_in


def test_a_network_goes_to_the_hub_and_comes_back(saved, local_hub):
    model, _ = saved
    address = model.push_to_hub("somebody/chairs", private=True, commit_message="first", branch="v1")
    assert address == "hub/somebody/chairs/commit/1"
    assert 'from_pretrained("somebody/chairs")' in (local_hub.root / "somebody/chairs" / README).read_text()
    found = Network.from_pretrained("somebody/chairs", revision="v1")
    assert_same(found, model)
    assert local_hub.calls == [
        ("somebody/chairs", None, {"commit_message": "first", "revision": "v1", "create_pr": None}),
        ("somebody/chairs", [MODEL, CONFIG], {"revision": "v1"}),
    ]


def test_a_folder_that_is_there_goes_before_the_hub(saved, local_hub):
    saved[0].save_pretrained("somebody/chairs")
    Network.from_pretrained("somebody/chairs")
    assert not local_hub.calls


def test_a_path_is_never_looked_for_on_the_hub(local_hub):
    refused(Path("somebody/chairs"), "found nothing there")
    refused("../chairs", "found nothing there")
    assert not local_hub.calls


def test_a_repository_that_cannot_be_reached_is_one_line(local_hub):
    refused("somebody/nothing", "somebody/nothing: expected a repository that can be downloaded, found 404")


def test_without_the_library_the_error_says_what_to_install(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    refused("somebody/chairs", r"pip install 'point2node\[hub\]'")
    with pytest.raises(InputError, match=r"pip install 'point2node\[hub\]'"):
        saved[0].push_to_hub("somebody/chairs")


def test_the_real_library_takes_what_it_is_given():
    library = pytest.importorskip("huggingface_hub")
    download = dict.fromkeys(HubOptions.__annotations__)
    inspect.signature(library.snapshot_download).bind("a/b", allow_patterns=[], **download)
    api = library.HfApi
    inspect.signature(api.create_repo).bind(None, "a/b", private=None, exist_ok=True)
    inspect.signature(api.create_branch).bind(None, "a/b", branch="b", exist_ok=True)
    given = dict.fromkeys(["repo_id", "folder_path", "commit_message", "revision", "create_pr"])
    inspect.signature(api.upload_folder).bind(None, **given)
