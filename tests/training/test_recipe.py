import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from point2node.models.batch_norm import BatchNorm
from point2node.models.catalogue import MODELS, build_point2node, create_model
from point2node.models.point2node.design import Design
from point2node.training.recipe import (
    build_optimiser,
    learning_rate,
    likeliest_labels,
    loss_and_weight,
    recording_entropies,
    set_rate,
    spread_labels,
)
from tests.small_networks import CLASSIFICATION, random_input, small_network
from tests.training.stores import quick


@given(
    seed=st.integers(0, 2**32 - 1),
    balanced=st.booleans(),
    smoothing=st.sampled_from([0.0, 0.1, 0.9]),
    shape=st.sampled_from([(2, 5), (3,), (1, 1)]),
)
def test_the_loss_is_torchs_mean_cross_entropy(seed, balanced, smoothing, shape):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(*shape, 4, generator=generator, dtype=torch.float64)
    labels = torch.randint(-1, 4, shape, generator=generator)
    labels.view(-1)[0] = 2  # something is labelled
    weights = torch.rand(4, generator=generator, dtype=torch.float64) + 0.1 if balanced else None
    total, weight = loss_and_weight(logits, labels, weights, smoothing)
    expected = F.cross_entropy(
        logits.flatten(0, -2), labels.flatten(), weight=weights, ignore_index=-1, label_smoothing=smoothing
    )
    torch.testing.assert_close(total / weight, expected)


def test_every_node_is_to_say_what_the_cloud_is():
    logits, labels = torch.randn(2, 3, 4), torch.tensor([1, -1])
    assert spread_labels(logits, labels).tolist() == [[1, 1, 1], [-1, -1, -1]]
    total, weight = loss_and_weight(logits, labels, None, 0.0)
    torch.testing.assert_close(total, F.cross_entropy(logits[0], torch.tensor([1, 1, 1]), reduction="sum"))
    assert weight == 3


def test_nothing_labelled_weighs_nothing():
    total, weight = loss_and_weight(torch.randn(2, 3, 4), torch.full((2, 3), -1), None, 0.1)
    assert (total, weight) == (0, 0)


STEPPED = ("learning_rate=0.01", "schedule=steps", "decay_factor=0.8", "decay_every=5000", "lowest_rate=1e-6")


@pytest.mark.parametrize(
    ("words", "step", "expected"),
    [
        (STEPPED, 0, 0.01),
        (STEPPED, 4999, 0.01),
        (STEPPED, 5000, 0.008),
        (STEPPED, 10_000, 0.0064),
        (STEPPED, 9_999_999, 1e-6),
        ((*STEPPED, "warmup_steps=4"), 0, 0.0025),
        ((*STEPPED, "warmup_steps=4"), 3, 0.01),
        ((*STEPPED, "warmup_steps=4"), 5000, 0.008),
        (("learning_rate=0.5", "schedule=constant", "lowest_rate=0"), 99, 0.5),
        (("learning_rate=0.5", "schedule=constant", "warmup_steps=10"), 0, 0.05),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.2"), 0, 1.0),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.2"), 50, 0.6),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.2"), 25, 0.2 + 0.4 * (1 + math.sqrt(0.5))),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.2"), 100, 0.2),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.0", "warmup_steps=20"), 20, 1.0),
        (("learning_rate=1.0", "schedule=cosine", "lowest_rate=0.0", "warmup_steps=20"), 60, 0.5),
        (("learning_rate=1.0", "schedule=cosine", "warmup_steps=200"), 99, 0.5),
    ],
)
def test_the_rate_of_a_step(words, step, expected):
    assert learning_rate(quick(*words), step, 100) == pytest.approx(expected)


def decayed(network):
    """The parameters with weight decay, and those without."""
    groups = build_optimiser(quick("weight_decay=0.125"), network).param_groups
    assert [group["weight_decay"] for group in groups] == [0.125, 0.0]
    return [{id(parameter) for parameter in group["params"]} for group in groups]


@pytest.mark.parametrize("model", MODELS)
def test_kernels_and_norms_are_decayed_biases_and_scalars_are_not(model):
    network = create_model(model, preset="tiny")
    with_decay, without = decayed(network)
    assert with_decay | without == {id(parameter) for parameter in network.parameters()}
    assert not with_decay & without
    assert (model == "point2node") == any(name.endswith("alpha") for name, _ in network.named_parameters())
    for module in network.modules():
        if isinstance(module, nn.Linear):
            assert id(module.weight) in with_decay
            assert module.bias is None or id(module.bias) in without
        if isinstance(module, BatchNorm):
            assert {id(module.weight), id(module.bias)} <= with_decay
    for name, parameter in network.named_parameters():
        if parameter.ndim >= 2:
            assert id(parameter) in with_decay, name
        if name.endswith("alpha"):
            assert id(parameter) in without, name


def test_adam_couples_its_decay_and_adamw_does_not():
    coupled, decoupled = (
        build_optimiser(quick(f"optimiser={name}", "adam_epsilon=0.25", "learning_rate=0.5"), nn.Linear(2, 2))
        for name in ("adam", "adamw")
    )
    assert type(coupled) is torch.optim.Adam
    assert type(decoupled) is torch.optim.AdamW
    assert {group["eps"] for group in coupled.param_groups} == {0.25}
    assert {group["lr"] for group in decoupled.param_groups} == {0.5}


@pytest.mark.parametrize("form", ["torch", "tensorflow"])
def test_adam_adds_its_epsilon_where_the_form_says(form):
    """Against Adam written out: TensorFlow's ε-hat is added before the second moment is corrected."""
    settings = quick("optimiser=adam", f"adam_form={form}", "adam_epsilon=0.01", "learning_rate=0.1", "weight_decay=0")
    layer = nn.Linear(3, 1, bias=False).double()
    optimiser = build_optimiser(settings, layer)
    w, m, v = layer.weight.detach().clone(), 0.0, 0.0
    for step in range(5):
        gradient = torch.randn(1, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(step)) / 10
        layer.weight.grad = gradient.clone()
        set_rate(optimiser, settings, 0.1, step)
        optimiser.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        first, second = 1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)
        if form == "tensorflow":
            w = w - 0.1 * second**0.5 / first * m / (v.sqrt() + 0.01)
        else:
            w = w - 0.1 * (m / first) / ((v / second).sqrt() + 0.01)
        torch.testing.assert_close(layer.weight.detach(), w)


def test_theta_and_phi_can_learn_at_a_rate_of_their_own():
    network = create_model(preset="tiny")
    settings = quick("correlation_rate=0.25")
    optimiser = build_optimiser(settings, network)
    set_rate(optimiser, settings, 0.5, step=0)
    rates = {id(parameter): group["lr"] for group in optimiser.param_groups for parameter in group["params"]}
    slowed = {name for name, parameter in network.named_parameters() if rates[id(parameter)] == 0.125}
    expected = {name for name, _ in network.named_parameters() if ".theta." in name or ".phi." in name}
    assert slowed == expected
    assert len(expected) == 6
    assert len(rates) == len(list(network.parameters()))


@given(seed=st.integers(0, 2**32 - 1), smoothing=st.sampled_from([0.0, 0.2]), at_nodes=st.booleans())
def test_shares_weigh_the_losses_of_the_classes(seed, smoothing, at_nodes):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(*((3, 5, 4) if at_nodes else (3, 4)), generator=generator, dtype=torch.float64)
    first, second, part = torch.tensor([0, 1, 2]), torch.tensor([3, 1, 0]), torch.rand(3, generator=generator).double()
    shares = (1 - part)[:, None] * F.one_hot(first, 4) + part[:, None] * F.one_hot(second, 4)
    total, weight = loss_and_weight(logits, shares, None, smoothing)
    rows = logits if at_nodes else logits[:, None]
    expected = sum(
        share[cloud] * F.cross_entropy(row, label[cloud].expand(len(row)), label_smoothing=smoothing, reduction="sum")
        for cloud, row in enumerate(rows)
        for label, share in ((first, 1 - part), (second, part))
    )
    torch.testing.assert_close(total, expected)
    assert weight.item() == pytest.approx(15 if at_nodes else 3)


def test_whole_shares_are_labels_and_no_shares_are_none():
    logits, labels = torch.randn(3, 4), torch.tensor([2, -1, 0])
    shares = torch.stack([(torch.arange(4) == label).float() for label in labels])
    for weights in (None, torch.tensor([0.5, 1.0, 2.0, 4.0])):
        torch.testing.assert_close(
            loss_and_weight(logits, shares, weights, 0.1), loss_and_weight(logits, labels, weights, 0.1)
        )
    assert likeliest_labels(logits, shares).tolist() == [2, -1, 0]
    assert likeliest_labels(torch.randn(3, 2, 4), shares).tolist() == [[2, 2], [-1, -1], [0, 0]]


@given(st.integers(0, 1000), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_weights_of_clouds_multiply_the_loss_and_the_weight_of_each(seed, balanced, smoothing):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(3, 7, 4, generator=generator, dtype=torch.float64)
    labels = torch.randint(-1, 4, (3, 7), generator=generator)
    class_weights = torch.rand(4, generator=generator, dtype=torch.float64) if balanced else None
    factors = torch.tensor([0.5, 0.0, 3.0], dtype=torch.float64)
    total, weight = loss_and_weight(logits, labels, class_weights, smoothing, factors)
    alone = [loss_and_weight(logits[i : i + 1], labels[i : i + 1], class_weights, smoothing) for i in range(3)]
    torch.testing.assert_close(total, sum(f * one[0] for f, one in zip(factors, alone, strict=True)))
    torch.testing.assert_close(weight, sum(f * one[1] for f, one in zip(factors, alone, strict=True)))
    even = loss_and_weight(logits, labels, class_weights, smoothing, torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(even, loss_and_weight(logits, labels, class_weights, smoothing))


def test_a_forward_pass_inside_notes_the_entropy_of_the_rows():
    network = small_network("segmentation", "point2node")
    features, pyramid = random_input(network)
    with recording_entropies(network) as entropies:
        network(features, pyramid)
    nodes = network.feature_extraction(features, pyramid)
    self_stage, local_stage, non_local_stage = network.correlation.stages
    nodes = self_stage(nodes, pyramid.correlation)
    local = local_stage.correlations[0].row_entropy(nodes, pyramid.correlation)
    nodes = local_stage(nodes, pyramid.correlation)
    non_local = non_local_stage.correlations[0].row_entropy(nodes, pyramid.correlation)
    assert entropies == pytest.approx({"local_entropy": local, "non_local_entropy": non_local})
    assert 0 < non_local < 1


def test_listening_changes_nothing_and_ends():
    network = build_point2node(CLASSIFICATION, design=Design(correlation_norm=True)).double().train()
    features, pyramid = random_input(network)
    torch.manual_seed(0)
    start = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    plain = network(features, pyramid)
    after = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.load_state_dict(start)
    torch.manual_seed(0)
    with recording_entropies(network) as entropies:
        assert torch.equal(network(features, pyramid), plain)
    assert all(torch.equal(tensor, after[name]) for name, tensor in network.state_dict().items())
    heard = dict(entropies)
    network(features, pyramid)
    assert entropies == heard


def test_of_several_correlations_the_lowest_entropy_is_noted():
    network = small_network("segmentation", "joint")
    collapsed = network.feature_extraction.inner["encoder_1"].stages[2].correlations[0]
    with torch.no_grad():
        collapsed.theta.weight.mul_(1e5)
    features, pyramid = random_input(network)
    heard = []
    collapsed.register_forward_hook(lambda module, given, _: heard.append(module.row_entropy(*given)))
    with recording_entropies(network) as entropies:
        network(features, pyramid)
    assert entropies["non_local_entropy"] == pytest.approx(heard[0])
    assert heard[0] < 0.2


def test_a_network_without_correlations_says_nothing():
    network = small_network("classification", "baseline")
    with recording_entropies(network) as entropies:
        network(*random_input(network))
    assert entropies == {}
