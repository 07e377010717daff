import platform
import subprocess
import sys

import numpy as np
import pytest

from point2node.core.memory import own_peak_megabytes

COUNT = """
import resource, sys
import numpy as np
from point2node.core.memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
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
