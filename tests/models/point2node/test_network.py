import numpy as np
import pytest
import torch

from point2node import VARIANTS, build_pyramid, create_model
from point2node.core.errors import InputError
from point2node.models.layers import Head
from point2node.models.point2node.design import Design
from tests.small_networks import random_input, small_network

TASKS = ("segmentation", "classification")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_parameter_of_every_variant_receives_a_gradient(task, variant):
    model = small_network(task, variant).train()
    features, pyramid = random_input(model)
    (model(features, pyramid) ** 2).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert torch.count_nonzero(parameter.grad), name


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_of_clouds_gives_the_same_result_as_each_cloud_alone(task, variant):
    model = small_network(task, variant)
    generator = torch.Generator().manual_seed(0)
    xyz = torch.rand(3, 40, 3, generator=generator, dtype=torch.float64)
    width = model.in_features
    features = torch.randn(3, 40, width, generator=generator, dtype=torch.float64) if width else None
    batch = model.run(xyz, features)
    for b in range(3):
        alone = model.run(xyz[b], None if features is None else features[b])
        torch.testing.assert_close(batch[b], alone, rtol=1e-10, atol=1e-12)


def test_a_segmenter_labels_points_and_a_classifier_labels_clouds():
    xyz, rgb = np.random.default_rng(0).random((2, 512, 3)), np.zeros((2, 512, 3))
    segmenter, classifier = create_model(preset="tiny"), create_model(preset="modelnet10")
    assert segmenter.run(xyz, rgb).shape == (2, 512, 13)
    assert segmenter.run(xyz[0], rgb[0]).shape == (512, 13)
    assert classifier.run(xyz).shape == (2, 10)
    assert classifier.run(xyz[0]).shape == (10,)


def test_in_training_the_classifier_gives_logits_at_every_node():
    model = small_network("classification", "point2node").train()
    assert model(*random_input(model)).shape == (2, 8, 5)


def test_arrays_give_arrays_and_tensors_give_tensors():
    model = create_model(preset="tiny", in_features=0)
    xyz = np.random.default_rng(0).random((300, 3))
    from_array, from_tensor = model.run(xyz), model.run(torch.from_numpy(xyz))
    assert isinstance(from_array, np.ndarray)
    assert isinstance(from_tensor, torch.Tensor)
    assert np.array_equal(from_array, from_tensor.numpy())


def test_map_coordinates_give_what_the_same_room_at_the_origin_gives():
    model = create_model(preset="tiny", in_features=0)
    xyz = (np.random.default_rng(0).integers(0, 4096, (300, 3)) / 1024).astype(np.float64)
    far = xyz + np.array([412_345.0, 5_312_000.0, 512.0])
    np.testing.assert_array_equal(model.run(far), model.run(xyz))


def test_the_size_of_a_shape_does_not_change_its_class():
    model = create_model(preset="modelnet10")
    xyz = np.random.default_rng(0).random((1024, 3))
    np.testing.assert_allclose(model.run(64 * xyz), model.run(xyz), rtol=1e-4, atol=1e-5)


def test_running_leaves_the_training_mode_and_the_statistics_alone():
    model = create_model(preset="tiny", in_features=0).train()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.run(np.random.default_rng(0).random((300, 3)))
    assert model.training
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.named_buffers())


def test_the_same_seed_gives_the_same_bits_in_a_training_step():
    def step():
        torch.manual_seed(5)
        model = create_model(preset="tiny")
        xyz, rgb = torch.rand(2, 512, 3), torch.rand(2, 512, 3)
        model(rgb, build_pyramid(xyz, model.plan)).square().mean().backward()
        return [parameter.grad for parameter in model.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(step(), step(), strict=True))


def test_a_saved_network_loads_into_a_fresh_one(tmp_path):
    first, second = create_model(preset="tiny", in_features=0), create_model(preset="tiny", in_features=0)
    torch.save(first.state_dict(), tmp_path / "weights.pt")
    second.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    xyz = np.random.default_rng(0).random((300, 3))
    np.testing.assert_array_equal(first.run(xyz), second.run(xyz))


def test_an_explanation_of_chosen_points_has_rows_that_sum_to_1():
    model = create_model(preset="tiny")
    xyz, rgb = np.random.default_rng(0).random((300, 3)), np.zeros((300, 3))
    explanation = model.explain(xyz, rgb, nodes=[0, 17, 299])
    assert explanation.non_local_rows.shape == (1, 3, 300)
    assert explanation.local_graph.shape == (1, 3, 8, 8)
    assert explanation.channel_weights.shape == (1, 3, 32)
    assert torch.equal(explanation.node_points[0], torch.arange(300))
    assert torch.equal(explanation.local_neighbours[0, :, 0], torch.tensor([0, 17, 299]))
    for rows in (explanation.non_local_rows, explanation.local_graph, explanation.channel_weights):
        torch.testing.assert_close(rows.sum(-1), torch.ones(rows.shape[:-1]))


def test_a_classifiers_nodes_are_traced_to_their_points():
    model = create_model(preset="modelnet10")
    explanation = model.explain(np.random.default_rng(0).random((1024, 3)), nodes=[0, 127])
    assert explanation.non_local_rows.shape == (1, 2, 128)
    assert explanation.node_points.shape == (1, 128)
    assert explanation.node_points.max() < 1024


GOOD = np.random.default_rng(0).random((300, 3))


@pytest.mark.parametrize(
    ("xyz", "features", "message"),
    [
        (GOOD[:, :2], GOOD, "xyz"),
        (GOOD[None, None], GOOD, "xyz"),
        (GOOD, None, r"shape \(1, 300, 3\), found none"),
        (GOOD, GOOD[:, :2], r"shape \(1, 300, 3\), found \(1, 300, 2\).*in_features=2"),
        (GOOD, GOOD[:299], r"shape \(1, 300, 3\), found \(1, 299, 3\)"),
        (np.where(GOOD > 0.99, np.nan, GOOD), GOOD, "finite"),
        (GOOD, np.where(GOOD > 0.99, np.inf, GOOD), "features: expected finite"),
        (GOOD[:100], GOOD[:100], r"at least 192 points .* found 100"),
        (GOOD[:0], GOOD[:0], "xyz"),
    ],
)
def test_bad_input_is_refused_with_what_was_expected_and_found(xyz, features, message):
    model = create_model(preset="tiny")
    with pytest.raises(InputError, match=message):
        model.run(xyz, features)
    with pytest.raises(InputError, match=message):
        model.explain(xyz, features, nodes=[0])


def test_features_for_a_network_without_any_are_refused():
    with pytest.raises(InputError, match=r"xyz only, found \(1, 300, 3\)"):
        create_model(preset="tiny", in_features=0).run(GOOD, GOOD)


def test_a_double_precision_pyramid_for_single_precision_weights_is_refused():
    model = create_model(preset="tiny", in_features=0)
    with pytest.raises(InputError, match=r"float32 coordinates.*float64.*shift_to_float32"):
        model(None, build_pyramid(torch.from_numpy(GOOD)[None], model.plan))


@pytest.mark.parametrize("nodes", [[300], [-1], []])
def test_explaining_nodes_that_do_not_exist_is_refused(nodes):
    with pytest.raises(InputError, match="nodes"):
        create_model(preset="tiny").explain(GOOD, GOOD, nodes=nodes)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["s3dis", "scannet", "modelnet40", "rooms"])
def test_a_network_of_the_papers_width_trains_a_step_and_teaches_every_parameter(preset):
    torch.manual_seed(0)
    model = create_model(preset=preset)
    width = model.in_features
    xyz = torch.rand(2, 2048, 3)
    model(torch.rand(2, 2048, width) if width else None, build_pyramid(xyz, model.plan)).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert torch.count_nonzero(parameter.grad), name


@pytest.mark.slow
def test_the_non_local_row_of_a_large_cloud_needs_no_square_matrix():
    model = create_model(preset="tiny", in_features=0)
    explanation = model.explain(np.random.default_rng(0).random((100_000, 3)), nodes=[5])  # N × N would be 40 GB
    assert explanation.non_local_rows.shape == (1, 1, 100_000)


def test_a_pooled_loss_sees_the_logits_of_the_averaged_features():
    torch.manual_seed(0)
    pooled = create_model(preset="modelnet40", dropout=0.0, design=Design(loss="pooled")).train()
    at_nodes = create_model(preset="modelnet40", dropout=0.0).train()
    at_nodes.load_state_dict(pooled.state_dict())
    pyramid = build_pyramid(torch.rand(2, 1024, 3), pooled.plan)
    logits = pooled(None, pyramid)
    assert logits.shape == (2, 40)
    torch.testing.assert_close(logits, at_nodes(None, pyramid).mean(dim=1), rtol=1e-4, atol=1e-4)


def test_a_pooled_loss_drops_features_of_the_whole_cloud():
    torch.manual_seed(0)
    head = Head(8, (8,), (0.5,), 3).train()
    head.logits = torch.nn.Identity()
    pooled = head.pooled(torch.randn(4, 100, 8))
    assert 0 < torch.count_nonzero(pooled == 0) < pooled.numel()
