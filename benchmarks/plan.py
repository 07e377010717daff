"""Floor plans of generated rooms against the true ones: ``python -m benchmarks.plan [ROOMS]``.

On true labels, which shows the accuracy of drawing plans itself, and on labels of the pretrained weights.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from point2node.core.errors import InputError
from point2node.core.point_cloud import PointCloud
from point2node.inference.jobs import checksum_of
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labeller import Options, SceneLabeller
from point2node.rooms import describe_room, generate_room
from point2node.show.floor_plan import FloorPlan, Opening, draw_plan
from point2node.show.outline import area_of
from point2node.weights.trained import load_trained

SEED, FIRST = 7, 1000
"""Rooms with held-out styles; the constants in the code were chosen on others."""
FEWEST = 40
"""Minimum number of points of a true door or window."""
NEAR = 0.6
"""Maximum distance in metres between the centres of a true opening and the one found for it."""
OPEN = 0.5
"""Radians; leaves that are open by less count as closed."""
RESULTS = Path(__file__).parent / "results" / "plan.json"
Errors = dict[str, list[dict[str, Any]]]


def main(count: int) -> None:
    labeller = SceneLabeller(load_trained("rooms"))
    errors: Errors = {"true labels": [], "labels of 'rooms'": []}
    for index in range(FIRST, FIRST + count):
        room = generate_room(SEED, index, styles="held_out")
        assert room.labels is not None
        labelled = labeller.label(room.with_(labels=None), Options())
        for name, one in zip(errors, (replace(labelled, labels=room.labels), labelled), strict=True):
            errors[name].append(compare(room, one, index))
        print(f"{index - FIRST + 1} of {count} rooms", file=sys.stderr, flush=True)
    note = {"command": f"python -m benchmarks.plan {count}", "weights": checksum_of(labeller)[:6], "rooms": errors}
    RESULTS.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    print(markdown(errors))


def compare(room: PointCloud, labelled: LabelledCloud, index: int) -> dict[str, Any]:
    """Return the errors of one room: area in per cent, lengths in centimetres; only ``true`` if there is no plan."""
    true = describe_room(SEED, index, styles="held_out")
    outline = np.array(true.outline)
    perimeter = float(np.linalg.norm(np.roll(outline, -1, axis=0) - outline, axis=1).sum())
    places = {one.instance: room.xyz[room.instance == one.instance, :2] for one in true.openings}
    seen = [one for one in true.openings if len(places[one.instance]) >= FEWEST]
    errors: dict[str, Any] = {
        "true": {kind: sum(one.kind == kind for one in seen) for kind in ("door", "window")},
        "open": sum(abs(leaf.angle) > OPEN for one in seen for leaf in one.leaves),
    }
    try:
        plan = draw_plan(labelled, "room")
    except InputError:
        return errors
    errors["area"] = 100 * (plan.area / area_of(outline) - 1)
    errors["perimeter"] = 100 * (plan.perimeter - perimeter)
    if plan.height is not None:
        errors["height"] = 100 * (plan.height - true.height)
    errors["found"] = {kind: sum(one.kind == kind for one in plan.openings) for kind in ("door", "window")}
    pairs = [(one, nearest(plan, one.kind, np.median(places[one.instance], axis=0))) for one in seen]
    for kind in ("door", "window"):
        errors[f"{kind} width"] = [
            100 * (two.width - one.width) for one, two in pairs if two is not None and one.kind == kind
        ]
    swings = [
        ({(leaf.side, leaf.angle > 0) for leaf in one.leaves if abs(leaf.angle) > OPEN}, two)
        for one, two in pairs
        if two is not None
    ]
    errors["swings right"] = sum(len(sides & swings_of(two)) for sides, two in swings)
    errors["swings found"] = sum(len(one.leaves) for one in plan.openings)
    return errors


def nearest(plan: FloorPlan, kind: str, place: Any) -> Opening | None:
    """Return the opening of a kind with its centre nearest to a place; None if none is near."""
    away = [
        (float(np.linalg.norm((np.array(one.start) + one.end) / 2 - place)), number)
        for number, one in enumerate(plan.openings)
        if one.kind == kind
    ]
    distance, number = min(away, default=(np.inf, -1))
    return plan.openings[number] if distance <= NEAR else None


def swings_of(opening: Opening) -> set[tuple[str, bool]]:
    return {(leaf.side, leaf.inwards) for leaf in opening.leaves}


def markdown(errors: Errors) -> str:
    lines = ["| | true labels | labels of 'rooms' |", "|---|---|---|"]
    for name, unit in (("area", "%"), ("perimeter", "cm"), ("height", "cm")):
        cells = [spread([row[name] for row in rows if name in row], unit) for rows in errors.values()]
        lines.append(f"| error of the {name}: median, largest | {' | '.join(cells)} |")
    for kind in ("door", "window"):
        widths = [[width for row in rows for width in row.get(f"{kind} width", [])] for rows in errors.values()]
        cells = [spread(one, "cm") for one in widths]
        lines.append(f"| error of the width of a {kind} | {' | '.join(cells)} |")
        counts = [
            f"{sum(row.get('found', {}).get(kind, 0) for row in rows)} drawn, {len(right)} of "
            f"{sum(row['true'][kind] for row in rows)} true ones"
            for rows, right in zip(errors.values(), widths, strict=True)
        ]
        lines.append(f"| {kind}s | {' | '.join(counts)} |")
    swings = []
    for rows in errors.values():
        drawn, right = (sum(row.get(f"swings {name}", 0) for row in rows) for name in ("found", "right"))
        swings.append(f"{drawn} drawn, {right} of {sum(row['open'] for row in rows)} true ones")
    lines.append(f"| open leaves with the right side | {' | '.join(swings)} |")
    return "\n".join(lines)


def spread(values: list[float], unit: str) -> str:
    if not values:
        return "–"
    return f"{np.median(np.abs(values)):.1f} {unit}, {np.max(np.abs(values)):.1f} {unit}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
