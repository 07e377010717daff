"""Comparison with PyTorch Geometric, in a separate environment: ``make bench-peers``.

PyTorch Geometric uses torch_cluster for neighbours and sampling, which has no wheels: building it takes a compiler and
a quarter of an hour. Here its networks use *our* neighbours and farthest points instead, so that a slow substitute does
not count against them. Only DGCNN's graph in feature space is searched by ``cdist`` + ``topk``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch_geometric
from torch import Tensor, nn
from torch_geometric.nn import MLP, DynamicEdgeConv, PointNetConv, XConv, global_max_pool
from torch_geometric.nn.conv import edge_conv, x_conv

import point2node
from benchmarks.measure import Row, alternate, write_rows
from point2node.geometry.neighbours import dilated_k_nearest_neighbours, k_nearest_neighbours
from point2node.geometry.sampling import farthest_point_sampling
from point2node.models.point2node.chi_conv import ChiConv

CLOUDS, POINTS, CLASSES = 8, 1024, 40
CHI_CASES = ((1024, 12, 2, 48, 96), (2048, 16, 1, 256, 256), (2048, 8, 1, 64, 256))
"""Points, K, dilation, input and output channels."""


def flat_indices(neighbours: Tensor, points: int) -> Tensor:
    """Convert indices (B, Q, K) within clouds to indices (B·Q, K) among the points of all clouds."""
    return (neighbours + points * torch.arange(len(neighbours))[:, None, None]).flatten(0, 1)


def nearest_in_batch(x: Tensor, y: Tensor, k: int, *_batches: Tensor, **_options: object) -> Tensor:
    """Do the same as torch_cluster's ``knn`` for clouds of one size: (2, edges) of queries and their neighbours."""
    points, queries = x.view(CLOUDS, -1, x.shape[-1]), y.view(CLOUDS, -1, y.shape[-1])
    if x.shape[-1] == 3:
        nearest = k_nearest_neighbours(queries, points, k)[1]
    else:
        nearest = torch.cdist(queries, points).topk(k, largest=False).indices
    columns = flat_indices(nearest, points.shape[1]).flatten()
    return torch.stack([torch.arange(len(y)).repeat_interleave(k), columns])


class Dgcnn(nn.Module):
    """DGCNN from PyTorch Geometric's layers.

    Args:
        widths: the layer widths of the MLP of each edge convolution.
    """

    def __init__(self, *widths: list[int]) -> None:
        super().__init__()
        inputs = [3, *(width[-1] for width in widths)]
        self.convs = nn.ModuleList(
            DynamicEdgeConv(MLP([2 * before, *width]), k=20, aggr="max")
            for before, width in zip(inputs, widths, strict=False)
        )
        self.joined = nn.Linear(sum(inputs[1:]), 1024)
        self.mlp = MLP([1024, 512, 256, CLASSES], dropout=0.5, norm=None)

    def forward(self, xyz: Tensor, batch: Tensor) -> Tensor:
        """(B·N, 3) → (B, classes)."""
        found = [xyz]
        for conv in self.convs:
            found.append(conv(found[-1], batch))
        return self.mlp(global_max_pool(self.joined(torch.cat(found[1:], dim=1)), batch))


DGCNN = ([64], [64], [128], [256])
"""The layers of the paper on DGCNN."""
DGCNN_EXAMPLE = ([64, 64, 64], [128])
"""The layers of PyTorch Geometric's example ``dgcnn_classification.py``."""


class PointNet2(nn.Module):
    """PyTorch Geometric's example ``pointnet2_classification.py``."""

    def __init__(self) -> None:
        super().__init__()
        self.first = PointNetConv(MLP([3, 64, 64, 128]), add_self_loops=False)
        self.second = PointNetConv(MLP([128 + 3, 128, 128, 256]), add_self_loops=False)
        self.third = MLP([256 + 3, 256, 512, 1024])
        self.mlp = MLP([1024, 512, 256, CLASSES], dropout=0.5, norm=None)

    def forward(self, xyz: Tensor, batch: Tensor) -> Tensor:
        """(B·N, 3) → (B, classes)."""
        x, xyz, batch = self._abstract(self.first, None, xyz, batch, 0.5, 0.2)
        x, xyz, batch = self._abstract(self.second, x, xyz, batch, 0.25, 0.4)
        return self.mlp(global_max_pool(self.third(torch.cat([x, xyz], dim=1)), batch))

    @staticmethod
    def _abstract(
        conv: nn.Module, x: Tensor | None, xyz: Tensor, batch: Tensor, ratio: float, radius: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        clouds = xyz.view(CLOUDS, -1, 3)
        chosen = farthest_point_sampling(clouds, int(clouds.shape[1] * ratio))
        kept = flat_indices(chosen[..., None], clouds.shape[1]).flatten()
        distances, nearest = k_nearest_neighbours(xyz[kept].view(CLOUDS, -1, 3), clouds, 64)
        near = (distances <= radius).flatten(0, 1)
        rows = torch.arange(len(kept))[:, None].expand(-1, 64)[near]
        edges = torch.stack([flat_indices(nearest, clouds.shape[1])[near], rows])
        return conv((x, None), (xyz, xyz[kept]), edges), xyz[kept], batch[kept]


def step_of(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        loss().backward()
        optimiser.step()
        optimiser.zero_grad()

    return step


def measure_classification() -> list[Row]:
    """Measure a training step on 8 clouds of 1024 points, including the geometry."""
    torch.manual_seed(0)
    xyz, labels = torch.rand(CLOUDS, POINTS, 3) * 2 - 1, torch.randint(0, CLASSES, (CLOUDS,))
    batch = torch.arange(CLOUDS).repeat_interleave(POINTS)
    edge_conv.knn = nearest_in_batch
    ours = point2node.create_model(preset="modelnet40").train()

    def our_loss() -> Tensor:
        logits = ours(None, point2node.build_pyramid(xyz, ours.plan))
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.repeat_interleave(logits.shape[1]))

    def peer_step(peer: nn.Module) -> Callable[[], None]:
        return step_of(peer, lambda: nn.functional.cross_entropy(peer(xyz.flatten(0, 1), batch), labels))

    seconds = alternate(
        {
            "ours": step_of(ours, our_loss),
            "dgcnn": peer_step(Dgcnn(*DGCNN)),
            "example": peer_step(Dgcnn(*DGCNN_EXAMPLE)),
            "pointnet2": peer_step(PointNet2()),
        }
    )
    print(", ".join(f"{name} {1e3 * one:.0f} ms" for name, one in seconds.items()))
    name = f"classification step, {CLOUDS} x {POINTS}, with geometry"
    return [
        Row(name, seconds["dgcnn"] / seconds["ours"], 8, "x faster than DGCNN of PyG's layers", 15),
        Row(name, seconds["example"] / seconds["ours"], None, "x faster than PyG's example of DGCNN"),
        Row(name, seconds["pointnet2"] / seconds["ours"], None, "x as fast as PyG's PointNet++"),
    ]


def measure_chi_conv(points: int, K: int, dilation: int, width: int, out: int) -> Row:
    """Measure one layer, forward and backward, on the same edges, without the search."""
    torch.manual_seed(0)
    xyz, features = torch.rand(CLOUDS, points, 3), torch.randn(CLOUDS, points, width)
    neighbours = dilated_k_nearest_neighbours(xyz, xyz, K, dilation)
    edges = torch.stack(
        [torch.arange(CLOUDS * points).repeat_interleave(K), flat_indices(neighbours, points).flatten()]
    )
    x_conv.knn_graph = lambda *_arguments, **_options: edges
    layer = ChiConv(K, width, width // 4, out, -(-out // width))
    peer = XConv(width, out, dim=3, kernel_size=K)
    ours, theirs = features.clone().requires_grad_(), features.flatten(0, 1).requires_grad_()
    seconds = alternate(
        {
            "ours": lambda: layer(xyz, xyz, ours, neighbours).sum().backward(),
            "peer": lambda: peer(theirs, xyz.flatten(0, 1)).sum().backward(),
        }
    )
    return Row(
        f"chi-conv {width}->{out}, forward + backward",
        seconds["peer"] / seconds["ours"],
        None,
        "x faster than PyG's XConv",
    )


def main() -> None:
    print(f"PyTorch Geometric {torch_geometric.__version__}, torch {torch.__version__}")
    write_rows("peers", [*(measure_chi_conv(*case) for case in CHI_CASES), *measure_classification()])


if __name__ == "__main__":
    main()
