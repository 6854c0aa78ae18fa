/* C of the elements of a group: one element as straight-line code, more as loops over runs of
 * elements that every operand walks through in equal steps. Registers of a group are r<number>, in
 * a block of their own. Private to the files that write C. */
#ifndef JOIST_CORE_CODEGEN_C_RUNS_H
#define JOIST_CORE_CODEGEN_C_RUNS_H

#include "core/codegen/c_elements.h"
#include "core/codegen/c_moves.h"

/* How the code of a group's elements is written: for one element, as variables; for a run of
 * elements; for a run that also looks for elements to repair; for a run that repairs them; for a
 * run that counts which of its values do not fit, and stores none. */
enum manner { JOIST_C_ALONE, JOIST_C_RUN, JOIST_C_LOOKING, JOIST_C_MENDING, JOIST_C_COUNTING };

struct place {
  uint32_t body;
  const struct joist_plan *plan;
  enum manner manner;
  bool chunked;
  size_t count;      /* elements of the group; 0 where a part of it is asked for */
  bool small_powers; /* the exponents that are the same for all elements are 1 to 4 */
  bool staged;       /* powers by such exponents have been computed, to v<register> */
  /* The array that is written where the next group pads it, and where that is; NULL for none. */
  const struct joist_walk *padded;
  uint32_t padded_array;
  joist_value_id padded_to;
};

/* Whether a step has that form, other than powers that are products or, if `staged`, computed
 * before. */
bool joist_c_has_form(struct writer *w, const struct place *at, enum joist_c_form form,
                      bool staged);

/* Whether the step is a power of a float, and the same one for all elements. */
bool joist_c_is_uniform_power(const struct writer *w, const struct joist_code_step *step);

/* Whether a step writes the array. */
bool joist_c_is_stored(const struct writer *w, uint32_t array);

/* The step that loads what a fold reads, if it is nothing but an array. */
const struct joist_code_step *joist_c_loaded_by(const struct writer *w,
                                                const struct joist_code_step *fold);

/* Whether a sink can fold an array directly. Not if the group writes an array, which may be the
 * same memory. */
bool joist_c_is_direct(const struct writer *w, const struct joist_code_step *fold);

/* The pointers to the arrays that the group walks through. */
void joist_c_add_pointers(struct writer *w, const struct place *at);

/* The flags of a group before its elements, and after them: where one is set, the elements are
 * counted if their operands are still there, and otherwise `flag` is. */
void joist_c_begin_flags(struct writer *w);
void joist_c_end_flags(struct writer *w, const struct place *at, const char *flag);

/* The steps once per run, or the steps of every element. */
void joist_c_add_steps(struct writer *w, const struct place *at, bool per_run);

/* Elements first .. last - 1. */
void joist_c_add_runs(struct writer *w, const struct place *at);

#endif
