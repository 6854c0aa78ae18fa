#!/bin/sh
# Expected: the two complex dtypes of 16-bit parts have descriptors that differ, so that np.save() keeps which one it
# was, and their common dtype does not depend on the order.
# Found: both write '<W4', which NumPy cannot read back, so that a file does not say whether its parts are float16 or
# bfloat16. complex32 with bcomplex32 is bcomplex32 by np.promote_types() in both orders, but a sum has the dtype of
# one operand or the other; with float16 there is no common dtype, and a sum is complex64.
# Where it matters: nv_read_npy() cannot know the dtype of '<W4'; rules for complex32 differ between sums and joins.
# ml_dtypes 0.6.0, numpy 2.5.5, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || exit 2
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q ml_dtypes==0.6.0 numpy==2.5.5 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import io
import sys
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__, "numpy", np.__version__)
halves, brains = np.array([1 + 2j], ml_dtypes.complex32), np.array([1 + 2j], ml_dtypes.bcomplex32)
written = []
for x in (halves, brains):
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    try:
        read = np.load(file).dtype
    except Exception as error:
        read = type(error).__name__
    written.append((x.dtype.str, str(read)))
    print(f"{x.dtype}: written as {x.dtype.str}, read as {read}")


def common(x, y):
    try:
        return str(np.promote_types(x, y))
    except TypeError as error:
        return type(error).__name__


sums = [(halves + brains).dtype.name, (brains + halves).dtype.name]
print("common dtype:", common(halves.dtype, brains.dtype), common(brains.dtype, halves.dtype), " sums:", *sums)
beside = (halves + np.array([1], "f2")).dtype.name
print("with float16:", common(halves.dtype, "f2"), " sum:", beside)
holds = written[0] == written[1] and written[0][0] == "<W4" and beside == "complex64" and \
    common(halves.dtype, "f2") == "DTypePromotionError"
print("One descriptor for two dtypes." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
