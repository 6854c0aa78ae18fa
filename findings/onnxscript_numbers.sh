#!/bin/sh
# Expected: in eager mode, x + 1 of a float32 tensor and op.Add(x, 1) of a float32 array are one rule: both are
# float32, or both refused.
# Found: called with a NumPy array, a function takes 1 for int64 and refuses it beside float32; called with its own
# result, an eager tensor, it converts the number to the tensor's dtype: 1.5 is 1 beside int32, True is 1.
# Where it matters: the rule set `onnxscript`; whether c + 1 is refused depends on whether c was computed.
# onnxscript 0.7.2, onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q onnxscript==0.7.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import numpy as np
import onnxscript
from onnxscript import opset21 as op

print("onnxscript", onnxscript.__version__, "numpy", np.__version__)


def of(function, *operands):
    try:
        found = function(*operands)
        return f"{found.dtype} {found.value.tolist()}"
    except Exception as error:
        return type(error).__name__


array, whole = np.array([3], "f4"), np.array([3], "i4")
found = {}
for name, x, y in (("arrays", array, whole), ("tensors", op.Identity(array), op.Identity(whole))):
    found[name] = [of(op.Add, x, 1), of(op.Add, x, True), of(op.Add, y, 1.5)]
    print(f"{name:8} float32 + 1: {found[name][0]}, + True: {found[name][1]}, int32 + 1.5: {found[name][2]}")
holds = found["tensors"] == ["float32 [4.0]", "float32 [4.0]", "int32 [4]"] and \
    set(found["arrays"]) == {"EagerModeError"}
print("Numbers follow tensors and not arrays." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
