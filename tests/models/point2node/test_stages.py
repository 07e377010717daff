import copy
import math

import pytest
import torch

from point2node import create_model
from point2node.core.errors import InputError
from point2node.geometry.neighbours import dilated_k_nearest_neighbours
from point2node.geometry.pyramid import Search
from point2node.models.layers import count_parameters
from point2node.models.point2node.explanation import row_entropies
from point2node.models.point2node.stages import JOINT, VARIANTS, DynamicNodeCorrelation, Joint
from tests.small_networks import leave_start, random_input, small_network

N, C = 24, 16


@pytest.fixture
def nodes():
    return torch.randn(2, N, C, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def neighbours():
    xyz = torch.rand(2, N, 3, generator=torch.Generator().manual_seed(1))
    return dilated_k_nearest_neighbours(xyz, xyz, k=4, dilation=2)


def test_the_nine_rows_of_the_ablation_are_there_in_its_order():
    assert list(VARIANTS) == [
        "baseline",
        "self_only",
        "local_only",
        "non_local_only",
        "parallel_1",
        "parallel_2",
        "linear_aggregation",
        "parameter_free_aa",
        "point2node",
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_gives_nodes_back_and_teaches_every_parameter(variant, nodes, neighbours):
    correlation = DynamicNodeCorrelation(variant, C, 4)
    out = correlation(nodes, neighbours)
    assert out.shape == nodes.shape
    if variant == "baseline":
        assert torch.equal(out, nodes)
        return
    (out**2).sum().backward()
    for name, parameter in correlation.named_parameters():
        assert parameter.grad is not None, name
        assert torch.count_nonzero(parameter.grad), name


def test_the_stages_run_one_after_the_other_on_updated_nodes(nodes, neighbours):
    correlation = leave_start(DynamicNodeCorrelation("point2node", C, 4), by=0.5).float()
    self_stage, local_stage, non_local_stage = correlation.stages
    V1 = nodes + self_stage.aggregation.alpha * self_stage.correlations[0](nodes)  # Eq. 3
    V2 = local_stage.aggregation(V1, [local_stage.correlations[0](V1, neighbours)])
    V3 = non_local_stage.aggregation(V2, [non_local_stage.correlations[0](V2)])
    torch.testing.assert_close(correlation(nodes, neighbours), V3)


def test_parallel_correlations_see_the_same_nodes(nodes, neighbours):
    correlation = leave_start(DynamicNodeCorrelation("parallel_1", C, 4), by=0.5).float()
    (stage,) = correlation.stages
    updates = [
        stage.correlations[0](nodes),
        stage.correlations[1](nodes, neighbours),
        stage.correlations[2](nodes),
    ]
    torch.testing.assert_close(correlation(nodes, neighbours), stage.aggregation(nodes, updates))


@pytest.mark.parametrize("variant", ["baseline", "self_only", "non_local_only"])
def test_variants_without_local_correlation_need_no_neighbours(variant, nodes):
    assert DynamicNodeCorrelation(variant, C, 4)(nodes).shape == nodes.shape


def test_missing_neighbours_are_named_with_the_call_that_finds_them(nodes):
    with pytest.raises(InputError, match=r"\(2, 24\) \+ \(K,\).*found none.*dilated_k_nearest_neighbours"):
        DynamicNodeCorrelation("point2node", C, 4)(nodes)


def test_nodes_of_another_width_are_refused(nodes, neighbours):
    with pytest.raises(InputError, match=r"shape \(B, N, 8\), found \(2, 24, 16\)"):
        DynamicNodeCorrelation("point2node", 8, 4)(nodes, neighbours)


def test_an_unknown_variant_lists_the_valid_ones():
    with pytest.raises(InputError, match=r"one of baseline, .*point2node, .*, found 'paralel_1'.*'parallel_1'"):
        DynamicNodeCorrelation("paralel_1", C, 4)


@pytest.mark.parametrize("reduction", [0, 17])
def test_a_reduction_that_leaves_no_channel_is_refused(reduction):
    with pytest.raises(InputError, match="reduction"):
        DynamicNodeCorrelation("point2node", C, reduction)


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_explanation_holds_what_the_variant_has(variant, nodes, neighbours):
    chosen = torch.tensor([[0, 5], [7, 23]])
    explanation = DynamicNodeCorrelation(variant, C, 4).explain(nodes, neighbours, chosen)
    names = {name for stage in VARIANTS[variant] for name in stage.correlations}
    assert (explanation.channel_weights is not None) == ("self" in names)
    assert (explanation.local_graph is not None) == ("local" in names)
    assert (explanation.non_local_rows is not None) == ("non_local" in names)
    adaptive = [stage for stage in VARIANTS[variant] if stage.aggregation != "linear"]
    assert [gate.branches for gate in explanation.gates] == [("nodes", *stage.correlations) for stage in adaptive]
    for gate in explanation.gates:
        torch.testing.assert_close(gate.shares.sum(1), torch.ones(2, C))


def test_the_entropies_of_an_explanation_are_those_of_its_rows(nodes, neighbours):
    correlation = leave_start(DynamicNodeCorrelation("point2node", C, 4), by=0.5).float()
    explanation = correlation.explain(nodes, neighbours, torch.tensor([[0, 5], [7, 23]]))
    row, graph = explanation.non_local_rows[1, 0], explanation.local_graph[1, 0]
    assert explanation.non_local_entropy.shape == explanation.local_entropy.shape == (2, 2)
    by_hand = -(row * row.log()).sum() / math.log(N)
    torch.testing.assert_close(explanation.non_local_entropy[1, 0], by_hand)
    by_hand = -(graph * graph.log()).sum(-1).mean() / math.log(4)
    torch.testing.assert_close(explanation.local_entropy[1, 0], by_hand)


def test_an_even_row_has_entropy_1_and_a_collapsed_one_0():
    rows = torch.stack([torch.full((8,), 1 / 8), torch.eye(8)[3]])
    torch.testing.assert_close(row_entropies(rows), torch.tensor([1.0, 0.0]))
    assert row_entropies(torch.ones(2, 1)).tolist() == [1, 1]  # one node listens to itself


def test_shared_maps_are_counted_and_kept_once_and_learn_from_both_correlations(nodes, neighbours):
    own, shared = (DynamicNodeCorrelation("point2node", C, 4, shared=one) for one in (False, True))
    assert count_parameters(own) - count_parameters(shared) == 2 * C * C // 4 + C // 4
    assert len(own.state_dict()) - len(shared.state_dict()) == 3  # θ with its bias, φ
    local, non_local = (shared.stages[stage].correlations[0] for stage in (1, 2))
    assert non_local.theta is local.theta
    twin = copy.deepcopy(shared)
    assert twin.stages[2].correlations[0].theta is twin.stages[1].correlations[0].theta
    assert twin.stages[2].correlations[0].theta is not local.theta
    with torch.no_grad():
        local.theta.weight.add_(0.5)
    before = non_local(nodes)
    with torch.no_grad():
        local.theta.weight.neg_()
    assert not torch.allclose(non_local(nodes), before)


def test_an_explanation_is_made_of_the_numbers_that_the_update_used(nodes, neighbours):
    correlation = leave_start(DynamicNodeCorrelation("point2node", C, 4), by=0.5).float()
    chosen = torch.tensor([[3, 4], [0, 9]])
    explanation = correlation.explain(nodes, neighbours, chosen)
    self_stage, local_stage, non_local_stage = correlation.stages
    V1 = self_stage(nodes, neighbours)
    V2 = local_stage(V1, neighbours)
    update = non_local_stage.correlations[0](V2)
    for b in range(2):
        torch.testing.assert_close(explanation.non_local_rows[b] @ V2[b], update[b, chosen[b]])
        local_V = V1[b][explanation.local_neighbours[b]]
        torch.testing.assert_close(
            (explanation.local_graph[b] @ local_V).amax(1),
            local_stage.correlations[0](V1, neighbours)[b, chosen[b]],
        )
        torch.testing.assert_close(
            explanation.channel_weights[b] * nodes[b, chosen[b]],
            self_stage.correlations[0](nodes)[b, chosen[b]],
        )


def test_the_control_learns_a_gate_but_no_correlation(nodes, neighbours):
    control = DynamicNodeCorrelation("global_average", C, 4)
    updates = control.stages[2].updates(nodes, neighbours)
    torch.testing.assert_close(updates, [nodes.mean(dim=1, keepdim=True).expand_as(nodes)])
    assert not list(control.stages[2].correlations.parameters())
    assert list(control.stages[2].aggregation.parameters())
    rows = control.explain(nodes, neighbours, torch.zeros(2, 1, dtype=torch.long)).non_local_rows
    torch.testing.assert_close(rows, torch.full((2, 1, N), 1 / N))


EVERY_JOINT = pytest.mark.parametrize("variant", JOINT)


def on_meta(preset, variant):
    with torch.device("meta"):
        return create_model(preset=preset, variant=variant)


def added(preset, variant):
    """Parameters and macs more than Point2Node's."""
    joint, plain = on_meta(preset, variant), on_meta(preset, "point2node")
    points = 2048 if preset == "s3dis" else 1024
    return count_parameters(joint) - count_parameters(plain), joint.macs(points) - plain.macs(points)


def test_no_name_is_taken_twice_and_each_variant_differs_from_joint_in_one_answer():
    assert not set(JOINT) & set(VARIANTS)
    plain = vars(Joint())
    for name, joint in JOINT.items():
        assert sum(value != plain[key] for key, value in vars(joint).items()) == (name != "joint")


@EVERY_JOINT
@pytest.mark.parametrize("task", ["segmentation", "classification"])
def test_without_its_inner_correlations_a_joint_network_is_the_one_behind(variant, task):
    joint = small_network(task, variant)
    features, pyramid = random_input(joint)
    with_them = joint(features, pyramid)
    without = copy.deepcopy(joint)
    without.feature_extraction.inner.clear()
    plain = small_network(task, JOINT[variant].behind)
    if not (JOINT[variant].normalised or JOINT[variant].scaled):
        plain.load_state_dict(without.state_dict())
        torch.testing.assert_close(without(features, pyramid), plain(*random_input(plain)))
    assert not torch.allclose(without(features, pyramid), with_them)


def test_the_encoders_sampled_levels_are_correlated_each_with_its_own_graph():
    model = on_meta("s3dis", "joint")
    assert list(model.feature_extraction.inner) == ["encoder_1", "encoder_2", "encoder_3"]
    assert model.plan.sizes(2048)[1:] == (768, 384, 128)
    assert model.plan.inner == tuple(Search(16, 2, level, level) for level in (1, 2, 3))
    assert list(on_meta("s3dis", "joint_coarsest").feature_extraction.inner) == ["encoder_3"]
    assert list(on_meta("s3dis", "joint_decoder").feature_extraction.inner) == [
        *(f"encoder_{level}" for level in (1, 2, 3)),
        *(f"decoder_{level}" for level in (1, 2, 3)),
    ]


def test_a_classifiers_last_level_is_correlated_once_by_the_correlations_behind():
    model = on_meta("modelnet40", "joint")
    assert model.node_level == 3
    assert list(model.feature_extraction.inner) == ["encoder_1", "encoder_2"]
    assert list(on_meta("modelnet40", "joint_coarsest").feature_extraction.inner) == ["encoder_2"]


def test_a_skip_connection_carries_the_correlated_points():
    model = small_network("segmentation", "joint")
    merged, given = model.feature_extraction.merge[1], {}
    correlated = model.feature_extraction.inner["encoder_1"]
    correlated.register_forward_hook(lambda *arguments: given.update(correlated=arguments[2]))
    merged.register_forward_pre_hook(lambda _, inputs: given.update(merged=inputs[0]))
    model(*random_input(model))
    assert torch.equal(given["merged"][..., -given["correlated"].shape[-1] :], given["correlated"])


def test_non_local_correlations_alone_need_no_graph_inside():
    assert on_meta("s3dis", "joint_non_local").plan.inner == ()


def test_a_joint_network_costs_what_its_modules_cost_by_the_papers_formulas():
    sizes, K = ((768, 512), (384, 768), (128, 1280)), 16

    def parameters(C):
        R = C // 8
        return (C + C * C + C) + 1 + 2 * (2 * C * R + R) + 4 * (2 * C * R + R + C)

    def macs(N, C):
        R = C // 8
        self_ = N * (C + C * C + C) + N * C
        local = N * K * (2 * C * R + K * R + K * C)
        non_local = N * (2 * C * R + N * R + N * C)
        return self_ + local + non_local + 2 * (2 * N * C + 4 * C * R)

    assert added("s3dis", "joint") == (
        sum(parameters(C) for _, C in sizes),
        sum(macs(N, C) for N, C in sizes),
    )


def test_the_design_questions_that_cost_nothing_or_save_do_so():
    whole, cheap = added("s3dis", "joint"), added("s3dis", "joint_non_local")
    assert added("s3dis", "joint_scaled") == whole
    assert cheap[0] < whole[0] / 2
    shared = added("s3dis", "joint_shared")
    assert whole[0] - shared[0] == sum(2 * C * (C // 8) + C // 8 for C in (512, 768, 1280))


@pytest.mark.parametrize(("variant", "attribute"), [("joint_scaled", "scale"), ("joint_norm", "norm")])
def test_scale_and_norm_hold_inside_and_behind(variant, attribute):
    model = small_network("segmentation", variant)
    for place in (*model.feature_extraction.inner.values(), model.correlation):
        (non_local,) = place.stages[2].correlations
        holder = non_local if attribute == "scale" else non_local.theta
        assert getattr(holder, attribute) is not None
