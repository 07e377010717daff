"""The smallest network, loaded once for all tests of the viewer."""

import pytest

from tests.show.viewer.weights import tiny_labeller


@pytest.fixture(scope="session")
def labeller(tmp_path_factory):
    return tiny_labeller(tmp_path_factory.mktemp("weights"))
