/* Small pieces of memory that are given back together. Pieces never move. */
#ifndef JOIST_CORE_BASE_ARENA_H
#define JOIST_CORE_BASE_ARENA_H

#include <stddef.h>

struct joist_arena_block;

/* All zero is an empty arena. */
struct joist_arena {
  struct joist_arena_block *block;
  size_t used, size; /* of the block */
};

/* Memory aligned for every type; NULL when it is out. */
void *joist_arena_allocate(struct joist_arena *arena, size_t bytes);
/* A copy of `bytes` bytes in the arena. */
void *joist_arena_copy(struct joist_arena *arena, const void *from, size_t bytes);
void joist_arena_clear(struct joist_arena *arena);

#endif
