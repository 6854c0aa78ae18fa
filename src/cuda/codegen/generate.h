/* From the steps of a group to CUDA C++: one kernel per group, with nothing left to decide
 * at run time but addresses, extents and strides. */
#ifndef JOIST_CUDA_CODEGEN_GENERATE_H
#define JOIST_CUDA_CODEGEN_GENERATE_H

#include "core/codegen/lower.h"
#include "cuda/kernels/device_code.h"

/* Elements that a thread of a group's kernel computes per iteration. */
int joist_cuda_width(const struct joist_code *code);

/* What comes before the kernels of a source. */
const char *joist_cuda_prelude(void);

/* Kernels named `name`, to follow the prelude. The text belongs to the caller (free());
 * NULL when memory is out. */
char *joist_cuda_generate(const struct joist_code *code, const char *name);
char *joist_cuda_generate_pass(joist_op combine, joist_dtype from, joist_dtype accumulator,
                               const char *name);

#endif
