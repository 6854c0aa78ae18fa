/* The conversion kernels for x86-64 processors with AVX2 and F16C, private to convert*.c. */
#ifndef JOIST_CORE_TYPES_CONVERT_F16C_H
#define JOIST_CORE_TYPES_CONVERT_F16C_H

#include "core/types/convert.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define JOIST_HAVE_F16C 1
/* To be called only where the processor has both. */
joist_convert_kernel *joist_convert_find_f16c(joist_dtype from, joist_dtype to);
#else
#define JOIST_HAVE_F16C 0
#endif

#endif
