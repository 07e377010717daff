"""Random turns and scalings of a cloud, with the generator passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

Transform = Literal["composed", "elementwise"]

UPWARDS = np.array([0.0, 0.0, 1.0])
LOWEST_TOP = 1.6  # metres above the floor: most furniture is below


@dataclass(frozen=True)
class Augmentation:
    """What happens to each training cloud; z is up. The defaults change nothing."""

    turn: float = 0.0
    """Rotation about the vertical, uniform in ± this angle (radians)."""
    tilt: float = 0.0
    """Rotation about each horizontal axis, uniform in ± this angle (radians)."""
    scale: float = 0.0
    """Standard deviation of each axis' scale about 1, clipped at three of them."""
    scale_range: tuple[float, float] | None = None
    """Factors between which each axis' scale is drawn evenly instead."""
    transform: Transform = "composed"
    """How scaling and rotation are joined."""
    translate: float = 0.0
    """Shift along each axis, uniform in ± this length."""
    mirror: float = 0.0
    """Probability that x changes its sign before the cloud is turned."""
    jitter: float = 0.0
    """Standard deviation of each coordinate, in the cloud's unit, clipped at three of them."""
    height_shift: float = 0.0
    """Standard deviation of the height of the whole cloud: real scans do not begin exactly at the floor."""
    top_drop: float = 0.0
    """Probability that everything above a random height is missing, as in scans without a ceiling."""
    point_drop: float = 0.0
    """The largest share of the points that are replaced by copies of others, as in thin scans."""
    mix: float = 0.0
    """Probability that a part of a shape is replaced by a part of another one."""
    colour_drop: float = 0.0
    """Probability that a cloud loses its colours: all of them become 0, the middle grey."""
    colour_jitter: float = 0.0
    """Each channel's contrast changes by up to this share, and its brightness by up to this share of the range."""

    def draw(self, random: np.random.Generator) -> NDArray[np.float64]:
        """A 3×3 matrix: scale the axes, then rotate.

        PointCNN multiplies the two element by element, which loses most of the rotation: "elementwise" does the same.
        """
        angles = random.uniform(-1, 1, 3) * (self.tilt, self.tilt, self.turn)
        if self.scale_range is None:
            scales = 1 + self.scale * np.clip(random.standard_normal(3), -3, 3)
        else:
            scales = random.uniform(*self.scale_range, 3)
        if self.mirror and random.random() < self.mirror:
            scales[0] *= -1
        rotation, scaling = _rotation(angles), np.diag(scales)
        return rotation @ scaling if self.transform == "composed" else rotation * scaling

    def shake(self, xyz: Floats, random: np.random.Generator) -> Floats:
        """Points (N, 3) with noise of their own, shifted, raised or lowered together."""
        if self.translate:
            xyz = xyz + random.uniform(-self.translate, self.translate, 3).astype(xyz.dtype)
        if self.height_shift:
            xyz = xyz + (self.height_shift * random.standard_normal() * UPWARDS).astype(xyz.dtype)
        if not self.jitter:
            return xyz
        noise = np.clip(random.standard_normal(xyz.shape, np.float32), -3, 3)
        return xyz + (self.jitter * noise).astype(xyz.dtype)

    def below_top(self, heights: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
        """Which points of these heights (N,) above the floor are there."""
        if not self.top_drop or random.random() >= self.top_drop:
            return np.ones(len(heights), np.bool_)
        top = max(float(heights.max()), LOWEST_TOP)
        kept: NDArray[np.bool_] = heights <= random.uniform(LOWEST_TOP, top)
        return kept if kept.any() else ~kept

    def thin(self, numbers: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """Points in random order, of which some at the end become copies of those before."""
        if not self.point_drop:
            return numbers
        kept = max(1, round(len(numbers) * (1 - random.uniform(0, self.point_drop))))
        return np.concatenate([numbers[:kept], numbers[random.integers(kept, size=len(numbers) - kept)]])

    def recolour(self, rgb: Floats, random: np.random.Generator) -> Floats:
        """Colours (N, 3) from −0.5 to 0.5 under another light, or none."""
        if self.colour_drop and random.random() < self.colour_drop:
            return np.zeros_like(rgb)
        if not self.colour_jitter:
            return rgb
        contrast, brightness = random.uniform(-self.colour_jitter, self.colour_jitter, (2, 3))
        return np.clip(rgb * (1 + contrast) + brightness, -0.5, 0.5).astype(rgb.dtype)


def swap_part(
    ours: Floats, theirs: Floats, share: float, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """A compact part of one cloud takes the place of a compact part of another (after RSMix, Lee et al., 2021).

    Returns which points of ours (N, 3) are replaced, by which of theirs, and the shift (3,) of these.
    """
    count = round(share * len(ours))
    places = ours[random.integers(len(ours))], theirs[random.integers(len(theirs))]
    replaced, taken = (
        np.argsort(((cloud - place) ** 2).sum(axis=1), kind="stable")[:count]
        for cloud, place in zip((ours, theirs), places, strict=True)
    )
    return replaced, taken, places[0] - places[1]


def transform_points(xyz: Floats, matrix: Floats) -> Floats:
    """Each point p (…, 3) becomes matrix · p."""
    return (xyz @ matrix.T).astype(xyz.dtype)


def transform_normals(normals: Floats, matrix: Floats) -> Floats:
    """Normals of the transformed surface: by the inverse transpose, to unit length; a zero normal stays zero."""
    turned = normals @ np.linalg.inv(matrix)
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(normals.dtype)


def _rotation(angles: Floats) -> NDArray[np.float64]:
    """Rotations about x, y and z, one after the other."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x
