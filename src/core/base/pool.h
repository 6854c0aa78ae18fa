/* A pool of memory blocks, so that a result does not pay for fresh pages.
 *
 * An elementwise operation costs less in arithmetic than in page faults, where the allocator
 * returns memory to the system between results. Blocks from JOIST_POOL_MIN bytes on are mapped in
 * huge pages where the system has them, and kept when they are freed, up to a bound; free
 * neighbours in a mapping become one, and a request takes the part it needs. Without huge pages, or
 * where memory cannot be mapped, blocks work the same and only the first use of each is slower. Not
 * thread-safe: called from R's thread only. */
#ifndef JOIST_CORE_BASE_POOL_H
#define JOIST_CORE_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>

enum { JOIST_POOL_MIN = 6 * 1024, JOIST_POOL_ALIGNMENT = 64 };

/* A block of at least `bytes` bytes, aligned to JOIST_POOL_ALIGNMENT; NULL when memory is
 * out even after what is kept was given back. Owned by the caller until joist_pool_free. */
void *joist_pool_allocate(size_t bytes);
void joist_pool_free(void *block);

/* Memory for a while, aligned for any dtype: large blocks are the pool's, small ones
 * malloc's. Owned by the caller until joist_scratch_free. */
void *joist_scratch_allocate(size_t bytes);
void joist_scratch_free(void *memory);

struct joist_pool_figures {
  size_t used;  /* bytes of blocks in use */
  size_t kept;  /* bytes of free blocks that are kept */
  size_t limit; /* most bytes that are kept */
};
struct joist_pool_figures joist_pool_figures(void);

/* Sets the bound on what is kept, and gives back what is above it. The default is an
 * eighth of the physical memory. */
void joist_pool_set_limit(size_t bytes);
/* Gives all that is kept back to the system; returns how many bytes. */
size_t joist_pool_trim(void);

#endif
