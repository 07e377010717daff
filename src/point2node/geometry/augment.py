"""Random changes to a cloud, with the generator passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

Transform = Literal["composed", "elementwise"]

UPWARDS = np.array([0.0, 0.0, 1.0])
LOWEST_TOP = 1.6  # metres above the floor: most furniture is below
HOLES = (0.1, 0.5)  # metres: the radius of a hole
FULL_DENSITY = (0.5, 1.5)  # metres from a scanner within which no point is lost
LATTICES = (
    (0.4, 1.0),
    (0.12, 0.25),
)  # metres between the nodes of an elastic distortion, and its relative strength
BLURRED = (19 / 81) ** 1.5  # the standard deviation of normal noise after two box blurs of three nodes along each axis


@dataclass(frozen=True)
class Augmentation:
    """Random changes to each training cloud; z is up. The defaults change nothing."""

    turn: float = 0.0
    """Rotation about the vertical, uniform in ± this angle (radians)."""
    tilt: float = 0.0
    """Rotation about each horizontal axis, uniform in ± this angle (radians)."""
    scale: float = 0.0
    """Standard deviation of each axis' scale about 1, clipped at three standard deviations."""
    scale_range: tuple[float, float] | None = None
    """If given, each axis' scale is drawn uniformly from this range instead."""
    transform: Transform = "composed"
    """How scaling and rotation are combined."""
    translate: float = 0.0
    """Shift along each axis, uniform in ± this length."""
    affine: float = 0.0
    """Standard deviation of each entry of a matrix added to the identity, clipped at three standard deviations."""
    elastic: float = 0.0
    """Metres: standard deviation of a smooth random displacement that varies over 0.4 m, plus a quarter of it that
    varies over 0.12 m."""
    mirror: float = 0.0
    """Probability of negating x before the rotation."""
    jitter: float = 0.0
    """Standard deviation of noise on each coordinate, in the cloud's unit, clipped at three standard deviations."""
    height_shift: float = 0.0
    """Standard deviation of the height of the whole cloud: real scans do not start exactly at the floor."""
    top_drop: float = 0.0
    """Probability of removing everything above a random height, as in scans without a ceiling."""
    holes: int = 0
    """The largest number of round holes, of 10 to 50 cm radius."""
    density: float = 0.0
    """Probability of thinning with the square of the distance from a random position, as around a laser scanner."""
    point_drop: float = 0.0
    """The largest share of points that is replaced by copies of others, as in sparse scans."""
    colour_drop: float = 0.0
    """Probability of setting all colours of a cloud to 0, middle grey."""
    colour_jitter: float = 0.0
    """Each channel's contrast changes by up to this share, and its brightness by up to this share of the range."""
    surroundings_drop: float = 0.0
    """Probability of setting each feature of the surroundings to 0."""

    def draw(self, random: np.random.Generator) -> NDArray[np.float64]:
        """Draw a 3×3 matrix that scales the axes, then rotates.

        PointCNN multiplies the two element by element, which loses most of the rotation; so does "elementwise".
        """
        angles = random.uniform(-1, 1, 3) * (self.tilt, self.tilt, self.turn)
        if self.scale_range is None:
            scales = 1 + self.scale * np.clip(random.standard_normal(3), -3, 3)
        else:
            scales = random.uniform(*self.scale_range, 3)
        if self.mirror and random.random() < self.mirror:
            scales[0] *= -1
        rotation, scaling = _rotation(angles), np.diag(scales)
        matrix = rotation @ scaling if self.transform == "composed" else rotation * scaling
        if not self.affine:
            return matrix
        return (np.eye(3) + self.affine * np.clip(random.standard_normal((3, 3)), -3, 3)) @ matrix

    def bend(self, xyz: Floats, random: np.random.Generator) -> Floats:
        """Move points (N, 3) by a smooth random field: surfaces bend, and close points stay close."""
        if not self.elastic:
            return xyz
        moves = [share * smooth_noise(xyz, spacing, random) for spacing, share in LATTICES]
        return xyz + (self.elastic * np.sum(moves, axis=0)).astype(xyz.dtype)

    def shake(self, xyz: Floats, random: np.random.Generator) -> Floats:
        """Shift points (N, 3) together, and add noise to each."""
        if self.translate:
            xyz = xyz + random.uniform(-self.translate, self.translate, 3).astype(xyz.dtype)
        if self.height_shift:
            xyz = xyz + (self.height_shift * random.standard_normal() * UPWARDS).astype(xyz.dtype)
        if not self.jitter:
            return xyz
        noise = np.clip(random.standard_normal(xyz.shape, np.float32), -3, 3)
        return xyz + (self.jitter * noise).astype(xyz.dtype)

    def scanned(self, xyz: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
        """Draw which points (N, 3) of a block are kept, (N,) bool; always some."""
        there = self.below_top(xyz[:, 2], random)
        for _ in range(random.integers(self.holes, endpoint=True) if self.holes else 0):
            middle = xyz[random.integers(len(xyz))]
            left = there & (np.square(xyz - middle).sum(axis=1) > random.uniform(*HOLES) ** 2)
            there = left if left.any() else there
        if self.density and random.random() < self.density:
            low, high = xyz.min(axis=0), xyz.max(axis=0)
            squares = np.square(xyz - random.uniform(low, np.maximum(high, low))).sum(axis=1)
            left = there & (random.random(len(xyz)) * squares < random.uniform(*FULL_DENSITY) ** 2)
            there = left if left.any() else there
        return there

    def below_top(self, heights: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
        """Draw which points of these heights (N,) above the floor are kept, (N,) bool."""
        if not self.top_drop or random.random() >= self.top_drop:
            return np.ones(len(heights), np.bool_)
        top = max(float(heights.max()), LOWEST_TOP)
        kept: NDArray[np.bool_] = heights <= random.uniform(LOWEST_TOP, top)
        return kept if kept.any() else ~kept

    def thin(self, numbers: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """Replace some indices at the end by copies of earlier ones; they must be in random order."""
        if not self.point_drop:
            return numbers
        kept = max(1, round(len(numbers) * (1 - random.uniform(0, self.point_drop))))
        return np.concatenate([numbers[:kept], numbers[random.integers(kept, size=len(numbers) - kept)]])

    def recolour(self, rgb: Floats, random: np.random.Generator) -> Floats:
        """Change the contrast and brightness of colours (N, 3) from −0.5 to 0.5, or set them to 0."""
        if self.colour_drop and random.random() < self.colour_drop:
            return np.zeros_like(rgb)
        if not self.colour_jitter:
            return rgb
        contrast, brightness = random.uniform(-self.colour_jitter, self.colour_jitter, (2, 3))
        return np.clip(rgb * (1 + contrast) + brightness, -0.5, 0.5).astype(rgb.dtype)

    def hide(self, described: Floats, random: np.random.Generator) -> Floats:
        """Keep a feature of the surroundings (N, C), or set it to 0, so that networks do not rely on it alone."""
        if self.surroundings_drop and random.random() < self.surroundings_drop:
            return np.zeros_like(described)
        return described


def swap_part(
    ours: Floats, theirs: Floats, share: float, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Choose a compact part of a cloud to replace by one of another (after RSMix, Lee et al., 2021).

    Returns the indices of the replaced points of ours (N, 3), those of theirs, and the shift (3,) of the latter.
    """
    count = round(share * len(ours))
    places = ours[random.integers(len(ours))], theirs[random.integers(len(theirs))]
    replaced, taken = (
        np.argsort(((cloud - place) ** 2).sum(axis=1), kind="stable")[:count]
        for cloud, place in zip((ours, theirs), places, strict=True)
    )
    return replaced, taken, places[0] - places[1]


def smooth_noise(xyz: Floats, spacing: float, random: np.random.Generator) -> NDArray[np.float32]:
    """Draw smooth random vectors (N, 3) at points (N, 3), with standard deviation 1 at the nodes of a lattice.

    Normal noise on the lattice is blurred twice along each axis over three nodes, and interpolated linearly.
    """
    places = (xyz - xyz.min(axis=0)) / spacing
    corner = np.floor(places).astype(np.int64)
    within = (places - corner).astype(np.float32)
    sizes = corner.max(axis=0) + 2
    noise = random.standard_normal((*(sizes + 4), 3), np.float32)
    for axis in range(3):
        for _ in range(2):  # each blur takes a node from both ends
            ends = noise.shape[axis] - 2
            one, two, three = (noise.take(range(start, start + ends), axis) for start in range(3))
            noise = (one + two + three) / np.float32(3)
    found = np.zeros((len(xyz), 3), np.float32)
    for step in np.ndindex(2, 2, 2):
        share = np.where(step, within, 1 - within).prod(axis=1, keepdims=True)
        found += share * noise[tuple((corner + step).T)]
    return found / np.float32(BLURRED)


def transform_points(xyz: Floats, matrix: Floats) -> Floats:
    """Multiply each point p (…, 3): matrix · p."""
    return (xyz @ matrix.T).astype(xyz.dtype)


def transform_normals(normals: Floats, matrix: Floats) -> Floats:
    """Transform normals by the inverse transpose and normalise them; a zero normal stays zero."""
    turned = normals @ np.linalg.inv(matrix)
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(normals.dtype)


def _rotation(angles: Floats) -> NDArray[np.float64]:
    """Return the matrix of rotations about x, then y, then z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x
