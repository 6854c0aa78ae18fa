/* Results of operations on whole arrays of integers, and of reductions, against the exact ones: one
 * element after the other, in more bits than any of them needs. Only run where results may not fit.
 */
#ifndef JOIST_CORE_CPU_EXACT_H
#define JOIST_CORE_CPU_EXACT_H

#include "core/base/run.h"
#include "core/cpu/halves.h"
#include "core/program/program.h"

/* Counts results of instruction `number` that do not fit, or replaces them where it saturates. Its
 * operands, its results and the mask of its result are in `arrays`, per value. */
joist_status joist_exact_check(const struct joist_program *program, uint32_t number,
                               void *const *arrays, const struct joist_run *run,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* As joist_exact_check(), of a sum whose elements, read as `dtype`, were added strip by strip. */
joist_status joist_exact_sums(const struct joist_program *program, uint32_t number,
                              struct joist_halves strips, joist_dtype dtype, void *const *arrays,
                              const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The means of joist_mean_is_exact() of integers in an array, in place of rounded ones. */
joist_status joist_exact_mean(const struct joist_program *program, uint32_t number,
                              void *const *arrays, const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

#endif
