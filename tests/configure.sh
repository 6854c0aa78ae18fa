#!/bin/sh
# What configure does with a compiler that hangs, and with objects of other settings.
#
#   sh tests/configure.sh FOLDER    where FOLDER is a copy of the source tree
cd "${1:?a copy of the source tree}" || exit 2
passed=0
failed=0

# expect TEXT COMMAND...: counts one check.
expect() {
  text=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "failed: $text"
    failed=$((failed + 1))
  fi
}

hanging=$(mktemp) || exit 2
printf '#!/bin/sh\nsleep 1000\n' >"$hanging"
chmod +x "$hanging"
started=$(date +%s)
said=$(JOIST_CUDA=auto NVCC=$hanging sh configure)
seconds=$(($(date +%s) - started))
rm -f "$hanging"
does_not_run() { echo "$said" | grep -q "does not run"; }
expect "an nvcc that hangs is one that does not run" does_not_run
expect "an nvcc that hangs costs less than two minutes" [ "$seconds" -lt 120 ]

JOIST_CUDA=no sh configure >/dev/null
touch src/old.o
JOIST_CUDA=no sh configure >/dev/null
expect "objects of the same settings stay" [ -f src/old.o ]
JOIST_CUDA=no JOIST_OPENMP=no sh configure >/dev/null
expect "objects with OpenMP are not linked without it" [ ! -f src/old.o ]

echo "counts: $passed $failed 0"
[ "$failed" -eq 0 ]
