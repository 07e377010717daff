"""How results came about, in words; what does not compare is told apart here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from point2node.report.paper_numbers import PrintedProtocol
from point2node.report.results import EvaluationFile, Result

Conditions = Mapping[str, Any]

LONGEST = 80  # characters of a value that no words are known for
_TOLD_ELSEWHERE = {"task", "dataset", "split", "classes", "voxel"}  # the last is part of the unit
_NEVER_PRINTED = {"data", "selection", "classes", "scenes", "units", "voxel"}
_CHECKSUMS = {"data", "selection"}
_NOTHING: tuple[Any, ...] = (None, [], "")


def conditions(evaluation: EvaluationFile) -> Conditions:
    """Everything that must be the same for two results to stand side by side, in the order in which it is told."""
    found = evaluation.protocol.model_dump(mode="json")
    found |= {"scenes": evaluation.scenes, "units": evaluation.units}
    found |= {"classes": list(evaluation.iou or evaluation.accuracy)}
    if evaluation.folds:
        found["folds"] = len(evaluation.folds)
    return found


def group_by_protocol(results: Sequence[Result]) -> list[list[Result]]:
    """The results in groups of like conditions, in order of appearance."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(json.dumps(conditions(result.evaluation), sort_keys=True), []).append(result)
    return list(groups.values())


def tell_differences(groups: Sequence[Sequence[Result]]) -> str:
    """One line on which conditions differ between groups; empty for a single group."""
    if len(groups) < 2:
        return ""
    found = [conditions(group[0].evaluation) for group in groups]
    differing = []
    for key in dict.fromkeys(key for one in found for key in one):
        values = [one.get(key) for one in found]
        if any(value != values[0] for value in values):
            differing.append(f"{key} ({'; '.join(dict.fromkeys(_plain(key, value) for value in values))})")
    return f"{len(groups)} protocols, a table for each, not to be compared: they differ in {', '.join(differing)}."


def describe(given: Conditions) -> str:
    """The conditions in words, but for what the title and the headings say."""
    stated = {key: value for key, value in given.items() if value not in _NOTHING and key not in _TOLD_ELSEWHERE}
    known = [words(stated[key]) for key, words in _WORDS.items() if key in stated]
    return ", ".join((*known, *(f"{key} {_plain(key, value)}" for key, value in stated.items() if key not in _WORDS)))


def describe_printed(printed: PrintedProtocol) -> str:
    """What the paper states, in words."""
    stated = {key: value for key, value in asdict(printed).items() if value is not None}
    return ", ".join((printed.dataset, printed.split, describe(stated)))


def tell_against_printed(ours: Conditions, printed: PrintedProtocol) -> str:
    """What is different from, or not stated in, the paper: ``votes 4 vs not stated``."""
    stated = asdict(printed)
    told = []
    for key in dict.fromkeys((*ours, *stated)):
        here, there = ours.get(key), stated.get(key)
        if there is None and (here in _NOTHING or key in _NEVER_PRINTED):
            continue
        if here != there and (key, here, there) != ("points", 1024, "1k"):  # the text says 1,024
            printed_value = "not stated" if there is None else _plain(key, there)
            told.append(f"{key} {_plain(key, here)} vs {printed_value}")
    return "; ".join(told) or "nothing that is stated differs"


def _plain(key: str, value: Any) -> str:
    """One value, short."""
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
