/* What a run found of values that did not fit: results of integer operations that wrapped, elements
 * that an implicit conversion changed. Workers add to it, rarely. */
#ifndef JOIST_CORE_BASE_TALLY_H
#define JOIST_CORE_BASE_TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOIST_TALLY_MOST = 32 };

/* Results that wrapped; elements that a conversion changed; assigned elements that are beyond the
 * range of the dtype, which is an error under every policy. */
typedef enum { JOIST_FOUND_OVERFLOW, JOIST_FOUND_LOSS, JOIST_FOUND_BEYOND } joist_found;

/* Of one instruction of a program, which is known by its address. `first` counts from 0. */
struct joist_finding {
  const void *program;
  uint32_t instruction;
  joist_found kind;
  size_t count, first;
};

struct joist_tally {
  bool alone; /* of one worker, and without a lock: that waits for streams to memory */
  atomic_flag busy;
  atomic_bool suspected; /* something may not have fitted, and was not counted */
  _Atomic size_t count;  /* findings; later ones than the first few are dropped */
  struct joist_finding found[JOIST_TALLY_MOST];
};

void joist_tally_init(struct joist_tally *tally, bool alone);

/* Adds `count` elements, the first at `first`. */
void joist_tally_add(struct joist_tally *tally, const void *program, uint32_t instruction,
                     joist_found kind, size_t count, size_t first);

/* Whether it has such an element at `first` or before, so that one from there on only adds to the
 * count. `tally` may be NULL. */
bool joist_tally_has(struct joist_tally *tally, const void *program, uint32_t instruction,
                     joist_found kind, size_t first);

/* Adds all that another one has. */
void joist_tally_merge(struct joist_tally *tally, struct joist_tally *from);

static inline void joist_tally_suspect(struct joist_tally *tally) {
  atomic_store_explicit(&tally->suspected, true, memory_order_relaxed);
}
static inline bool joist_tally_suspected(struct joist_tally *tally) {
  return atomic_load_explicit(&tally->suspected, memory_order_relaxed);
}

#endif
