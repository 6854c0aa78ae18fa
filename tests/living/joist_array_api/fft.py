"""Fourier transforms: joist halves the last of several dimensions, which is the last axis."""
from .array import DTYPES, call, literal
from .dims import dim_of, dims_of
from .process import process


def _norm(norm):
    return f'"{norm}"'


def _along(name):
    def f(x, /, *, n=None, axis=-1, norm="backward"):
        return call(f"nv_{name}", x, n, dim_of(axis, x.ndim), _norm(norm))
    f.__name__ = f.__qualname__ = name
    return f


def _over(name, function):
    def f(x, /, *, s=None, axes=None, norm="backward"):
        if axes is None:
            axes = range(-x.ndim if s is None else -len(s), 0)
        return call(f"nv_{function}", x, s, dims_of(tuple(axes), x.ndim), _norm(norm))
    f.__name__ = f.__qualname__ = name
    return f


for _name in "fft ifft rfft irfft hfft ihfft".split():
    globals()[_name] = _along(_name)
for _name in "fft ifft rfft irfft".split():
    globals()[_name + "n"] = _over(_name + "n", _name)


def _frequencies(function, n, d, dtype):
    if dtype is None:
        dtype = DTYPES[process.run("format(default_dtype(1))")]
    return call(function, n, literal(float(d)), dtype)


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    return _frequencies("nv_fftfreq", n, d, dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    return _frequencies("nv_rfftfreq", n, d, dtype)


def fftshift(x, /, *, axes=None):
    return call("nv_fftshift", x, dims_of(axes, x.ndim))


def ifftshift(x, /, *, axes=None):
    return call("nv_ifftshift", x, dims_of(axes, x.ndim))
