"""Sheets of pictures with a title, names, a note and a legend, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from point2node.core.point_cloud import Array
from point2node.core.writing import replacing
from point2node.show.colours import UNKNOWN, Colour, ramp

BACKGROUND = (244, 246, 248)  # not white: lamps and boards are
INK, FAINT, EDGE = (20, 20, 20), (115, 115, 115), (128, 128, 128)
TITLE, HEADING, NAME, SMALL = 21, 18, 15, 13
"""Font sizes in pixels."""
MARGIN, GAP = 12, 10
PATCH = (30, 11)
"""The size in pixels of a colour patch in the legend."""
MOST_NAMES, LONGEST_NAME = 40, 24  # of a legend, so that it leaves room for the picture
COMPRESSION = 3  # from 0 to 9: half the time of the default 6, a few per cent larger


@dataclass(frozen=True, eq=False)
class Sheet:
    """The contents of a sheet.

    Args:
        pictures: rows of pictures (height, width, 4) uint8 of one size; None leaves a place empty.
        title: the title at the top.
        headings: the headings above the columns.
        names: the names to the left of the rows.
        note: the note below the pictures.
        key: a legend or a scale, at the bottom.
    """

    pictures: Sequence[Sequence[Array | None]]
    title: str = ""
    headings: Sequence[str] = ()
    names: Sequence[str] = ()
    note: str = ""
    key: Image.Image | None = None

    def save(self, path: Path) -> None:
        """Write the sheet as PNG; an existing file is replaced only at the end."""
        with replacing(path) as stream:
            self.draw().save(stream, format="PNG", compress_level=COMPRESSION)

    def draw(self) -> Image.Image:
        """Draw everything on one picture."""
        height, width = next(picture.shape[:2] for row in self.pictures for picture in row if picture is not None)
        columns = max(len(row) for row in self.pictures)
        left = MARGIN + (NAME + GAP if any(self.names) else 0)
        top = MARGIN + (TITLE + GAP if self.title else 0) + (HEADING + GAP if self.headings else 0)
        bottom = top + len(self.pictures) * (height + GAP)
        below = bottom + (SMALL + GAP if self.note else 0)
        total = left + columns * (width + GAP) - GAP + MARGIN
        key = (0, 0) if self.key is None else self.key.size
        sheet = Image.new("RGB", (max(total, key[0] + 2 * MARGIN), below + key[1] + MARGIN), BACKGROUND)
        pen = ImageDraw.Draw(sheet)
        pen.text((MARGIN, MARGIN), one_line(self.title), INK, letters(TITLE))
        for number, heading in enumerate(self.headings):
            middle = left + number * (width + GAP) + width // 2
            pen.text((middle, top - GAP // 2), one_line(heading), INK, letters(HEADING), anchor="md")
        for row, pictures in enumerate(self.pictures):
            for column, picture in enumerate(pictures):
                if picture is not None:
                    drawn = Image.fromarray(picture, "RGBA")
                    sheet.paste(drawn, (left + column * (width + GAP), top + row * (height + GAP)), drawn)
        for row, name in enumerate(self.names):
            label = _upright(one_line(name), height)
            middle = top + row * (height + GAP) + (height - label.height) // 2
            sheet.paste(label, (MARGIN, middle))
        pen.text((left, bottom), one_line(self.note), FAINT, letters(SMALL))
        if self.key is not None:
            sheet.paste(self.key, ((sheet.width - key[0]) // 2, below))
        return sheet


def legend(entries: Sequence[tuple[str, Colour]], width: int) -> Image.Image | None:
    """Draw names with their colours, in as many columns as fit into the width; None without entries."""
    if not entries:
        return None
    shown = [(_shortened(one_line(name)), colour) for name, colour in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        shown.append((f"and {len(entries) - MOST_NAMES} more", UNKNOWN))
    each = PATCH[0] + 3 * GAP + max(int(letters(NAME).getlength(name)) for name, _ in shown)
    columns = min(len(shown), max(1, (width - 2 * MARGIN) // each))
    line = NAME + GAP
    drawn = Image.new("RGB", (columns * each, line * -(-len(shown) // columns)), BACKGROUND)
    pen = ImageDraw.Draw(drawn)
    for number, (name, colour) in enumerate(shown):
        x, y = number % columns * each + GAP, number // columns * line + line // 2
        pen.rectangle((x, y - PATCH[1] // 2, x + PATCH[0], y + PATCH[1] // 2), fill=colour, outline=EDGE)
        pen.text((x + PATCH[0] + GAP, y), name, INK, letters(NAME), anchor="lm")
    return drawn


def scale(name: str, width: int) -> Image.Image:
    """Draw the colours of a ramp from 0 to 1 with its name, a third of the width wide."""
    length, high = width // 3, 12
    bar = np.broadcast_to(ramp(name, np.linspace(0, 1, length)), (high, length, 3))
    drawn = Image.new("RGB", (length + 4 * MARGIN, high + 2 * (SMALL + GAP)), BACKGROUND)
    drawn.paste(Image.fromarray(np.ascontiguousarray(bar)), (2 * MARGIN, 0))
    pen = ImageDraw.Draw(drawn)
    for tick in np.linspace(0, 1, 6):
        pen.text((2 * MARGIN + tick * (length - 1), high + 4), f"{tick:.1f}", INK, letters(SMALL), anchor="ma")
    pen.text((drawn.width // 2, drawn.height - 2), name, INK, letters(SMALL), anchor="md")
    return drawn


def one_line(text: str) -> str:
    """Replace line breaks and control characters, which cannot be drawn, by spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


@cache
def letters(size: int) -> ImageFont.FreeTypeFont:
    """Load DejaVu Sans, which comes with matplotlib and covers many scripts."""
    found = find_spec("matplotlib")
    assert found is not None
    assert found.submodule_search_locations is not None
    return ImageFont.truetype(str(Path(found.submodule_search_locations[0], "mpl-data/fonts/ttf/DejaVuSans.ttf")), size)


def _upright(text: str, longest: int) -> Image.Image:
    """Draw a vertical text that reads from bottom to top."""
    size = min(int(letters(NAME).getlength(text)) + 1, longest), NAME + 4
    drawn = Image.new("RGB", size, BACKGROUND)
    ImageDraw.Draw(drawn).text((0, 0), text, INK, letters(NAME))
    return drawn.transpose(Image.Transpose.ROTATE_90)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
