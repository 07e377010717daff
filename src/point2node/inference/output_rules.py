"""Which of a network's labels are written: the classes, their values and the region; everything else is unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from point2node.core.classes import SemanticClass, spread_colour
from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import Array, PointCloud
from point2node.data.class_file import UNLABELLED, read_scheme

if TYPE_CHECKING:
    from point2node.inference.labelled import LabelledCloud

MOST_CLASSES = 255
NO_LABEL = -1
"""A value that files use for points without a label, in addition to their own ``unlabelled``."""


@dataclass(frozen=True)
class Box:
    """The region between two corners, in the coordinates of the file."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    """x, y and z; or x and y, for all heights."""

    def contains(self, cloud: PointCloud) -> NDArray[np.bool_]:
        """Return whether each point is inside, (N,)."""
        xyz = cloud.xyz[:, : len(self.lower)]
        inside: NDArray[np.bool_] = np.all((xyz >= self.lower) & (xyz <= self.upper), axis=1)
        return inside


@dataclass(frozen=True, eq=False)
class Polygon:
    """The region inside a polygon in x and y, at all heights."""

    corners: NDArray[np.float64]
    """(C, 2)."""

    def contains(self, cloud: PointCloud) -> NDArray[np.bool_]:
        """Return whether each point is inside, (N,): a ray along x crosses an odd number of edges."""
        x, y = cloud.xyz[:, 0], cloud.xyz[:, 1]
        inside = np.zeros(len(cloud), bool)
        for (x0, y0), (x1, y1) in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True):
            if y0 != y1:
                inside ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
        return inside


@dataclass(frozen=True)
class InputClasses:
    """The points that have one of these labels in the input."""

    values: tuple[int, ...]

    def contains(self, cloud: PointCloud) -> NDArray[np.bool_]:
        """Return whether each point has one of the labels, (N,)."""
        assert cloud.labels is not None
        return np.isin(cloud.labels, self.values)


@dataclass(frozen=True, eq=False)
class OutputRules:
    """How a network's labels are written. Points excluded by a rule keep the label that they have in the input."""

    given: tuple[SemanticClass, ...]
    """The network's classes."""
    values: tuple[int, ...]
    """The value written for each of them."""
    classes: tuple[SemanticClass, ...]
    """The classes of the output."""
    unlabelled: int = UNLABELLED
    written: frozenset[str] = frozenset()
    """The names of the classes that are written; empty for all."""
    protect: tuple[int, ...] = ()
    within: Box | Polygon | InputClasses | None = None
    words: dict[str, str] = field(default_factory=dict)
    """The rules as the user gave them, and everything that they depend on."""

    def check(self, cloud: PointCloud, up: str, name: str) -> None:
        """Raise InputError, before any work, if the rules cannot be applied to a scan."""
        if (self.protect or isinstance(self.within, InputClasses)) and cloud.labels is None:
            option = "--protect" if self.protect else "--within class:"
            raise InputError(name, expected=f"a scan that has labels, for {option}", found="one without")
        flat = isinstance(self.within, Polygon) or (isinstance(self.within, Box) and len(self.within.lower) == 2)
        if flat and up != "z":
            remedy = "Give a box of six numbers, which is in the file's own axes."
            raise InputError(
                "--within", expected="a scan with z up, for x and y alone", found=f"{up} up", remedy=remedy
            )

    def apply(self, labelled: LabelledCloud) -> LabelledCloud:
        """Return the labelled cloud as it is written; input labels that are kept have a confidence of 1."""
        cloud = labelled.cloud
        labels = np.full(len(cloud), self.unlabelled, np.int32)
        changed = np.zeros(len(cloud), bool)
        written = {one.value for one in self.classes if not self.written or one.name in self.written}
        for one, value in zip(self.given, self.values, strict=True):
            if value in written:
                here = labelled.labels == one.value
                labels[here], changed[here] = value, True
        if self.protect:
            changed &= ~InputClasses(self.protect).contains(cloud)
        if self.within is not None:
            changed &= self.within.contains(cloud)
        kept = self._kept(cloud.labels, len(cloud))
        labels = np.where(changed, labels, kept)
        was_given = ~changed & (labels != self.unlabelled)
        return replace(
            labelled,
            labels=labels,
            confidence=np.where(changed, labelled.confidence, was_given).astype(np.float32),
            entropy=np.where(changed, labelled.entropy, 0).astype(np.float32),
            classes=self._listed(labels[was_given]),
            unlabelled=self.unlabelled,
        )

    def _kept(self, given: Array | None, points: int) -> NDArray[np.int32]:
        """Return the labels of the input."""
        if given is None:
            return np.full(points, self.unlabelled, np.int32)
        return np.where(given == NO_LABEL, self.unlabelled, given).astype(np.int32)

    def _listed(self, kept: NDArray[np.int32]) -> tuple[SemanticClass, ...]:
        """Return the output classes, and one for each other value that is kept from the input."""
        known = [one.value for one in self.classes]
        further = np.setdiff1d(kept, known)
        if len(known) + len(further) > MOST_CLASSES:
            found = f"{len(further)} different labels to keep"
            raise InputError("labels", expected=f"at most {MOST_CLASSES} classes in the output", found=found)
        names = {one.name for one in self.classes}
        listed = [
            SemanticClass(_free_name(f"input {value}", names), int(value), spread_colour(number, len(further)))
            for number, value in enumerate(further)
        ]
        return (*self.classes, *listed)


def output_rules(
    given: Sequence[SemanticClass],
    classes: str | None = None,
    protect: str | None = None,
    within: str | None = None,
    only: str | None = None,
    drop: str | None = None,
) -> OutputRules | None:
    """Parse the user's output rules for a network's classes; None if labels are written unchanged."""
    asked = {"classes": classes, "protect": protect, "within": within, "only": only, "drop": drop}
    words = {key: word for key, word in asked.items() if word is not None}
    if not words:
        return None
    if only is not None and drop is not None:
        raise InputError("--drop", expected="no --only as well", found="both")
    rules = OutputRules(tuple(given), tuple(one.value for one in given), tuple(given))
    if classes is not None:
        scheme = read_scheme(classes)
        rules = replace(
            rules, values=tuple(scheme.values_for(given)), classes=scheme.classes, unlabelled=scheme.unlabelled
        )
        words["classes"] += f" {rules.values} {scheme.unlabelled} {[(one.name, one.colour) for one in scheme.classes]}"
    region = None if within is None else _read_region(within)
    if isinstance(region, Polygon):
        words["within"] += f" {region.corners.tolist()}"
    return replace(
        rules,
        written=_read_names(rules.classes, only, drop),
        protect=() if protect is None else _read_values("--protect", protect, rules.classes),
        within=region,
        words=words,
    )


def _read_names(classes: Sequence[SemanticClass], only: str | None, drop: str | None) -> frozenset[str]:
    names = [one.name for one in classes]
    option, text = ("--only", only) if only is not None else ("--drop", drop)
    if text is None:
        return frozenset()
    chosen = [word.strip() for word in text.split(",")]
    for word in chosen:
        if word not in names:
            raise unknown_choice(option, word, names)
    left = set(chosen) if only is not None else set(names) - set(chosen)
    if not left:
        raise InputError(option, expected="at least one class that is left", found="none")
    return frozenset(left)


def _read_values(option: str, text: str, classes: Sequence[SemanticClass] = ()) -> tuple[int, ...]:
    """Parse label values, given as whole numbers or names of ``classes``."""
    values = {one.name: one.value for one in classes}
    found = []
    for word in (word.strip() for word in text.split(",")):
        if word in values:
            found.append(values[word])
            continue
        try:
            found.append(int(word))
        except ValueError:
            names = f" or names ({', '.join(values)})" if values else ""
            raise InputError(option, expected=f"label values such as 2,6{names}", found=repr(word)) from None
    return tuple(found)


def _read_region(text: str) -> Box | Polygon | InputClasses:
    if text.startswith("class:"):
        return InputClasses(_read_values("--within", text.removeprefix("class:")))
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        return _read_polygon(Path(text))
    half = len(numbers) // 2
    if len(numbers) not in (4, 6) or not np.isfinite(numbers).all():
        expected = "x0,y0,x1,y1 or x0,y0,z0,x1,y1,z1, a file of corners, or class:VALUE"
        raise InputError("--within", expected=expected, found=text)
    if any(low >= high for low, high in zip(numbers[:half], numbers[half:], strict=True)):
        raise InputError("--within", expected="the lower corner first, then the upper one", found=text)
    return Box(tuple(numbers[:half]), tuple(numbers[half:]))


def _read_polygon(path: Path) -> Polygon:
    expected = "a text file with a corner 'x y' on each line, three or more"
    try:
        lines = path.read_text(encoding="utf-8").replace(",", " ").replace(";", " ").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "no text"
        raise InputError(path, expected=expected, found=found.lower()) from error
    corners = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            corner = [float(word) for word in words]
        except ValueError:
            corner = []
        if len(corner) != 2 or not np.isfinite(corner).all():
            raise InputError(f"{path}, line {number}", expected="two numbers x y", found=repr(line[:60]))
        corners.append(corner)
    if len(corners) < 3:
        raise InputError(path, expected=expected, found=str(len(corners)))
    return Polygon(np.array(corners))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
