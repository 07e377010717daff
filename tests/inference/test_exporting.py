import json
import sys

import numpy as np
import pytest
import torch

import point2node
from point2node.core.errors import InputError
from point2node.geometry.blocks import cut_blocks, training_group
from point2node.geometry.frames import FRAMES, place
from point2node.geometry.pyramid import build_pyramid
from point2node.inference.exporting import describe, export_onnx, input_names, inputs_of, record
from point2node.inference.labeller import Options, SceneLabeller
from point2node.models.catalogue import REFERENCE_MODELS
from point2node.weights.trained import Trained, load_trained
from tests.inference.labellers import card
from tests.small_networks import small_network, small_reference_model

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def blocks():
    """Two blocks of a generated room: coordinates of the block's frame, and colours as features."""
    room = point2node.generate_room(7, 0, points=20_000, styles="held_out")
    xyz, _ = room.local()
    numbers = cut_blocks(xyz, 0.0, np.random.default_rng(0))[:2]
    return [(FRAMES["block"](xyz[block]), room.rgb[block] / np.float32(255) - np.float32(0.5)) for block in numbers]


def batch_of(blocks, network, points):
    random = np.random.default_rng(points)
    groups = [training_group(np.arange(len(xyz)), points, random) for xyz, _ in blocks]
    xyz = np.stack([xyz[group] for (xyz, _), group in zip(blocks, groups, strict=True)])
    features = np.stack([features[group] for (_, features), group in zip(blocks, groups, strict=True)])
    pyramid = build_pyramid(torch.from_numpy(xyz), network.plan)
    return torch.from_numpy(features) if network.in_features else None, pyramid


def assert_equal_on_blocks(content, network, blocks, points, *, relative=False):
    """Within 1e-4; ``relative`` to the largest logit, for networks with weights that no training made."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == list(input_names(network))
    for size in points:
        for chosen in (blocks, blocks[:1]):
            features, pyramid = batch_of(chosen, network, size)
            (found,) = session.run(["logits"], inputs_of(features, pyramid))
            with torch.no_grad():
                expected = network(features, pyramid).numpy()
            scale = np.abs(expected).max() if relative else 1.0
            np.testing.assert_allclose(found, expected, atol=1e-4 * scale, rtol=0)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A small network and its file."""
    trained = Trained("small", small_network("segmentation", "point2node").float(), card(points=64), "best")
    path = tmp_path_factory.mktemp("exported") / "small.onnx"
    assert export_onnx(trained, path) < 1e-4
    return trained, path


def test_the_file_gives_the_logits_of_torch_for_any_batch_and_number_of_points(exported, blocks):
    trained, path = exported
    sizes = trained.network.plan.fewest_points, 64, 333
    assert_equal_on_blocks(path.read_bytes(), trained.network, blocks, sizes)


def test_the_file_says_how_its_inputs_are_made(exported):
    trained, path = exported
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    note = json.loads(session.get_modelmeta().custom_metadata_map["point2node"])
    assert note == json.loads(json.dumps(describe(trained)))
    assert note["features"] == ["rgb"]
    assert note["plan"]["level_sizes"] == [None, 20, 8]
    shapes = {one.name: one.shape for one in session.get_inputs()}
    assert shapes["encoder_0"] == ["batch", "points", 4]
    assert shapes["level_1"] == ["batch", 20]
    assert shapes["correlation"] == ["batch", "points", 6]


def test_networks_without_features_or_local_graph_have_no_input_for_them():
    names = input_names(small_network("classification", "self_only"))
    assert names == ("xyz", "level_1", "level_2", "encoder_0", "encoder_1", "encoder_2")


@pytest.mark.slow
def test_a_classifier_can_be_exported(blocks):
    network = small_network("classification", "point2node").float()
    assert_equal_on_blocks(record(network, 64, "{}"), network, blocks, points=(network.plan.fewest_points, 333))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REFERENCE_MODELS if name != "acnn"])
def test_reference_models_can_be_exported(name, blocks):
    network = small_reference_model(name, "segmentation").float()
    assert_equal_on_blocks(record(network, 128, "{}"), network, blocks, points=(128, 200), relative=True)


@pytest.mark.slow
def test_a_network_of_operations_that_onnx_lacks_is_refused_in_one_line():
    with pytest.raises(InputError, match="a network that ONNX can express, found operations that ONNX does not have"):
        record(small_reference_model("acnn", "segmentation").float(), 128, "{}")


@pytest.mark.slow
def test_the_pretrained_network_gives_the_same_logits_on_the_blocks_of_a_room():
    trained = load_trained("rooms")
    room = point2node.generate_room(7, 0, points=40_000, styles="held_out")
    scene = SceneLabeller(trained).scene(place(room, 1.0, "z", "room"), room, Options())
    rules = trained.card.block_rules
    numbers = cut_blocks(scene.xyz, 0.0, np.random.default_rng(0), rules)[:2]
    blocks = [(FRAMES["block"](scene.xyz[block]), scene.features(block)) for block in numbers]
    content = record(trained.network, trained.card.points, "{}")
    assert_equal_on_blocks(content, trained.network, blocks, points=(trained.card.points, 3000))


def test_a_missing_library_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(InputError, match=r"no onnxscript.*pip install 'point2node\[export\]'"):
        export_onnx(None, tmp_path / "small.onnx")


def test_a_folder_that_is_not_there_is_named_before_any_work(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        export_onnx(None, tmp_path / "missing" / "small.onnx")
