"""The tables of docs/experiments.md, each by one command that can be stopped and resumed."""

import point2node  # noqa: F401  before torch: it sets how OpenMP's threads wait
