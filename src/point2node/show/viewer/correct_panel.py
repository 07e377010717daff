"""The controls for corrections of labels. They hold values and contain no logic."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import viser

from point2node.show.viewer.controls import put_value
from point2node.teaching.corrections import LONGEST_NAME, Corrections

EXPLAIN, ISOLATE = "says why", "shows an object alone"
SEGMENT, BRUSH, POINT = "corrects a surface", "corrects with a brush", "corrects a point"
LASSO = "draws an outline"
TOOLS = (EXPLAIN, ISOLATE, SEGMENT, BRUSH, POINT, LASSO)
SMALLEST, LARGEST, USUAL = 0.05, 1.0, 0.2
"""Metres: the radius of the brush."""
HELP = "Shift + drag corrects everything visible in a rectangle."
ONLY_FILES = "Only scans that the program was started with can be corrected: point2node view SCAN."


@dataclass
class CorrectPanel:
    """The handles of the controls.

    Args:
        client: the visitor.
    """

    client: viser.ClientHandle

    def __post_init__(self) -> None:
        gui = self.client.gui
        with gui.add_folder("Correct"):
            self.tool = gui.add_dropdown("A click", TOOLS)
            self.name = gui.add_dropdown("Is a", ("–",))
            self.radius = gui.add_slider("Brush (m)", SMALLEST, LARGEST, 0.05, USUAL)
            self.new = gui.add_text("New class", "")
            self.add = gui.add_button("Add class", icon=viser.Icon.PLUS)
            self.undo = gui.add_button("Undo", icon=viser.Icon.ARROW_BACK_UP, disabled=True)
            self.redo = gui.add_button("Redo", icon=viser.Icon.ARROW_FORWARD_UP, disabled=True)
            self.next = gui.add_button(
                "Next", icon=viser.Icon.MAP_PIN, hint="Shows where a correction helps most.", disabled=True
            )
            self.learn = gui.add_button(
                "Learn", icon=viser.Icon.SCHOOL, hint="Learns from all corrections, then labels again.", disabled=True
            )
            self.status = gui.add_html("")
            self.progress = gui.add_progress_bar(0, visible=False, animated=True)

    @property
    def corrects(self) -> bool:
        """Whether a click corrects labels."""
        return str(self.tool.value) not in (EXPLAIN, ISOLATE)

    @property
    def draws(self) -> bool:
        """Whether a click is a corner of an outline."""
        return str(self.tool.value) == LASSO

    @property
    def isolates(self) -> bool:
        """Whether a click shows only its object."""
        return str(self.tool.value) == ISOLATE

    def say(self, text: str) -> None:
        """Show one line below the buttons."""
        self.status.content = f"<div style='padding:2px 10px 6px;font-size:13px;line-height:1.4'>{escape(text)}</div>"

    def show_progress(self, share: float | None) -> None:
        """Show progress from 0 to 1; None hides the bar."""
        self.progress.visible = share is not None
        if share is not None:
            put_value(self.progress, 100 * min(max(share, 0.0), 1.0))

    def offer(self, corrections: Corrections | None, *, busy: bool = False) -> None:
        """Enable the controls that apply to the corrections; None if nothing can be corrected."""
        self.undo.disabled = corrections is None or not corrections.done
        self.redo.disabled = corrections is None or not corrections.undone
        self.learn.disabled = corrections is None or not corrections.done or busy
        self.next.disabled = self.add.disabled = corrections is None
        if corrections is not None and tuple(self.name.options) != corrections.class_names:
            chosen = str(self.name.value)
            self.name.options = corrections.class_names
            put_value(self.name, chosen if chosen in corrections.class_names else corrections.class_names[0])

    def take_new_class(self) -> str:
        """Return the name that was typed, and clear it."""
        typed = str(self.new.value)[: LONGEST_NAME + 1]
        put_value(self.new, "")
        return typed
