/* Reductions over some and all dims: every reduction and dtype over shapes that meet both
 * ways of reducing (runs and rows), integers exactly and floats against long double; the
 * same bits for any number of threads; empty ones, NaN, requested dtypes, and the error of
 * long sums. */
#include "core/types/narrow.h"
#include "interpreter.h"
#include "rules.h"
#include "single.h"

static bool begin_reduction(struct single *r, joist_op op, joist_dtype dtype, joist_dtype requested,
                            const struct joist_shape *shape, uint32_t dims, bool drop) {
  const struct joist_type type = {requested, false};
  const struct joist_attributes attributes =
      with(with_dims(with_type(no_attributes, type), dims), JOIST_ATTRIBUTE_DROP, drop);
  return begin_single(r, op, dtype, shape, &attributes) == JOIST_OK;
}

static joist_status run_reduction(const struct single *r, int threads, const void *in, void *out,
                                  struct joist_error *error) {
  const struct joist_run run = {.threads = threads, .parallel_from = 1};
  return joist_plan_run(r->plan, &in, &out, &run, error);
}

/* Runs it with 1, 2 and 3 threads and compares with the interpreter. */
static void check_reduction(joist_op op, joist_dtype dtype, joist_dtype requested,
                            const struct joist_shape *shape, uint32_t dims, bool drop,
                            fill_kind kind) {
  struct single r;
  char text[JOIST_SHAPE_TEXT];
  if (!begin_reduction(&r, op, dtype, requested, shape, dims, drop)) return;
  const size_t size = joist_dtype_size(r.to);
  char *const in = malloc(r.elements * joist_dtype_size(dtype) + 1);
  char *const out = malloc(3 * r.results * size + 1);
  if (!CHECK(in != NULL && out != NULL)) return;
  fill(dtype, r.elements, kind, in);
  joist_status status[3];
  struct joist_error error;
  for (int t = 0; t < 3; t++)
    status[t] = run_reduction(&r, t + 1, in, out + (size_t)t * r.results * size, &error);
  CHECK(status[0] == status[1] && status[0] == status[2]);
  const bool empty =
      r.elements == 0 && r.results > 0 && (op == JOIST_OP_REDUCE_MIN || op == JOIST_OP_REDUCE_MAX);
  CHECK_MSG(status[0] == (empty ? JOIST_ERROR_VALUE : JOIST_OK), "nv_%s(%s%s): status %d",
            joist_op_name(op), joist_dtype_name(dtype), joist_shape_format(shape, text),
            (int)status[0]);
  if (status[0] == JOIST_OK) {
    for (size_t t = 1; t < 3; t++)
      CHECK_MSG(memcmp(out, out + t * r.results * size, r.results * size) == 0,
                "nv_%s(%s%s, dims %x) has other bits with %zu threads", joist_op_name(op),
                joist_dtype_name(dtype), joist_shape_format(shape, text), dims, t + 1);
    struct interpreter reference;
    const void *inputs[1] = {in};
    char *got[2] = {NULL, out};
    interpreter_init(&reference, &r.program, inputs);
    interpreter_run(&reference, got);
    const size_t at = first_difference(r.to, r.results, out, reference.array[1]);
    CHECK_MSG(at == r.results, "nv_%s(%s%s, dims %x), result %zu of %zu", joist_op_name(op),
              joist_dtype_name(dtype), joist_shape_format(shape, text), dims, at, r.results);
    interpreter_clear(&reference);
  }
  free(in);
  free(out);
  end_single(&r);
}

static const joist_op ops[] = {JOIST_OP_REDUCE_SUM, JOIST_OP_REDUCE_PROD, JOIST_OP_REDUCE_MIN,
                               JOIST_OP_REDUCE_MAX, JOIST_OP_REDUCE_MEAN, JOIST_OP_REDUCE_ANY,
                               JOIST_OP_REDUCE_ALL};
enum { OPS = sizeof ops / sizeof *ops };

/* Every reduction of every dtype, over every subset of the dims of small shapes. */
static void test_all(void) {
  static const struct joist_shape shapes[] = {
      {0, {0}},          {1, {1}},           {1, {9}},       {1, {0}},        {2, {3, 0}},
      {2, {0, 3}},       {3, {2, 3, 4}},     {3, {1, 7, 1}}, {3, {5, 1, 33}}, {4, {3, 1, 17, 2}},
      {4, {2, 3, 4, 5}}, {4, {19, 9, 2, 3}}, {2, {1, 1}},    {3, {3, 0, 2}}};
  for (int k = 0; k < OPS; k++)
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (uint32_t dims = 0; dims < UINT32_C(1) << shapes[s].rank; dims++) {
          if (is_small((joist_dtype)d) && (s + dims + (size_t)d) % 3 != 0) continue;
          check_reduction(ops[k], (joist_dtype)d, JOIST_DTYPE_NONE, &shapes[s], dims, dims % 2 == 0,
                          (fill_kind)((s + dims) % FILL_COUNT));
        }
}

/* Extents about the sizes that the engine cuts at (rows of 512, runs of 4096, leaves of 8,
 * tiles up to 16384), as the first, the middle and the last of the dims reduced. */
static void test_sizes(void) {
  static const uint32_t about[] = {8, 16, 64, 512, 1024, 4096, 8192, 16384};
  static const joist_dtype dtypes[] = {JOIST_UI8, JOIST_I64, JOIST_F16,
                                       JOIST_F32, JOIST_F64, JOIST_C64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t k = 0; k < sizeof about / sizeof *about; k++)
      for (uint32_t n = about[k] - 1; n <= about[k] + 1; n++) {
        const struct joist_shape inner = {2, {n, 3}}, outer = {2, {3, n}}, middle = {3, {2, n, 2}};
        const joist_op op = ops[(n + d) % 3 == 1 ? 2 : 0]; /* a minimum now and then */
        const fill_kind kind = dtypes[d] == JOIST_I64 ? FILL_BITS : FILL_SMALL;
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &inner, 1, true, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &inner, 2, true, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &outer, 1, true, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &outer, 2, false, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &middle, 2, true, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &middle, 5, true, kind);
        check_reduction(op, dtypes[d], JOIST_DTYPE_NONE, &outer, 3, true, kind);
      }
  /* Enough elements for several threads, in runs and in rows. */
  static const struct joist_shape large[] = {
      {2, {70001, 2}}, {2, {2, 70001}}, {3, {300, 5, 100}}, {3, {7, 3001, 5}}, {1, {150001}}};
  for (size_t s = 0; s < sizeof large / sizeof *large; s++)
    for (uint32_t dims = 1; dims < UINT32_C(1) << large[s].rank; dims++) {
      check_reduction(JOIST_OP_REDUCE_SUM, JOIST_F32, JOIST_DTYPE_NONE, &large[s], dims, true,
                      FILL_SMALL);
      check_reduction(JOIST_OP_REDUCE_SUM, JOIST_I8, JOIST_DTYPE_NONE, &large[s], dims, true,
                      FILL_BITS);
      check_reduction(JOIST_OP_REDUCE_MAX, JOIST_F16, JOIST_DTYPE_NONE, &large[s], dims, true,
                      FILL_BITS);
      check_reduction(JOIST_OP_REDUCE_ANY, JOIST_UI16, JOIST_DTYPE_NONE, &large[s], dims, true,
                      FILL_SMALL);
    }
}

static void test_requested(void) {
  const struct joist_shape shape = {2, {13, 21}};
  for (int q = 0; q < JOIST_DTYPE_COUNT; q++)
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
      for (uint32_t dims = 1; dims < 4; dims++) {
        const bool sampled = is_small((joist_dtype)d) || is_small((joist_dtype)q);
        if (sampled && dims != 1 + (uint32_t)(d + q) % 3) continue;
        check_reduction(JOIST_OP_REDUCE_SUM, (joist_dtype)d, (joist_dtype)q, &shape, dims, true,
                        FILL_SMALL);
        check_reduction(JOIST_OP_REDUCE_MEAN, (joist_dtype)d, (joist_dtype)q, &shape, dims, true,
                        FILL_SMALL);
      }
}

/* One result of a whole array, as a double. */
static double reduce_all(joist_op op, joist_dtype dtype, joist_dtype requested, size_t n,
                         const void *in, joist_status *status) {
  struct single r;
  const struct joist_shape shape = {1, {(uint32_t)n}};
  _Alignas(16) char out[16];
  double value = 0;
  struct joist_error error;
  if (!CHECK(begin_reduction(&r, op, dtype, requested, &shape, 1, true))) return 0;
  *status = run_reduction(&r, 2, in, out, &error);
  if (*status == JOIST_OK) joist_convert_find_portable(r.to, JOIST_F64)(1, out, &value);
  end_single(&r);
  return value;
}

static void test_values(void) {
  joist_status status;
  /* A mean of many small halves does not stall where their sum would. */
  enum { MANY = 100000 };
  uint16_t *const halves = malloc(MANY * sizeof *halves);
  float *const floats = malloc(MANY * sizeof *floats);
  if (!CHECK(halves != NULL && floats != NULL)) return;
  for (size_t i = 0; i < MANY; i++) halves[i] = narrow_f32_to_F16(0.5f), floats[i] = 0.1f;
  CHECK(reduce_all(JOIST_OP_REDUCE_MEAN, JOIST_F16, JOIST_DTYPE_NONE, MANY, halves, &status) ==
        0.5);
  CHECK(reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F16, JOIST_F32, MANY, halves, &status) == MANY / 2);
  /* 50000 is a half, 200000 is beyond the largest. */
  CHECK(reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F16, JOIST_F16, MANY, halves, &status) == 49984);
  for (size_t i = 0; i < MANY; i++) halves[i] = narrow_f32_to_F16(2.0f);
  CHECK(isinf(reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F16, JOIST_F16, MANY, halves, &status)));
  const double sum =
      reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F32, JOIST_DTYPE_NONE, MANY, floats, &status);
  CHECK_MSG(sum == (double)(float)((double)0.1f * (double)MANY), "sum of 0.1f: %.10g", sum);
  /* NaN anywhere is the minimum, the maximum and the sum. */
  for (size_t at = 0; at < 20000; at += 997) {
    floats[at] = NAN;
    CHECK(isnan(
        reduce_all(JOIST_OP_REDUCE_MIN, JOIST_F32, JOIST_DTYPE_NONE, 20000, floats, &status)));
    CHECK(isnan(
        reduce_all(JOIST_OP_REDUCE_MAX, JOIST_F32, JOIST_DTYPE_NONE, 20000, floats, &status)));
    CHECK(isnan(
        reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F32, JOIST_DTYPE_NONE, 20000, floats, &status)));
    floats[at] = 0.1f;
  }
  /* 0 is larger than -0, wherever it is. */
  for (size_t at = 0; at < 20000; at += 997) {
    for (size_t i = 0; i < 20000; i++) floats[i] = i == at ? 0.0f : -0.0f;
    CHECK(!signbit(
        reduce_all(JOIST_OP_REDUCE_MAX, JOIST_F32, JOIST_DTYPE_NONE, 20000, floats, &status)));
    for (size_t i = 0; i < 20000; i++) floats[i] = i == at ? -0.0f : 0.0f;
    CHECK(signbit(
        reduce_all(JOIST_OP_REDUCE_MIN, JOIST_F32, JOIST_DTYPE_NONE, 20000, floats, &status)));
  }
  /* NaN is not zero. */
  const double nan_value = NAN, zero = 0;
  CHECK(reduce_all(JOIST_OP_REDUCE_ANY, JOIST_F64, JOIST_DTYPE_NONE, 1, &nan_value, &status) == 1);
  CHECK(reduce_all(JOIST_OP_REDUCE_ANY, JOIST_F64, JOIST_DTYPE_NONE, 1, &zero, &status) == 0);
  /* Nothing to reduce. */
  CHECK(reduce_all(JOIST_OP_REDUCE_SUM, JOIST_F64, JOIST_DTYPE_NONE, 0, &zero, &status) == 0);
  CHECK(reduce_all(JOIST_OP_REDUCE_PROD, JOIST_F64, JOIST_DTYPE_NONE, 0, &zero, &status) == 1);
  CHECK(reduce_all(JOIST_OP_REDUCE_ALL, JOIST_F64, JOIST_DTYPE_NONE, 0, &zero, &status) == 1);
  CHECK(reduce_all(JOIST_OP_REDUCE_ANY, JOIST_F64, JOIST_DTYPE_NONE, 0, &zero, &status) == 0);
  CHECK(isnan(reduce_all(JOIST_OP_REDUCE_MEAN, JOIST_F64, JOIST_DTYPE_NONE, 0, &zero, &status)));
  CHECK_INT(status, JOIST_OK);
  reduce_all(JOIST_OP_REDUCE_MIN, JOIST_I8, JOIST_DTYPE_NONE, 0, &zero, &status);
  CHECK_INT(status, JOIST_ERROR_VALUE);
  free(halves);
  free(floats);
}

/* Rank 32, and every other dim reduced: as many passes as there can be. */
static void test_rank(void) {
  struct joist_shape shape = {JOIST_RANK_MAX, {0}};
  for (int d = 0; d < JOIST_RANK_MAX; d++) shape.extent[d] = d % 2 == 0 || d > 24 ? 1 : 2;
  check_reduction(JOIST_OP_REDUCE_SUM, JOIST_I16, JOIST_DTYPE_NONE, &shape, 0x22222222, true,
                  FILL_BITS);
  check_reduction(JOIST_OP_REDUCE_SUM, JOIST_F32, JOIST_DTYPE_NONE, &shape, 0x88888888, false,
                  FILL_SMALL);
  check_reduction(JOIST_OP_REDUCE_SUM, JOIST_F32, JOIST_DTYPE_NONE, &shape, UINT32_MAX, true,
                  FILL_SMALL);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_all();
  test_sizes();
  test_requested();
  test_values();
  test_rank();
  return check_report("reduce");
}
