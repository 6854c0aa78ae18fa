/* Small blocks of a device's memory, cut from slabs, so that most tensors cost no call of the
 * driver. All work of a device is in the order of one stream: a block that is given back may be
 * taken at once, as what reads or writes it next comes later in that order. */
#ifndef JOIST_CUDA_HOST_SLABS_H
#define JOIST_CUDA_HOST_SLABS_H

#include <stdbool.h>
#include <stddef.h>

enum {
  JOIST_CUDA_SLAB = 1 << 20,
  JOIST_CUDA_SLAB_CLASSES = 8,      /* blocks of 256, 512, ... bytes */
  JOIST_CUDA_BLOCK_MOST = 32 << 10, /* those of the last */
  JOIST_CUDA_SLAB_BUCKETS = 1024
};

struct joist_cuda_slab;

/* Those of a device; all zero when there are none. */
struct joist_cuda_slabs {
  struct joist_cuda_slab *room[JOIST_CUDA_SLAB_CLASSES];   /* in use in part, by size of block */
  struct joist_cuda_slab *empty;                           /* not in use: of no size */
  struct joist_cuda_slab *bucket[JOIST_CUDA_SLAB_BUCKETS]; /* all of them, by address */
  size_t free;                                             /* bytes, also of empty slabs */
  size_t empty_count;
};

/* A block with room for `bytes`; NULL when no slab has one. */
void *joist_cuda_slabs_take(struct joist_cuda_slabs *slabs, size_t bytes);
/* Makes an empty slab of JOIST_CUDA_SLAB bytes of the device's memory. False when memory is out:
 * the caller still owns them. */
bool joist_cuda_slabs_add(struct joist_cuda_slabs *slabs, void *memory);
/* Takes a block back; false when it is of no slab. */
bool joist_cuda_slabs_give(struct joist_cuda_slabs *slabs, void *block);
/* The memory of an empty slab, which is forgotten: the caller's to free. NULL when none is. */
void *joist_cuda_slabs_release(struct joist_cuda_slabs *slabs);

#endif
