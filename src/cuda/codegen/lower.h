/* From a group of a plan to the steps that a kernel runs. */
#ifndef JOIST_CUDA_CODEGEN_LOWER_H
#define JOIST_CUDA_CODEGEN_LOWER_H

#include "core/plan/groups.h"
#include "cuda/kernels/device_code.h"

enum {
  JOIST_CUDA_STEPS = 512,
  JOIST_CUDA_ARRAYS = 128,
  JOIST_CUDA_GATHERS = 32,
  JOIST_CUDA_PARTIAL = 1 << 30 /* not the array of a value: partial results of a sink */
};

struct joist_cuda_code {
  uint32_t step_count, array_count, gather_count, rank, sink_count;
  bool checked; /* a step can fail */
  bool rows;    /* the sinks have a result per row, not one for all elements */
  struct joist_cuda_step steps[JOIST_CUDA_STEPS];
  uint32_t instruction[JOIST_CUDA_STEPS]; /* of KERNEL and FOLD */
  uint32_t array[JOIST_CUDA_ARRAYS];      /* number of a value, or PARTIAL + number of a sink */
  uint64_t stride[JOIST_CUDA_GATHERS][JOIST_RANK_MAX];
  uint64_t extent[JOIST_RANK_MAX];
};

/* Whether the operation's kernel checks its operands in this dtype. */
bool joist_cuda_can_fail(joist_op op, joist_dtype dtype);

/* False when the group is too long for a kernel. `given` says of each value whether the parameter
 * has its only element in the place of a pointer; NULL when none is. */
bool joist_cuda_lower(const struct joist_plan *plan, const struct joist_group *group,
                      const bool *given, struct joist_cuda_code *code);

#endif
