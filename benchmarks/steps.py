"""Whole training steps: the share of the machine's GEMM speed that they reach.

The share is (6 × multiply-accumulates of the paper's formulas × clouds) ÷ seconds ÷ GEMM speed of the same run: two
operations per multiply-accumulate, and the backward pass counts as two forward passes. Recomputation does not count.

The targets are for machines with AVX2. With AVX-512 a matrix product gains more than the loops around it; the targets
are then 45 % for the classification step and 35 % for the step of the rooms network.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

import point2node
from benchmarks.measure import Row, alternate
from point2node.training.recipe import loss_and_weight

GEMM = 2048  # fp32 matrices of this side


def training_step(preset: str, clouds: int, points: int) -> tuple[Callable[[], None], float]:
    """Return a training step on a fixed batch, with the optimiser but without the geometry, and its operations."""
    torch.manual_seed(0)
    model = point2node.create_model(preset=preset).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, eps=1e-5, fused=True)
    xyz = torch.rand(clouds, points, 3) * 1.5
    features = torch.rand(clouds, points, 3) if model.in_features else None
    pyramid = point2node.build_pyramid(xyz, model.plan)
    shape = (clouds, points) if model.task == "segmentation" else (clouds,)
    labels = torch.randint(0, model.head.logits.out_features, shape)

    def step() -> None:
        total, weight = loss_and_weight(model(features, pyramid), labels, None, 0.0)
        (total / weight).backward()
        optimiser.step()
        optimiser.zero_grad()

    return step, 6 * model.macs(points) * clouds


def measure() -> list[Row]:
    segmentation, segmentation_work = training_step("s3dis", clouds=4, points=2048)
    classification, classification_work = training_step("modelnet40", clouds=32, points=1024)
    rooms, rooms_work = training_step("rooms", clouds=8, points=2048)
    a, b = torch.rand(GEMM, GEMM), torch.rand(GEMM, GEMM)
    seconds = alternate(
        {"gemm": lambda: a @ b, "segmentation": segmentation, "classification": classification, "rooms": rooms},
        rounds=7,
    )
    peak = 2 * GEMM**3 / seconds["gemm"]
    print(f"GEMM {GEMM}³: {peak / 1e9:.0f} GFLOP/s; " + ", ".join(f"{k} {v:.3f} s" for k, v in seconds.items()))
    segmentation_share = 100 * segmentation_work / seconds["segmentation"] / peak
    classification_share = 100 * classification_work / seconds["classification"] / peak
    rooms_share = 100 * rooms_work / seconds["rooms"] / peak
    return [
        Row("segmentation step, paper width, 4 x 2048", segmentation_share, 40, "% of the GEMM peak", 60),
        Row("classification step, 32 x 1024", classification_share, 50, "% of the GEMM peak", 60),
        Row("step of the rooms network, 8 x 2048", rooms_share, 40, "% of the GEMM peak", 50),
    ]
