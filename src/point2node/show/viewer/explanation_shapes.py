"""What an explanation looks like in space: the painted block, its outline and the local graph, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from point2node.inference.explainer import PointExplanation
from point2node.show.viewer.colouring import Colours, ramp, row_shares
from point2node.show.viewer.scan import Floats, Scan

ROW_MAP = "YlOrRd"
GRAPH_MAP = "cool"
# the corners of a box, by which end of x, y and z they lie at, in the order of its twelve edges
EDGES = (
    ((0, 0, 0), (1, 0, 0)),
    ((0, 1, 0), (1, 1, 0)),
    ((0, 0, 1), (1, 0, 1)),
    ((0, 1, 1), (1, 1, 1)),
    ((0, 0, 0), (0, 1, 0)),
    ((1, 0, 0), (1, 1, 0)),
    ((0, 0, 1), (0, 1, 1)),
    ((1, 0, 1), (1, 1, 1)),
    ((0, 0, 0), (0, 0, 1)),
    ((1, 0, 0), (1, 0, 1)),
    ((0, 1, 0), (0, 1, 1)),
    ((1, 1, 0), (1, 1, 1)),
)


@dataclass(frozen=True, eq=False)
class ExplanationShapes:
    """Arrays to draw, in the scan's drawn coordinates."""

    point: Floats
    """(3,)"""
    block: Floats
    """(M, 3) the points that the network saw."""
    row: Colours
    """(M, 3) the point's row of the non-local matrix."""
    lowest: float
    """The weight that is drawn darkest."""
    highest: float
    outline: Floats
    """(12, 2, 3) the edges of the block."""
    graph: Floats
    """(K - 1, 2, 3) lines from the point to its neighbours."""
    graph_colours: Colours
    """(K - 1, 2, 3)"""


def shape_explanation(scan: Scan, explanation: PointExplanation, side: float) -> ExplanationShapes:
    """Place an explanation in the scan; ``side`` is that of a block in metres."""
    block = scan.at(explanation.block)
    point = block[0]
    shares, lowest, highest = row_shares(explanation.non_local)
    others = np.flatnonzero(explanation.neighbours != explanation.point)
    neighbours = scan.at(explanation.neighbours[others])
    weights = explanation.edges[others]
    strongest = max(float(explanation.edges.max()), 1e-12)
    return ExplanationShapes(
        point=point,
        block=block,
        row=ramp(shares, ROW_MAP),
        lowest=lowest,
        highest=highest,
        outline=box_edges(
            np.array([*(point[:2] - side / 2), block[:, 2].min()]),
            np.array([*(point[:2] + side / 2), block[:, 2].max()]),
        ),
        graph=np.stack([np.broadcast_to(point, neighbours.shape), neighbours], axis=1),
        graph_colours=np.repeat(ramp(np.sqrt(weights / strongest), GRAPH_MAP)[:, None], 2, axis=1),
    )


def box_edges(low: NDArray[np.floating], high: NDArray[np.floating]) -> Floats:
    """The twelve edges (12, 2, 3) of an upright box."""
    return np.where(np.array(EDGES) == 0, low, high).astype(np.float32)
