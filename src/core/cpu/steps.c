/* Running one step on one tile. */
#include "core/cpu/steps.h"

#include <stdint.h>
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
    in = value;
  }
  if (joist_bound_convert(step, 1) != NULL)
    joist_bound_convert(step, 1)(1, in, out);
  else
    memcpy(out, in, step->out.size);
  splat(n, step->out.size, out);
}

void joist_step_gather(const struct joist_group *group, const struct joist_step *step, size_t first,
                       size_t n, const char *in, char *out) {
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
