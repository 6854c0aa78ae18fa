/* Arenas: a list of blocks, of which the first is cut into pieces. */
#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>

/* The address sanitizer reports reads outside the pieces, which have a gap between them. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif

enum { SMALLEST = 1 << 10, LARGEST = 1 << 16, ALIGNMENT = 16 };

struct joist_arena_block {
  struct joist_arena_block *next;
  _Alignas(ALIGNMENT) char bytes[];
};

void *joist_arena_allocate(struct joist_arena *arena, size_t bytes) {
  if (bytes > (size_t)-1 / 2) return NULL;
  const size_t wanted = (bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->block == NULL || arena->size - arena->used < wanted) {
    size_t size = arena->size == 0 ? (size_t)SMALLEST : 2 * arena->size;
    if (size > LARGEST) size = LARGEST;
    if (size < wanted) size = wanted;
    struct joist_arena_block *const block = malloc(sizeof *block + size);
    if (block == NULL) return NULL;
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    block->next = arena->block;
    arena->block = block;
    arena->size = size;
    arena->used = 0;
  }
  void *const piece = arena->block->bytes + arena->used;
  ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
  arena->used += wanted;
  return piece;
}

void *joist_arena_copy(struct joist_arena *arena, const void *from, size_t bytes) {
  void *const copy = joist_arena_allocate(arena, bytes);
  if (copy != NULL && bytes > 0) memcpy(copy, from, bytes);
  return copy;
}

void joist_arena_clear(struct joist_arena *arena) {
  while (arena->block != NULL) {
    struct joist_arena_block *const next = arena->block->next;
    free(arena->block);
    arena->block = next;
  }
  *arena = (struct joist_arena){NULL, 0, 0};
}
