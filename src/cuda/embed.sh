#!/bin/sh
# Writes source_text.c to standard output: the headers that generated code includes, as
# arrays of bytes (string literals have a limit in ISO C). Run in src/.
files="core/dtypes.def core/ops.def core/target.h core/element.h core/fast_math.h core/fast_math_f64.h
core/fast_inverse_f64.h core/half.h
core/saturate.h cuda/code.h cuda/complex.cuh cuda/element.cuh cuda/loops.cuh
cuda/target.cuh"

echo '/* Written by embed.sh. */'
echo '#include "cuda/source_text.h"'
number=0
for file in $files; do
  echo "static const unsigned char text$number[] = {"
  od -An -v -tx1 "$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
  echo '0x00};'
  number=$((number + 1))
done
echo 'const char *const joist_source_names[JOIST_SOURCE_TEXTS] = {'
for file in $files; do
  echo "\"$file\","
done
echo '};'
echo 'const char *const joist_source_texts[JOIST_SOURCE_TEXTS] = {'
number=0
for file in $files; do
  echo "(const char *)text$number,"
  number=$((number + 1))
done
echo '};'
