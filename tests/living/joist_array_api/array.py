"""The array object: the name of a tensor in the R process, its dtype and its shape."""
import math
import operator
import struct

from .process import lend, process, turned


class DType:
    def __init__(self, name, short, code):
        self.name, self.short, self.code = name, short, code

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, DType) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


# By joist's names; the last is how struct reads an element, or the parts of a complex one.
DTYPES = {short: DType(name, short, code) for name, short, code in [
    ("bool", "bool", "?"), ("int8", "i8", "b"), ("int16", "i16", "h"), ("int32", "i32", "i"),
    ("int64", "i64", "q"), ("uint8", "ui8", "B"), ("uint16", "ui16", "H"), ("uint32", "ui32", "I"),
    ("uint64", "ui64", "Q"), ("float32", "f32", "f"), ("float64", "f64", "d"),
    ("complex64", "c64", "f"), ("complex128", "c128", "d")]}
DEVICE = "cpu"


def kind_of(dtype):
    """b, i, u, f or c"""
    return dtype.short[0]


def literal(value, beside=None):
    """R code of a Python number, exact; `beside` is the dtype of the array that it meets."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        if abs(value) < 2**31:
            return f"({value}L)"
        if beside is not None and kind_of(beside) in "fc":
            return literal(float(value))
        # R has no integers beyond 32 bits.
        dtype = beside.short if beside is not None else "i64" if value < 2**63 else "ui64"
        wide = "ui64" if value >= 2**63 else "i64"
        return f"nv_convert(nv_scalar(\"{value}\", \"{wide}\"), \"{dtype}\")"
    if isinstance(value, complex):
        return f"complex(real = {literal(value.real)}, imaginary = {literal(value.imag)})"
    if math.isfinite(value):
        return f"({float(value).hex()})"
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "(-Inf)"


def vector(values):
    """R code of a vector of integers."""
    return "c(" + ", ".join(f"{value}L" for value in values) + ")" if values else "integer()"


def code_of(value):
    """R code of an argument; text is code already."""
    if isinstance(value, str):
        return value
    if isinstance(value, Array):
        return value.name
    if isinstance(value, DType):
        return f'"{value.short}"'
    if value is None:
        return "NULL"
    if isinstance(value, (tuple, list)):
        return vector(value)
    return literal(value)


def call(function, *arguments, **named):
    """The array that an R function gives."""
    parts = [code_of(value) for value in arguments]
    parts += [f"{name} = {code_of(value)}" for name, value in named.items()]
    return Array(*process.keep(f"{function}({', '.join(parts)})"))


def reversed_shape(shape):
    return list(shape)[::-1]


def upload(values, dtype, shape):
    """An array of Python numbers. They are written exactly, and rounded by nv_convert()."""
    kind = kind_of(dtype)
    wide = {"f": DTYPES["f64"], "c": DTYPES["c128"]}.get(kind, dtype)
    if kind == "c":
        values = [part for value in values for part in (complex(value).real, complex(value).imag)]
    elif kind == "f":
        values = [float(value) for value in values]
    elif kind == "b":
        values = [bool(value) for value in values]
    try:
        blob = struct.pack(f"<{len(values)}{wide.code}", *values)
    except struct.error as error:
        raise OverflowError(str(error)) from None
    made = f'nv_read_bin(blob, "{wide.short}", {vector(reversed_shape(shape))}, "little")'
    if wide != dtype:
        made = f'nv_convert({made}, "{dtype.short}")'
    return Array(*process.keep(made, blob))


class Array:
    def __init__(self, name, dtype, extents):
        self.name, self._dtype, self._shape = name, DTYPES[dtype], extents

    def __del__(self):
        process.dropped.append(self.name)

    def values(self):
        """The elements as Python numbers, the last axis first."""
        blob = process.run(f'nv_write_bin({self.name}, raw(), "little")')
        code = self._dtype.code
        numbers = struct.unpack(f"<{len(blob) // struct.calcsize(code)}{code}", blob)
        if kind_of(self._dtype) == "c":
            return [complex(*numbers[k:k + 2]) for k in range(0, len(numbers), 2)]
        return list(numbers)

    def item(self, convert):
        if self.size != 1 or self.ndim != 0:
            raise TypeError("only arrays of rank 0 become Python numbers")
        return convert(self.values()[0])

    def __repr__(self):
        return f"joist_array({self.values()}, shape={self.shape}, dtype={self.dtype})"

    # ---- attributes ----

    @property
    def dtype(self):
        return self._dtype

    @property
    def device(self):
        return DEVICE

    @property
    def shape(self):
        return self._shape

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def size(self):
        return math.prod(self._shape)

    @property
    def T(self):
        if self.ndim != 2:
            raise ValueError("T is of arrays of rank 2")
        return call("transposed", self)

    @property
    def mT(self):
        if self.ndim < 2:
            raise ValueError("mT is of arrays of rank 2 or more")
        return call("transposed", self)

    def __array_namespace__(self, *, api_version=None):
        import joist_array_api
        return joist_array_api

    def to_device(self, device, /, *, stream=None):
        if device != DEVICE:
            raise ValueError("there is one device, cpu")
        return self

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return turned(lend(self.name).__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy))

    # ---- Python numbers ----

    def __bool__(self):
        return self.item(bool)

    def __int__(self):
        return self.item(int)

    def __index__(self):
        if kind_of(self._dtype) not in "iu":
            raise TypeError("only integers are an index")
        return self.item(int)

    def __float__(self):
        return self.item(float)

    def __complex__(self):
        return self.item(complex)

    # ---- indexing ----

    def __getitem__(self, key, /):
        return take_indices(self, key)

    def __setitem__(self, key, value, /):
        set_indices(self, key, value)

    # ---- operators ----

    def __abs__(self):
        return call("nv_abs", self)

    def __neg__(self):
        return call("nv_negate", self)

    def __pos__(self):
        return self

    def __invert__(self):
        return call("nv_not" if kind_of(self._dtype) == "b" else "nv_bitwise_not", self)

    def __hash__(self):
        raise TypeError("arrays change")


NUMBERS = (bool, int, float, complex)


def elementwise(function, x, y):
    """f(x, y), where one may be a Python number. Ranks are made equal by elementwise() in R."""
    if isinstance(x, NUMBERS) and isinstance(y, Array):
        return Array(*process.keep(f"elementwise({function}, {literal(x, y.dtype)}, {y.name})"))
    if isinstance(y, NUMBERS) and isinstance(x, Array):
        return Array(*process.keep(f"elementwise({function}, {x.name}, {literal(y, x.dtype)})"))
    if not isinstance(x, Array) or not isinstance(y, Array):
        raise TypeError("one operand at least must be an array")
    return call("elementwise", function, x, y)


BINARY = {
    "add": "nv_add", "sub": "nv_sub", "mul": "nv_mul", "truediv": "nv_div",
    "floordiv": "floor_quotient", "mod": "nv_mod", "pow": "nv_pow", "and": "nv_bitwise_and",
    "or": "nv_bitwise_or", "xor": "nv_bitwise_xor", "lshift": "nv_shift_left",
    "rshift": "nv_shift_right_arithmetic", "eq": "nv_eq", "ne": "nv_ne", "lt": "nv_lt",
    "le": "nv_le", "gt": "nv_gt", "ge": "nv_ge", "matmul": "matrix_product",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGICAL = {"and": "nv_and", "or": "nv_or", "xor": "nv_xor"}


def _define(name, function):
    def both(self, other):
        if name == "matmul":
            return call(function, self, other) if isinstance(other, Array) else NotImplemented
        if not isinstance(other, (Array, *NUMBERS)):
            return NotImplemented
        if name in LOGICAL and kind_of(self._dtype) == "b":
            return elementwise(LOGICAL[name], self, other)
        return elementwise(function, self, other)

    def turned(self, other):
        if not isinstance(other, NUMBERS):
            return NotImplemented
        if name in LOGICAL and kind_of(self._dtype) == "b":
            return elementwise(LOGICAL[name], other, self)
        return elementwise(function, other, self)

    def forward(self, other, /):
        return both(self, other)

    def reflected(self, other, /):
        return turned(self, other)

    def in_place(self, other, /):
        result = both(self, other)
        if result is NotImplemented:
            return result
        if result.dtype != self.dtype or result.shape != self.shape:
            raise TypeError("the result does not fit the array")
        self.name, result.name = result.name, self.name
        return self

    setattr(Array, f"__{name}__", forward)
    if name not in COMPARISONS:
        setattr(Array, f"__r{name}__", reflected)
        setattr(Array, f"__i{name}__", in_place)


for _name, _function in BINARY.items():
    _define(_name, _function)


# ---- indices: positions of each axis, from 1 on and in the order of joist's dimensions ----

def basic_positions(x, key):
    """For each axis its positions, and the shape of the result."""
    positions, shape, axis = [], [], 0
    given = sum(1 for k in key if k is not None and k is not Ellipsis)
    if given > x.ndim:
        raise IndexError("too many indices")
    if Ellipsis not in [k for k in key if not isinstance(k, Array)]:
        key = (*key, Ellipsis)
    for k in key:
        if k is None:
            shape.append(1)
        elif k is Ellipsis:
            for _ in range(x.ndim - given):
                positions.append(range(x.shape[axis]))
                shape.append(x.shape[axis])
                axis += 1
        elif isinstance(k, slice):
            start, stop, step = (None if p is None else operator.index(p) for p in
                                 (k.start, k.stop, k.step))
            taken = range(*slice(start, stop, step).indices(x.shape[axis]))
            positions.append(taken)
            shape.append(len(taken))
            axis += 1
        else:
            at = operator.index(k)
            if not -x.shape[axis] <= at < x.shape[axis]:
                raise IndexError("index out of range")
            positions.append([at % x.shape[axis]])
            axis += 1
    return positions, shape


def span(positions):
    """R code of positions."""
    if isinstance(positions, range) and len(positions) > 1:
        return f"seq.int({positions[0] + 1}L, {positions[-1] + 1}L, {positions.step}L)"
    return vector([p + 1 for p in positions])


def as_key(key):
    return key if isinstance(key, tuple) else (key,)


def take_indices(x, key):
    key = as_key(key)
    if any(isinstance(k, Array) and kind_of(k.dtype) == "b" for k in key):
        mask = key[0]
        # (An extent of 0 fits any.)
        if len(key) != 1 or mask.ndim > x.ndim or not all(
                m in (n, 0) for m, n in zip(mask.shape, x.shape)):
            raise IndexError("a mask has the extents of the first axes, and is the only index")
        if mask.shape != x.shape or x.ndim == 0:
            return call("masked", x, mask)
        return Array(*process.keep(f"{x.name}[{mask.name}]"))
    if any(isinstance(k, Array) and k.ndim > 0 for k in key):
        return take_arrays(x, key)
    positions, shape = basic_positions(x, key)
    taken = x.name
    if x.ndim > 0:
        taken = f"{x.name}[{', '.join(span(p) for p in positions[::-1])}, drop = FALSE]"
    return Array(*process.keep(f"nv_reshape({taken}, {vector(shape[::-1])})"))


def take_arrays(x, key):
    """Integer arrays and integers, one for each axis."""
    if len(key) != x.ndim:
        raise IndexError("integer arrays are an index of all axes")
    arrays = [k if isinstance(k, Array) else upload([operator.index(k)], DTYPES["i64"], ())
              for k in key]
    return call("pick", x, *arrays[::-1])


def set_indices(x, key, value):
    key = as_key(key)
    if not isinstance(value, Array):
        # A number of the array's kind: an int for floats is a float.
        value = upload([value], x.dtype, ())
    if len(key) == 1 and isinstance(key[0], Array) and kind_of(key[0].dtype) == "b":
        new = "{ x <- %s; x[%s] <- %s; x }" % (x.name, key[0].name, value.name)
    else:
        positions, shape = basic_positions(x, key)
        filled = f"broadcast({value.name}, {vector(shape[::-1])})"
        if x.ndim == 0:
            new = "{ x <- %s; x[[1L]] <- nv_reshape(%s, integer()); x }" % (x.name, filled)
        elif 0 in map(len, positions):
            return
        else:
            new = "{ x <- %s; x[%s] <- nv_flatten(%s); x }" % (
                x.name, ", ".join(span(p) for p in positions[::-1]), filled)
    changed = Array(*process.keep(new))
    x.name, changed.name = changed.name, x.name
