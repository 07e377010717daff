"""Objects of generated rooms against the true ones: ``python -m benchmarks.objects [ROOMS]``.

On true labels, which shows the accuracy of the object search itself, and on labels of the pretrained weights.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from point2node.core.classes import S3DIS
from point2node.core.point_cloud import PointCloud
from point2node.inference.jobs import checksum_of
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options, SceneLabeller
from point2node.rooms import generate_room
from point2node.show.objects import Match, find_objects, match_objects
from point2node.weights.trained import load_trained

SEED, FIRST = 7, 1000
"""Rooms with held-out styles; the rules were chosen on others."""
RESULTS = Path(__file__).parent / "results" / "objects.json"


def main(count: int) -> None:
    labeller = SceneLabeller(load_trained("rooms"))
    results: dict[str, dict[str, Match]] = {"true labels": {}, "labels of 'rooms'": {}}
    for index in range(FIRST, FIRST + count):
        room = generate_room(SEED, index, styles="held_out")
        assert room.labels is not None
        labelled = labeller.label(room.with_(labels=None), Options())
        for name, one in zip(results, (replace(labelled, labels=room.labels), labelled), strict=True):
            add(results[name], room, one)
        print(f"{index - FIRST + 1} of {count} rooms", file=sys.stderr, flush=True)
    table = {name: {kind: vars(match) for kind, match in found.items()} for name, found in results.items()}
    note = {"rooms": count, "weights": checksum_of(labeller)[:6], "matches": table}
    RESULTS.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    print(markdown(results))


def add(totals: dict[str, Match], room: PointCloud, labelled: LabelledCloud) -> None:
    """Add the matches of one room to the totals."""
    assert room.labels is not None
    assert room.instance is not None
    objects = find_objects(labelled)
    matches = match_objects(objects, S3DIS, room.labels.astype(np.int64), room.instance.astype(np.int64))
    for kind, match in matches.items():
        so_far = totals.get(kind, Match(0, 0, 0))
        totals[kind] = Match(so_far.true + match.true, so_far.found + match.found, so_far.both + match.both)


def markdown(results: dict[str, dict[str, Match]]) -> str:
    heads = [f"{name}: found, precision, recall" for name in results]
    lines = [f"| class | true objects | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    first = next(iter(results.values()))
    for kind, match in first.items():
        cells = [_cell(found[kind]) for found in results.values()]
        lines.append(f"| {kind} | {match.true} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(match: Match) -> str:
    shares = ("–" if np.isnan(share) else f"{100 * share:.0f} %" for share in (match.precision, match.recall))
    return f"{match.found}, {', '.join(shares)}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
