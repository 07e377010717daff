"""``point2node calibrate``: calibrate the confidence of trained weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from point2node.cli.evaluate import Which
from point2node.cli.progress import progress, tell
from point2node.core.errors import InputError

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.weights.trained import Trained


def calibrate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder.")],
    data: Annotated[
        Path | None, typer.Option(help="A prepared store or a raw data set; by default the run's own.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split to find the temperature on; not one used in training.")] = "val",
    votes: Annotated[
        int | None, typer.Option(min=1, help="How many times to label each block or shape; kept in the copy.")
    ] = None,
    weights: Annotated[Which, typer.Option(help="Which weights of the run to calibrate.")] = Which.best,
    twin: Annotated[
        Path | None,
        typer.Option(
            help="Take the temperature from this calibrated run, which held back part of what RUN was trained on."
        ),
    ] = None,
    natural: Annotated[
        bool, typer.Option("--natural", help="First undo the class weights that the run was trained with.")
    ] = False,
) -> None:
    """Find the temperature of a run's weights on held-out data and fold it into a copy of them.

    Writes calibrated.safetensors, calibration.json and reliability.png in the run folder.

    Example: point2node calibrate runs/tiny-point2node-seed0
    """
    from point2node.evaluation.calibration import (
        CALIBRATION,
        calibration_of_twin,
        fold_temperature,
        undo_class_weights,
    )
    from point2node.report.curves import draw_reliability
    from point2node.weights.cards import write_weights
    from point2node.weights.run_folder import RunFolder
    from point2node.weights.trained import load_trained

    if weights is Which.calibrated:
        raise InputError("--weights", expected="weights that are not calibrated yet", found=weights.value)
    trained = load_trained(run, weights.value)
    if trained.run is None or trained.settings is None:
        raise InputError(run, expected="a run folder", found="weights without one")
    own = {"run": trained.name, "weights": weights.value, "trained_steps": trained.card.step}
    if twin is None:
        weights_taken_back = _undo_class_weights(trained) if natural else {}
        result = _fit(trained, data, split, votes) | own | weights_taken_back
    else:
        if (data, split, votes, natural) != (None, "val", None, False):
            expected = "no --data, --split, --votes or --natural: they are taken from the twin"
            raise InputError("--twin", expected=expected, found="some")
        result = calibration_of_twin(trained.run, RunFolder(twin)) | own
        if "class_weights" in result:
            undo_class_weights(trained.network, result["class_weights"])
        fold_temperature(trained.network, result["temperature"])
    folder, protocol = trained.run.path, result["protocol"]
    card = trained.card.model_copy(update={"votes": protocol["votes"], "rule": protocol["rule"]})
    write_weights(trained.run.calibrated, trained.network.state_dict(), card)
    draw_reliability(result, folder / "reliability.png", trained.name if twin is None else result["twin"])
    trained.run.write_json(folder / CALIBRATION, result)
    before, after = (100 * result[when]["ece"] for when in ("before", "after"))
    where = "" if twin is None else f" on what {result['twin']} held back"
    print(
        f"temperature {result['temperature']:.3f}: expected calibration error {before:.2f} % before, {after:.2f} % "
        f"after{where}"
    )
    if after > before:
        why = "the temperature fits single votes, not their mean, or there was too little data"
        tell([f"warning: the calibration error grew: {why}. Keep the old weights, or calibrate on more data."])
    print(f"written: {trained.run.calibrated}, {CALIBRATION}, reliability.png")


def _undo_class_weights(trained: Trained) -> dict[str, Any]:
    """Undo the class weights of the training, computed from the run's own data, and return them."""
    from point2node.evaluation.calibration import undo_class_weights
    from point2node.evaluation.scoring import open_scored_data
    from point2node.evaluation.splits import class_weights, divide

    assert trained.settings is not None
    with progress("preparing") as report:
        store = open_scored_data(trained, None, report)
    weights = class_weights(trained.settings, store, divide(trained.settings, store).training)
    if weights is None:
        raise InputError("--natural", expected="a run trained with class_weights", found="one without")
    undo_class_weights(trained.network, weights.tolist())
    return {"class_weights": weights.tolist()}


def _fit(trained: Trained, data: Path | None, split: str, votes: int | None) -> dict[str, Any]:
    """Find the temperature on held-out data and fold it into the network."""
    from point2node.data.features import missing_colour_notes
    from point2node.evaluation.calibration import calibrate as fit
    from point2node.evaluation.protocol import protocol_of
    from point2node.evaluation.scoring import is_own_data, open_scored_data
    from point2node.evaluation.splits import TRAIN, divide, find_part
    from point2node.inference.asking import choose_device

    assert trained.settings is not None
    with progress("preparing") as report:
        store = open_scored_data(trained, data, report)
    tell([*store.manifest.notes_to_print(), *missing_colour_notes(store, trained.card.features)])
    part = find_part(trained.settings, store, split)
    if split == TRAIN or (is_own_data(trained, store) and part.overlaps(divide(trained.settings, store).training)):
        raise InputError("--split", expected="data that training has not seen", found=split)
    protocol = replace(protocol_of(trained.card, store, part, votes, "mean_probability"), voxel=None)
    network = trained.network.to(choose_device())
    with progress(f"calibrating {trained.name}") as report:
        return fit(network, trained.card, store, part, protocol, report).as_dict()
