"""Beginning a training from weights that have learnt something already."""

from __future__ import annotations

from pathlib import Path

from point2node.core.errors import InputError
from point2node.models.network import Network
from point2node.models.weights_file import load_tensors
from point2node.weights.cards import WeightsCard
from point2node.weights.trained import load_trained

LOGITS = "head.logits."


def start_from(network: Network, card: WeightsCard, name: str) -> str:
    """Give ``network``, which ``card`` describes, the weights called ``name``; returns a line that says what was done.

    Everything must fit but the last layer: where the classes are others, it stays as it was drawn.
    """
    trained = load_trained(name)
    if trained.card.features != card.features:
        expected, found = (" + ".join(("xyz", *one.features)) for one in (trained.card, card))
        raise InputError("features", expected=f"{expected}, the input of {name}", found=found)
    given = trained.network.state_dict()
    same_classes = [one.name for one in trained.card.classes] == [one.name for one in card.classes]
    if not same_classes:
        given |= {key: tensor for key, tensor in network.state_dict().items() if key.startswith(LOGITS)}
    load_tensors(Path(name), network, given)
    frames = "" if trained.card.frame == card.frame else f", which saw blocks in the frame of the {trained.card.frame}"
    return f"begun from {name}{frames}" + ("" if same_classes else ", with a new last layer: the classes are others")
