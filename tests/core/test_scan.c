/* Cumulative operations and positions of extremes: every dtype along every dim of shapes that
 * meet each way of scanning, against one loop per line in 64-bit integers or long double; the
 * same bits for any number of threads; requested dtypes, NaN, no elements, too many of them. */
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "rules.h"
#include "single.h"

static joist_status begin(struct single *s, joist_op op, joist_dtype dtype, joist_dtype requested,
                          const struct joist_shape *shape, int dim, int keep) {
  struct joist_attributes attributes = with_type(with(no_attributes, JOIST_ATTRIBUTE_DIM, dim),
                                                 (struct joist_type){requested, false});
  if (op == JOIST_OP_ARGMIN || op == JOIST_OP_ARGMAX)
    attributes = with(attributes, JOIST_ATTRIBUTE_DROP, !keep);
  return begin_single(s, op, dtype, shape, &attributes);
}

/* Runs it with 1, 2 and 3 threads, which must agree to the bit; the result is the caller's. */
static char *run_single(const struct single *s, const void *in, joist_status *status) {
  const size_t bytes = s->results * joist_dtype_size(s->to);
  char *const out = calloc(3, bytes + 1);
  struct joist_error error;
  if (!CHECK(out != NULL)) exit(1);
  for (int t = 0; t < 3; t++) {
    const struct joist_run run = {.threads = t + 1, .parallel_from = 1};
    void *outputs[] = {out + (size_t)t * bytes};
    const joist_status now = joist_plan_run(s->plan, &in, outputs, &run, &error);
    if (t == 0) *status = now;
    CHECK_INT(now, *status);
    CHECK_MSG(memcmp(out, outputs[0], bytes) == 0, "other bits with %d threads", t + 1);
  }
  return out;
}

/* Elements before one along the dim, and of a whole line. */
struct lines {
  size_t inner, middle, outer;
};

static struct lines lines_of(const struct joist_shape *shape, int dim) {
  struct lines l = {1, 1, 1};
  for (int d = 0; d < shape->rank; d++) {
    size_t *const part = dim < 0 || d == dim ? &l.middle : d < dim ? &l.inner : &l.outer;
    *part *= shape->extent[d];
  }
  return l;
}

static long double part_of(joist_dtype dtype, const char *at, int part) {
  double both[2];
  joist_convert_find_portable(dtype, JOIST_C128)(1, at, both);
  return both[part];
}

/* One line in 64-bit integers, wrapped to the dtype of the result at every element. */
static void check_integer_line(joist_op op, const struct single *s, const char *in, const char *out,
                               size_t n, size_t stride) {
  const size_t from = joist_dtype_size(s->from), to = joist_dtype_size(s->to);
  const bool is_signed = joist_dtype_kind(s->from) == JOIST_KIND_INT;
  uint64_t now = 0;
  for (size_t k = 0; k < n; k++) {
    uint64_t x;
    char want[16];
    joist_convert_find_portable(s->from, JOIST_UI64)(1, in + k * stride * from, &x);
    const bool less = is_signed ? (int64_t)x < (int64_t)now : x < now;
    if (k == 0)
      now = x;
    else if (op == JOIST_OP_CUMSUM)
      now += x;
    else if (op == JOIST_OP_CUMPROD)
      now *= x;
    else if (less == (op == JOIST_OP_CUMMIN))
      now = x;
    joist_convert_find_portable(JOIST_UI64, s->to)(1, &now, want);
    if (!CHECK_MSG(memcmp(want, out + k * stride * to, to) == 0, "%s of %s to %s, element %zu",
                   joist_op_name(op), joist_dtype_name(s->from), joist_dtype_name(s->to), k))
      return;
  }
}

/* One part of a line of floats or complex numbers, or of what is accumulated in floats. */
static void check_float_line(joist_op op, const struct single *s, const char *in, const char *out,
                             size_t n, size_t stride, int part) {
  const size_t from = joist_dtype_size(s->from), to = joist_dtype_size(s->to);
  const bool extreme = op == JOIST_OP_CUMMIN || op == JOIST_OP_CUMMAX;
  const double last =
      joist_dtype_category(s->to) < JOIST_CATEGORY_FLOAT ? 0 : half_unit(joist_dtype_real(s->to));
  const long double smallest = smallest_number(joist_dtype_real(s->to));
  long double now = 0, size = 0;
  for (size_t k = 0; k < n; k++) {
    const long double x = part_of(s->from, in + k * stride * from, part);
    const long double got = part_of(s->to, out + k * stride * to, part);
    const bool further = op == JOIST_OP_CUMMIN ? x < now : x > now;
    if (k == 0)
      now = x;
    else if (op == JOIST_OP_CUMSUM)
      now += x;
    else if (op == JOIST_OP_CUMPROD)
      now *= x;
    else if (!isnan(now) && (isnan(x) || further))
      now = x;
    size = op == JOIST_OP_CUMPROD ? fabsl(now) : size + fabsl(x);
    /* A partial sum may overflow in one order and not in another. */
    if (!extreme && !(size < 1e290L)) {
      if (isnan(now)) CHECK(isnan(got) || !joist_dtype_has_nan(s->to));
      return;
    }
    if (op == JOIST_OP_CUMPROD && fabsl(now) < 1e-290L) return;
    if (!extreme && last > 0 && fabsl(now) > 0.999L * joist_dtype_max_float(s->to)) continue;
    const long double bound =
        extreme ? 0 : size * (long double)k * 0x1p-53L + fabsl(now) * last * 1.01L + smallest;
    /* A conversion to an integer truncates. */
    bool same;
    if (last == 0 || !lacks_number(joist_dtype_real(s->to), now, bound, got, &same))
      same =
          isnan(now) ? isnan(got) : got == now || fabsl(got - now) <= bound + (last == 0 ? 1 : 0);
    if (!CHECK_MSG(same, "%s of %s to %s, element %zu: %Lg, want %Lg", joist_op_name(op),
                   joist_dtype_name(s->from), joist_dtype_name(s->to), k, got, now))
      return;
  }
}

static void check_scan(joist_op op, joist_dtype dtype, joist_dtype requested,
                       const struct joist_shape *shape, int dim, fill_kind kind) {
  struct single s;
  const joist_status begun = begin(&s, op, dtype, requested, shape, dim, 0);
  if (begun != JOIST_OK) {
    CHECK_INT(begun, JOIST_ERROR_DTYPE);
    CHECK(joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX && joist_op_combine(op) != JOIST_OP_ADD &&
          joist_op_combine(op) != JOIST_OP_MUL);
    return;
  }
  const size_t from = joist_dtype_size(dtype), to = joist_dtype_size(s.to);
  joist_status status = JOIST_OK;
  CHECK(s.elements == s.results);
  char *const in = malloc(s.elements * from + 1);
  if (!CHECK(in != NULL)) exit(1);
  fill(dtype, s.elements, kind, in);
  char *const out = run_single(&s, in, &status);
  CHECK_INT(status, JOIST_OK);
  const struct lines l = lines_of(shape, dim);
  const bool floats = joist_dtype_category(s.accumulator) >= JOIST_CATEGORY_FLOAT;
  /* A complex product has no simple bound part by part. */
  const bool complex_sum = s.accumulator == JOIST_C128 && op == JOIST_OP_CUMSUM;
  const int parts = complex_sum ? 2 : s.accumulator == JOIST_C128 ? 0 : 1;
  for (size_t k = 0; s.elements > 0 && k < l.inner * l.outer; k++) {
    const size_t first = k / l.inner * l.inner * l.middle + k % l.inner;
    if (!floats) check_integer_line(op, &s, in + first * from, out + first * to, l.middle, l.inner);
    for (int part = 0; floats && part < parts; part++)
      check_float_line(op, &s, in + first * from, out + first * to, l.middle, l.inner, part);
  }
  free(in);
  free(out);
  end_single(&s);
}

static void check_position(joist_op op, joist_dtype dtype, const struct joist_shape *shape, int dim,
                           fill_kind kind) {
  struct single s;
  const joist_status begun = begin(&s, op, dtype, JOIST_DTYPE_NONE, shape, dim, dim % 2);
  if (begun != JOIST_OK) {
    CHECK_INT(begun, JOIST_ERROR_DTYPE);
    CHECK_INT(joist_dtype_kind(dtype), JOIST_KIND_COMPLEX);
    return;
  }
  const size_t size = joist_dtype_size(dtype);
  joist_status status = JOIST_OK;
  CHECK_INT(s.to, JOIST_I32);
  char *const in = malloc(s.elements * size + 1);
  if (!CHECK(in != NULL)) exit(1);
  fill(dtype, s.elements, kind, in);
  char *const out = run_single(&s, in, &status);
  CHECK_INT(status, s.elements == 0 && s.results > 0 ? JOIST_ERROR_VALUE : JOIST_OK);
  const struct lines l = lines_of(shape, dim);
  const bool whole = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT;
  const joist_dtype wide = !whole                                       ? JOIST_F64
                           : joist_dtype_kind(dtype) == JOIST_KIND_UINT ? JOIST_UI64
                                                                        : JOIST_I64;
  for (size_t k = 0; s.elements > 0 && k < s.results; k++) {
    const size_t first = k / l.inner * l.inner * l.middle + k % l.inner;
    union {
      double real;
      int64_t i64;
      uint64_t ui64;
    } best = {0}, x;
    size_t want = 0;
    for (size_t m = 0; m < l.middle; m++) {
      joist_convert_find_portable(dtype, wide)(1, in + (first + m * l.inner) * size, &x);
      bool less, more;
      if (wide == JOIST_F64)
        less = x.real<best.real, more = x.real> best.real;
      else if (wide == JOIST_UI64)
        less = x.ui64<best.ui64, more = x.ui64> best.ui64;
      else
        less = x.i64<best.i64, more = x.i64> best.i64;
      const bool nan = wide == JOIST_F64 && isnan(x.real);
      if (m == 0 || nan || (op == JOIST_OP_ARGMIN ? less : more)) best = x, want = m;
      if (nan) break;
    }
    const int32_t got = ((const int32_t *)out)[k];
    if (!CHECK_MSG(got == (int32_t)want + 1, "%s of %s, result %zu: %d, want %zu",
                   joist_op_name(op), joist_dtype_name(dtype), k, (int)got, want + 1))
      break;
  }
  free(in);
  free(out);
  end_single(&s);
}

static const joist_op scans[] = {JOIST_OP_CUMSUM, JOIST_OP_CUMPROD, JOIST_OP_CUMMIN,
                                 JOIST_OP_CUMMAX};
static const joist_op positions[] = {JOIST_OP_ARGMIN, JOIST_OP_ARGMAX};

static void check_all(joist_dtype dtype, const struct joist_shape *shape, int dim, fill_kind kind) {
  for (size_t k = 0; k < sizeof scans / sizeof *scans; k++)
    check_scan(scans[k], dtype, JOIST_DTYPE_NONE, shape, dim, kind);
  for (size_t k = 0; k < sizeof positions / sizeof *positions; k++)
    check_position(positions[k], dtype, shape, dim, kind);
}

static void test_small(void) {
  static const struct joist_shape shapes[] = {{0, {0}},           {1, {1}},       {1, {9}},
                                              {1, {0}},           {2, {3, 0}},    {2, {0, 3}},
                                              {3, {2, 3, 4}},     {3, {1, 7, 1}}, {3, {5, 1, 33}},
                                              {4, {3, 1, 17, 2}}, {3, {70, 3, 2}}};
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int dim = -1; dim < shapes[s].rank; dim++)
        for (int kind = 0; kind < FILL_COUNT; kind++)
          if (!is_small((joist_dtype)d) || (kind + dim + d + (int)s) % FILL_COUNT == 0)
            check_all((joist_dtype)d, &shapes[s], dim, (fill_kind)kind);
}

/* Extents about the sizes that lines, slabs, rows and strips are cut at. */
static void test_sizes(void) {
  static const uint32_t about[] = {4, 64, 512, 1024, 4096};
  static const joist_dtype dtypes[] = {JOIST_UI8, JOIST_I64, JOIST_F16,
                                       JOIST_F32, JOIST_F64, JOIST_C64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t k = 0; k < sizeof about / sizeof *about; k++)
      for (uint32_t n = about[k] - 1; n <= about[k] + 1; n++) {
        const struct joist_shape inner = {2, {n, 3}}, outer = {2, {3, n}}, middle = {3, {2, n, 2}};
        const fill_kind kind = (fill_kind)(n % FILL_COUNT);
        check_all(dtypes[d], &inner, 0, kind);
        check_all(dtypes[d], &inner, 1, kind);
        check_all(dtypes[d], &outer, 1, kind);
        check_all(dtypes[d], &middle, 1, kind);
      }
  static const struct joist_shape large[] = {
      {1, {1100001}}, {2, {70001, 2}}, {2, {2, 70001}}, {3, {300, 5, 100}}};
  for (size_t s = 0; s < sizeof large / sizeof *large; s++)
    for (int dim = s == 0 ? 0 : -1; dim < large[s].rank; dim++) {
      check_all(JOIST_F32, &large[s], dim, FILL_SMALL);
      check_all(JOIST_F64, &large[s], dim, FILL_SMALL);
      check_all(JOIST_I16, &large[s], dim, FILL_BITS);
    }
}

static void test_requested(void) {
  static const struct joist_shape shape = {2, {5, 4}};
  for (int from = 0; from < JOIST_DTYPE_COUNT; from++)
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const bool narrowed = joist_dtype_category((joist_dtype)from) >= JOIST_CATEGORY_FLOAT &&
                            joist_dtype_category((joist_dtype)to) < JOIST_CATEGORY_FLOAT;
      if (narrowed || joist_dtype_kind((joist_dtype)from) == JOIST_KIND_COMPLEX) continue;
      const bool sampled = is_small((joist_dtype)from) || is_small((joist_dtype)to);
      for (int dim = -1; dim < 2; dim++)
        if (!sampled || dim == (from + to) % 3 - 1)
          check_scan(JOIST_OP_CUMSUM, (joist_dtype)from, (joist_dtype)to, &shape, dim, FILL_SMALL);
    }
}

/* The error of long sums is at most the error of a plain loop in double, and sums of
 * numbers that are not negative never decrease. */
static void test_long_sum(void) {
  enum { N = 1 << 20 };
  static const struct joist_shape shape = {1, {N}};
  struct single s;
  joist_status status = JOIST_OK;
  double *const in = malloc(N * sizeof *in);
  if (!CHECK(in != NULL)) return;
  for (size_t k = 0; k < N; k++) in[k] = (double)(random_bits() >> 11) * 0x1p-53;
  CHECK_INT(begin(&s, JOIST_OP_CUMSUM, JOIST_F64, JOIST_DTYPE_NONE, &shape, 0, 0), JOIST_OK);
  char *const out = run_single(&s, in, &status);
  long double exact = 0, ours = 0, theirs = 0;
  double plain = 0, before = 0;
  bool monotone = true;
  for (size_t k = 0; k < N; k++) {
    const double got = ((const double *)out)[k];
    exact += in[k];
    plain += in[k];
    ours = fmaxl(ours, fabsl(got - exact));
    theirs = fmaxl(theirs, fabsl(plain - exact));
    monotone &= got >= before;
    before = got;
  }
  CHECK_MSG(ours <= theirs, "off by %Lg, a plain loop by %Lg", ours, theirs);
  CHECK(monotone);
  free(in);
  free(out);
  end_single(&s);
}

/* A product passes through numbers whose parts, taken by themselves, overflow. */
static void test_long_product(void) {
  enum { N = 5000 };
  static const struct joist_shape shape = {1, {N}};
  struct single s;
  joist_status status = JOIST_OK;
  double in[N];
  for (size_t k = 0; k < N; k++) in[k] = k < 300 ? 0.1 : k < 900 ? 10 : 1;
  CHECK_INT(begin(&s, JOIST_OP_CUMPROD, JOIST_F64, JOIST_DTYPE_NONE, &shape, 0, 0), JOIST_OK);
  char *const out = run_single(&s, in, &status);
  long double exact = 1;
  for (size_t k = 0; k < N; k++) {
    exact *= in[k];
    const long double got = ((const double *)out)[k];
    if (!CHECK(fabsl(got / exact - 1) < 1e-12L)) break;
  }
  free(out);
  end_single(&s);
}

static void test_too_many(void) {
  static const struct joist_shape huge = {2, {65536, 65536}}, last = {2, {1, INT32_MAX}};
  struct single s;
  CHECK_INT(begin(&s, JOIST_OP_CUMSUM, JOIST_I8, JOIST_DTYPE_NONE, &huge, -1, 0),
            JOIST_ERROR_SHAPE);
  CHECK_INT(begin(&s, JOIST_OP_ARGMAX, JOIST_I8, JOIST_DTYPE_NONE, &huge, -1, 0),
            JOIST_ERROR_SHAPE);
  CHECK_INT(begin(&s, JOIST_OP_ARGMAX, JOIST_I8, JOIST_DTYPE_NONE, &huge, 1, 0), JOIST_OK);
  end_single(&s);
  CHECK_INT(begin(&s, JOIST_OP_ARGMAX, JOIST_I8, JOIST_DTYPE_NONE, &last, -1, 0), JOIST_OK);
  end_single(&s);
}

static bool stop(void *count) { return --*(int *)count < 0; }

/* An interrupt between blocks stops the run. */
static void test_interrupt(void) {
  enum { N = 20000000 };
  static const struct joist_shape shapes[] = {{1, {N}}, {2, {5000, 4000}}};
  void *const in = calloc(N, 1), *out = malloc(N);
  if (!CHECK(in != NULL && out != NULL)) return;
  for (int k = 0; k < 4; k++)
    for (int threads = 1; threads < 3; threads++) {
      struct single s;
      struct joist_error error;
      const void *inputs[] = {in};
      int count = 0;
      const struct joist_run run = {
          .threads = threads, .parallel_from = 1, .poll = stop, .context = &count};
      const joist_op op = k < 2 ? JOIST_OP_CUMSUM : JOIST_OP_ARGMAX;
      CHECK_INT(begin(&s, op, JOIST_I8, JOIST_I8, &shapes[k % 2], 0, 0), JOIST_OK);
      const joist_status status = joist_plan_run(s.plan, inputs, &out, &run, &error);
      /* One line by one thread is one task. */
      if (threads == 2 || k % 2 == 1) CHECK_INT(status, JOIST_INTERRUPTED);
      end_single(&s);
    }
  free(in);
  free(out);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_small();
  test_sizes();
  test_requested();
  test_long_sum();
  test_long_product();
  test_too_many();
  test_interrupt();
  return check_report("scan");
}
