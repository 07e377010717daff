"""Label clouds with trained weights: a cloud goes in, the same cloud comes out with a label for every point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError, unknown_choice
from point2node.core.point_cloud import PointCloud
from point2node.core.words import COLOURS, Report, unreported
from point2node.data.batches import Sample
from point2node.data.features import SceneFeatures, compact_normals, surroundings_of
from point2node.geometry.blocks import BlockRules, cut_blocks, widen
from point2node.geometry.frames import LOOKED_AT, Placement, place
from point2node.geometry.neighbours import interpolate
from point2node.geometry.sampling import grid_sampling
from point2node.geometry.smoothing import smooth_on_surfaces
from point2node.geometry.surroundings import describe_surroundings
from point2node.inference.kept_work import KeptStrips, KeptWork
from point2node.inference.labelled import UNLABELLED, LabelledCloud
from point2node.inference.looks import (
    DEFAULT,
    OFFSETS,
    QUALITIES,
    Look,
    Quality,
    add_interpolated,
    count_groups,
    looks_of,
    unsure_blocks,
)
from point2node.inference.norm_statistics import (
    SAMPLES,
    SAMPLES_AT_ONCE,
    Statistics,
    batch_norms,
    check_share,
    draw_samples,
    estimate_statistics,
    mix_statistics,
)
from point2node.inference.strips import Demand, Plan, Strips, cut_small_strips, cut_strips, plan_memory
from point2node.inference.votes import (
    BlocksOfScene,
    SceneInput,
    Votes,
    Voting,
    entropy_of,
    vote_on_scene,
)
from point2node.inference.working import LoadedWeights
from point2node.models.network import Network

TALLEST = 2000.0
"""Metres between the lowest and the highest points: networks gave numbers at 1,400 m and NaN at 5,500 m."""
WIDEST = 256.0
"""Metres: the side of a square with as many points as a network takes at once; from 450 m on, networks gave NaN."""
ALL_AROUND = 180.0
"""Degrees: weights trained on samples turned by up to this recognise a cloud in any rotation."""
MORE_COPIES = 4
"""Copies of the probabilities of a strip's points while they are smoothed or interpolated."""


@dataclass(frozen=True)
class Options:
    """How a cloud is passed to the network. The output keeps the cloud's own coordinates."""

    scale: float | None = None
    """Metres per unit of the file: 0.001 for millimetres. None: the file's unit, or else metres."""
    up: str = "z"
    """The axis that points upwards: x, y, z, -x, -y or -z."""
    color: bool = True
    """Whether the cloud's colours are used."""
    votes: int | None = None
    """How often every point is labelled, each time at two offsets. For weights that recognise clouds in any rotation,
    the cloud is turned differently each time. None: set by ``quality``."""
    thin: float | None = None
    """Metres: the network labels one point in each cube of this edge, and the probabilities of the others are
    interpolated from the nearest three of these; 0 for every point. None: set by the weights."""
    smooth: bool | None = None
    """Whether probabilities are averaged over smooth surfaces. None: set by the weights."""
    memory: int | None = None
    """The memory limit in bytes. None: 60 % of the free memory."""
    norm_share: float = 0.0
    """From 0 to 1: the share of the cloud's own statistics in the batch norms."""
    quality: Quality | None = None
    """The trade-off between speed and accuracy (see ``looks``). None: balanced, unless ``votes`` are given."""

    def __post_init__(self) -> None:
        if self.votes is not None and self.votes < 1:
            raise InputError("votes", expected="1 or more", found=str(self.votes))
        if self.thin is not None and not (math.isfinite(self.thin) and self.thin >= 0):
            raise InputError("thin", expected="metres, 0 or more", found=str(self.thin))
        if self.quality is not None and self.quality not in QUALITIES:
            raise unknown_choice("quality", self.quality, QUALITIES)
        if self.quality is not None and self.votes is not None:
            raise InputError(
                "votes", expected="no quality as well, which sets how often points are labelled", found="both"
            )
        check_share(self.norm_share)

    def scale_of(self, cloud: PointCloud) -> float:
        """Return metres per unit of this cloud."""
        if self.scale is not None:
            return self.scale
        return 1.0 if cloud.unit is None else cloud.unit


_Found = tuple[NDArray[np.int64], torch.Tensor]
"""The indices (M,) of some points, and their probabilities (M, classes)."""


@dataclass(frozen=True, eq=False)
class _Question:
    """How the network is run on one cloud."""

    network: Network
    scene: Callable[[float], SceneInput]
    """Returns the placed points, turned by an angle in degrees."""
    looks: tuple[Look, ...]
    chosen: NDArray[np.int64]
    """The indices of the placed points that the network labels."""
    rules: BlockRules
    plan: Plan
    smooth: bool
    """Whether probabilities are averaged over surfaces."""
    kept: KeptWork | None
    """The store for the probabilities of finished strips, if any."""

    @property
    def strips(self) -> Strips:
        """The chosen points strip by strip."""
        cut = cut_strips if self.kept is None else cut_small_strips
        return cut(self.scene(0.0).xyz[self.chosen], self.plan.points_at_once, self.margin)

    @property
    def margin(self) -> float:
        """The distance in metres up to which points can share a block with points of a strip."""
        turned = any(look.degrees for look in self.looks)
        return self.rules.side * (math.sqrt(2) if turned else 1)  # the diagonal of a block if it is turned


class SceneLabeller(LoadedWeights):
    """Trained weights for scenes, ready to label any cloud."""

    task = "segmentation"

    @property
    def takes_colour(self) -> bool:
        """Whether the weights were trained with colours."""
        return bool(set(COLOURS) & set(self.trained.card.features))

    def label(
        self,
        cloud: PointCloud,
        options: Options | None = None,
        report: Report = unreported,
        name: str = "cloud",
        kept: KeptWork | None = None,
    ) -> LabelledCloud:
        """Label every point that has a position.

        The same cloud and options give the same labels. A cloud that is too large for the free memory is cut into
        strips, which are only the same if ``options.memory`` is given. With ``kept``, finished strips are saved there
        and reused.
        """
        options = options or Options()
        placement = place(cloud, options.scale_of(cloud), options.up, name)
        points = self.trained.card.points
        _check_extent(placement.xyz, points, name)
        chosen = thin_out(placement, self.cube(options))
        nodes = SAMPLES_AT_ONCE * points if options.norm_share else 0
        smooth, looks = self._smooths(options), self.looks(options)
        scenes = len({look.degrees for look in looks})
        copies = MORE_COPIES if smooth or any(look.share < 1 for look in looks) else 1
        plan = plan_memory(Demand(len(cloud), len(chosen), len(self.classes), nodes, scenes, copies), options.memory)
        rules = widen(self.trained.card.block_rules, placement.xyz[chosen], points)
        scene = cache(lambda degrees: self.scene(turn_about_z(placement, degrees), cloud, options, name))
        question = _Question(self.network, scene, looks, chosen, rules, plan, smooth, kept)
        if options.norm_share:
            network = mix_statistics(self.network, self._statistics(question), options.norm_share)
            question = replace(question, network=network)
        found = self._label(question, lambda done: report(done, len(chosen), name))
        values = np.array([one.value for one in self.classes], np.int32)
        unlabelled = UNLABELLED if UNLABELLED not in values else int(values.max()) + 1
        labels = np.full(len(cloud), unlabelled, np.int32)
        confidence, entropy = np.zeros(len(cloud), np.float32), np.zeros(len(cloud), np.float32)
        for some, probabilities in self._spread(placement, chosen, found):
            numbers = placement.numbers[some]
            best = probabilities.max(dim=1)
            labels[numbers] = values[best.indices.numpy()]
            confidence[numbers] = best.values.numpy()
            entropy[numbers] = entropy_of(probabilities).numpy()
        return LabelledCloud(
            cloud=cloud,
            labels=labels,
            confidence=confidence,
            entropy=entropy,
            classes=self.classes,
            weights=self.name,
            unlabelled=unlabelled,
            protocol=self._protocol(cloud, options, placement, rules),
            name=name,
            settings=asdict(options),
            up=options.up,
            scale=options.scale_of(cloud),
        )

    def scene(self, placement: Placement, cloud: PointCloud, options: Options, name: str = "cloud") -> SceneInput:
        """Return the network's input for the placed points."""
        card = self.trained.card
        everything = len(placement.numbers) == len(cloud)
        rgb, normals = (
            values if values is None or everything else values[placement.numbers]
            for values in (cloud.rgb if options.color and self.takes_colour else None, cloud.normals)
        )
        if "normals" in card.features:
            normals = compact_normals(placement.xyz) if normals is None else normals @ placement.rotation.T
        around = surroundings_of(card.features)
        surroundings = describe_surroundings(placement.xyz, around) if around else None
        described = SceneFeatures(card.features, rgb, normals, surroundings=surroundings)
        return SceneInput(
            placement.xyz, lambda numbers: described.of(numbers, placement.xyz[numbers]), name, card.frame
        )

    def _statistics(self, question: _Question) -> Statistics:
        """Estimate the statistics of the scene on groups of its chosen points, in proportion from each strip."""
        batch_norms(self.network)
        points, chosen, scene = self.trained.card.points, question.chosen, question.scene(0.0)
        if len(chosen) < points:
            expected = f"at least {points:,} points to estimate batch-norm statistics on"
            raise InputError(
                scene.name, expected=expected, found=f"{len(chosen):,}", remedy="Label it without --adapt."
            )
        samples: list[Sample] = []
        for strip, inside in question.strips:
            count = -(-SAMPLES * len(inside) // len(chosen))
            samples += draw_samples(_part(scene, chosen[strip]), question.rules, points, count)
        return estimate_statistics(self.network, samples)

    def _label(self, question: _Question, report: Callable[[int], None]) -> Iterator[_Found]:
        """Yield the probabilities of the chosen points strip by strip."""
        done, strips = 0, question.strips
        kept = KeptStrips(question.kept, len(strips))
        for number, (strip, inside) in enumerate(strips, start=1):
            compute = partial(self._ask, question, strip, inside, _Share(done, len(inside), report))
            yield strip[inside], torch.from_numpy(kept.get(number, question.chosen[strip[inside]], compute))
            done += len(inside)
        report(len(question.chosen))

    def _ask(
        self, question: _Question, strip: NDArray[np.int64], inside: NDArray[np.int64], share: _Share
    ) -> NDArray[np.float32]:
        """Return the probabilities of the points inside a strip, without its margin."""
        votes = self._vote(question, question.chosen[strip], share)
        if question.smooth:
            votes.revise(partial(_smoothed, question.scene(0.0).xyz[question.chosen[strip]]))
        return votes.probabilities_of(inside).numpy()

    def _vote(self, question: _Question, strip: NDArray[np.int64], share: _Share) -> Votes:
        """Return the votes of all looks at the points of one strip."""
        points, rules = self.trained.card.points, question.rules
        votes = Votes(len(strip), len(self.classes), "mean_probability")
        for number, look in enumerate(question.looks):
            scene = _part(question.scene(look.degrees), strip)
            blocks = cut_blocks(scene.xyz, look.offset * rules.side, np.random.default_rng(number), rules)
            if not look.everywhere:
                blocks = unsure_blocks(blocks, votes)
            if not blocks:
                continue
            work = points * sum(count_groups(block, points, look) for block in blocks)
            steps = _Steps(share, number, len(question.looks), work)
            asked = BlocksOfScene(blocks, rules, tiled=False, share=look.share)
            voting = Voting(len(self.classes), points, look.votes, "mean_probability")
            if look.share == 1:
                vote_on_scene(question.network, scene, asked, voting, steps, votes)
            else:
                add_interpolated(votes, vote_on_scene(question.network, scene, asked, voting, steps), scene.xyz, blocks)
        return votes

    def looks(self, options: Options) -> tuple[Look, ...]:
        """Return the looks at a cloud, in order."""
        turns = self.trained.card.turn >= ALL_AROUND
        return looks_of(options.quality or DEFAULT, options.votes, turns=turns, every_point=not self.cube(options))

    def cube(self, options: Options) -> float:
        """Return the side in metres of the cubes in which one point is labelled; 0 for every point."""
        return self.trained.card.thin if options.thin is None else options.thin

    def _smooths(self, options: Options) -> bool:
        return self.trained.card.smooth if options.smooth is None else options.smooth

    def _spread(self, placement: Placement, chosen: NDArray[np.int64], found: Iterator[_Found]) -> Iterator[_Found]:
        """Yield the probabilities of all placed points, interpolated from those of the chosen ones."""
        if len(chosen) == len(placement.xyz):  # all points, in the order of their cubes
            yield from ((chosen[numbers], probabilities) for numbers, probabilities in found)
            return
        known = torch.empty(len(chosen), len(self.classes))
        for numbers, probabilities in found:
            known[torch.from_numpy(numbers)] = probabilities
        xyz = torch.from_numpy(placement.xyz)
        everything = np.arange(len(xyz))
        for piece, probabilities in interpolate(xyz[torch.from_numpy(chosen)], known, xyz):
            yield everything[piece], probabilities

    def _protocol(self, cloud: PointCloud, options: Options, placement: Placement, rules: BlockRules) -> dict[str, Any]:
        card, looks = self.trained.card, self.looks(options)
        colour = "not used" if not self.takes_colour else "used" if cloud.rgb is not None and options.color else "none"
        return {
            "weights": self.name,
            "model": card.model,
            "variant": card.variant,
            "trained_steps": card.step,
            "points_per_group": card.points,
            "block_side": rules.side,
            "offsets": f"0 and {rules.side / 2:g} m",
            "quality": "best" if options.votes is not None else options.quality or DEFAULT,
            "looks": len(looks),
            "votes": len(looks) * looks[0].votes // len(OFFSETS) or 1,
            "rule": "mean_probability",
            "smooth": self._smooths(options),
            "colour": colour,
            "scale": options.scale_of(cloud),
            "up": options.up,
            "thin": self.cube(options),
            "norm_share": options.norm_share,
            "points_without_position": len(cloud) - len(placement.numbers),
        }


def _check_extent(xyz: NDArray[np.float32], points: int, name: str) -> None:
    """Raise InputError if coordinates cannot be metres: the network's output would not be finite."""
    low, high = np.quantile(xyz[:: -(-len(xyz) // LOOKED_AT)], [0.005, 0.995], axis=0)
    x, y, z = (high - low).tolist()
    if z > TALLEST or math.sqrt(x * y * points / len(xyz)) > WIDEST:
        raise InputError(
            name,
            expected="coordinates in metres",
            found=f"{len(xyz):,} points on {x:,.0f} × {y:,.0f} × {z:,.0f} m",
            remedy="Give the unit: --scale 0.001 for millimetres, 0.01 for centimetres, 0.3048 for feet.",
        )


def thin_out(placement: Placement, thin: float) -> NDArray[np.int64]:
    """Return the indices of placed points with one in each cube of ``thin`` metres; all points for 0."""
    if not thin:
        return np.arange(len(placement.xyz))
    first, _ = grid_sampling(torch.from_numpy(placement.xyz), thin)
    return first.numpy()


def turn_about_z(placement: Placement, degrees: float) -> Placement:
    """Turn placed points about the vertical."""
    if not degrees:
        return placement
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    xyz = placement.xyz @ turn.T.astype(np.float32)
    return replace(placement, xyz=xyz, rotation=turn @ placement.rotation)


def _part(scene: SceneInput, points: NDArray[np.int64]) -> SceneInput:
    """Return some points of a scene as a scene."""
    return replace(scene, xyz=scene.xyz[points], features=partial(_features_of, scene, points))


def _features_of(
    scene: SceneInput, points: NDArray[np.int64], numbers: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """Return the features of some of a scene's ``points``, given by their indices in ``points``."""
    return scene.features(points[numbers])


def _smoothed(xyz: NDArray[np.float32], probabilities: torch.Tensor) -> torch.Tensor:
    """Average probabilities along surfaces, weighted by confidence."""
    sure = probabilities.amax(dim=1).clamp_min(1e-6)
    return smooth_on_surfaces(torch.from_numpy(xyz), probabilities, sure)


@dataclass(frozen=True)
class _Share:
    """One strip's share of the work."""

    before: int
    """Points labelled before it."""
    points: int
    report: Callable[[int], None]


class _Steps:
    """Reports progress of one look at a strip as a number of labelled points."""

    def __init__(self, share: _Share, look: int, looks: int, work: int) -> None:
        self._share, self._look, self._looks, self._work = share, look, looks, work
        self._seen = 0

    def __call__(self, numbers: NDArray[np.int64], probabilities: torch.Tensor) -> None:
        self._seen += len(numbers)
        done = (self._look * self._work + self._seen) * self._share.points // (self._looks * self._work)
        self._share.report(self._share.before + done)
