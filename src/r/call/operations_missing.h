/* Operations on tensors of which some have missing values: programs of one lowered operation. */
#ifndef JOIST_R_OPERATIONS_MISSING_H
#define JOIST_R_OPERATIONS_MISSING_H

#include "r/tensor/operands.h"

/* Runs an operation on tensors with elements, of which some are missing. */
SEXP joist_r_run_missing(joist_op op, const struct joist_r_value *values, size_t n,
                         const struct joist_inference *inference,
                         const struct joist_attributes *attributes, bool remove);
/* The same for abstract tensors. */
SEXP joist_r_abstract_missing(joist_op op, const struct joist_r_value *values, size_t n,
                              const struct joist_inference *inference,
                              const struct joist_attributes *attributes, bool remove);

#endif
