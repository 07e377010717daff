"""Label a scan with a pretrained model, save and view it, and explain the label of a point.

python examples/03_label_a_scan.py
"""

from __future__ import annotations

import numpy as np
import point2node


def main() -> None:
    point2node.write("scan.ply", point2node.generate_room(7, 0, points=20_000, styles="held_out").with_(labels=None))

    labeller = point2node.load("rooms")
    labelled = labeller("scan.ply")
    print(labelled)
    print("saved as", labelled.save("scan_labelled.ply"), "- to view it, open", labelled.page("scan.html"))

    point = int(np.argmax(labelled.confidence))
    why = labelled.explain(point)
    top = why.block[np.argsort(why.non_local)[::-1][:3]]
    print(f"point {point} has the highest confidence; it correlates most with points {top.tolist()} of its block")
    print("its local graph connects points", why.neighbours.tolist())


if __name__ == "__main__":
    main()
