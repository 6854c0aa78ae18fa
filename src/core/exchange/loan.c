/* A count of holders, and a list of what has come back: pushed to by any thread, taken as a whole
 * by one, so that no link that it reads can change. */
#include "core/exchange/loan.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct joist_loan {
  void *owner;
  atomic_size_t holders;
  struct joist_loan *next; /* once nobody holds it */
};

static _Atomic(struct joist_loan *) returned = NULL;

struct joist_loan *joist_loan_new(void *owner) {
  struct joist_loan *const loan = malloc(sizeof *loan);
  if (loan == NULL) return NULL;
  loan->owner = owner;
  loan->next = NULL;
  atomic_init(&loan->holders, 1);
  return loan;
}

void joist_loan_hold(struct joist_loan *loan) {
  atomic_fetch_add_explicit(&loan->holders, 1, memory_order_relaxed);
}

void joist_loan_release(struct joist_loan *loan) {
  if (atomic_fetch_sub_explicit(&loan->holders, 1, memory_order_acq_rel) > 1) return;
  loan->next = atomic_load_explicit(&returned, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&returned, &loan->next, loan, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

void *joist_loan_returned(void) {
  static struct joist_loan *taken = NULL; /* from the list, not asked for yet */
  if (taken == NULL) {
    if (atomic_load_explicit(&returned, memory_order_relaxed) == NULL) return NULL;
    taken = atomic_exchange_explicit(&returned, NULL, memory_order_acquire);
  }
  struct joist_loan *const loan = taken;
  taken = loan->next;
  void *const owner = loan->owner;
  free(loan);
  return owner;
}
