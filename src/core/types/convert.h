/* Conversion of contiguous elements between dtypes.
 *
 * The rules of explicit conversion: float to integer truncates toward zero and saturates,
 * NaN becomes 0; integer to integer wraps; anything to bool is `!= 0` (NaN is true);
 * narrowing floats round once, to nearest, ties to even; complex to real keeps the
 * real part. Input and output may be the same array only when the sizes are equal. */
#ifndef JOIST_CORE_TYPES_CONVERT_H
#define JOIST_CORE_TYPES_CONVERT_H

#include "core/types/dtypes.h"

typedef void joist_convert_kernel(size_t n, const void *in, void *out);

/* Never NULL: every pair of dtypes converts. */
joist_convert_kernel *joist_convert_find(joist_dtype from, joist_dtype to);
/* The kernel that uses no optional feature of the processor; bit for bit the same. */
joist_convert_kernel *joist_convert_find_portable(joist_dtype from, joist_dtype to);

#endif
