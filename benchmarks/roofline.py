"""The speed of each operator relative to the machine's limits: ``python -m benchmarks roofline``.

An operator can be no faster than memory delivers its operands (bandwidth × operations per byte) and no faster than a
large matrix product. Both limits are measured in the same run. Operations are those of the paper's formulas, two per
multiply-accumulate; bytes are those of the operands, each read or written once. The plot is docs/images/roofline.png.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.measure import Row, alternate
from benchmarks.operators import spread_neighbours
from point2node.models.batch_norm import BatchNorm
from point2node.models.operators.activation_norm import activate_and_normalise_
from point2node.models.operators.chi_product import chi_product, chi_product_edges
from point2node.models.operators.depthwise import depthwise_over_rows
from point2node.models.operators.local_update import local_update
from point2node.models.operators.non_local_update import non_local_update

PICTURE = Path(__file__).parents[1] / "docs/images/roofline.png"
B, N, C, R, K = 8, 2048, 256, 32, 16
ROWS = B * N
GEMM = 2048
COPIED = 1 << 26
"""Size of the tensor that is copied to measure the memory bandwidth: 256 MB, larger than any cache."""


@dataclass(frozen=True)
class Operator:
    """One operator at the paper's width, on 8 clouds of 2048 nodes."""

    name: str
    run: Callable[..., Tensor]
    operands: tuple[Tensor, ...]
    work: float
    """Operations in the forward pass."""

    def training_step(self) -> None:
        """Run forward and backward, which is three times the work of forward."""
        for operand in self.operands:
            operand.grad = None
        self.run(*self.operands).sum().backward()

    def inference(self) -> None:
        """Run forward only."""
        with torch.inference_mode():
            self.run(*self.operands)

    @property
    def operand_bytes(self) -> float:
        """Return the bytes of all operands and the result of the forward pass."""
        with torch.inference_mode():
            result = self.run(*self.operands)
        return float(sum(tensor.nbytes for tensor in (*self.operands, result)))


def operators() -> list[Operator]:
    torch.manual_seed(0)
    neighbours, norm, weight = spread_neighbours(N), BatchNorm(C), nn.Linear(C, C, bias=False)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape).requires_grad_()

    X = random(B, N, K, K)
    nodes, Q, P = random(B, N, C), random(B, N, R), random(B, N, R)
    return [
        Operator("linear 256 → 256", lambda V: weight(V), (nodes,), 2 * ROWS * C * C),
        Operator(
            "χ product of nodes",
            lambda X, V, W: chi_product(X, V, neighbours, W),
            (X, nodes, random(K, C, 1)),
            2 * ROWS * (K * K * C + K * C),
        ),
        Operator(
            "χ product of edges",
            chi_product_edges,
            (X, random(B, N, K, C // 4), random(K, C // 4, 1)),
            2 * ROWS * (K * K + K) * C // 4,
        ),
        Operator("depthwise over rows", depthwise_over_rows, (random(ROWS, K, K), random(K, K, K)), 2 * ROWS * K**3),
        Operator(
            "local update",
            lambda V, Q, P: local_update(V, Q, P, neighbours),
            (nodes, Q, P),
            2 * ROWS * K * K * (R + C),
        ),
        Operator("non-local update", non_local_update, (nodes, Q, P), 2 * ROWS * N * (R + C)),
        # three operations per number: ELU, scale, shift; the statistics and the copy to be overwritten are not counted
        Operator("ELU + batch norm", lambda z: activate_and_normalise_(z + 0, norm), (random(ROWS, C),), 3 * ROWS * C),
    ]


def measure() -> list[Row]:
    every = operators()
    a, b = torch.rand(GEMM, GEMM), torch.rand(GEMM, GEMM)
    source, target = torch.zeros(COPIED), torch.zeros(COPIED)
    forms: dict[str, Callable[[], object]] = {"gemm": lambda: a @ b, "copy": lambda: target.copy_(source)}
    for operator in every:
        forms[operator.name] = operator.inference
        forms[f"{operator.name}, training"] = operator.training_step
    seconds = alternate(forms, rounds=7)
    gemm = 2 * GEMM**3 / seconds["gemm"] / 1e9
    bandwidth = 2 * source.nbytes / seconds["copy"] / 1e9
    rows = [
        Row("matrix product 2048³", gemm, None, "GFLOP/s"),
        Row("copy of 256 MB", bandwidth, None, "GB/s read and written"),
    ]
    points: list[tuple[str, float, float, float]] = []
    for operator in every:
        intensity = operator.work / operator.operand_bytes
        forward = operator.work / seconds[operator.name] / 1e9
        training = 3 * operator.work / seconds[f"{operator.name}, training"] / 1e9
        points.append((operator.name, intensity, forward, training))
        rows.append(Row(f"{operator.name}, forward", forward, None, "GFLOP/s"))
        rows.append(Row(f"{operator.name}, forward + backward", training, None, "GFLOP/s"))
    draw(points, gemm, bandwidth)
    return rows


def draw(points: list[tuple[str, float, float, float]], gemm: float, bandwidth: float) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
    left, right = min(point[1] for point in points) / 3, max(point[1] for point in points) * 4
    knee = gemm / bandwidth
    axes.plot([left, knee, right], [left * bandwidth, gemm, gemm], color="black", linewidth=1.2)
    axes.text(right, gemm * 1.06, f"matrix product: {gemm:.0f} GFLOP/s ", ha="right", va="bottom", fontsize=9)
    axes.text(knee * 0.62, gemm * 0.72, f"memory: {bandwidth:.0f} GB/s ", ha="right", va="bottom", fontsize=9)
    for number, (name, intensity, forward, training) in enumerate(points):
        colour = f"C{number}"
        axes.plot([intensity] * 2, [forward, training], color=colour, linewidth=0.8)
        axes.plot(intensity, forward, "o", color=colour, markersize=8, label=name)
        axes.plot(intensity, training, "o", color=colour, markersize=8, markerfacecolor="white")
    axes.set(xscale="log", yscale="log", xlim=(left, right), xlabel="operations per byte of the operands")
    axes.set(ylabel="GFLOP/s", ylim=(min(min(point[2:]) for point in points) / 2, gemm * 1.8))
    axes.grid(which="both", color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(title="filled: forward\nhollow: forward + backward", loc="lower right", fontsize=9, title_fontsize=9)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=150)
    pyplot.close(figure)
