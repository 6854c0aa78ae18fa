/* Operations computed block by block: the extents of the blocks of a result, and which part of each
 * operand a block needs.
 *
 * Blocks have the extents `chunks`, less at the end of a dim. Programs run over a space of blocks;
 * a map says for each dim of a value which dim of the space it follows. Owns no memory; nothing
 * here can fail. */
#ifndef JOIST_CORE_PROGRAM_BLOCKS_H
#define JOIST_CORE_PROGRAM_BLOCKS_H

#include "core/program/ops.h"

enum { JOIST_MAP_WHOLE = -1 }; /* in a map: a dim that every block has in full */

/* An operation, with its operands and its result as a whole. */
struct joist_blocked {
  joist_op op;
  const struct joist_attributes *attributes;
  size_t count;
  const struct joist_shape *const *shapes; /* of the operands */
  const uint32_t *const *chunks; /* of the operands, NULL for one in memory; or no such list */
  const struct joist_shape *result;
};

struct joist_blocks {
  uint32_t chunks[JOIST_RANK_MAX]; /* of the result */
  bool parts;                      /* blocks of the result are combined from parts */
  uint32_t terms, step;            /* PRODUCT: terms of a sum, and of a part of it */
};

/* False if there are several results, or one that needs all elements of its operands at once. */
bool joist_blocks_of(const struct joist_blocked *blocked, struct joist_blocks *blocks);

/* Writes the map of operand `k`, given the map of a result that is not combined from parts. */
void joist_blocks_map(const struct joist_blocked *blocked, size_t k, const int8_t *map,
                      int8_t own[JOIST_RANK_MAX]);

/* The attributes of the operation on blocks, of which the result's has the shape `block`. If
 * `reversed`, the blocks have their dims in reverse order, a PRODUCT its operands, and so has
 * `block`. Lists are written to `room`, which the attributes refer to. */
void joist_blocks_attributes(const struct joist_blocked *blocked, const struct joist_shape *block,
                             bool reversed, struct joist_attributes *attributes,
                             int64_t room[JOIST_RANK_MAX]);

#endif
