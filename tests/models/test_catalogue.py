import pytest
import torch

from point2node import PRESETS, Point2NodeClassifier, Point2NodeSegmenter, create_model
from point2node.core.errors import InputError


def test_the_default_is_the_papers_segmenter():
    model = create_model()
    assert isinstance(model, Point2NodeSegmenter)
    assert model.correlation.variant == "point2node"
    assert model.head.logits.out_features == 13
    assert model.feature_extraction.in_features == 3


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fixes_task_classes_and_features(preset):
    with torch.device("meta"):
        model = create_model(preset=preset)
    size = PRESETS[preset]
    assert isinstance(model, Point2NodeClassifier) == (size.task == "classification")
    assert model.head.logits.out_features == size.num_classes
    assert model.feature_extraction.in_features == size.in_features


def test_classes_and_features_can_be_chosen():
    model = create_model(preset="tiny", num_classes=4, in_features=6)
    assert model.head.logits.out_features == 4
    assert model.feature_extraction.input.linear.in_features == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "point2nod"}, "one of point2node, found 'point2nod'"),
        ({"preset": "s3di"}, "one of s3dis, scannet, modelnet40, modelnet10, rooms, tiny, found 's3di'"),
        ({"variant": "self"}, "one of baseline, self_only"),
        ({"num_classes": 0}, "num_classes: expected 1 or more, found 0"),
        ({"in_features": -1}, "in_features: expected 0"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_valid_choices(arguments, message):
    with pytest.raises(InputError, match=message):
        create_model(**arguments)
