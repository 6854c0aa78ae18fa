/* What the run function of an operation on whole arrays is given. */
#ifndef JOIST_CORE_PROGRAM_CALL_H
#define JOIST_CORE_PROGRAM_CALL_H

#include "core/base/run.h"
#include "core/program/program.h"

/* Memory belongs to the caller; results overlap no operand. */
struct joist_call {
  const struct joist_instruction *instruction; /* attributes, signature, operand_count */
  const struct joist_value *const *operand;
  const struct joist_value *result; /* of the first result; the others follow it */
  /* Elements in the dtype of the signature; for class ACCUMULATE in that of operand[k]->type, to be
   * widened block by block. */
  const void *const *in;
  void *const *out; /* per result */
  const struct joist_run *run;
  bool *fits; /* becomes true if the results of a watched operation are found to fit; NULL: of
                 others */
};

static inline const struct joist_attributes *joist_call_attributes(const struct joist_call *call) {
  return call->instruction->attributes;
}

#endif
