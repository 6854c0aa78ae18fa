#!/bin/sh
# Expected: an output whose element type is f64 or i64 is computed in that type, or the type says otherwise.
# Found: the CPU plugin computes f64 as f32 and i64 as i32, and gives the results back as f64 and i64: 1e300 + 0 is
# 3.4e38, and 2^62 + 1 is 1. i8 saturates: 127 + 1 is 127.
# Where it matters: the rule set `openvino` has the declared types, and joist computes in them.
# openvino 2026.4.1, numpy 2.4.6, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q openvino==2026.4.1 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import numpy as np
import openvino as ov
from openvino import opset15 as op

print("openvino", ov.__version__, "numpy", np.__version__)
found = []
for dtype, x, y in (("f8", 1e300, 0), ("i8", 2**62, 1), ("i1", 127, 1)):
    given = [np.array([v], dtype) for v in (x, y)]
    inputs = [op.parameter([1], given[0].dtype.type) for _ in given]
    run = ov.Core().compile_model(ov.Model([op.add(*inputs)], inputs), "CPU")
    result = run(given)[0]
    found.append(result[0].item())
    print(f"{x} + {y} of {given[0].dtype}: {result.dtype} {result[0]}")
holds = abs(found[0] / 3.4028235e38 - 1) < 1e-6 and abs(found[1]) <= 2**31 and found[2] == 127
print("Computed in narrower types than declared." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
