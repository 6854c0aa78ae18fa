/* One function for each way in which blocks of a result come from blocks of the operands. */
#include "core/program/blocks.h"

#include "core/types/shape.h"

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static bool flag(const struct joist_blocked *b, joist_attribute_name name) {
  return joist_attribute_flag(b->attributes, name);
}

/* Whether operand `k` has the positions of the result in dim `d`, and is not repeated there. */
static bool goes_along(const struct joist_blocked *b, size_t k, int d) {
  return b->shapes[k]->rank == b->result->rank && b->shapes[k]->extent[d] == b->result->extent[d];
}

/* The largest chunks of the operands. */
static void chunks_of_each(const struct joist_blocked *b, uint32_t *chunks) {
  for (int d = 0; d < b->result->rank; d++) {
    chunks[d] = 0;
    for (size_t k = 0; k < b->count; k++)
      if (b->chunks[k] != NULL && goes_along(b, k, d))
        chunks[d] = larger(chunks[d], b->chunks[k][d]);
    if (chunks[d] == 0) chunks[d] = larger(1, b->result->extent[d]);
  }
}

/* The dim of the operand of a reshape that a dim of the result is, -1 for one of extent 1. `from`
 * is where to go on in the operand. */
static int reshaped_dim(const struct joist_shape *own, uint32_t extent, int *from) {
  if (extent == 1) return -1;
  while (*from < own->rank && own->extent[*from] == 1) ++*from;
  return (*from)++;
}

static bool chunks_of_reshape(const struct joist_blocked *b, uint32_t *chunks) {
  const struct joist_shape *const own = b->shapes[0];
  int from = 0;
  for (int d = 0; d < b->result->rank; d++) {
    const int at = reshaped_dim(own, b->result->extent[d], &from);
    if (at >= own->rank || (at >= 0 && own->extent[at] != b->result->extent[d])) return false;
    chunks[d] = at < 0 ? 1 : b->chunks[0][at];
  }
  while (from < own->rank && own->extent[from] == 1) from++;
  return from == own->rank;
}

/* The dim that an operation goes along; -1 if it goes along all. */
static int dim_along(const struct joist_blocked *b) {
  const int dim = joist_attribute_dim(b->attributes);
  return dim < 0 && b->shapes[0]->rank == 1 ? 0 : dim;
}

static bool chunks_along(const struct joist_blocked *b, uint32_t *chunks) {
  const int dim = dim_along(b), rank = b->shapes[0]->rank;
  const bool dropped = b->result->rank < rank;
  if (dim < 0 || joist_attribute_mask(b->attributes) != 0) return false;
  for (int d = 0, to = 0; d < rank; d++) {
    if (d == dim && dropped) continue;
    chunks[to] = 1;
    for (size_t k = 0; k < b->count; k++)
      if (b->chunks[k] != NULL) chunks[to] = larger(chunks[to], b->chunks[k][d]);
    if (d == dim) chunks[to] = larger(1, b->result->extent[to]);
    to++;
  }
  return true;
}

static void chunks_of_fold(const struct joist_blocked *b, uint32_t *chunks) {
  const uint32_t folded = joist_attribute_mask(b->attributes);
  const bool drop = flag(b, JOIST_ATTRIBUTE_DROP);
  for (int d = 0, to = 0; d < b->shapes[0]->rank; d++) {
    const bool is_folded = folded >> d & 1;
    if (!(is_folded && drop)) chunks[to++] = is_folded ? 1 : b->chunks[0][d];
  }
}

/* Which dim of operand `k` has the terms of a product of matrices. */
static int dim_of_terms(const struct joist_blocked *b, size_t k) {
  return k == 0 ? !flag(b, JOIST_ATTRIBUTE_TRANSPOSE_LHS) : flag(b, JOIST_ATTRIBUTE_TRANSPOSE_RHS);
}

static bool chunks_of_product(const struct joist_blocked *b, struct joist_blocks *blocks) {
  if (b->shapes[0]->rank != 2 || b->shapes[1]->rank != 2) return false;
  uint32_t step = 0;
  for (size_t k = 0; k < 2; k++) {
    const uint32_t *const own = b->chunks[k] != NULL ? b->chunks[k] : b->shapes[k]->extent;
    blocks->chunks[k] = larger(1, own[!dim_of_terms(b, k)]);
    if (b->chunks[k] != NULL) step = larger(step, own[dim_of_terms(b, k)]);
  }
  blocks->terms = b->shapes[0]->extent[dim_of_terms(b, 0)];
  blocks->step = smaller(step, larger(1, blocks->terms));
  blocks->parts = blocks->step < blocks->terms;
  return true;
}

bool joist_blocks_of(const struct joist_blocked *b, struct joist_blocks *blocks) {
  const joist_block_role role = joist_op_block_role(b->op);
  if (joist_operation(b->op)->results != 1) return false;
  *blocks =
      (struct joist_blocks){.parts = role == JOIST_BLOCKS_FOLD || role == JOIST_BLOCKS_COUNTS};
  switch (role) {
    case JOIST_BLOCKS_NONE:
      return false;
    case JOIST_BLOCKS_EACH:
      chunks_of_each(b, blocks->chunks);
      return true;
    case JOIST_BLOCKS_RESHAPE:
      return chunks_of_reshape(b, blocks->chunks);
    case JOIST_BLOCKS_PERMUTE:
      for (int d = 0; d < b->result->rank; d++)
        blocks->chunks[d] =
            b->chunks[0][joist_attribute_at(b->attributes, JOIST_ATTRIBUTE_PERMUTATION, d)];
      return true;
    case JOIST_BLOCKS_ALONG:
      return chunks_along(b, blocks->chunks);
    case JOIST_BLOCKS_FOLD:
      chunks_of_fold(b, blocks->chunks);
      return true;
    case JOIST_BLOCKS_COUNTS:
      for (int d = 0; d < b->result->rank; d++) blocks->chunks[d] = larger(1, b->result->extent[d]);
      return true;
    case JOIST_BLOCKS_PRODUCT:
      return chunks_of_product(b, blocks);
  }
  return false;
}

void joist_blocks_map(const struct joist_blocked *b, size_t k, const int8_t *map,
                      int8_t own[JOIST_RANK_MAX]) {
  const struct joist_shape *const shape = b->shapes[k], *const result = b->result;
  for (int d = 0; d < shape->rank; d++) own[d] = JOIST_MAP_WHOLE;
  switch (joist_op_block_role(b->op)) {
    case JOIST_BLOCKS_EACH:
      for (int d = 0; d < shape->rank; d++)
        if (goes_along(b, k, d)) own[d] = map[d];
      return;
    case JOIST_BLOCKS_RESHAPE:
      for (int d = 0, from = 0; d < result->rank; d++) {
        const int at = reshaped_dim(shape, result->extent[d], &from);
        if (at >= 0) own[at] = map[d];
      }
      return;
    case JOIST_BLOCKS_PERMUTE:
      for (int d = 0; d < result->rank; d++)
        own[joist_attribute_at(b->attributes, JOIST_ATTRIBUTE_PERMUTATION, d)] = map[d];
      return;
    case JOIST_BLOCKS_ALONG: {
      const int dim = dim_along(b), dropped = result->rank < shape->rank;
      for (int d = 0; d < shape->rank; d++)
        if (d != dim) own[d] = map[d > dim ? d - dropped : d];
      return;
    }
    case JOIST_BLOCKS_PRODUCT:
      own[!dim_of_terms(b, k)] = map[k];
      return;
    case JOIST_BLOCKS_NONE: /* these need all elements, or are combined from parts */
    case JOIST_BLOCKS_FOLD:
    case JOIST_BLOCKS_COUNTS:
      return;
  }
}

void joist_blocks_attributes(const struct joist_blocked *b, const struct joist_shape *block,
                             bool reversed, struct joist_attributes *attributes,
                             int64_t room[JOIST_RANK_MAX]) {
  const int last = b->shapes[0]->rank - 1;
  *attributes = (struct joist_attributes){.count = 0};
  for (uint32_t k = 0; k < b->attributes->count; k++) {
    const struct joist_attribute item = b->attributes->item[k];
    if (item.name == JOIST_ATTRIBUTE_SHAPE) {
      joist_attributes_set_shape(attributes, block, room);
    } else if (reversed && item.name == JOIST_ATTRIBUTE_DIM) {
      joist_attributes_set(attributes, item.name, last - item.one);
    } else if (reversed && item.name == JOIST_ATTRIBUTE_PERMUTATION) {
      for (int d = 0; d <= last; d++)
        room[d] = last - joist_attribute_at(b->attributes, item.name, last - d);
      joist_attributes_set_list(attributes, item.name, room, (size_t)last + 1);
    } else if (reversed && item.name == JOIST_ATTRIBUTE_TRANSPOSE_LHS) {
      joist_attributes_set(attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS, item.one);
    } else if (reversed && item.name == JOIST_ATTRIBUTE_TRANSPOSE_RHS) {
      joist_attributes_set(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS, item.one);
    } else {
      attributes->item[attributes->count++] = item;
    }
  }
}
