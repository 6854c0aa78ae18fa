/* Operations on values of which some are missing, as programs on the elements and the masks. */
#ifndef JOIST_R_LOWER_H
#define JOIST_R_LOWER_H

#include "core/program/missing.h"
#include "r/tensor/call.h"

struct joist_r_lowered {
  SEXP owner;
  /* With the operands and then their masks as inputs, and the results and then their masks as
   * outputs, of which none is a mask among the inputs. */
  struct joist_program *program;
  joist_value_id *masks; /* of the operands, as values of the program; JOIST_NO_MASK for none */
  joist_value_id result_masks[JOIST_RESULTS_MAX];
};

/* The program of a call. Returns what owns it, to be protected; R_NilValue, without a program, if
 * the call needs no masks. */
SEXP joist_r_lower(const struct joist_r_call *call, struct joist_r_lowered *lowered);
/* Frees the program; otherwise R does when it collects the owner. */
void joist_r_lowered_free(const struct joist_r_lowered *lowered);

/* Whether operand k has a mask that no operand before it has, too: a separate input. */
bool joist_r_has_own_mask(const struct joist_r_call *call, size_t k);
/* The first operand with that mask; the number of operands if none has it. */
size_t joist_r_operand_with(const struct joist_r_call *call, const struct joist_r_lowered *lowered,
                            joist_value_id mask);

#endif
