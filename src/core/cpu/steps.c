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

/* `n` elements that are `stride` elements apart. */
static void gather_run(size_t n, size_t size, const char *in, int64_t stride, char *out) {
#define GATHER_RUN(TYPE)         \
  for (size_t k = 0; k < n; k++) \
  ((TYPE *)(void *)out)[k] = ((const TYPE *)(const void *)in)[(int64_t)k * stride]
  if (stride == 1) {
    memcpy(out, in, n * size);
  } else if (stride == 0) {
    memcpy(out, in, size);
    splat(n, size, out);
  } else if (size == 8) {
    GATHER_RUN(uint64_t);
  } else if (size == 4) {
    GATHER_RUN(uint32_t);
  } else {
    for (size_t k = 0; k < n; k++)
      memcpy(out + k * size, in + (int64_t)k * stride * (int64_t)size, size);
  }
#undef GATHER_RUN
}

void joist_step_gather(const struct joist_group *group, const struct joist_step *step, size_t first,
                       size_t n, const char *in, char *out) {
  const struct joist_shape *const space = &group->shape;
  const int64_t *const stride = step->view->stride;
  const size_t size = step->out.size;
  size_t index[JOIST_RANK_MAX] = {0};
  int64_t at = step->view->offset;
  /* An index space without dims is one run. */
  const size_t row = space->rank > 0 ? space->extent[0] : 1;
  for (int d = 0; d < space->rank; d++) {
    index[d] = first % space->extent[d];
    first /= space->extent[d];
    at += (int64_t)index[d] * stride[d];
  }
  while (n > 0) {
    const size_t run = joist_smaller(row - index[0], n);
    gather_run(run, size, in + at * (int64_t)size, stride[0], out);
    out += run * size;
    n -= run;
    index[0] += run;
    at += (int64_t)run * stride[0];
    for (int d = 0; d + 1 < space->rank && index[d] == space->extent[d]; d++) {
      at -= (int64_t)index[d] * stride[d];
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
