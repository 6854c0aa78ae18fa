/* Sorting, checked by what a stable sort is: every dtype that has an order, both directions, any
 * dim of ranks 1 to 4, one thread and several. */
#include "core/cpu/engine.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"
#include "sets.h"

enum { ROUNDS = 8, LONG = 140000 };

/* ---- the order of two elements ---- */

/* What an element is compared by: floats by their value, integers by their distance from the
 * smallest. */
struct value {
  double number; /* 0 of an integer */
  uint64_t distance;
};

static struct value value_of(joist_dtype dtype, const char *x) {
  struct value value = {0, 0};
  if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT) {
    joist_convert_find_portable(dtype, JOIST_F64)(1, x, &value.number);
  } else if (dtype == JOIST_UI64) {
    memcpy(&value.distance, x, sizeof value.distance);
  } else {
    int64_t integer;
    joist_convert_find_portable(dtype, JOIST_I64)(1, x, &integer);
    value.distance = (uint64_t)integer + (UINT64_C(1) << 63);
  }
  return value;
}

/* NaN is after everything. */
static bool is_before(bool decreasing, const struct value *a, const struct value *b) {
  if (isnan(a->number) || isnan(b->number)) return !isnan(a->number);
  if (decreasing) {
    const struct value *const first = a;
    a = b;
    b = first;
  }
  return a->number < b->number || a->distance < b->distance;
}

/* ---- one call ---- */

static void run_op(joist_op op, joist_dtype dtype, const struct joist_shape *shape, int dim,
                   bool decreasing, int threads, const void *in, void *out) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  const struct joist_attributes attributes =
      with(with(no_attributes, JOIST_ATTRIBUTE_DIM, dim), JOIST_ATTRIBUTE_DECREASING, decreasing);
  struct joist_inference inference;
  joist_value_id result = 0;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, dtype, shape->rank, shape->extent);
  CHECK_INT(infer_and_append(&program, op, &x, 1, &attributes, &inference, &result, NULL),
            JOIST_OK);
  CHECK_INT(inference.signature.result[0].dtype, op == JOIST_OP_SORT ? dtype : JOIST_I32);
  CHECK(joist_shape_equal(&inference.shape[0], shape));
  CHECK_INT(joist_program_add_output(&program, result, NULL), JOIST_OK);
  if (CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK)) {
    const struct joist_run run = {
        .threads = threads, .parallel_from = threads > 1, .stream_from = threads > 1};
    CHECK_INT(joist_plan_run(plan, &in, &out, &run, NULL), JOIST_OK);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
}

static void *allocate(size_t bytes) {
  void *const block = malloc(bytes + 1);
  if (block == NULL) abort();
  return block;
}

/* Where the sorted array is not what a stable sort makes of the input, SIZE_MAX if nowhere: the
 * positions of a line are all different, each element is the one at its position, and neighbours
 * are in order, equal ones in the order of their positions. */
static size_t find_wrong(size_t size, size_t count, size_t n, size_t stride, bool decreasing,
                         const struct value *values, const char *in, const char *sorted,
                         const int32_t *positions, bool *taken) {
  size_t wrong = SIZE_MAX;
  memset(taken, 0, count);
  for (size_t at = 0; at < count; at++) {
    const size_t first = at / (n * stride) * n * stride + at % stride;
    const int32_t position = positions[at];
    if (position < 1 || (size_t)position > n) return at;
    const size_t source = first + ((size_t)position - 1) * stride;
    if (taken[source] || memcmp(sorted + at * size, in + source * size, size) != 0) wrong = at;
    taken[source] = true;
    if (at / stride % n == 0) continue;
    const int32_t before = positions[at - stride]; /* in its range, as it has been checked */
    const struct value *const x = &values[first + ((size_t)before - 1) * stride];
    const struct value *const y = &values[source];
    if (is_before(decreasing, y, x) || (before > position && !is_before(decreasing, x, y)))
      wrong = at;
  }
  return wrong;
}

static void check_sorted(joist_dtype dtype, const struct joist_shape *shape, int dim,
                         const char *in) {
  const size_t size = joist_dtype_size(dtype), n = shape->extent[dim];
  size_t count = 0, stride = 1;
  char text[JOIST_SHAPE_TEXT];
  CHECK(joist_shape_count(shape, &count));
  for (int d = 0; d < dim; d++) stride *= shape->extent[d];
  char *const sorted = allocate(count * size);
  int32_t *const positions = allocate(count * sizeof *positions);
  struct value *const values = allocate(count * sizeof *values);
  bool *const taken = allocate(count);
  for (size_t k = 0; k < count; k++) values[k] = value_of(dtype, in + k * size);
  for (int decreasing = 0; decreasing < 2; decreasing++)
    for (int threads = 1; threads <= 3; threads += 2) {
      memset(sorted, 0x5a, count * size);
      memset(positions, 0x5a, count * sizeof *positions);
      run_op(JOIST_OP_SORT, dtype, shape, dim, decreasing, threads, in, sorted);
      run_op(JOIST_OP_ARGSORT, dtype, shape, dim, decreasing, threads, in, positions);
      const size_t wrong =
          find_wrong(size, count, n, stride, decreasing, values, in, sorted, positions, taken);
      CHECK_MSG(wrong == SIZE_MAX, "%s %s along %d, %s, %d threads: wrong at %zu",
                joist_dtype_name(dtype), joist_shape_format(shape, text), dim + 1,
                decreasing ? "decreasing" : "increasing", threads, wrong);
    }
  free(sorted);
  free(positions);
  free(values);
  free(taken);
}

/* ---- the cases ---- */

static bool has_order(int dtype) {
  return joist_dtype_kind((joist_dtype)dtype) != JOIST_KIND_COMPLEX;
}

static void test_shapes(void) {
  static const uint32_t extents[] = {0, 1, 1, 2, 3, 5, 24, 25, 33, 100};
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int round = 0; has_order(d) && round < ROUNDS; round++) {
      const joist_dtype dtype = (joist_dtype)d;
      struct joist_shape shape = {1 + (int)random_below(4), {0}};
      size_t count = 1;
      for (int k = 0; k < shape.rank; k++) {
        shape.extent[k] = extents[random_below(sizeof extents / sizeof *extents)];
        if (shape.extent[k] == 0 && !one_in(4)) shape.extent[k] = 2;
        if (count * shape.extent[k] > 20000) shape.extent[k] = 2;
        count *= shape.extent[k];
      }
      char *const in = allocate(count * joist_dtype_size(dtype));
      fill(dtype, count, (fill_kind)random_below(FILL_COUNT), in);
      check_sorted(dtype, &shape, (int)random_below((size_t)shape.rank), in);
      free(in);
    }
}

/* Long enough for all threads to share a line; spread out, close together, and in order. */
static void test_long(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int kind = 0; has_order(d) && kind < FILL_COUNT + 2; kind++) {
      const joist_dtype dtype = (joist_dtype)d;
      const size_t size = joist_dtype_size(dtype);
      const bool columns = kind == FILL_COUNT;
      if (is_small(dtype) && kind != FILL_BITS && kind != FILL_COUNT) continue;
      const struct joist_shape shape =
          columns ? (struct joist_shape){2, {2, LONG / 2}} : (struct joist_shape){1, {LONG}};
      char *const in = allocate(LONG * size);
      fill(dtype, LONG, kind < FILL_COUNT ? (fill_kind)kind : FILL_BITS, in);
      if (kind > FILL_COUNT) { /* sorted but for the last few */
        const struct joist_shape most = {1, {LONG - 5}};
        char *const before = allocate(LONG * size);
        memcpy(before, in, LONG * size);
        run_op(JOIST_OP_SORT, dtype, &most, 0, false, 1, before, in);
        free(before);
      }
      check_sorted(dtype, &shape, columns, in);
      free(in);
    }
}

/* Keys that lie close together but for some that are far away, at every level. */
static void test_clusters(void) {
  const struct joist_shape shape = {1, {LONG}};
  uint64_t *const in = allocate(LONG * sizeof *in);
  const struct joist_shape lines = {2, {1000, LONG / 1000}};
  for (int round = 0; round < 6; round++) {
    for (size_t k = 0; k < LONG; k++) {
      const uint64_t bits = random_bits();
      in[k] = one_in(3) ? bits >> (bits % 64) : bits % 3;
      if (round == 1) in[k] = UINT64_C(1) << (bits % 64);
      if (round == 2) in[k] = k % 1000 == 0 ? bits : 7;
      /* Where positions leave no room for the lowest bits of a key. */
      if (round == 3) in[k] = (bits & 1) | (bits & 2 ? UINT64_C(0xfffffffffffe) : 0);
      if (round == 3 && k % 10 == 0) in[k] = bits;
      if (round == 4) in[k] = (bits % 20 << 59) | (bits >> 32 & 0x1ff);
      if (round == 5) in[k] = bits % 5000 << 40; /* whose lowest bits are 0 */
    }
    check_sorted(JOIST_UI64, &lines, 0, (const char *)in);
    check_sorted(JOIST_UI64, &shape, 0, (const char *)in);
    check_sorted(JOIST_I64, &shape, 0, (const char *)in);
  }
  free(in);
}

/* Many integers of a small range, from its lowest possible place to its highest: each comes out
 * as often as it went in. */
static void check_range(joist_dtype dtype, uint64_t lowest, uint64_t range, size_t n) {
  const size_t size = joist_dtype_size(dtype);
  const struct joist_shape shape = {1, {(uint32_t)n}};
  char *const in = allocate(n * size), *const out = allocate(n * size);
  uint32_t *const count = allocate(range * sizeof *count);
  for (size_t k = 0; k < n; k++) {
    uint64_t x = lowest + (one_in(3) ? random_bits() % range : k * 7919 % range);
    memcpy(in + k * size, whole_bytes(&x, size), size);
  }
  for (int decreasing = 0; decreasing < 2; decreasing++)
    for (int threads = 1; threads <= 3; threads += 2) {
      size_t wrong = 0;
      uint64_t before = 0;
      memset(out, 0x5a, n * size);
      memset(count, 0, range * sizeof *count);
      run_op(JOIST_OP_SORT, dtype, &shape, 0, decreasing, threads, in, out);
      for (size_t k = 0; k < n; k++) {
        uint64_t x = 0, y = 0;
        memcpy(whole_bytes(&x, size), in + k * size, size);
        memcpy(whole_bytes(&y, size), out + k * size, size);
        const uint64_t mask = UINT64_MAX >> (64 - 8 * size);
        x = (x - lowest) & mask;
        y = (y - lowest) & mask;
        if (y >= range) {
          wrong++;
          continue;
        }
        count[x]++;
        count[y]--;
        /* Distances from the lowest are in the order of the values. */
        if (k > 0) wrong += decreasing ? y > before : y < before;
        before = y;
      }
      for (size_t v = 0; v < range; v++) wrong += count[v] != 0;
      CHECK_MSG(wrong == 0, "%zu %s of %.0f from %.0f, %s, %d threads: %zu wrong", n,
                joist_dtype_name(dtype), (double)range, (double)lowest,
                decreasing ? "decreasing" : "increasing", threads, wrong);
    }
  free(in);
  free(out);
  free(count);
}

static void test_ranges(void) {
  static const uint64_t ranges[] = {1, 2, 1000, 65535, 65536, 65537, 131072, 400000};
  static const joist_dtype dtypes[] = {JOIST_I16, JOIST_I32, JOIST_UI64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
      const bool is_signed = joist_dtype_kind(dtypes[d]) == JOIST_KIND_INT;
      const unsigned bits = (unsigned)(8 * joist_dtype_size(dtypes[d]));
      const uint64_t mask = UINT64_MAX >> (64 - bits);
      const uint64_t lowest = is_signed ? UINT64_C(1) << (bits - 1) : 0;
      if (ranges[r] - 1 > mask) continue;
      check_range(dtypes[d], lowest, ranges[r], 600000);
      check_range(dtypes[d], (lowest - ranges[r]) & mask, ranges[r], 150000 + ranges[r]);
      if (is_signed) check_range(dtypes[d], (0 - ranges[r] / 2) & mask, ranges[r], 150000);
    }
}

static void test_refusals(void) {
  struct joist_argument argument;
  struct joist_inference inference;
  memset(&argument, 0, sizeof argument);
  argument.shape = (struct joist_shape){2, {3, 4}};
  argument.operand.rank = 2;
  const joist_op ops[] = {JOIST_OP_SORT, JOIST_OP_ARGSORT};
  for (int k = 0; k < 2; k++) {
    argument.operand.type = (struct joist_type){JOIST_C64, false};
    const struct joist_attributes first = with(no_attributes, JOIST_ATTRIBUTE_DIM, 0);
    const struct joist_attributes third = with(no_attributes, JOIST_ATTRIBUTE_DIM, 2);
    CHECK_INT(
        joist_program_infer(joist_rules_at(0), ops[k], &argument, 1, &first, &inference, NULL),
        JOIST_ERROR_DTYPE);
    argument.operand.type = (struct joist_type){JOIST_F16, true};
    CHECK_INT(
        joist_program_infer(joist_rules_at(0), ops[k], &argument, 1, &first, &inference, NULL),
        JOIST_OK);
    CHECK(inference.signature.result[0].ambiguous == (ops[k] == JOIST_OP_SORT));
    CHECK_INT(
        joist_program_infer(joist_rules_at(0), ops[k], &argument, 1, &third, &inference, NULL),
        JOIST_ERROR_SHAPE);
  }
}

/* Lengths around the sizes of networks, with many equal keys and with few. */
static void test_lengths(void) {
  static const joist_dtype dtypes[] = {JOIST_UI32, JOIST_I64, JOIST_F32, JOIST_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (uint32_t n = 0; n < 1200; n += n < 140 ? 1 : 97) {
      const struct joist_shape shape = {1, {n}};
      char *const in = allocate(n * joist_dtype_size(dtypes[d]));
      fill(dtypes[d], n, n % 2 ? FILL_BITS : FILL_EXTREME, in);
      check_sorted(dtypes[d], &shape, 0, in);
      free(in);
    }
}

int main(void) {
  use_rules();
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int k = 0; k < count; k++) {
    if (count > 1 && strcmp(sets[k], "avx2") == 0) continue; /* sorting has no AVX2 code */
    joist_kernels_select(sets[k]);
    test_shapes();
    test_lengths();
    test_long();
    test_clusters();
    test_ranges();
  }
  test_refusals();
  return check_report("sort");
}
