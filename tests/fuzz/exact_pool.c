/* In place of src/core/base/pool.c: each block is one of malloc()'s, of exactly its size, so that
 * AddressSanitizer sees what is read or written beside it. */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/pool.h"

static struct joist_pool_figures figures = {0, 0, 1 << 28};

void *joist_pool_allocate(size_t bytes) {
  void *block = NULL;
  if (bytes > SIZE_MAX / 2 || posix_memalign(&block, JOIST_POOL_ALIGNMENT, bytes) != 0) return NULL;
  figures.used += malloc_usable_size(block);
  return block;
}

void joist_pool_free(void *block) {
  if (block != NULL) figures.used -= malloc_usable_size(block);
  free(block);
}

void *joist_scratch_allocate(size_t bytes) {
  void *block = NULL;
  if (bytes > SIZE_MAX / 2 || posix_memalign(&block, JOIST_POOL_ALIGNMENT, bytes) != 0) return NULL;
  return block;
}

void joist_scratch_free(void *memory) { free(memory); }

struct joist_pool_figures joist_pool_figures(void) {
  return figures;
}

void joist_pool_set_limit(size_t bytes) { figures.limit = bytes; }

size_t joist_pool_trim(void) { return 0; }
