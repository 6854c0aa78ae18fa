#!/bin/sh
# Expected: a Python number that uint8 does not hold is an error beside a uint8 tensor, as in NumPy 2, or a wider dtype.
# Found: it wraps: tf.constant(65535, tf.uint8) is 255, and beside uint8 100, + 65535 is 99, / 256 is infinity.
# Where it matters: the rule set `tensorflow_2`: joist refuses such numbers in sums, and divides by their values.
# tensorflow 2.21.0 (CPU), 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q tensorflow-cpu==2.21.0 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

print("tensorflow", tf.__version__)
x = tf.constant([100], tf.uint8)
found = [float(y.numpy().ravel()[0]) for y in (tf.constant(65535, tf.uint8), x + 65535, x / 256)]
print("65535 as uint8:", found[0], " 100 + 65535:", found[1], " 100 / 256:", found[2])
holds = found == [255, 99, float("inf")]
print("Numbers wrap." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
