"""Put the weights of a finished run into the package, with their card.

python docs/ship_weights.py RUN NAME WORDS.yaml EVALUATION.json...

The calibrated weights of the run are taken, or the best ones where 'point2node calibrate' has not been run. WORDS.yaml
holds what only a person can say: what, data, licence, command, machine, limits, and the trainings before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import yaml

from point2node.core.errors import InputError
from point2node.engine.history import read_history, training_seconds
from point2node.engine.model_card import ModelCard
from point2node.engine.run_folder import RunFolder
from point2node.engine.weights import read_weights

FOLDER = Path(__file__).parents[1] / "src/point2node/weights"
KEPT = ("split", "oa", "macc", "miou", "iou", "accuracy", "ece", "units", "trained_steps", "protocol", "single_vote")


def main() -> None:
    """Copy the weights and write the card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument("words", type=Path)
    parser.add_argument("evaluations", type=Path, nargs="*")
    given = parser.parse_args()
    run = RunFolder(given.run)
    calibration = given.run / "calibration.json"
    file = run.calibrated if calibration.is_file() else run.best
    content = file.read_bytes()
    settings = run.read_settings()
    seconds = training_seconds(run.history, settings.batch_size * settings.points)
    _, weights = read_weights(file)
    measured = [calibration, *given.evaluations] if calibration.is_file() else given.evaluations
    for one in measured:
        if json.loads(one.read_text())["trained_steps"] != weights.step:
            raise InputError(one, expected=f"figures of step {weights.step}, as {file}", found="those of another")
    steps = max(int(row["step"]) for row in read_history(run.history))  # the best weights may be of an earlier one
    card = ModelCard(
        name=given.name,
        sha256=hashlib.sha256(content).hexdigest(),
        settings=settings.model_copy(update={"start": None}),  # which 'before' tells of
        steps=weights.step,
        hours=round(seconds / 3600, 2),
        samples_per_second=round(steps * settings.batch_size / seconds, 2),
        calibration=json.loads(calibration.read_text()) if calibration.is_file() else None,
        figures=tuple(_figures(json.loads(one.read_text())) for one in given.evaluations),
        **yaml.safe_load(given.words.read_text()),
    )
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{given.name}.safetensors").write_bytes(content)
    (FOLDER / f"{given.name}.json").write_text(card.model_dump_json(indent=1) + "\n")
    print(f"shipped: {given.name}, {len(content) / 1e6:.1f} MB")


def _figures(result: dict[str, object]) -> dict[str, object]:
    return {key: result[key] for key in KEPT if key in result}


if __name__ == "__main__":
    main()
