#!/bin/sh
# Expected: Numba gives x + 1, of an array of uint64, the type float64, as NumPy 1 did for uint64 + int64, and
# computes it in float64: 2^63 + 2 plus 1 is 9.2e18.
# Found: the sum is computed in int64 and then converted, so that values from 2^63 on come out negative, as
# floats; the same array plus an array of int64 does so, too. NumPy gives 9223372036854775811 and 9.2e18.
# Where it matters: the rule set `numba` and comparisons of values with it: the declared type is not the one
# that is computed in.
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
x = np.array([2**63 + 2, 2**53 + 1], "u8")
ones = np.array([1, 1], "i8")


@numba.njit
def plus_one(x):
    return x + 1


@numba.njit
def plus(x, y):
    return x + y


one, two = plus_one(x), plus(x, ones)
print("x + 1:     numba", one, one.dtype, "NumPy", x + 1)
print("x + ones:  numba", two, two.dtype, "NumPy", x + ones)
holds = all(r.dtype == "f8" and r[0] == -2.0**63 and r[1] == 2.0**53 + 2 for r in (one, two))
print("The sum is declared float64 and computed in int64." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
