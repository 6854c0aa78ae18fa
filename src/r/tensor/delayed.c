/* Knows chunked tensors by their class. */
#include "r/tensor/delayed.h"

bool joist_r_is_delayed(SEXP x) {
  return TYPEOF(x) == S4SXP && joist_r_first_class(x) != joist_r_class(JOIST_R_CONCRETE) &&
         Rf_inherits(x, "nv_chunked");
}

void joist_r_read_operand(const struct joist_rules *rules, SEXP x, struct joist_r_value *value) {
  if (!joist_r_is_delayed(x)) {
    joist_r_read_missing(rules, x, value);
    return;
  }
  *value = (struct joist_r_value){.form = JOIST_R_ABSTRACT,
                                  .object = x,
                                  .payload = R_NilValue,
                                  .dim = R_NilValue,
                                  .names = R_NilValue,
                                  .missing = R_NilValue};
  struct joist_argument *const argument = &value->argument;
  (void)joist_r_describe(x, &argument->operand.type, &argument->shape);
  (void)joist_shape_count(&argument->shape, &value->count);
  argument->operand.rank = argument->shape.rank;
}
