"""Put the weights of a finished run into the package, with their card.

python docs/ship_weights.py RUN NAME WORDS.yaml EVALUATION.json... [--twin RUN]

The calibrated weights of the run are taken, or the best ones where 'point2node calibrate' has not been run. WORDS.yaml
holds what only a person can say: what, data, licence, command, machine, limits, and the trainings before. With --twin
the run was trained on everything, and the evaluations are those of its twin, which held something back.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import yaml

from point2node.core.errors import InputError
from point2node.evaluation.calibration import CALIBRATION
from point2node.training.history import training_cost
from point2node.weights.cards import ModelCard, Twin, read_weights
from point2node.weights.run_folder import RunFolder

FOLDER = Path(__file__).parents[1] / "src/point2node/weights"
KEPT = ("split", "oa", "macc", "miou", "iou", "accuracy", "ece", "units", "trained_steps", "protocol", "single_vote")


def main() -> None:
    """Copy the weights and write the card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument("words", type=Path)
    parser.add_argument("evaluations", type=Path, nargs="*")
    parser.add_argument("--twin", type=Path)
    given = parser.parse_args()
    run = RunFolder(given.run)
    calibration = given.run / CALIBRATION
    file = run.calibrated if calibration.is_file() else run.best
    content = file.read_bytes()
    settings = run.read_settings()
    cost = training_cost(run.history, settings.batch_size, settings.points)
    _, weights = read_weights(file)
    words = yaml.safe_load(given.words.read_text())
    twin = None if given.twin is None else _twin(RunFolder(given.twin), words.pop("twin_command"))
    if calibration.is_file():
        _check_steps(calibration, weights.step)
    for one in given.evaluations:
        _check_steps(one, weights.step if twin is None else twin.steps)
    card = ModelCard(
        name=given.name,
        sha256=hashlib.sha256(content).hexdigest(),
        settings=settings.model_copy(update={"start": None}),  # which 'before' tells of
        steps=weights.step,
        hours=round(cost.hours, 2),
        samples_per_second=round(cost.samples_per_second, 2),
        entropies={name: round(value, 4) for name, value in cost.entropies.items()},
        twin=twin,
        calibration=json.loads(calibration.read_text()) if calibration.is_file() else None,
        figures=tuple(_figures(json.loads(one.read_text())) for one in given.evaluations),
        **words,
    )
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{given.name}.safetensors").write_bytes(content)
    (FOLDER / f"{given.name}.json").write_text(card.model_dump_json(indent=1) + "\n")
    print(f"shipped: {given.name}, {len(content) / 1e6:.1f} MB")


def _twin(run: RunFolder, command: str) -> Twin:
    settings, card = run.read_settings(), run.read_card()
    cost = training_cost(run.history, settings.batch_size, settings.points)
    return Twin(
        command=command,
        steps=cost.steps,
        hours=round(cost.hours, 2),
        trained_on=card.training,
        held_back=card.validation,
    )


def _check_steps(file: Path, steps: int) -> None:
    """Figures must be of the weights that they are shown with."""
    found = json.loads(file.read_text())["trained_steps"]
    if found != steps:
        raise InputError(file, expected=f"figures of step {steps}", found=f"step {found}")


def _figures(result: dict[str, object]) -> dict[str, object]:
    return {key: result[key] for key in KEPT if key in result}


if __name__ == "__main__":
    main()
