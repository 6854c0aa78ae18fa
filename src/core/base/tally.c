/* Adding to a tally. */
#include "core/base/tally.h"

void joist_tally_init(struct joist_tally *tally, bool alone) {
  tally->alone = alone;
  atomic_flag_clear(&tally->busy);
  atomic_store(&tally->suspected, false);
  tally->count = 0;
}

static void lock(struct joist_tally *tally) {
  while (!tally->alone && atomic_flag_test_and_set_explicit(&tally->busy, memory_order_acquire))
    continue;
}
static void unlock(struct joist_tally *tally) {
  atomic_flag_clear_explicit(&tally->busy, memory_order_release);
}

/* The number of the finding, or that of all for none. */
static size_t find(const struct joist_tally *tally, const void *program, uint32_t instruction,
                   joist_found kind) {
  size_t k = 0;
  while (k < tally->count &&
         (tally->found[k].program != program || tally->found[k].instruction != instruction ||
          tally->found[k].kind != kind))
    k++;
  return k;
}

void joist_tally_add(struct joist_tally *tally, const void *program, uint32_t instruction,
                     joist_found kind, size_t count, size_t first) {
  if (count == 0) return;
  lock(tally);
  size_t k = find(tally, program, instruction, kind);
  if (k < tally->count) {
    tally->found[k].count += count;
    if (first < tally->found[k].first) tally->found[k].first = first;
  } else if (k < JOIST_TALLY_MOST || kind == JOIST_FOUND_BEYOND) {
    if (k == JOIST_TALLY_MOST) k--; /* what is refused is not dropped */
    tally->found[k] = (struct joist_finding){program, instruction, kind, count, first};
    tally->count = k + 1;
  }
  unlock(tally);
}

bool joist_tally_has(struct joist_tally *tally, const void *program, uint32_t instruction,
                     joist_found kind, size_t first) {
  if (tally == NULL || atomic_load_explicit(&tally->count, memory_order_relaxed) == 0) return false;
  lock(tally);
  const size_t k = find(tally, program, instruction, kind);
  const bool before = k < tally->count && tally->found[k].first <= first;
  unlock(tally);
  return before;
}

void joist_tally_merge(struct joist_tally *tally, struct joist_tally *from) {
  if (joist_tally_suspected(from)) joist_tally_suspect(tally);
  for (size_t k = 0; k < from->count; k++) {
    const struct joist_finding *const f = &from->found[k];
    joist_tally_add(tally, f->program, f->instruction, f->kind, f->count, f->first);
  }
}
