/* Running one step on one tile. */
#include "core/cpu/steps.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/cpu/bind.h"

static void splat(size_t n, size_t size, void *slot) {
  char *const out = slot;
  if (size == 1) {
    memset(out, *out, n);
    return;
  }
  size_t filled = 1;
  while (filled < n) {
    const size_t more = joist_smaller(filled, n - filled);
    memcpy(out + filled * size, out, more * size);
    filled += more;
  }
}

void joist_step_splat(const struct joist_step *step, size_t n, const void *in, char *out) {
  _Alignas(16) char value[JOIST_ELEMENT_MAX];
  if (joist_bound_convert(step, 0) != NULL) {
    joist_bound_convert(step, 0)(1, in, value);
    in = value;
  }
  if (joist_bound_convert(step, 1) != NULL)
    joist_bound_convert(step, 1)(1, in, out);
  else
    memcpy(out, in, step->out.size);
  splat(n, step->out.size, out);
}

void joist_step_gather(const struct joist_plan *plan, const struct joist_group *group,
                       const struct joist_step *step, size_t first, size_t n, const char *in,
                       char *out) {
  const struct joist_shape *const space = &group->shape;
  const struct joist_shape *const shape = &plan->program->values[step->in[0].index].shape;
  const size_t size = step->out.size;
  size_t index[JOIST_RANK_MAX] = {0}, stride[JOIST_RANK_MAX] = {0}, product = 1, at = 0;
  for (int d = 0; d < space->rank; d++) {
    const bool repeated = shape->rank == 0 || shape->extent[d] == 1;
    stride[d] = repeated ? 0 : product;
    if (!repeated) product *= shape->extent[d];
    index[d] = first % space->extent[d];
    first /= space->extent[d];
    at += index[d] * stride[d];
  }
  while (n > 0) {
    const size_t run = joist_smaller(space->extent[0] - index[0], n);
    memcpy(out, in + at * size, (stride[0] == 0 ? 1 : run) * size);
    if (stride[0] == 0) splat(run, size, out);
    out += run * size;
    n -= run;
    index[0] += run;
    at += run * stride[0];
    for (int d = 0; index[d] == space->extent[d] && d + 1 < space->rank; d++) {
      at -= index[d] * stride[d];
      index[d] = 0;
      index[d + 1]++;
      at += stride[d + 1];
    }
  }
}

size_t joist_step_run(const struct joist_step *step, size_t n, const void *const *in, void *out) {
  if (step->kind == JOIST_STEP_OPERATION) return joist_bound_kernel(step)(n, in, out);
  if (step->kind == JOIST_STEP_CONVERT)
    joist_bound_convert(step, 0)(n, in[0], out);
  else
    memcpy(out, in[0], n * step->out.size);
  return n;
}

bool joist_step_streams(const struct joist_group *group, const struct joist_step *step,
                        size_t stream_from) {
  return step->leaves && group->count * step->out.size >= stream_from;
}
