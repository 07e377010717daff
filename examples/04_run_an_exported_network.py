"""Label a block of a room with an exported network, using numpy, onnxruntime and the geometry but no network code.

point2node export rooms --out rooms.onnx
python examples/04_run_an_exported_network.py
"""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import sys
from typing import Any

import numpy as np
import onnxruntime
import point2node
from point2node.data.features import SceneFeatures, surroundings_of
from point2node.geometry.blocks import BlockRules, cut_blocks
from point2node.geometry.frames import FRAMES
from point2node.geometry.pyramid import PyramidPlan, Search, build_pyramid
from point2node.geometry.surroundings import describe_surroundings
import torch

FILE = Path("rooms.onnx")


def read_plan(note: dict[str, Any]) -> PyramidPlan:
    """Read from the file's metadata which levels and neighbours the network needs."""
    encoder, decoder = (tuple(Search(**search) for search in note[key]) for key in ("encoder", "decoder"))
    correlation = None if note["correlation"] is None else Search(**note["correlation"])
    return PyramidPlan(tuple(note["level_sizes"]), note["sampling"], encoder, decoder, correlation)


def make_inputs(xyz: np.ndarray, features: np.ndarray, plan: PyramidPlan) -> dict[str, np.ndarray]:
    """Make the inputs of a batch: coordinates (B, N, 3), features (B, N, F), and the indices of docs/export.md."""
    pyramid = build_pyramid(torch.from_numpy(xyz), plan)
    inputs = {"xyz": xyz, "features": features}
    inputs |= {f"level_{n}": one.numpy() for n, one in enumerate(pyramid.numbers) if n}
    inputs |= {f"encoder_{n}": one.numpy() for n, one in enumerate(pyramid.encoder)}
    inputs |= {f"decoder_{n}": one.numpy() for n, one in enumerate(pyramid.decoder)}
    if pyramid.correlation is not None:
        inputs["correlation"] = pyramid.correlation.numpy()
    return inputs


def main() -> None:
    if not FILE.is_file():
        subprocess.run([sys.executable, "-m", "point2node", "export", "rooms", "--out", str(FILE)], check=True)
    session = onnxruntime.InferenceSession(FILE, providers=["CPUExecutionProvider"])
    note = json.loads(session.get_modelmeta().custom_metadata_map["point2node"])

    room = point2node.generate_room(7, 0, points=60_000, styles="held_out")
    assert room.labels is not None
    xyz, _ = room.local()  # metres, z up, floor at 0
    around = describe_surroundings(xyz, surroundings_of(tuple(note["features"])))
    features = SceneFeatures(tuple(note["features"]), room.rgb, surroundings=around)
    random = np.random.default_rng(0)
    rules = BlockRules(note["block_side"], note["block_grid"], note["block_points"])
    block = random.choice(max(cut_blocks(xyz, 0.0, random, rules), key=len), note["points"], replace=False)

    described = features.of(block, xyz[block])
    assert described is not None
    inputs = make_inputs(FRAMES[note["frame"]](xyz[block])[None], described[None], read_plan(note["plan"]))
    (logits,) = session.run(["logits"], inputs)
    values = np.array([one["value"] for one in note["classes"]])
    labels = values[logits[0].argmax(axis=-1)]
    for one in note["classes"]:
        count = int((labels == one["value"]).sum())
        if count:
            print(f"{one['name']:10} {count:5} points")
    print(f"{100 * (labels == room.labels[block]).mean():.0f} % of {len(block)} points have their true class")


if __name__ == "__main__":
    main()
