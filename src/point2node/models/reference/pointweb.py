"""PointWeb (Zhao et al., CVPR 2019): all pairs of points of a group exchange features before the group is pooled."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from point2node.kernels.calling import in_one_piece
from point2node.models.layers import gather_nodes
from point2node.models.reference.hierarchy import Abstraction, Hierarchy, join_grouped
from point2node.models.reference.network import Mlp, NormalisedDense
from point2node.models.reference.pointnet2_ssg import CLASSIFIER, SEGMENTER, Ball, build_with_layers
from point2node.models.sizes import Size

HIDDEN = 32
"""Width of the impact function's two hidden layers."""


class AdaptiveFeatureAdjustment(nn.Module):
    """Exchange of features between all pairs of points of a group: a locally fully linked web.

    [PointWeb] (CVPR 2019), for the points i and j of a group:

    [PointWeb]: https://openaccess.thecvf.com/content_CVPR_2019/html/Zhao_PointWeb_Enhancing_Local_Neighborhood_Features_for_Point_Cloud_Processing_CVPR_2019_paper.html

        F′_i = F_i + Σ_j f_imp(ΔF_ij) ⊙ ΔF_ij
        ΔF_ij = F_i − F_j for j ≠ i,  F_i for j = i

    f_imp is an MLP that computes the impact of each channel of a pair.

    Args:
        channels: C.

    Shapes:
        - group: (B, P, K, C)
        - result: (B, P, K, C)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = NormalisedDense(channels, HIDDEN)
        self.second = NormalisedDense(HIDDEN, HIDDEN)
        self.impact = nn.Linear(HIDDEN, channels)

    def forward(self, group: Tensor) -> Tensor:
        """Features of the points of each group (B, P, K, C) → adjusted features (B, P, K, C)."""
        h = self.first.activate(differences(group @ self.first.linear.weight.T))  # linear: once per point, not pair
        h = self.second(h)  # (B, P, K, K, 32)
        if in_one_piece():
            return group + self.exchange(group, h)
        # tensors of K × K × C are recomputed in the backward pass, cloud by cloud: storing them would take gigabytes
        clouds = (checkpoint(self.exchange, *cloud, use_reentrant=False) for cloud in zip(group, h, strict=True))
        return group + torch.stack(list(clouds))

    def exchange(self, group: Tensor, h: Tensor) -> Tensor:
        """Compute what the points of groups (…, P, K, C) receive, from hidden features of pairs (…, P, K, K, 32)."""
        return (self.impact(h) * differences(group)).sum(dim=-2)

    def macs(self, pairs: int) -> int:
        """Count the multiply-accumulates for ``pairs`` pairs of points."""
        return (
            self.first.macs(pairs)
            + self.second.macs(pairs)
            + pairs * (self.impact.in_features + 1) * self.impact.out_features
        )


def differences(group: Tensor) -> Tensor:
    """Compute ΔF_ij of all pairs of each group: (…, K, C) → (…, K, K, C)."""
    own = torch.eye(group.shape[-2], dtype=group.dtype, device=group.device)[..., None]  # (K, K, 1)
    return group[..., :, None, :] * (1 + own) - group[..., None, :, :]


class WebAbstraction(Abstraction):
    """The K nearest points of each centre, adjusted to each other, then a PointNet.

    [PointWeb] (CVPR 2019), for the neighbours j of a centre i:

    [PointWeb]: https://openaccess.thecvf.com/content_CVPR_2019/html/Zhao_PointWeb_Enhancing_Local_Neighborhood_Features_for_Point_Cloud_Processing_CVPR_2019_paper.html

        x′_i = max over j of MLP(adjusted [p_j − p_i, x_j])

    Args:
        neighbours: K.
        in_channels: C_in, width of the source points' features; 0 for none.
        widths: layer widths of the MLP; the last is C.

    Shapes:
        - queries, points, features, neighbours, result: see ``Abstraction``
    """

    def __init__(self, neighbours: int, in_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.adjustment = AdaptiveFeatureAdjustment(3 + in_channels)
        self.mlp = Mlp(3 + in_channels, widths)
        self.out_channels = widths[-1]

    def forward(self, queries: Tensor, points: Tensor, features: Tensor | None, neighbours: Tensor) -> Tensor:
        """See ``Abstraction``."""
        offsets = gather_nodes(points, neighbours) - queries[:, :, None]
        return self.mlp(self.adjustment(join_grouped(offsets, features, neighbours))).max(dim=2).values

    def macs(self, queries: int) -> int:
        """Count the multiply-accumulates for ``queries`` centres."""
        return self.adjustment.macs(queries * self.neighbours**2) + self.mlp.macs(queries * self.neighbours)


def build_pointweb(size: Size) -> Hierarchy:
    """Build PointWeb for the task, points, classes and features of a size, with PointNet++'s levels and widths.

    Groups are the nearest points, not balls. The classifier's last group, the whole cloud, has no web.
    """

    def make(ball: Ball, in_channels: int) -> WebAbstraction:
        return WebAbstraction(ball.neighbours, in_channels, ball.widths)

    return build_with_layers(size, CLASSIFIER if size.task == "classification" else SEGMENTER, make)
