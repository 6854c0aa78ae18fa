/* The pool of large blocks: a doubly linked list of free ones, the latest freed first. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "core/pool.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(MAP_ANONYMOUS)
#define HAVE_MAP 1
#else
#define HAVE_MAP 0
#endif

/* Small blocks are cut from slabs, so that they lie on huge pages too. */
enum { HUGE_PAGE = 2 * 1024 * 1024, SMALL_UNIT = 64 * 1024, SLAB = 8 * 1024 * 1024 };

/* At the start of every block; the user's memory follows. */
struct block {
  size_t size;                   /* of the whole block */
  struct block *next, *previous; /* among the free ones */
};
enum { HEADER = JOIST_POOL_ALIGNMENT };

static struct block *newest = NULL, *oldest = NULL;
static struct joist_pool_figures figures = {0, 0, SIZE_MAX};

static size_t default_limit(void) {
#if defined(_SC_PHYS_PAGES) && HAVE_MAP
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return (size_t)pages / 8 * (size_t)size;
#endif
  return (size_t)512 * 1024 * 1024;
}

static size_t limit(void) {
  if (figures.limit == SIZE_MAX) figures.limit = default_limit();
  return figures.limit;
}

/* Sizes are rounded so that what is left of a block is worth keeping. */
static size_t rounded(size_t bytes) {
  const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : SMALL_UNIT;
  return (bytes + unit - 1) / unit * unit;
}

#if HAVE_MAP
/* Maps `size` bytes at a multiple of a huge page, so that the kernel can use them. */
static void *map(size_t size) {
  const size_t slack = size >= HUGE_PAGE ? HUGE_PAGE : 0;
  char *const mapped =
      mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  const size_t before = slack == 0 ? 0 : (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
  if (before > 0) munmap(mapped, before);
  if (slack > before) munmap(mapped + before + size, slack - before);
#ifdef MADV_HUGEPAGE
  if (slack > 0) madvise(mapped + before, size, MADV_HUGEPAGE);
#endif
  return mapped + before;
}

static void unmap(void *memory, size_t size) { munmap(memory, size); }

/* Bytes the system can still give without swapping; SIZE_MAX when it does not say. */
static size_t available(void) {
  FILE *const file = fopen("/proc/meminfo", "r");
  if (file == NULL) return SIZE_MAX;
  char line[128];
  unsigned long long kilobytes = 0;
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL)
    found = sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1;
  fclose(file);
  return found ? (size_t)kilobytes * 1024 : SIZE_MAX;
}
#else
static void *map(size_t size) { return malloc(size); }
static void unmap(void *memory, size_t size) {
  (void)size;
  free(memory);
}
static size_t available(void) { return SIZE_MAX; }
#endif

static void take_out(struct block *block) {
  *(block->previous != NULL ? &block->previous->next : &newest) = block->next;
  *(block->next != NULL ? &block->next->previous : &oldest) = block->previous;
  figures.kept -= block->size;
}

static void keep(struct block *block) {
  block->previous = NULL;
  block->next = newest;
  *(newest != NULL ? &newest->previous : &oldest) = block;
  newest = block;
  figures.kept += block->size;
}

/* Gives the oldest free blocks back, the last of them perhaps in part, until at most
 * `bytes` are kept. */
static size_t shrink(size_t bytes) {
  size_t given = 0;
  while (figures.kept > bytes) {
    struct block *const block = oldest;
    const size_t excess = (figures.kept - bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (HAVE_MAP && block->size > excess) {
      block->size -= excess;
      figures.kept -= excess;
      unmap((char *)block + block->size, excess);
      given += excess;
    } else {
      take_out(block);
      given += block->size;
      unmap(block, block->size);
    }
  }
  return given;
}

/* The smallest free block that is large enough, the latest freed of equals. */
static struct block *find(size_t size) {
  struct block *best = NULL;
  for (struct block *b = newest; b != NULL && (best == NULL || best->size != size); b = b->next)
    if (b->size >= size && (best == NULL || b->size < best->size)) best = b;
  return best;
}

/* Keeps what is left of the block after `size` bytes. */
static void split(struct block *block, size_t size) {
  if (!HAVE_MAP || block->size - size < SMALL_UNIT) return;
  struct block *const rest = (struct block *)(void *)((char *)block + size);
  rest->size = block->size - size;
  block->size = size;
  keep(rest);
}

/* Free blocks on both sides of a block become part of it. */
static struct block *merge(struct block *block) {
  if (!HAVE_MAP) return block;
  for (struct block *b = newest, *next; b != NULL; b = next) {
    next = b->next;
    if ((char *)b + b->size == (char *)block) {
      take_out(b);
      b->size += block->size;
      block = b;
    } else if ((char *)block + block->size == (char *)b) {
      take_out(b);
      block->size += b->size;
    }
  }
  return block;
}

void *joist_pool_allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  const size_t size = rounded(bytes + HEADER);
  struct block *block = find(size);
  if (block != NULL) {
    take_out(block);
  } else {
    const size_t mapped = HAVE_MAP && size < SLAB ? SLAB : size;
    /* Under memory pressure what is kept is worth more elsewhere. */
    if (figures.kept > 0 && available() < mapped + mapped / 4) shrink(0);
    block = map(mapped);
    if (block == NULL && figures.kept > 0) {
      shrink(0);
      block = map(mapped);
    }
    if (block == NULL) return NULL;
    block->size = mapped;
  }
  split(block, size);
  figures.used += block->size;
  return (char *)block + HEADER;
}

void joist_pool_free(void *block) {
  if (block == NULL) return;
  struct block *const freed = (struct block *)(void *)((char *)block - HEADER);
  figures.used -= freed->size;
  keep(merge(freed));
  shrink(limit());
}

/* Whose it is is noted in front of the memory. */
void *joist_scratch_allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  const bool pooled = bytes >= JOIST_POOL_MIN;
  char *const block = pooled ? joist_pool_allocate(bytes + HEADER) : malloc(bytes + HEADER);
  if (block == NULL) return NULL;
  *(bool *)block = pooled;
  return block + HEADER;
}

void joist_scratch_free(void *memory) {
  if (memory == NULL) return;
  char *const block = (char *)memory - HEADER;
  if (*(bool *)block)
    joist_pool_free(block);
  else
    free(block);
}

struct joist_pool_figures joist_pool_figures(void) {
  limit();
  return figures;
}

void joist_pool_set_limit(size_t bytes) {
  figures.limit = bytes;
  shrink(bytes);
}

size_t joist_pool_trim(void) { return shrink(0); }
