"""Threads for tests of networks that are too small to share out."""

import pytest
import torch


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Networks this small are quicker on one thread, above all beside other processes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
