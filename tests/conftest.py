"""Settings that hold for every test."""

from hypothesis import settings

import point2node  # noqa: F401  before torch: it sets how OpenMP's threads wait

# compiled kernels make the first example slow, and a busy machine any other: time is no test here
settings.register_profile("point2node", deadline=None)
settings.load_profile("point2node")
