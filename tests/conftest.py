"""Settings that hold for every test."""

import os

from hypothesis import settings

# some virtual machines name bfloat16 instructions that they cannot execute; oneDNN would take them at their word
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")

import point2node  # noqa: F401  before torch: it sets how OpenMP's threads wait

# compiled kernels make the first example slow, and a busy machine any other: time is no test here
settings.register_profile("point2node", deadline=None)
settings.load_profile("point2node")
