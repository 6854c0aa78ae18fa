#!/bin/sh
# Expected: a number between the two least values of float8_e8m0fnu, 2^-127 and 2^-126, becomes the nearer one, as
# numbers between all other powers do (those up to 1.5 times a power become that power).
# Found: every number above 2^-127 becomes 2^-126, of float32, where 2^-127 is subnormal, and of float64, where it is
# not. Zero becomes NaN.
# Where it matters: scales of blocks below 2^-126 are up to twice what they should be; joist follows it in conversions.
# ml_dtypes 0.6.0, numpy 2.5.5, 30 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || exit 2
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q ml_dtypes==0.6.0 numpy==2.5.5 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__, "numpy", np.__version__)


def exponent(factor, power, dtype):
    made = np.array([factor * 2.0**power], dtype).astype(ml_dtypes.float8_e8m0fnu)
    return int(np.log2(float(made[0])))


holds = True
for dtype in (np.float32, np.float64):
    for factor in (1.0, 1.1, 1.4, 1.6):
        found = [exponent(factor, power, dtype) for power in (-127, -126, 0)]
        print(f"{dtype.__name__}, {factor} * 2^-127, 2^-126 and 1: exponents", *found)
        up = int(factor > 1.5)
        holds &= found == [-127 + (factor > 1), -126 + up, up]
zero = float(np.array([0.0], np.float32).astype(ml_dtypes.float8_e8m0fnu)[0])
print("0:", zero)
holds &= zero != zero
print("The least power is only for itself." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
