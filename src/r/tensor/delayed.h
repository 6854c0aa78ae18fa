/* Chunked tensors, whose elements are in a store, as operands. */
#ifndef JOIST_R_DELAYED_H
#define JOIST_R_DELAYED_H

#include "r/tensor/operands.h"

bool joist_r_is_delayed(SEXP x);

/* Reads an operand as joist_r_read_missing() does, or a chunked tensor, as an abstract one. */
void joist_r_read_operand(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);

#endif
