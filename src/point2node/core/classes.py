"""Class lists: names, values and colours in one place."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class SemanticClass:
    """A class: its name, its label value and the colour it is drawn in."""

    name: str
    value: int
    colour: tuple[int, int, int]


S3DIS = (
    SemanticClass("ceiling", 0, (0, 255, 0)),
    SemanticClass("floor", 1, (0, 0, 255)),
    SemanticClass("wall", 2, (0, 255, 255)),
    SemanticClass("beam", 3, (255, 255, 0)),
    SemanticClass("column", 4, (255, 0, 255)),
    SemanticClass("window", 5, (100, 100, 255)),
    SemanticClass("door", 6, (200, 200, 100)),
    SemanticClass("table", 7, (170, 120, 200)),
    SemanticClass("chair", 8, (255, 0, 0)),
    SemanticClass("sofa", 9, (200, 100, 100)),
    SemanticClass("bookcase", 10, (10, 200, 100)),
    SemanticClass("board", 11, (200, 200, 200)),
    SemanticClass("clutter", 12, (50, 50, 50)),
)

# In the order of PointNet++'s widely used pickles; 0 marks unannotated points.
SCANNET = (
    SemanticClass("unannotated", 0, (0, 0, 0)),
    SemanticClass("wall", 1, (174, 199, 232)),
    SemanticClass("floor", 2, (152, 223, 138)),
    SemanticClass("chair", 3, (188, 189, 34)),
    SemanticClass("table", 4, (255, 152, 150)),
    SemanticClass("desk", 5, (247, 182, 210)),
    SemanticClass("bed", 6, (255, 187, 120)),
    SemanticClass("bookshelf", 7, (148, 103, 189)),
    SemanticClass("sofa", 8, (140, 86, 75)),
    SemanticClass("sink", 9, (112, 128, 144)),
    SemanticClass("bathtub", 10, (227, 119, 194)),
    SemanticClass("toilet", 11, (44, 160, 44)),
    SemanticClass("curtain", 12, (219, 219, 141)),
    SemanticClass("counter", 13, (23, 190, 207)),
    SemanticClass("door", 14, (214, 39, 40)),
    SemanticClass("window", 15, (197, 176, 213)),
    SemanticClass("shower curtain", 16, (158, 218, 229)),
    SemanticClass("refrigerator", 17, (255, 127, 14)),
    SemanticClass("picture", 18, (196, 156, 148)),
    SemanticClass("cabinet", 19, (31, 119, 180)),
    SemanticClass("otherfurniture", 20, (82, 84, 163)),
)

CLASS_LISTS = MappingProxyType({"s3dis": S3DIS, "scannet": SCANNET})


def spread_colour(number: int, count: int) -> tuple[int, int, int]:
    """Return a colour for one of ``count`` classes without colours, with hues evenly spread around the circle."""
    red, green, blue = colorsys.hsv_to_rgb(number / count, 0.7, 0.9)
    return round(255 * red), round(255 * green), round(255 * blue)
