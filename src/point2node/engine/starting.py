"""Beginning a training from weights that have learnt something already."""

from __future__ import annotations

from point2node.core.errors import InputError
from point2node.engine.trained import load_trained
from point2node.engine.weights import WeightsCard
from point2node.models.network import Network

LOGITS = "head.logits."


def start_from(network: Network, card: WeightsCard, name: str) -> str:
    """Give ``network``, which ``card`` describes, the weights called ``name``; returns a line that says what was done.

    Everything must fit but the last layer: where the classes are others, it stays as it was drawn.
    """
    trained = load_trained(name)
    given, own = trained.network.state_dict(), network.state_dict()
    same_classes = [one.name for one in trained.card.classes] == [one.name for one in card.classes]
    if not same_classes:
        given |= {key: tensor for key, tensor in own.items() if key.startswith(LOGITS)}
    differing = [
        key for key in {**own, **given} if key not in own or key not in given or own[key].shape != given[key].shape
    ]
    if differing:
        raise InputError(
            f"start={name}",
            expected="weights of the same network and input",
            found=f"{trained.card.model}, size {trained.card.size!r}: {differing[0]!r} does not fit",
            remedy="Give the model, size, variant, width and features of those weights, or start=null.",
        )
    network.load_state_dict(given)
    return f"begun from {name}" + ("" if same_classes else ", with a new last layer: the classes are others")
