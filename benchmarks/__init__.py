"""Ratios against naive twins and against what users would pick instead; never timed asserts."""

import point2node  # noqa: F401  before torch: it sets how OpenMP's threads wait
