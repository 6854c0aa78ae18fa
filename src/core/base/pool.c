/* The pool of large blocks. Blocks lie side by side in mappings; each knows its neighbours there,
 * so that free ones become one without a search. Free blocks are in two lists: all of them by age,
 * and blocks of about one size. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "core/base/pool.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"

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
enum { HUGE_PAGE = 2 * 1024 * 1024, SMALL_UNIT = 4 * 1024, SLAB = 8 * 1024 * 1024 };

struct links {
  struct block *next, *previous;
};

/* At the start of every block; the user's memory follows. */
struct block {
  size_t size;   /* of the whole block */
  size_t before; /* the size of the block in front of it in the same mapping; 0 for the first */
  bool last;     /* in its mapping */
  bool free;
  struct links age, bin; /* among the free ones */
};
enum { HEADER = JOIST_POOL_ALIGNMENT };
_Static_assert(sizeof(struct block) <= HEADER, "the user's memory starts behind the header");

/* Free blocks of 2^k up to below 2^(k + 1) bytes, the latest freed first. */
enum { BINS = 8 * sizeof(size_t), SEEN = 64 /* at most, in a search */ };
static struct block *bins[BINS];
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

/* Blocks consist of whole pages, whose size is a power of two. */
static size_t small_unit(void) {
  static size_t unit = 0;
  if (unit == 0) {
    unit = SMALL_UNIT;
#if defined(_SC_PAGESIZE) && HAVE_MAP
    const long page = sysconf(_SC_PAGESIZE);
    if (page > SMALL_UNIT) unit = (size_t)page;
#endif
  }
  return unit;
}

/* Sizes are rounded so that what is left of a block is worth keeping. */
static size_t rounded(size_t bytes) {
  const size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : small_unit();
  return joist_round_up(bytes, unit);
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

/* ---- neighbours ---- */

static struct block *after(const struct block *block) {
  return block->last ? NULL : (struct block *)(void *)((char *)block + block->size);
}

static struct block *in_front(const struct block *block) {
  return block->before == 0 ? NULL : (struct block *)(void *)((char *)block - block->before);
}

/* Makes of the bytes after the first `size` of a block a block of their own. */
static struct block *cut(struct block *block, size_t size) {
  struct block *const rest = (struct block *)(void *)((char *)block + size);
  *rest = (struct block){.size = block->size - size, .before = size, .last = block->last};
  block->size = size;
  block->last = false;
  if (after(rest) != NULL) after(rest)->before = rest->size;
  return rest;
}

/* Makes one block of two neighbours, neither of which is in a list. */
static void join(struct block *block, const struct block *second) {
  block->size += second->size;
  block->last = second->last;
  if (after(block) != NULL) after(block)->before = block->size;
}

/* ---- free blocks ---- */

static unsigned bin_of(size_t size) { return joist_bit_length(size) - 1; }

static void take_out(struct block *block) {
  struct block **const bin = &bins[bin_of(block->size)];
  *(block->age.previous != NULL ? &block->age.previous->age.next : &newest) = block->age.next;
  *(block->age.next != NULL ? &block->age.next->age.previous : &oldest) = block->age.previous;
  *(block->bin.previous != NULL ? &block->bin.previous->bin.next : bin) = block->bin.next;
  if (block->bin.next != NULL) block->bin.next->bin.previous = block->bin.previous;
  block->free = false;
  figures.kept -= block->size;
}

static void keep(struct block *block) {
  struct block **const bin = &bins[bin_of(block->size)];
  block->age = (struct links){newest, NULL};
  block->bin = (struct links){*bin, NULL};
  *(newest != NULL ? &newest->age.previous : &oldest) = block;
  newest = block;
  if (*bin != NULL) (*bin)->bin.previous = block;
  *bin = block;
  block->free = true;
  figures.kept += block->size;
}

/* Gives a block that is in no list back. */
static void give_back(struct block *block) {
  if (in_front(block) != NULL) in_front(block)->last = true;
  if (after(block) != NULL) after(block)->before = 0;
  unmap(block, block->size);
}

/* Gives the oldest free blocks back, the last of them perhaps in part, until at most
 * `bytes` are kept. */
static size_t shrink(size_t bytes) {
  size_t given = 0;
  while (figures.kept > bytes) {
    struct block *const block = oldest;
    const size_t excess = joist_round_up(figures.kept - bytes, HUGE_PAGE);
    take_out(block);
    if (HAVE_MAP && block->size > excess) {
      given += excess;
      give_back(cut(block, block->size - excess));
      keep(block);
    } else {
      given += block->size;
      give_back(block);
    }
  }
  return given;
}

/* The smallest of the latest freed blocks of about this size that is large enough, the latest freed
 * of equals; of the larger ones, the latest freed of the first bin there is. */
static struct block *find(size_t size) {
  unsigned bin = bin_of(size), seen = 0;
  struct block *best = NULL;
  for (struct block *b = bins[bin];
       b != NULL && (best == NULL || best->size != size) && seen < SEEN; b = b->bin.next, seen++)
    if (b->size >= size && (best == NULL || b->size < best->size)) best = b;
  while (best == NULL && ++bin < BINS) best = bins[bin];
  return best;
}

void *joist_pool_allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  const size_t size = rounded(bytes + HEADER);
  struct block *block = find(size);
  if (block != NULL) {
    take_out(block);
  } else {
    const size_t mapped = HAVE_MAP && size < SLAB && SLAB <= limit() ? SLAB : size;
    /* Under memory pressure what is kept is worth more elsewhere. */
    if (figures.kept > 0 && available() < mapped + mapped / 4) shrink(0);
    block = map(mapped);
    if (block == NULL && figures.kept > 0) {
      shrink(0);
      block = map(mapped);
    }
    if (block == NULL) return NULL;
    *block = (struct block){.size = mapped, .last = true};
  }
  if (HAVE_MAP && block->size - size >= small_unit()) keep(cut(block, size));
  figures.used += block->size;
  return (char *)block + HEADER;
}

void joist_pool_free(void *block) {
  if (block == NULL) return;
  struct block *freed = (struct block *)(void *)((char *)block - HEADER);
  figures.used -= freed->size;
  struct block *const second = after(freed), *const first = in_front(freed);
  if (second != NULL && second->free) {
    take_out(second);
    join(freed, second);
  }
  if (first != NULL && first->free) {
    take_out(first);
    join(first, freed);
    freed = first;
  }
  keep(freed);
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
