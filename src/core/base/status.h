/* Status codes and error messages of the core.
 *
 * Every core function that can fail returns a joist_status and fills a message
 * struct that the caller owns. Nothing here allocates, and nothing knows R. */
#ifndef JOIST_CORE_BASE_STATUS_H
#define JOIST_CORE_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define JOIST_MUST_CHECK __attribute__((warn_unused_result))
/* MinGW's `printf` is that of an old C library, which status.c does not use. */
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

enum { JOIST_MESSAGE_SIZE = 768 };

struct joist_error {
  char message[JOIST_MESSAGE_SIZE]; /* always NUL-terminated once a call has failed */
};

/* Formats the message (truncating if need be, between characters of UTF-8) and returns `status`, so
 * that a failing function can end in `return joist_fail(...)`. `error` may be NULL. */
joist_status joist_fail(struct joist_error *error, joist_status status, const char *format, ...)
    JOIST_PRINTF(3, 4);
/* The same for a function that has such arguments itself. */
joist_status joist_fail_with(struct joist_error *error, joist_status status, const char *format,
                             va_list arguments) JOIST_PRINTF(3, 0);

#endif
