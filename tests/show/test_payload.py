import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from point2node.core.classes import S3DIS
from point2node.show.payload import encode
from point2node.show.scene import LabelledScene
from tests.show.scenes import unpack

clouds = st.integers(1, 40).flatmap(
    lambda points: st.tuples(
        arrays(np.float64, (points, 3), elements=st.floats(-1e7, 1e7)),
        arrays(np.int64, points, elements=st.integers(-1, len(S3DIS) - 1)),
        arrays(np.float64, points, elements=st.floats(0, 1)),
    )
)


@given(clouds)
def test_what_is_packed_is_unpacked_to_within_half_a_step(cloud):
    xyz, labels, share = cloud
    scene = LabelledScene("s", xyz, S3DIS, labels, confidence=share, truth=labels[::-1])
    packed = encode(scene)
    columns = unpack(packed.data, packed.columns, packed.points)
    for axis, name in enumerate("xyz"):
        numbers = columns[f"{name} low"] + 256.0 * columns[f"{name} high"]
        found = packed.lower[axis] + packed.step[axis] * numbers
        assert np.abs(found - xyz[:, axis]).max() <= 0.501 * packed.step[axis] + 1e-8
    assert np.array_equal(columns["label"].astype(np.int8), labels)  # 255 as a signed byte is -1
    assert np.array_equal(columns["truth"].astype(np.int8), labels[::-1])
    assert np.abs(columns["confidence"] / 255 - share).max() <= 0.5 / 255 + 1e-12


def test_only_what_is_known_takes_room():
    bare = LabelledScene("s", np.eye(3), S3DIS, np.zeros(3, int))
    assert encode(bare).columns == ("x low", "x high", "y low", "y high", "z low", "z high", "label")
    full = encode(LabelledScene("s", np.eye(3), S3DIS, np.zeros(3, int), rgb=np.full((3, 3), [1, 2, 3], np.uint8)))
    columns = unpack(full.data, full.columns, 3)
    assert [columns[name][0] for name in ("red", "green", "blue")] == [1, 2, 3]


@pytest.mark.parametrize("value", [np.nan, -0.1])
def test_a_share_that_is_none_is_packed_as_zero(value):
    packed = encode(LabelledScene("s", np.zeros((1, 3)), S3DIS, np.zeros(1, int), entropy=np.array([value])))
    assert unpack(packed.data, packed.columns, 1)["entropy"] == [0]
