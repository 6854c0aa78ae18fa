/* Status codes of the core: every function that can fail returns one, and fills in a struct of the
 * caller's that says what failed. */
#ifndef JOIST_CORE_BASE_STATUS_H
#define JOIST_CORE_BASE_STATUS_H

#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define JOIST_MUST_CHECK __attribute__((warn_unused_result))
/* MinGW's `printf` comes from an old C library, which is not used here. */
#if defined(__MINGW32__) && !defined(__clang__)
#define JOIST_PRINTF(index, first) __attribute__((format(gnu_printf, index, first)))
#else
#define JOIST_PRINTF(index, first) __attribute__((format(printf, index, first)))
#endif
#else
#define JOIST_MUST_CHECK
#define JOIST_PRINTF(index, first)
#endif

typedef enum {
  JOIST_OK = 0,
  JOIST_ERROR_PROMOTION, /* no common dtype, or none for this operation */
  JOIST_ERROR_DTYPE,     /* unknown dtype, or an operation a dtype does not have */
  JOIST_ERROR_SHAPE,     /* shapes that do not fit */
  JOIST_ERROR_VALUE,     /* a value that cannot be represented, division by zero, NA */
  JOIST_ERROR_DEVICE,    /* device missing, or operands on different devices */
  JOIST_ERROR_MEMORY,    /* allocation failed */
  JOIST_INTERRUPTED      /* the caller's poll function asked to stop */
} joist_status;

/* What went wrong, for the caller to own; see core/types/error.h. */
struct joist_error;

#endif
