import pytest

from point2node.models.catalogue import SIZES, build_point2node
from point2node.models.sizes import classification_size, segmentation_size, tiny_size, wide_size


@pytest.mark.parametrize("formula", [segmentation_size, wide_size, classification_size, tiny_size])
def test_another_width_gives_what_the_formula_gives_for_it(formula):
    assert formula(8, num_classes=4, in_features=3).with_width(3) == formula(3, num_classes=4, in_features=3)


@pytest.mark.parametrize("preset", SIZES)
def test_a_preset_of_its_own_width_stays_as_it_is(preset):
    assert SIZES[preset].with_width(SIZES[preset].width) == SIZES[preset]


def test_the_wide_size_has_the_same_weights_and_twice_the_points_at_every_level():
    usual, wide = (size(2, num_classes=13, in_features=7) for size in (segmentation_size, wide_size))
    assert [layer.points for layer in wide.encoder] == [None, 1536, 768, 256]
    assert wide.points == 2 * usual.points == 4096
    shapes = [
        {name: tensor.shape for name, tensor in build_point2node(size).state_dict().items()} for size in (usual, wide)
    ]
    assert shapes[0] == shapes[1]
