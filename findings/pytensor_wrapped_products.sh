#!/bin/sh
# Expected: where PyTensor gives a product of int8 the type int8, it wraps: 100 * 100 is 16, and 16 / 3 is 5.33.
# Found: x * x is 16, but x * x / 3.0 is 3333.3: rewriting the graph moves the product into the float type of the
# quotient. mode=None, without rewriting, gives 5.33. A quotient 0 / NaN becomes 0 in the same way.
# Where it matters: values of the rule set `pytensor`; a function changes its results with the expression around it.
# pytensor 3.3.8, numpy 2.5.5, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || exit 2
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q pytensor==3.3.8 numpy==2.5.5 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode

print("pytensor", pytensor.__version__, "numpy", np.__version__)
x = pt.vector(dtype="int8")
given = np.array([100], "i1")
plain = Mode("py", None)
rewritten = Mode("py", "fast_compile")
alone = pytensor.function([x], x * x, mode=rewritten)(given)
inside = pytensor.function([x], x * x / 3.0, mode=rewritten)(given)
without = pytensor.function([x], x * x / 3.0, mode=plain)(given)
print("x * x:", (x * x).dtype, alone, " x * x / 3.0:", inside, " without rewriting:", without)
holds = alone[0] == 16 and abs(inside[0] - 10000 / 3) < 0.01 and abs(without[0] - 16 / 3) < 0.01
print("The product wraps alone, and not inside a quotient." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
