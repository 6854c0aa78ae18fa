#!/bin/sh
# Runs the C test programs given as arguments, one after the other, and sums what they count. A line
# says which took the most of the processor. RUN_UNDER is a command to run each under (valgrind).
# Exit status 1 if anything failed.
passed=0
failed=0
clock=$(mktemp) || exit 1
trap 'rm -f "$clock" "$clock.all"' EXIT
for program in "$@"; do
  name=$(basename "$program")
  # A shell that has had no other children. RUN_UNDER is a command with options, so it is split on
  # purpose.
  # shellcheck disable=SC2086
  output=$(
    ${RUN_UNDER:-} "$program" 2>&1
    status=$?
    times >"$clock"
    exit "$status"
  )
  status=$?
  # Of the children, in minutes and seconds, for the user and for the system.
  sed 's/m/ /g; s/s//g' "$clock" | awk -v name="$name" '
    NR == 2 { printf "%.1f %s\n", 60 * $1 + $2 + 60 * $3 + $4, name }' >>"$clock.all"
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
echo "seconds: $(sort -rn "$clock.all" | head -n 12 |
  awk '{ printf "%s%s %s", (NR > 1 ? ", " : ""), $2, $1 }')"
echo "core tests: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
