"""Ratios against naive twins and against what users would pick instead; never timed asserts."""

import point2node  # noqa: F401  before torch: it sets how OpenMP's threads wait
from point2node.core.memory import keep_freed_memory

keep_freed_memory()  # as training does; the forms that are compared with gain from it too
