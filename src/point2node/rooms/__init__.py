"""Generated indoor scenes as a scanner would record them."""

from point2node.rooms.generator import RoomDescription, describe_room, generate_room
from point2node.rooms.settings import RoomSettings

__all__ = ["RoomDescription", "RoomSettings", "describe_room", "generate_room"]
