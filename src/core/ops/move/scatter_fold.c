/* scatter_min, scatter_max and scatter_mul: the least, the greatest and the product of elements and
 * the values at their positions. NaN is less and greater than any number. Products of floats are
 * computed in f64 and rounded once, those of integers in 64 bits.
 *
 * As in scatter_add.c, many values for each element are cut into strips, and which are combined in
 * which order depends on the shapes alone. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/ops/move/move_ops.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum {
  STRIP = 1 << 16, /* values of a strip, at least, */
  MANY = 8,        /* and at least so many for each element */
  PIECE = 512      /* values that are converted at once */
};

/* Combines n values with elements at positions, or, if `position` is NULL, with n elements; all
 * values are the first one if `repeat` is 0. True if a product exceeds 64 bits. */
typedef bool fold_values(size_t n, const int64_t *position, const void *values, size_t repeat,
                         void *elements);

#define FOLD(NAME, TYPE, NEW)                                                            \
  static bool NAME(size_t n, const int64_t *position, const void *values, size_t repeat, \
                   void *elements) {                                                     \
    const TYPE *const x = values;                                                        \
    TYPE *const all = elements;                                                          \
    for (size_t k = 0; k < n; k++) {                                                     \
      const TYPE a = x[k * repeat];                                                      \
      TYPE *const z = &all[position == NULL ? k : (size_t)position[k]];                  \
      *z = NEW;                                                                          \
    }                                                                                    \
    return false;                                                                        \
  }
#define EMIT(ID, K, T, F, A, B)                     \
  FOLD(least_##ID, T, (a < *z) | (a != a) ? a : *z) \
  FOLD(greatest_##ID, T, (a > *z) | (a != a) ? a : *z)
JOIST_DTYPES_BOOL(EMIT, , )
JOIST_DTYPES_INT(EMIT, , )
JOIST_DTYPES_UINT(EMIT, , )
JOIST_DTYPES_FLOAT(EMIT, , )
FOLD(product_f64, double, a **z)
FOLD(product_c128, joist_c128, a **z)
#define FOLD_WHOLE(NAME, TYPE)                                                           \
  static bool NAME(size_t n, const int64_t *position, const void *values, size_t repeat, \
                   void *elements) {                                                     \
    const TYPE *const x = values;                                                        \
    TYPE *const all = elements;                                                          \
    bool exceeds = false;                                                                \
    for (size_t k = 0; k < n; k++) {                                                     \
      TYPE *const z = &all[position == NULL ? k : (size_t)position[k]];                  \
      exceeds |= __builtin_mul_overflow(*z, x[k * repeat], z);                           \
    }                                                                                    \
    return exceeds;                                                                      \
  }
FOLD_WHOLE(product_i64, int64_t)
FOLD_WHOLE(product_ui64, uint64_t)

static const struct {
  joist_dtype compute;
  fold_values *fold;
} products[] = {[JOIST_KIND_INT] = {JOIST_I64, product_i64},
                [JOIST_KIND_UINT] = {JOIST_UI64, product_ui64},
                [JOIST_KIND_FLOAT] = {JOIST_F64, product_f64},
                [JOIST_KIND_COMPLEX] = {JOIST_C128, product_c128}};

static const struct {
  fold_values *least, *greatest;
} extremes[JOIST_DTYPE_COUNT] = {
#define ENTRY(ID, K, T, F, A, B) [JOIST_##ID] = {least_##ID, greatest_##ID},
    JOIST_DTYPES_BOOL(ENTRY, , ) JOIST_DTYPES_INT(ENTRY, , ) JOIST_DTYPES_UINT(ENTRY, , )
        JOIST_DTYPES_FLOAT(ENTRY, , )};

struct folding {
  const struct joist_call *call;
  size_t count, n, columns, repeat;
  joist_dtype dtype, compute;
  size_t size, compute_size;
  fold_values *fold;
  size_t strip, strips;
  char *elements; /* of each column and strip, in `compute` */
  atomic_bool *exceeds;
};

static void note(const struct folding *f, bool exceeds) {
  if (exceeds) atomic_store_explicit(f->exceeds, true, memory_order_relaxed);
}

static char *elements_of(const struct folding *f, size_t column, size_t strip) {
  return f->elements + (column * f->strips + strip) * f->count * f->compute_size;
}

/* The elements of the operand are those of the first strip; others start from 1, or from the first
 * value that each has, which an extreme may take twice. */
static void start(const struct folding *f, size_t column, const struct joist_part *part,
                  char *elements) {
  const char *const in = (const char *)f->call->in[0] + column * f->count * f->size;
  const double real[2] = {1, 0};
  const int64_t whole = 1;
  const bool is_whole = f->compute == JOIST_I64 || f->compute == JOIST_UI64;
  const void *const one = is_whole ? (const void *)&whole : real;
  joist_convert_kernel *const convert = joist_convert_find(f->dtype, f->compute);
  if (part->first == 0 || f->call->instruction->op != JOIST_OP_SCATTER_MUL) {
    convert(f->count, in, elements);
    return;
  }
  for (size_t k = 0; k < f->count; k++)
    memcpy(elements + k * f->compute_size, one, f->compute_size);
}

static void strip_task(const void *context, size_t task, size_t worker) {
  const struct folding *const f = context;
  const size_t column = task / f->strips;
  const struct joist_part part = joist_strip_of(f->n, f->strip, task % f->strips);
  char *const elements = elements_of(f, column, task % f->strips);
  const int64_t *const position = f->call->in[1];
  const char *const values = (const char *)f->call->in[2] + column * f->n * f->repeat * f->size;
  joist_convert_kernel *const convert = joist_convert_find(f->dtype, f->compute);
  _Alignas(16) char wide[PIECE * sizeof(joist_c128)];
  (void)worker;
  start(f, column, &part, elements);
  for (size_t n, k = part.first; k < part.first + part.n; k += n) {
    const char *const from = values + k * f->repeat * f->size;
    n = joist_smaller(part.first + part.n - k, PIECE);
    if (f->dtype != f->compute) convert(f->repeat == 0 ? 1 : n, from, wide);
    note(f, f->fold(n, position + k, f->dtype != f->compute ? wide : from, f->repeat, elements));
  }
}

/* The result of a column from the elements of its strips. */
static void join_task(const void *context, size_t column, size_t worker) {
  const struct folding *const f = context;
  char *const first = elements_of(f, column, 0);
  (void)worker;
  for (size_t k = 1; k < f->strips; k++)
    note(f, f->fold(f->count, NULL, elements_of(f, column, k), 1, first));
  joist_convert_find(f->compute, f->dtype)(f->count, first,
                                           (char *)f->call->out[0] + column * f->count * f->size);
}

joist_status joist_scatter_fold_shape(const struct joist_shape *const *shapes,
                                      const struct joist_attributes *attributes,
                                      struct joist_shape *result, struct joist_error *error) {
  return joist_scatter_add_shape(shapes, attributes, result, error);
}

joist_status joist_scatter_fold_run(const struct joist_call *call, struct joist_error *error) {
  const joist_op op = call->instruction->op;
  const joist_dtype dtype = call->result->type.dtype;
  const size_t n = joist_value_count(call->operand[1]), all = joist_value_count(call->result);
  const size_t columns = joist_shape_columns(&call->result->shape, n, &call->operand[2]->shape);
  if (columns == 0) return JOIST_OK;
  struct folding f = {.call = call,
                      .count = all / columns,
                      .n = n,
                      .columns = columns,
                      .repeat = joist_value_count(call->operand[2]) > 1,
                      .dtype = dtype,
                      .compute = joist_dtype_compute(dtype),
                      .size = joist_dtype_size(dtype)};
  joist_status status = joist_check_positions(call, f.count, error);
  if (status != JOIST_OK || all == 0) return status;
  if (op == JOIST_OP_SCATTER_MUL) f.compute = products[joist_dtype_kind(dtype)].compute;
  f.compute_size = joist_dtype_size(f.compute);
  f.fold = op == JOIST_OP_SCATTER_MIN   ? extremes[f.compute].least
           : op == JOIST_OP_SCATTER_MAX ? extremes[f.compute].greatest
                                        : products[joist_dtype_kind(dtype)].fold;
  atomic_bool exceeds = false;
  f.exceeds = &exceeds;
  f.strip = f.count * MANY > STRIP ? f.count * MANY : STRIP;
  f.strips = n > f.strip ? joist_divide_up(n, f.strip) : 1;
  f.elements = malloc(columns * f.strips * f.count * f.compute_size);
  if (f.elements == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  const size_t work = 4 * joist_smaller(n, f.strip) + f.count;
  status = joist_tasks_run(call->run, columns * f.strips, work, strip_task, &f, error);
  if (status == JOIST_OK)
    status = joist_tasks_run(call->run, columns, f.strips * f.count, join_task, &f, error);
  free(f.elements);
  /* Narrow products have more bits than the dtype. */
  if (call->fits != NULL) *call->fits = dtype == f.compute && !atomic_load(&exceeds);
  return status;
}
