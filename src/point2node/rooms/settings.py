"""Settings of the generated rooms and of the scanner."""

from __future__ import annotations

from dataclasses import dataclass

from point2node.core.errors import InputError

OVERRIDES = ("ray_step", "positions", "range_noise", "pose_error", "mixed_pixels", "lost_ceiling")


@dataclass(frozen=True)
class RoomSettings:
    """Settings of generated rooms; probabilities are per room unless stated otherwise.

    None takes the value of the kind of scanner, which is drawn per room.
    """

    layouts: tuple[str, ...] = ()
    """Only these room types, e.g. ("office", "corridor"); empty for all, about as frequent as in real buildings."""
    scanners: tuple[str, ...] = ()
    """Only these of "panoramic", "laser" and "handheld"; empty for all three, with mostly "handheld" in homes."""
    ray_step: float | None = None
    """Degrees between neighbouring rays of a scanner; 0.45 gives 240,000 rays at each position of a tripod."""
    positions: tuple[int, int] | None = None
    """Minimum and maximum number of scanner positions in a room; large rooms get more."""
    even: float = 0.02
    """Metres: edge of the cubes in which one point is kept, approximately; at least 0.01, or 0 to keep every return."""
    range_noise: tuple[float, float] | None = None
    """Metres: standard deviation of a range at 1 m, drawn per room; it grows with range and grazing incidence."""
    pose_error: float | None = None
    """Metres: how far apart the scans of a room are after registration."""
    mixed_pixels: float | None = None
    """Share of the rays at a depth edge that report a range between foreground and background."""
    lost_patches: float = 0.3
    """Probability that some patches of a room are missing."""
    lost_ceiling: float | None = None
    """Probability that the ceiling is missing, as in scans cut open for display."""
    cut_room: float = 0.08
    """Probability that part of the room is cut off along a straight line."""
    grey: float = 0.08
    """Probability that the scan has almost no colour."""
    margin: float = 0.6
    """Metres: points farther outside the room, seen through a door, are cropped."""

    def __post_init__(self) -> None:
        _check("ray_step", self.ray_step, 0.02, 5)
        _check("even", self.even, 0.01 if self.even else 0, 1)
        if self.range_noise:
            _check("range_noise", self.range_noise[0], 0, self.range_noise[1])
        if self.positions:
            _check("positions", self.positions[0], 1, self.positions[1])
        _check("pose_error", self.pose_error, 0, 1)
        _check("margin", self.margin, 0, 1)
        for name in ("mixed_pixels", "lost_patches", "lost_ceiling", "cut_room", "grey"):
            _check(name, getattr(self, name), 0, 1)


def _check(name: str, value: float | None, lowest: float, highest: float) -> None:
    if value is not None and not lowest <= value <= highest:
        raise InputError(f"RoomSettings.{name}", expected=f"{lowest:g} to {highest:g}", found=f"{value:g}")
