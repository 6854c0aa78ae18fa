/* Comparison of elements of two dtypes that no dtype holds both of: integers of 64 bits with
 * doubles, and signed with unsigned ones. Exact; NaN is equal to nothing. */
#ifndef JOIST_CORE_KERNELS_COMPARE_H
#define JOIST_CORE_KERNELS_COMPARE_H

#include "core/kernels/kernel.h"
#include "core/program/ops.h"

/* The kernel of a comparison whose first operand is of dtype `lhs`, the second of `rhs`. Complex
 * numbers are only equal or not. */
joist_kernel *joist_compare_find(joist_op op, joist_dtype lhs, joist_dtype rhs);

#endif
