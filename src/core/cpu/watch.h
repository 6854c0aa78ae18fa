/* Steps that look for values that do not fit: before results are written, operands are looked
 * through by quick code, a piece at a time, which then is in the cache. Only where something may
 * not fit, the elements are looked at one by one, counted, and reported to the tally of the run. */
#ifndef JOIST_CORE_CPU_WATCH_H
#define JOIST_CORE_CPU_WATCH_H

#include "core/base/tally.h"
#include "core/plan/groups.h"

/* Whether the step is one of joist_watch_run(). */
static inline bool joist_step_is_watched(const struct joist_step *step) {
  return step->counts_wrapped ||
         ((step->counts_lost || step->saturates) && step->kind == JOIST_STEP_CONVERT);
}

/* As joist_step_run(), of elements from `first` on of the group; `tally` may be NULL. */
size_t joist_watch_run(const struct joist_program *program, const struct joist_step *step,
                       size_t first, size_t n, const void *const *in, void *out,
                       struct joist_tally *tally);

/* The same of a step that has such a kernel, past the caches: of the results that are whole lines
 * of memory at `out`, where a line begins. Returns how many it wrote, 0 for other steps. */
size_t joist_watch_stream(const struct joist_program *program, const struct joist_step *step,
                          size_t first, size_t n, const void *const *in, void *out,
                          struct joist_tally *tally);

/* Reports the elements that converting n of them from `in` to dtype `to` changes, as far as the
 * instruction is watched for that; if `only_beyond`, those that are beyond the range of the dtype.
 * `offset` is the position of the first one. */
void joist_watch_converted(const struct joist_program *program, uint32_t instruction, size_t n,
                           const void *in, joist_dtype from, joist_dtype to, bool only_beyond,
                           const uint8_t *mask, size_t offset, struct joist_tally *tally);

/* Looks whether converting the scalar at `in` changes it. */
void joist_watch_splat(const struct joist_program *program, const struct joist_step *step,
                       const void *in, struct joist_tally *tally);

#endif
