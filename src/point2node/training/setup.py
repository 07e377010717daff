"""Setting up a training: its data, its network, its initial weights and the source of its batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from point2node.core.errors import InputError
from point2node.data.batches import BatchLoader, SampleSource
from point2node.data.features import missing_colour_notes
from point2node.data.samples import MixedSources, Portion, RoomBlocks, ShapeClouds
from point2node.data.store import Store, open_store
from point2node.evaluation.splits import Part, check_classes, class_weights, divide
from point2node.geometry.augment import Augmentation
from point2node.models.batch_norm import synchronise_batch_norms
from point2node.models.network import Network
from point2node.models.weights_file import load_tensors
from point2node.training.checkpoints import WeightAverage
from point2node.training.fabric import Fabric
from point2node.training.recipe import build_optimiser
from point2node.weights.cards import WeightsCard, card_of, check_points, check_task
from point2node.weights.run_folder import RunFolder
from point2node.weights.settings import Settings
from point2node.weights.trained import load_trained


@dataclass(frozen=True, eq=False)
class Job:
    """One training: its settings, its data and its folder."""

    settings: Settings
    preset: str
    """Where the settings come from, for the card of the run."""
    store: Store
    run: RunFolder
    """A new run, or one of the same training to resume."""
    data: str | None = None
    """Where the data was found, for the card of the run."""


@dataclass(frozen=True, eq=False)
class SetUp:
    """Everything a training works with from its first step to its last."""

    card: WeightsCard
    training: Part
    validation: Part
    network: Network
    model: nn.Module
    """The network as called in a step: on its device, with its gradients averaged over processes."""
    optimiser: Optimizer
    average: WeightAverage | None
    loader: BatchLoader
    loss_weights: Tensor | None
    """(classes,); None if all classes count the same."""
    steps: int


def set_up(job: Job, fabric: Fabric, say: Callable[[str], None]) -> SetUp:
    """Set up everything that a training needs before its first step; ``say`` is called with notes for the user."""
    settings, store = job.settings, job.store
    check_classes(settings, store)
    division = divide(settings, store)
    validation = division.validation.first(settings.validation_scenes)
    card = card_of(settings, store)
    network = _build_network(job, card, say)
    loader = _build_loader(job, division.training, network, fabric)
    for note in (*store.manifest.notes_to_print(), *missing_colour_notes(store, settings.features)):
        say(note)
    say(f"{len(division.training)} scenes or shapes to learn from, {len(validation)} to validate on")
    if settings.sync_batch_norm:
        synchronise_batch_norms(network)
    model, optimiser = fabric.setup(network, build_optimiser(settings, network))
    weights = class_weights(settings, store, division.training)
    return SetUp(
        card=card,
        training=division.training,
        validation=validation,
        network=network,
        model=model,
        optimiser=optimiser,
        average=None if settings.ema_decay is None else WeightAverage(network, settings.ema_decay),
        loader=loader,
        loss_weights=None if weights is None else torch.from_numpy(weights).to(fabric.device),
        steps=settings.steps or settings.epochs * loader.steps_per_epoch,
    )


def _build_network(job: Job, card: WeightsCard, say: Callable[[str], None]) -> Network:
    """Build the network, with weights drawn from the seed or taken from ``start``."""
    torch.manual_seed(job.settings.seed)
    network = card.build()
    check_task(card, network)
    check_points(card, network)
    if job.settings.start is not None and not job.run.state.is_file():
        say(start_from(network, card, job.settings.start))
    return network


def _build_loader(job: Job, part: Part, network: Network, fabric: Fabric) -> BatchLoader:
    """Build the loader of this process's batches."""
    return BatchLoader(
        build_source(job.settings, job.store, part),
        network.plan,
        batch_size=job.settings.batch_size,
        seed=job.settings.seed,
        workers=job.settings.num_workers,
        part=(fabric.global_rank, fabric.world_size),
    )


def build_source(settings: Settings, store: Store, part: Part) -> SampleSource:
    """Return the samples of ``part`` of the store, mixed with those of the settings' ``target`` if there is one."""
    if part.shapes is not None:
        augmentation = _augmentation(settings)
        shapes = (settings.points, settings.features, augmentation, part.shapes, settings.mix)
        return ShapeClouds(store, part.split, *shapes)
    source = _blocks(settings, store, part.scenes)
    if settings.target is None:
        return source
    target = open_store(settings.target)
    check_same_classes(target, store)
    # the loss is a sum over labelled points: if there are few labels, each has to count for more
    weight = settings.target_weight / labelled_share(target)
    share = settings.target_share
    return MixedSources(
        [
            Portion(source, 1 - share, settings.source_weight),
            Portion(_blocks(settings, target, target.scenes()), share, weight),
        ]
    )


def check_same_classes(store: Store, other: Store) -> None:
    """Raise InputError unless two stores have the same classes in the same order."""
    expected, found = ([one.name for one in each.classes] for each in (other, store))
    if found != expected:
        raise InputError(
            store.path, expected=f"the classes of {other.path}: {', '.join(expected)}", found=", ".join(found)
        )


def labelled_share(store: Store) -> float:
    """Return the share of the points of a store of scenes that have a label to learn."""
    known = {one.value for one in store.classes} - set(store.manifest.ignored)
    entries = store.manifest.scenes
    labelled = sum(count for entry in entries for value, count in entry.labels.items() if value in known)
    if not labelled:
        raise InputError(store.path, expected="labelled points", found="none")
    return labelled / sum(entry.points for entry in entries)


def _blocks(settings: Settings, store: Store, scenes: tuple[str, ...]) -> RoomBlocks:
    return RoomBlocks(
        store,
        scenes,
        settings.points,
        settings.features,
        _augmentation(settings),
        card_of(settings, store).block_rules,
        settings.frame,
        settings.balance,
        settings.mix,
    )


def _augmentation(settings: Settings) -> Augmentation:
    return Augmentation(
        turn=math.radians(settings.turn),
        tilt=math.radians(settings.tilt),
        scale=settings.scale,
        scale_range=settings.scale_range,
        transform=settings.transform,
        translate=settings.translate,
        affine=settings.affine,
        elastic=settings.elastic,
        mirror=settings.mirror,
        jitter=settings.jitter,
        height_shift=settings.height_shift,
        top_drop=settings.top_drop,
        holes=settings.holes,
        density=settings.density,
        point_drop=settings.point_drop,
        colour_drop=settings.colour_drop,
        colour_jitter=settings.colour_jitter,
        surroundings_drop=settings.surroundings_drop,
    )


LOGITS = "head.logits."


def start_from(network: Network, card: WeightsCard, name: str) -> str:
    """Load the weights called ``name`` into ``network``, which ``card`` describes; return a line that reports it.

    Several names, separated by commas, give the mean of their weights. Everything but the last layer must fit: if the
    classes differ, the last layer keeps its random weights.
    """
    names = [name] if Path(name).exists() else name.split(",")
    every = [load_trained(one) for one in names]
    for one, trained in zip(names, every, strict=True):
        if trained.card.features != card.features:
            expected, found = (" + ".join(("xyz", *known.features)) for known in (trained.card, card))
            raise InputError("features", expected=f"{expected}, the input of {one}", found=found)
    wanted = [known.name for known in card.classes]
    same_classes = all([known.name for known in trained.card.classes] == wanted for trained in every)
    drawn = {key: tensor.clone() for key, tensor in network.state_dict().items() if key.startswith(LOGITS)}
    states = []
    for one, trained in zip(names, every, strict=True):
        given = trained.network.state_dict() | ({} if same_classes else drawn)
        load_tensors(Path(one), network, given)  # raises InputError for those of another network
        states.append(given)
    network.load_state_dict(mean_of_weights(states))
    frame = every[0].card.frame
    frames = "" if frame == card.frame else f", which was trained on blocks in the frame of the {frame}"
    source = name if len(names) == 1 else f"the mean of {', '.join(names)}"
    return f"started from {source}{frames}" + (
        "" if same_classes else ", with a new last layer: the classes are different"
    )


def mean_of_weights(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of each floating-point tensor, computed in double precision; counters are those of the last."""
    return {
        key: torch.stack([state[key].double() for state in states]).mean(dim=0).to(tensor.dtype)
        if tensor.is_floating_point()
        else tensor
        for key, tensor in states[-1].items()
    }
