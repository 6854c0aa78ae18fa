#!/bin/sh
# Writes source_text.c to standard output: the headers that generated code includes, as
# arrays of bytes (string literals have a limit in ISO C). Run in src/.
files=$(sh cuda/kernels/headers.sh cuda/kernels/target.cuh cuda/kernels/loops.cuh) || exit 1

echo '/* Written by embed.sh. */'
echo '#include "cuda/kernels/source_text.h"'
number=0
for file in $files; do
  echo "static const unsigned char text$number[] = {"
  od -An -v -tx1 "$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo '0x00};'
  number=$((number + 1))
done
echo "const int joist_source_count = $number;"
echo 'const char *const joist_source_names[] = {'
for file in $files; do
  echo "\"$file\","
done
echo '};'
echo 'const char *const joist_source_texts[] = {'
number=0
for file in $files; do
  echo "(const char *)text$number,"
  number=$((number + 1))
done
echo '};'
