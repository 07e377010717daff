import numpy as np
import pytest

from point2node.core.classes import S3DIS
from point2node.show.colours import RAMPS, UNKNOWN, class_colours, css_colour, ramp


@pytest.mark.parametrize("name", RAMPS)
def test_the_ends_of_a_ramp_are_its_first_and_last_colour_and_nothing_lies_beyond(name):
    low, high, below, above, nothing = ramp(name, np.array([0, 1, -5, 7, np.nan]))
    assert low.tolist() == list(RAMPS[name][0])
    assert high.tolist() == list(RAMPS[name][-1])
    assert (below == low).all()
    assert (above == high).all()
    assert (nothing == low).all()


def test_doubt_has_the_same_colours_by_confidence_and_by_entropy():
    values = np.linspace(0, 1, 11)
    assert (ramp("confidence", values) == ramp("entropy", 1 - values)).all()


def test_each_label_has_the_colour_of_its_class_and_none_is_grey():
    palette = np.array([one.colour for one in S3DIS], np.uint8)
    assert class_colours(np.array([8, 0, -1]), palette).tolist() == [[255, 0, 0], [0, 255, 0], list(UNKNOWN)]


def test_a_colour_as_style_sheets_take_it():
    assert css_colour((1, 20, 255)) == "rgb(1 20 255)"
