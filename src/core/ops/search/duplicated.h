/* Which elements of an array repeat earlier ones. */
#ifndef JOIST_CORE_OPS_SEARCH_DUPLICATED_H
#define JOIST_CORE_OPS_SEARCH_DUPLICATED_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/types/dtypes.h"

/* Sets repeated[i] to 1 where element i equals an earlier one, as joist_match_keys() has it,
 * and to 0 elsewhere. Fewer than 2^32 elements. Fails with JOIST_ERROR_MEMORY or
 * JOIST_INTERRUPTED. */
joist_status joist_repeated(joist_dtype dtype, size_t n, const void *in, uint8_t *repeated,
                            const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

#endif
