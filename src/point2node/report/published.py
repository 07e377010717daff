"""What a published number is: a method, a score, and what is said of how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class PrintedProtocol:
    """What the paper says of how its numbers came about; None: not stated. Names are those of our protocols."""

    task: str
    dataset: str
    split: str
    unit: str | None = None
    """What is counted: points, voxels or shapes."""
    scenes: int | None = None
    units: int | None = None
    folds: int | None = None
    input: str | None = None
    points: str | None = None


@dataclass(frozen=True)
class PublishedScore:
    """One row of a table of methods."""

    method: str
    protocol: PrintedProtocol
    oa: float | None
    macc: float | None = None
    miou: float | None = None
    iou: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))

    def score(self, column: str) -> float | None:
        """The number under a heading: OA, mAcc, mIoU or a class."""
        return {"OA": self.oa, "mAcc": self.macc, "mIoU": self.miou, **self.iou}.get(column)


@dataclass(frozen=True)
class PublishedTable:
    """One table of methods."""

    number: int
    caption: str
    decimals: int
    classes: int | None
    """How many classes the data must have, where its name leaves it open: ModelNet comes with 40 and with 10."""
    rows: tuple[PublishedScore, ...]

    def fits(self, dataset: str, split: str, classes: int) -> bool:
        """Whether results on this data may stand beside the table."""
        printed = self.rows[0].protocol
        return (dataset, split) == (printed.dataset, printed.split) and self.classes in (None, classes)


@dataclass(frozen=True)
class AblationRow:
    """One variant of the network: its name here, its name there, its mIoU and Δ as printed."""

    variant: str
    printed_name: str
    miou: float
    delta: float


@dataclass(frozen=True)
class Claim:
    """What the paper concludes from its ablation: the variants of ``more`` together score above those of ``less``."""

    words: str
    more: tuple[str, ...]
    less: tuple[str, ...]


@dataclass(frozen=True)
class ComplexityRow:
    """One model's size in 2^20 parameters and its mIoU, each with the relative change in per cent as printed."""

    variant: str
    size: float
    size_change: float | None
    miou: float
    miou_change: float | None
