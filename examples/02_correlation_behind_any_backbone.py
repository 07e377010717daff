"""Add dynamic node correlation to a plain point-wise network.

Each cloud consists of two horizontal planes at random heights; a point's label is whether its plane is the upper one. A
network that sees one point at a time can only guess from the height; the correlations let it compare points.

    python examples/02_correlation_behind_any_backbone.py
"""

from __future__ import annotations

from point2node import DynamicNodeCorrelation, dilated_k_nearest_neighbours
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class PointwiseNetwork(nn.Module):
    """A multi-layer perceptron on single points, then correlations between points, then two logits."""

    def __init__(self, variant: str, channels: int = 32) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(3, channels), nn.ELU(), nn.Linear(channels, channels), nn.ELU())
        self.correlation = DynamicNodeCorrelation(variant, channels, reduction=4)
        self.head = nn.Linear(channels, 2)

    def forward(self, xyz: Tensor) -> Tensor:
        """(B, N, 3) → (B, N, 2)."""
        neighbours = dilated_k_nearest_neighbours(xyz, xyz, k=8, dilation=2)
        nodes = self.correlation(self.backbone(xyz), neighbours)
        return self.head(nodes)


def two_planes(clouds: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Generate clouds (B, 64, 3) and whether each point is on the upper plane (B, 64)."""
    heights = torch.rand(clouds, 2, generator=generator)
    plane = torch.randint(2, (clouds, 64), generator=generator)
    xyz = torch.rand(clouds, 64, 3, generator=generator)
    xyz[..., 2] = heights.gather(1, plane)
    upper = heights.argmax(1, keepdim=True)
    return xyz, (plane == upper).long()


def accuracy_after_training(variant: str, steps: int = 600) -> float:
    """Train a network, and return the share of correctly labelled points in unseen clouds."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = PointwiseNetwork(variant)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        xyz, labels = two_planes(32, generator)
        loss = F.cross_entropy(model(xyz).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    xyz, labels = two_planes(500, generator)
    with torch.no_grad():
        return (model(xyz).argmax(-1) == labels).float().mean().item()


def main() -> None:
    for variant in ("baseline", "self_only", "local_only", "non_local_only", "point2node"):
        print(f"{variant:<15} {accuracy_after_training(variant):6.1%} of points correct", flush=True)


if __name__ == "__main__":
    main()
