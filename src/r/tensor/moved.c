#include "r/tensor/moved.h"

#include <stddef.h>

SEXP joist_r_trace_tag(void) { return Rf_install("joist_trace"); }

joist_value_id joist_r_moved(SEXP pointer, joist_value_id value) {
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == joist_r_trace_tag();
  const struct joist_r_moves *const moves = own ? R_ExternalPtrAddr(pointer) : NULL;
  for (uint32_t k = 0; moves != NULL && k < moves->count; k++) {
    const struct joist_r_move *const move = &moves->move[k];
    if (value - move->from < move->count) value = move->to + (value - move->from);
  }
  return value;
}
