/* Operations with bodies: how their operands, bodies and results correspond.
 *
 * A carry is a value that the body of a loop gets and gives. A capture is a value from outside that
 * a body reads; the captures of each body are its last inputs.
 *
 *   while   operands  carries, captures of the condition, captures of the body
 *           bodies    condition (carries, captures): one bool; body (carries, captures): carries
 *           results   carries
 *   for     operands  n (a scalar i64), carries, captures
 *           body      (iteration, from 1; carries, captures): carries
 *           results   carries
 *   scan    operands  carries, arrays, captures
 *           body      (carries, a slice of each array, captures): carries, further results
 *           results   carries, and the further results of all iterations side by side
 *   if      operands  condition (a scalar bool), captures of the first body, captures of the second
 *           bodies    (captures): results of the same types and shapes
 *           results   those of the first body where the condition holds, else of the second
 *
 * A slice is what is at one position of the last dim, of which all arrays of a scan have the same
 * extent; further results become slices of that dim. */
#ifndef JOIST_CORE_PROGRAM_REGIONS_H
#define JOIST_CORE_PROGRAM_REGIONS_H

#include "core/program/program.h"

/* The parts of an instruction with bodies, by their counts. */
struct joist_region_parts {
  uint32_t first;       /* operands before the carries */
  uint32_t carries;     /* 0 for `if` */
  uint32_t arrays;      /* of a scan */
  uint32_t inputs[2];   /* of each body, captures included */
  uint32_t captures[2]; /* of each body */
  size_t turns;         /* iterations of a scan */
};
struct joist_region_parts joist_region_parts(const struct joist_program *program,
                                             const struct joist_instruction *instruction);

/* Appends an operation with bodies to a program, which owns these from then on, also if it fails.
 * `first` becomes the number of its first result. JOIST_ERROR_VALUE where operands and bodies do
 * not fit together. */
joist_status joist_program_add_regions(struct joist_program *program, joist_op op,
                                       const joist_value_id *operands, size_t count,
                                       const struct joist_attributes *attributes, uint32_t source,
                                       struct joist_program *const *bodies, joist_value_id *first,
                                       struct joist_error *error) JOIST_MUST_CHECK;

/* Whether the instruction, or one of its bodies, prints: such an instruction is run although its
 * results are not used. */
bool joist_has_effect(const struct joist_instruction *instruction);

/* Sets which values are needed, one flag each: the outputs, and what they are computed from. */
void joist_program_mark_needed(const struct joist_program *program, bool *needed);

/* Whether the instruction runs: it has an effect, or a result that is needed. */
bool joist_is_needed(const struct joist_instruction *instruction, const bool *needed);

/* Appends the instructions of a body to a program, except prints: with the values `inputs` of it
 * for those of the body, whose outputs are the values `outputs` then. `from` may be no part of
 * `program`. */
joist_status joist_program_inline(struct joist_program *program, const struct joist_program *from,
                                  const joist_value_id *inputs, joist_value_id *outputs,
                                  struct joist_error *error) JOIST_MUST_CHECK;

#define JOIST_NO_VALUE UINT32_MAX

/* Sets `needed` for the `count` values `wanted` and all that they are computed from. What computes
 * a value that is `known`, which is not JOIST_NO_VALUE, is not needed. */
void joist_program_needs(const struct joist_program *program, const joist_value_id *known,
                         const joist_value_id *wanted, size_t count, bool *needed);

/* Appends the instructions of a body that are needed, except prints. `values` has the values of
 * `program` for those of `from` that are known, JOIST_NO_VALUE for others, and gets those that are
 * computed. A needed scan gets no further results than those that are needed. */
joist_status joist_program_copy_needed(struct joist_program *program,
                                       const struct joist_program *from, const bool *needed,
                                       joist_value_id *values,
                                       struct joist_error *error) JOIST_MUST_CHECK;

#endif
