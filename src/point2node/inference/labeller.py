"""Labelling clouds with trained weights: a cloud goes in, the same cloud comes out with a label for every point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.core.words import COLOURS, Report, unreported
from point2node.data.batches import Sample
from point2node.data.features import SceneFeatures, compact_normals, surroundings_of
from point2node.geometry.blocks import BlockRules, cut_blocks, widen
from point2node.geometry.frames import LOOKED_AT, Placement, place
from point2node.geometry.interpolation import interpolate
from point2node.geometry.sampling import grid_sampling
from point2node.geometry.smoothing import smooth_on_surfaces
from point2node.geometry.surroundings import describe_surroundings
from point2node.inference.labelled import UNLABELLED, LabelledCloud
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
from point2node.inference.strips import Demand, Plan, cut_strips, plan_memory
from point2node.inference.votes import (
    BlocksOfScene,
    SceneInput,
    Votes,
    Voting,
    entropy_of,
    pieces,
    vote_on_scene,
)
from point2node.inference.working import WeightsAtWork
from point2node.models.network import Network

TALLEST = 2000.0
"""Metres between the lowest and the highest points: 1,400 m were answered with numbers, 5,500 m with NaN."""
WIDEST = 256.0
"""Metres: the side of a square with as many points as a network takes at once; from 450 m on answers were NaN."""
TURNS = (0.0, 30.0, 60.0, 45.0, 15.0, 75.0)
"""Degrees by which a cloud is turned for each vote: blocks and cells then lie differently on the same walls."""
ALL_AROUND = 180.0
"""Degrees: weights trained on samples turned by up to this know a cloud however it is turned."""
VOTES = 2
"""How often such weights are asked unless told otherwise."""


@dataclass(frozen=True)
class Options:
    """How a cloud is brought before the network. What comes out keeps the cloud's own coordinates."""

    scale: float | None = None
    """Metres in one unit of the file: 0.001 for millimetres. None: what the file says, else metres."""
    up: str = "z"
    """The axis that points upwards: x, y or z, or with a minus before it."""
    color: bool = True
    """Whether the cloud's colours are used."""
    votes: int | None = None
    """How often every point is labelled; twice, at two offsets, for each. None: 2 by weights that know clouds however
    they are turned, for which the cloud is turned otherwise each time, 1 by others."""
    thin: float | None = None
    """Metres: the network labels one point in each cube of this edge, the probabilities of others are interpolated from
    the nearest three of these; 0 for every point, None as the weights say."""
    smooth: bool | None = None
    """Whether probabilities are averaged over smooth surfaces; None: as the weights say."""
    memory: int | None = None
    """Bytes to stay below; 60 % of what is free if not given."""
    norm_share: float = 0.0
    """From 0 to 1: how much of the batch norms' statistics are those of the cloud itself."""

    def __post_init__(self) -> None:
        if self.votes is not None and self.votes < 1:
            raise InputError("votes", expected="1 or more", found=str(self.votes))
        if self.thin is not None and not (math.isfinite(self.thin) and self.thin >= 0):
            raise InputError("thin", expected="metres, 0 or more", found=str(self.thin))
        check_share(self.norm_share)

    def scale_of(self, cloud: PointCloud) -> float:
        """Metres in one unit of this cloud."""
        if self.scale is not None:
            return self.scale
        return 1.0 if cloud.unit is None else cloud.unit


_Found = tuple[NDArray[np.int64], torch.Tensor]
"""The numbers (M,) of some points, and their probabilities (M, classes)."""


@dataclass(frozen=True, eq=False)
class _Question:
    """What the network is asked about one cloud."""

    network: Network
    scenes: tuple[SceneInput, ...]
    """The placed points, turned differently in each."""
    votes: int
    """How often it is asked about each of the scenes."""
    chosen: NDArray[np.int64]
    """Which of the placed points."""
    rules: BlockRules
    plan: Plan


class SceneLabeller(WeightsAtWork):
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
    ) -> LabelledCloud:
        """Label every point that has a position.

        The same cloud and options give the same labels; a cloud too large for the free memory is cut into strips, so
        that ``options.memory`` has to be given to have the same strips.
        """
        options = options or Options()
        placement = place(cloud, options.scale_of(cloud), options.up, name)
        points = self.trained.card.points
        _refuse_giants(placement.xyz, points, name)
        chosen = thin_out(placement, self.cube(options))
        nodes = SAMPLES_AT_ONCE * points if options.norm_share else 0
        smooth = self._smooths(options)
        turns = self.turns(options)
        demand = Demand(len(cloud), len(chosen), len(self.classes), nodes, len(turns), smooth)
        plan = plan_memory(demand, options.memory)
        rules = widen(self.trained.card.block_rules, placement.xyz[chosen], points)
        scenes = tuple(self.scene(turn_about_z(placement, degrees), cloud, options, name) for degrees in turns)
        network = self.network
        if options.norm_share:
            statistics = self._statistics(scenes[0], chosen, rules, plan)
            network = mix_statistics(network, statistics, options.norm_share)
        votes = self.votes(options) // len(turns)
        question = _Question(network, scenes, votes, chosen, rules, plan)
        found = self._label(question, smooth, lambda done: report(done, len(chosen), name))
        values = np.array([one.value for one in self.classes], np.int32)
        unlabelled = UNLABELLED if UNLABELLED not in values else int(values.max()) + 1
        result = LabelledCloud(
            cloud=cloud,
            labels=np.full(len(cloud), unlabelled, np.int32),
            confidence=np.zeros(len(cloud), np.float32),
            entropy=np.zeros(len(cloud), np.float32),
            classes=self.classes,
            weights=self.name,
            unlabelled=unlabelled,
            protocol=self._protocol(cloud, options, placement, rules),
        )
        for some, probabilities in self._spread(placement, chosen, found):
            numbers = placement.numbers[some]
            best = probabilities.max(dim=1)
            result.labels[numbers] = values[best.indices.numpy()]
            result.confidence[numbers] = best.values.numpy()
            result.entropy[numbers] = entropy_of(probabilities).numpy()
        return result

    def scene(self, placement: Placement, cloud: PointCloud, options: Options, name: str = "cloud") -> SceneInput:
        """What the network is given of the placed points."""
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

    def _statistics(self, scene: SceneInput, chosen: NDArray[np.int64], rules: BlockRules, plan: Plan) -> Statistics:
        """The statistics of the scene, estimated on groups of its chosen points, from each strip in proportion."""
        batch_norms(self.network)
        points = self.trained.card.points
        if len(chosen) < points:
            expected = f"at least {points:,} points to estimate batch-norm statistics on"
            raise InputError(
                scene.name, expected=expected, found=f"{len(chosen):,}", remedy="Label it without --adapt."
            )
        samples: list[Sample] = []
        for _, inside, (part,) in _strips([scene], chosen, rules, plan):
            count = -(-SAMPLES * len(inside) // len(chosen))
            samples += draw_samples(part, rules, points, count)
        return estimate_statistics(self.network, samples)

    def _label(self, question: _Question, smooth: bool, report: Callable[[int], None]) -> Iterator[_Found]:
        """The probabilities of the chosen points, strip by strip."""
        done = 0
        for strip, inside, parts in _strips(question.scenes, question.chosen, question.rules, question.plan):
            votes = self._vote(question, parts, _Share(done, len(inside), report))
            if smooth:
                votes.revise(partial(_smoothed, parts[0].xyz))
            for piece in pieces(len(inside)):
                yield strip[inside[piece]], votes.probabilities_of(inside[piece])
            done += len(inside)
        report(len(question.chosen))

    def _vote(self, question: _Question, parts: list[SceneInput], share: _Share) -> Votes:
        """The votes on the points of one strip, of all scenes together."""
        points, rules = self.trained.card.points, question.rules
        voting = Voting(len(self.classes), points, question.votes, "mean_probability")
        votes = Votes(len(parts[0].xyz), voting.classes, voting.rule)
        for number, scene in enumerate(parts):
            random = np.random.default_rng(0)
            blocks = [
                block for offset in (0.0, rules.side / 2) for block in cut_blocks(scene.xyz, offset, random, rules)
            ]
            work = points * sum(-(-question.votes * len(block) // points) for block in blocks)
            steps = _Steps(share, number, len(parts), work)
            asked = BlocksOfScene(blocks, rules, tiled=False)
            vote_on_scene(question.network, scene, asked, voting, steps, votes)
        return votes

    def turns(self, options: Options) -> tuple[float, ...]:
        """Degrees by which the cloud is turned for each vote; (0,) for weights that know it facing one way only."""
        if self.trained.card.turn < ALL_AROUND:
            return TURNS[:1]
        return tuple(TURNS[vote % len(TURNS)] for vote in range(self.votes(options)))

    def votes(self, options: Options) -> int:
        """How often every point is labelled."""
        if options.votes is not None:
            return options.votes
        return VOTES if self.trained.card.turn >= ALL_AROUND else 1

    def cube(self, options: Options) -> float:
        """Metres: the side of the cubes of which one point each is labelled; 0 for every point."""
        return self.trained.card.thin if options.thin is None else options.thin

    def _smooths(self, options: Options) -> bool:
        return self.trained.card.smooth if options.smooth is None else options.smooth

    def _spread(self, placement: Placement, chosen: NDArray[np.int64], found: Iterator[_Found]) -> Iterator[_Found]:
        """The probabilities of all placed points, from those of the chosen ones."""
        if len(chosen) == len(placement.xyz):
            yield from found
            return
        known = torch.empty(len(chosen), len(self.classes))
        for numbers, probabilities in found:
            known[torch.from_numpy(numbers)] = probabilities
        xyz = torch.from_numpy(placement.xyz)
        everything = np.arange(len(xyz))
        for piece, probabilities in interpolate(xyz[torch.from_numpy(chosen)], known, xyz):
            yield everything[piece], probabilities

    def _protocol(self, cloud: PointCloud, options: Options, placement: Placement, rules: BlockRules) -> dict[str, Any]:
        card = self.trained.card
        colour = "not used" if not self.takes_colour else "used" if cloud.rgb is not None and options.color else "none"
        return {
            "weights": self.name,
            "model": card.model,
            "variant": card.variant,
            "trained_steps": card.step,
            "points_per_group": card.points,
            "block_side": rules.side,
            "offsets": f"0 and {rules.side / 2:g} m",
            "votes": self.votes(options),
            "rule": "mean_probability",
            "smooth": self._smooths(options),
            "colour": colour,
            "scale": options.scale_of(cloud),
            "up": options.up,
            "thin": self.cube(options),
            "norm_share": options.norm_share,
            "points_without_position": len(cloud) - len(placement.numbers),
        }


def _refuse_giants(xyz: NDArray[np.float32], points: int, name: str) -> None:
    """Refuse what cannot be metres: the network's answers would not be finite."""
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
    """The numbers of the placed points that are left with one in each cube of ``thin`` metres; 0 leaves all."""
    if not thin:
        return np.arange(len(placement.xyz))
    first, _ = grid_sampling(torch.from_numpy(placement.xyz), thin)
    return first.numpy()


def turn_about_z(placement: Placement, degrees: float) -> Placement:
    """The placed points turned about the vertical."""
    if not degrees:
        return placement
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    xyz = placement.xyz @ turn.T.astype(np.float32)
    return replace(placement, xyz=xyz, rotation=turn @ placement.rotation)


def _strips(
    scenes: Sequence[SceneInput], chosen: NDArray[np.int64], rules: BlockRules, plan: Plan
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], list[SceneInput]]]:
    """The chosen points strip by strip: which they are, which of these are the strip's own, and their scenes."""
    margin = rules.side * (math.sqrt(2) if len(scenes) > 1 else 1)  # as far as a block reaches that is turned
    for strip, inside in cut_strips(scenes[0].xyz[chosen], plan.points_at_once, margin):
        points = chosen[strip]
        yield (
            strip,
            inside,
            [replace(scene, xyz=scene.xyz[points], features=partial(_features_of, scene, points)) for scene in scenes],
        )


def _features_of(
    scene: SceneInput, points: NDArray[np.int64], numbers: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """The features of some of a scene's ``points``, by their numbers among these."""
    return scene.features(points[numbers])


def _smoothed(xyz: NDArray[np.float32], probabilities: torch.Tensor) -> torch.Tensor:
    """Probabilities averaged along surfaces, sure ones before others."""
    sure = probabilities.amax(dim=1).clamp_min(1e-6)
    return smooth_on_surfaces(torch.from_numpy(xyz), probabilities, sure)


@dataclass(frozen=True)
class _Share:
    """The part of the work that one strip is."""

    before: int
    """Points labelled before it."""
    points: int
    report: Callable[[int], None]


class _Steps:
    """Turns what the network has seen of a strip's scene, one of several, into how many points are labelled."""

    def __init__(self, share: _Share, scene: int, scenes: int, work: int) -> None:
        self._share, self._scene, self._scenes, self._work = share, scene, scenes, work
        self._seen = 0

    def __call__(self, numbers: NDArray[np.int64], probabilities: torch.Tensor) -> None:
        self._seen += len(numbers)
        done = (self._scene * self._work + self._seen) * self._share.points // (self._scenes * self._work)
        self._share.report(self._share.before + done)
