#!/bin/sh
# Expected: x + y + z of arrays in a function that Numba compiles is what `s = x + y; s + z` is, and what NumPy
# gives: the sum of int32 and uint8 is int32 and wraps, the quotient of uint8 and uint16 is float32.
# Found: an expression is computed as one loop over scalars, which Numba types as scalars: int32 + uint8 is an
# int64 inside and does not wrap, uint8 / uint16 is a float64. With a name for the first result, it wraps.
# Where it matters: values of the rule set `numba`, and ported functions: a name for a partial result changes
# what comes out.
# numba 0.68.1, numpy 2.4.6, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q numba==0.68.1 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import numba
import numpy as np

print("numba", numba.__version__, "numpy", np.__version__)


@numba.njit
def at_once(x, y, z):
    return x + y + z


@numba.njit
def in_steps(x, y, z):
    s = x + y
    return s + z


i, u, zero = np.array([2**31 - 1], "i4"), np.array([2], "u1"), np.array([0], "f4")
wide, wrapped = at_once(i, u, zero), in_steps(i, u, zero)
print("i32 + ui8 + f32 at once:  ", wide, wide.dtype)
print("i32 + ui8 + f32 in steps: ", wrapped, wrapped.dtype, " NumPy:", i + u + zero)
holds = wide[0] == 2.0**31 and wrapped[0] == -2.0**31 and wide.dtype == wrapped.dtype
print("A name for a partial result changes the result." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
