/* Running one step on one tile. */
#include "core/cpu/steps.h"

#include <stdint.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/by_size.h"
#include "core/base/vectorize.h"
#include "core/cpu/bind.h"
#include "core/types/changed.h"

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

/* ---- broadcast and moved operands ---- */

enum { SHORT_RUN = 64 }; /* elements of a run that are stored one by one, below */

/* `rows` runs of n elements; how far apart elements of one are in the operand, and runs. */
struct spread {
  size_t n, rows;
  int64_t stride, row_stride;
};

#define SPREAD(BITS)                                                              \
  static void spread_##BITS(const struct spread *by, const void *in, void *out) { \
    const uint##BITS##_t *x = in;                                                 \
    uint##BITS##_t *z = out;                                                      \
    for (size_t r = 0; r < by->rows; r++, x += by->row_stride, z += by->n)        \
      for (size_t k = 0; k < by->n; k++) z[k] = x[(int64_t)k * by->stride];       \
  }
SPREAD(8)
SPREAD(16)
SPREAD(32)
SPREAD(64)

static void spread_elements(size_t size, const struct spread *by, const char *in, char *out) {
  switch (size) {
    case 1:
      spread_8(by, in, out);
      return;
    case 2:
      spread_16(by, in, out);
      return;
    case 4:
      spread_32(by, in, out);
      return;
    case 8:
      spread_64(by, in, out);
      return;
    default:
      for (size_t r = 0; r < by->rows; r++) {
        for (size_t k = 0; k < by->n; k++)
          memcpy(out + k * size, in + (int64_t)k * by->stride * (int64_t)size, size);
        in += by->row_stride * (int64_t)size;
        out += by->n * size;
      }
  }
}

void joist_step_splat(const struct joist_step *step, size_t n, const void *in, char *out) {
  _Alignas(16) char value[JOIST_ELEMENT_MAX];
  if (joist_bound_convert(step, 0) != NULL) {
    joist_bound_convert(step, 0)(1, in, value);
    if (step->saturates) joist_saturate_changed(1, in, step->in[0].dtype, step->through, value);
    in = value;
  }
  if (joist_bound_convert(step, 1) != NULL)
    joist_bound_convert(step, 1)(1, in, out);
  else
    memcpy(out, in, step->out.size);
  splat(n, step->out.size, out);
}

/* Elements from listed positions, which are `apart` and count from `first`. */
struct taken {
  size_t n;
  int64_t stride, along, first, apart;
};

enum { AHEAD = 24 }; /* elements that are fetched before they are read */

#define TAKE(TYPE, LIST)                                                                     \
  static void take_##LIST##_##TYPE(const struct taken *by, const TYPE *in, const LIST *list, \
                                   TYPE *out) {                                              \
    const int64_t along = by->along, stride = by->stride, first = by->first;                 \
    const int64_t apart = by->apart, n = (int64_t)by->n;                                     \
    int64_t k = 0;                                                                           \
    for (; k + AHEAD < n; k++) {                                                             \
      JOIST_PREFETCH(in + ((int64_t)list[(k + AHEAD) * apart] - first) * along);             \
      out[k] = in[((int64_t)list[k * apart] - first) * along + k * stride];                  \
    }                                                                                        \
    for (; k < n; k++) out[k] = in[((int64_t)list[k * apart] - first) * along + k * stride]; \
  }
#define TAKES(TYPE) TAKE(TYPE, int32_t) TAKE(TYPE, int64_t)
TAKES(uint8_t)
TAKES(uint16_t)
TAKES(uint32_t)
TAKES(uint64_t)
TAKES(sixteen)

/* A gather from listed positions, run by run along the first dim. */
static void gather_listed(const struct joist_group *group, const struct joist_step *step,
                          size_t first, size_t n, const char *in, const void *list, char *out) {
  const struct joist_shape *const space = &group->shape;
  const struct joist_view *const view = step->view;
  const int64_t size = (int64_t)step->out.size;
  const bool narrow = step->in[1].dtype == JOIST_I32;
  const size_t extent = space->extent[0];
  size_t index[JOIST_RANK_MAX] = {0};
  int64_t at = view->offset, entry = 0;
  for (int d = 0; d < space->rank; d++) {
    index[d] = first % space->extent[d];
    first /= space->extent[d];
    at += (int64_t)index[d] * view->stride[d];
    entry += (int64_t)index[d] * view->list_stride[d];
  }
  while (n > 0) {
    const size_t run = joist_smaller(extent - index[0], n);
    const void *const entries = (const char *)list + entry * (narrow ? 4 : 8);
    const int64_t position = narrow ? *(const int32_t *)entries : *(const int64_t *)entries;
    const struct taken by = {run, view->stride[0], view->along, view->first, view->list_stride[0]};
    if (by.apart == 0 && by.stride == 1)
      memcpy(out, in + (at + (position - by.first) * by.along) * size, run * step->out.size);
    else if (narrow)
      JOIST_BY_SIZE(step->out.size, take_int32_t, &by, (const void *)(in + at * size), entries,
                    (void *)out);
    else
      JOIST_BY_SIZE(step->out.size, take_int64_t, &by, (const void *)(in + at * size), entries,
                    (void *)out);
    out += run * step->out.size;
    n -= run;
    at += (int64_t)run * view->stride[0];
    entry += (int64_t)run * view->list_stride[0];
    index[0] += run;
    for (int d = 0; d + 1 < space->rank && index[d] == space->extent[d]; d++) {
      at += view->stride[d + 1] - (int64_t)index[d] * view->stride[d];
      entry += view->list_stride[d + 1] - (int64_t)index[d] * view->list_stride[d];
      index[d] = 0;
      index[d + 1]++;
    }
  }
}

void joist_step_gather(const struct joist_group *group, const struct joist_step *step, size_t first,
                       size_t n, const char *in, const void *list, char *out) {
  if (step->view->listed) {
    gather_listed(group, step, first, n, in, list, out);
    return;
  }
  const struct joist_shape *const space = &group->shape;
  const int64_t *const stride = step->view->stride;
  const size_t size = step->out.size;
  size_t index[JOIST_RANK_MAX] = {0};
  int64_t at = step->view->offset;
  for (int d = 0; d < space->rank; d++) {
    index[d] = first % space->extent[d];
    first /= space->extent[d];
    at += (int64_t)index[d] * stride[d];
  }
  /* An index space without dims is one run. */
  const size_t extent = space->rank > 0 ? space->extent[0] : 1;
  const int64_t row_stride = space->rank > 1 ? stride[1] : 0;
  while (n > 0) {
    size_t run = joist_smaller(extent - index[0], n), rows = 1;
    if (space->rank > 1 && run == extent && run < SHORT_RUN)
      rows = joist_smaller(space->extent[1] - index[1], n / run);
    if (run < SHORT_RUN || (stride[0] != 0 && stride[0] != 1)) {
      const struct spread spread = {run, rows, stride[0], row_stride};
      spread_elements(size, &spread, in + at * (int64_t)size, out);
    } else {
      memcpy(out, in + at * (int64_t)size, (stride[0] == 0 ? 1 : run) * size);
      if (stride[0] == 0) splat(run, size, out);
    }
    out += rows * run * size;
    n -= rows * run;
    index[0] += run;
    at += (int64_t)run * stride[0];
    if (index[0] == extent && space->rank > 1) {
      at += (int64_t)rows * row_stride - (int64_t)extent * stride[0];
      index[0] = 0;
      index[1] += rows;
    }
    for (int d = 1; d + 1 < space->rank && index[d] == space->extent[d]; d++) {
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
