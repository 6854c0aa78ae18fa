/* What generated C code begins with: the element functions of kernels and conversions, compiled by
 * the same options. */
#ifndef JOIST_CORE_CODEGEN_C_PRELUDE_H
#define JOIST_CORE_CODEGEN_C_PRELUDE_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/vectorize.h"

/* Of a group of many elements. Loops of a program, of which some take gcc half a second, are
 * compiled by the flags of the command, which take it a fifth less. */
#ifdef JOIST_WIDE
JOIST_VECTORIZE_FILE
#endif
#include "core/codegen/native.h"
#include "core/kernels/expressions.h"
#include "core/types/convert_element.h"

/* Functions that are compiled once, however often they are called. */
#ifdef __GNUC__
#define JOIST_APART static __attribute__((noinline))
#else
#define JOIST_APART static
#endif

/* Whether a sum, a difference or a product of two scalars of type T wraps: -1 or 0. Scalar code can
 * branch on the processor's overflow flag. `otherwise` is the test of the WRAPS line. */
#ifdef __GNUC__
#define SCALAR_WRAPS(T, HOW, a, b, otherwise) (-(int)__builtin_##HOW##_overflow(a, b, &(T){0}))
#else
#define SCALAR_WRAPS(T, HOW, a, b, otherwise) (otherwise)
#endif

/* Powers by 1, 2 and for doubles 3 and 4, with the bits of POWER() in expressions.h. Compilers make
 * vector code of these forms. */
#define IS_SMALL_POWER_F32(b) ((b) == 1 || (b) == 2)
#define IS_SMALL_POWER_F64(b) ((b) == 1 || (b) == 2 || (b) == 3 || (b) == 4)
#define SMALL_POWER_F32(a, b) ((b) == 1 ? (a) : (a) * (a))
#define SMALL_POWER_F64(a, b) \
  ((b) == 4 ? fourth_power_f64(a) : (b) == 1 ? (a) : (a) * (a) * ((b) == 3 ? (a) : 1))

#endif
