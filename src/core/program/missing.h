/* Missing values: a mask beside the elements of a value, bool and of the same shape, TRUE where an
 * element is missing. The engine does not know of masks: an operation on values with masks becomes
 * ordinary instructions, on the elements and on the masks, by the rule that ops.def has for it.
 *
 * What the elements are at missing places does not matter: no result depends on them. Owns no
 * memory; what is appended belongs to the program. */
#ifndef JOIST_CORE_PROGRAM_MISSING_H
#define JOIST_CORE_PROGRAM_MISSING_H

#include "core/program/program.h"

#define JOIST_NO_MASK UINT32_MAX

/* An operation, inferred as if nothing was missing. */
struct joist_missing {
  joist_op op;
  const struct joist_inference *inference;
  const struct joist_attributes *attributes; /* without NA_RM */
  size_t count;
  const joist_value_id *operands;
  const joist_value_id *masks; /* JOIST_NO_MASK for an operand without */
  bool remove;                 /* NA_RM: missing elements and NaN are left out */
  uint32_t source;             /* of the instructions, as in struct joist_instruction */
};

/* Appends it. Writes the numbers of the results, and of their masks: JOIST_NO_MASK where nothing
 * can be missing. JOIST_ERROR_VALUE if the operation is not defined for missing values; fails as
 * joist_program_add() does. */
joist_status joist_missing_add(struct joist_program *program, const struct joist_missing *missing,
                               joist_value_id *results, joist_value_id *masks,
                               struct joist_error *error) JOIST_MUST_CHECK;

#endif
