"""Runs that differ only in their seed become one entry, and every entry a name that tells it from the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from point2node.report.paper_numbers import ABLATION
from point2node.report.results import Result
from point2node.report.tables import Summary, summarise

Recipe = Mapping[str, Any]
PRINTED_NAMES = {row.variant: row.printed_name for row in ABLATION}


@dataclass(frozen=True)
class Entry:
    """The results of one network trained with one recipe, over seeds."""

    label: str
    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """Any of them: apart from the seed they are alike."""
        return self.results[0]

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(result.name for result in self.results)

    def summary(self, heading: str) -> Summary | None:
        """A score over the seeds."""
        return summarise([result.scores().get(heading) for result in self.results])

    def by_seed(self, heading: str) -> dict[int | None, float]:
        """A score for each seed; of a seed that was run twice, the mean."""
        scores: dict[int | None, list[float | None]] = {}
        for result in self.results:
            scores.setdefault(result.evaluation.seed, []).append(result.scores().get(heading))
        means = {seed: summarise(found) for seed, found in scores.items()}
        return {seed: mean.mean for seed, mean in means.items() if mean is not None}

    def steps(self) -> str:
        """How long they were trained, in words."""
        runs = [result.run for result in self.results if result.run is not None]
        known = sorted({run.steps for run in runs if run.steps is not None})
        words = [f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"] if known else []
        if any(run.steps is None for run in runs):
            words.append("not finished")
        return ", ".join(words) or "–"

    def repeated_seeds(self) -> tuple[int, ...]:
        """Seeds that more than one of the results has."""
        counts = Counter(result.evaluation.seed for result in self.results)
        return tuple(seed for seed, count in counts.items() if seed is not None and count > 1)


def merge_seeds(results: Sequence[Result]) -> list[Entry]:
    """One entry for each network and recipe, in order of appearance."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        identity = (name_network(result), result.parameters, recipe_of(result))
        groups.setdefault(json.dumps(identity, sort_keys=True), []).append(result)
    recipes = [recipe_of(result) for result in results]
    return [
        Entry(", ".join((name_network(group[0]), *tell_apart(recipe_of(group[0]), recipes))), tuple(group))
        for group in groups.values()
    ]


def name_network(result: Result) -> str:
    """Point2Node and its variants as the paper calls them, others by their own name."""
    file = result.evaluation
    if result.is_point2node:
        return PRINTED_NAMES.get(result.variant, result.variant)
    return file.model if file.variant in (None, file.model) else f"{file.model} {file.variant}"


def tell_apart(own: Recipe, others: Sequence[Recipe]) -> list[str]:
    """In words, what sets a recipe apart: its preset, and against others of that preset each setting that differs.

    An evaluation by itself knows none of its settings, and an older run not all: what is not known is no difference.
    """
    told = [f"preset {own['preset']}"] if any(other["preset"] != own["preset"] for other in others) else []
    alike = [other for other in others if other["preset"] == own["preset"]]
    for key, value in own.items():
        if any(other.get(key, value) != value for other in alike):
            told.append(f"{key} {value}")
    if any(set(other) - set(own) for other in alike):
        told.append("settings not all known")
    return told


def recipe_of(result: Result) -> Recipe:
    """How the network of a result was trained, apart from its seed and which network it is."""
    settings = {} if result.run is None else result.run.settings
    chosen = {key: value for key, value in settings.items() if key not in ("model", "variant")}
    return {"preset": result.evaluation.preset, "weights": result.evaluation.weights, **chosen}
