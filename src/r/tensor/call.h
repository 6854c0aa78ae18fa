/* An operation that R calls. r/call/apply.c fills it in and hands it to one of four functions, all
 * of this signature: which one depends on the forms of the values. */
#ifndef JOIST_R_CALL_H
#define JOIST_R_CALL_H

#include "core/program/program.h"
#include "r/tensor/operands.h"

struct joist_r_call {
  const struct joist_rules *rules;
  joist_op op;
  struct joist_r_value *values;
  size_t count;
  const struct joist_attributes *attributes;
  struct joist_inference inference; /* with what is watched */
  /* Values are missing, or are to be left out (`remove`): it becomes several instructions, on the
   * elements and on the masks. `plain` has the attributes without NA_RM, in any case. */
  bool masked, remove;
  bool converts, assigns; /* it converts a value, unasked, to be joined with others or assigned */
  struct joist_attributes plain;
};

/* Gives a tensor, or a list of several. */
typedef SEXP joist_r_applies(const struct joist_r_call *call);

#endif
