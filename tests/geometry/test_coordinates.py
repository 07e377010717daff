"""Coordinates: what is refused, and what the shift to float32 keeps."""

from __future__ import annotations

import math

import pytest
import torch

from point2node.core.errors import InputError
from point2node.geometry.coordinates import check_coordinates, shift_to_float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_batch_of_finite_clouds_is_accepted(dtype: torch.dtype) -> None:
    check_coordinates(torch.zeros(2, 1, 3, dtype=dtype))


@pytest.mark.parametrize("shape", [(5, 3), (1, 5, 2), (1, 1, 5, 3)])
def test_another_shape_is_refused_with_the_shape_found(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"queries: expected .*\(B, N, 3\), found shape \(") as error:
        check_coordinates(torch.zeros(shape), "queries")
    assert str(shape) in str(error.value)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.bool])
def test_whole_numbers_and_half_precision_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(InputError, match="float32 or float64"):
        check_coordinates(torch.zeros(1, 5, 3, dtype=dtype))


def test_a_batch_without_clouds_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least one cloud of at least one point, found shape \(0, 5, 3\)"):
        check_coordinates(torch.zeros(0, 5, 3))


def test_a_cloud_without_points_is_refused() -> None:
    with pytest.raises(InputError, match="at least one point"):
        check_coordinates(torch.zeros(1, 0, 3))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_counted_and_the_first_is_located(value: float) -> None:
    xyz = torch.zeros(2, 5, 3)
    xyz[1, 2, 0] = xyz[1, 4, 2] = value
    with pytest.raises(InputError, match=r"2 NaN or infinite, the first at index \(1, 2, 0\)"):
        check_coordinates(xyz)


def test_the_room_frame_is_centred_in_x_and_y_and_starts_at_zero_in_z() -> None:
    xyz = torch.tensor([[[1.0, 10.0, 5.0], [3.0, 20.0, 9.0], [1.0, 11.0, 6.0]]])
    shifted, shift = shift_to_float32(xyz)
    assert shift.tolist() == [[[2.0, 15.0, 5.0]]]
    assert shifted.tolist() == [[[-1.0, -5.0, 0.0], [1.0, 5.0, 4.0], [-1.0, -4.0, 1.0]]]
    assert (shifted.dtype, shift.dtype) == (torch.float32, torch.float64)


def test_map_coordinates_of_a_million_metres_keep_every_millimetre() -> None:
    steps = torch.arange(1000, dtype=torch.float64) * 1e-3
    xyz = torch.stack([steps + 1e6, steps + 5e6, steps + 100], dim=-1)[None]
    shifted, shift = shift_to_float32(xyz)
    assert (shifted.diff(dim=1) - 1e-3).abs().max() < 1e-6
    assert (shifted + shift - xyz).abs().max() < 1e-6


def test_each_cloud_of_a_batch_gets_its_own_shift() -> None:
    xyz = torch.rand(3, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    together = shift_to_float32(xyz)
    for b in range(3):
        alone = shift_to_float32(xyz[b : b + 1])
        assert all(torch.equal(one, all_[b : b + 1]) for one, all_ in zip(alone, together, strict=True))
