/* Groups of elements with equal keys. */
#ifndef JOIST_CORE_OPS_SEARCH_GROUP_H
#define JOIST_CORE_OPS_SEARCH_GROUP_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/types/dtypes.h"

/* Elements of one dtype, borrowed; `missing` is a mask, or NULL. */
struct joist_group_key {
  joist_dtype dtype;
  const void *in;
  const uint8_t *missing;
};

/* Gives each of n elements, fewer than 2^31, the number of its group, from 1 on in the order in
 * which groups appear. Elements are in one group if all their keys are equal as
 * joist_match_keys() has it, or missing. The same for any number of threads. Fails with
 * JOIST_ERROR_MEMORY or JOIST_INTERRUPTED. */
joist_status joist_group(const struct joist_group_key *keys, size_t key_count, size_t n,
                         int32_t *numbers, size_t *groups, const struct joist_run *run,
                         struct joist_error *error) JOIST_MUST_CHECK;

/* The position, from 1 on, of the first element of each group. */
void joist_group_firsts(size_t n, const int32_t *numbers, int32_t *firsts);

/* The group of a number, from 0 on. An element whose group is not less than the number of groups,
 * as one without a number or with any other one, is in none. */
static inline size_t joist_group_at(int32_t number) { return (size_t)(uint32_t)number - 1; }

/* Adds to `sizes` how many of n elements each group has. */
void joist_group_sizes(size_t n, const int32_t *numbers, size_t groups, size_t *sizes);
/* Copies each element, of `size` bytes, to where the pointer of its group points, and moves that
 * behind it. */
void joist_group_deal(size_t size, size_t n, const int32_t *numbers, size_t groups, const void *in,
                      char **to);
/* The reverse: copies each element from where the pointer of its group points, and moves that on by
 * its step. Every element is in a group. */
void joist_group_collect(size_t size, size_t n, const int32_t *numbers, const char **from,
                         const size_t *steps, void *out);

#endif
