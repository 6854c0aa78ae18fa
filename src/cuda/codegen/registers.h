/* What the parameter and the interpreter of a kernel have room for. */
#ifndef JOIST_CUDA_CODEGEN_REGISTERS_H
#define JOIST_CUDA_CODEGEN_REGISTERS_H

#include "core/codegen/lower.h"
#include "cuda/kernels/device_code.h"

/* Numbers the registers of lowered code anew, so that those whose last reader has run are used
 * again. False if more are in use at once than the interpreter has, or the tables of the code do
 * not fit the parameter; the code is undefined then. */
bool joist_cuda_fit(struct joist_code *code);

#endif
