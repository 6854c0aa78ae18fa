/* scatter_add: sums at positions, in f64 for floats, in their own dtype for integers.
 *
 * Where there are many values for each sum, they are cut into strips, whose sums are found side by
 * side and joined in their order: what is added in which order depends on the shapes alone. Few
 * values are added one after the other. */
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
  STRIP = 4096,   /* values that are added one after the other, at least, */
  MANY = 8,       /* and at least so many for each sum */
  SIDES = 4,      /* sums for one position, of values that follow one another, */
  FEW = 512,      /* where there are at most so many positions */
  PIECE = 512,    /* values that are widened at once */
  BLOCK = 1 << 18 /* values between two polls */
};

/* Adds n values to sums at positions; all values are the first one if `repeat` is 0. Of SIDES
 * values that follow one another, each is added to another array of sums, `stride` sums after the
 * array before. True if a sum may have wrapped; always false of floats, and if nobody asks. */
typedef bool add_values(size_t n, const int64_t *position, const void *values, size_t repeat,
                        size_t stride, void *sums);
/* Adds n elements to others. */
typedef bool add_sums(size_t n, const void *in, void *out);

/* PARTS numbers make an element. */
#define ADD_ONE(SUM, PARTS, AT, SIDE)                                             \
  for (size_t part = 0; part < (PARTS); part++) {                                 \
    SUM *const sum = &z[((size_t)position[AT] + (SIDE)*stride) * (PARTS) + part]; \
    *sum = (SUM)(*sum + (SUM)x[(AT)*repeat * (PARTS) + part]);                    \
  }
#define ADD_VALUES(NAME, TYPE, SUM, PARTS)                                                     \
  static bool add_##NAME(size_t n, const int64_t *position, const void *values, size_t repeat, \
                         size_t stride, void *sums) {                                          \
    const TYPE *const x = values;                                                              \
    SUM *const z = sums;                                                                       \
    size_t k = 0;                                                                              \
    for (; k + SIDES <= n; k += SIDES) {                                                       \
      ADD_ONE(SUM, PARTS, k, 0)                                                                \
      ADD_ONE(SUM, PARTS, k + 1, 1)                                                            \
      ADD_ONE(SUM, PARTS, k + 2, 2)                                                            \
      ADD_ONE(SUM, PARTS, k + 3, 3)                                                            \
    }                                                                                          \
    for (; k < n; k++) ADD_ONE(SUM, PARTS, k, 0)                                               \
    return false;                                                                              \
  }
#define ADD_SUMS(NAME, SUM, PARTS)                                      \
  static bool join_##NAME(size_t n, const void *in, void *out) {        \
    const SUM *const x = in;                                            \
    SUM *const z = out;                                                 \
    for (size_t k = 0; k < n * (PARTS); k++) z[k] = (SUM)(z[k] + x[k]); \
    return false;                                                       \
  }
#define ADD_BOTH(NAME, TYPE, PARTS) ADD_VALUES(NAME, TYPE, TYPE, PARTS) ADD_SUMS(NAME, TYPE, PARTS)
ADD_BOTH(8, uint8_t, 1)
ADD_BOTH(16, uint16_t, 1)
ADD_BOTH(32, uint32_t, 1)
ADD_BOTH(64, uint64_t, 1)
ADD_BOTH(f64, double, 1)
ADD_BOTH(c128, double, 2)
ADD_VALUES(f32, float, double, 1)
ADD_VALUES(c64, float, double, 2)
ADD_VALUES(f32_alone, float, float, 1)
ADD_VALUES(c64_alone, float, float, 2)

/* The same of integers that are watched: the top bit of WRAPPED is set if one of z + x = s wrapped.
 */
#define WRAPPED_INT(T, z, x, s) (T)(((s) ^ (z)) & ((s) ^ (x)))
#define WRAPPED_UINT(T, z, x, s) (T)(((z) & (x)) | (((z) | (x)) & ~(s)))
#define ADD_WATCHED(NAME, T, KIND)                                                    \
  static bool watch_add_##NAME(size_t n, const int64_t *position, const void *values, \
                               size_t repeat, size_t stride, void *sums) {            \
    const T *const x = values;                                                        \
    T *const z = sums, any = 0;                                                       \
    for (size_t k = 0; k < n; k++) {                                                  \
      T *const sum = &z[(size_t)position[k] + (k % SIDES) * stride];                  \
      const T own = x[k * repeat], before = *sum, after = (T)(before + own);          \
      any = (T)(any | WRAPPED_##KIND(T, before, own, after));                         \
      *sum = after;                                                                   \
    }                                                                                 \
    return any >> (8 * sizeof(T) - 1) != 0;                                           \
  }                                                                                   \
  static bool watch_join_##NAME(size_t n, const void *in, void *out) {                \
    const T *const x = in;                                                            \
    T *const z = out, any = 0;                                                        \
    for (size_t k = 0; k < n; k++) {                                                  \
      const T before = z[k], after = (T)(before + x[k]);                              \
      any = (T)(any | WRAPPED_##KIND(T, before, x[k], after));                        \
      z[k] = after;                                                                   \
    }                                                                                 \
    return any >> (8 * sizeof(T) - 1) != 0;                                           \
  }
ADD_WATCHED(i8, uint8_t, INT)
ADD_WATCHED(i16, uint16_t, INT)
ADD_WATCHED(i32, uint32_t, INT)
ADD_WATCHED(i64, uint64_t, INT)
ADD_WATCHED(ui8, uint8_t, UINT)
ADD_WATCHED(ui16, uint16_t, UINT)
ADD_WATCHED(ui32, uint32_t, UINT)
ADD_WATCHED(ui64, uint64_t, UINT)

struct adding {
  const struct joist_call *call;
  size_t count, n, columns; /* sums and values of each column */
  size_t repeat;
  joist_dtype dtype, sum; /* of the result, of the sums */
  size_t size, sum_size;
  joist_convert_kernel *widen; /* values, of dtypes without an adder; NULL for others */
  add_values *add;
  add_sums *join;
  size_t strip, strips; /* values of a strip, strips of a column */
  size_t sides;         /* sums for one position within a strip */
  size_t together;      /* columns of one task */
  char *sums;           /* of each column and strip; without strips, of each worker */
  atomic_bool *wrapped; /* whether sums may have wrapped */
};

static void note(const struct adding *a, bool wrapped) {
  if (wrapped) atomic_store_explicit(a->wrapped, true, memory_order_relaxed);
}

/* By the storage of the dtype; whole numbers wrap alike with and without a sign. */
static void find_adders(struct adding *a) {
  const bool wide = a->sum != a->dtype && a->widen == NULL;
  const size_t size = a->sum_size;
  switch (joist_dtype_kind(a->dtype)) {
    case JOIST_KIND_COMPLEX:
      a->join = join_c128;
      a->add = wide ? add_c64 : size == sizeof(joist_c64) ? add_c64_alone : add_c128;
      return;
    case JOIST_KIND_FLOAT:
      a->join = join_f64;
      a->add = wide ? add_f32 : size == sizeof(float) ? add_f32_alone : add_f64;
      return;
    case JOIST_KIND_BOOL:
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      break;
  }
  static add_values *const watched[2][4] = {
      {watch_add_i8, watch_add_i16, watch_add_i32, watch_add_i64},
      {watch_add_ui8, watch_add_ui16, watch_add_ui32, watch_add_ui64}};
  static add_sums *const watched_joins[2][4] = {
      {watch_join_i8, watch_join_i16, watch_join_i32, watch_join_i64},
      {watch_join_ui8, watch_join_ui16, watch_join_ui32, watch_join_ui64}};
  const int at = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  const bool sign = joist_dtype_kind(a->dtype) == JOIST_KIND_INT;
  if (a->call->fits != NULL) {
    a->join = watched_joins[sign ? 0 : 1][at];
    a->add = watched[sign ? 0 : 1][at];
    return;
  }
  a->join = size == 1 ? join_8 : size == 2 ? join_16 : size == 4 ? join_32 : join_64;
  a->add = size == 1 ? add_8 : size == 2 ? add_16 : size == 4 ? add_32 : add_64;
}

static const char *values_of(const struct adding *a, size_t column, size_t first) {
  return (const char *)a->call->in[2] + (column * a->n + first) * a->repeat * a->size;
}

/* Adds values first .. first + n - 1 of a column. */
static void add_part(const struct adding *a, size_t column, size_t first, size_t n, size_t stride,
                     void *sums) {
  _Alignas(16) char wide[PIECE * sizeof(joist_c128)];
  const int64_t *const position = (const int64_t *)a->call->in[1] + first;
  const char *const values = values_of(a, column, first);
  if (a->widen == NULL) {
    note(a, a->add(n, position, values, a->repeat, stride, sums));
    return;
  }
  for (size_t k = 0; k < n; k += PIECE) {
    const size_t m = joist_smaller(n - k, PIECE);
    a->widen(a->repeat == 0 ? 1 : m, values + k * a->repeat * a->size, wide);
    note(a, a->add(m, position + k, wide, a->repeat, stride, sums));
  }
}

/* ---- many values ---- */

static char *sums_of(const struct adding *a, size_t column, size_t strip) {
  return a->sums + (column * a->strips + strip) * a->count * a->sum_size;
}

static void add_strip(const struct adding *a, size_t column, size_t number) {
  _Alignas(16) char side[SIDES * FEW * sizeof(joist_c128)];
  const struct joist_part part = joist_strip_of(a->n, a->strip, number);
  const size_t bytes = a->count * a->sum_size;
  char *const sums = sums_of(a, column, number), *const found = a->sides > 1 ? side : sums;
  memset(found, 0, a->sides * bytes);
  add_part(a, column, part.first, part.n, a->sides > 1 ? a->count : 0, found);
  if (a->sides == 1) return;
  for (size_t s = 1; s < SIDES; s++) note(a, a->join(a->count, side + s * bytes, side));
  memcpy(sums, side, bytes);
}

static void strip_task(const void *context, size_t task, size_t worker) {
  const struct adding *const a = context;
  const size_t groups = joist_divide_up(a->columns, a->together);
  const struct joist_part columns = joist_strip_of(a->columns, a->together, task % groups);
  (void)worker;
  for (size_t c = columns.first; c < columns.first + columns.n; c++) add_strip(a, c, task / groups);
}

/* The result of a column from the sums of its strips. */
static void join_task(const void *context, size_t column, size_t worker) {
  const struct adding *const a = context;
  char *const first = sums_of(a, column, 0);
  char wide[PIECE * sizeof(joist_c128)];
  (void)worker;
  for (size_t k = 1; k < a->strips; k++) note(a, a->join(a->count, sums_of(a, column, k), first));
  for (size_t k = 0; k < a->count; k += PIECE) {
    const size_t m = joist_smaller(a->count - k, PIECE), at = (column * a->count + k) * a->size;
    joist_convert_find(a->dtype, a->sum)(m, (const char *)a->call->in[0] + at, wide);
    note(a, a->join(m, first + k * a->sum_size, wide));
    joist_convert_find(a->sum, a->dtype)(m, wide, (char *)a->call->out[0] + at);
  }
}

static joist_status add_many(struct adding *a, struct joist_error *error) {
  a->sums = malloc(a->columns * a->strips * a->count * a->sum_size);
  if (a->sums == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  const size_t length = joist_smaller(a->n, a->strip);
  a->together = length < STRIP ? STRIP / length : 1;
  joist_status status =
      joist_tasks_run(a->call->run, joist_divide_up(a->columns, a->together) * a->strips,
                      2 * a->together * length, strip_task, a, error);
  if (status == JOIST_OK)
    status = joist_tasks_run(a->call->run, a->columns, a->strips * a->count, join_task, a, error);
  free(a->sums);
  return status;
}

/* ---- few values ---- */

static void column_task(const void *context, size_t column, size_t worker) {
  const struct adding *const a = context;
  const size_t at = column * a->count * a->size;
  const char *const before = (const char *)a->call->in[0] + at;
  char *const after = (char *)a->call->out[0] + at;
  char *const sums = a->sum == a->dtype ? after : a->sums + worker * a->count * a->sum_size;
  if (sums != before) joist_convert_find(a->dtype, a->sum)(a->count, before, sums);
  add_part(a, column, 0, a->n, 0, sums);
  if (sums != after) joist_convert_find(a->sum, a->dtype)(a->count, sums, after);
}

/* One column is added with polls in between. */
static joist_status add_column(const struct adding *a, struct joist_error *error) {
  char *const sums = a->sum == a->dtype ? a->call->out[0] : a->sums;
  joist_status status = JOIST_OK;
  if (a->sum == a->dtype)
    status = joist_copy_elements(a->size, a->count, a->call->in[0], sums, a->call->run, error);
  else
    joist_convert_find(a->dtype, a->sum)(a->count, a->call->in[0], sums);
  for (size_t k = 0; k < a->n && status == JOIST_OK; k += BLOCK) {
    status = joist_run_poll(a->call->run, error);
    if (status == JOIST_OK) add_part(a, 0, k, joist_smaller(a->n - k, BLOCK), 0, sums);
  }
  if (status == JOIST_OK && a->sum != a->dtype)
    joist_convert_find(a->sum, a->dtype)(a->count, sums, a->call->out[0]);
  return status;
}

static joist_status add_few(struct adding *a, struct joist_error *error) {
  const size_t work = a->n * 4 + a->count;
  const int threads = joist_threads_for(a->call->run, a->columns * work, a->columns);
  if (a->sum != a->dtype) {
    a->sums = malloc((size_t)threads * a->count * a->sum_size);
    if (a->sums == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  const joist_status status =
      a->columns == 1
          ? add_column(a, error)
          : joist_tasks_run_on(a->call->run, threads, a->columns, work, column_task, a, error);
  free(a->sums);
  return status;
}

/* ---- the operation ---- */

joist_status joist_scatter_add_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  size_t positions = 0;
  if (joist_shape_count(shapes[1], &positions) &&
      joist_shape_columns(shapes[0], positions, shapes[2]) != 1) {
    *result = *shapes[0];
    return JOIST_OK;
  }
  return joist_put_shape(shapes, attributes, result, error);
}

joist_status joist_scatter_add_run(const struct joist_call *call, struct joist_error *error) {
  const joist_dtype dtype = call->result->type.dtype;
  const joist_kind kind = joist_dtype_kind(dtype);
  const size_t n = joist_value_count(call->operand[1]), all = joist_value_count(call->result);
  const size_t columns = joist_shape_columns(&call->result->shape, n, &call->operand[2]->shape);
  if (columns == 0) return JOIST_OK;
  struct adding a = {.call = call,
                     .count = all / columns,
                     .n = n,
                     .columns = columns,
                     .repeat = joist_value_count(call->operand[2]) > 1,
                     .dtype = dtype,
                     .sum = dtype,
                     .size = joist_dtype_size(dtype)};
  const joist_status status = joist_check_positions(call, a.count, error);
  if (status != JOIST_OK || all == 0) return status;
  const bool many = n / MANY >= a.count, narrow = joist_dtype_compute(dtype) != dtype;
  /* f32 is not copied to f64 where there are few values for its elements. */
  if (many || narrow || n >= a.count / 2)
    a.sum = kind == JOIST_KIND_COMPLEX ? JOIST_C128
            : kind == JOIST_KIND_FLOAT ? JOIST_F64
                                       : joist_dtype_compute(dtype);
  a.widen = narrow ? joist_convert_find(dtype, a.sum) : NULL;
  a.sum_size = joist_dtype_size(a.sum);
  find_adders(&a);
  atomic_bool wrapped = false;
  a.wrapped = &wrapped;
  a.strip = a.count * MANY > STRIP ? a.count * MANY : STRIP;
  a.strips = joist_divide_up(n, a.strip);
  a.sides = a.count <= FEW ? SIDES : 1;
  const joist_status added = many ? add_many(&a, error) : add_few(&a, error);
  /* Narrow sums have more bits than the dtype. */
  if (call->fits != NULL) *call->fits = !narrow && !atomic_load(&wrapped);
  return added;
}
