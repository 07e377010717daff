import platform
import subprocess
import sys

import numpy as np
import pytest
import torch

from point2node.core.memory import memory_limit, memory_limited, own_peak_megabytes, ran_out_of_memory

COUNT = """
import resource, sys
import numpy as np
from point2node.core.memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    np.ones(5_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(word):
    command = [sys.executable, "-c", COUNT, word]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
def test_an_array_takes_the_place_of_one_that_was_freed():
    assert faults("keep") < faults("plain") / 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps the record")
def test_the_peak_of_this_process_stays_when_the_memory_is_freed():
    before = own_peak_megabytes()
    held = np.ones(int(before * 1e6) // 8 + 10_000_000)  # more than this process ever had
    del held
    assert own_peak_megabytes() >= before + 50


def test_of_several_limits_the_smallest_holds_and_outside_none_does():
    with memory_limited(8 * 10**9):
        assert memory_limit() == 8 * 10**9
        with memory_limited(None):
            assert memory_limit() == 8 * 10**9
            assert memory_limit(5 * 10**9) == 5 * 10**9
        with memory_limited(9 * 10**9):
            assert memory_limit() == 8 * 10**9
    assert memory_limit(9 * 10**9) == 9 * 10**9


def test_lack_of_memory_is_told_from_other_errors():
    assert ran_out_of_memory(MemoryError())
    with pytest.raises(RuntimeError) as caught:
        torch.empty(10**16)
    assert ran_out_of_memory(caught.value)
    assert not ran_out_of_memory(RuntimeError("shapes do not match"))
