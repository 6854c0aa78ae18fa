#!/bin/sh
# Prints the files of src/ that the files named include, themselves among them, and what those
# include in turn. Run in src/:
#
#   sh cuda/kernels/headers.sh cuda/kernels/loops.cuh
found=
wanted=$*
while [ -n "$wanted" ]; do
  found="$found $wanted"
  next=
  # Lists of file names, split on purpose.
  # shellcheck disable=SC2086
  for file in $(sed -n 's/^ *# *include "\([^"]*\)".*/\1/p' $wanted | LC_ALL=C sort -u); do
    case " $found " in
      *" $file "*) ;;
      *) next="$next $file" ;;
    esac
  done
  wanted=${next# }
done
# shellcheck disable=SC2086
printf '%s\n' $found | LC_ALL=C sort -u
