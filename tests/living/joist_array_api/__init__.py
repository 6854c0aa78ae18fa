"""The array API standard as a namespace in which joist computes.

Nothing is computed here: a function writes R code, which runs in the R of this process
(process.py) with arrays that stay there. Python numbers become R numbers or bytes, and bytes Python numbers.
Where one function of joist is not one of the standard, compositions.R says what it is made of;
some, such as roll(), are an index that is written here.
"""
import math as _math
import os as _os
from types import SimpleNamespace as _Namespace
from typing import NamedTuple as _NamedTuple

from . import fft  # noqa: F401
from . import linalg  # noqa: F401
from .array import DEVICE as _DEVICE
from .array import DTYPES as _DTYPES
from .array import NUMBERS as _NUMBERS
from .array import Array as _Array
from .array import DType as _DType
from .array import call as _call
from .array import code_of as _code_of
from .array import elementwise as _elementwise
from .array import kind_of as _kind_of
from .array import literal as _literal
from .array import reversed_shape as _reversed_shape
from .array import upload as _upload
from .array import vector as _vector
from .dims import dim_of as _dim_of
from .dims import dims_of as _dims_of
from .linalg import (  # noqa: F401
    matmul, matrix_transpose, tensordot, vecdot)
from .process import Turned as _Turned
from .process import borrow as _borrow
from .process import process as _process
from .shapes import (  # noqa: F401
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, diff, expand_dims, flip, moveaxis,
    permute_dims, repeat, reshape, roll, squeeze, stack, take, tile, unstack)

__array_api_version__ = _os.environ.get("ARRAY_API_TESTS_VERSION", "2025.12")
__version__ = _process.run('format(packageVersion("joist"))')

# Python's, by the side of the standard's of the same names.
_bool, _all, _any, _max, _min = bool, all, any, max, min

for _dtype in _DTYPES.values():
    globals()[_dtype.name] = _dtype
_float32, _float64, _int64 = _DTYPES["f32"], _DTYPES["f64"], _DTYPES["i64"]

e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None


def _default(code):
    return _DTYPES[_process.run(f"format(default_dtype({code}))")]


# ---- creation ----

def _flatten(obj):
    """The numbers in nested sequences, and their shape."""
    if not isinstance(obj, (list, tuple)):
        return [obj], ()
    parts = [_flatten(part) for part in obj]
    if _any(shape != parts[0][1] for _, shape in parts):
        raise ValueError("sequences of different lengths")
    inner = parts[0][1] if parts else ()
    return [value for values, _ in parts for value in values], (len(obj), *inner)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, _Array):
        if dtype is not None and dtype != obj.dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return astype(obj, dtype)
        return _call("identity", obj) if copy else obj
    values, shape = _flatten(obj)
    values = [value.item(complex if _kind_of(value.dtype) == "c" else lambda x: x)
              if isinstance(value, _Array) else value for value in values]
    if dtype is None:
        kinds = {type(value) for value in values} or {float}
        code = next(code for kind, code in
                    ((complex, "1i"), (float, "1"), (int, "1L"), (_bool, "TRUE")) if kind in kinds)
        dtype = _default(code)
    return _upload(values, dtype, shape)


def from_dlpack(x, /, *, device=None, copy=None):
    if device not in (None, _DEVICE):
        raise ValueError("there is one device, cpu")
    if not isinstance(x, _Array):
        if copy is False:
            raise BufferError("the order of dimensions of other libraries needs a copy")
        return permute_dims(_Array(*_borrow(x)), tuple(range(len(x.shape)))[::-1])
    return _Array(*_borrow(_Turned(x)))


def full(shape, fill_value, *, dtype=None, device=None):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if dtype is None:
        return _call("nv_fill", _literal(fill_value), _vector(_reversed_shape(shape)))
    return _call("broadcast", _upload([fill_value], dtype, ()), _vector(_reversed_shape(shape)))


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype)


def zeros(shape, *, dtype=None, device=None):
    return full(shape, 0.0 if dtype is None or _kind_of(dtype) in "fc" else 0, dtype=dtype)


def ones(shape, *, dtype=None, device=None):
    return full(shape, 1.0 if dtype is None or _kind_of(dtype) in "fc" else 1, dtype=dtype)


def empty(shape, *, dtype=None, device=None):
    return zeros(shape, dtype=dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    return zeros(x.shape, dtype=dtype or x.dtype)


def ones_like(x, /, *, dtype=None, device=None):
    return ones(x.shape, dtype=dtype or x.dtype)


def empty_like(x, /, *, dtype=None, device=None):
    return zeros_like(x, dtype=dtype)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = _all(isinstance(x, int) for x in (start, stop, step))
        dtype = _default("1L" if whole else "1")
    n = _max(_math.ceil((stop - start) / step), 0)
    if _kind_of(dtype) in "fc":
        start, step = float(start), float(step)
    return _call("count_up", dtype, n, _literal(start, _int64), _literal(step, _int64))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if dtype is None:
        dtype = _default("1i" if _any(isinstance(x, complex) for x in (start, stop)) else "1")
    start, stop = (_literal(complex(x) if _kind_of(dtype) == "c" else float(x))
                   for x in (start, stop))
    return _call("spaced", dtype, _vector([num]), start, stop, endpoint)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    n_cols = n_rows if n_cols is None else n_cols
    k = _max(-n_rows, k) if k < 0 else _min(k, n_cols)
    return _call("unit_matrix", dtype or _default("1"), n_cols, n_rows, k)


def tril(x, /, *, k=0):
    return _call("nv_triu", x, -k)


def triu(x, /, *, k=0):
    return _call("nv_tril", x, -k)


def meshgrid(*arrays, indexing="xy"):
    n = len(arrays)
    order = list(range(n))
    if indexing == "xy" and n > 1:
        order[:2] = [1, 0]
    parts = []
    for axis, x in zip(order, arrays):
        shape = [1] * n
        shape[axis] = x.size
        parts.append(reshape(x, tuple(shape)))
    return broadcast_arrays(*parts)


# ---- dtypes ----

def astype(x, dtype, /, *, copy=True, device=None):
    if dtype == x.dtype and not copy:
        return x
    if _kind_of(x.dtype) == "c" and _kind_of(dtype) != "c":
        raise TypeError("complex numbers have two parts")
    return _call("nv_convert", x, dtype)


def _dtype_of(x):
    return x if isinstance(x, _DType) else x.dtype


def can_cast(from_, to, /):
    return _process.run(f"can_cast({_code_of(_dtype_of(from_))}, {_code_of(to)})") == "TRUE"


def result_type(*arrays_and_dtypes):
    dtypes = [_dtype_of(x) for x in arrays_and_dtypes if not isinstance(x, _NUMBERS)]
    parts = [_literal(x, dtypes[0]) if isinstance(x, _NUMBERS) else _code_of(_dtype_of(x))
             for x in arrays_and_dtypes]
    return _DTYPES[_process.run(f"format(result_dtype({', '.join(parts)})$dtype)")]


class finfo_object(_NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: object


class iinfo_object(_NamedTuple):
    bits: int
    max: int
    min: int
    dtype: object


def finfo(type, /):
    dtype = _dtype_of(type)
    digits, exponent = (24, 128) if dtype.short in ("f32", "c64") else (53, 1024)
    if _kind_of(dtype) not in "fc":
        raise TypeError("no float")
    real = _float32 if digits == 24 else _float64
    largest = _math.ldexp(2 - 2.0 ** (1 - digits), exponent - 1)
    return finfo_object(32 if digits == 24 else 64, 2.0 ** (1 - digits), largest, -largest,
                        2.0 ** (2 - exponent), real)


def iinfo(type, /):
    dtype = _dtype_of(type)
    if _kind_of(dtype) not in "iu":
        raise TypeError("no integer")
    bits = int(dtype.short.lstrip("ui"))
    if _kind_of(dtype) == "u":
        return iinfo_object(bits, 2**bits - 1, 0, dtype)
    return iinfo_object(bits, 2 ** (bits - 1) - 1, -2 ** (bits - 1), dtype)


_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
    "real floating": "f", "complex floating": "c", "numeric": "iufc",
}


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return _any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, _DType):
        return dtype == kind
    return _kind_of(dtype) in _KINDS[kind]


def _dtypes(*, device=None, kind=None):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return {d.name: d for d in _DTYPES.values()
            if kind is None or _any(isdtype(d, k) for k in kinds)}


def _default_dtypes(*, device=None):
    return {"real floating": _default("1"), "complex floating": _default("1i"),
            "integral": _default("1L"), "indexing": _int64}


def __array_namespace_info__():
    return _Namespace(
        capabilities=lambda: {
            "boolean indexing": True, "data-dependent shapes": True, "max dimensions": None},
        default_device=lambda: _DEVICE, devices=lambda: (_DEVICE,) if __array_api_version__ >= "2025" else [_DEVICE],
        default_dtypes=_default_dtypes, dtypes=_dtypes)


# ---- elementwise: the same function of joist ----

def _unary(name, function):
    def f(x, /):
        return _call(function, x)
    f.__name__ = f.__qualname__ = name
    return f


def _binary(name, function):
    def f(x1, x2, /):
        return _elementwise(function, x1, x2)
    f.__name__ = f.__qualname__ = name
    return f


for _name in ("abs acos acosh asin asinh atan atanh cos cosh exp expm1 floor log log1p log2 log10"
              " round sign sin sinh sqrt tan trunc conj real imag").split():
    globals()[_name] = _unary(_name, f"nv_{_name}")
for _name, _function in {
        "ceil": "nv_ceiling", "isfinite": "nv_is_finite", "isinf": "nv_is_infinite",
        "isnan": "nv_is_nan", "tanh": "hyperbolic_tangent", "signbit": "nv_signbit", "logical_not": "nv_not", "negative": "nv_negate"}.items():
    globals()[_name] = _unary(_name, _function)
for _name, _function in {
        "add": "nv_add", "atan2": "nv_atan2", "bitwise_left_shift": "nv_shift_left",
        "bitwise_right_shift": "nv_shift_right_arithmetic", "divide": "nv_div",
        "copysign": "nv_copysign", "hypot": "nv_hypot", "logaddexp": "nv_logaddexp",
        "nextafter": "nv_nextafter", "equal": "nv_eq", "floor_divide": "floor_quotient", "greater": "nv_gt",
        "greater_equal": "nv_ge", "less": "nv_lt", "less_equal": "nv_le",
        "logical_and": "nv_and", "logical_or": "nv_or", "logical_xor": "nv_xor",
        "maximum": "nv_max", "minimum": "nv_min", "multiply": "nv_mul", "not_equal": "nv_ne",
        "pow": "nv_pow", "remainder": "nv_mod", "subtract": "nv_sub"}.items():
    globals()[_name] = _binary(_name, _function)


# The standard's one function of bools and integers is two of joist.

def _is_bool(*operands):
    return _any(isinstance(x, _Array) and _kind_of(x.dtype) == "b" for x in operands)


def bitwise_and(x1, x2, /):
    return _elementwise("nv_and" if _is_bool(x1, x2) else "nv_bitwise_and", x1, x2)


def bitwise_or(x1, x2, /):
    return _elementwise("nv_or" if _is_bool(x1, x2) else "nv_bitwise_or", x1, x2)


def bitwise_xor(x1, x2, /):
    return _elementwise("nv_xor" if _is_bool(x1, x2) else "nv_bitwise_xor", x1, x2)


def bitwise_invert(x, /):
    return ~x


def clip(x, /, min=None, max=None):
    low, high = (b if b is None or isinstance(b, _Array) else _literal(b, x.dtype)
                 for b in (min, max))
    return _call("clip", x, low, high)


def positive(x, /):
    return +x


def square(x, /):
    return x * x


def reciprocal(x, /):
    return _elementwise("nv_div", 1.0, x)


def where(condition, x1, x2, /):
    beside = next((x.dtype for x in (x1, x2) if isinstance(x, _Array)), None)
    x1, x2 = (x if isinstance(x, _Array) else _literal(x, beside) for x in (x1, x2))
    return _call("choose", condition, x1, x2)


# ---- reductions ----

def _reduction(name, function, typed=False):
    def f(x, /, *, axis=None, keepdims=False):
        return _call(function, x, _dims_of(axis, x.ndim), not keepdims)

    def g(x, /, *, axis=None, dtype=None, keepdims=False):
        return _call(function, x, _dims_of(axis, x.ndim), not keepdims, dtype)

    f = g if typed else f
    f.__name__ = f.__qualname__ = name
    return f


for _name, _function in {
        "max": "nv_reduce_max", "min": "nv_reduce_min", "mean": "nv_mean",
        "all": "nv_reduce_all", "any": "nv_reduce_any",
        "count_nonzero": "nv_count_nonzero"}.items():
    globals()[_name] = _reduction(_name, _function)
sum = _reduction("sum", "nv_reduce_sum", True)
prod = _reduction("prod", "nv_reduce_prod", True)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _call("nv_var", x, _dims_of(axis, x.ndim), not keepdims, float(correction))


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return _call("nv_sd", x, _dims_of(axis, x.ndim), not keepdims, float(correction))


def _scan(function, x, axis, dtype, initial):
    if axis is None:
        if x.ndim > 1:
            raise ValueError("axis is needed")
        axis = 0
    if x.ndim == 0:
        x = _call("nv_flatten", x)
    return _call("scan_sum", function, x, _dim_of(axis, x.ndim), dtype, initial)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _scan("nv_cumsum", x, axis, dtype, "0L" if include_initial else None)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _scan("nv_cumprod", x, axis, dtype, "1L" if include_initial else None)


def _position(function, x, axis, keepdims):
    dim = None if axis is None else _dim_of(axis, x.ndim)
    at = _call(function, x, dim, not keepdims)
    return _call("from_zero", at)


def argmax(x, /, *, axis=None, keepdims=False):
    return _position("nv_argmax", x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    return _position("nv_argmin", x, axis, keepdims)


# ---- sorting and searching ----

def sort(x, /, *, axis=-1, descending=False, stable=True):
    return _call("nv_sort", x, _dim_of(axis, x.ndim), descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return _call("from_zero", _call("nv_argsort", x, _dim_of(axis, x.ndim), descending))


def nonzero(x, /):
    if x.ndim == 0:
        raise ValueError("an array of rank 0 has no positions")
    found = _call("nonzero", x)  # a column for each of joist's dimensions
    return tuple(_Array(*_process.keep(f"column_of({found.name}, {x.ndim - axis}L)"))
                 for axis in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    if not isinstance(x2, _Array):
        x2 = _literal(x2, x1.dtype)
    return _call("nv_convert", _call("nv_searchsorted", x1, x2, f'"{side}"'), _int64)


class UniqueAll(_NamedTuple):
    values: object
    indices: object
    inverse_indices: object
    counts: object


class UniqueCounts(_NamedTuple):
    values: object
    counts: object


class UniqueInverse(_NamedTuple):
    values: object
    inverse_indices: object


def unique_values(x, /):
    return _call("distinct", x)


def _values_and_positions(x):
    values = unique_values(x)
    return values, _call("inverse_of", x, values)  # from 1 on


def _counts(values, positions):
    return _call("nv_tabulate", positions, values.size)


def unique_inverse(x, /):
    values, positions = _values_and_positions(x)
    return UniqueInverse(values, _call("from_zero", positions))


def unique_counts(x, /):
    values, positions = _values_and_positions(x)
    return UniqueCounts(values, _counts(values, positions))


def unique_all(x, /):
    values, positions = _values_and_positions(x)
    return UniqueAll(values, _call("from_zero", _call("first_of", x, values)),
                     _call("from_zero", positions), _counts(values, positions))


def isin(x1, x2, /, *, invert=False):
    beside = next((x.dtype for x in (x1, x2) if isinstance(x, _Array)), None)
    x1, x2 = (x if isinstance(x, _Array) else _literal(x, beside) for x in (x1, x2))
    return _call("is_in", x1, x2, invert)


def take_along_axis(x, indices, /, *, axis=-1):
    return _call("take_along", x, indices, _dim_of(axis, x.ndim))
