"""A profile of a training step as a Markdown table: ``python -m benchmarks.profile [PRESET] [CLOUDS]``.

The kernels' gradients are listed under the names of their operators; time in numba counts as their own time.
"""

from __future__ import annotations

import sys

from torch.profiler import ProfilerActivity, profile

from benchmarks.steps import training_step

STEPS, SHOWN = 3, 16
POINTS = {"s3dis": 2048, "rooms": 2048, "modelnet40": 1024}


def main(preset: str = "s3dis", clouds: str = "4") -> None:
    step, _ = training_step(preset, clouds=int(clouds), points=POINTS[preset])
    step()
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(STEPS):
            step()
    events = sorted(recorded.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    print(f"Training step, {preset}, {clouds} x {POINTS[preset]}: {total / STEPS / 1e3:.0f} ms\n")
    print("| operator | share of the step | ms a step | calls a step |\n|---|---|---|---|")
    for event in events[:SHOWN]:
        own = event.self_cpu_time_total
        print(f"| `{event.key}` | {own / total:.1%} | {own / STEPS / 1e3:.1f} | {event.count / STEPS:.0f} |")
    rest = sum(event.self_cpu_time_total for event in events[SHOWN:])
    print(f"| everything else | {rest / total:.1%} | {rest / STEPS / 1e3:.1f} | |")


if __name__ == "__main__":
    main(*sys.argv[1:])
