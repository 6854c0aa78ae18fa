/* What the rules of batches are made of. Private to batch*.c. */
#ifndef JOIST_CORE_PROGRAM_BATCH_BUILDER_H
#define JOIST_CORE_PROGRAM_BATCH_BUILDER_H

#include "core/program/batch.h"

/* Appends instructions until one fails; later ones are then left out. */
struct batching {
  struct joist_program *program;
  const struct joist_program *from;
  const struct joist_batch *batch;
  joist_value_id *value; /* of `program`, for each of `from` */
  bool *varies;          /* whether it has a dim of slices: for each of `from` */
  uint32_t source;       /* of the instruction at hand */
  joist_status status;
  struct joist_error *error;
};

static const struct joist_attributes joist_batch_none = {.count = 0};

static inline const struct joist_value *batch_value(const struct batching *b, joist_value_id id) {
  return &b->program->values[id];
}

joist_value_id joist_batch_emit(struct batching *b, joist_op op, const joist_value_id *ids,
                                size_t n, const struct joist_attributes *attributes);
joist_value_id joist_batch_emit1(struct batching *b, joist_op op, joist_value_id x);
joist_value_id joist_batch_emit2(struct batching *b, joist_op op, joist_value_id x,
                                 joist_value_id y);
joist_value_id joist_batch_reshaped(struct batching *b, joist_value_id x,
                                    const struct joist_shape *shape);
joist_value_id joist_batch_broadcast(struct batching *b, joist_value_id x,
                                     const struct joist_shape *shape);
joist_value_id joist_batch_permuted(struct batching *b, joist_value_id x, const int64_t *dims);
/* In place of two last dims: the other one first. */
joist_value_id joist_batch_turned(struct batching *b, joist_value_id x);
joist_value_id joist_batch_converted(struct batching *b, joist_value_id x, struct joist_type type);
/* first, first + 1, ... along the last dim of a shape whose other extents are 1. */
joist_value_id joist_batch_numbers(struct batching *b, joist_dtype dtype, double first, int rank,
                                   uint32_t extent);
/* A scalar. */
joist_value_id joist_batch_number(struct batching *b, struct joist_type type, double number);
/* What is at positions along a dim, from 1 on. */
joist_value_id joist_batch_gathered(struct batching *b, joist_value_id x, joist_value_id positions,
                                    int dim);
/* `yes` where a flag of each slice holds, else `no`; both have slices. */
joist_value_id joist_batch_either(struct batching *b, joist_value_id flags, joist_value_id yes,
                                  joist_value_id no);
/* Whether any of some flags holds, or all. */
joist_value_id joist_batch_fold(struct batching *b, joist_op op, joist_value_id flags);

/* A shape with one extent more. */
struct joist_shape joist_batch_longer(struct batching *b, const struct joist_shape *shape,
                                      uint32_t extent);
/* x, with a dim of slices if it has none. */
joist_value_id joist_batch_spread(struct batching *b, joist_value_id x, bool varies);
/* The value for one of `from`, with a dim of slices. */
joist_value_id joist_batch_varying(struct batching *b, joist_value_id v);
/* The same with extents of 1 behind its own dims, so that it has `rank` of them; what does not vary
 * has an extent of 1 for slices, and a scalar that does not vary stays one. */
joist_value_id joist_batch_aligned(struct batching *b, joist_value_id v, int rank);

/* An instruction of `from` on other operands, with other attributes; gives its first result. */
joist_value_id joist_batch_apply(struct batching *b, const struct joist_instruction *i,
                                 const joist_value_id *ids,
                                 const struct joist_attributes *attributes);

#endif
