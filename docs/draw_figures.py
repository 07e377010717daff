"""Draws the paper's Fig. 1 (architecture), Fig. 2 (aggregation) and the joint variant from the running code's shapes.

python docs/draw_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from torch import Tensor, nn

from point2node import build_pyramid, create_model
from point2node.models.point2node.method import AdaptiveFeatureAggregation
from point2node.models.point2node.network import Point2Node

IMAGES = Path(__file__).parent / "images"
EXTRACTION, SELF, LOCAL, NON_LOCAL, GATE, NODES, HEAD = (
    "#d9e4f5",
    "#fde3c8",
    "#d7efd3",
    "#e6d9f2",
    "#f9d5d8",
    "#f3f3f3",
    "#fff3b8",
)
Shapes = dict[nn.Module, tuple[int, ...]]


def record_shapes(model: Point2Node, points: int) -> Shapes:
    """The shape that every module gave in one forward pass on a random cloud, without the batch axis."""
    shapes: Shapes = {}

    def remember(module: nn.Module, _: object, out: Tensor) -> None:
        shapes[module] = tuple(out.shape[1:])

    hooks = [module.register_forward_hook(remember) for module in model.modules()]
    with torch.no_grad():
        model.eval()(torch.zeros(1, points, 3), build_pyramid(torch.rand(1, points, 3), model.plan))
    for hook in hooks:
        hook.remove()
    return shapes


def times(shape: tuple[int, ...]) -> str:
    """(2048, 256) as 2048 × 256."""
    return " × ".join(map(str, shape))


def box(
    axes: Axes, centre: tuple[float, float], text: str, colour: str, width: float = 1.5, height: float = 0.72
) -> None:
    """A rounded box with centred text."""
    x, y = centre
    corner = (x - width / 2, y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle="round,pad=0.03", fc=colour, ec="#555555", lw=0.8))
    axes.text(x, y, text, ha="center", va="center", fontsize=8)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, dashed: bool = False) -> None:
    """An arrow, dashed for skip connections."""
    style = {
        "arrowstyle": "-|>",
        "color": "#777777" if dashed else "#222222",
        "ls": "--" if dashed else "-",
        "lw": 1,
    }
    axes.annotate("", end, start, arrowprops=style)


def draw_extraction(axes: Axes, model: Point2Node, shapes: Shapes, points: int, height: float = 1.0) -> None:
    """The U-Net, a box a layer, levels ``height`` apart; correlations inside it stand below their layers."""
    extraction = model.feature_extraction
    box(axes, (0, 3), f"points\n{points} × (3 + {extraction.in_features})", NODES)
    previous = (0.0, 3.0)
    skips: list[tuple[float, float]] = []
    columns = 1.95
    for level, (layer, search) in enumerate(zip(extraction.encoder, model.plan.encoder, strict=True)):
        here = (columns * (level + 1), 3.0 - height * level)
        arrow(axes, (previous[0] + 0.78, previous[1]), (here[0] - 0.8, here[1] + (0.15 if level else 0)))
        box(
            axes,
            here,
            f"χ-conv  K {search.neighbours}, D {search.dilation}\n{times(shapes[layer])}",
            EXTRACTION,
        )
        previous = draw_inner(axes, model, shapes, f"encoder_{level}", here)
        skips.append(previous)
    for number, (layer, merge, search) in enumerate(
        zip(extraction.decoder, extraction.merge, model.plan.decoder, strict=True)
    ):
        here = (columns * (number + 5), 3.0 - height * search.queries)
        arrow(axes, (previous[0] + 0.78, previous[1]), (here[0] - 0.8, here[1] - (0.15 if number else 0)))
        if number:
            arrow(
                axes,
                (columns * (search.queries + 1) + 0.78, skips[search.queries][1] + 0.2),
                (here[0] - 0.8, here[1] + 0.2),
                dashed=True,
            )
        text = (
            f"χ-conv  K {search.neighbours}, D {search.dilation}\n{times(shapes[layer])}\n+ skip → {shapes[merge][-1]}"
        )
        box(axes, here, text, EXTRACTION)
        previous = draw_inner(axes, model, shapes, f"decoder_{search.queries}", here)


def draw_inner(
    axes: Axes, model: Point2Node, shapes: Shapes, place: str, above: tuple[float, float]
) -> tuple[float, float]:
    """The correlations inside feature extraction at ``place``, if there are any; where the points go on from."""
    if place not in model.feature_extraction.inner:
        return above
    here = (above[0], above[1] - 0.87)
    arrow(axes, (above[0], above[1] - 0.38), (here[0], here[1] + 0.34))
    shape = times(shapes[model.feature_extraction.inner[place]])
    box(axes, here, f"self → local → non-local\n{shape}", NON_LOCAL, 1.55, 0.6)
    return here


def draw_architecture(model: Point2Node, shapes: Shapes, points: int) -> None:
    """Fig. 1: feature extraction above, dynamic node correlation and aggregation below."""
    extraction, correlation, head = model.feature_extraction, model.correlation, model.head
    figure, axes = plt.subplots(figsize=(15.5, 6.4), layout="constrained")
    axes.set_xlim(-1.0, 17.6)
    axes.set_ylim(-2.9, 4.1)
    axes.axis("off")
    axes.text(-0.8, 3.85, "Feature extraction: χ-conv U-Net", fontsize=11, weight="bold")
    draw_extraction(axes, model, shapes, points)
    axes.text(-0.8, -1.05, "Dynamic node correlation and adaptive feature aggregation", fontsize=11, weight="bold")
    colours = {"self": SELF, "local": LOCAL, "non_local": NON_LOCAL}
    nodes = times(shapes[extraction])
    chain = [("nodes V⁽⁰⁾\n" + nodes, NODES)]
    for number, stage in enumerate(correlation.stages, start=1):
        for name, module in zip(stage.names, stage.correlations, strict=True):
            chain.append((f"{name.replace('_', '-')} correlation\n{times(shapes[module])}", colours[name]))
        kind = "V + α · update" if stage.names == ("self",) else "AFA gate"
        superscript = "⁰¹²³"[number]
        chain.append((f"{kind}\nV⁽{superscript}⁾ {times(shapes[stage])}", GATE))
    dense = [layer for layer in head.hidden if not isinstance(layer, nn.Dropout)]
    chain.append(("FC layers\n" + " → ".join(str(shapes[layer][-1]) for layer in dense), HEAD))
    chain.append(("logits\n" + times(shapes[head.logits]), HEAD))
    step = 2.05
    for i, (text, colour) in enumerate(chain):
        x, y = i * step, -1.9
        box(axes, (x, y), text, colour, width=1.72)
        if i:
            arrow(axes, (x - step + 0.9, y), (x - 0.9, y))
    for stage_number in range(len(correlation.stages)):  # the nodes themselves go around each correlation
        x = 2 * stage_number * step + 0.2
        axes.plot([x, x, x + 2 * step - 0.4], [-2.3, -2.7, -2.7], color="#777777", ls="--", lw=1)
        arrow(axes, (x + 2 * step - 0.4, -2.7), (x + 2 * step - 0.4, -2.27), dashed=True)
    figure.savefig(IMAGES / "architecture.png", dpi=110)
    plt.close(figure)


def draw_aggregation(model: Point2Node, shapes: Shapes) -> None:
    """Fig. 2: the gate of the local correlation's aggregation."""
    _, stage, _ = model.correlation.stages
    assert isinstance(stage.aggregation, AdaptiveFeatureAggregation)
    N, C = shapes[stage]
    narrow = next(shapes[layer][-1] for layer in stage.aggregation.modules() if isinstance(layer, nn.Linear))
    figure, axes = plt.subplots(figsize=(12, 3.9), layout="constrained")
    axes.set_xlim(-1, 12.2)
    axes.set_ylim(-0.8, 3.2)
    axes.axis("off")
    for row, (name, index) in enumerate((("V⁽¹⁾", "₁"), ("V⁽¹⁾_up", "₂"))):
        y = 2.4 - 2.4 * row
        parts = [
            (0.0, f"{name}\n{N} × {C}", LOCAL if row else NODES),
            (2.0, f"mean over nodes\ns{index}  1 × {C}   (Eq. 13)", GATE),
            (4.4, f"MLP{index}: {C} → {narrow} → {C}\nz{index}  1 × {C}   (Eq. 14)", GATE),
        ]
        for x, text, colour in parts:
            box(axes, (x, y), text, colour, width=1.9 if x else 1.3)
        arrow(axes, (0.7, y), (1.0, y))
        arrow(axes, (3.0, y), (3.4, y))
        arrow(axes, (5.4, y), (6.2, 1.2 + (0.25 if row == 0 else -0.25)))
        arrow(axes, (7.85, 1.2 + (0.25 if row == 0 else -0.25)), (8.6, y))
        box(axes, (9.3, y), f"m{index} ⊙ {name}", GATE, width=1.3)
        arrow(axes, (10.0, y), (10.65, 1.2 + (0.3 if row == 0 else -0.3)))
        edge = y + 0.5 if row == 0 else y - 0.5
        axes.plot([0, 0, 9.3], [y + (0.4 if row == 0 else -0.4), edge, edge], color="#777777", ls="--", lw=1)
        arrow(axes, (9.3, edge), (9.3, y + (0.38 if row == 0 else -0.38)), dashed=True)
    box(axes, (7.0, 1.2), "softmax over the\ntwo branches\nm₁ + m₂ = 1   (Eq. 15)", SELF, width=1.7, height=0.95)
    box(axes, (11.3, 1.2), f"V⁽²⁾\n{N} × {C}\n(Eq. 16)", NODES, width=1.2, height=0.9)
    figure.savefig(IMAGES / "aggregation.png", dpi=110)
    plt.close(figure)


def draw_joint(model: Point2Node, shapes: Shapes, points: int) -> None:
    """The joint pipeline: the same U-Net with correlations at the encoder's sampled levels."""
    figure, axes = plt.subplots(figsize=(15.5, 8.6), layout="constrained")
    axes.set_xlim(-1.0, 18.8)
    axes.set_ylim(-4.3, 4.1)
    axes.axis("off")
    axes.text(-0.8, 3.85, "Feature extraction with correlations inside", fontsize=11, weight="bold")
    draw_extraction(axes, model, shapes, points, height=1.9)
    last = times(shapes[model.correlation])
    arrow(axes, (16.38, 3), (16.85, 3))
    box(axes, (17.7, 3), f"self → local → non-local\nbehind, as in the paper\n{last}", NON_LOCAL, 1.66)
    arrow(axes, (17.7, 2.6), (17.7, 2.0))
    box(axes, (17.7, 1.6), f"FC layers, logits\n{times(shapes[model.head])}", HEAD)
    figure.savefig(IMAGES / "joint.png", dpi=110)
    plt.close(figure)


def main() -> None:
    """Draw both figures of the paper's S3DIS network, and its joint variant."""
    points = 2048
    model = create_model(preset="s3dis")
    shapes = record_shapes(model, points)
    draw_architecture(model, shapes, points)
    draw_aggregation(model, shapes)
    joint = create_model(preset="s3dis", variant="joint")
    draw_joint(joint, record_shapes(joint, points), points)
    print(f"drew architecture.png, aggregation.png and joint.png in {IMAGES}")


if __name__ == "__main__":
    main()
