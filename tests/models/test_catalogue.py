import pytest
import torch

from point2node import SIZES, VARIANTS, Point2NodeClassifier, Point2NodeSegmenter, create_model, list_models
from point2node.core.errors import InputError
from point2node.models.catalogue import MODELS, ONE_TASK, REFERENCE_MODELS
from point2node.models.layers import count_parameters
from point2node.models.point2node.stages import JOINT, DynamicNodeCorrelation

EVERY_MODEL = pytest.mark.parametrize("name", MODELS)


def is_offered(name, preset):
    return ONE_TASK.get(name, SIZES[preset].task) == SIZES[preset].task


IN_EVERY_PRESET = pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name in MODELS for preset in SIZES if is_offered(name, preset)]
)


def test_the_default_is_the_papers_segmenter():
    with torch.device("meta"):
        model = create_model()
    assert isinstance(model, Point2NodeSegmenter)
    assert model.correlation.variant == "point2node"
    assert model.head.logits.out_features == 13
    assert model.in_features == 3


@IN_EVERY_PRESET
def test_a_preset_fixes_task_classes_and_features(name, preset):
    with torch.device("meta"):
        model = create_model(name, preset=preset)
    size = SIZES[preset]
    assert model.task == size.task
    assert model.head.logits.out_features == size.num_classes
    assert model.in_features == size.in_features
    assert model.plan.fewest_points <= size.points


def test_point2node_is_a_classifier_where_the_preset_is():
    with torch.device("meta"):
        assert isinstance(create_model(preset="modelnet40"), Point2NodeClassifier)


@EVERY_MODEL
def test_classes_and_features_can_be_chosen(name):
    model = create_model(name, preset="tiny", num_classes=4, in_features=6)
    xyz = torch.rand(256, 3)
    assert model.run(xyz, torch.cat([xyz, xyz], dim=-1)).shape == (256, 4)


def test_a_width_gives_the_network_of_that_width():
    with torch.device("meta"):
        narrow, rooms = create_model(preset="s3dis", width=2), create_model(preset="rooms")
        wide = create_model(preset="tiny", width=2)
    assert count_parameters(narrow) == count_parameters(rooms)
    assert wide.correlation.channels == 64


@IN_EVERY_PRESET
def test_a_dropout_replaces_only_the_last_one(name, preset):
    with torch.device("meta"):
        own, chosen = create_model(name, preset=preset), create_model(name, preset=preset, dropout=0.125)
    dropouts = [
        [layer.p for layer in model.modules() if isinstance(layer, torch.nn.Dropout)] for model in (own, chosen)
    ]
    assert dropouts[1] == [*dropouts[0][:-1], 0.125]


@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name in REFERENCE_MODELS for preset in SIZES if is_offered(name, preset)]
)
def test_a_variant_adds_its_correlations_to_a_network_and_changes_nothing_else(name, preset):
    with torch.device("meta"):
        plain, correlated = (create_model(name, preset=preset, variant=variant) for variant in (None, "point2node"))
        head = DynamicNodeCorrelation("point2node", plain.node_channels, SIZES[preset].reduction)
    shapes = {key: tensor.shape for key, tensor in plain.state_dict().items()}
    added = {f"correlation.{key}": tensor.shape for key, tensor in head.state_dict().items()}
    assert {key: tensor.shape for key, tensor in correlated.state_dict().items()} == shapes | added
    points, (K, _) = SIZES[preset].points, SIZES[preset].graph
    nodes = plain.plan.sizes(points)[plain.node_level]
    assert correlated.macs(points) == plain.macs(points) + head.macs(nodes, K)


def test_every_preset_lists_every_variant_then_every_other_network_without_and_with_correlations():
    choices = [("point2node", variant) for variant in (*VARIANTS, *JOINT)]
    choices += [(name, variant) for name in REFERENCE_MODELS for variant in (None, "point2node")]
    assert [(entry.preset, entry.name, entry.variant) for entry in list_models()] == [
        (preset, *choice) for preset in SIZES for choice in choices if is_offered(choice[0], preset)
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "point2nod"}, "one of point2node, pointnet, pointnet2_ssg, dgcnn.*, found 'point2nod'"),
        ({"preset": "s3di"}, "one of s3dis, scannet, modelnet40, modelnet10, rooms, rooms_wide, tiny, found 's3di'"),
        ({"variant": "self"}, "one of baseline, self_only"),
        ({"variant": ""}, "one of baseline, self_only"),
        ({"num_classes": 0}, "num_classes: expected 1 or more, found 0"),
        ({"in_features": -1}, "in_features: expected 0"),
        ({"width": 0}, "width: expected 1 or more, found 0"),
        ({"dropout": 1.0}, r"dropout: expected 0 or more and below 1, found 1\.0"),
        ({"dropout": -0.1}, "dropout: expected 0 or more and below 1"),
        ({"dropout": float("nan")}, "dropout: expected 0 or more and below 1, found nan"),
        ({"name": "dgcnn", "variant": "self"}, "one of baseline, self_only"),
        ({"name": "dgcnn", "variant": "joint"}, "one of baseline, .*global_average, found 'joint'"),
        ({"variant": "joined"}, "one of baseline, .*joint_norm, found 'joined'"),
        (
            {"name": "gacnet", "preset": "modelnet40"},
            "one for classification, found 'gacnet', whose paper labels points",
        ),
        ({"name": "pointnet", "width": 2}, "width: expected none: pointnet has the one width of its paper, found 2"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_valid_choices(arguments, message):
    with pytest.raises(InputError, match=message):
        create_model(**arguments)
