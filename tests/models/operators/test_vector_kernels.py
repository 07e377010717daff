from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from point2node.models.operators.vector_kernels import multiply

SIDES = st.integers(0, 37)  # columns take vectors of 16, 8, 4 and 1, rows blocks of 4 and 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(rows=SIDES, terms=SIDES, columns=SIDES, transposed=st.booleans(), add=st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_product_equals_numpys_and_nothing_else_is_written(
    dtype: type, rows: int, terms: int, columns: int, transposed: bool, add: bool
) -> None:
    random = np.random.default_rng(0)
    A = random.standard_normal((terms, rows) if transposed else (rows, terms)).astype(dtype)
    F = random.standard_normal((terms, columns + 3)).astype(dtype)  # columns 1 … columns of it are read
    T = random.standard_normal((rows + 2, columns + 5)).astype(dtype)  # rows 1 …, columns 2 … of it are written
    expected = T.copy()
    window = expected[1 : 1 + rows, 2 : 2 + columns]
    product = (A.T if transposed else A) @ F[:, 1 : 1 + columns]
    window[:] = window + product if add else product
    strides = (1, rows) if transposed else (terms, 1)
    start = columns + 5 + 2
    multiply(A, 0, *strides, F, 1, columns + 3, terms, T, start, columns + 5, rows, columns, add)
    np.testing.assert_allclose(T, expected, rtol=1e-4 if dtype == np.float32 else 1e-11, atol=1e-5)
