/* Operands whose first two dims are matrices and whose other dims are a batch of them. Extents
 * of a batch are equal, or 1, or missing. */
#ifndef JOIST_CORE_OPS_LINALG_MATRIX_BATCH_H
#define JOIST_CORE_OPS_LINALG_MATRIX_BATCH_H

#include "core/base/status.h"
#include "core/types/shape.h"

/* Writes the batch of one or two operands (rhs may be NULL) to the dims of `result` from 2 on,
 * and its rank; dims 0 and 1 are 0. */
joist_status joist_batch_shape(const struct joist_shape *lhs, const struct joist_shape *rhs,
                               struct joist_shape *result,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* The index of the matrix of `operand` that belongs to matrix `index` of a batch, whose extents
 * are the dims of `batch` from dim `first` on. */
size_t joist_batch_index(const struct joist_shape *operand, const struct joist_shape *batch,
                         int first, size_t index);

#endif
