"""Run a network on plain arrays, and explain the label of a point.

python examples/01_run_on_arrays.py
"""

from __future__ import annotations

import numpy as np
import point2node


def main() -> None:
    scan = np.random.default_rng(0).uniform([0, 0, 0], [4.0, 5.0, 2.7], (2048, 3))  # any (N, 3) or (B, N, 3)
    rgb = np.full_like(scan, 0.2)  # rgb / 255 − 0.5

    model = point2node.create_model(preset="rooms")  # random weights: the labels are meaningless
    logits = model.run(scan, rgb)
    print(f"{len(scan)} points, logits {logits.shape}, labels used: {np.unique(logits.argmax(-1))}")

    why = model.explain(scan, rgb, nodes=[7])
    assert why.non_local_rows is not None
    assert why.local_neighbours is not None
    strongest = why.non_local_rows[0, 0].topk(3)
    print("point 7 correlates most with points", strongest.indices.tolist())
    print("its local graph connects points", why.local_neighbours[0, 0].tolist())
    for gate in why.gates:
        shares = ", ".join(
            f"{name} {share:.2f}" for name, share in zip(gate.branches, gate.shares[0].mean(-1), strict=True)
        )
        print("mean share of each branch over the channels:", shares)


if __name__ == "__main__":
    main()
