/* Which instructions can have results that do not fit, or operands that converting them changes, by
 * their dtypes and shapes alone. */
#ifndef JOIST_CORE_PROGRAM_WATCH_H
#define JOIST_CORE_PROGRAM_WATCH_H

#include "core/base/tally.h"
#include "core/program/program.h"

/* Whether the type is of an R number, and ambiguous, whose fractions are rounded in whatever dtype
 * it gets. */
static inline bool joist_is_ambiguous_float(struct joist_type type) {
  const joist_kind kind = joist_dtype_kind(type.dtype);
  return type.ambiguous && (kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_COMPLEX);
}

/* Whether elements that the conversion changes can count as lost: of an ambiguous float, those
 * beyond the range of the dtype. */
bool joist_conversion_counts(struct joist_type from, joist_dtype to);

/* Those of the kinds in `wanted`, joist_watch or'ed, that the inferred operation can show. */
uint8_t joist_watch_of(joist_op op, const struct joist_argument *arguments, size_t count,
                       const struct joist_inference *inference,
                       const struct joist_attributes *attributes, uint8_t wanted);

/* The same of the conversion of a value that is joined with others, or assigned; an operation
 * convert that was asked for is not watched. What is assigned is watched for values beyond the
 * range of the dtype, whatever is wanted. */
uint8_t joist_watch_of_conversion(struct joist_type from, joist_dtype to, bool assigns,
                                  uint8_t wanted);

/* Whether what converting the operands to the promoted dtype changes has overflowed, as from
 * integers to integers; else it is lost. */
bool joist_conversion_overflows(const struct joist_program *program,
                                const struct joist_instruction *i);

/* Whether an instruction is a mean of integers that its accumulator may round: it is computed
 * exactly where it does, so that nothing is lost. */
bool joist_mean_is_exact(const struct joist_program *program, const struct joist_instruction *i);

/* Whether sums of `n` integers, of whose magnitudes `bits` has all bits, may exceed the
 * range of a dtype, also on the way. */
bool joist_sum_may_exceed(uint64_t bits, size_t n, joist_dtype dtype);

/* The kinds that any instruction of the program or its bodies is watched for. */
uint8_t joist_program_watch(const struct joist_program *program);

/* A copy, in the arena, of a program that is not watched for what `findings` have, with copies of
 * its bodies; all else is shared. NULL without memory. */
struct joist_program *joist_program_unwatched(const struct joist_program *program,
                                              const struct joist_finding *findings, size_t count,
                                              struct joist_arena *arena);

#endif
