"""Draw docs/images/demo_room.png: two generated rooms that training never saw, as scanned, in truth and as labelled.

python docs/draw_demo.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from point2node.cli.demo import ROOM, WEIGHTS, demo_room
from point2node.inference.labeller import SceneLabeller
from point2node.show.qualitative_grid import GridRow, draw_grid
from point2node.weights.trained import load_trained

IMAGES = Path(__file__).parent / "images"
ROOMS = (ROOM, 8)


def main() -> None:
    """Label and draw."""
    labeller = SceneLabeller(load_trained(WEIGHTS))
    place_of = {one.value: place for place, one in enumerate(labeller.classes)}
    rows = []
    for room in ROOMS:
        scanned = demo_room(room)
        assert scanned.rgb is not None
        assert scanned.labels is not None
        labelled = labeller.label(scanned.with_(labels=None, instance=None))
        columns = {
            "scan": scanned.rgb,
            "ground truth": scanned.labels,
            "Point2Node": np.array([place_of[value] for value in labelled.labels.tolist()]),
        }
        rows.append(GridRow(f"room {room}", scanned.xyz, columns))
    draw_grid(rows, labeller.classes, IMAGES / "demo_room.png")


if __name__ == "__main__":
    main()
