/* Operations on whole arrays: those whose elements cannot be computed tile by tile, such as
 * moving, scanning and sorting elements. Each is a line ARRAY(...) of ops.def and two
 * functions, one for the shape of the result and one for its elements. */
#ifndef JOIST_CORE_PROGRAM_ARRAY_H
#define JOIST_CORE_PROGRAM_ARRAY_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/program/program.h"

/* One call. Memory belongs to the caller; `out` overlaps no operand. */
struct joist_array_call {
  const struct joist_instruction *instruction; /* signature, parameter */
  const struct joist_value *operand[JOIST_ARITY_MAX];
  const struct joist_value *result;
  /* Elements, in the dtype of signature.operand; but those of class ACCUMULATE as they are:
   * operand[k]->type, to be widened block by block. */
  const void *in[JOIST_ARITY_MAX];
  void *out;
  const struct joist_run *run;
};

/* The shape of the result; JOIST_ERROR_SHAPE when the operands do not fit. */
typedef joist_status joist_array_shape(const struct joist_shape *const *shapes,
                                       const struct joist_attributes *attributes,
                                       struct joist_shape *result, struct joist_error *error);

/* Writes every element of `out`. Fails with JOIST_ERROR_VALUE, JOIST_ERROR_MEMORY or
 * JOIST_INTERRUPTED. */
typedef joist_status joist_array_run(const struct joist_array_call *call,
                                     struct joist_error *error);

#define ARRAY(ID, NAME, ARITY, CLASS, DEFINED, FUNCTION) \
  joist_array_shape joist_##FUNCTION##_shape;            \
  joist_array_run joist_##FUNCTION##_run;
#include "core/program/ops.def"

joist_status joist_array_shape_of(joist_op op, const struct joist_shape *const *shapes,
                                  const struct joist_attributes *attributes,
                                  struct joist_shape *result,
                                  struct joist_error *error) JOIST_MUST_CHECK;

#endif
