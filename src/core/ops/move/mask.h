/* Masks: bytes 0 and 1 that choose elements. Elements are bytes as in walk.h. */
#ifndef JOIST_CORE_OPS_MOVE_MASK_H
#define JOIST_CORE_OPS_MOVE_MASK_H

#include <stdint.h>

#include "core/base/run.h"
#include "core/base/status.h"

/* Elements per block; an array of n has joist_mask_blocks(n) of them. */
size_t joist_mask_blocks(size_t n);

/* Number of elements chosen before each block, and in all behind the last: blocks + 1. */
joist_status joist_mask_count(const uint8_t *mask, size_t n, size_t *before,
                              const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The chosen elements, one after the other. */
joist_status joist_mask_take(size_t size, const uint8_t *mask, size_t n, const size_t *before,
                             const void *in, void *out, const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;
/* The positions of the chosen elements. */
void joist_mask_positions(const uint8_t *mask, size_t n, int64_t *positions);
/* Replaces the chosen elements of `out` by `values`, one after the other; by one value for
 * all when `repeated`. */
joist_status joist_mask_put(size_t size, const uint8_t *mask, size_t n, const size_t *before,
                            const void *values, bool repeated, void *out,
                            const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

#endif
