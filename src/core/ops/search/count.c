/* Counting: TRUE elements, and elements by their value. */
#include "core/ops/search/count.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum { STRIP = 1 << 11, POLL = 1 << 24 };

size_t joist_count_true(size_t n, const uint8_t *in) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += in[i] != 0;
  return count;
}

void joist_which(size_t n, const uint8_t *in, int32_t *positions) {
  size_t count = 0;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
    uint64_t eight;
    memcpy(&eight, in + i, sizeof eight);
    if (eight == 0) continue;
    for (size_t k = i; k < i + sizeof eight; k++)
      if (in[k] != 0) positions[count++] = (int32_t)(k + 1);
  }
  for (; i < n; i++)
    if (in[i] != 0) positions[count++] = (int32_t)(i + 1);
}

void joist_which_indices(const struct joist_shape *shape, const uint8_t *in, size_t count,
                         int32_t *indices) {
  size_t n = 0;
  (void)joist_shape_count(shape, &n);
  for (size_t i = 0, row = 0; i < n && row < count; i++) {
    if (in[i] == 0) continue;
    size_t rest = i;
    for (int d = 0; d < shape->rank; d++) {
      indices[row + (size_t)d * count] = (int32_t)(rest % shape->extent[d]) + 1;
      rest /= shape->extent[d];
    }
    row++;
  }
}

void joist_compress(size_t size, size_t n, const uint8_t *left_out, const void *in, void *out) {
  const char *const from = in;
  char *to = out;
  for (size_t i = 0; i < n;) {
    size_t run = 0;
    while (i + run < n && left_out[i + run] == 0) run++;
    if (run > 0) memcpy(to, from + i * size, run * size);
    to += run * size;
    i += run + 1;
  }
}

joist_status joist_tabulate_shape(const struct joist_shape *const *shapes,
                                  const struct joist_attributes *attributes,
                                  struct joist_shape *result, struct joist_error *error) {
  (void)shapes;
  (void)joist_attribute_shape(attributes, result);
  if (result->rank == 1) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_COUNTS_SHAPE, .shape = {*result});
}

/* Elements are bins from 1 on; elements of no bin are left out. */
joist_status joist_tabulate_run(const struct joist_call *call, struct joist_error *error) {
  const joist_dtype dtype = call->operand[0]->type.dtype;
  const size_t size = joist_dtype_size(dtype);
  const uint64_t bins = call->result->shape.extent[0];
  joist_convert_kernel *const convert = joist_convert_find(dtype, JOIST_I64);
  const char *const in = call->in[0];
  int64_t *const out = call->out[0];
  const size_t n = joist_value_count(call->operand[0]);
  if (call->result->type.dtype != JOIST_I64)
    return JOIST_FAIL(error, JOIST_E_COUNTS_DTYPE, .type = {call->result->type});
  memset(out, 0, (size_t)bins * sizeof *out);
  for (size_t first = 0; first < n; first += STRIP) {
    int64_t bin[STRIP];
    const size_t length = joist_smaller(n - first, STRIP);
    convert(length, in + first * size, bin);
    for (size_t i = 0; i < length; i++) {
      const uint64_t at = (uint64_t)bin[i] - 1;
      if (at < bins) out[at]++;
    }
    if (first % POLL == 0 && first > 0 && joist_run_poll(call->run, error) != JOIST_OK)
      return JOIST_INTERRUPTED;
  }
  return JOIST_OK;
}
