"""Groups of furniture: a desk with its chair and clutter, a table with chairs around it."""

from __future__ import annotations

import math

import numpy as np

from point2node.rooms.floor_plan import Footprint
from point2node.rooms.pieces import Piece
from point2node.rooms.room import Place, Room, in_room
from point2node.rooms.surfaces import Floats


def work_place(room: Room) -> bool:
    """Put a desk at a wall or in the room, with a chair and things on it; return False if there was no space."""
    desk = room.pick("desk")
    place = room.stand_at_wall(desk, front=0.75) if room.rng.uniform() < 0.8 else None
    place = place or room.stand_somewhere(desk, aligned=True)
    if place is None:
        return False
    equip_desk(room, desk, place)
    return True


def equip_desk(room: Room, desk: Piece, place: Place) -> None:
    """Put a chair in front of the desk, and a screen, a keyboard and clutter on it."""
    rng, top = room.rng, desk.tops[0]
    middle = rng.normal(0, 0.1)
    if len(desk.tops) > 1:  # away from the return of an L-shaped desk
        middle -= 0.3 * np.sign(desk.tops[1].low[0] + desk.tops[1].high[0])
    if rng.uniform() < 0.9:
        _seat(room, room.pick("desk_chair"), place, (middle, top.low[1]), rng.uniform(-0.45, 0.25))
    used: list[Floats] = []
    if rng.uniform() < 0.85:
        screen = room.pick("screen")
        half = screen.size[0] / 2
        x = float(np.clip(middle + rng.normal(0, 0.15), top.low[0] + half, max(top.low[0] + half, top.high[0] - half)))
        back = np.array([x, top.high[1] - screen.extent[1][1] - 0.04])
        room.set_on(place, screen, back, top.height)
        used.append(np.array([*back, half]))
        if rng.uniform() < 0.7:
            front = np.array([x, top.low[1] + 0.13])
            room.set_on(place, room.pick("keyboard"), front, top.height)
            used.append(np.array([*front, 0.25]))
    for _ in range(rng.integers(3, 18)):
        room.put_on(desk, place, room.pick("desk_item"), used)
    if rng.uniform() < 0.4:  # under the desk, next to the knees
        side = top.low[0] + 0.25 if middle > 0 else top.high[0] - 0.25
        room.set_on(place, room.pick("under_desk"), np.array([side, top.high[1] - 0.3]), 0.0)


def worktop_along_wall(room: Room) -> bool:
    """Put a worktop along most of a wall, with things on it, chairs in front of it and computers below."""
    rng, wall = room.rng, room.random_wall()
    for share in (0.9, 0.65, 0.45):
        desk = room.pick("row_desk", width=max(1.2, share * wall.length - 0.3), depth=rng.uniform(0.5, 0.8))
        place = room.stand_at_wall(desk, front=0.5)
        if place is not None:
            break
    else:
        return False
    top = desk.tops[0]
    for x in np.arange(top.low[0] + 0.5, top.high[0] - 0.3, rng.uniform(0.8, 1.5)):
        if rng.uniform() < 0.7:
            _seat(room, room.pick("desk_chair"), place, (float(x), top.low[1]), rng.uniform(-0.4, 0.2))
        if rng.uniform() < 0.6:
            room.set_on(place, room.pick("under_desk"), np.array([x + 0.35, top.high[1] - 0.3]), 0.0)
    used: list[Floats] = []
    for _ in range(rng.integers(0, 1 + int(desk.size[0]))):
        room.put_on(desk, place, room.pick("screen"), used)
    for _ in range(int(desk.size[0] * rng.uniform(2, 9))):
        room.put_on(desk, place, room.pick("desk_item"), used)
    return True


def table_with_chairs(room: Room, table: Piece, chairs: str, *, ends: bool = False, gap: float = 0.7) -> bool:
    """Put a table in the room, with chairs around it and clutter on it; return False if there was no space."""
    size = table.size
    cells = room.plan.free_cells()
    for x, y in cells[room.rng.integers(len(cells), size=20)] if len(cells) else ():
        yaw = room.walls[0].yaw + room.rng.choice([0.0, math.pi / 2]) + room.rng.normal(0, 0.03)
        if room.plan.is_free(Footprint(x, y, size[0] / 2 + gap * 0.6, size[1] / 2 + gap, yaw)):
            break
    else:
        return False
    room.stand(table, x, y, yaw)
    place = (x, y, yaw)
    seat_around(room, table, place, chairs, ends=ends)
    lay_things(room, table, place, "desk_item", int(room.rng.integers(0, 2 + int(3 * size[0]))))
    return True


def seat_around(room: Room, table: Piece, place: Place, chairs: str, *, ends: bool, sides: int = 2) -> None:
    """Put chairs of one style along one or both long sides of a table, and with ``ends`` at its ends as well."""
    rng, (low, high) = room.rng, table.extent
    chair = room.pick(chairs)
    seats = max(1, int((high[0] - low[0]) / (chair.size[0] + rng.uniform(0.08, 0.3))))
    tuck = rng.uniform(-0.1, 0.28)
    for number in range(seats):
        x = low[0] + (number + 0.5) * (high[0] - low[0]) / seats
        for spot, turned in (((x, low[1]), 0.0), ((-x, -high[1]), math.pi))[:sides]:
            if rng.uniform() < 0.92:
                _seat(room, chair, place, spot, tuck + rng.normal(0, 0.06), turned)
    for turned in (math.pi / 2, -math.pi / 2) if ends else ():
        _seat(room, chair, place, (0.0, low[0]), tuck, turned)


def shelves(room: Room, purpose: str, count: int) -> None:
    """Put bookcases along the walls, with things on the low ones."""
    for _ in range(count):
        case = room.pick(purpose)
        place = room.stand_at_wall(case, front=0.4)
        if place and case.size[2] < 2.0:
            lay_things(room, case, place, "shelf_top", int(room.rng.integers(1, 8)))


def lay_things(room: Room, host: Piece, place: Place, purpose: str, count: int) -> None:
    """Put things for a purpose on the tops of a piece at ``place``."""
    used: list[Floats] = []
    for _ in range(count):
        room.put_on(host, place, room.pick(purpose), used)


def seating_group(room: Room) -> bool:
    """Put a sofa at a wall or in the room, mostly with a low table in front of it or a table at its side.

    Returns False if there was no space.
    """
    sofa = room.pick("sofa")
    place = room.stand_at_wall(sofa, front=0.5) if room.rng.uniform() < 0.75 else None
    place = place or room.stand_somewhere(sofa, aligned=True)
    if place is None:
        return False
    if room.rng.uniform() < 0.35:
        table = room.pick("side_table")
        side = room.rng.choice([-1, 1]) * ((sofa.size[0] + table.size[0]) / 2 + 0.06)
        x, y = in_room(place, np.array([side, sofa.extent[1][1] - table.size[1] / 2]))
        if room.stand(table, x, y, place[2]):
            room.put_on(table, (x, y, place[2]), room.pick("desk_item"), [])
    if room.rng.uniform() < 0.8:
        table = room.pick("low_table")
        x, y = in_room(place, np.array([0.0, sofa.extent[0][1] - 0.3 - table.size[1] / 2]))
        if room.stand(table, x, y, place[2]):
            room.put_on(table, (x, y, place[2]), room.pick("desk_item"), [])
    return True


def maybe_board(room: Room, probability: float) -> None:
    """Hang a board on a wall, or put one on a stand if none fits, with this probability."""
    rng = room.rng
    if rng.uniform() < probability and not room.hang(room.pick("wall_board"), rng.uniform(0.8, 1.0)):
        room.stand_somewhere(room.pick("standing_board"))


def spare_chairs(room: Room, count: int) -> None:
    """Put chairs along the walls and elsewhere."""
    for _ in range(count):
        chair = room.pick("spare_chair")
        if room.rng.uniform() < 0.6:
            room.stand_at_wall(chair)
        else:
            room.stand_somewhere(chair)


def _seat(room: Room, chair: Piece, place: Place, spot: tuple[float, float], tuck: float, turned: float = 0.0) -> None:
    """Put a chair at a table, pushed ``tuck`` metres under it, unless something else stands there.

    ``spot`` is on the edge of the table, in the frame of the table turned by ``turned``; the chair is on its -y side.
    """
    half = chair.size[1] / 2
    tuck = min(tuck, 2 * half - 0.2)  # the back stays outside
    frame = (place[0], place[1], place[2] + turned)
    hidden = max(0.0, tuck)  # this part of the chair is above floor that the table has taken
    outside = Footprint(
        *in_room(frame, np.array([spot[0], spot[1] - half + tuck - hidden / 2 - 0.02])),
        chair.size[0] / 2 - 0.03,
        half - hidden / 2 - 0.03,
        frame[2],
    )
    if room.plan.is_free(outside):
        room.plan.take(outside)
        x, y = in_room(frame, np.array([spot[0], spot[1] - half + tuck]))
        room.pieces.append(chair.placed(x, y, 0.0, frame[2] + math.pi + room.rng.normal(0, 0.12)))
