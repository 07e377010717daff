"""The protocol of a score: everything that has to be alike before two figures may stand side by side."""

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
    """How a figure was had."""

    task: str
    dataset: str
    split: str
    selection: str
    """A checksum of which scenes, or shapes, of the data these are: two runs' "val" may not be the same."""
    data: str
    """The checksum of the store's manifest."""
    sampling: str | None
    """Where shapes have their points from; None for scenes."""
    input: str
    """What the network is given."""
    voxel: float | None
    """Metres; the side of the voxels that are scored instead of points."""
    points: int
    """N, the points that the network sees at once."""
    votes: int
    rule: Rule
    blocks: BlockRules | None
    """How scenes are cut; None for shapes."""
    frame: Frame | None
    """Where a block's x and y are counted from; None for shapes."""
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
        """The "zero" and the "half" blocks; a shape is not cut."""
        return () if self.blocks is None else (0.0, self.blocks.side / 2)

    def as_dict(self) -> dict[str, Any]:
        """The protocol as results state it."""
        values = asdict(self) | {"unit": self.unit, "offsets": list(self.offsets), "ignored": list(self.ignored)}
        blocks = values.pop("blocks")
        keys = {"side": "block_side", "grid": "block_grid", "max_points": "block_points"}
        return values | {name: blocks[key] if blocks else None for key, name in keys.items()}


def protocol_of(
    card: WeightsCard, store: Store, part: Part, votes: int | None = None, rule: Rule | None = None
) -> Protocol:
    """The protocol that weights ask for on one part of a store, unless told otherwise."""
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
    """Of which release, and how many points of a shape there are to draw from: of all shapes as many."""
    points, shapes = (sum(getattr(one, key) or 0 for one in store.manifest.scenes) for key in ("points", "shapes"))
    return f"{store.manifest.release}, {points // max(shapes, 1):,} points a shape"
