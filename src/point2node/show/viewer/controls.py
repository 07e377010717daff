"""The controls of one visitor's page. They hold values and notify the session, and contain no logic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import Any

import viser

from point2node.core.classes import SemanticClass
from point2node.formats import READABLE
from point2node.geometry.frames import UPWARDS
from point2node.inference.labeller import Options
from point2node.show.viewer.colouring import MEANINGS

SMALLEST, LARGEST, USUAL = 0.004, 0.08, 0.02
"""Point sizes in metres."""
CUT_STEP = 0.05
HIDDEN = (222, 226, 230)
WHY_WIDTH = 340
EXPLANATION = "explanation"


def put_value(handle: Any, value: object) -> None:
    """Set the value of a control. mypy considers viser's values read-only, because their setters are separate."""
    handle.value = value


@dataclass
class ClassButton:
    """One entry of the legend: a button in the colour of the class that hides its points."""

    entry: SemanticClass
    handle: viser.GuiButtonHandle
    shown: bool = True


@dataclass
class Controls:
    """The handles of the controls.

    Args:
        client: the visitor.
        scans: names to choose from.
        options: the initial settings for reading scans.
    """

    client: viser.ClientHandle
    scans: tuple[str, ...]
    options: Options
    classes: list[ClassButton] = field(default_factory=list)
    on_switch: Callable[[], None] = lambda: None
    """Called when a class is hidden or shown again."""

    def __post_init__(self) -> None:
        gui = self.client.gui
        self.title = gui.add_markdown(
            "Open a scan: it is labelled here. Then click a point to see why it has its label."
        )
        self.scan = gui.add_dropdown("Scan", self.scans or ("none yet",), visible=len(self.scans) > 1)
        self.upload = gui.add_upload_button("Open a scan…", icon=viser.Icon.UPLOAD, mime_type=",".join(READABLE))
        self.status = gui.add_html("")  # not Markdown: viser evaluates expressions in braces there
        self.progress = gui.add_progress_bar(0, visible=False, animated=True)
        with gui.add_folder("View"):
            self.way = gui.add_dropdown("Colour by", ("height",))
            self.meaning = gui.add_markdown("")
            self.cut = gui.add_slider(
                "Cut above (m)", 0.0, 3.0, CUT_STEP, 3.0, hint="Hides everything higher, such as the ceiling."
            )
            self.size = gui.add_slider("Point size (m)", SMALLEST, LARGEST, 0.002, USUAL)
        self.legend = gui.add_folder("Classes (click to hide)", visible=False)
        with gui.add_folder("How the scan is read", expand_by_default=False):
            self.scale = gui.add_number(
                "Metres per unit",
                self.options.scale or 1.0,
                min=1e-6,
                step=1e-6,
                hint="0.001 for a scan in millimetres.",
            )
            self.up = gui.add_dropdown("Up axis", tuple(UPWARDS), initial_value=self.options.up)
            self.color = gui.add_checkbox("Use its colours", self.options.color)
            self.again = gui.add_button("Label again", hint="With these settings.")
        self.save = gui.add_button("Save labelled file", icon=viser.Icon.DEVICE_FLOPPY, disabled=True)
        self.why = gui.add_panel(visible=False)
        with self.why.add_tab("Why this label?"):
            self.back = gui.add_button("Back to labels", icon=viser.Icon.ARROW_BACK_UP)
            self.reasons = gui.add_html("")
        self.why.dock_left()
        self.why.set_width(WHY_WIDTH)

    def take_upload(self) -> tuple[str, bytes]:
        """Return the name and content of the upload, and clear them: the button would keep them in memory.

        Removing the button instead would leave the notice of the upload on the page forever.
        """
        sent = self.upload.value
        name, content = sent.name, sent.content
        sent.name, sent.content = "", b""
        return name, content

    def say(self, text: str) -> None:
        """Show one line below the buttons."""
        self.status.content = f"<div style='padding:2px 10px 6px;font-size:13px;line-height:1.4'>{escape(text)}</div>"

    def warn(self, title: str, text: str) -> None:
        """Show an error both as a notification and in the status line."""
        self.say(f"⚠ {text}")
        self.client.add_notification(title, text, color="red", auto_close_seconds=20)

    def show_progress(self, share: float | None) -> None:
        """Show progress from 0 to 1; None hides the bar."""
        self.progress.visible = share is not None
        if share is not None:
            put_value(self.progress, 100 * min(max(share, 0.0), 1.0))

    def offer_cut(self, low: float, high: float, chosen: float) -> float:
        """Set the range of the cut and its value; returns the value as rounded by the control."""
        self.cut.max = math.ceil((high + CUT_STEP) / CUT_STEP) * CUT_STEP
        self.cut.min = min(math.floor(low / CUT_STEP) * CUT_STEP, 0.0)
        put_value(self.cut, self.cut.max if chosen >= high else math.floor(chosen / CUT_STEP) * CUT_STEP)
        return float(self.cut.value)

    def offer_ways(self, names: tuple[str, ...], chosen: str) -> None:
        """Set the ways to colour points and the chosen one."""
        self.way.options = names
        put_value(self.way, chosen)
        self.meaning.content = f"*{MEANINGS.get(chosen, 'what the clicked point looks at')}*"

    def offer_classes(self, entries: tuple[SemanticClass, ...], counts: dict[str, int]) -> None:
        """Fill the legend with the classes that occur, the most frequent first."""
        hidden = self.hidden
        for old in self.classes:
            old.handle.remove()
        self.classes = []
        total = max(sum(counts.values()), 1)
        with self.legend:
            for entry in sorted((one for one in entries if counts[one.name]), key=lambda one: -counts[one.name]):
                label = f"{entry.name}: {counts[entry.name]:,} ({counts[entry.name] / total:.1%})"
                button = ClassButton(entry, self.client.gui.add_button(label, icon=viser.Icon.EYE, color=entry.colour))
                button.handle.on_click(partial(self._switch, button))
                self.classes.append(button)
                if entry.value in hidden:  # new labels of the same scan: hidden classes stay hidden
                    self._show_switched(button, shown=False)
        self.legend.visible = bool(self.classes)

    def _switch(self, button: ClassButton, event: object) -> None:
        self._show_switched(button, shown=not button.shown)
        self.on_switch()

    def _show_switched(self, button: ClassButton, *, shown: bool) -> None:
        button.shown = shown
        button.handle.icon = viser.Icon.EYE if shown else viser.Icon.EYE_OFF
        button.handle.color = button.entry.colour if shown else HIDDEN

    @property
    def hidden(self) -> frozenset[int]:
        """The values of the classes that are switched off."""
        return frozenset(button.entry.value for button in self.classes if not button.shown)

    def first_options(self) -> Options:
        """Return the options for a newly opened scan, with the unit of the command line, or else its own."""
        return replace(self.read_options(), scale=self.options.scale)

    def read_options(self) -> Options:
        """Return the options that the visitor has set for the open scan."""
        return Options(scale=float(self.scale.value), up=str(self.up.value), color=bool(self.color.value))
