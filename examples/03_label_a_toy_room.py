"""Train the smallest network on toy rooms for a minute, label a room it never saw, and draw what it did and why.

python examples/03_label_a_toy_room.py --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path
import time

import matplotlib

matplotlib.use("Agg")

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
import point2node
from point2node.models.point2node.network import Point2Node
import torch
from torch.nn import functional as F

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

CLASSES = {
    "floor": (0.36, 0.44, 0.67),
    "wall": (0.80, 0.80, 0.74),
    "table": (0.85, 0.55, 0.20),
    "chair": (0.80, 0.25, 0.25),
    "board": (0.25, 0.60, 0.35),
    "clutter": (0.45, 0.35, 0.60),
}
FLOOR, WALL, TABLE, CHAIR, BOARD, CLUTTER = range(len(CLASSES))


def box(random: np.random.Generator, low: list[float], high: list[float], count: int) -> Floats:
    """Points on the surface of an axis-aligned box."""
    low_corner, high_corner = np.asarray(low), np.asarray(high)
    size = high_corner - low_corner
    areas = np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
    axis = random.choice(3, count, p=areas / areas.sum())
    points = low_corner + random.random((count, 3)) * size
    side = np.where(random.random(count) < 0.5, low_corner[axis], high_corner[axis])
    points[np.arange(count), axis] = side
    return points


def toy_room(seed: int, points: int) -> tuple[Floats, Floats, Ints]:
    """Coordinates, colours in [0, 1] and labels of a room with a table, chairs, a board and clutter."""
    random = np.random.default_rng(seed)
    width, depth, height = random.uniform([2.8, 2.8, 2.2], [4.2, 4.2, 2.6])
    parts: list[tuple[int, list[float], list[float]]] = [
        (FLOOR, [0, 0, -0.01], [width, depth, 0]),
        (WALL, [0, depth, 0], [width, depth + 0.01, height]),
        (WALL, [-0.01, 0, 0], [0, depth, height]),
    ]
    x, y = random.uniform([0.3, 0.7], [width - 1.6, depth - 1.5])
    length, breadth, top = random.uniform([0.9, 0.6, 0.65], [1.5, 0.9, 0.8])
    parts.append((TABLE, [x, y, top - 0.04], [x + length, y + breadth, top]))
    for leg_x in (x, x + length - 0.05):
        for leg_y in (y, y + breadth - 0.05):
            parts.append((TABLE, [leg_x, leg_y, 0], [leg_x + 0.05, leg_y + 0.05, top]))
    for side in (-1, 1):
        for place in np.arange(0.05, length - 0.4, 0.6):
            cx, cy = x + place, y - 0.55 if side < 0 else y + breadth + 0.1
            back = cy if side < 0 else cy + 0.42
            parts.append((CHAIR, [cx, cy, 0.42], [cx + 0.45, cy + 0.45, 0.46]))
            parts.append((CHAIR, [cx, back, 0.46], [cx + 0.45, back + 0.03, 0.9]))
            for leg in (0.0, 0.41):
                parts.append((CHAIR, [cx + leg, cy, 0], [cx + leg + 0.04, cy + 0.04, 0.42]))
                parts.append((CHAIR, [cx + leg, cy + 0.41, 0], [cx + leg + 0.04, cy + 0.45, 0.42]))
    board = random.uniform(0.3, width - 1.8)
    parts.append((BOARD, [board, depth - 0.03, 0.9], [board + 1.5, depth, 1.9]))
    for _ in range(3):
        cx, cy = x + random.uniform(0.1, length - 0.3), y + random.uniform(0.1, breadth - 0.3)
        parts.append((CLUTTER, [cx, cy, top], [cx + 0.2, cy + 0.15, top + random.uniform(0.05, 0.3)]))

    # a scanner stands among the furniture and sees it closer than the walls
    areas = np.array([surface(low, high) * (1 if label in (FLOOR, WALL) else 4) for label, low, high in parts])
    counts = random.multinomial(points, areas / areas.sum())
    xyz = np.concatenate([box(random, low, high, n) for (_, low, high), n in zip(parts, counts, strict=True)])
    labels = np.repeat([label for label, _, _ in parts], counts)
    paint = random.uniform(0.2, 0.9, (len(parts), 3))  # colours say which part a point belongs to, not what it is
    rgb = np.repeat(paint, counts, axis=0)
    order = random.permutation(points)
    xyz += random.normal(0, 0.004, xyz.shape)
    rgb = np.clip(rgb + random.normal(0, 0.04, rgb.shape), 0, 1)
    return xyz[order], rgb[order], labels[order]


def surface(low: list[float], high: list[float]) -> float:
    """The area of a box."""
    a, b, c = np.subtract(high, low)
    return float(2 * (a * b + b * c + a * c))


def train(steps: int, batch: int = 8) -> Point2Node:
    """A ``tiny`` network after ``steps`` steps on generated rooms."""
    torch.manual_seed(0)
    model = point2node.create_model(preset="tiny", num_classes=len(CLASSES)).train()
    points = point2node.PRESETS["tiny"].points
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=steps)
    start = time.monotonic()
    for step in range(1, steps + 1):
        rooms = [toy_room(step * batch + b, points) for b in range(batch)]
        xyz, rgb = (torch.from_numpy(np.stack([room[i] for room in rooms])) for i in (0, 1))
        labels = torch.from_numpy(np.stack([room[2] for room in rooms]))
        pyramid = point2node.build_pyramid(point2node.shift_to_float32(xyz)[0], model.plan)
        loss = F.cross_entropy(model((rgb - 0.5).float(), pyramid).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print(
                f"step {step:4d} of {steps}   loss {loss.item():.3f}   {time.monotonic() - start:4.0f} s",
                flush=True,
            )
    return model


def label(model: Point2Node, xyz: Floats, rgb: Floats, groups: int) -> Ints:
    """Labels of all points, which are in random order: each group of every ``groups``-th point is one cloud."""
    labels = np.empty(len(xyz), dtype=np.int64)
    for g in range(groups):
        labels[g::groups] = np.asarray(model.run(xyz[g::groups], rgb[g::groups] - 0.5)).argmax(-1)
    return labels


def draw(axes: Axes, xyz: Floats, colours: Floats, title: str, size: float = 3) -> None:
    """The room from above the open corner, far points first."""
    right = np.array([0.82, 0.57, 0.0])
    up = np.array([-0.26, 0.37, 0.89])
    away = np.cross(up, right)
    order = np.argsort(xyz @ away)
    axes.scatter(xyz[order] @ right, xyz[order] @ up, c=colours[order], s=size, linewidths=0)
    axes.set_title(title, fontsize=13)
    axes.set_aspect("equal")
    axes.axis("off")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()

    model = train(arguments.steps)
    xyz, rgb, truth = toy_room(seed=10_000_000, points=16_384)
    predicted = label(model, xyz, rgb, groups=32)
    for number, name in enumerate(CLASSES):
        union = ((predicted == number) | (truth == number)).sum()
        print(f"{name:<8} IoU {((predicted == number) & (truth == number)).sum() / union:6.1%}")
    print(f"{(predicted == truth).mean():.1%} of {len(xyz):,} points right, in a room never seen in training")

    asked = int(np.flatnonzero((truth[:2048] == CHAIR) & (predicted[:2048] == CHAIR) & (xyz[:2048, 2] > 0.6))[0])
    why = model.explain(xyz[:2048], rgb[:2048] - 0.5, nodes=[asked])
    assert why.non_local_rows is not None
    weight = why.non_local_rows[0, 0].numpy()

    palette = np.array(list(CLASSES.values()))
    figure, panels = plt.subplots(1, 4, figsize=(20, 5.4), layout="constrained")
    draw(panels[0], xyz, rgb, "the scan, as coloured points")
    draw(panels[1], xyz, palette[truth], "what is there")
    draw(panels[2], xyz, palette[predicted], f"what Point2Node says: {(predicted == truth).mean():.1%} right")
    heat = plt.get_cmap("inferno")(np.clip(np.log10(weight * len(weight) + 1e-3) / 4 + 0.6, 0, 1))[:, :3]
    draw(panels[3], xyz[:2048], heat, "why: non-local correlation of the circled chair point", size=14)
    spot = xyz[asked] @ np.array([[0.82, 0.57, 0.0], [-0.26, 0.37, 0.89]]).T
    panels[3].scatter(*spot, s=160, facecolors="none", edgecolors="deepskyblue", linewidths=2)
    figure.legend(
        handles=[Line2D([], [], marker="o", ls="", color=colour, label=name) for name, colour in CLASSES.items()],
        loc="outside lower center",
        ncols=len(CLASSES),
        frameon=False,
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    target = arguments.out / "toy_room.png"
    figure.savefig(target, dpi=110)
    print(f"Open {target}. Next: examples/02_correlation_behind_any_backbone.py, or 'point2node models'.")


if __name__ == "__main__":
    main()
