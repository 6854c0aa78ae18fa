/* scans.h: cumulative operations on the device against the CPU's engine: to the bit where that is
 * promised, else within the error of sums and products one after the other; in lines that meet
 * each way of cutting them; and that none goes by way of the CPU. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_SCANS_H
#define JOIST_TESTS_CUDA_SCANS_H

static const joist_op scan_ops[] = {JOIST_OP_CUMSUM, JOIST_OP_CUMPROD, JOIST_OP_CUMMIN,
                                    JOIST_OP_CUMMAX};
enum { SCAN_OPS = sizeof scan_ops / sizeof *scan_ops };

/* A program of one cumulative operation, its input and its results here and there. */
struct scanned {
  struct joist_program program;
  joist_op op;
  joist_dtype from, to, accumulator;
  struct joist_lines lines;
  void *in, **here, **there;
};

/* False when the dtype has no such operation. */
static bool begin_scan(struct scanned *s, joist_op op, joist_dtype dtype, joist_dtype requested,
                       const struct joist_shape *shape, int dim) {
  const struct joist_attributes attributes = with_type(
      with(no_attributes, JOIST_ATTRIBUTE_DIM, dim), (struct joist_type){requested, false});
  joist_value_id result = 0;
  memset(s, 0, sizeof *s);
  joist_program_init(&s->program);
  const joist_value_id x = add_input(&s->program, dtype, shape->rank, shape->extent);
  if (!add(&s->program, joist_rules_at(0), op, &x, 1, &attributes, &result)) {
    CHECK(joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX && op != JOIST_OP_CUMSUM &&
          op != JOIST_OP_CUMPROD);
    joist_program_clear(&s->program);
    return false;
  }
  add_output(&s->program, result);
  s->op = op;
  s->from = dtype;
  s->to = s->program.values[result].type.dtype;
  s->accumulator = s->program.instructions[0].signature.operand[0];
  s->lines = joist_shape_lines(shape, dim);
  s->in = malloc(bytes_of(&s->program, x) + 1);
  return CHECK(s->in != NULL);
}

static void run_scan(struct scanned *s) {
  struct joist_error error = {0};
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = 1};
  s->here = new_outputs(&s->program);
  s->there = new_outputs(&s->program);
  CHECK_INT(joist_plan_make(&s->program, &plan, &error), JOIST_OK);
  CHECK_INT(joist_plan_run(plan, (const void *const *)&s->in, s->here, &run, &error), JOIST_OK);
  joist_plan_free(plan);
#ifndef JOIST_TEST_GPU
  const long copies = host_runtime.copies;
#endif
  CHECK_MSG(run_there(&s->program, &s->in, s->there, &error) == JOIST_OK, "%s", words(&error));
#ifndef JOIST_TEST_GPU
  /* Large ones are copied in pieces. */
  CHECK_MSG(host_runtime.copies - copies <= 2 || bytes_of(&s->program, 0) > 1 << 22,
            "%s of %s: %ld copies to and from the CPU", joist_op_name(s->op),
            joist_dtype_name(s->from), host_runtime.copies - copies);
#endif
}

static void end_scan(struct scanned *s) {
  free(s->in);
  free_outputs(s->here);
  free_outputs(s->there);
  joist_program_clear(&s->program);
}

static void parts_of(joist_dtype dtype, const void *array, size_t k, double part[2]) {
  joist_convert_find_portable(dtype, JOIST_C128)(
      1, (const char *)array + k * joist_dtype_size(dtype), part);
}

/* How far numbers may be apart: what the sums or products before them may be off by, twice, and
 * what the results are rounded by. */
static bool is_near(const struct scanned *s, const double got[2], const double want[2], size_t k,
                    double size) {
  const joist_dtype real = joist_dtype_real(s->to);
  const bool is_complex = joist_dtype_kind(s->accumulator) == JOIST_KIND_COMPLEX;
  const double unit = real == JOIST_F64   ? 0
                      : real == JOIST_F32 ? 0x1p-24
                      : real == JOIST_F16 ? 0x1p-11
                                          : 0x1p-8;
  const double smallest = real == JOIST_F16 ? 0x1p-24 : real == JOIST_F64 ? 0x1p-1074 : 0x1p-133;
  const double large = fmax(fabs(want[0]), fabs(want[1]));
  const double all = s->op == JOIST_OP_CUMSUM ? size : is_complex ? 4 * large : large;
  for (int part = 0; part < 2; part++) {
    const double bound =
        2 * (double)(k + 1) * 0x1p-53 * all + 2.02 * unit * fabs(want[part]) + smallest;
    if (isnan(want[part]) ? !isnan(got[part])
                          : got[part] != want[part] && !(fabs(got[part] - want[part]) <= bound))
      return false;
  }
  return true;
}

/* Whether a product of this logarithm may or may not be infinite, have lost digits here but not
 * there, or be zero. */
static bool is_at_border(double height) {
  return (height > 1020 && height < 1028) || (height > -1080 && height < -1018);
}

/* Sums and products of floats, line by line; nothing about what is beside a result that overflows,
 * nor about complex products that do or vanish. */
static void check_near(const struct scanned *s) {
  const struct joist_lines l = s->lines;
  const double most = 0.999 * joist_dtype_max_float(joist_dtype_real(s->to));
  for (size_t line = 0; line < l.inner * l.outer; line++) {
    const size_t first = line / l.inner * l.inner * l.middle + line % l.inner;
    double size = 0, height = 0;
    bool ended = false;
    for (size_t m = 0; m < l.middle; m++) {
      const size_t k = first + m * l.inner;
      double x[2], got[2], want[2];
      parts_of(s->from, s->in, k, x);
      parts_of(s->to, s->here[0], k, want);
      parts_of(s->to, s->there[0], k, got);
      size += hypot(x[0], x[1]);
      const double large = hypot(want[0], want[1]);
      if (s->op == JOIST_OP_CUMSUM && !(size < 1e290)) break;
      if (s->accumulator == JOIST_C128 && s->op == JOIST_OP_CUMPROD &&
          !(large > 1e-290 && large < 1e290))
        break;
      if (s->op == JOIST_OP_CUMPROD && !ended) {
        height += log2(fabs(x[0]));
        if (is_at_border(height)) break;
        ended = !(fabs(height) < 1028);
      }
      if (isfinite(want[0]) && large > most) continue;
      if (!CHECK_MSG(is_near(s, got, want, m, size),
                     "%s of %s to %s, (%zu, %zu, %zu), element %zu: %.17g %.17g, want %.17g %.17g",
                     joist_op_name(s->op), joist_dtype_name(s->from), joist_dtype_name(s->to),
                     l.inner, l.middle, l.outer, k, got[0], got[1], want[0], want[1]))
        return;
    }
  }
}

static void check_scanned(struct scanned *s, const char *what) {
  run_scan(s);
  const size_t n = count_of(&s->program, s->program.outputs[0]);
  const bool exact = s->op == JOIST_OP_CUMMIN || s->op == JOIST_OP_CUMMAX ||
                     joist_dtype_category(s->accumulator) < JOIST_CATEGORY_FLOAT;
  if (exact) {
    const size_t at = first_difference(s->to, n, s->there[0], s->here[0]);
    char mine[64], other[64];
    const size_t byte = at * joist_dtype_size(s->to);
    CHECK_MSG(at == n, "%s of %s to %s, %s (%zu, %zu, %zu): element %zu of %zu: %s, want %s",
              joist_op_name(s->op), joist_dtype_name(s->from), joist_dtype_name(s->to), what,
              s->lines.inner, s->lines.middle, s->lines.outer, at, n,
              at == n ? "" : element_text(s->to, (char *)s->there[0] + byte, mine),
              at == n ? "" : element_text(s->to, (char *)s->here[0] + byte, other));
  } else {
    check_near(s);
  }
  seen.compared += (long)n;
}

static void check_scan(joist_op op, joist_dtype dtype, joist_dtype requested,
                       const struct joist_shape *shape, int dim, fill_kind kind) {
  struct scanned s;
  if (!begin_scan(&s, op, dtype, requested, shape, dim)) return;
  fill(dtype, count_of(&s.program, 0), kind, s.in);
  check_scanned(&s, "filled");
  end_scan(&s);
}

static void check_scans(joist_dtype dtype, const struct joist_shape *shape, int dim,
                        fill_kind kind) {
  for (int op = 0; op < SCAN_OPS; op++)
    check_scan(scan_ops[op], dtype, JOIST_DTYPE_NONE, shape, dim, kind);
}

/* Every dtype along every dim. */
static void test_small_scans(void) {
  static const struct joist_shape shapes[] = {
      {0, {0}},        {1, {1}},         {1, {0}},    {2, {3, 0}},   {3, {2, 3, 4}},
      {3, {5, 1, 33}}, {3, {70, 30, 2}}, {1, {3000}}, {2, {7, 300}}, {5, {3, 2, 17, 1, 5}}};
  for (int d = 0; d < JOIST_WORD_COUNT; d++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int dim = -1; dim < shapes[s].rank; dim++)
        check_scans((joist_dtype)d, &shapes[s], dim,
                    (fill_kind)(((size_t)d + s + (size_t)dim + 1) % FILL_COUNT));
}

/* Dtypes, with the rows of their runs at most. */
static const struct {
  joist_dtype dtype;
  uint32_t run;
} scan_runs[] = {{JOIST_UI8, 11}, {JOIST_I64, 11}, {JOIST_F16, 15},
                 {JOIST_F32, 11}, {JOIST_F64, 11}, {JOIST_C64, 5}};
enum { SCAN_RUNS = sizeof scan_runs / sizeof *scan_runs };

/* Lengths about those of runs and groups of 16 runs, alone and beside others. */
static void test_scan_sizes(void) {
  static const uint32_t runs[] = {1, 2, 15, 16, 17, 32};
  for (size_t d = 0; d < SCAN_RUNS; d++)
    for (size_t g = 0; g < sizeof runs / sizeof *runs; g++)
      for (uint32_t n = scan_runs[d].run * runs[g] - 1; n <= scan_runs[d].run * runs[g] + 1; n++) {
        const joist_dtype dtype = scan_runs[d].dtype;
        const fill_kind kind = (fill_kind)((n + d) % FILL_COUNT);
        check_scans(dtype, &(struct joist_shape){2, {n, 3}}, 0, kind);
        check_scans(dtype, &(struct joist_shape){3, {2, n, 40}}, 1, kind);
        check_scans(dtype, &(struct joist_shape){2, {65, n}}, 1, kind);
      }
}

/* And of tiles: five have segments, four a block. */
static void test_scan_segments(void) {
  for (size_t d = 0; d < SCAN_RUNS; d++)
    for (uint32_t tiles = 4; tiles < 6; tiles++)
      for (uint32_t more = 0; more < 3; more++) {
        const uint32_t n = scan_runs[d].run * JOIST_CUDA_BLOCK * tiles + more - 1;
        check_scans(scan_runs[d].dtype, &(struct joist_shape){1, {n}}, 0,
                    (fill_kind)((more + d) % 2));
      }
  static const struct joist_shape wide[] = {
      {2, {100, 1200}}, {3, {3, 5000, 2}}, {2, {64, 300}}, {2, {9000, 2}}, {3, {1, 20000, 3}}};
  for (size_t s = 0; s < sizeof wide / sizeof *wide; s++)
    for (int dim = 0; dim < wide[s].rank; dim++)
      for (int op = 0; op < SCAN_OPS; op++)
        check_scan(scan_ops[op], scan_runs[(s + (size_t)op) % SCAN_RUNS].dtype, JOIST_DTYPE_NONE,
                   &wide[s], dim, (fill_kind)((size_t)dim % 2));
}

/* A segment of several tiles. */
static void test_long_scan(void) {
  static const struct joist_shape shape = {1, {2816 * 4096 + 2817}};
  check_scan(JOIST_OP_CUMSUM, JOIST_F32, JOIST_DTYPE_NONE, &shape, 0, FILL_SMALL);
}

static void test_requested_scans(void) {
  static const struct joist_shape shape = {2, {6, 50}};
  for (int from = 0; from < JOIST_WORD_COUNT; from++)
    for (int to = 0; to < JOIST_WORD_COUNT; to++) {
      const bool floats = joist_dtype_category((joist_dtype)from) >= JOIST_CATEGORY_FLOAT;
      if (floats && joist_dtype_category((joist_dtype)to) < JOIST_CATEGORY_FLOAT) continue;
      for (int op = 0; op < 2; op++)
        check_scan(scan_ops[op], (joist_dtype)from, (joist_dtype)to, &shape, 1, FILL_SMALL);
    }
}

/* Extremes with NaN here and there, and zeros of both signs: which of them, the order says. */
static void test_signs(void) {
  static const joist_dtype dtypes[] = {JOIST_F16, JOIST_BF16, JOIST_F32, JOIST_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (int op = 2; op < SCAN_OPS; op++)
      for (int k = 0; k < 20; k++) {
        struct scanned s;
        const size_t size = joist_dtype_size(dtypes[d]);
        const struct joist_shape shape = {1, {20000}};
        if (!begin_scan(&s, scan_ops[op], dtypes[d], JOIST_DTYPE_NONE, &shape, 0)) return;
        const size_t nan = one_in(2) ? SIZE_MAX : random_below(20000);
        for (size_t i = 0; i < 20000; i++) {
          const double x = i == nan    ? (double)NAN
                           : one_in(2) ? 0.0
                           : one_in(2) ? -0.0
                                       : (op == 2 ? 1 : -1) * (double)random_below(100);
          joist_convert_find_portable(JOIST_F64, dtypes[d])(1, &x, (char *)s.in + i * size);
        }
        run_scan(&s);
        /* Signs of zeros are bits, too. */
        const size_t known = nan == SIZE_MAX ? 20000 : nan;
        CHECK(memcmp(s.there[0], s.here[0], known * size) == 0);
        CHECK_INT(first_difference(dtypes[d], 20000, s.there[0], s.here[0]), 20000);
        end_scan(&s);
      }
}

/* Sums of numbers that are not negative never decrease, and the first is the number itself. */
static void test_rising_sums(void) {
  static const struct joist_shape shapes[] = {{1, {100000}}, {2, {3, 30000}}, {2, {40, 2000}}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    struct scanned s;
    const int dim = shapes[k].rank - 1;
    if (!begin_scan(&s, JOIST_OP_CUMSUM, JOIST_F64, JOIST_DTYPE_NONE, &shapes[k], dim)) return;
    const size_t inner = s.lines.inner, n = count_of(&s.program, 0);
    double *const x = s.in;
    for (size_t i = 0; i < n; i++)
      x[i] = i < inner ? -0.0 : ldexp((double)(random_bits() >> 11), -(int)random_below(60));
    run_scan(&s);
    const double *const got = s.there[0];
    size_t falls = 0;
    for (size_t i = inner; i < n; i++) falls += !(got[i] >= got[i - inner]);
    CHECK_MSG(falls == 0, "%zu sums are less than the ones before", falls);
    for (size_t i = 0; i < inner; i++) CHECK(got[i] == 0 && signbit(got[i]));
    check_near(&s);
    end_scan(&s);
  }
}

/* Products whose runs and segments overflow and vanish by themselves, but not one after the other;
 * that stay infinite or zero once they are; with zeros, infinities and NaN on the way. */
static void test_products_of_any_size(void) {
  enum { N = 30000 };
  static const struct joist_shape shape = {1, {N}};
  static const joist_dtype dtypes[] = {JOIST_F32, JOIST_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (int kind = 0; kind < 60; kind++) {
      struct scanned s;
      if (!begin_scan(&s, JOIST_OP_CUMPROD, dtypes[d], JOIST_F64, &shape, 0)) return;
      double height = 0;
      /* Waves of 2^-1000 to 2^1000 (and beyond, for some), in steps of up to 2^100. */
      const double most = kind % 3 == 0 ? 1200 : 1000;
      double sign = 1;
      const size_t odd = kind < 20 ? SIZE_MAX : random_below(N);
      for (size_t i = 0; i < N; i++) {
        const int step = (int)random_below(101);
        if (height + step > most) sign = -1;
        if (height - step < -most) sign = 1;
        if (one_in(500)) sign = -sign;
        if (height + sign * step > most || height + sign * step < -most) sign = -sign;
        height += sign * step;
        double x = ldexp(one_in(2) ? 1 : -1, (int)sign * step);
        if (i == odd || (kind % 5 == 0 && i == odd + 7))
          x = kind % 4 == 0 ? 0.0 : kind % 4 == 1 ? (double)INFINITY : kind % 4 == 2 ? NAN : -0.0;
        joist_convert_find_portable(JOIST_F64, dtypes[d])(
            1, &x, (char *)s.in + i * joist_dtype_size(dtypes[d]));
      }
      run_scan(&s);
      /* Powers of two: no rounding. */
      const size_t at = first_difference(JOIST_F64, N, s.there[0], s.here[0]);
      CHECK_MSG(at == N, "wave %d of %s: element %zu: %g, want %g", kind,
                joist_dtype_name(dtypes[d]), at, at == N ? 0 : ((double *)s.there[0])[at],
                at == N ? 0 : ((double *)s.here[0])[at]);
      end_scan(&s);
    }
}

static void test_scans(void) {
  test_small_scans();
  test_scan_sizes();
  test_scan_segments();
  test_requested_scans();
  test_signs();
  test_rising_sums();
  test_products_of_any_size();
  if (!short_run) test_long_scan();
}

#endif
