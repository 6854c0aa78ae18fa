#!/bin/sh
# Expected: // is integer division, so 7.5 // 2 of doubles is 3 (as in Python), or an error.
# Found: of FLOAT and DOUBLE it is `/`, without rounding, 3.75; of integers it drops the fraction: -7 // 2 is -3,
# and not -4 as in Python, NumPy and Polars.
# Where it matters: the rule set `duckdb`: the dtypes are those of joist's %/%, the values are not.
# duckdb 2.0.1, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q duckdb==2.0.1 || exit 2
"$folder/python/bin/python" - <<'PYTHON'
import sys
import duckdb

print("duckdb", duckdb.__version__)
query = "SELECT 7.5::DOUBLE // 2, 7.5::FLOAT // 2::FLOAT, (-7)::INTEGER // 2::INTEGER"
found = duckdb.connect().execute(query).fetchone()
print("7.5 // 2 as DOUBLE, as FLOAT, -7 // 2 as INTEGER:", *found)
holds = found == (3.75, 3.75, -3)
print("// of floats does not round." if holds else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
