"""The paper's ModelNet40 table, trained here: ``make table-modelnet40``.

Point2Node and its baseline are trained by one recipe, each of them twice. One training sees all 9,843 shapes and is
what ships. Its twin leaves out one fold in ten: validation figures and the temperature come from there. The official
test split is never looked at.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.running import calibrate_once, score_once, train_once, write_table
from point2node.engine.history import training_cost
from point2node.engine.run_folder import RunFolder

PRESET = "modelnet40_modern"
NETWORKS = {"Point2Node": "point2node", "PointCNN (baseline)": "baseline"}
SEEDS = (0,)
HOLDING_BACK: tuple[str, ...] = ("folds=10", "fold=0")
ON_EVERYTHING: tuple[str, ...] = ("validation_share=0",)
VOTES = 10
PUBLISHED = {"point2node": 93.0, "baseline": 92.2}
COLUMNS = (
    "network",
    "seed",
    "parameters",
    "epochs",
    "hours, twin + all",
    "shapes/s",
    "non-local entropy",
    "votes",
    "OA, held back, %",
    "mAcc, held back, %",
    "OA on the test split, paper, %",
)


def make_table(runs: Path, modelnet40: Path | None) -> None:
    """Train each network on everything, and its twin; calibrate both; score the twin with one vote and with all."""
    rows, figures = [], []
    for name, variant in NETWORKS.items():
        for seed in SEEDS:
            words = (f"variant={variant}", f"seed={seed}")
            folder = f"{variant}-seed{seed}"
            twin = train_once(runs / f"{folder}-fold", PRESET, (*words, *HOLDING_BACK), modelnet40)
            calibrate_once(twin, "--votes", str(VOTES), "--weights", "last")
            whole = train_once(runs / f"{folder}-all", PRESET, (*words, *ON_EVERYTHING), modelnet40)
            calibrate_once(whole, "--twin", str(twin.path), "--weights", "last")
            result = score_once(twin, "val", modelnet40, "--weights", "calibrated")
            told = [_cost(run) for run in (twin, whole)]
            figures.append({"twin": told[0], "all": told[1], "result": result})
            for votes, scores in ((1, result["single_vote"]), (VOTES, result)):
                rows.append(
                    (
                        name,
                        str(seed),
                        f"{result['parameters']:,}",
                        str(whole.read_settings().epochs),
                        f"{told[0]['hours']:.1f} + {told[1]['hours']:.1f}",
                        f"{told[1]['samples_per_second']:.0f}",
                        _percent(told[1]["entropies"].get("non_local_entropy")),
                        str(votes),
                        f"{100 * scores['oa']:.2f}",
                        f"{100 * scores['macc']:.2f}",
                        f"{PUBLISHED[variant]:.1f}",
                    )
                )
    shared = f"train {PRESET} variant=VARIANT seed=SEED"
    command = f"{shared} {' '.join(HOLDING_BACK)}; {shared} {' '.join(ON_EVERYTHING)}"
    write_table("modelnet40", command, COLUMNS, rows, figures)


def _cost(run: RunFolder) -> dict[str, Any]:
    """What a training saw and took."""
    settings, card = run.read_settings(), run.read_card()
    cost = training_cost(run.history, settings.batch_size, settings.points)
    return {"run": run.name, "trained_on": card.training, "held_back": card.validation, **asdict(cost)}


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
