"""Every layer and network says where it comes from, what it takes and which shapes it has."""

import inspect
import pkgutil
import re
from importlib import import_module

import pytest
from torch import nn

from point2node import models

OURS = {"Head", "GlobalAverage", "NormalisedDense"}
"""Classes that come from no paper."""


def layers():
    for found in pkgutil.walk_packages(models.__path__, "point2node.models."):
        for name, member in vars(import_module(found.name)).items():
            own = isinstance(member, type) and member.__module__ == found.name
            if own and issubclass(member, nn.Module) and name != "Layers" and name[0] != "_":
                yield member


@pytest.mark.parametrize("layer", list(layers()), ids=lambda layer: layer.__name__)
def test_a_docstring_has_paper_arguments_and_shapes_in_this_order(layer):
    text = inspect.getdoc(layer)
    assert layer.__name__ in OURS or "https://" in text
    places = [text.find(word) for word in ("https://", "\nArgs:", "\nShapes:") if word in text]
    assert places == sorted(places)
    assert "\nShapes:\n    - " in text
    if "__init__" in vars(layer):
        arguments = text.partition("\nArgs:")[2].partition("\nShapes:")[0]
        assert re.findall(r"^    (\w+): ", arguments, re.M) == list(inspect.signature(layer).parameters)
