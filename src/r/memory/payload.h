/* Payloads of CPU tensors: R vectors without attributes. */
#ifndef JOIST_R_PAYLOAD_H
#define JOIST_R_PAYLOAD_H

#include <stdbool.h>

#include "core/types/dtypes.h"
#include "r/base/vector.h"

/* The type of vector that holds elements of a dtype: raw for those that R has no type for. */
SEXPTYPE joist_r_payload_type(joist_dtype dtype);
/* A new payload of n elements, whose contents are undefined. Large ones lie in the pool: by an
 * allocator that R takes from packages, or as an alternative representation. */
SEXP joist_r_payload(joist_dtype dtype, size_t n);

/* Keeps an unreferenced payload to be reused by the next tensor of its type and length, since its
 * elements are cached. Holds two at most, until the next collection that joist runs. */
void joist_r_retire_payload(SEXP payload);

/* R's garbage collector, on all objects or the recent ones. */
void joist_r_collect(bool full);
/* Frees the payloads that R has collected and that are not freed yet. */
void joist_r_free_payloads(void);

#endif
