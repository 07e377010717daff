"""The kernels' exponentials against numpy's in double precision."""

import numpy as np
import pytest
from numba import njit

from point2node.models.operators import exponential_kernels


@njit
def exp_of(x, out):
    for i in range(len(x)):
        out[i] = exponential_kernels.exp(x[i])


@njit
def elu_of(x, out):
    for i in range(len(x)):
        out[i] = exponential_kernels.elu(x[i])


def run(kernel, x):
    out = np.empty_like(x)
    kernel(x, out)
    return out


def numbers(dtype):
    """From the lowest number on, dense near 0, where e^x − 1 loses digits if it is taken as written."""
    return -np.concatenate([np.linspace(0, 87, 100_001), np.logspace(-30, 0, 10_001)]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_and_elu_are_right_to_two_units_in_the_last_place(dtype):
    x = numbers(dtype)
    for kernel, exact in ((exp_of, np.exp), (elu_of, np.expm1)):
        expected = exact(x.astype(np.longdouble))
        error = np.abs(run(kernel, x) - expected) / np.spacing(np.abs(expected).astype(dtype))
        assert error.max() <= 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elu_keeps_what_is_above_0(dtype):
    x = np.array([1e-30, 0.5, 3.0, 1e30, np.inf], dtype)
    assert np.array_equal(run(elu_of, x), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_below_0_elu_is_minus_1_and_exp_vanishes(dtype):
    x = np.array([-100, -1e30, -np.inf], dtype)
    assert np.array_equal(run(elu_of, x), [-1, -1, -1])
    assert run(exp_of, x).max() < 1e-37


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_stays_nan(dtype):
    x = np.full(9, np.nan, dtype)
    assert np.isnan(run(elu_of, x)).all()
    assert np.isnan(run(exp_of, x)).all()
