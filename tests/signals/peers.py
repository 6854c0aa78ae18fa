"""What NumPy and SciPy give for the calls of calls.csv, in double, beside joist's results."""
import warnings

import ml_dtypes
import numpy as np
import scipy.fft as fft
import scipy.linalg
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats
from scipy.signal import correlate2d

warnings.simplefilter("ignore")
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
         "c64": np.complex64, "c128": np.complex128, "i8": np.int8, "i16": np.int16,
         "i32": np.int32, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}
FLOATS = ("f16", "bf16", "f32", "f64", "c64", "c128")


def tent(d):
    return np.maximum(1 - d, 0)


def keys(d):
    near, far = ((1.5 * d - 2.5) * d) * d + 1, ((-0.5 * d + 2.5) * d - 4) * d + 2
    return np.where(d < 1, near, np.where(d < 2, far, 0))


def resize(x, size, kernel, smooth):
    n = len(x)
    at = (np.arange(size) + 0.5) * n / size - 0.5
    weights = kernel(np.abs(at[:, None] - np.arange(n)) / (max(n / size, 1) if smooth else 1))
    return np.tensordot(weights / weights.sum(1, keepdims=True), x, 1)


def paired(got, want):
    """Eigenvalues in the order of those they are closest to."""
    left = list(want)
    return np.array([left.pop(int(np.argmin(np.abs(np.array(left) - g)))) for g in got])


def digits(x, d, change):
    """The numbers whose binary digits `change` makes of those of x."""
    width = 8 * np.dtype(d).itemsize
    changed = [int(change(f"{int(v) % 2**width:0{width}b}"), 2) for v in x.ravel()]
    return np.array(changed, f"u{width // 8}").view(d).reshape(x.shape)


def drawn(got, law):
    """The numbers, if they may be drawn from a distribution, otherwise NaN."""
    between = (law.cdf(got) + law.cdf(got - 1)) / 2 if hasattr(law, "pmf") else law.cdf(got)
    away = np.abs(np.mean(between) - 0.5) * np.sqrt(12 * got.size)
    return got if away < 5 and np.all(between > 0) else np.full(got.shape, np.nan)


def judge(call, operands, dtype, computed, got):
    """What is wrong with a result, or "". `operands` are in double, `computed` is its dtype."""
    got = np.from_dlpack(got)
    names = {"x": np.from_dlpack(operands[0]), "d": TYPES[dtype], "got": got}
    if len(operands) > 1:
        names["y"] = np.from_dlpack(operands[1])
    want = np.asarray(eval(call["peer"], globals(), names))
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.size == 0:
        return ""
    if call["name"] == "eigenvalues":
        want = paired(got, want)
    info = ml_dtypes.finfo(TYPES[computed] if computed in FLOATS else np.float64)
    most = float(info.max)
    bound, size = float(call["bound"]), np.abs(want)
    if call["scale"] in ("all", "lines"):
        among = [want, names["x"]] if want.size == 1 and call["scale"] == "all" else [want]
        means = [np.mean(np.abs(part[np.isfinite(part)])**2) for part in among]
        size = np.full(want.shape, np.sqrt(np.nanmax(means)))
        bound *= 1 + np.log2(want.size) if call["scale"] == "lines" else 4
    elif call["scale"] == "operands":
        for name in ("x", "y"):
            size = np.maximum(size, np.abs(names[name]))
    elif call["scale"] == "matrix":
        x = names["x"]
        condition = 1 if min(x.shape) == 0 else np.linalg.cond(x)
        size = np.full(want.shape, max(1, np.max(size)) * condition * max(x.shape))
    # The peers' results have errors of their own.
    allowed = size * (bound * float(info.eps) + (1e-12 if bound > 0 else 0))
    allowed = allowed + float(info.smallest_subnormal) * (bound > 0)
    for parts in ((np.real(got), np.real(want)), (np.imag(got), np.imag(want))):
        g, w = (np.asarray(part, float) for part in parts)
        beyond = np.isinf(g) & (np.abs(w) > most * (1 - float(info.eps))) & (g * w > 0)
        with np.errstate(all="ignore"):
            near = np.abs(g - w) <= allowed
        alike = (np.isnan(g) & np.isnan(w)) | (g == w) | beyond | near
        if not alike.all():
            k = np.unravel_index(np.argmin(alike), alike.shape)
            at = {name: value[k] for name, value in names.items()
                  if name != "d" and value.shape == want.shape}
            off = np.abs(g[k] - w[k]) / (allowed[k] if bound > 0 else 1)
            return f"{g[k]!r} instead of {w[k]!r} ({off:.2g} times what is allowed) at {k} {at}"
    return ""
