/* The elements of dtypes as values of R's types, and back. */
#ifndef JOIST_R_VIEW_VALUES_H
#define JOIST_R_VIEW_VALUES_H

#include "core/base/run.h"
#include "core/types/dtypes.h"
#include "core/types/error.h"
#include "r/base/sexp.h"

/* In bytes. */
size_t joist_r_value_size(SEXPTYPE type);

/* Writes one NA. */
void joist_r_set_missing(SEXPTYPE type, void *out);

/* Writes the values of n elements, NA for those that are missing, by a mask or NULL, and for those
 * that R's type cannot represent. Returns the number of the latter. */
size_t joist_r_convert_values(joist_dtype dtype, const void *elements, const uint8_t *mask,
                              size_t n, void *out, const struct joist_run *run);

/* Replaces the elements at `to` whose values differ from `shown`, which R has seen of them, and
 * sets `mask` where a value is NA. Returns 0, or the position from 1 of a value that does not fit
 * the dtype. Values that were not written keep their elements, even if R's type cannot represent
 * them. */
size_t joist_r_merge_values(joist_dtype dtype, const char *values, const char *shown, size_t n,
                            char *to, uint8_t *mask, struct joist_error *error);

/* Brings n elements and their mask up to date with their values, or with the NA among the elements
 * themselves where `values` is NULL. Returns false if a value does not fit the dtype. */
bool joist_r_refresh_values(joist_dtype dtype, const void *values, size_t n, void *elements,
                            uint8_t *mask);

#endif
