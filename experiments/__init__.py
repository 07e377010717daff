"""The tables of docs/experiments.md, each made by one command that can be stopped and resumed."""

import point2node  # noqa: F401  imported before torch, because it sets how OpenMP's threads wait
