#!/bin/sh
# Expected: x ** y has the common dtype of x and y, whatever their shapes and in jit() or not: an array without
# dimensions has a dtype, and only Python numbers are weak.
# Found: an integer array without dimensions is taken as a Python number where its value is known: int32 ** int64 is
# int32, bool ** int64 is int32. In jit(), where it is not known, and with one dimension, both are int64.
# Where it matters: the rule set `jax`: joist gives int64, compiled or not.
# jax 0.12.0.1, numpy 2.5.5, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || exit 2
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q jax==0.12.0.1 jaxlib==0.12.0.1 numpy==2.5.5 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
print("jax", jax.__version__)


def power(x, y):
    return x ** y


holds = True
for dtype in ("bool", "int32"):
    x = jnp.ones([1], dtype)
    found = [f(x, y).dtype.name for f in (power, jax.jit(power)) for y in (jnp.int64(2), jnp.array([2], "int64"))]
    print(f"{dtype} ** int64 without dimensions: {found[0]}, in jit(): {found[2]}; with one: {found[1]}, {found[3]}")
    holds = holds and found == ["int32", "int64", "int64", "int64"]
print("jit() changes the dtype of a power." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
