"""Clouds for the tests of the file formats, and what it means that two are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from point2node.core.point_cloud import Array, PointCloud

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")
NAMES = st.from_regex(r"[a-w][a-z]{3,8}", fullmatch=True).filter(
    lambda name: name not in ("label", "instance", "intensity", "classification", "points", "coord", "segment", "faces")
)


def random_cloud(n: int, seed: int = 0, **parts: Any) -> PointCloud:
    """Map coordinates with every digit used, and a value of every type and size for each part."""
    random = np.random.default_rng(seed)
    everything: dict[str, Any] = {
        "xyz": random.normal(size=(n, 3)) * 50 + [4e5, 5e6, 100],
        "rgb": random.integers(0, 256, (n, 3), np.uint8),
        "normals": random.normal(size=(n, 3)).astype(np.float32),
        "intensity": random.integers(0, 2**16, n, np.uint16),
        "labels": random.integers(0, 32, n, np.int32),
        "instance": random.integers(-1, 2**31 - 1, n, np.int32),
    }
    return PointCloud(**(everything | parts))


def random_column(n: int, dtype: str, seed: int) -> Array:
    """Every bit pattern of integers, finite numbers of floats."""
    random = np.random.default_rng(seed)
    if dtype[0] == "f":
        return (random.normal(size=n) * 10.0 ** random.integers(-20, 20, n)).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, n, dtype, endpoint=True)


@st.composite
def clouds(draw: st.DrawFn, *, smallest: int = 0, faces: bool = False) -> PointCloud:
    """Clouds with any of the parts, and fields of any type."""
    n, seed = draw(st.integers(smallest, 40)), draw(st.integers(0, 2**32))
    cloud = random_cloud(n, seed)
    absent = draw(st.sets(st.sampled_from(["rgb", "normals", "intensity", "labels", "instance"])))
    named = draw(st.dictionaries(NAMES, st.sampled_from(TYPES), max_size=4))
    fields = {name: random_column(n, dtype, seed + i) for i, (name, dtype) in enumerate(named.items())}
    triangles = None
    if faces and n and draw(st.booleans()):
        triangles = np.random.default_rng(seed).integers(0, n, (draw(st.integers(0, 20)), 3), np.int32)
    return cloud.with_(fields=fields, faces=triangles, **dict.fromkeys(absent))


def assert_same(found: PointCloud, wanted: PointCloud, *, types: bool = True, faces: bool = True) -> None:
    """Every part and field equal to the last bit and, unless the format has no ``types``, of the same type."""
    for part in ("xyz", "rgb", "normals", "intensity", "labels", "instance", *(["faces"] if faces else [])):
        assert_same_array(part, getattr(found, part), getattr(wanted, part), types)
    assert set(found.fields) == set(wanted.fields)
    for name, values in wanted.fields.items():
        assert_same_array(name, found.fields[name], values, types)


def assert_same_array(name: str, found: Array | None, wanted: Array | None, types: bool) -> None:
    if wanted is None or found is None:
        assert found is wanted, name
        return
    if types:
        assert found.dtype == wanted.dtype, name
    np.testing.assert_array_equal(found.astype(wanted.dtype), wanted, err_msg=name)
