"""A small matrix product whose sums stay in vector registers: the innermost loop of the other kernels.

LLVM vectorises a loop of its own accord only if it is long, and ours run over 8 to 64 numbers. Here the vectors are
written out as LLVM code. Each step loads a vector of F and multiplies it by one number of each of a few rows of A; on
one core this runs as fast as a large matrix product, where loops over such rows reached a third to two thirds of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from point2node.models.operators.tile_kernels import SUMS, Array, Slots

FOUR_ROWS, ONE_ROW = (0,) * 4, (0,)
"""Rows of a block: 4 × 16 sums and their operands fit into the 16 registers of AVX2. Tuples, since numba compiles a
function once for each length of a tuple."""

LANES_16, LANES_8, LANES_4, LANES_1 = (0,) * 16, (0,) * 8, (0,) * 4, (0,)


@njit(fastmath=SUMS)
def add_product(
    A: Array, a: int, a_row: int, a_term: int, F: Array, f: int, f_row: int, terms: int,
    T: Array, t: int, t_row: int, rows: int, columns: int, add: bool,
) -> None:  # fmt: skip
    """T[r, c] = Σ_k A[r, k] F[k, c] for r < rows, k < terms, c < columns; with ``add``, T[r, c] += that sum.

    Arrays are contiguous, of any shape, and read as one row of numbers: A[r, k] is number a + r·a_row + k·a_term of A,
    F[k, c] is f + k·f_row + c of F, and T[r, c] is t + r·t_row + c of T.
    """
    c = 0
    while columns - c >= 16:
        _add_strip(A, a, a_row, a_term, F, f + c, f_row, terms, T, t + c, t_row, rows, add, LANES_16)
        c += 16
    if columns - c >= 8:
        _add_strip(A, a, a_row, a_term, F, f + c, f_row, terms, T, t + c, t_row, rows, add, LANES_8)
        c += 8
    if columns - c >= 4:
        _add_strip(A, a, a_row, a_term, F, f + c, f_row, terms, T, t + c, t_row, rows, add, LANES_4)
        c += 4
    while c < columns:
        _add_strip(A, a, a_row, a_term, F, f + c, f_row, terms, T, t + c, t_row, rows, add, LANES_1)
        c += 1


@njit(fastmath=SUMS)
def _add_strip(
    A: Array, a: int, a_row: int, a_term: int, F: Array, f: int, f_row: int, terms: int,
    T: Array, t: int, t_row: int, rows: int, add: bool, lanes: Slots,
) -> None:  # fmt: skip
    """``add_product`` for as many columns as there are lanes."""
    r = 0
    while rows - r >= 4:
        _add_block(A, a + r * a_row, a_row, a_term, F, f, f_row, terms, T, t + r * t_row, t_row, add, FOUR_ROWS, lanes)
        r += 4
    while r < rows:
        _add_block(A, a + r * a_row, a_row, a_term, F, f, f_row, terms, T, t + r * t_row, t_row, add, ONE_ROW, lanes)
        r += 1


def _write_block(
    typingctx: Any, A: Any, a: Any, a_row: Any, a_term: Any, F: Any, f: Any, f_row: Any, terms: Any,
    T: Any, t: Any, t_row: Any, add: Any, rows: Any, lanes: Any,
) -> tuple[Any, Callable[..., Any]]:  # fmt: skip
    """LLVM code of ``add_product`` for as many rows as ``rows`` is long and as many columns as ``lanes`` is."""
    number = ir.FloatType() if A.dtype == types.float32 else ir.DoubleType()
    vector = ir.VectorType(number, len(lanes))
    size = A.dtype.bitwidth // 8

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        A_, a_, a_row_, a_term_, F_, f_, f_row_, terms_, T_, t_, t_row_, add_, _, _ = arguments
        a_data, f_data, t_data = (
            context.make_array(kind)(context, builder, value).data for kind, value in ((A, A_), (F, F_), (T, T_))
        )

        def place(data: Any, start: Any, *steps: tuple[Any, Any]) -> Any:
            """The address of number start + Σ stride · count."""
            for stride, count in steps:
                start = builder.add(start, builder.mul(stride, count, flags=["nsw"]), flags=["nsw"])
            return builder.gep(data, [start])

        def load_vector(address: Any) -> Any:
            return builder.load(builder.bitcast(address, vector.as_pointer()), align=size)

        def broadcast(value: Any) -> Any:
            undefined, first = ir.Constant(vector, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            every_lane = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), [0] * len(lanes))
            return builder.shuffle_vector(builder.insert_element(undefined, value, first), undefined, every_lane)

        row_numbers = [ir.Constant(t_row_.type, r) for r in range(len(rows))]
        targets = [place(t_data, t_, (t_row_, r)) for r in row_numbers]
        zero = ir.Constant(vector, [ir.Constant(number, 0.0)] * len(lanes))
        sums = [cgutils.alloca_once(builder, vector) for _ in rows]  # type: ignore[no-untyped-call, unused-ignore]
        for total in sums:
            builder.store(zero, total)
        with builder.if_then(add_):
            for total, target in zip(sums, targets, strict=True):
                builder.store(load_vector(target), total)
        with cgutils.for_range(builder, terms_, intp=terms_.type) as loop:
            row = load_vector(place(f_data, f_, (f_row_, loop.index)))
            for total, r in zip(sums, row_numbers, strict=True):
                factor = builder.load(place(a_data, a_, (a_row_, r), (a_term_, loop.index)))
                product = builder.fmul(broadcast(factor), row, flags=["contract"])
                builder.store(builder.fadd(builder.load(total), product, flags=["contract"]), total)
        for total, target in zip(sums, targets, strict=True):
            builder.store(builder.load(total), builder.bitcast(target, vector.as_pointer()), align=size)
        return context.get_dummy_value()

    return types.void(A, a, a_row, a_term, F, f, f_row, terms, T, t, t_row, add, rows, lanes), generate


_add_block: Any = intrinsic(_write_block)
