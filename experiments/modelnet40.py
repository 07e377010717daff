"""The paper's ModelNet40 table: ``make table-modelnet40``.

Point2Node and its baseline are trained with the same recipe, in stages that start from the weights of the previous one,
each with a learning rate that rises and falls again, so every stage ends with usable weights. All stages hold back one
fold in ten. The last stage is also trained on all 9,843 shapes; this is the pretrained model. The validation figures
and the temperature come from its twin, which has never seen the fold. The official test split is never used.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.running import calibrate_once, score_once, train_once, write_table
from point2node.training.history import training_cost
from point2node.weights.run_folder import RunFolder

PRESET = "modelnet40_modern"
NETWORKS = {"Point2Node": "point2node", "PointCNN (baseline)": "baseline"}
SEEDS = (0,)
STAGES: tuple[tuple[str, ...], ...] = ((), ("learning_rate=0.002",))
"""The settings of each stage that differ from the preset."""
HOLDING_BACK: tuple[str, ...] = ("folds=10", "fold=0")
ON_EVERYTHING: tuple[str, ...] = ("validation_share=0",)
VOTES = 10
PUBLISHED = {"point2node": 93.0, "baseline": 92.2}
COLUMNS = (
    "network",
    "seed",
    "parameters",
    "epochs",
    "hours",
    "shapes/s",
    "non-local entropy",
    "votes",
    "OA, held back, %",
    "mAcc, held back, %",
    "OA on the test split, paper, %",
)


def make_table(runs: Path, modelnet40: Path | None) -> None:
    """Train each network on all shapes, and its twin; calibrate both; score the twin with one vote and all votes."""
    rows, figures = [], []
    for name, variant in NETWORKS.items():
        for seed in SEEDS:
            folder = f"{variant}-seed{seed}"
            words: tuple[str, ...] = (f"variant={variant}", f"seed={seed}")
            before: list[RunFolder] = []
            for number, stage in enumerate(STAGES[:-1], 1):
                run = train_once(runs / f"{folder}-{number}", PRESET, (*words, *stage, *HOLDING_BACK), modelnet40)
                words = (f"variant={variant}", f"seed={seed}", f"start={run.last}")
                before.append(run)
            twin = train_once(runs / f"{folder}-fold", PRESET, (*words, *STAGES[-1], *HOLDING_BACK), modelnet40)
            calibrate_once(twin, "--votes", str(VOTES), "--weights", "last")
            whole = train_once(runs / f"{folder}-all", PRESET, (*words, *STAGES[-1], *ON_EVERYTHING), modelnet40)
            calibrate_once(whole, "--twin", str(twin.path), "--weights", "last")
            result = score_once(twin, "val", modelnet40, "--weights", "calibrated")
            told = [_cost(run) for run in (twin, whole)]
            stages = [_cost(run) for run in before]
            hours = sum(cost["hours"] for cost in (*stages, told[1]))
            figures.append({"before": stages, "twin": told[0], "all": told[1], "result": result})
            for votes, scores in ((1, result["single_vote"]), (VOTES, result)):
                rows.append(
                    (
                        name,
                        str(seed),
                        f"{result['parameters']:,}",
                        str(sum(run.read_settings().epochs for run in (*before, whole))),
                        f"{hours:.1f}",
                        f"{told[1]['samples_per_second']:.0f}",
                        _percent(told[1]["entropies"].get("non_local_entropy")),
                        str(votes),
                        f"{100 * scores['oa']:.2f}",
                        f"{100 * scores['macc']:.2f}",
                        f"{PUBLISHED[variant]:.1f}",
                    )
                )
    shared = f"train {PRESET} variant=VARIANT seed=SEED"
    commands = [" ".join((shared, *stage, *("start=BEFORE",)[: bool(number)])) for number, stage in enumerate(STAGES)]
    held_back = [f"{one} {' '.join(HOLDING_BACK)}" for one in commands]
    command = "; ".join((*held_back, f"{commands[-1]} {' '.join(ON_EVERYTHING)}"))
    write_table("modelnet40", command, COLUMNS, rows, figures)


def _cost(run: RunFolder) -> dict[str, Any]:
    """Return the number of shapes that a training saw, and its cost."""
    settings, card = run.read_settings(), run.read_card()
    cost = training_cost(run.history, settings.batch_size, settings.points)
    return {"run": run.name, "trained_on": card.training, "held_back": card.validation, **asdict(cost)}


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
