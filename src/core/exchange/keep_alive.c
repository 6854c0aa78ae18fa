/* A count of holders, and a list of what has come back: pushed to by any thread, taken as a whole
 * by one, so that no link that it reads can change. */
#include "core/exchange/keep_alive.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct joist_keep_alive {
  void *owner;
  atomic_size_t holders;
  struct joist_keep_alive *next; /* set by the last release */
};

static _Atomic(struct joist_keep_alive *) returned = NULL;

struct joist_keep_alive *joist_keep_alive_new(void *owner) {
  struct joist_keep_alive *const keep = malloc(sizeof *keep);
  if (keep == NULL) return NULL;
  keep->owner = owner;
  keep->next = NULL;
  atomic_init(&keep->holders, 1);
  return keep;
}

void joist_keep_alive_hold(struct joist_keep_alive *keep) {
  atomic_fetch_add_explicit(&keep->holders, 1, memory_order_relaxed);
}

void joist_keep_alive_release(struct joist_keep_alive *keep) {
  if (atomic_fetch_sub_explicit(&keep->holders, 1, memory_order_acq_rel) > 1) return;
  keep->next = atomic_load_explicit(&returned, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&returned, &keep->next, keep, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

void *joist_keep_alive_returned(void) {
  static struct joist_keep_alive *taken = NULL; /* from the list, not asked for yet */
  if (taken == NULL) {
    if (atomic_load_explicit(&returned, memory_order_relaxed) == NULL) return NULL;
    taken = atomic_exchange_explicit(&returned, NULL, memory_order_acquire);
  }
  struct joist_keep_alive *const keep = taken;
  taken = keep->next;
  void *const owner = keep->owner;
  free(keep);
  return owner;
}
