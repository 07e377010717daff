"""How every figure is taken: ratios in one run, alternating; and how it is written down."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One figure, written so that larger is better; ``bar`` is what it should reach, if anything."""

    name: str
    ratio: float
    bar: float | None
    unit: str


def alternate(forms: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Median seconds of each form; the forms take turns, so that a drift of the machine hits them alike."""
    for form in forms.values():
        form()  # compile, allocate, warm caches
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, form in forms.items():
            start = time.perf_counter()
            form()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def own_peak_megabytes() -> float:
    """The peak of this process from Linux's own record: ``ru_maxrss`` would start at the peak of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


def write_rows(name: str, rows: list[Row]) -> None:
    """Print the rows as a table and write them to ``results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    width = max(len(row.name) for row in rows)
    for row in rows:
        bar = "" if row.bar is None else f"bar {row.bar:g}: {'reached' if row.ratio >= row.bar else 'MISSED'}"
        print(f"{row.name:<{width}}  {row.ratio:8.2f} {row.unit:<28} {bar}", flush=True)
