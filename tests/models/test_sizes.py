import pytest

from point2node.models.catalogue import PRESETS
from point2node.models.sizes import classification_size, segmentation_size, tiny_size


@pytest.mark.parametrize("formula", [segmentation_size, classification_size, tiny_size])
def test_another_width_gives_what_the_formula_gives_for_it(formula):
    assert formula(8, num_classes=4, in_features=3).with_width(3) == formula(3, num_classes=4, in_features=3)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_of_its_own_width_stays_as_it_is(preset):
    assert PRESETS[preset].with_width(PRESETS[preset].width) == PRESETS[preset]
