"""The paper's ablation as data: nine variants, each a sequence of stages, and the loop that runs them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor, nn

from point2node.core.errors import InputError, unknown_choice
from point2node.models.layers import Layers
from point2node.models.point2node.design import DEFAULT, Design
from point2node.models.point2node.explanation import Explanation, Gate
from point2node.models.point2node.method import (
    AdaptiveFeatureAggregation,
    GlobalAverage,
    LinearAggregation,
    LocalCorrelation,
    NonLocalCorrelation,
    SelfCorrelation,
)

Correlation = Literal["self", "local", "non_local", "average"]
Aggregation = Literal["linear", "parameter_free", "adaptive"]


@dataclass(frozen=True)
class Stage:
    """Correlations of the same nodes, and the aggregation that merges their updates into new nodes."""

    correlations: tuple[Correlation, ...]
    aggregation: Aggregation


SELF = Stage(("self",), "linear")
LOCAL = Stage(("local",), "adaptive")
NON_LOCAL = Stage(("non_local",), "adaptive")

VARIANTS = MappingProxyType(
    {
        "baseline": (),
        "self_only": (SELF,),
        "local_only": (LOCAL,),
        "non_local_only": (NON_LOCAL,),
        "parallel_1": (Stage(("self", "local", "non_local"), "adaptive"),),
        "parallel_2": (SELF, Stage(("local", "non_local"), "adaptive")),
        "linear_aggregation": (SELF, Stage(("local",), "linear"), Stage(("non_local",), "linear")),
        "parameter_free_aa": (
            SELF,
            Stage(("local",), "parameter_free"),
            Stage(("non_local",), "parameter_free"),
        ),
        "point2node": (SELF, LOCAL, NON_LOCAL),
    }
)

"""The rows of the paper's ablation."""

CONTROLS = MappingProxyType({"global_average": (SELF, LOCAL, Stage(("average",), "adaptive"))})
"""Our controls: they test whether a correlation learns more than an average without learning."""


def find_variant(variant: str) -> tuple[Stage, ...]:
    """Return the stages of a variant or a control by name."""
    known = {**VARIANTS, **CONTROLS}
    if variant not in known:
        raise unknown_choice("variant", variant, known)
    return known[variant]


class CorrelationStage(nn.Module):
    """One stage: every correlation updates the same nodes, then one aggregation merges the updates.

    A step in Fig. 1 of [Point2Node](https://arxiv.org/abs/1912.10775):

        V ← aggregation(V, [correlation(V) for each correlation of the stage])

    Args:
        stage: which correlations and which aggregation.
        channels: C.
        reduction: r of θ, φ and the gates' MLPs.
        design: how θ and φ start, whether they are normalised, and whether their products are scaled.

    Shapes:
        - nodes: (B, N, C)
        - neighbours: (B, N, K), node indices
        - result: (B, N, C)
    """

    def __init__(self, stage: Stage, channels: int, reduction: int, design: Design) -> None:
        super().__init__()
        self.names = stage.correlations
        self.channels = channels
        self.correlations = Layers(_correlation(name, channels, reduction, design) for name in stage.correlations)
        self.aggregation = _aggregation(stage.aggregation, channels, reduction, len(stage.correlations))

    def updates(self, nodes: Tensor, neighbours: Tensor) -> list[Tensor]:
        """Compute the update of each correlation, (B, N, C) each."""
        return [correlation(nodes, neighbours) for correlation in self.correlations]

    def forward(self, nodes: Tensor, neighbours: Tensor) -> Tensor:
        """Nodes (B, N, C) → new nodes (B, N, C)."""
        return self.aggregation(nodes, self.updates(nodes, neighbours))

    def macs(self, nodes: int, neighbours: int) -> int:
        """Count the multiply-accumulates for one cloud of ``nodes`` nodes, as the paper's formulas count them."""
        total: int = self.aggregation.macs(nodes, self.channels)
        return total + sum(correlation.macs(nodes, neighbours) for correlation in self.correlations)


class DynamicNodeCorrelation(nn.Module):
    """Self, local and non-local correlation, which update nodes stage by stage; can be added to any backbone.

    Dynamic node correlation and adaptive feature aggregation of [Point2Node](https://arxiv.org/abs/1912.10775).
    The variant "point2node":

        V⁽¹⁾ = V⁽⁰⁾ + α self(V⁽⁰⁾)                 Eqs. 1-3
        V⁽²⁾ = aggregate(V⁽¹⁾, local(V⁽¹⁾))        Eqs. 4-8 and 13-16
        V⁽³⁾ = aggregate(V⁽²⁾, non_local(V⁽²⁾))    Eqs. 9-12 and 13-16

    Args:
        variant: a name of ``VARIANTS``; "point2node" is the paper's model.
        channels: C, the width of a node.
        reduction: r, the factor by which θ, φ and the gates' MLPs reduce the channels.
        design: how θ and φ start, whether they are normalised, and whether their products are scaled.
        shared: one θ and one φ for all local and non-local correlations; the paper has separate ones.

    Shapes:
        - nodes: (B, N, C)
        - neighbours: (B, N, K), node indices; not needed by variants without local correlation
        - result: (B, N, C)
    """

    def __init__(
        self,
        variant: str = "point2node",
        channels: int = 256,
        reduction: int = 8,
        design: Design = DEFAULT,
        *,
        shared: bool = False,
    ) -> None:
        super().__init__()
        schedule = find_variant(variant)
        if not 1 <= reduction <= channels:
            raise InputError("reduction", expected=f"1 to {channels} (the channels)", found=str(reduction))
        self.variant = variant
        self.channels = channels
        self.needs_neighbours = any("local" in stage.correlations for stage in schedule)
        self.stages = Layers(CorrelationStage(stage, channels, reduction, design) for stage in schedule)
        if shared:
            kinds = LocalCorrelation | NonLocalCorrelation
            first, *others = (module for module in self.modules() if isinstance(module, kinds))
            for other in others:
                other.share(first)

    def forward(self, nodes: Tensor, neighbours: Tensor | None = None) -> Tensor:
        """Update nodes (B, N, C) → (B, N, C), given the neighbours of the local graph (B, N, K).

        ``neighbours`` may be left out for variants without local correlation.
        """
        neighbours = self._checked_neighbours(nodes, neighbours)
        for stage in self.stages:
            nodes = stage(nodes, neighbours)
        return nodes

    def explain(self, nodes: Tensor, neighbours: Tensor | None, chosen: Tensor) -> Explanation:
        """Return what each stage computed at the nodes with the indices ``chosen`` (B, S), without the N×N matrix."""
        neighbours = self._checked_neighbours(nodes, neighbours)
        found: dict[str, Tensor] = {}
        gates: list[Gate] = []
        for stage in self.stages:
            for correlation in stage.correlations:
                found |= correlation.explain(nodes, neighbours, chosen)
            updates = stage.updates(nodes, neighbours)
            if isinstance(stage.aggregation, AdaptiveFeatureAggregation):
                gates.append(Gate(("nodes", *stage.names), stage.aggregation.gates(nodes, updates)))
            nodes = stage.aggregation(nodes, updates)
        return Explanation(chosen=chosen, gates=tuple(gates), **found)

    def macs(self, nodes: int, neighbours: int) -> int:
        """Count the multiply-accumulates for one cloud of ``nodes`` nodes with K = ``neighbours``."""
        return sum(stage.macs(nodes, neighbours) for stage in self.stages)

    def _checked_neighbours(self, nodes: Tensor, neighbours: Tensor | None) -> Tensor:
        if nodes.ndim != 3 or nodes.shape[-1] != self.channels:
            raise InputError("nodes", expected=f"shape (B, N, {self.channels})", found=str(tuple(nodes.shape)))
        if neighbours is None and not self.needs_neighbours:
            return nodes.new_empty((*nodes.shape[:2], 0), dtype=torch.long)
        if neighbours is None or neighbours.shape[:-1] != nodes.shape[:-1]:
            raise InputError(
                "neighbours",
                expected=f"indices of shape {tuple(nodes.shape[:2])} + (K,): {self.variant!r} correlates locally",
                found="none" if neighbours is None else str(tuple(neighbours.shape)),
                remedy="Search them with dilated_k_nearest_neighbours(xyz, xyz, k=16, dilation=2).",
            )
        return neighbours


def _correlation(
    name: Correlation, channels: int, reduction: int, design: Design
) -> SelfCorrelation | LocalCorrelation | NonLocalCorrelation | GlobalAverage:
    match name:
        case "self":
            return SelfCorrelation(channels)
        case "local":
            return LocalCorrelation(channels, reduction, design)
        case "non_local":
            return NonLocalCorrelation(channels, reduction, design)
        case "average":
            return GlobalAverage()


def _aggregation(
    name: Aggregation, channels: int, reduction: int, updates: int
) -> LinearAggregation | AdaptiveFeatureAggregation:
    match name:
        case "linear":
            return LinearAggregation(updates)
        case "parameter_free":
            return AdaptiveFeatureAggregation(channels, None, updates)
        case "adaptive":
            return AdaptiveFeatureAggregation(channels, reduction, updates)


# The paper ends with "an ideal strategy would be to integrate the feature learning and correlation learning into a
# joint pipeline". Here the correlations are also used inside feature extraction, on the points of the encoder's sampled
# levels, where there are few nodes and exact non-local correlation is cheap. Each design question is a variant that can
# be measured.


@dataclass(frozen=True)
class Joint:
    """Which correlations are used where; ``inside`` and ``behind`` are names of ``VARIANTS``."""

    inside: str = "point2node"
    """The correlations of a level's points, right after its χ-conv; the skip connection starts after them."""
    behind: str = "point2node"
    """The correlations between feature extraction and head, as in the paper."""
    levels: int = 3
    """How many of the sampled levels, from the coarsest up; the level of the nodes already has ``behind``."""
    decoder: bool = False
    """Also correlate the same levels in the decoder, after the skip connection has been merged."""
    shared: bool = False
    """Use one θ and one φ for the local and the non-local correlation of a level."""
    scaled: bool = False
    """Divide correlations by √(C/r) before the softmax, inside and behind."""
    normalised: bool = False
    """Use batch norm after θ and φ, inside and behind."""


JOINT = MappingProxyType(
    {
        "joint": Joint(),
        "joint_only": Joint(behind="baseline"),
        "joint_non_local": Joint(inside="non_local_only"),
        "joint_coarsest": Joint(levels=1),
        "joint_decoder": Joint(decoder=True),
        "joint_shared": Joint(shared=True),
        "joint_scaled": Joint(scaled=True),
        "joint_norm": Joint(normalised=True),
    }
)
"""The joint variants; each of the others differs from "joint" in one setting."""


def check_variant(variant: str) -> None:
    """Raise InputError unless this is a variant of Point2Node: one of the paper's nine, a control or a joint one."""
    known = (*VARIANTS, *CONTROLS, *JOINT)
    if variant not in known:
        raise unknown_choice("variant", variant, known)
