"""The protocol of a score: everything that must be the same before two figures may be compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from point2node.data.store import Store
from point2node.evaluation.splits import Part
from point2node.geometry.blocks import BlockRules
from point2node.geometry.frames import Frame
from point2node.weights.cards import WeightsCard
from point2node.weights.settings import Rule


@dataclass(frozen=True)
class Protocol:
    """How a figure was measured."""

    task: str
    dataset: str
    split: str
    selection: str
    """A checksum of the chosen scenes or shapes: the "val" of two runs may not be the same."""
    data: str
    """The checksum of the store's manifest."""
    sampling: str | None
    """Where the points of shapes come from; None for scenes."""
    input: str
    """What the network is given."""
    voxel: float | None
    """Side in metres of the voxels that are scored instead of points; None if points are scored."""
    points: int
    """N, the points that the network sees at once."""
    votes: int
    rule: Rule
    blocks: BlockRules | None
    """How scenes are cut; None for shapes."""
    frame: Frame | None
    """The origin of a block's x and y; None for shapes."""
    ignored: tuple[str, ...]
    """Classes that are neither learnt nor scored."""

    @property
    def unit(self) -> str:
        """What is counted."""
        if self.task == "classification":
            return "shape"
        return "point" if self.voxel is None else f"voxel {self.voxel} m"

    @property
    def offsets(self) -> tuple[float, ...]:
        """The offsets of the "zero" and the "half" blocks in metres; empty for shapes, which are not cut."""
        return () if self.blocks is None else (0.0, self.blocks.side / 2)

    def as_dict(self) -> dict[str, Any]:
        """Return the protocol as it is written to results."""
        values = asdict(self) | {"unit": self.unit, "offsets": list(self.offsets), "ignored": list(self.ignored)}
        blocks = values.pop("blocks")
        keys = {"side": "block_side", "grid": "block_grid", "max_points": "block_points"}
        return values | {name: blocks[key] if blocks else None for key, name in keys.items()}


def protocol_of(
    card: WeightsCard, store: Store, part: Part, votes: int | None = None, rule: Rule | None = None
) -> Protocol:
    """Return the protocol for weights and one part of a store; ``votes`` and ``rule`` override those of the card."""
    shapes = store.manifest.task == "classification"
    return Protocol(
        task=store.manifest.task,
        dataset=store.manifest.dataset,
        split=part.name,
        selection=part.checksum,
        data=store.checksum,
        sampling=_sampling(store) if shapes else None,
        input=" + ".join(("xyz", *card.features)),
        voxel=None if shapes else card.voxel,
        points=card.points,
        votes=card.votes if votes is None else votes,
        rule=card.rule if rule is None else rule,
        blocks=None if shapes else card.block_rules,
        frame=None if shapes else card.frame,
        ignored=tuple(one.name for one in store.classes if one.value in store.manifest.ignored),
    )


def _sampling(store: Store) -> str:
    """Return the release and how many points each shape has to draw from, the same number for all shapes."""
    points, shapes = (sum(getattr(one, key) or 0 for one in store.manifest.scenes) for key in ("points", "shapes"))
    return f"{store.manifest.release}, {points // max(shapes, 1):,} points a shape"
