"""Label a scan with shipped weights, write it, and ask why a point has its label.

python examples/03_label_a_scan.py
"""

from __future__ import annotations

import numpy as np
import point2node
from point2node.engine.explaining import Explainer
from point2node.engine.labelling import Labeller


def main() -> None:
    point2node.write("scan.ply", point2node.generate_room(7, 0, points=20_000, styles="held_out").with_(labels=None))

    labeller = point2node.load("rooms")
    assert isinstance(labeller, Labeller)  # other weights name whole shapes
    labelled = labeller(point2node.read("scan.ply"))
    labelled.write("scan_labelled.ply")
    for name, count in labelled.counts.items():
        print(f"{name:10} {count:6,} points")

    point = int(np.argmax(labelled.confidence))
    why = Explainer(labeller, labelled.cloud).explain(point)
    top = why.block[np.argsort(why.non_local)[::-1][:3]]
    print(f"point {point} is surest; of its block it leaned most on points {top.tolist()}")
    print("its local graph joins points", why.neighbours.tolist())


if __name__ == "__main__":
    main()
