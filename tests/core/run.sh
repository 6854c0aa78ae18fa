#!/bin/sh
# Runs the C test programs given as arguments, one after the other, and sums what they count.
# RUN_UNDER is a command to run each under (valgrind). Exit status 1 if anything failed.
passed=0
failed=0
for program in "$@"; do
  name=$(basename "$program")
  # RUN_UNDER is a command with options, so it is split on purpose.
  # shellcheck disable=SC2086
  output=$(${RUN_UNDER:-} "$program" 2>&1)
  status=$?
  printf '%s\n' "$output"
  counts=$(printf '%s\n' "$output" |
    sed -n 's/^.*: \([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' | tail -n 1)
  program_failed=${counts#* }
  if [ -n "$counts" ]; then
    passed=$((passed + ${counts% *}))
    failed=$((failed + program_failed))
  fi
  # A crash, a sanitizer's report or a missing summary is a failure of its own.
  if [ "$status" -ne 0 ] && [ "${program_failed:-0}" -eq 0 ]; then
    echo "$name: exit status $status"
    failed=$((failed + 1))
  elif [ -z "$counts" ]; then
    echo "$name: printed no summary"
    failed=$((failed + 1))
  fi
done
echo "core tests: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
