"""Loading of trained weights from a run folder, a file, or the name of a pretrained model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from os import PathLike, fspath
from pathlib import Path

from point2node.core.errors import InputError
from point2node.models.network import Network
from point2node.models.pretrained import MODEL, SUFFIX, pretrained_file, pretrained_names
from point2node.weights.cards import WeightsCard, read_model_card, read_weights
from point2node.weights.run_folder import RunCard, RunFolder
from point2node.weights.settings import Settings

MISSING = {
    "best": "Let the training reach its first validation, or use --weights last.",
    "last": "Let the training reach its first checkpoint.",
    "calibrated": "Run 'point2node calibrate' on it first.",
}
"""The kinds of weights that a run can have, and what to do if they are missing."""

FROM_WEIGHTS = (frozenset(WeightsCard.model_fields) & frozenset(Settings.model_fields)) - {"classes", "dataset", "turn"}
"""Settings that are determined by the weights: the network and its input."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A network with its weights and their origin."""

    name: str
    network: Network
    card: WeightsCard
    weights: str
    """Which of a run's weights: best, last or calibrated; "shipped", "saved", or the name of a single file."""
    run: RunFolder | None = None
    """None for pretrained models and single files."""
    run_card: RunCard | None = None
    settings: Settings | None = None
    """The settings of the training; None for single files."""
    weak: tuple[str, ...] = ()
    """Classes that a pretrained model often gets wrong on real scans."""


def load_trained(name: str | PathLike[str], weights: str = "best") -> Trained:
    """Load the trained network called ``name``; for a run, ``weights`` is best, last or calibrated."""
    name, path = fspath(name), Path(name)
    is_saved, is_shipped = (path / MODEL).is_file(), name in pretrained_names()
    if path.is_dir() and (RunFolder(path).exists or not (is_saved or is_shipped)):  # a folder of scans may be "rooms"
        run = RunFolder(path)
        run_card, settings = run.read_card(), run.read_settings()
        file = path / f"{weights}{SUFFIX}"
        if not file.is_file():
            expected = f"the {weights} weights of the run"
            raise InputError(file, expected=expected, found="none yet", remedy=MISSING[weights])
        network, card = read_weights(file)
        return Trained(run.name, network, card, weights, run, run_card, settings)
    if weights != "best" and (path.exists() or is_shipped):
        raise InputError("--weights", expected=f"a run folder, which has several; {name} is one", found=weights)
    if is_saved:
        network, card = read_weights(path / MODEL)
        return Trained(path.resolve().name, network, card, "saved")
    if path.is_file():
        network, card = read_weights(path)
        return Trained(path.stem, network, card, path.stem)
    if is_shipped:
        model_card = read_model_card(resources.files("point2node") / "weights" / f"{name}.json")
        with pretrained_file(name) as file:
            network, card = read_weights(file)
        return Trained(name, network, card, "shipped", settings=model_card.settings, weak=model_card.weak)
    known = ", ".join(pretrained_names()) or "none yet"
    raise InputError(
        name, expected=f"a run folder, a {SUFFIX} file or a pretrained model ({known})", found="nothing there"
    )
