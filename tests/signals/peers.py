"""What NumPy and SciPy give for the calls of calls.csv, in double, beside joist's results."""
import warnings

import numpy as np
import scipy.fft as fft
import scipy.linalg
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats

warnings.simplefilter("ignore")
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64,
         "c64": np.complex64, "c128": np.complex128}


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


def judge(call, operands, dtype, computed, got):
    """What is wrong with a result, or "". `operands` are in double, `computed` is its dtype."""
    names = {"x": np.from_dlpack(operands[0]), "d": TYPES[dtype]}
    if len(operands) > 1:
        names["y"] = np.from_dlpack(operands[1])
    want = np.asarray(eval(call["peer"], globals(), names))
    got = np.from_dlpack(got)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.size == 0:
        return ""
    if call["name"] == "eigenvalues":
        want = paired(got, want)
    info = np.finfo(TYPES.get(computed, np.float64))
    most = float(info.max)
    bound, size = float(call["bound"]), np.abs(want)
    finite = np.isfinite(want)
    if call["scale"] in ("all", "lines"):
        size = np.full(want.shape, np.sqrt(np.mean(size[finite]**2)) if finite.any() else 0)
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
