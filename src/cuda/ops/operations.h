/* The operations on whole arrays that have a kernel. What has none runs on copies, by the CPU's
 * engine. */
#ifndef JOIST_CUDA_OPS_OPERATIONS_H
#define JOIST_CUDA_OPS_OPERATIONS_H

#include "cuda/ops/launch.h"

/* Starts what makes the results of an instruction. */
typedef joist_status joist_cuda_run_function(const struct running *r,
                                             const struct joist_instruction *i,
                                             struct joist_error *error);

/* Whether the kernel supports the instruction's dtypes and shapes, and the CPU has no error to
 * report. */
typedef bool joist_cuda_can_function(const struct running *r, const struct joist_instruction *i);

/* What a parameter of a distribution is read as. */
typedef enum {
  JOIST_CUDA_AS_DRAWN,  /* the dtype drawn */
  JOIST_CUDA_AS_CENTRE, /* f64; c128 for complex numbers */
  JOIST_CUDA_AS_NUMBER, /* f64 */
  JOIST_CUDA_AS_LIMIT,  /* joist_limit_carrier() */
} joist_cuda_carrier;

struct joist_draw;

struct joist_cuda_operation {
  joist_cuda_run_function *run; /* NULL without a kernel */
  joist_cuda_can_function *can; /* NULL if it supports every instruction */
  /* Draws. An operand behind the key that is one element is read here, and need not be in the
   * device's memory. */
  bool reads_on_host;
  joist_cuda_carrier carrier[2]; /* of distributions */
  joist_status (*check)(const struct joist_draw *draw, struct joist_error *error);
  bool (*is_standard)(const struct joist_draw *draw); /* whether there is no need of parameters */
};

const struct joist_cuda_operation *joist_cuda_operation(joist_op op);

/* As struct joist_device has it. */
bool joist_cuda_runs(const struct joist_device *device, joist_op op);

/* Whether operand k may be in the process's memory if it is one element. */
bool joist_cuda_reads_on_host(joist_op op, uint32_t k);

/* Of the operations' own files. */
joist_cuda_run_function joist_cuda_reshape, joist_cuda_iota, joist_cuda_take, joist_cuda_put,
    joist_cuda_concatenate, joist_cuda_permute, joist_cuda_slice, joist_cuda_update, joist_cuda_pad,
    joist_cuda_gather, joist_cuda_multiply, joist_cuda_accumulate, joist_cuda_locate,
    joist_cuda_fold, joist_cuda_draw, joist_cuda_unpack;
joist_cuda_can_function joist_cuda_can_count, joist_cuda_can_take, joist_cuda_can_put,
    joist_cuda_can_gather, joist_cuda_can_multiply, joist_cuda_can_accumulate,
    joist_cuda_can_locate, joist_cuda_can_fold, joist_cuda_can_draw, joist_cuda_can_draw_normal,
    joist_cuda_can_unpack;

#endif
