"""ModelNet10: a twin that holds shapes back for validation, and the network that ships: ``make table-modelnet10``.

Recipe and temperature are chosen on the twin's validation shapes alone; the network that ships is trained by the same
command on all shapes. The official test split is looked at by neither.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.running import point2node, score_once, train_once, write_table
from point2node.engine.history import training_seconds

PRESET = "modelnet10_modern"
WORDS = ("epochs=60", "turn=0", "validate_every=1000")
VOTES = 10


def make_table(runs: Path, modelnet10: Path | None) -> None:
    """Train both, score and calibrate the twin."""
    twin = train_once(runs / "twin", PRESET, WORDS, modelnet10)
    one = score_once(twin, "val", modelnet10)
    several = score_once(twin, "val", modelnet10, "--votes", str(VOTES))
    if not (twin.path / "calibration.json").is_file():
        point2node("calibrate", twin.path, "--votes", str(VOTES))
    calibration = json.loads((twin.path / "calibration.json").read_text(encoding="utf-8"))
    final = train_once(runs / "final", PRESET, (*WORDS, "validation_share=0"), modelnet10)
    rows, figures = [], []
    for run in (twin, final):
        settings, card = run.read_settings(), run.read_card()
        hours = training_seconds(run.history, settings.batch_size * settings.points) / 3600
        scores = [f"{100 * result['oa']:.2f}" if run is twin else "trained on these" for result in (one, several)]
        rows.append((run.name, f"{card.training:,}", f"{card.steps:,}", f"{hours:.2f}", *scores))
        figures.append({"run": run.name, "shapes": card.training, "steps": card.steps, "hours": hours})
    columns = ("run", "shapes", "steps", "hours on 2 cores", "validation OA, %", f"with {VOTES} votes, %")
    write_table(
        "modelnet10",
        f"train {PRESET} {' '.join(WORDS)}",
        columns,
        rows,
        {"runs": figures, "single_vote": one, "votes": several, "calibration": calibration},
    )
