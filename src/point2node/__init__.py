"""Point2Node: correlation learning of dynamic nodes for point clouds.

    import numpy as np
    import point2node

    model = point2node.create_model(preset="tiny", num_classes=4, in_features=0)
    logits = model.run(np.random.rand(1000, 3))  # (1000, 4)

Names are imported on first use, so that ``import point2node`` and the command line start without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from point2node._version import __version__

if TYPE_CHECKING:
    from point2node.api import Labelled, Labeller, load
    from point2node.core.errors import InputError
    from point2node.core.point_cloud import PointCloud
    from point2node.data.batches import Collate
    from point2node.data.samples import RoomBlocks, ShapeClouds
    from point2node.data.store import open_store
    from point2node.formats import read, sample_mesh, write
    from point2node.geometry.coordinates import shift_to_float32
    from point2node.geometry.neighbours import dilated_k_nearest_neighbours
    from point2node.geometry.pyramid import build_pyramid
    from point2node.inference.classifier import ShapeClassifier
    from point2node.models.catalogue import SIZES, create_model, list_models
    from point2node.models.network import Network
    from point2node.models.point2node.network import Point2NodeClassifier, Point2NodeSegmenter
    from point2node.models.point2node.stages import VARIANTS, DynamicNodeCorrelation
    from point2node.rooms import generate_room

_HOMES = {
    "Labelled": "point2node.api",
    "Labeller": "point2node.api",
    "load": "point2node.api",
    "InputError": "point2node.core.errors",
    "PointCloud": "point2node.core.point_cloud",
    "Collate": "point2node.data.batches",
    "read": "point2node.formats",
    "sample_mesh": "point2node.formats",
    "write": "point2node.formats",
    "generate_room": "point2node.rooms",
    "RoomBlocks": "point2node.data.samples",
    "ShapeClouds": "point2node.data.samples",
    "open_store": "point2node.data.store",
    "ShapeClassifier": "point2node.inference.classifier",
    "shift_to_float32": "point2node.geometry.coordinates",
    "dilated_k_nearest_neighbours": "point2node.geometry.neighbours",
    "build_pyramid": "point2node.geometry.pyramid",
    "SIZES": "point2node.models.catalogue",
    "create_model": "point2node.models.catalogue",
    "list_models": "point2node.models.catalogue",
    "Network": "point2node.models.network",
    "Point2NodeClassifier": "point2node.models.point2node.network",
    "Point2NodeSegmenter": "point2node.models.point2node.network",
    "VARIANTS": "point2node.models.point2node.stages",
    "DynamicNodeCorrelation": "point2node.models.point2node.stages",
}

__all__ = [
    "SIZES",
    "VARIANTS",
    "Collate",
    "DynamicNodeCorrelation",
    "InputError",
    "Labelled",
    "Labeller",
    "Network",
    "Point2NodeClassifier",
    "Point2NodeSegmenter",
    "PointCloud",
    "RoomBlocks",
    "ShapeClassifier",
    "ShapeClouds",
    "__version__",
    "build_pyramid",
    "create_model",
    "dilated_k_nearest_neighbours",
    "generate_room",
    "list_models",
    "load",
    "open_store",
    "read",
    "sample_mesh",
    "shift_to_float32",
    "write",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'point2node' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
