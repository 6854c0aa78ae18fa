/* Searching, selecting and counting against one comparison after the other: every dtype, one
 * thread and several, no elements and many. */
#include "core/cpu/engine.h"
#include "core/ops/search/count.h"
#include "core/ops/search/duplicated.h"
#include "core/plan/plan.h"
#include "core/types/shape.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"

enum { ROUNDS = 12 };

static void *allocate(size_t bytes) {
  void *const block = malloc(bytes + 1);
  if (block == NULL) abort();
  return block;
}

/* Runs an operation on one or two inputs; gives the status and the shape of the result. */
static joist_status run_op(joist_op op, const joist_dtype *dtypes, const struct joist_shape *shapes,
                           const struct joist_attributes *attributes, int threads,
                           const void *const *in, void *out, struct joist_shape *shape) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_inference inference;
  joist_value_id operands[JOIST_ELEMENT_OPERANDS], result = 0;
  const size_t count = joist_operation(op)->least;
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++)
    operands[k] = add_input(&program, dtypes[k], shapes[k].rank, shapes[k].extent);
  joist_status status =
      infer_and_append(&program, op, operands, count, attributes, &inference, &result, NULL);
  if (status == JOIST_OK) *shape = inference.shape[0];
  if (status == JOIST_OK) status = joist_program_add_output(&program, result, NULL);
  if (status == JOIST_OK) status = joist_plan_make(&program, &plan, NULL);
  if (status == JOIST_OK) {
    const struct joist_run run = {.threads = threads, .parallel_from = threads > 1};
    status = joist_plan_run(plan, in, &out, &run, NULL);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  return status;
}

/* ---- comparing two elements ---- */

static void parts_of(joist_dtype dtype, const char *x, double parts[2]) {
  joist_convert_find_portable(dtype, JOIST_C128)(1, x, parts);
}

static bool is_float(joist_dtype dtype) {
  return joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
}

static bool is_r_na(joist_dtype dtype, double x) {
  return isnan(x) && joist_dtype_size(joist_dtype_real(dtype)) == 8 &&
         (uint32_t)bits_of_double(x) == 1954;
}

static bool equal(joist_dtype dtype, const char *a, const char *b) {
  double x[2], y[2];
  if (!is_float(dtype)) return memcmp(a, b, joist_dtype_size(dtype)) == 0;
  parts_of(dtype, a, x);
  parts_of(dtype, b, y);
  for (int p = 0; p < 2; p++)
    if (!(x[p] == y[p] ||
          (isnan(x[p]) && isnan(y[p]) && is_r_na(dtype, x[p]) == is_r_na(dtype, y[p]))))
      return false;
  return true;
}

/* NaN is the largest. */
static bool less(joist_dtype dtype, const char *a, const char *b) {
  double x[2], y[2];
  if (is_float(dtype)) {
    parts_of(dtype, a, x);
    parts_of(dtype, b, y);
    return x[0] < y[0] || (!isnan(x[0]) && isnan(y[0]));
  }
  if (dtype == JOIST_UI64) {
    uint64_t u, v;
    memcpy(&u, a, sizeof u);
    memcpy(&v, b, sizeof v);
    return u < v;
  }
  int64_t i, j;
  joist_convert_find_portable(dtype, JOIST_I64)(1, a, &i);
  joist_convert_find_portable(dtype, JOIST_I64)(1, b, &j);
  return i < j;
}

/* Elements with repeats: some are copied, zeros and NaN among them. */
static char *elements(joist_dtype dtype, size_t n) {
  const size_t size = joist_dtype_size(dtype);
  char *const out = allocate(n * size);
  fill(dtype, n, (fill_kind)random_below(FILL_COUNT), out);
  for (size_t k = 1; k < n; k++)
    if (one_in(3)) memcpy(out + k * size, out + random_below(k) * size, size);
  if (dtype == JOIST_F64 && n > 3) {
    const uint64_t na = UINT64_C(0x7ff00000000007a2);
    memcpy(out, &na, sizeof na);
    memcpy(out + 2 * size, &na, sizeof na);
  }
  return out;
}

/* ---- the operations ---- */

static void check_match(joist_dtype dtype, size_t n, size_t m) {
  const size_t size = joist_dtype_size(dtype);
  const struct joist_shape shapes[] = {{1, {(uint32_t)n}}, {1, {(uint32_t)m}}};
  const joist_dtype dtypes[] = {dtype, dtype};
  char *const x = elements(dtype, n), *const table = elements(dtype, m);
  for (size_t k = 0; m > 0 && k < n; k++)
    if (one_in(2)) memcpy(x + k * size, table + random_below(m) * size, size);
  const void *const in[] = {x, table};
  int32_t *const out = allocate(n * sizeof *out);
  uint8_t *const repeated = allocate(n);
  for (int threads = 1; threads <= 3; threads += 2) {
    struct joist_shape shape;
    const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_NOMATCH, -3);
    CHECK_INT(run_op(JOIST_OP_MATCH, dtypes, shapes, &attributes, threads, in, out, &shape),
              JOIST_OK);
    size_t wrong = 0;
    for (size_t k = 0; k < n; k++) {
      size_t at = 0;
      while (at < m && !equal(dtype, x + k * size, table + at * size)) at++;
      wrong += out[k] != (at < m ? (int32_t)at + 1 : -3);
    }
    CHECK_MSG(wrong == 0, "match of %s, %zu in %zu: %zu wrong", joist_dtype_name(dtype), n, m,
              wrong);
    const struct joist_run run = {.threads = threads, .parallel_from = 1};
    CHECK_INT(joist_repeated(dtype, n, x, repeated, &run, NULL), JOIST_OK);
    wrong = 0;
    for (size_t k = 0; k < n; k++) {
      size_t at = 0;
      while (!equal(dtype, x + k * size, x + at * size)) at++;
      wrong += repeated[k] != (at < k);
    }
    CHECK_MSG(wrong == 0, "repeated %s of %zu: %zu wrong", joist_dtype_name(dtype), n, wrong);
  }
  free(x);
  free(table);
  free(out);
  free(repeated);
}

static void check_searchsorted(joist_dtype dtype, size_t n, size_t m) {
  const size_t size = joist_dtype_size(dtype);
  const struct joist_shape shapes[] = {{1, {(uint32_t)m}}, {1, {(uint32_t)n}}};
  const joist_dtype dtypes[] = {dtype, dtype};
  char *const x = elements(dtype, n), *const sorted = elements(dtype, m);
  for (size_t k = 1; k < m; k++) /* insertion */
    for (size_t j = k; j > 0 && less(dtype, sorted + j * size, sorted + (j - 1) * size); j--) {
      char swapped[16];
      memcpy(swapped, sorted + j * size, size);
      memcpy(sorted + j * size, sorted + (j - 1) * size, size);
      memcpy(sorted + (j - 1) * size, swapped, size);
    }
  const void *const in[] = {sorted, x};
  int32_t *const out = allocate(n * sizeof *out);
  for (int right = 0; right < 2; right++)
    for (int threads = 1; threads <= 3; threads += 2) {
      struct joist_shape shape;
      const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_RIGHT, right);
      CHECK_INT(
          run_op(JOIST_OP_SEARCHSORTED, dtypes, shapes, &attributes, threads, in, out, &shape),
          JOIST_OK);
      size_t wrong = 0;
      for (size_t k = 0; k < n; k++) {
        int32_t count = 0;
        for (size_t j = 0; j < m; j++)
          count += right ? !less(dtype, x + k * size, sorted + j * size)
                         : less(dtype, sorted + j * size, x + k * size);
        wrong += out[k] != count;
      }
      CHECK_MSG(wrong == 0, "searchsorted %s, %zu in %zu, %s: %zu wrong", joist_dtype_name(dtype),
                n, m, right ? "right" : "left", wrong);
      if (m < 2 || !less(dtype, sorted, sorted + (m - 1) * size)) continue;
      const struct joist_shape two[] = {{1, {2}}, {1, {(uint32_t)n}}};
      char pair[32];
      memcpy(pair, sorted + (m - 1) * size, size);
      memcpy(pair + size, sorted, size);
      const void *const fallen[] = {pair, x};
      CHECK_INT(
          run_op(JOIST_OP_SEARCHSORTED, dtypes, two, &attributes, threads, fallen, out, &shape),
          JOIST_ERROR_VALUE);
    }
  free(x);
  free(sorted);
  free(out);
}

/* top_k is the head of the order, and taking along it the head of the sorted elements. */
static void check_top_k(joist_dtype dtype, const struct joist_shape *shape, int dim) {
  const size_t size = joist_dtype_size(dtype), n = shape->extent[dim];
  size_t count = 0, stride = 1;
  CHECK(joist_shape_count(shape, &count));
  for (int d = 0; d < dim; d++) stride *= shape->extent[d];
  char *const x = elements(dtype, count), *const sorted = allocate(count * size);
  char *const taken = allocate(count * size);
  int32_t *const order = allocate(count * sizeof *order), *const top =
                                                              allocate(count * sizeof *top);
  const void *in[] = {x, top};
  const int32_t k = (int32_t)(random_below(n + 1) >> random_below(9));
  for (int decreasing = 0; decreasing < 2; decreasing++)
    for (int threads = 1; threads <= 3; threads += 2) {
      struct joist_shape result, same;
      const struct joist_attributes along = with(no_attributes, JOIST_ATTRIBUTE_DIM, dim);
      const struct joist_attributes sorting = with(along, JOIST_ATTRIBUTE_DECREASING, decreasing);
      const struct joist_attributes first = with(sorting, JOIST_ATTRIBUTE_K, k);
      const joist_dtype dtypes[] = {dtype, JOIST_I32};
      CHECK_INT(run_op(JOIST_OP_ARGSORT, dtypes, shape, &sorting, 1, in, order, &same), JOIST_OK);
      CHECK_INT(run_op(JOIST_OP_SORT, dtypes, shape, &sorting, 1, in, sorted, &same), JOIST_OK);
      CHECK_INT(run_op(JOIST_OP_TOP_K, dtypes, shape, &first, threads, in, top, &result), JOIST_OK);
      CHECK_INT(result.extent[dim], k);
      const struct joist_shape shapes[] = {*shape, result};
      CHECK_INT(run_op(JOIST_OP_TAKE_ALONG, dtypes, shapes, &along, threads, in, taken, &same),
                JOIST_OK);
      size_t wrong = 0;
      for (size_t line = 0; n > 0 && line < count / n; line++)
        for (size_t i = 0; i < (size_t)k; i++) {
          const size_t outer = line / stride, inner = line % stride + i * stride;
          const size_t at = outer * (size_t)k * stride + inner, from = outer * n * stride + inner;
          wrong +=
              top[at] != order[from] || memcmp(taken + at * size, sorted + from * size, size) != 0;
        }
      CHECK_MSG(wrong == 0, "the first %d of %zu %s: %zu wrong", (int)k, n, joist_dtype_name(dtype),
                wrong);
      if (k == 0 || count == 0) continue;
      const size_t last = (size_t)k * (count / n) - 1;
      top[last] = last % 2 ? 0 : (int32_t)n + 1;
      CHECK_INT(run_op(JOIST_OP_TAKE_ALONG, dtypes, shapes, &along, threads, in, taken, &same),
                JOIST_ERROR_SHAPE);
    }
  free(x);
  free(sorted);
  free(taken);
  free(order);
  free(top);
}

static void test_operations(void) {
  static const size_t sizes[][2] = {{0, 0}, {0, 3}, {5, 0}, {1, 1}, {40, 7}, {3000, 60}};
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      const joist_dtype dtype = (joist_dtype)d;
      check_match(dtype, sizes[s][0], sizes[s][1]);
      if (joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX) continue;
      check_searchsorted(dtype, sizes[s][0], sizes[s][1]);
      const uint32_t n = (uint32_t)sizes[s][0];
      check_top_k(dtype, &(struct joist_shape){1, {n}}, 0);
      check_top_k(dtype, &(struct joist_shape){3, {3, n, 2}}, 1);
      if (s > 0) continue;
      for (int k = 0; k < 3; k++) check_top_k(dtype, &(struct joist_shape){1, {150000}}, 0);
      check_top_k(dtype, &(struct joist_shape){2, {3, 80000}}, 1);
    }
}

/* Tables of integers close together and just too far apart for that, with elements on either
 * side of them, anywhere in the dtype. */
static void check_close(joist_dtype dtype, uint64_t low, uint64_t span) {
  enum { N = 4000, M = 900 };
  const size_t size = joist_dtype_size(dtype);
  const struct joist_shape shapes[] = {{1, {N}}, {1, {M}}};
  const joist_dtype dtypes[] = {dtype, dtype};
  char *const x = allocate(N * size), *const table = allocate(M * size);
  int32_t *const out = allocate(N * sizeof *out);
  for (size_t k = 0; k < M; k++) {
    const uint64_t value = low + (k == 500 ? 0 : k == 501 ? span - 1 : random_bits() % span);
    memcpy(table + k * size, &value, size);
  }
  for (size_t k = 0; k < N; k++) {
    uint64_t value = one_in(9) ? random_bits() : low + random_bits() % (span + 200) - 100;
    if (one_in(2)) memcpy(&value, table + random_below(M) * size, size);
    memcpy(x + k * size, &value, size);
  }
  const void *const in[] = {x, table};
  for (int threads = 1; threads <= 3; threads += 2) {
    struct joist_shape shape;
    CHECK_INT(run_op(JOIST_OP_MATCH, dtypes, shapes, &no_attributes, threads, in, out, &shape),
              JOIST_OK);
    size_t wrong = 0;
    for (size_t k = 0; k < N; k++) {
      size_t at = 0;
      while (at < M && memcmp(x + k * size, table + at * size, size) != 0) at++;
      wrong += out[k] != (at < M ? (int32_t)at + 1 : 0);
    }
    CHECK_MSG(wrong == 0, "match of %s in a table of %.0f from %.0f: %zu wrong",
              joist_dtype_name(dtype), (double)span, (double)low, wrong);
  }
  free(x);
  free(table);
  free(out);
}

static void test_close(void) {
  static const joist_dtype dtypes[] = {JOIST_I16, JOIST_I32, JOIST_UI32, JOIST_I64, JOIST_UI64};
  static const uint64_t spans[] = {1, 64, 65, 30000, 65536 + 2 * 4900, 65536 + 2 * 4900 + 1};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
      const unsigned bits = (unsigned)(8 * joist_dtype_size(dtypes[d]));
      const uint64_t least = UINT64_C(1) << (bits - 1);
      if (bits < 32 && spans[s] > 65535) continue;
      check_close(dtypes[d], 0, spans[s]);
      check_close(dtypes[d], 0 - spans[s], spans[s]);
      check_close(dtypes[d], least, spans[s]);
      check_close(dtypes[d], least - spans[s] / 2, spans[s]);
    }
}

/* Enough for a shared sort. */
static void test_many_repeated(void) {
  enum { N = 200000 };
  uint64_t *const x = allocate(2 * N * sizeof *x);
  uint8_t *const got = allocate(N), *const seen = allocate(1 << 20);
  const joist_dtype dtypes[] = {JOIST_UI64, JOIST_C128};
  for (int round = 0; round < 2; round++) {
    const size_t words = round == 1 ? 2 : 1;
    memset(seen, 0, 1 << 20);
    for (size_t k = 0; k < N; k++) {
      x[words * k] = UINT64_C(0x3ff0000000000000) + (random_bits() % 500 << 30);
      if (round == 1) x[words * k + 1] = UINT64_C(0x3ff0000000000000) + random_bits() % 500;
    }
    const struct joist_run run = {.threads = 3, .parallel_from = 1};
    CHECK_INT(joist_repeated(dtypes[round], N, x, got, &run, NULL), JOIST_OK);
    size_t wrong = 0;
    for (size_t k = 0; k < N; k++) {
      const size_t low = round == 1 ? (size_t)(x[words * k + 1] & 511) : 0;
      const size_t at = (size_t)(x[words * k] >> 30 & 511) * 512 + low;
      wrong += got[k] != seen[at];
      seen[at] = 1;
    }
    CHECK_MSG(wrong == 0, "repeated %s: %zu wrong", joist_dtype_name(dtypes[round]), wrong);
  }
  free(x);
  free(got);
  free(seen);
}

static void test_counting(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int round = 0; round < ROUNDS; round++) {
      const joist_dtype dtype = (joist_dtype)d;
      const size_t n = random_below(5000), bins = random_below(9);
      const struct joist_shape shape = {1, {(uint32_t)n}};
      const struct joist_shape row = {1, {(uint32_t)bins}};
      const struct joist_attributes attributes =
          with_shape(with_type(no_attributes, (struct joist_type){JOIST_I64, false}), &row);
      char *const x = elements(dtype, n);
      const void *const in[] = {x};
      int64_t got[9] = {0}, want[9] = {0};
      struct joist_shape result = {0};
      const bool refused = joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX;
      CHECK_INT(run_op(JOIST_OP_TABULATE, &dtype, &shape, &attributes, 1, in, got, &result),
                refused ? JOIST_ERROR_DTYPE : JOIST_OK);
      if (refused) {
        free(x);
        continue;
      }
      CHECK_INT(result.extent[0], bins);
      for (size_t k = 0; k < n; k++) {
        double parts[2];
        parts_of(dtype, x + k * joist_dtype_size(dtype), parts);
        for (size_t b = 0; b < bins; b++) want[b] += trunc(parts[0]) == (double)b + 1;
      }
      CHECK_MSG(memcmp(got, want, sizeof got) == 0, "tabulate of %s", joist_dtype_name(dtype));
      free(x);
    }
  for (size_t n = 0; n < 70; n++) {
    uint8_t in[70];
    int32_t got[70], indices[70];
    size_t count = 0, wrong = 0;
    for (size_t k = 0; k < n; k++) in[k] = one_in(4);
    joist_which(n, in, got);
    const struct joist_shape line = {1, {(uint32_t)n}};
    joist_which_indices(&line, in, joist_count_true(n, in), indices);
    for (size_t k = 0; k < n; k++) {
      if (!in[k]) continue;
      wrong += got[count] != (int32_t)k + 1 || indices[count] != (int32_t)k + 1;
      count++;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(joist_count_true(n, in), count);
  }
}

/* The number whose hash that is: the finalizer of MurmurHash3 backwards. */
static uint64_t number_of_hash(uint64_t x) {
  x ^= x >> 33;
  x *= UINT64_C(0x9cb4b2f8129337db);
  x ^= x >> 33;
  x *= UINT64_C(0x4f74430c22a54005);
  return x ^ x >> 33;
}

/* Each of the ways to find repeated elements, for any number of threads. */
static void test_ways_repeated(void) {
  enum { N = 150000, MOST = 100000 };
  uint64_t *const x = allocate(N * sizeof *x);
  uint8_t *const got = allocate(N), *const seen = allocate(MOST);
  static const char *const ways[] = {"rising",         "falling",         "few",
                                     "close",          "not quite close", "spread",
                                     "of like hashes", "few and far",     "a few more"};
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
    for (int threads = 1; threads <= 3; threads++) {
      const struct joist_run run = {.threads = threads, .parallel_from = 1, .stream_from = 1};
      size_t wrong = 0;
      memset(seen, 0, MOST);
      uint32_t *const id = allocate(N * sizeof *id);
      for (size_t k = 0; k < N; k++) {
        id[k] = (uint32_t)random_below(way == 2 ? 3 : way == 7 ? 1024 : way == 8 ? 1025 : MOST);
        if (way == 0) id[k] = (uint32_t)(k / 3);
        if (way == 1) id[k] = (uint32_t)((N - k) / 2);
        x[k] = (uint64_t)id[k] + UINT64_MAX / 2;
        if (way == 3) x[k] = (uint64_t)id[k] * 5;
        if (way == 4) x[k] = (uint64_t)id[k] * 7;
        if (way == 5) x[k] = (uint64_t)id[k] << 40 | id[k];
        if (way >= 7) x[k] = (uint64_t)id[k] << 50 | id[k];
        if (way == 6) x[k] = number_of_hash(id[k]);
      }
      CHECK_INT(joist_repeated(JOIST_UI64, N, x, got, &run, NULL), JOIST_OK);
      for (size_t k = 0; k < N; k++) {
        wrong += got[k] != seen[id[k]];
        seen[id[k]] = 1;
      }
      CHECK_MSG(wrong == 0, "repeated, %s, %d threads: %zu wrong", ways[way], threads, wrong);
      free(id);
    }
  free(x);
  free(got);
  free(seen);
}

int main(void) {
  use_rules();
  test_operations();
  test_close();
  test_many_repeated();
  test_ways_repeated();
  test_counting();
  return check_report("search");
}
