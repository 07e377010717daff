"""The paper's nine variants and joint and scaled ones, compared claim by claim: ``make table-beyond``.

On blocks of 3 m the networks have width 2; on ModelNet40 they are the preset's. Differences are computed for each seed.
The joint variant is compared with Point2Node at equal steps and at equal time: Point2Node is also trained for as many
steps as take the time of the joint variant. The baseline is also trained for twice the steps, to see whether it has
converged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.comparison import (
    MEASURES,
    ROOMS,
    SEEDS,
    SHAPES,
    Plan,
    Task,
    as_figures,
    carry_out,
    choose_tasks,
    claim_rows,
    read_outcomes,
    score_cell,
    steps_in_equal_time,
)
from experiments.running import markdown_table, write_results
from point2node.report.paper_numbers import CLAIMS, Claim
from point2node.weights.run_folder import RunFolder

STEPS = {ROOMS.name: 2000, SHAPES.name: 1500}
ROWS: dict[str, tuple[str, ...]] = {
    "baseline": ("variant=baseline",),
    "point2node": ("variant=point2node",),
    "joint": ("variant=joint",),
    "point2node_as_long_as_joint": ("variant=point2node",),
    "scaled": ("variant=point2node", "correlation_scale=true"),
    "joint_scaled": ("variant=joint_scaled",),
    "joint_only": ("variant=joint_only",),
    "global_average": ("variant=global_average",),
    "baseline_twice_as_long": ("variant=baseline",),
    "self_only": ("variant=self_only",),
    "local_only": ("variant=local_only",),
    "non_local_only": ("variant=non_local_only",),
    "parallel_1": ("variant=parallel_1",),
    "parallel_2": ("variant=parallel_2",),
    "linear_aggregation": ("variant=linear_aggregation",),
    "parameter_free_aa": ("variant=parameter_free_aa",),
}
"""The rows in the order of training: the most informative ones first."""
BEYOND = (
    Claim("the baseline still gains from twice the steps", ("baseline_twice_as_long",), ("baseline",)),
    Claim("the three blocks beat twice the steps", ("point2node",), ("baseline_twice_as_long",)),
    Claim("joint beats point2node at equal steps", ("joint",), ("point2node",)),
    Claim("joint beats point2node at equal time", ("joint",), ("point2node_as_long_as_joint",)),
    Claim("inside alone beats behind alone", ("joint_only",), ("point2node",)),
    Claim("the scale 1/√(C/r) helps point2node", ("scaled",), ("point2node",)),
    Claim("the scale 1/√(C/r) helps joint", ("joint_scaled",), ("joint",)),
    Claim("learned non-local correlation beats the plain average", ("point2node",), ("global_average",)),
)


def make_table(runs: Path, modelnet40: Path | None, real: Path | None, only: Sequence[str]) -> None:
    """Train and score every row with every seed, seed 0 first."""
    tasks = choose_tasks(modelnet40, real)
    carry_out(plan(tasks, runs), runs, real, only, lambda: write_tables(runs))


def plan(tasks: Sequence[Task], runs: Path) -> Iterator[Plan]:
    """Yield the runs in order; those at equal time follow once the runs that they depend on are finished."""
    for seed in SEEDS:
        for task in tasks:
            for name, words in ROWS.items():
                steps = choose_steps(name, task.name, runs)
                if steps is not None:
                    length = (f"steps={steps}", f"validate_every={steps}")
                    yield Plan(task, name, seed, (*words, *length))


def choose_steps(name: str, task: str, runs: Path) -> int | None:
    """Return the steps to train a row for; None if not known yet."""
    steps = STEPS[task]
    if name == "baseline_twice_as_long":
        return 2 * steps
    if name == "point2node_as_long_as_joint":
        joint, point2node = (RunFolder(runs / task / f"{variant}-seed0") for variant in ("joint", "point2node"))
        return steps_in_equal_time(steps, point2node, joint, runs / task / "equal_time.json")
    return steps


def write_tables(runs: Path) -> None:
    """Write the scores of every row, then the verdict on each claim."""
    outcomes = read_outcomes(runs, list(ROWS))
    rows = [(name, *(score_cell(outcomes, measure, name) for measure in MEASURES)) for name in ROWS]
    headings = [f"{measure.heading}, %" for measure in MEASURES]
    judged = ("claim", *(f"Δ {measure.heading}" for measure in MEASURES), "Δ mIoU, paper")
    text = markdown_table(("network", *headings), rows)
    text += "\n\n" + markdown_table(judged, claim_rows(outcomes, (*BEYOND, *CLAIMS)))
    commands = [
        f"train {task.preset} {' '.join(task.words)} steps={STEPS[task.name]} VARIANT seed=SEED"
        for task in (ROOMS, SHAPES)
    ]
    write_results("beyond", "; ".join(commands), text, as_figures(outcomes))
