/* Float to integer as conversions do it, one value at a time. */
#ifndef JOIST_CORE_TYPES_SATURATE_H
#define JOIST_CORE_TYPES_SATURATE_H

#include <stdint.h>

#include "core/base/target.h"
#include "core/types/dtypes.def"

/* Float to integer: truncates, saturates, NaN gives 0. A cast outside the range of the
 * integer is undefined, so the operand is clamped first, to the largest float that
 * the integer type holds: the maximum itself, or where it has more bits than the
 * float's significand (24 or 53), that many bits of ones. Clamping drops NaN. */
#define FLOAT_TO_INTEGER(FLOAT, DIGITS, ID, T, BITS)               \
  JOIST_DEVICE static inline T FLOAT##_to_##ID(FLOAT x) {          \
    const int is_signed = (T)-1 < 1;                               \
    const uint64_t max = UINT64_MAX >> (64 - BITS) >> is_signed;   \
    const FLOAT high = (FLOAT)(max - (max >> DIGITS));             \
    const FLOAT low = is_signed ? -(FLOAT)max - 1 : 0;             \
    FLOAT inside = x < high ? x : high;                            \
    inside = inside > low ? inside : low;                          \
    /* int32_t first: vector units convert to nothing narrower. */ \
    T result = sizeof(T) < 4 ? (T)(int32_t)inside : (T)inside;     \
    if (max >> DIGITS != 0) result = x > high ? (T)max : result;   \
    return x == x ? result : 0;                                    \
  }

/* float_to_I8() and so on. */
#define X(ID, KIND, T, FACTS, A, B)                         \
  FLOAT_TO_INTEGER(float, 24, ID, T, (JOIST_BITS_IN FACTS)) \
  FLOAT_TO_INTEGER(double, 53, ID, T, (JOIST_BITS_IN FACTS))
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
#undef FLOAT_TO_INTEGER

#endif
