"""Entry points for ``torch.hub``: ``torch.hub.load(CHECKOUT, "labeller", "rooms", source="local")``."""

from __future__ import annotations

import sys
from pathlib import Path

dependencies = ["matplotlib", "numba", "numpy", "psutil", "pydantic", "safetensors", "scipy", "torch", "yaml"]

sys.path.insert(0, str(Path(__file__).parent / "src"))  # the checkout itself, which may not be installed

from point2node import Labeller, Network, ShapeClassifier, create_model  # noqa: E402

__all__ = ["classifier", "create_model", "labeller", "network"]


def labeller(name: str = "rooms", device: str | None = None) -> Labeller:
    """Weights that label every point of a scan: shipped ones by name, a folder, a file or a Hub repository."""
    return Labeller.from_pretrained(name, device=device)


def classifier(name: str = "modelnet40", device: str | None = None) -> ShapeClassifier:
    """Weights that name single objects."""
    return ShapeClassifier.from_pretrained(name, device=device)


def network(name: str = "rooms", device: str | None = None) -> Network:
    """A network with its weights, in evaluation mode."""
    return Network.from_pretrained(name, device=device)
