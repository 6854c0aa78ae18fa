/* Compiled kernels: made once per group and device, found again by the group's steps. */
#ifndef JOIST_CUDA_CODEGEN_COMPILE_H
#define JOIST_CUDA_CODEGEN_COMPILE_H

#include "core/codegen/lower.h"
#include "cuda/host/context.h"
#include "cuda/host/loader.h"
#include "cuda/kernels/device_code.h"

/* The kernel of a group, or of a pass of a reduction, that has `work` element steps to do
 * now; NULL when the interpreter should run it. */
struct joist_cuda_compiled *joist_cuda_kernel_of(const struct joist_cuda_state *state,
                                                 const struct joist_code *code, double work);
struct joist_cuda_compiled *joist_cuda_pass_of(const struct joist_cuda_state *state,
                                               joist_op combine, joist_dtype from,
                                               joist_dtype accumulator, double work);

/* What compiling has come to in this process. */
struct joist_cuda_compilation {
  long compiled, failed;
  char log[1024]; /* of the last that failed */
};
const struct joist_cuda_compilation *joist_cuda_compilation(void);
/* Appends how many failed, and why the last did; nothing if none did. */
void joist_cuda_describe_compiled(char *text, size_t size);

/* How many groups and passes are remembered, compiled or not. */
size_t joist_cuda_remembered(void);
/* Forgets all kernels, so that they are looked for again. */
void joist_cuda_forget(void);

/* When groups are compiled: once they have run often enough, always, or never (the
 * interpreter then runs all). The environment variable JOIST_CUDA_COMPILE (auto, always,
 * never) sets what a process starts with. */
typedef enum {
  JOIST_CUDA_COMPILE_AUTO,
  JOIST_CUDA_COMPILE_ALWAYS,
  JOIST_CUDA_COMPILE_NEVER
} joist_cuda_policy;
void joist_cuda_set_policy(joist_cuda_policy policy);

#endif
