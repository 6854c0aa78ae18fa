#!/bin/sh
# Expected: np.sort() puts NaN last for every float dtype, as it does for NumPy's own float16, and
# np.unique() gives sorted values once each.
# Found: for the floats of ml_dtypes, one NaN leaves the numbers themselves unsorted, and np.unique()
# gives them in that order; np.searchsorted() counts wrongly in what np.sort() returns.
# Where it matters: joist's sort(), order(), unique() and nv_searchsorted() of bf16 and the floats of a
# byte cannot be compared with NumPy's if there is a NaN; arrays that Python has "sorted" may not be.
# ml_dtypes 0.6.0, numpy 2.4.6, 28 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q ml_dtypes==0.6.0 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__, "numpy", np.__version__)
values = np.array([3, np.nan, 1, np.nan, 2], "f4")
holds = True
for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
    x = values.astype(dtype)
    ordered, unique = np.sort(x), np.unique(x)
    found = np.searchsorted(ordered, x[[0, 2, 4]])
    numbers = ordered[~np.isnan(ordered)].astype("f4")
    in_order = bool(np.all(numbers[:-1] <= numbers[1:]))
    print(f"{np.dtype(dtype).name:14} sort: {ordered}, unique: {unique}, searchsorted: {found}")
    holds = holds and in_order == (dtype is np.float16)
    print(f"{'':14} the numbers are", "in order" if in_order else "not in order")
print("Only NumPy's own float is sorted." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
