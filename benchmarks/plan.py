"""Floor plans of generated rooms against the true ones: ``python -m benchmarks.plan [ROOMS]``.

On true labels, which shows what the drawing of plans can do, and on labels of the pretrained weights.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from point2node.core.classes import S3DIS
from point2node.core.errors import InputError
from point2node.inference.labeller import Options, SceneLabeller
from point2node.rooms import describe_room, generate_room
from point2node.show.floor_plan import draw_plan
from point2node.show.outline import area_of
from point2node.show.scene import LabelledScene
from point2node.weights.trained import load_trained

SEED, FIRST = 7, 1000
"""Rooms with held-out styles, other ones than those that the numbers in the code were chosen on."""
RESULTS = Path(__file__).parent / "results" / "plan.json"
Errors = dict[str, list[list[float]]]


def main(count: int) -> None:
    labeller = SceneLabeller(load_trained("rooms"))
    errors: Errors = {"true labels": [], "labels of 'rooms'": []}
    for index in range(FIRST, FIRST + count):
        room = generate_room(SEED, index, styles="held_out")
        labelled = labeller.label(room.with_(labels=None), Options(thin=0.04))
        for name, labels in zip(errors, (room.labels, labelled.labels), strict=True):
            scene = LabelledScene("room", room.xyz, S3DIS, np.asarray(labels, np.int64))
            errors[name].append(compare(scene, index))
        print(f"{index - FIRST + 1} of {count} rooms", file=sys.stderr, flush=True)
    RESULTS.write_text(json.dumps(errors, indent=1) + "\n", encoding="utf-8")
    print(markdown(errors))


def compare(scene: LabelledScene, index: int) -> list[float]:
    """Errors of the area in per cent, of the perimeter and of the height in centimetres; NaN without a plan."""
    true = describe_room(SEED, index, styles="held_out")
    outline = np.array(true.outline)
    perimeter = float(np.linalg.norm(np.roll(outline, -1, axis=0) - outline, axis=1).sum())
    try:
        plan = draw_plan(scene, "room")
    except InputError:
        return [float("nan")] * 3
    height = float("nan") if plan.height is None else 100 * (plan.height - true.height)
    return [100 * (plan.area / area_of(outline) - 1), 100 * (plan.perimeter - perimeter), height]


def markdown(errors: Errors) -> str:
    lines = ["| error | true labels: median, largest | labels of 'rooms': median, largest |", "|---|---|---|"]
    for column, (name, unit) in enumerate((("area", "%"), ("perimeter", "cm"), ("height", "cm"))):
        cells = []
        for rows in errors.values():
            values = np.abs([row[column] for row in rows])
            cells.append(f"{np.nanmedian(values):.1f} {unit}, {np.nanmax(values):.1f} {unit}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
