#!/bin/sh
# Expected: lazy expressions of blosc2 arrays give what NumPy gives for the same operands, so i32 / i32 is
# 3.5 for 7 and 2, % takes the sign of the divisor, and both are the same in a longer expression.
# Found: the dtype of / is a float, but the quotient is truncated, and % takes the sign of the dividend;
# where // stands anywhere in the expression, the same / and % are NumPy's. A scalar divisor is right.
# Where it matters: rule sets and the atlas. A table of dtypes cannot describe this: the dtypes are as
# expected, only values differ, and they depend on other parts of the expression.
# blosc2 4.14.0, numpy 2.4.6, 28 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q blosc2==4.14.0 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import blosc2
import numpy as np

print("blosc2", blosc2.__version__, "numpy", np.__version__)
x, y = np.array([-7, 7, 9], "i4"), np.array([2, -2, 4], "i4")
a, b = blosc2.asarray(x), blosc2.asarray(y)
seen = {
    "a / b": (a / b)[:],
    "a / b + a // b": (a / b + a // b)[:],
    "a % b": (a % b)[:],
    "a % b + a // b": (a % b + a // b)[:],
}
theirs = {
    "a / b": x / y,
    "a / b + a // b": x / y + x // y,
    "a % b": x % y,
    "a % b + a // b": x % y + x // y,
}
for text, value in seen.items():
    print(f"{text:15} blosc2: {value} {value.dtype}, NumPy: {theirs[text]}")
truncated = np.array_equal(seen["a / b"], [-3, -3, 2]) and seen["a / b"].dtype.kind == "f"
dividend = np.array_equal(seen["a % b"], [-1, 1, 1])
beside = all(np.array_equal(seen[text], theirs[text]) for text in seen if "//" in text)
holds = truncated and dividend and beside
print("Quotients are truncated and remainders take the sign of the dividend, except beside //."
      if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
