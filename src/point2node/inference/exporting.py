"""Export a trained network as an ONNX file: features and the tensors of a pyramid go in, logits come out."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from point2node._version import __version__
from point2node.core.errors import InputError
from point2node.core.writing import check_writable, replacing
from point2node.geometry.pyramid import Pyramid, PyramidPlan, build_pyramid
from point2node.kernels.calling import exportable
from point2node.models.layers import gather_nodes
from point2node.models.network import Network
from point2node.weights.trained import Trained

LIBRARIES = ("onnx", "onnxscript", "onnxruntime")
KEY = "point2node"
FORMAT = 1
TOLERANCE = 1e-4
"""The largest difference of logits between the file and torch, relative to the largest logit, but at least to 1."""


class ExportedNetwork(nn.Module):
    """A network as a function of plain tensors, in the order of ``input_names``.

    Levels are passed as the indices of their points: their coordinates are gathered here, so that they always match
    ``xyz``. Nothing is validated: a check of values would break the graph.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.names = input_names(network)

    def forward(self, tensors: list[Tensor]) -> Tensor:
        """Return the logits of a batch."""
        given = dict(zip(self.names, tensors, strict=True))
        plan, xyz = self.network.plan, given["xyz"]
        numbers = tuple(given[f"level_{level}"] for level in range(1, len(plan.level_sizes)))
        pyramid = Pyramid(
            levels=(xyz, *(gather_nodes(xyz, chosen) for chosen in numbers)),
            numbers=(),
            encoder=tuple(given[f"encoder_{place}"] for place in range(len(plan.encoder))),
            decoder=tuple(given[f"decoder_{place}"] for place in range(len(plan.decoder))),
            correlation=given.get("correlation"),
        )
        return self.network._logits(given.get("features"), pyramid)


def input_names(network: Network) -> tuple[str, ...]:
    """Return the names of the exported file's inputs, in order."""
    plan = network.plan
    return (
        "xyz",
        *(("features",) if network.in_features else ()),
        *(f"level_{level}" for level in range(1, len(plan.level_sizes))),
        *(f"encoder_{place}" for place in range(len(plan.encoder))),
        *(f"decoder_{place}" for place in range(len(plan.decoder))),
        *(("correlation",) if plan.correlation is not None else ()),
    )


def inputs_of(features: Tensor | None, pyramid: Pyramid) -> dict[str, NDArray[Any]]:
    """Return the exported file's inputs for a batch, by name: float32 coordinates and features, int64 indices."""
    tensors = {
        "xyz": pyramid.levels[0],
        "features": features,
        **{f"level_{level}": numbers for level, numbers in enumerate(pyramid.numbers) if level},
        **{f"encoder_{place}": found for place, found in enumerate(pyramid.encoder)},
        **{f"decoder_{place}": found for place, found in enumerate(pyramid.decoder)},
        "correlation": pyramid.correlation,
    }
    return {name: tensor.cpu().contiguous().numpy() for name, tensor in tensors.items() if tensor is not None}


def export_onnx(trained: Trained, path: Path) -> float:
    """Write the network to ``path`` and run the file once; returns the largest difference of its logits to torch's."""
    _check_libraries()
    check_writable(path)
    network = trained.network.cpu().eval()
    content = record(network, trained.card.points, json.dumps(describe(trained)))
    difference = compare(content, network, clouds=3, points=trained.card.points + 131)
    with replacing(path) as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return difference


def describe(trained: Trained) -> dict[str, Any]:
    """Return the file's metadata for the key "point2node": everything needed to make its inputs."""
    card, plan = trained.card, trained.network.plan
    kept = ("task", "dataset", "model", "size", "variant", "features", "frame", "points")
    cutting = ("block_side", "block_grid", "block_points")
    note = card.model_dump(mode="json")
    return {
        "format": FORMAT,
        "version": __version__,
        "name": trained.name,
        **{key: note[key] for key in (*kept, *cutting, "classes")},
        "plan": asdict(plan) | {"fewest_points": plan.fewest_points},
    }


def compare(content: bytes, network: Network, *, clouds: int, points: int) -> float:
    """Compare an exported file with its network on random clouds; raises RuntimeError if they differ."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    features, pyramid = _random_batch(network, clouds, points, seed=1)
    (found,) = session.run(None, inputs_of(features, pyramid))
    with torch.no_grad():
        expected = network(features, pyramid).numpy()
    difference = float(np.abs(found - expected).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise RuntimeError(f"the exported network's logits differ from torch's by {difference:g}")
    return difference


def record(network: Network, points: int, note: str) -> bytes:
    """Return a network in evaluation mode as the bytes of an ONNX file, with the note in its metadata.

    The file accepts any number of clouds of any size; ``points`` is only the size that it is recorded with.
    """
    names = input_names(network)
    features, pyramid = _random_batch(network, 2, max(points, network.plan.fewest_points + 1), seed=0)
    tensors = [torch.from_numpy(array) for array in inputs_of(features, pyramid).values()]
    try:
        with exportable(), torch.no_grad(), _quiet():
            program = torch.onnx.export(
                ExportedNetwork(network).eval(),
                (tensors,),
                input_names=list(names),
                output_names=["logits"],
                dynamic_shapes=([_dynamic_axes(name, network.plan) for name in names],),
                dynamo=True,
                verbose=False,
            )
    except torch.onnx.OnnxExporterError as error:  # A-CNN's normals are eigenvectors, for instance
        found = "operations that ONNX does not have"
        raise InputError(type(network).__name__, expected="a network that ONNX can express", found=found) from error
    assert program is not None
    program.model.metadata_props[KEY] = note
    content: bytes = program.model_proto.SerializeToString()
    return content


def _dynamic_axes(name: str, plan: PyramidPlan) -> dict[int, Any]:
    """Return the dynamic axes of an input: the batch, and the number of points if a level contains all of them."""
    kind, _, place = name.partition("_")
    searches = {"encoder": plan.encoder, "decoder": plan.decoder}
    if kind == "correlation":
        assert plan.correlation is not None
        level = plan.correlation.queries
    elif kind in searches:
        level = searches[kind][int(place)].queries
    else:
        level = int(place or 0)
    batch = {0: torch.export.Dim("batch")}
    is_whole = all(size is None for size in plan.level_sizes[1 : level + 1])
    return batch | {1: torch.export.Dim("points")} if is_whole else batch


def _random_batch(network: Network, clouds: int, points: int, seed: int) -> tuple[Tensor | None, Pyramid]:
    """Return clouds in a cube of 2 m around the origin; the recorded graph does not depend on their coordinates."""
    generator = torch.Generator().manual_seed(seed)
    xyz = torch.rand(clouds, points, 3, generator=generator) * 2 - 1
    width = network.in_features
    features = torch.rand(clouds, points, width, generator=generator) - 0.5 if width else None
    return features, build_pyramid(xyz, network.plan)


def _check_libraries() -> None:
    for name in LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            raise InputError(
                "--format onnx",
                expected=f"the libraries {', '.join(LIBRARIES)}",
                found=f"no {name}",
                remedy="Run: pip install 'point2node[export]'",
            ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the warnings of torch's exporter about itself, which do not concern users of the file."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
