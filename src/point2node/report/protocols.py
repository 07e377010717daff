"""The conditions of results in words, and grouping results that may be compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from point2node.report.paper_numbers import PrintedProtocol
from point2node.report.results import EvaluationFile, Result

Conditions = Mapping[str, Any]

LONGEST = 80  # characters of a value without an entry in _WORDS
_STATED_ELSEWHERE = {"task", "dataset", "split", "classes", "voxel"}  # the last is part of the unit
_NEVER_PRINTED = {"data", "selection", "classes", "scenes", "units", "voxel"}
_CHECKSUMS = {"data", "selection"}
_NOTHING: tuple[Any, ...] = (None, [], "")


def conditions(evaluation: EvaluationFile) -> Conditions:
    """Return everything that must be the same for two results to be compared, in the order of description."""
    found = evaluation.protocol.model_dump(mode="json")
    found |= {"scenes": evaluation.scenes, "units": evaluation.units}
    found |= {"classes": list(evaluation.iou or evaluation.accuracy)}
    if evaluation.folds:
        found["folds"] = len(evaluation.folds)
    return found


def group_by_protocol(results: Sequence[Result]) -> list[list[Result]]:
    """Return the results in groups with the same conditions, in order of appearance."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(json.dumps(conditions(result.evaluation), sort_keys=True), []).append(result)
    return list(groups.values())


def describe_differences(groups: Sequence[Sequence[Result]]) -> str:
    """Describe in one line the conditions that differ between groups; return "" for a single group."""
    if len(groups) < 2:
        return ""
    found = [conditions(group[0].evaluation) for group in groups]
    differing = []
    for key in dict.fromkeys(key for one in found for key in one):
        values = [one.get(key) for one in found]
        if any(value != values[0] for value in values):
            differing.append(f"{key} ({'; '.join(dict.fromkeys(_plain(key, value) for value in values))})")
    differences = ", ".join(differing)
    return f"{len(groups)} protocols, each with its own table; do not compare them: they differ in {differences}."


def describe(given: Conditions) -> str:
    """Describe the conditions in words, except those in the title and the headings."""
    stated = {key: value for key, value in given.items() if value not in _NOTHING and key not in _STATED_ELSEWHERE}
    known = [words(stated[key]) for key, words in _WORDS.items() if key in stated]
    return ", ".join((*known, *(f"{key} {_plain(key, value)}" for key, value in stated.items() if key not in _WORDS)))


def describe_printed(printed: PrintedProtocol) -> str:
    """Describe in words what the paper states."""
    stated = {key: value for key, value in asdict(printed).items() if value is not None}
    return ", ".join((printed.dataset, printed.split, describe(stated)))


def compare_with_printed(ours: Conditions, printed: PrintedProtocol) -> str:
    """List what differs from the paper, or is not stated there: ``votes 4 vs not stated``."""
    stated = asdict(printed)
    differences = []
    for key in dict.fromkeys((*ours, *stated)):
        here, there = ours.get(key), stated.get(key)
        if there is None and (here in _NOTHING or key in _NEVER_PRINTED):
            continue
        if here != there and (key, here, there) != ("points", 1024, "1k"):  # the text says 1,024
            printed_value = "not stated" if there is None else _plain(key, there)
            differences.append(f"{key} {_plain(key, here)} vs {printed_value}")
    return "; ".join(differences) or "nothing that is stated differs"


def _plain(key: str, value: Any) -> str:
    """Return a short text for one value."""
    if value in _NOTHING:
        return "none"
    if key in _CHECKSUMS:
        return str(value)[:8]
    if key == "classes":
        return f"{len(value)}, from {value[0]} to {value[-1]}" if value else "none"
    if isinstance(value, list):
        return " ".join(_plain("", one) for one in value) or "none"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return json.dumps(value)[:LONGEST]


def _counted(one: str, many: str) -> Callable[[Any], str]:
    return lambda value: f"{value:,} {one if value == 1 else many}"


_WORDS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "unit": lambda value: f"scored per {value}",
        "points": lambda value: f"{_plain('points', value)} points a pass",
        "votes": _counted("vote", "votes"),
        "rule": lambda value: f"decided by {value}",
        "block_side": lambda value: f"blocks of {_plain('', value)} m",
        "offsets": lambda value: f"offset by {' and '.join(f'{one:g}' for one in value)} m",
        "block_grid": lambda value: f"evened in cells of {_plain('', value)} m",
        "block_points": lambda value: f"at most {_plain('', value)} points a block",
        "ignored": lambda value: f"without {' and '.join(value)}",
        "folds": _counted("fold", "folds"),
        "scenes": _counted("scene", "scenes"),
        "units": lambda value: f"{value:,} scored",
        "input": lambda value: f"given {value}",
        "sampling": lambda value: f"shapes from {value}",
        "data": lambda value: f"data {_plain('data', value)}",
        "selection": lambda value: f"selection {_plain('selection', value)}",
    }
)
