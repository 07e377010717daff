"""The styles for each purpose, and which of them are held out of training."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from point2node.rooms.building import doors, shell, windows
from point2node.rooms.building.openings import Opening
from point2node.rooms.furniture import (
    bookcases,
    ceiling_items,
    chairs,
    desk_items,
    floor_items,
    home_items,
    sofas,
    tables,
    wall_items,
)
from point2node.rooms.pieces import Piece, Style

_FOUR_LEGGED = Style("chair/four_legged", chairs.four_legged)
_SHELL = Style("chair/shell", chairs.shell)
_CANTILEVER = Style("chair/cantilever", chairs.cantilever, held_out=True)
_ARMCHAIR = Style("chair/armchair", chairs.armchair, 0.5)
_TUB = Style("chair/tub", chairs.tub, 0.5)
_FOLDING = Style("chair/folding", chairs.folding, 0.5)
_FOUR_LEGGED_TABLE = Style("table/four_legged", tables.four_legged_table)
_ROUNDED = Style("table/rounded", tables.rounded_table)
_TRESTLE = Style("table/trestle", tables.trestle_table, held_out=True)
_CUBE_GRID = Style("bookcase/cube_grid", bookcases.cube_grid, held_out=True)

PIECES: Mapping[str, tuple[Style[Piece], ...]] = MappingProxyType(
    {
        "desk_chair": (Style("chair/swivel", chairs.swivel, 3.0), _FOUR_LEGGED, _SHELL, _ARMCHAIR, _CANTILEVER),
        "dining_chair": (_FOUR_LEGGED, _SHELL, _FOLDING, Style("chair/tub", chairs.tub, 0.3), _CANTILEVER),
        "easy_chair": (_ARMCHAIR, _TUB, Style("chair/conference", chairs.conference)),
        "meeting_chair": (
            Style("chair/conference", chairs.conference, 1.5),
            Style("chair/swivel", chairs.swivel),
            _FOUR_LEGGED,
            _SHELL,
            _TUB,
            _CANTILEVER,
        ),
        "spare_chair": (
            Style("chair/stool", chairs.stool, 0.6),
            Style("chair/conference", chairs.conference),
            Style("chair/armchair", chairs.armchair, 1.2),
            Style("chair/tub", chairs.tub, 0.6),
            Style("chair/row_of_seats", chairs.row_of_seats, 0.4),
            _FOUR_LEGGED,
            _SHELL,
            _FOLDING,
            _CANTILEVER,
        ),
        "desk": (
            Style("table/panel_desk", tables.panel_desk, 1.5),
            Style("table/t_leg_desk", tables.t_leg_desk),
            _FOUR_LEGGED_TABLE,
            Style("table/l_desk", tables.l_desk, 0.7),
            _TRESTLE,
        ),
        "row_desk": (
            Style("table/panel_desk", tables.panel_desk),
            Style("table/t_leg_desk", tables.t_leg_desk),
            _FOUR_LEGGED_TABLE,
            _TRESTLE,
        ),
        "meeting_table": (
            Style("table/conference", tables.conference_table, 2.0),
            _ROUNDED,
            _FOUR_LEGGED_TABLE,
            _TRESTLE,
        ),
        "small_table": (Style("table/round", tables.round_table, 1.5), _FOUR_LEGGED_TABLE, _ROUNDED, _TRESTLE),
        "low_table": (Style("table/low", tables.low_table, 2.0), Style("table/side", tables.side_table), _ROUNDED),
        "side_table": (Style("table/side", tables.side_table),),
        "sofa": (
            Style("sofa/boxy", sofas.boxy, 1.6),
            Style("sofa/soft", sofas.soft, 2.0),
            Style("sofa/low", sofas.low),
            Style("sofa/armless", sofas.armless, 0.8),
            Style("sofa/l_shaped", sofas.l_shaped, 0.6),
            Style("sofa/rolled_arm", sofas.rolled_arm, held_out=True),
        ),
        "bookcase": (
            Style("bookcase/open_shelves", bookcases.open_shelves, 2.5),
            Style("bookcase/wall_of_shelves", bookcases.wall_of_shelves, 0.5),
            Style("bookcase/cabinet", bookcases.cabinet),
            Style("bookcase/glass_front", bookcases.glass_front, 0.7),
            Style("bookcase/rack", bookcases.rack, 0.3),
            _CUBE_GRID,
        ),
        "storage_shelf": (
            Style("bookcase/rack", bookcases.rack),
            Style("bookcase/open_shelves", bookcases.open_shelves, 0.7),
            _CUBE_GRID,
        ),
        "wall_shelf": (Style("bookcase/wall_shelves", bookcases.wall_shelves),),
        "wall_board": (
            Style("board/white", wall_items.whiteboard, 2.0),
            Style("board/projector_screen", wall_items.projector_screen, 0.5),
            Style("board/black", wall_items.blackboard, 0.7),
            Style("board/pin", wall_items.pin_board, 0.6),
        ),
        "standing_board": (
            Style("board/mobile", wall_items.mobile_board),
            Style("board/flip_chart", wall_items.flip_chart, held_out=True),
        ),
        "screen": (
            Style("clutter/monitor", desk_items.monitor, 3.0),
            Style("clutter/laptop", desk_items.laptop),
            Style("clutter/old_monitor", desk_items.old_monitor, 0.5),
        ),
        "keyboard": (Style("clutter/keyboard", desk_items.keyboard),),
        "under_desk": (Style("clutter/computer", floor_items.computer), Style("clutter/bin", floor_items.waste_bin)),
        "desk_item": (
            Style("clutter/paper", desk_items.paper_pile, 3.0),
            Style("clutter/book_pile", desk_items.book_pile),
            Style("clutter/cup", desk_items.cup),
            Style("clutter/phone", desk_items.phone, 0.7),
            Style("clutter/desk_lamp", desk_items.desk_lamp, 0.7),
            Style("clutter/carton", desk_items.carton),
            Style("clutter/printer", desk_items.printer, 0.5),
            Style("clutter/pot_plant", desk_items.pot_plant, 0.6),
            Style("clutter/bag", floor_items.bag, 0.4),
            Style("clutter/heap", home_items.heap, 0.4),
            Style("clutter/basket", home_items.basket, 0.3),
        ),
        "shelf_top": (
            Style("clutter/carton", desk_items.carton, 3.0),
            Style("clutter/paper", desk_items.paper_pile, 2.0),
            Style("clutter/book_pile", desk_items.book_pile),
            Style("clutter/pot_plant", desk_items.pot_plant),
            Style("clutter/printer", desk_items.printer, 0.5),
        ),
        "floor_item": (
            Style("clutter/bin", floor_items.waste_bin, 2.0),
            Style("clutter/cartons", floor_items.cartons, 2.0),
            Style("clutter/bag", floor_items.bag, 1.5),
            Style("clutter/computer", floor_items.computer),
            Style("clutter/crates", floor_items.crates),
            Style("clutter/floor_lamp", floor_items.floor_lamp, 0.7),
            Style("clutter/tall_plant", floor_items.tall_plant, 0.7),
            Style("clutter/heap", home_items.heap, 1.2),
            Style("clutter/suitcase", home_items.suitcase, 0.6),
            Style("clutter/basket", home_items.basket, 0.5),
            Style("clutter/trolley", home_items.trolley, 0.5),
            Style("clutter/fan", home_items.fan, 0.4),
            Style("clutter/coat_stand", floor_items.coat_stand, 0.6, held_out=True),
        ),
        "store_item": (
            Style("clutter/cartons", floor_items.cartons, 2.0),
            Style("clutter/crates", floor_items.crates),
            Style("clutter/ladder", home_items.ladder, 0.7),
            Style("clutter/trolley", home_items.trolley, 0.7),
            Style("clutter/bicycle", home_items.bicycle, 0.4),
            Style("clutter/suitcase", home_items.suitcase, 0.6),
            Style("clutter/heap", home_items.heap),
            Style("clutter/basket", home_items.basket, 0.6),
        ),
        "home_item": (
            Style("clutter/heap", home_items.heap, 1.5),
            Style("clutter/bag", floor_items.bag, 1.5),
            Style("clutter/basket", home_items.basket),
            Style("clutter/suitcase", home_items.suitcase, 0.7),
            Style("clutter/fan", home_items.fan, 0.5),
            Style("clutter/bin", floor_items.waste_bin),
            Style("clutter/floor_lamp", floor_items.floor_lamp),
            Style("clutter/tall_plant", floor_items.tall_plant),
            Style("clutter/bicycle", home_items.bicycle, 0.2),
            Style("clutter/coat_stand", floor_items.coat_stand, 0.6, held_out=True),
        ),
        "bed": (Style("clutter/bed", home_items.bed),),
        "home_cupboard": (
            Style("clutter/wardrobe", home_items.wardrobe),
            Style("clutter/chest", home_items.chest, 1.5),
        ),
        "low_cupboard": (Style("clutter/chest", home_items.chest),),
        "television_stand": (Style("clutter/television_stand", home_items.television_stand),),
        "kitchen_units": (
            Style("clutter/kitchen_units", home_items.kitchen_units),
            Style("clutter/fitted_kitchen", home_items.fitted_kitchen, 1.5),
        ),
        "kitchen_machine": (
            Style("clutter/cooker", home_items.cooker),
            Style("clutter/refrigerator", floor_items.refrigerator, 1.5),
        ),
        "bathroom": (
            Style("clutter/toilet", home_items.toilet),
            Style("clutter/basin", home_items.basin),
            Style("clutter/bathtub", home_items.bathtub, 0.7),
            Style("clutter/shower", home_items.shower, 0.7),
            Style("clutter/cooker", home_items.cooker, 0.5),
        ),
        "stairs": (Style("clutter/stairs", home_items.stairs),),
        "large_item": (
            Style("clutter/copier", floor_items.copier),
            Style("clutter/refrigerator", floor_items.refrigerator),
            Style("clutter/water_cooler", floor_items.water_cooler),
            Style("clutter/crates", floor_items.crates),
            Style("clutter/cartons", floor_items.cartons),
        ),
        "partition": (Style("clutter/partition", floor_items.partition),),
        "wall_item": (
            Style("clutter/picture", wall_items.picture),
            Style("clutter/television", wall_items.television, 0.3),
            Style("clutter/clock", wall_items.clock, 0.3),
            Style("clutter/coats", wall_items.coats, 0.3),
            Style("clutter/mirror", wall_items.mirror, 0.5),
            Style("clutter/pipe", wall_items.pipe, 0.3),
            Style("clutter/hood", wall_items.hood, 0.2),
            Style("bookcase/wall_shelves", bookcases.wall_shelves, 0.35),
        ),
        "small_wall_item": (
            Style("clutter/switch", wall_items.switch, 3.0),
            Style("clutter/extinguisher", wall_items.extinguisher, 0.3),
        ),
        "channel": (Style("clutter/channel", wall_items.channel),),
        "wall_cabinet": (Style("clutter/wall_cabinet", wall_items.wall_cabinet),),
        "bathroom_wall": (
            Style("clutter/mirror", wall_items.mirror),
            Style("clutter/towels", wall_items.towels, 2.0),
            Style("clutter/wall_cabinet", wall_items.wall_cabinet, 0.6),
        ),
        "radiator": (Style("clutter/radiator", wall_items.radiator),),
        "curtain": (Style("clutter/curtain", wall_items.curtain),),
        "light": (
            Style("clutter/flat_light", ceiling_items.flat_light, 2.0),
            Style("clutter/sunk_light", ceiling_items.sunk_light, 1.5),
            Style("clutter/hanging_light", ceiling_items.hanging_light),
            Style("clutter/globe_light", ceiling_items.globe_light, held_out=True),
        ),
        "ceiling_item": (
            Style("clutter/spot", ceiling_items.spot, 3.0),
            Style("clutter/vent", ceiling_items.vent),
            Style("clutter/projector", ceiling_items.projector, 0.4),
        ),
        "duct": (Style("clutter/duct", ceiling_items.duct),),
        "column": (
            Style("column/round", shell.round_column),
            Style("column/square", shell.square_column, 2.0),
            Style("column/pilaster", shell.pilaster),
            Style("column/octagonal", shell.octagonal_column, held_out=True),
        ),
        "beam": (Style("beam/solid", shell.solid_beam, 2.0), Style("beam/steel", shell.steel_beam, 0.6)),
        "soffit": (Style("beam/soffit", shell.soffit),),
    }
)

OPENINGS: Mapping[str, tuple[Style[Opening], ...]] = MappingProxyType(
    {
        "door": (
            Style("door/flush", doors.flush_door, 2.5),
            Style("door/vision", doors.vision_door),
            Style("door/glass", doors.glass_door, 0.6),
            Style("door/double", doors.double_door, 0.8),
            Style("door/panel", doors.panel_door, 0.8),
            Style("door/bare_frame", doors.bare_frame, 0.4),
            Style("door/half_glazed", doors.half_glazed_door, held_out=True),
        ),
        "closet_door": (Style("door/sliding", doors.sliding_door),),
        "window": (
            Style("window/casement", windows.casement, 2.0),
            Style("window/ribbon", windows.ribbon),
            Style("window/full_height", windows.full_height, 0.6),
            Style("window/whole_wall", windows.whole_wall, 1.3),
            Style("window/muntin", windows.muntin, held_out=True),
        ),
    }
)
