"""What the settings of a run make training draw from: blocks of scenes or shapes, augmented, of one store or of two."""

from __future__ import annotations

import math

from point2node.core.errors import InputError
from point2node.data.batches import SampleSource
from point2node.data.samples import MixedSources, Portion, RoomBlocks, ShapeClouds
from point2node.data.store import Store, open_store
from point2node.evaluation.splits import Part
from point2node.geometry.augment import Augmentation
from point2node.weights.cards import card_of
from point2node.weights.settings import Settings


def build_source(settings: Settings, store: Store, part: Part) -> SampleSource:
    """The samples of ``part`` of the store, next to those of the settings' ``target`` if there is one."""
    if part.shapes is not None:
        augmentation = _augmentation(settings)
        shapes = (settings.points, settings.features, augmentation, part.shapes, settings.mix)
        return ShapeClouds(store, part.split, *shapes)
    source = _blocks(settings, store, part.scenes)
    if settings.target is None:
        return source
    target = open_store(settings.target)
    check_same_classes(target, store)
    # a loss is a sum over labelled points: of few labels each has to count for more
    weight = settings.target_weight / labelled_share(target)
    share = settings.target_share
    return MixedSources(
        [
            Portion(source, 1 - share, settings.source_weight),
            Portion(_blocks(settings, target, target.scenes()), share, weight),
        ]
    )


def check_same_classes(store: Store, other: Store) -> None:
    """Refuse two stores whose classes are not the same in the same order."""
    expected, found = ([one.name for one in each.classes] for each in (other, store))
    if found != expected:
        raise InputError(
            store.path, expected=f"the classes of {other.path}: {', '.join(expected)}", found=", ".join(found)
        )


def labelled_share(store: Store) -> float:
    """The share of the points of a store of scenes that have a label to learn."""
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
