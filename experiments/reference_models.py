"""All networks at one budget, with and without the paper's correlations added: ``make table-reference-models``.

All have the same data, recipe and number of steps (experiments/comparison.py); the table lists their costs and their
scores. Point2Node is PointCNN with the correlations added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from experiments.comparison import (
    MEASURES,
    NOT_TRAINED,
    ROOMS,
    SEEDS,
    SHAPES,
    Measure,
    Outcomes,
    Plan,
    Task,
    as_figures,
    carry_out,
    choose_tasks,
    claim_rows,
    read_outcomes,
    score_cell,
    scores_of,
)
from experiments.running import markdown_table, write_results
from point2node.models.catalogue import ONE_TASK
from point2node.report.ablation import seed_differences
from point2node.report.paper_numbers import Claim

STEPS = {ROOMS.name: 600, SHAPES.name: 400}
BACKBONES: dict[str, str] = {
    "pointcnn": "point2node",
    "pointnext_s": "pointnext_s",
    "pointnet2_ssg": "pointnet2_ssg",
    "gacnet": "gacnet",
    "pointnet": "pointnet",
    "dgcnn": "dgcnn",
    "pointconv": "pointconv",
    "kcnet": "kcnet",
    "pointweb": "pointweb",
    "spidercnn": "spidercnn",
    "acnn": "acnn",
}
"""The model of each network, cheap ones first."""
HEAD = "_correlated"
NETWORKS = tuple(f"{name}{head}" for name in BACKBONES for head in ("", HEAD))
CLAIMS = tuple(Claim(f"the correlations help {name}", (f"{name}{HEAD}",), (name,)) for name in BACKBONES)
COSTS = ("parameters", "GMAC", "training, s/1,000", "inference, ms", "training, GB")


def make_table(runs: Path, modelnet40: Path | None, real: Path | None, only: Sequence[str]) -> None:
    """Train, score and measure every network with every seed, seed 0 first."""
    tasks = choose_tasks(modelnet40, real)
    carry_out(plan(tasks), runs, real, only, lambda: write_tables(runs))


def plan(tasks: Sequence[Task]) -> Iterator[Plan]:
    """Yield the runs in order."""
    kinds = {ROOMS.name: "segmentation", SHAPES.name: "classification"}
    for seed in SEEDS:
        for task in tasks:
            length = (f"steps={STEPS[task.name]}", f"validate_every={STEPS[task.name]}")
            for name, model in BACKBONES.items():
                if ONE_TASK.get(model, kinds[task.name]) == kinds[task.name]:
                    for head in ("", HEAD):
                        yield Plan(task, f"{name}{head}", seed, (*words_of(model, correlated=bool(head)), *length))


def words_of(model: str, *, correlated: bool) -> tuple[str, ...]:
    """Return the settings of a network with or without the correlations."""
    if model == "point2node":
        return ("variant=point2node" if correlated else "variant=baseline",)
    return (f"model={model}", "variant=point2node" if correlated else "variant=null", "width=null")


def write_tables(runs: Path) -> None:
    """Write the scores and costs of every network for each task, then the gain from the correlations for each."""
    outcomes = read_outcomes(runs, NETWORKS)
    tables = []
    for task in (ROOMS, SHAPES):
        measures = [measure for measure in MEASURES if measure.task == task.name]
        columns = ("network", *(f"{measure.heading}, %" for measure in measures), *COSTS)
        rows = [
            (name, *(score_cell(outcomes, measure, name) for measure in measures), *cost_cells(outcomes, task, name))
            for name in NETWORKS
        ]
        tables.append(markdown_table(columns, rows))
    judged = ("claim", *(f"Δ {measure.heading}" for measure in MEASURES))
    tables.append(markdown_table(judged, [row[:-1] for row in claim_rows(outcomes, CLAIMS)]))
    tables.append("\n".join(f"- {count_gains(outcomes, measure)}" for measure in MEASURES))
    commands = [
        f"train {task.preset} {' '.join(task.words)} steps={STEPS[task.name]} NETWORK seed=SEED"
        for task in (ROOMS, SHAPES)
    ]
    write_results("reference_models", "; ".join(commands), "\n\n".join(tables), as_figures(outcomes))


def cost_cells(outcomes: Outcomes, task: Task, network: str) -> tuple[str, ...]:
    """Return parameters, multiply-accumulates, and the mean processor time and peak memory of the runs."""
    found = [one.content for one in outcomes[task.name] if one.network == network]
    if not found:
        return ("",) * len(COSTS)
    costs = [one["costs"] for one in found]
    peaks = [one["peak_megabytes"] for one in costs if one["peak_megabytes"] is not None]
    return (
        f"{found[0]['result']['parameters']:,}",
        f"{costs[0]['macs'] / 1e9:.2f}",
        f"{1e3 * fmean(one['training_seconds'] for one in costs):,.0f}",
        f"{1e3 * fmean(one['inference_seconds'] for one in costs):,.0f}",
        f"{fmean(peaks) / 1e3:.1f}" if peaks else "not measured",
    )


def count_gains(outcomes: Outcomes, measure: Measure) -> str:
    """Count the networks whose mean over all seeds improves with the correlations; only complete ones count."""
    scores = scores_of(outcomes, measure)
    gains = [list(seed_differences(claim, scores).values()) for claim in CLAIMS]
    complete = [fmean(gain) for gain in gains if len(gain) == len(SEEDS)]
    if not complete:
        return f"{measure.heading}: {NOT_TRAINED} with all {len(SEEDS)} seeds"
    gaining = sum(gain > 0 for gain in complete)
    return f"{measure.heading}: the correlations gain behind {gaining} of {len(complete)} networks"
