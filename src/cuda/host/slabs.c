/* Slabs. One that is in use has blocks of one size, and lists those that were given back; blocks
 * from number `made` on were never taken. */
#include "cuda/host/slabs.h"

#include <stdint.h>
#include <stdlib.h>

enum { SMALLEST = 256 /* also the alignment of blocks */, BLOCKS = JOIST_CUDA_SLAB / SMALLEST };

struct joist_cuda_slab {
  struct joist_cuda_slab *next, *previous; /* in the list that it is in, if any */
  struct joist_cuda_slab *chain;           /* in its bucket */
  char *memory;
  uint32_t class, used, made, given;
  uint16_t stack[BLOCKS]; /* numbers of the `given` blocks that were given back */
};

_Static_assert(SMALLEST << (JOIST_CUDA_SLAB_CLASSES - 1) == JOIST_CUDA_BLOCK_MOST,
               "the last class has the largest blocks");
_Static_assert(BLOCKS <= UINT16_MAX, "blocks have numbers of 16 bits");

static size_t size_of(uint32_t class) { return (size_t)SMALLEST << class; }

static bool is_full(const struct joist_cuda_slab *slab) {
  return slab->used == JOIST_CUDA_SLAB / size_of(slab->class);
}

/* At most JOIST_CUDA_BLOCK_MOST bytes. */
static uint32_t class_of(size_t bytes) {
  uint32_t class = 0;
  while (size_of(class) < bytes) class ++;
  return class;
}

/* ---- lists ---- */

static void put_in(struct joist_cuda_slab **list, struct joist_cuda_slab *slab) {
  slab->previous = NULL;
  slab->next = *list;
  if (*list != NULL) (*list)->previous = slab;
  *list = slab;
}

static void take_out(struct joist_cuda_slab **list, struct joist_cuda_slab *slab) {
  *(slab->previous != NULL ? &slab->previous->next : list) = slab->next;
  if (slab->next != NULL) slab->next->previous = slab->previous;
}

/* Memory counted in slabs: a slab has the bucket of the number that it starts in. No two start
 * in the same, and its addresses are in that one and the next. */
static struct joist_cuda_slab **bucket_of(struct joist_cuda_slabs *slabs, uintptr_t number) {
  return &slabs->bucket[number % JOIST_CUDA_SLAB_BUCKETS];
}

static uintptr_t number_of(const void *address) { return (uintptr_t)address / JOIST_CUDA_SLAB; }

static struct joist_cuda_slab *slab_of(struct joist_cuda_slabs *slabs, const void *block) {
  for (uintptr_t k = 0; k < 2; k++)
    for (struct joist_cuda_slab *s = *bucket_of(slabs, number_of(block) - k); s != NULL;
         s = s->chain)
      if ((uintptr_t)block - (uintptr_t)s->memory < JOIST_CUDA_SLAB) return s;
  return NULL;
}

/* ---- slabs and blocks ---- */

bool joist_cuda_slabs_add(struct joist_cuda_slabs *slabs, void *memory) {
  struct joist_cuda_slab *const slab = malloc(sizeof *slab);
  if (slab == NULL) return false;
  struct joist_cuda_slab **const bucket = bucket_of(slabs, number_of(memory));
  slab->memory = memory;
  slab->chain = *bucket;
  *bucket = slab;
  put_in(&slabs->empty, slab);
  slabs->empty_count++;
  slabs->free += JOIST_CUDA_SLAB;
  return true;
}

void *joist_cuda_slabs_release(struct joist_cuda_slabs *slabs) {
  struct joist_cuda_slab *const slab = slabs->empty;
  if (slab == NULL) return NULL;
  void *const memory = slab->memory;
  struct joist_cuda_slab **at = bucket_of(slabs, number_of(memory));
  while (*at != slab) at = &(*at)->chain;
  *at = slab->chain;
  take_out(&slabs->empty, slab);
  slabs->empty_count--;
  slabs->free -= JOIST_CUDA_SLAB;
  free(slab);
  return memory;
}

/* A slab with a free block of a class, in its list; NULL when there is none. */
static struct joist_cuda_slab *with_room(struct joist_cuda_slabs *slabs, uint32_t class) {
  struct joist_cuda_slab *const slab = slabs->empty;
  if (slabs->room[class] != NULL || slab == NULL) return slabs->room[class];
  take_out(&slabs->empty, slab);
  slabs->empty_count--;
  slab->class = class;
  slab->used = slab->made = slab->given = 0;
  put_in(&slabs->room[class], slab);
  return slab;
}

void *joist_cuda_slabs_take(struct joist_cuda_slabs *slabs, size_t bytes) {
  const uint32_t class = class_of(bytes);
  struct joist_cuda_slab *const slab = with_room(slabs, class);
  if (slab == NULL) return NULL;
  const uint32_t number = slab->given > 0 ? slab->stack[--slab->given] : slab->made++;
  slab->used++;
  if (is_full(slab)) take_out(&slabs->room[class], slab);
  slabs->free -= size_of(class);
  return slab->memory + number * size_of(class);
}

bool joist_cuda_slabs_give(struct joist_cuda_slabs *slabs, void *block) {
  struct joist_cuda_slab *const slab = slab_of(slabs, block);
  if (slab == NULL) return false;
  const size_t size = size_of(slab->class);
  if (is_full(slab)) put_in(&slabs->room[slab->class], slab);
  slab->stack[slab->given++] = (uint16_t)(((uintptr_t)block - (uintptr_t)slab->memory) / size);
  slab->used--;
  slabs->free += size;
  if (slab->used > 0) return true;
  take_out(&slabs->room[slab->class], slab);
  put_in(&slabs->empty, slab);
  slabs->empty_count++;
  return true;
}
