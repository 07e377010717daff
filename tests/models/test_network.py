"""What must hold for every network of the catalogue, in both tasks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from point2node.core.errors import InputError
from point2node.geometry.coordinates import room_frame, unit_sphere
from point2node.geometry.pyramid import build_pyramid
from point2node.models.catalogue import MODELS, ONE_TASK, REFERENCE_MODELS, create_model
from point2node.models.point2node.stages import JOINT
from point2node.models.reference.gacnet import GacNet
from tests.small_networks import random_input, renumber, small_network, small_reference_model

TASKS = ("segmentation", "classification")
REFERENCE_MODELS_IN_TASKS = [
    (name, task) for name in REFERENCE_MODELS for task in TASKS if ONE_TASK.get(name, task) == task
]
EVERY_NETWORK = pytest.mark.parametrize(
    ("name", "task", "variant"),
    [
        *(("point2node", task, variant) for task in TASKS for variant in ("point2node", *JOINT)),
        *((name, task, variant) for name, task in REFERENCE_MODELS_IN_TASKS for variant in (None, "point2node")),
    ],
)
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)


def network(name, task, variant):
    return small_network(task, variant) if name == "point2node" else small_reference_model(name, task, variant)


def crowded_input(model, clouds=4):
    """Clouds dense enough that balls of the published radii hold several points, GACNet's coarsest ones not all."""
    return random_input(model, clouds, points=128, side=0.7 if isinstance(model, GacNet) else 0.4)


@EVERY_NETWORK
def test_every_parameter_receives_a_gradient(name, task, variant):
    model = network(name, task, variant).train()
    (model(*crowded_input(model)) ** 2).sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert torch.isfinite(parameter.grad).all(), parameter_name
        assert torch.count_nonzero(parameter.grad), parameter_name


@EVERY_NETWORK
def test_renumbering_the_points_only_renumbers_the_result(name, task, variant):
    model = network(name, task, variant)
    features, pyramid = crowded_input(model, clouds=2)
    generator = torch.Generator().manual_seed(1)
    orders = [torch.randperm(level.shape[1], generator=generator) for level in pyramid.levels]
    logits = model(features, pyramid)
    expected = logits[:, orders[0]] if task == "segmentation" else logits
    given = None if features is None else features[:, orders[0]]
    renumbered = model(given, renumber(pyramid, model.plan, orders))
    torch.testing.assert_close(renumbered, expected, rtol=1e-10, atol=1e-12)


@EVERY_NETWORK
def test_a_batch_of_clouds_gives_the_same_result_as_each_cloud_alone(name, task, variant):
    model = network(name, task, variant)
    xyz = torch.rand(3, 128, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    features = xyz if model.in_features else None
    batch = model.run(xyz, features)
    for b in range(3):
        alone = model.run(xyz[b], None if features is None else features[b])
        torch.testing.assert_close(batch[b], alone, rtol=1e-10, atol=1e-12)


@EVERY_NETWORK
def test_a_model_says_what_it_is_made_for_and_runs_on_arrays(name, task, variant):
    model = network(name, task, variant).train()
    xyz = np.random.default_rng(0).random((128, 3))
    logits = model.run(xyz, xyz if model.in_features else None)
    assert model.task == task
    assert isinstance(logits, np.ndarray)
    assert logits.shape == ((128, 5) if task == "segmentation" else (5,))
    assert np.isfinite(logits).all()
    assert model.training
    assert model.macs(128) > 0


@pytest.mark.parametrize("kind", ["reversed", "other byte order", "protected", "by columns", "a list"])
def test_arrays_of_every_kind_are_run(kind):
    model = small_network("segmentation", "point2node")
    xyz = np.random.default_rng(0).random((128, 3))
    given = {
        "reversed": xyz[::-1].copy()[::-1],
        "other byte order": xyz.astype(">f8"),
        "protected": xyz.copy(),
        "by columns": np.asfortranarray(xyz),
        "a list": xyz.tolist(),
    }[kind]
    if kind == "protected":
        given.flags.writeable = False
    np.testing.assert_array_equal(model.run(given, given), model.run(xyz, xyz))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["point2node", "pointnet"])
def test_on_plain_tensors_a_network_builds_its_pyramid_itself(name, task):
    model = network(name, task, "point2node")
    xyz = torch.rand(2, 128, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    features = xyz if model.in_features else None
    logits = model(xyz, features)
    assert logits.requires_grad
    torch.testing.assert_close(logits, model.run(xyz, features), rtol=1e-10, atol=1e-12)
    frame = {"segmentation": room_frame, "classification": unit_sphere}[task](xyz).double()
    torch.testing.assert_close(logits, model(features, build_pyramid(frame, model.plan)), rtol=0, atol=0)


def test_plain_tensors_train_in_the_mode_that_the_network_is_in():
    model = small_network("classification", "point2node").train()
    xyz = torch.rand(3, 128, 3, dtype=torch.float64, requires_grad=True)
    model(xyz).sum().backward()  # no features: this one takes xyz alone
    assert model.training
    assert torch.count_nonzero(xyz.grad)


def test_what_is_neither_coordinates_nor_a_pyramid_is_refused():
    model = small_network("segmentation", "point2node")
    with pytest.raises(InputError, match="expected coordinates or a pyramid, found neither"):
        model(None)
    with pytest.raises(InputError, match=r"^features: expected shape \(1, 128, 3\), found none"):
        model(torch.rand(128, 3))
    with pytest.raises(InputError, match=r"^xyz: expected coordinates of shape \(B, N, 3\), found shape \(2, 128, 4\)"):
        model(torch.rand(2, 128, 4))


def test_threads_that_run_a_network_in_training_do_not_disturb_each_other():
    model = small_network("segmentation", "point2node").train()
    model.head.eval()  # frozen by its owner
    modes = [module.training for module in model.modules()]
    buffers = [buffer.clone() for buffer in model.buffers()]
    xyz = np.random.default_rng(0).random((128, 3))
    expected = model.run(xyz, xyz)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: model.run(xyz, xyz), range(12)):
            np.testing.assert_array_equal(found, expected)
    assert [module.training for module in model.modules()] == modes
    assert all(torch.equal(before, after) for before, after in zip(buffers, model.buffers(), strict=True))


@EVERY_NETWORK
def test_in_training_a_segmenter_labels_points_and_a_classifier_the_cloud_or_its_nodes(name, task, variant):
    model = network(name, task, variant).train()
    logits = model(*crowded_input(model))
    if task == "segmentation":
        assert logits.shape == (4, 128, 5)
    else:
        assert logits.shape[0] == 4
        assert logits.shape[-1] == 5
        assert logits.ndim == (3 if name == "point2node" else 2)


@EVERY_NETWORK
def test_evaluation_adds_no_penalty_and_gives_the_same_bits_twice(name, task, variant):
    model = network(name, task, variant)
    features, pyramid = crowded_input(model)
    assert torch.equal(model(features, pyramid), model(features, pyramid))
    assert model.penalty() is None


@EVERY_MODEL
def test_the_same_seed_gives_the_same_bits_in_a_training_step(name):
    def step():
        torch.manual_seed(5)
        model = create_model(name, preset="tiny")
        xyz, rgb = torch.rand(2, 256, 3), torch.rand(2, 256, 3)
        model(rgb, build_pyramid(xyz, model.plan)).square().mean().backward()
        return [parameter.grad for parameter in model.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(step(), step(), strict=True))


@EVERY_MODEL
def test_input_that_the_network_was_not_made_for_is_refused(name):
    xyz = np.random.default_rng(0).random((256, 3))
    model = create_model(name, preset="tiny")
    with pytest.raises(InputError, match=r"shape \(1, 256, 3\), found none"):
        model.run(xyz)
    with pytest.raises(InputError, match="finite"):
        model.run(np.where(xyz > 0.99, np.nan, xyz), xyz)


@pytest.mark.parametrize(("name", "task"), REFERENCE_MODELS_IN_TASKS)
def test_the_correlations_stand_between_the_nodes_and_the_rest_of_the_network(name, task):
    model = small_reference_model(name, task, "point2node")
    features, pyramid = crowded_input(model, clouds=2)
    nodes = model._nodes(features, pyramid)
    assert nodes.shape == (2, model.plan.sizes(128)[model.node_level], model.node_channels)
    correlated = model.correlation(nodes, pyramid.correlation)
    torch.testing.assert_close(model(features, pyramid), model._label(correlated, features, pyramid))
    model.correlation = None
    torch.testing.assert_close(model(features, pyramid), model._label(nodes, features, pyramid))


@pytest.mark.parametrize("name", REFERENCE_MODELS)
def test_every_network_with_correlations_explains_itself_and_without_says_what_it_takes(name):
    model = small_reference_model(name, "segmentation", "point2node")
    xyz = np.random.default_rng(0).random((128, 3))
    explanation = model.explain(xyz, xyz, nodes=[3, 77])
    torch.testing.assert_close(explanation.non_local_rows.sum(-1), torch.ones(1, 2, dtype=torch.float64))
    with pytest.raises(InputError, match=r"one with correlations.*variant='point2node'"):
        small_reference_model(name, "segmentation").explain(xyz, xyz, nodes=[3])


def test_the_room_frame_is_centred_and_stands_on_the_floor():
    xyz = torch.tensor([[[10.0, 20.0, 5.0], [12.0, 26.0, 8.0]]])
    assert room_frame(xyz).tolist() == [[[-1.0, -3.0, 0.0], [1.0, 3.0, 3.0]]]


def test_the_unit_sphere_holds_the_centred_cloud_and_a_single_place_stays_finite():
    xyz = torch.tensor([[[1.0, 1.0, 1.0], [1.0, 1.0, 5.0]]])
    assert unit_sphere(xyz).tolist() == [[[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]]
    assert unit_sphere(torch.ones(1, 3, 3)).abs().max() == 0
