"""The correlations and the χ product against their naive forms, in time and memory: ``python -m benchmarks operators``.

``python -m benchmarks.operators memory <form>`` prints the memory of one form; each is measured in its own process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.measure import Row, alternate, own_peak_megabytes
from point2node.kernels.calling import torch_only
from point2node.models.operators.chi_product import chi_product
from point2node.models.operators.local_update import local_update
from point2node.models.operators.non_local_update import non_local_update

B, N, C, R, K = 8, 2048, 256, 32, 16  # clouds, nodes, channels, projected channels, neighbours
MANY_NODES = 65_536

Step = Callable[[], object]


def naive_local(V: Tensor, theta: nn.Module, phi: nn.Module) -> Tensor:
    """Compute Eqs. 4-8 literally: gather the nodes, then project each of the K copies."""
    V = V[torch.arange(len(V))[:, None, None], spread_neighbours(V.shape[1])]
    return ((theta(V) @ phi(V).mT).softmax(dim=-1) @ V).amax(dim=-2)


def fused_local(V: Tensor, theta: nn.Module, phi: nn.Module) -> Tensor:
    return local_update(V, theta(V), phi(V), spread_neighbours(V.shape[1]))


def naive_non_local(V: Tensor, theta: nn.Module, phi: nn.Module) -> Tensor:
    """Compute Eqs. 9-12 literally, with an N × N matrix."""
    return (theta(V) @ phi(V).mT).softmax(dim=-1) @ V


def tiled_non_local(V: Tensor, theta: nn.Module, phi: nn.Module) -> Tensor:
    return non_local_update(V, theta(V), phi(V))


FORMS: Mapping[str, Callable[[Tensor, nn.Module, nn.Module], Tensor]] = {
    "naive_local": naive_local,
    "fused_local": fused_local,
    "naive_non_local": naive_non_local,
    "tiled_non_local": tiled_non_local,
}
INFERENCE = "inference"


@cache
def spread_neighbours(nodes: int) -> Tensor:
    """Draw K neighbours within 64 indices of each node, as in a cloud with points sorted along a curve."""
    generator = torch.Generator().manual_seed(0)
    offsets = torch.randint(-64, 65, (B, nodes, K), generator=generator)
    return (torch.arange(nodes)[:, None] + offsets) % nodes


def training_step(form: str, nodes: int = N) -> Step:
    """Return a forward and backward pass of one correlation with its projections."""
    torch.manual_seed(0)
    theta, phi = nn.Linear(C, R), nn.Linear(C, R, bias=False)
    V, grad = torch.randn(B, nodes, C, requires_grad=True), torch.randn(B, nodes, C)

    def step() -> None:
        V.grad = None
        FORMS[form](V, theta, phi).backward(grad)

    return step


def inference(nodes: int = MANY_NODES) -> Step:
    """Return the non-local update of one large cloud, without gradients."""
    V, Q, X = torch.randn(1, nodes, C), torch.randn(1, nodes, R), torch.randn(1, nodes, R)
    return lambda: non_local_update(V, Q, X)


def chi_step() -> Step:
    """Return a forward and backward pass of the χ product, including the gather."""
    torch.manual_seed(0)
    X, nodes = torch.randn(B, N, K, K, requires_grad=True), torch.randn(B, N, C, requires_grad=True)
    depthwise, neighbours = torch.randn(K, C, 1, requires_grad=True), spread_neighbours(N)
    grad = torch.randn(B, N, C)

    def step() -> None:
        X.grad = nodes.grad = depthwise.grad = None
        chi_product(X, nodes, neighbours, depthwise).backward(grad)

    return step


def without_kernels(step: Step) -> Step:
    def torch_step() -> None:
        with torch_only():
            step()

    return torch_step


def print_memory(form: str) -> None:
    """Print the MB and the seconds of one step in a process that has its inputs and has warmed up."""
    make = inference if form == INFERENCE else lambda nodes=N: training_step(form, nodes)
    make(64)()
    step = make()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the memory in use
    before, start = own_peak_megabytes(), time.perf_counter()
    step()
    print(own_peak_megabytes() - before, time.perf_counter() - start)


def memory_and_seconds(form: str) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.operators", "memory", form]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    megabytes, seconds = map(float, answer.split())
    return megabytes, seconds


def speed_row(name: str, naive: Step, ours: Step, bar: float | None, stretch: float | None = None) -> Row:
    seconds = alternate({"naive": naive, "ours": ours}, rounds=9)
    ratio = seconds["naive"] / seconds["ours"]
    return Row(f"{name}, forward + backward", ratio, bar, "x faster than plain torch", stretch)


def memory_row(name: str, naive: str, ours: str, bar: float) -> Row:
    ratio = memory_and_seconds(naive)[0] / memory_and_seconds(ours)[0]
    return Row(f"{name}, training memory", ratio, bar, "x less than plain torch")


def measure() -> list[Row]:
    chi = chi_step()
    rows = [
        speed_row("local", training_step("naive_local"), training_step("fused_local"), 5, 8),
        memory_row("local", "naive_local", "fused_local", 8),
        speed_row("non-local", training_step("naive_non_local"), training_step("tiled_non_local"), 1.25, 1.5),
        memory_row("non-local", "naive_non_local", "tiled_non_local", 4),
        speed_row("chi product", without_kernels(chi), chi, None),
    ]
    many_nodes = f"non-local inference, {MANY_NODES:,} nodes"
    megabytes, seconds = memory_and_seconds(INFERENCE)
    return [
        *rows,
        Row(many_nodes, 250 / megabytes, 1, "x below 0.25 GB"),
        Row(many_nodes, 22 / seconds, None, "x as fast as 22 s", 1),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print_memory(sys.argv[2])
