import copy

import pytest
import torch

from point2node import VARIANTS, create_model
from point2node.geometry.pyramid import Search
from point2node.models.layers import count_parameters
from point2node.models.point2node.joint import JOINT, Joint
from tests.small_networks import random_input, small_network

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
