/* Functions of f16 and bf16, looked up. Such a dtype has 65,536 values, so that the results of all
 * of them are made once, by the kernel of f32: the same bits, in a fraction of the time.
 *
 * Tables are made when they are first needed, by any thread, and belong to this file: 128 KiB for
 * each function and dtype. If allocating one fails, elements are computed one by one. */
#ifndef JOIST_CORE_KERNELS_HALF_TABLES_H
#define JOIST_CORE_KERNELS_HALF_TABLES_H

#include "core/kernels/kernel.h"
#include "core/program/ops.h"

/* The kernel of an operation with one operand and a result of dtype `half`, which computes in f32
 * where a table would take longer than `count` elements do. NULL where there is none. */
joist_kernel *joist_half_kernel_find(joist_op op, joist_dtype half, size_t count);

/* Frees the tables. Nothing may be running. */
void joist_half_tables_forget(void);

#endif
