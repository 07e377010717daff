"""The objects and the plan of a visitor's scan: a list to choose from, boxes in the scene, and a picture."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape

import numpy as np
import viser

from point2node.core.point_cloud import PointCloud
from point2node.inference.labelled import LabelledCloud
from point2node.show.contents import Contents, find_contents
from point2node.show.objects import FoundObject, Numbers
from point2node.show.plan_files import plan_as_svg
from point2node.show.shown_points import thin
from point2node.show.viewer.picture import Picture
from point2node.show.viewer.scan import Scan

MOST_POINTS = 400_000
"""Objects are searched in at most this many points, spread evenly."""
MOST_LISTED = 200
WIDTH = 420
OPEN, CLOSE = "Objects and plan", "Close objects and plan"
NO_ROOM = "The classes of these weights are not those of rooms, or the scan is far too large for one."
NO_PLAN = "There is no plan: that needs walls, and a floor or a ceiling."


class ObjectList:
    """The panel with the objects and the plan, which are found when it is opened.

    Args:
        client: the visitor.
        picture: the picture of the scan.
        alone: runs a function while nothing else changes the picture.
    """

    def __init__(
        self, client: viser.ClientHandle, picture: Picture, alone: Callable[[Callable[[], None]], None]
    ) -> None:
        self._client, self._picture, self._alone = client, picture, alone
        self._objects: tuple[FoundObject, ...] = ()
        self._number_of_point: Numbers = np.zeros(0, np.int64)
        self._svg = ""
        gui = client.gui
        self.open = gui.add_button(OPEN, icon=viser.Icon.CUBE, disabled=True)
        self.panel = gui.add_panel(visible=False)
        self._tab = self.panel.add_tab("Objects")
        with self._tab:
            self.status = gui.add_html("")
            self.everything = gui.add_button("Show everything", icon=viser.Icon.ARROW_BACK_UP, disabled=True)
        with self.panel.add_tab("Plan"):
            self.plan = gui.add_html("")
            self.save = gui.add_button("Save plan", icon=viser.Icon.DEVICE_FLOPPY, disabled=True)
        self.panel.dock_left()
        self.panel.set_width(WIDTH)
        self.buttons: list[viser.GuiButtonHandle] = []

    def connect(self) -> None:
        """Connect the panel's events."""
        self.open.on_click(lambda _: self.switch())
        self.everything.on_click(lambda _: self._alone(partial(self._isolate, 0)))
        self.save.on_click(lambda _: self._send_plan())
        self._picture.on_labels = self._forget

    def switch(self) -> None:
        """Open the panel and find the objects of the current labels, or close it."""
        if self.panel.visible:
            self._alone(self._forget)
            return
        scan, labelled = self._picture.scan, self._picture.labelled
        if scan is None or labelled is None:
            return
        self.open.disabled = True
        self._say("Finding objects …")
        self.panel.visible = True
        found, numbers = contents_of(scan, labelled)

        def show() -> None:
            if self._picture.labelled is labelled and self._picture.scan is scan:
                self._show(found, numbers, len(scan.cloud))

        self._alone(show)

    def take_click(self, point: int) -> None:
        """Show only the object of a point, if it has one; finds the objects first if necessary."""
        if not self.panel.visible:
            self.switch()
        number = int(self._number_of_point[point]) if len(self._number_of_point) else 0
        if number:
            self._alone(partial(self._isolate, number))

    def _show(self, found: Contents | None, numbers: Numbers, points: int) -> None:
        self.open.disabled, self.open.label = False, CLOSE
        self._number_of_point = np.zeros(points, np.int64)
        if found is None:
            self._say(NO_ROOM)
            self._show_plan("", NO_ROOM)
            return
        self._number_of_point[numbers] = found.number_points(len(numbers))
        self._objects = found.objects
        areas = ", ".join(f"{kind} {area:.1f} m²" for kind, (_, area) in found.areas.items())
        self._say(f"Objects: {len(found.objects)}. Surfaces seen: {areas or 'none'}. Wrong labels make wrong objects.")
        with self._tab:
            for number, one in enumerate(found.objects[:MOST_LISTED], start=1):
                button = self._client.gui.add_button(_describe(one), color=one.kind.colour)
                button.on_click(partial(self._choose, number))
                self.buttons.append(button)
        if found.plan is None:
            self._show_plan("", NO_PLAN)
        else:
            self._show_plan(plan_as_svg(found.plan), "")
        self._isolate(0)

    def _choose(self, number: int, event: object) -> None:
        self._alone(partial(self._isolate, number))

    def _isolate(self, number: int) -> None:
        """Show only one object, by its number from 1, or everything for 0."""
        self.everything.disabled = not number
        shown = self._objects[number - 1 : number] if number else self._objects
        self._picture.isolate(np.flatnonzero(self._number_of_point == number) if number else None, shown)

    def _forget(self) -> None:
        """Close the panel and discard objects that do not match the labels any more."""
        for button in self.buttons:
            button.remove()
        self.buttons, self._objects, self._number_of_point = [], (), np.zeros(0, np.int64)
        self.panel.visible = False
        self.open.label, self.open.disabled = OPEN, self._picture.labelled is None
        self._show_plan("", "")
        self._picture.isolate(None, ())

    def _show_plan(self, svg: str, message: str) -> None:
        self._svg, self.save.disabled = svg, not svg
        picture = base64.b64encode(svg.encode()).decode("ascii")
        image = f'<img alt="The plan of the room" style="width:100%" src="data:image/svg+xml;base64,{picture}">'
        self.plan.content = image if svg else _line(message)

    def _send_plan(self) -> None:
        if self._picture.scan is not None and self._svg:
            name = f"{self._picture.scan.name.rpartition('.')[0] or 'scan'}_plan.svg"
            self._client.send_file_download(name, self._svg.encode(), save_immediately=True)

    def _say(self, text: str) -> None:
        self.status.content = _line(text)


def contents_of(scan: Scan, labelled: LabelledCloud) -> tuple[Contents | None, Numbers]:
    """Find the contents of a scan, placed as drawn, and return them with the indices of the points used."""
    places = thin(scan.placement.xyz, MOST_POINTS)
    numbers = scan.placement.numbers[places]
    drawn = replace(labelled[numbers], cloud=PointCloud(scan.placement.xyz[places]), name=scan.name, up="z", scale=1.0)
    return find_contents(drawn), numbers


def _describe(one: FoundObject) -> str:
    size = " × ".join(f"{side:.2f}" for side in one.box.size)
    return f"{one.name}: {size} m" + ("" if one.confidence is None else f", {one.confidence:.0%}")


def _line(text: str) -> str:
    return f"<div style='padding:2px 10px 6px;font-size:13px;line-height:1.4'>{escape(text)}</div>"
