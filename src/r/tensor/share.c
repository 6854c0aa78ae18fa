/* Shares mapped tensors. */
#include "r/tensor/share.h"

#include "r/base/conditions.h"
#include "r/memory/mapped.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"

SEXP joist_r_share(SEXP x) {
  struct joist_r_value value;
  joist_r_read(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  if (!joist_r_is_mapped(value.payload))
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "only a tensor that is mapped can be shared: save it, and read it with mmap = TRUE");
  SEXP payload = PROTECT(joist_r_map_share(value.payload));
  const struct joist_shape *const shape = &value.argument.shape;
  SEXP shared =
      PROTECT(joist_r_tensor_with(payload, value.argument.operand.type, shape, value.dim));
  joist_r_set_names(shared, value.names, shape->rank);
  UNPROTECT(2);
  return shared;
}

SEXP joist_r_mapped_place(SEXP x) {
  struct joist_r_value value;
  joist_r_read(joist_r_rules(R_NilValue), x, &value);
  const bool as_the_file = !value.exposed && joist_r_is_mapped(value.payload);
  return as_the_file ? joist_r_map_place(value.payload) : R_NilValue;
}
