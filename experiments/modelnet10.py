"""ModelNet10: a training and a second one from its weights, scored on the shapes held back: ``make table-modelnet10``.

Recipe, votes and temperature are chosen on these validation shapes alone; the official test split is not looked at.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.running import calibrate_once, score_once, train_once, write_table
from point2node.training.history import training_seconds

PRESET = "modelnet10_modern"
SHARED: tuple[str, ...] = (
    "epochs=40",
    "turn=10",
    "dropout=0.5",
    "point_drop=0.2",
    "class_weights=balanced",
    "ema_decay=0.998",
    "votes=10",
    "validate_every=1500",
)
FIRST: tuple[str, ...] = ("learning_rate=0.002", "warmup_steps=200")
SECOND: tuple[str, ...] = ("learning_rate=0.001", "warmup_steps=100")
FIRST_VOTES, VOTES = 10, 20
"""Of the first network and of the one that ships; while they learn, validation makes do with fewer."""


def make_table(runs: Path, modelnet10: Path | None) -> None:
    """Train twice, calibrate, score with one vote and with all."""
    first = calibrate_once(
        train_once(runs / "first", PRESET, (*SHARED, *FIRST), modelnet10), "--votes", str(FIRST_VOTES)
    )
    words = (*SHARED, *SECOND, f"start={first.calibrated}")
    second = calibrate_once(train_once(runs / "second", PRESET, words, modelnet10), "--votes", str(VOTES))
    rows, figures = [], []
    before, hours = 0, 0.0
    for run in (first, second):
        result = score_once(run, "val", modelnet10, "--weights", "calibrated")
        settings, card = run.read_settings(), run.read_card()
        steps = before + result["trained_steps"]  # the best weights may be of an earlier step than the last
        hours += training_seconds(run.history, settings.batch_size * settings.points) / 3600
        calibration = json.loads((run.path / "calibration.json").read_text(encoding="utf-8"))
        figures.append({"steps": steps, "hours": hours, "calibration": calibration, "result": result})
        told = (f"{steps:,}", f"{hours:.2f}", f"{card.training:,}", f"{card.validation:,}")
        for votes, scores in ((1, result["single_vote"]), (result["protocol"]["votes"], result)):
            rows.append((*told, str(votes), f"{100 * scores['oa']:.2f}", f"{100 * scores['macc']:.2f}"))
        before = steps
    columns = ("steps", "hours", "trained on", "validated on", "votes", "validation OA, %", "validation mAcc, %")
    first_words, second_words = (" ".join((*SHARED, *words)) for words in (FIRST, SECOND))
    command = f"train {PRESET} {first_words}; train {PRESET} {second_words} start=FIRST/{first.calibrated.name}"
    write_table("modelnet10", command, columns, rows, figures)
