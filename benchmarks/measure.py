"""Measuring figures, as ratios of alternating forms in one run, and writing them."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from point2node.core import memory

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One figure, for which larger is better; ``bar`` is the target, ``stretch`` the stretch target."""

    name: str
    ratio: float
    bar: float | None
    unit: str
    stretch: float | None = None


def alternate(
    forms: Mapping[str, Callable[[], object]],
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
    *,
    warm_up: bool = True,
) -> dict[str, float]:
    """Return the median seconds of each form; the forms alternate, so a drift of the machine affects all of them."""
    if warm_up:
        for form in forms.values():
            form()  # compile, allocate, warm caches
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, form in forms.items():
            start = clock()
            form()
            seconds[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def own_peak_megabytes() -> float:
    """Return the peak memory of this process; only available on Linux."""
    peak = memory.own_peak_megabytes()
    if peak is None:
        raise RuntimeError("memory is measured on Linux only")
    return peak


def write_rows(name: str, rows: list[Row]) -> None:
    """Print the rows as a table and write them to ``results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    width = max(len(row.name) for row in rows)
    for row in rows:
        bar = "" if row.bar is None else f"bar {row.bar:g}: {'reached' if row.ratio >= row.bar else 'MISSED'}"
        print(f"{row.name:<{width}}  {row.ratio:8.2f} {row.unit:<28} {bar}", flush=True)


def read_rows(name: str) -> list[Row]:
    """Read the rows of the last run; empty if there was none."""
    path = RESULTS / f"{name}.json"
    return [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []


def markdown(names: Iterable[str]) -> str:
    """Return the last results of some benchmarks as a table like that of docs/performance.md."""
    lines = ["| what | measured | target | stretch target |", "|---|---|---|---|"]
    for row in (row for name in names for row in read_rows(name)):
        figure = f"{row.ratio:.{2 if row.ratio < 2 else 1 if row.ratio < 100 else 0}f}"
        missed = "" if row.bar is None or row.ratio >= row.bar else " (missed)"
        bar, stretch = ("" if wanted is None else f"{wanted:g}" for wanted in (row.bar, row.stretch))
        lines.append(f"| {row.name} | {figure} {row.unit.replace('x ', '× ', 1)} | {bar}{missed} | {stretch} |")
    return "\n".join(lines)
