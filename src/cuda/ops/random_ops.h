/* Random numbers. */
#ifndef JOIST_CUDA_OPS_RANDOM_OPS_H
#define JOIST_CUDA_OPS_RANDOM_OPS_H

#include "cuda/ops/launch.h"

/* Whether an operation that draws them has a kernel, and running it. Some parameters are read on
 * the host. With one that does not fit, `fits` becomes false: the CPU's engine says what is wrong
 * with it. */
bool joist_cuda_draws(const struct running *r, const struct joist_instruction *i);
bool joist_cuda_reads_on_host(joist_op op, int operand);
joist_status joist_cuda_draw(const struct running *r, const struct joist_instruction *i, bool *fits,
                             struct joist_error *error) JOIST_MUST_CHECK;

#endif
