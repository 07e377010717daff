import subprocess
import sys

import numba
import torch

from point2node.kernels.threads import match_torch_threads

FRESH = """
import torch
from point2node.geometry.neighbours import k_nearest_neighbours
torch.set_num_threads(1)
points = torch.rand(2, 100, 3)
k_nearest_neighbours(points, points, 4)
assert torch.get_num_threads() == 1
"""


def test_numba_follows_torch():
    threads = torch.get_num_threads()
    try:
        for wanted in (1, 2):
            torch.set_num_threads(wanted)
            match_torch_threads()
            assert numba.get_num_threads() == min(wanted, numba.config.NUMBA_NUM_THREADS)
    finally:
        torch.set_num_threads(threads)


def test_the_first_kernel_of_a_process_leaves_torchs_count_alone():
    subprocess.run([sys.executable, "-c", FRESH], check=True)
