"""The nine rows of the paper's ablation, at a small scale: ``make table-ablation``."""

from __future__ import annotations

from pathlib import Path

from experiments.running import RESULTS, point2node

PRESET, SEEDS = "rooms_small", "0,1,2"


def make_table(runs: Path) -> None:
    """Train and score every row with every seed, and write the table next to the paper's."""
    point2node("ablate", PRESET, "--seeds", SEEDS, "--out", runs)
    RESULTS.mkdir(exist_ok=True)
    for suffix in (".md", ".json"):
        point2node("report", runs, "--out", RESULTS / f"ablation{suffix}")
