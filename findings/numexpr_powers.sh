#!/bin/sh
# Expected: numexpr computes i ** 2.0 and i ** 2.5, of an array of int32, in float64, as NumPy does.
# Found: i ** 2.0 has the type int32 and wraps (50000 ** 2.0 is -1794967296). i ** 2.5 has the type float64, but
# is i * i, wrapped in int32, times sqrt(i): 50000 ** 2.5 is negative. And uint64 is read as int64: 2^63 + 2 is
# not greater than 4.
# Where it matters: the rule set `numexpr`, in which the type of a power depends on the value of the exponent;
# values of pandas' eval() and query(), which use numexpr.
# numexpr 2.14.2, numpy 2.4.6, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q numexpr==2.14.2 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import numexpr
import numpy as np

print("numexpr", numexpr.__version__, "numpy", np.__version__)
i = np.array([50000, 4], "i4")
u = np.array([2**63 + 2, 5], "u8")
square, half, greater = (numexpr.evaluate(text) for text in ("i ** 2.0", "i ** 2.5", "u > 4"))
print("i ** 2.0:", square, square.dtype, "NumPy:", i ** 2.0)
print("i ** 2.5:", half, half.dtype, "NumPy:", i ** 2.5)
print("u > 4:   ", greater, "NumPy:", u > 4)
wrapped = float(np.int32(50000 * 50000 - 2**32)) * np.sqrt(50000.0)
holds = (square.dtype == "i4" and square[0] == 50000 * 50000 - 2**32 and half.dtype == "f8"
         and np.isclose(half[0], wrapped) and not greater[0])
print("Powers of integers wrap in int32, whatever their type." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
