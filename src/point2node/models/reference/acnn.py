"""A-CNN (Komarichev et al., CVPR 2019, arXiv:1904.08017): convolutions around rings of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from point2node.models.layers import Layers, gather_nodes
from point2node.models.reference.hierarchy import Abstraction, Hierarchy, join_grouped
from point2node.models.reference.network import Mlp, NormalisedDense
from point2node.models.reference.pointnet2_ssg import PROPAGATION, build_with_layers
from point2node.models.sizes import Size

KERNEL = 3
"""Consecutive neighbours on the ring that one step of the convolution sees."""


@dataclass(frozen=True)
class Ring:
    """A ring: inner and outer radius, points, and widths of its annular convolutions."""

    inner: float
    outer: float
    points: int
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Rings:
    """One layer: one of every ``share`` points, each with several rings; with gaps between them they are dilated."""

    share: int
    rings: tuple[Ring, ...]


CLASSIFIER = (
    Rings(2, (Ring(0.0, 0.1, 16, (32, 32, 64)), Ring(0.1, 0.2, 48, (64, 64, 128)))),
    Rings(8, (Ring(0.1, 0.2, 16, (64, 64, 128)), Ring(0.3, 0.4, 48, (128, 128, 256)))),
)
"""512 and 128 of 1024 points in the unit sphere."""
SEGMENTER = (
    Rings(2, (Ring(0.0, 0.1, 16, (32, 32, 64)), Ring(0.1, 0.2, 48, (64, 64, 128)))),
    Rings(8, (Ring(0.1, 0.2, 16, (64, 64, 128)), Ring(0.3, 0.4, 48, (128, 128, 256)))),
    Rings(32, (Ring(0.3, 0.4, 16, (128, 128, 256)), Ring(0.5, 0.6, 48, (256, 256, 512)))),
)
"""The first two layers of the classifier, and the third of the part segmentation; radii in metres in a room."""


def choose_ring(squares: Tensor, ring: Ring) -> Tensor:
    """Choose the neighbours that form the ring: places (B, P, points) among K sorted squared distances (B, P, K).

    They are the nearest ones between the radii; if there are too few, the first is repeated. If there are none, the
    neighbour nearest to the ring is used. The centre itself has no direction and is never on a ring.
    """
    distances = squares.sqrt()
    beyond = torch.where(distances <= ring.inner, ring.inner - distances, (distances - ring.outer).clamp_min(0))
    inside = (distances > ring.inner) & (distances <= ring.outer)
    count = min(ring.points, squares.shape[-1])
    # a stable sort keeps the order of distance among those inside
    places = torch.sort((~inside).to(torch.int8), dim=-1, stable=True).indices[..., :count]
    first = torch.where(inside.any(dim=-1), places[..., 0], beyond.argmin(dim=-1))[..., None]
    return torch.where(inside.gather(-1, places), places, first)


def fit_normals(offsets: Tensor, queries: Tensor, points: Tensor) -> Tensor:
    """Compute the normal of each centre (B, P, 3), along which its neighbours' offsets (B, P, K, 3) vary least; it
    points away from the centre of the cloud.
    """
    centred = offsets - offsets.mean(dim=2, keepdim=True)
    normals: Tensor = torch.linalg.eigh(centred.mT @ centred).eigenvectors[..., 0]
    outwards = queries - points.mean(dim=1, keepdim=True)
    flipped = (normals * outwards).sum(dim=-1, keepdim=True) < 0
    return torch.where(flipped, -normals, normals)


def order_around(offsets: Tensor, normals: Tensor) -> Tensor:
    """Return the counter-clockwise order (B, P, K) of a ring's points (B, P, K, 3) in the plane across the normal.

    Angles are measured from the outermost point; the start does not matter, because the ring is closed.
    """
    n = normals[:, :, None]
    projected = offsets - (offsets * n).sum(dim=-1, keepdim=True) * n  # onto the tangent plane
    start = _take(projected, projected.square().sum(dim=-1).argmax(dim=-1, keepdim=True))
    along = (projected * start).sum(dim=-1)
    across = (torch.linalg.cross(start.expand_as(projected), projected) * n).sum(dim=-1)
    return torch.atan2(across, along).argsort(dim=-1, stable=True)


class AnnularConvolution(NormalisedDense):
    """A convolution with a kernel of 3 around a closed ring, which needs no padding.

    [A-CNN](https://arxiv.org/abs/1904.08017), for the points k of a ring of K, in their order around it:

        y_k = ReLU(BatchNorm(W [x_k, x_(k+1 mod K), x_(k+2 mod K)]))

    Args:
        in_channels: C_in.
        out_channels: C.
        slope: slope of the leaky ReLU for negative values; 0 for a plain ReLU.

    Shapes:
        - x: (B, P, K, C_in)
        - result: (B, P, K, C)
    """

    def __init__(self, in_channels: int, out_channels: int, slope: float = 0.0) -> None:
        super().__init__(KERNEL * in_channels, out_channels, slope)

    def forward(self, x: Tensor) -> Tensor:
        """(B, P, K, C_in) → (B, P, K, C); the K points must be in the order of the ring."""
        return super().forward(torch.cat([x.roll(-step, dims=2) for step in range(KERNEL)], dim=-1))


class AnnularAbstraction(Abstraction):
    """Rings of neighbours, each ordered in the tangent plane, convolved and pooled; the rings are concatenated.

    [A-CNN](https://arxiv.org/abs/1904.08017), for a centre i and each ring:

        x′_i = [max around the ring of annular convolutions of [p_j − p_i, x_j], one for each ring]

    Args:
        rings: the radii, points and widths of each ring.
        in_channels: C_in, width of the source points' features; 0 for none.

    Shapes:
        - queries, points, features: see ``Abstraction``
        - neighbours: (B, P, K), indices of source points, sorted by distance
        - result: (B, P, C), C the sum of the rings' last widths
    """

    def __init__(self, rings: Sequence[Ring], in_channels: int) -> None:
        super().__init__()
        self.rings = tuple(rings)
        self.neighbours = sum(ring.points for ring in rings)
        self.around: Layers[Mlp] = Layers(Mlp(3 + in_channels, ring.widths, layer=AnnularConvolution) for ring in rings)
        self.out_channels = sum(ring.widths[-1] for ring in rings)

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """See ``Abstraction``; the neighbours must be sorted by distance."""
        offsets = gather_nodes(points, neighbours) - queries[:, :, None]
        with torch.no_grad():
            normals = fit_normals(offsets, queries, points)
            squares = offsets.square().sum(dim=-1)
        results = []
        for ring, convolutions in zip(self.rings, self.around, strict=True):
            places = choose_ring(squares, ring)
            places = places.gather(-1, order_around(_take(offsets, places), normals))
            group = join_grouped(_take(offsets, places), features, neighbours.gather(-1, places))
            results.append(convolutions(group).max(dim=2).values)
        return torch.cat(results, dim=-1)

    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""
        pairs = zip(self.rings, self.around, strict=True)
        return sum(convolutions.macs(queries * ring.points) for ring, convolutions in pairs)


def _take(offsets: Tensor, places: Tensor) -> Tensor:
    """Gather offsets[b, p, places[b, p, k]]: (B, P, k, 3)."""
    return offsets.gather(2, places[..., None].expand(-1, -1, -1, 3))


def build_acnn(size: Size) -> Hierarchy:
    """Build A-CNN for the task, points, classes and features of a size."""

    def make(row: Rings, in_channels: int) -> AnnularAbstraction:
        return AnnularAbstraction(row.rings, in_channels)

    rows = CLASSIFIER if size.task == "classification" else SEGMENTER
    return build_with_layers(size, rows, make, PROPAGATION[1:], dropout=0.6)
