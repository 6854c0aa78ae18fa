/* scatter_add: sums at positions. One thread adds in the order of the values, so that a sum that
 * rounds is the same however many threads there are. */
#include <stdlib.h>

#include "core/base/parallel.h"
#include "core/ops/move/move_ops.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"

enum { BLOCK = 1 << 18 /* values between two polls */ };

struct adding {
  size_t n, repeat; /* values, all of them the first one where `repeat` is 0 */
  const int64_t *position;
};

/* PARTS numbers make an element. */
#define ADD_VALUES(NAME, TYPE, SUM, PARTS)                                               \
  static void add_##NAME(const struct adding *a, size_t first, size_t n, const void *in, \
                         void *out) {                                                    \
    const TYPE *const values = in;                                                       \
    TYPE *const sums = out;                                                              \
    for (size_t k = first; k < first + n; k++)                                           \
      for (size_t part = 0; part < (PARTS); part++) {                                    \
        TYPE *const sum = &sums[(size_t)a->position[k] * (PARTS) + part];                \
        *sum = (TYPE)((SUM)*sum + (SUM)values[k * a->repeat * (PARTS) + part]);          \
      }                                                                                  \
  }
ADD_VALUES(8, uint8_t, unsigned, 1)
ADD_VALUES(16, uint16_t, unsigned, 1)
ADD_VALUES(32, uint32_t, uint32_t, 1)
ADD_VALUES(64, uint64_t, uint64_t, 1)
ADD_VALUES(f32, float, float, 1)
ADD_VALUES(f64, double, double, 1)
ADD_VALUES(c64, float, float, 2)
ADD_VALUES(c128, double, double, 2)

typedef void add_values(const struct adding *a, size_t first, size_t n, const void *in, void *out);

/* By the storage of each compute dtype; whole numbers wrap alike with and without a sign. */
static add_values *adder_of(joist_dtype dtype) {
  const size_t size = joist_dtype_size(dtype);
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_COMPLEX:
      return size == sizeof(joist_c64) ? add_c64 : add_c128;
    case JOIST_KIND_FLOAT:
      return size == sizeof(float) ? add_f32 : add_f64;
    case JOIST_KIND_BOOL:
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      break;
  }
  return size == 1 ? add_8 : size == 2 ? add_16 : size == 4 ? add_32 : add_64;
}

static joist_status add_all(const struct joist_call *call, joist_dtype dtype, const void *in,
                            void *out, struct joist_error *error) {
  const struct adding a = {.n = joist_value_count(call->operand[1]),
                           .repeat = joist_value_count(call->operand[2]) > 1,
                           .position = call->in[1]};
  add_values *const add = adder_of(dtype);
  for (size_t first = 0; first < a.n; first += BLOCK) {
    if (joist_run_poll(call->run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    add(&a, first, a.n - first < BLOCK ? a.n - first : BLOCK, in, out);
  }
  return JOIST_OK;
}

/* Narrow dtypes are summed in their compute dtype and rounded once. */
static joist_status add_narrow(const struct joist_call *call, joist_dtype dtype,
                               struct joist_error *error) {
  const size_t sums = joist_value_count(call->result), n = joist_value_count(call->operand[2]);
  const joist_dtype compute = joist_dtype_compute(dtype);
  const size_t size = joist_dtype_size(compute);
  char *const wide = malloc((sums + n + 1) * size);
  if (wide == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  joist_convert_kernel *const widen = joist_convert_find(dtype, compute);
  widen(sums, call->in[0], wide);
  widen(n, call->in[2], wide + sums * size);
  const joist_status status = add_all(call, compute, wide + sums * size, wide, error);
  if (status == JOIST_OK) joist_convert_find(compute, dtype)(sums, wide, call->out[0]);
  free(wide);
  return status;
}

joist_status joist_scatter_add_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  return joist_put_shape(shapes, attributes, result, error);
}

joist_status joist_scatter_add_run(const struct joist_call *call, struct joist_error *error) {
  const joist_dtype dtype = call->result->type.dtype;
  joist_status status = joist_check_positions(call, error);
  if (status != JOIST_OK) return status;
  if (joist_dtype_compute(dtype) != dtype) return add_narrow(call, dtype, error);
  status = joist_copy_elements(joist_dtype_size(dtype), joist_value_count(call->result),
                               call->in[0], call->out[0], call->run, error);
  return status == JOIST_OK ? add_all(call, dtype, call->in[2], call->out[0], error) : status;
}
