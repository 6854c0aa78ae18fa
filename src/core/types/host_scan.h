/* Searches shared by import and export: which element is the first that does not fit.
 * Private to host_*.c, each of which asks for vector loops first. */
#ifndef JOIST_CORE_TYPES_HOST_SCAN_H
#define JOIST_CORE_TYPES_HOST_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/parallel.h"

/* Elements looked at and converted at a time: 8 KiB of doubles, which stay in the
 * first-level cache between the check and the conversion. */
enum { EXCHANGE_BLOCK = 1024, EXCHANGE_POLL = 1 << 24 /* elements between two calls of poll */ };

static inline bool is_interrupted(size_t start, const struct joist_run *run,
                                  struct joist_error *error) {
  return start > 0 && start % EXCHANGE_POLL == 0 && run != NULL &&
         joist_run_poll(run, error) != JOIST_OK;
}

/* R's NA_real_ is any NaN whose low word is 1954 (R's src/main/arithmetic.c). */
static inline bool is_na_real(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value && (bits & 0xffffffffu) == 1954;
}

/* Index of the first value that is not within low and high, n if all are. Counts
 * first, as a loop without an exit vectorises, and searches only when it must. */
#define FIRST_OUTSIDE(T)                                                                        \
  static inline size_t first_outside_##T(size_t n, const T *values, T low, T high) {            \
    size_t outside = 0;                                                                         \
    for (size_t i = 0; i < n; i++) outside += (size_t)((values[i] < low) | (values[i] > high)); \
    if (outside == 0) return n;                                                                 \
    size_t i = 0;                                                                               \
    while (values[i] >= low && values[i] <= high) i++;                                          \
    return i;                                                                                   \
  }

#endif
