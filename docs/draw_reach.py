"""Draws which points of a block one point's logits depend on, for every network without and with the correlations.

python docs/draw_reach.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor

from point2node import build_pyramid, create_model, generate_room
from point2node.geometry.coordinates import room_frame
from point2node.models.catalogue import REFERENCE_MODELS
from point2node.models.network import Network

POINTS, SIDE, SEED = 2048, 1.5, 0
DECADES = 8
"""From the strongest gradient down to the darkest colour; grey is exactly 0."""


def block_of_a_room() -> tuple[Tensor, Tensor]:
    """Points (1, N, 3) of one block of a generated room, about its densest place, and their colours in ±0.5."""
    room = generate_room(SEED, 0, points=60_000)
    middle = np.median(room.xyz[:, :2], axis=0)
    inside = np.flatnonzero((np.abs(room.xyz[:, :2] - middle) < SIDE / 2).all(axis=1))
    chosen = np.random.default_rng(SEED).choice(inside, POINTS, replace=len(inside) < POINTS)
    assert room.rgb is not None
    rgb = torch.from_numpy(room.rgb[chosen]).float() / 255 - 0.5
    return room_frame(torch.from_numpy(room.xyz[chosen])[None]), rgb[None]


def reach(model: Network, xyz: Tensor, rgb: Tensor, point: int) -> Tensor:
    """(N,) the size of the gradient of a point's logits at the features of every point."""
    features = rgb.clone().requires_grad_()
    logits = model(features, build_pyramid(xyz, model.plan))[0, point]
    (gradient,) = torch.autograd.grad(logits.square().sum(), features)
    return gradient[0].norm(dim=-1)


def main() -> None:
    """One column a network, without correlations above and with them below."""
    xyz, rgb = block_of_a_room()
    point = int((xyz[0] - torch.tensor([0.0, 0.0, 0.6])).norm(dim=-1).argmin())  # on the furniture in the middle
    across, up = xyz[0, :, 0], xyz[0, :, 2]
    columns = [("point2node", ("baseline", "point2node")), *((name, (None, "point2node")) for name in REFERENCE_MODELS)]
    figure, panels = plt.subplots(2, len(columns), figsize=(2.1 * len(columns), 6.4), layout="constrained")
    for column, (name, variants) in enumerate(columns):
        for row, variant in enumerate(variants):
            torch.manual_seed(SEED)
            found = reach(create_model(name, preset="rooms", variant=variant).eval(), xyz, rgb, point)
            share = float((found > 0).float().mean())
            shown = ((found / found.max()).clamp_min(1e-30).log10() / DECADES + 1).clamp(0, 1)
            order = shown.argsort()[int((found == 0).sum()) :]
            axes = panels[row, column]
            axes.set_facecolor("black")
            axes.scatter(across, up, c="#3c3c46", s=4, linewidths=0)
            axes.scatter(across[order], up[order], c=shown[order], s=5, cmap="plasma", vmin=0, vmax=1, linewidths=0)
            axes.plot(across[point], up[point], "+", color="cyan", markersize=9)
            axes.set_title(f"{name}\n{variant or 'as published'}: {share:.0%}", fontsize=8)
            axes.set_xticks([])
            axes.set_yticks([])
    target = Path(__file__).parent / "images/reach.png"
    figure.savefig(target, dpi=90)
    print(f"drew {target.name}")


if __name__ == "__main__":
    main()
