"""Vectors that a kernel holds in registers, and products of small matrices built from them.

LLVM vectorises only long loops by itself, and ours run over 8 to 64 numbers: such loops reached a third to two thirds
of the speed of a large matrix product, while explicit vectors reach all of it.

Arrays are contiguous and of any shape; a place is a flat index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, register_model

from point2node.models.operators.tile_kernels import SUMS, Array, Slots

LANES_16, LANES_8, LANES_4, LANES_1 = (0,) * 16, (0,) * 8, (0,) * 4, (0,)
"""The size of a vector as the length of a tuple: numba compiles a function once for each. 16 numbers fill one register
of AVX-512 or two of AVX2, whose 16 registers have room for four sums of such vectors and their operands."""

Signature = tuple[Any, Callable[..., Any]]


class Vector(types.Type):  # type: ignore[misc, unused-ignore]
    """A vector of ``lanes`` numbers."""

    def __init__(self, dtype: Any, lanes: int) -> None:
        super().__init__(name=f"Vector({dtype}, {lanes})")
        self.dtype, self.lanes = dtype, lanes


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc, unused-ignore]
    """LLVM's own vector type."""

    def __init__(self, manager: Any, vector: Vector) -> None:
        number = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        kind = ir.VectorType(number, vector.lanes)
        super().__init__(manager, vector, kind)  # type: ignore[no-untyped-call, unused-ignore]


def _address(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [place])


def _number(typing: Any, array: Any, place: Any) -> Signature:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, array, *arguments))

    return array.dtype(array, types.intp), generate


def _load(typing: Any, array: Any, place: Any, lanes: Any) -> Signature:
    vector = Vector(array.dtype, len(lanes))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, *arguments[:2])
        pointer = context.get_value_type(vector).as_pointer()
        return builder.load(builder.bitcast(address, pointer), align=array.dtype.bitwidth // 8)

    return vector(array, types.intp, lanes), generate


def _store(typing: Any, vector: Any, array: Any, place: Any) -> Signature:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, *arguments[1:])
        pointer = context.get_value_type(vector).as_pointer()
        builder.store(arguments[0], builder.bitcast(address, pointer), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(vector, array, types.intp), generate


def _zeros(typing: Any, array: Any, lanes: Any) -> Signature:
    vector = Vector(array.dtype, len(lanes))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(vector)
        return ir.Constant(kind, [ir.Constant(kind.element, 0.0)] * kind.count)

    return vector(array, lanes), generate


def _multiply_add(typing: Any, x: Any, y: Any, z: Any) -> Signature:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        factor, kind = arguments[0], arguments[1].type
        if not isinstance(x, Vector):
            undefined, first = ir.Constant(kind, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            every_lane = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
            factor = builder.insert_element(undefined, factor, first)
            factor = builder.shuffle_vector(factor, undefined, every_lane)
        product = builder.fmul(factor, arguments[1], flags=["contract"])
        return builder.fadd(product, arguments[2], flags=["contract"])

    return y(x, y, z), generate


def _maximum(typing: Any, x: Any, y: Any) -> Signature:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = arguments
        return builder.select(builder.fcmp_unordered(">", first, second), first, second)

    return y(x, y), generate


number: Any = intrinsic(_number)
"""number(array, place): one number."""
load: Any = intrinsic(_load)
"""load(array, place, lanes): the vector that starts at a place."""
store: Any = intrinsic(_store)
"""store(vector, array, place)."""
zeros: Any = intrinsic(_zeros)
"""zeros(array, lanes): a vector of the array's type."""
multiply_add: Any = intrinsic(_multiply_add)
"""multiply_add(x, y, z) = x·y + z for vectors y and z; x is a vector or one number."""
maximum: Any = intrinsic(_maximum)
"""maximum(x, y): the larger number of each lane of two vectors, and that of x if either is NaN."""


@njit(fastmath=SUMS)
def multiply_strip(
    A: Array, a: int, a_row: int, a_term: int, F: Array, f: int, f_term: int, terms: int,
    T: Array, t: int, t_row: int, rows: int, add: bool, lanes: Slots,
) -> None:  # fmt: skip
    """T[r, c] = Σ_k A[r, k] F[k, c] for r < rows, k < terms and every lane c; with ``add``, T[r, c] += that sum.

    A[r, k] is at a + r·a_row + k·a_term, F[k, c] at f + k·f_term + c, and T[r, c] at t + r·t_row + c.
    """
    r = 0
    while rows - r >= 4:  # four rows share each load of F
        a0, t0 = a + r * a_row, t + r * t_row
        a1, a2, a3 = a0 + a_row, a0 + 2 * a_row, a0 + 3 * a_row
        t1, t2, t3 = t0 + t_row, t0 + 2 * t_row, t0 + 3 * t_row
        if add:
            s0, s1, s2, s3 = load(T, t0, lanes), load(T, t1, lanes), load(T, t2, lanes), load(T, t3, lanes)
        else:
            s0 = s1 = s2 = s3 = zeros(T, lanes)
        for k in range(terms):
            row = load(F, f + k * f_term, lanes)
            s0 = multiply_add(number(A, a0 + k * a_term), row, s0)
            s1 = multiply_add(number(A, a1 + k * a_term), row, s1)
            s2 = multiply_add(number(A, a2 + k * a_term), row, s2)
            s3 = multiply_add(number(A, a3 + k * a_term), row, s3)
        store(s0, T, t0)
        store(s1, T, t1)
        store(s2, T, t2)
        store(s3, T, t3)
        r += 4
    while r < rows:
        total = load(T, t + r * t_row, lanes) if add else zeros(T, lanes)
        for k in range(terms):
            total = multiply_add(number(A, a + r * a_row + k * a_term), load(F, f + k * f_term, lanes), total)
        store(total, T, t + r * t_row)
        r += 1


@njit(fastmath=SUMS)
def multiply(
    A: Array, a: int, a_row: int, a_term: int, F: Array, f: int, f_term: int, terms: int,
    T: Array, t: int, t_row: int, rows: int, columns: int, add: bool,
) -> None:  # fmt: skip
    """Do ``multiply_strip`` for any number of columns c, which are contiguous in F and T."""
    c = 0
    while columns - c >= 16:
        multiply_strip(A, a, a_row, a_term, F, f + c, f_term, terms, T, t + c, t_row, rows, add, LANES_16)
        c += 16
    if columns - c >= 8:
        multiply_strip(A, a, a_row, a_term, F, f + c, f_term, terms, T, t + c, t_row, rows, add, LANES_8)
        c += 8
    if columns - c >= 4:
        multiply_strip(A, a, a_row, a_term, F, f + c, f_term, terms, T, t + c, t_row, rows, add, LANES_4)
        c += 4
    while c < columns:
        multiply_strip(A, a, a_row, a_term, F, f + c, f_term, terms, T, t + c, t_row, rows, add, LANES_1)
        c += 1
