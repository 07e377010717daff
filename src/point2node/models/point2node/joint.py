"""Beyond the paper: feature learning and correlation learning in a joint pipeline, as data.

The paper ends with "an ideal strategy would be to integrate the feature learning and correlation learning into a joint
pipeline". Here the correlations also act inside feature extraction, on the points of the encoder's sampled levels,
where nodes are few and exact non-local correlation is cheap. Every design question is a variant, to be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from point2node.core.errors import unknown_choice
from point2node.models.point2node.stages import CONTROLS, VARIANTS


@dataclass(frozen=True)
class Joint:
    """Which correlations act where; ``inside`` and ``behind`` are names of ``VARIANTS``."""

    inside: str = "point2node"
    """On the points of a level, right after its χ-conv; the skip connection carries the correlated points."""
    behind: str = "point2node"
    """Between feature extraction and head, as in the paper."""
    levels: int = 3
    """On how many of the sampled levels, from the coarsest up. The level of the nodes has ``behind`` already."""
    decoder: bool = False
    """Also on the same levels in the decoder, after the skip connection has been merged."""
    shared: bool = False
    """One θ and one φ for the local and the non-local correlation of a level."""
    scaled: bool = False
    """Correlations are divided by √(C/r) before the softmax, inside and behind."""
    normalised: bool = False
    """Batch norm after θ and φ, inside and behind."""


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
"""Each of the others differs from "joint" in one answer."""


def check_variant(variant: str) -> None:
    """Refuse what is no variant of Point2Node: the paper's nine, the controls, the joint ones."""
    known = (*VARIANTS, *CONTROLS, *JOINT)
    if variant not in known:
        raise unknown_choice("variant", variant, known)
