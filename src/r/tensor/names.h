/* Names of the positions along dims: which ones the result of an operation has.
 *
 * The names of a tensor are R's: a character vector for rank 1, a list of dimnames for a higher
 * rank, R_NilValue for none. Which dim of which operand a dim of the result comes from is said by
 * joist_op_axes(); here R's objects follow. All functions may allocate; arguments are protected by
 * the caller. */
#ifndef JOIST_R_NAMES_H
#define JOIST_R_NAMES_H

#include "core/ops/move/index.h"
#include "core/program/axes.h"
#include "r/tensor/operands.h"

/* An operand: its shape, its names and, if they are known, its elements. */
struct joist_r_named {
  const struct joist_shape *shape;
  SEXP names;
  joist_dtype dtype;
  const void *elements;
  const uint8_t *mask; /* of those that are missing; NULL if none is */
  SEXP index;          /* a traced tensor; R_NilValue for others */
};

/* Positions in doubles of which those under a mask, that may be NULL, become NA: without a name. */
void joist_r_mask_positions(SEXP positions, const uint8_t *mask);

/* The names of the first result of an operation. */
SEXP joist_r_names_of(joist_op op, const struct joist_attributes *attributes,
                      const struct joist_r_named *operands, size_t n,
                      const struct joist_shape *result);
/* The same for operands that were read; R_NilValue, at no cost, if none has names. */
SEXP joist_r_names_among(joist_op op, const struct joist_attributes *attributes,
                         const struct joist_r_value *values, size_t n,
                         const struct joist_shape *result);

/* The names along dim d of `rank`, R_NilValue for none. */
SEXP joist_r_names_along(SEXP names, int rank, int d);
/* The names of those positions of dim d of x, in a list of the dimnames of a result at k. */
void joist_r_select_names(const struct joist_r_value *x, int d, const struct joist_index *positions,
                          SEXP list, int k);
/* A list for the dimnames of a result of that rank, and the names that it holds in the end: where
 * dims of extent 1 were dropped, none if no dim has some, as in base R. */
SEXP joist_r_names_list(int rank);
SEXP joist_r_names_in(SEXP list, int rank, bool dropped);

/* Sets the names of an unshared tensor; a no-op for R_NilValue. */
void joist_r_set_names(SEXP tensor, SEXP names, int rank);

/* The same data in another type or shape: `value` has data, here or on a device. */
SEXP joist_r_same_payload(const struct joist_r_value *value, struct joist_type type,
                          const struct joist_shape *shape);

#endif
