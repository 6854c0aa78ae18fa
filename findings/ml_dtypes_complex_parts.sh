#!/bin/sh
# Expected: converting complex128 to complex32 rounds each part once, as float64 to float16 does in NumPy; the real part
# of a complex array is an array of real numbers.
# Found: parts are rounded to float32 first, so that a number just above the middle of two halves goes down; complex64
# and float64 round rightly. np.real() and np.imag() of complex32 give complex32 again, and a product of matrices is
# complex64 where sums and products keep complex32.
# Where it matters: conversions of c128 to c32 are right in joist and differ from ml_dtypes in such numbers.
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
above = 1 + 2.0**-11 + 2.0**-40
x = np.array([complex(above, 0)])
complex_part = complex(x.astype(ml_dtypes.complex32)[0]).real
real = float(np.array([above]).astype(np.float16)[0])
print(f"1 + 2^-11 + 2^-40 as complex32: {complex_part}, as float16: {real}")
y = np.array([[1 + 2j, 0], [0, 1]], ml_dtypes.complex32)
kinds = [str(v.dtype) for v in (np.real(y), np.imag(y), y + y, y * y, y @ y)]
print("dtypes of real, imag, +, *, @:", *kinds)
holds = complex_part == 1 and real > 1 and kinds == ["complex32"] * 4 + ["complex64"]
print("Parts are rounded twice, and are complex." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
