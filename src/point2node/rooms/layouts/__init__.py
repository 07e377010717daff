"""Room types: their size, their furniture and their scanners; two of them are held out of training."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from point2node.rooms.layouts.homes import bathroom, bedroom, kitchen, living_room, studio
from point2node.rooms.layouts.other_rooms import copy_room, corridor, lobby, lounge, storage
from point2node.rooms.layouts.work_rooms import auditorium, conference_room, office, open_office, seminar_room
from point2node.rooms.pieces import Style
from point2node.rooms.room import Room
from point2node.rooms.scanners import SHARES_AT_HOME, SHARES_AT_WORK

LAYOUTS: tuple[Style[Room], ...] = (
    Style("office", office, 5.0),
    Style("corridor", corridor, 1.2),
    Style("conference_room", conference_room, 1.4),
    Style("lounge", lounge, 1.6),
    Style("storage", storage, 1.0),
    Style("copy_room", copy_room, 0.5),
    Style("open_office", open_office, 1.0),
    Style("lobby", lobby, 0.8),
    Style("auditorium", auditorium, 0.5),
    Style("living_room", living_room, 2.8),
    Style("bedroom", bedroom, 1.6),
    Style("kitchen", kitchen, 1.4),
    Style("bathroom", bathroom, 0.9),
    Style("seminar_room", seminar_room, 0.8, held_out=True),
    Style("studio", studio, 0.8, held_out=True),
)

HOMES = frozenset({"living_room", "bedroom", "kitchen", "bathroom", "studio"})
SCANNED_BY_HAND = HOMES | {"lounge", "lobby"}  # mostly
SCANNER_SHARES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {layout.name: SHARES_AT_HOME if layout.name in SCANNED_BY_HAND else SHARES_AT_WORK for layout in LAYOUTS}
)
