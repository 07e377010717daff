"""Benchmarks: ratios against naive forms and against what users would use instead, without timed asserts."""

import point2node  # noqa: F401  imported before torch, because it sets how OpenMP's threads wait
from point2node.core.memory import keep_freed_memory

keep_freed_memory()  # as training does; the forms compared with benefit from it as well
