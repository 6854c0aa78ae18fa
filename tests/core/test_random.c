/* Random numbers: the published vectors of Philox, every instruction set against one block at
 * a time, normal numbers against the C library in long double, integers and probabilities
 * against wider arithmetic; the same bits for any number of threads, any length and any instruction
 * set. */
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/ops/random/binomial.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"

static const char *const sets[] = {"generic", "avx2", "avx512"};
enum { SETS = sizeof sets / sizeof *sets, WORDS = 4096 };

/* Random123's file kat_vectors, lines "philox4x32 10": counter, key, result. */
static void test_vectors(void) {
  static const struct {
    struct joist_block counter;
    uint32_t key[2];
    struct joist_block want;
  } known[] = {
      {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       {0xffffffff, 0xffffffff},
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {0xa4093822, 0x299f31d0},
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    const struct joist_block got = philox(known[k].counter, known[k].key);
    CHECK_MSG(memcmp(&got, &known[k].want, sizeof got) == 0, "vector %zu", k);
  }
}

static void test_words(const char *set) {
  static uint32_t words[WORDS];
  const uint64_t firsts[] = {0, 1, 77, UINT32_MAX - 10, UINT64_MAX - 20};
  for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
    for (size_t count = 0; count <= 67; count++) {
      const struct joist_stream stream = {{(uint32_t)random_bits(), (uint32_t)random_bits()},
                                          (uint32_t)random_bits(),
                                          JOIST_STREAM_SPLIT};
      memset(words, 0, sizeof words);
      joist_random_kernels()->words(&stream, firsts[f], count, words);
      size_t wrong = 0;
      for (size_t b = 0; b < count; b++) {
        const uint64_t number = firsts[f] + b;
        const struct joist_block counter = {
            {(uint32_t)number, (uint32_t)(number >> 32), stream.attempt, JOIST_STREAM_SPLIT}};
        const struct joist_block want = philox(counter, stream.key);
        wrong += memcmp(words + 4 * b, want.word, sizeof want) != 0;
      }
      CHECK_MSG(wrong == 0 && words[4 * count] == 0, "%s: %zu of %zu blocks", set, wrong, count);
    }
}

/* ---- normal numbers ---- */

static void fill_words(uint32_t *words) {
  static const uint32_t ends[] = {0, 1, 0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000, 0xffffffff};
  for (size_t k = 0; k < WORDS; k++)
    words[k] = one_in(4) ? ends[random_below(sizeof ends / sizeof *ends)] : (uint32_t)random_bits();
}

/* The normal pair that u in (0, 1) and an angle, as a fraction of the circle, give. */
static void check_pair(const double *got, long double u, long double turns, const char *what) {
  const long double radius = sqrtl(-2 * logl(u)), angle = 2 * acosl(-1) * turns;
  const long double want[2] = {radius * cosl(angle), radius * sinl(angle)};
  for (int k = 0; k < 2; k++) {
    /* Rounding u to a double adds an error: du / (u radius). */
    const long double allowed = 4e-16L * radius + 1.2e-16L / (radius + 1e-9L);
    CHECK_MSG(fabsl((long double)got[k] - want[k]) <= allowed, "%s: %.17g, want %.20Lg", what,
              got[k], want[k]);
  }
}

static void test_normal(const uint32_t *words) {
  static double x[WORDS];
  joist_random_kernels()->normal_narrow(WORDS / 2, words, x);
  for (size_t k = 0; k < WORDS / 2; k++)
    check_pair(x + 2 * k, ((long double)words[2 * k] + 0.5L) / 0x1p32L,
               (long double)(words[2 * k + 1]) / 0x1p32L + 0x1p-33L, "narrow");
  joist_random_kernels()->normal_wide(WORDS / 4, words, x);
  for (size_t k = 0; k < WORDS / 4; k++) {
    const uint32_t *const w = words + 4 * k;
    check_pair(x + 2 * k, ((long double)w[1] * 0x1p32L + (long double)w[0] + 0.5L) / 0x1p64L,
               ((long double)w[3] * 0x1p32L + (long double)w[2]) / 0x1p64L, "wide");
  }
}

/* ---- every instruction set writes the same ---- */

struct results {
  float unit_f32[WORDS], unit_half[WORDS];
  double unit_f64[WORDS / 2], narrow[WORDS], wide[WORDS / 2], between[WORDS / 2], spread[WORDS / 2];
};

static void compute(const uint32_t *words, struct results *out) {
  static double low[WORDS / 2], high[WORDS / 2], top[WORDS / 2];
  const struct joist_random_kernels *const kernels = joist_random_kernels();
  kernels->unit_f32(WORDS, words, out->unit_f32);
  kernels->unit_half(WORDS / 2, 11, words, out->unit_half);
  kernels->unit_f64(WORDS / 2, words, out->unit_f64);
  kernels->normal_narrow(WORDS / 2, words, out->narrow);
  kernels->normal_wide(WORDS / 4, words, out->wide);
  for (size_t k = 0; k < WORDS / 2; k++) {
    low[k] = -0.1 * (double)k;
    high[k] = 1.7 * (double)k + 0.3;
    top[k] = nextafter(high[k], -1e9);
  }
  memcpy(out->between, out->unit_f64, sizeof out->between);
  kernels->between(WORDS / 2, low, high, top, out->between);
  memcpy(out->spread, out->wide, sizeof out->spread);
  kernels->spread(WORDS / 2, low, high, out->spread);
}

static void test_sets(void) {
  static uint32_t words[WORDS];
  static struct results first, other;
  fill_words(words);
  for (int s = 0; s < SETS; s++) {
    if (!joist_kernels_select(sets[s])) continue;
    test_words(sets[s]);
    test_normal(words);
    memset(&other, 0, sizeof other);
    compute(words, s == 0 ? &first : &other);
    if (s > 0) CHECK_MSG(memcmp(&first, &other, sizeof first) == 0, "%s: other bits", sets[s]);
  }
  for (size_t k = 0; k < WORDS / 2; k++) {
    const uint64_t bits = words[2 * k] | (uint64_t)words[2 * k + 1] << 32;
    CHECK(first.unit_f64[k] == (double)(bits >> 11) * 0x1p-53);
    CHECK(first.unit_f32[k] == (float)(words[k] >> 8) * 0x1p-24f);
    CHECK(first.unit_half[2 * k + 1] == (float)(words[k] >> 21) * 0x1p-11f);
    CHECK(first.unit_half[2 * k] == (float)((words[k] & 0xffff) >> 5) * 0x1p-11f);
  }
  joist_kernels_select(NULL);
}

/* ---- whole programs ---- */

/* random_bits, runif ... of a key, in a program of one instruction. The parameters are scalars, or
 * the weights of two categories. */
static char *draw(joist_op op, joist_dtype dtype, size_t n, int threads, const uint32_t *key,
                  const double *parameters, joist_status *status) {
  const size_t count = joist_operation(op)->least;
  const struct joist_shape line = {1, {(uint32_t)n}};
  const struct joist_attributes attributes =
      with_shape(with_type(no_attributes, (struct joist_type){dtype, false}), &line);
  struct joist_program program;
  struct joist_inference inference;
  joist_value_id operands[JOIST_ELEMENT_OPERANDS], result;
  const void *inputs[] = {key, parameters, parameters + 1};
  const struct joist_run run = {.threads = threads, .parallel_from = 1};
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++)
    operands[k] = k == 0 ? add_input(&program, JOIST_UI32, 1, (uint32_t[]){2})
                         : add_input(&program, JOIST_F64, op == JOIST_OP_RCATEGORICAL ? 1 : 0,
                                     (uint32_t[]){2});
  char *const out = calloc(n + 1, joist_dtype_size(dtype));
  void *outputs[] = {out};
  *status =
      infer_and_append(&program, op, operands, count, &attributes, &inference, &result, &error);
  if (*status == JOIST_OK) *status = joist_program_add_output(&program, result, &error);
  if (*status == JOIST_OK) *status = joist_plan_make(&program, &plan, &error);
  if (*status == JOIST_OK) *status = joist_plan_run(plan, inputs, outputs, &run, &error);
  joist_plan_free(plan);
  joist_program_clear(&program);
  return out;
}

static void test_programs(void) {
  enum { LONG = 40000 };
  static const struct {
    joist_op op;
    double parameters[2];
  } draws[] = {{JOIST_OP_RANDOM_BITS, {0, 0}}, {JOIST_OP_RUNIF, {0, 1}},
               {JOIST_OP_RUNIF, {-2.5, 100}},  {JOIST_OP_RNORM, {0, 1}},
               {JOIST_OP_RNORM, {3, 0.1}},     {JOIST_OP_RANDINT, {0, 1}},
               {JOIST_OP_RBINOM, {1, 0.25}},   {JOIST_OP_RBINOM, {100, 0.25}},
               {JOIST_OP_RBINOM, {60, 0.9}},   {JOIST_OP_REXP, {2, 0}},
               {JOIST_OP_RGAMMA, {0.5, 3}},    {JOIST_OP_RGAMMA, {1e9, 3}},
               {JOIST_OP_RPOIS, {3, 0}},       {JOIST_OP_RPOIS, {50, 0}},
               {JOIST_OP_RCATEGORICAL, {1, 3}}};
  const size_t lengths[] = {0, 1, 2, 3, 5, 1023, 1024, 1025, 3333};
  const uint32_t key[2] = {0x12345678, 0x9abcdef0};
  int drawn = 0, narrow = 0;
  for (size_t d = 0; d < sizeof draws / sizeof *draws; d++)
    for (int t = 0; t < JOIST_DTYPE_COUNT; t++) {
      const joist_dtype dtype = (joist_dtype)t;
      const size_t size = joist_dtype_size(dtype);
      joist_status status, other;
      char *const whole = draw(draws[d].op, dtype, LONG, 1, key, draws[d].parameters, &status);
      CHECK(status == JOIST_OK || status == JOIST_ERROR_DTYPE || status == JOIST_ERROR_VALUE);
      drawn += status == JOIST_OK && joist_dtype_is_word(dtype);
      narrow += status == JOIST_OK && !joist_dtype_is_word(dtype);
      for (int threads = 2; threads <= 3 && status == JOIST_OK; threads++) {
        char *const same =
            draw(draws[d].op, dtype, LONG, threads, key, draws[d].parameters, &other);
        CHECK_MSG(other == JOIST_OK && memcmp(whole, same, LONG * size) == 0,
                  "%s of %s depends on the number of threads", joist_op_name(draws[d].op),
                  joist_dtype_name(dtype));
        free(same);
      }
      for (size_t n = 0; n < sizeof lengths / sizeof *lengths && status == JOIST_OK; n++) {
        char *const part =
            draw(draws[d].op, dtype, lengths[n], 1, key, draws[d].parameters, &other);
        CHECK_MSG(other == JOIST_OK && memcmp(whole, part, lengths[n] * size) == 0,
                  "%s of %s depends on the length", joist_op_name(draws[d].op),
                  joist_dtype_name(dtype));
        free(part);
      }
      for (int s = 0; s < SETS && status == JOIST_OK; s++) {
        if (!joist_kernels_select(sets[s])) continue;
        char *const same = draw(draws[d].op, dtype, LONG, 1, key, draws[d].parameters, &other);
        CHECK_MSG(other == JOIST_OK && memcmp(whole, same, LONG * size) == 0,
                  "%s of %s: other bits by %s", joist_op_name(draws[d].op), joist_dtype_name(dtype),
                  sets[s]);
        free(same);
      }
      joist_kernels_select(NULL);
      free(whole);
    }
  CHECK_INT(drawn, 8 + 4 + 4 + 6 + 6 + 15 + 15 + 14 + 14 + 4 + 4 + 4 + 12 + 11 + 12);
  CHECK(narrow > 100);
}

/* ---- arithmetic ---- */

static void test_multiply_high(void) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 wide;
  for (int k = 0; k < 20000; k++) {
    const uint64_t a = one_in(5) ? UINT64_MAX - random_below(3) : random_bits() >> random_below(64);
    const uint64_t b = one_in(5) ? UINT64_MAX - random_below(3) : random_bits() >> random_below(64);
    CHECK(multiply_high(a, b) == (uint64_t)((wide)a * b >> 64));
    CHECK(multiply_high_portable(a, b) == (uint64_t)((wide)a * b >> 64));
  }
#endif
}

/* Probabilities of all counts, relative to one of them, against the gamma function. */
static void test_binomial_log(void) {
  static const double sizes[] = {20, 33, 100, 1000, 12345}, probs[] = {0.5, 0.31, 0.1, 0.02};
  for (int s = 0; s < 5; s++)
    for (int p = 0; p < 4; p++) {
      const double n = sizes[s];
      const struct joist_binomial d = binomial_setup(n, probs[p]);
      if (d.inverted) continue;
      const long double odds = logl((long double)d.p) - logl((long double)d.q);
      const double mode = floor((n + 1) * d.p);
      for (double k = 0; k <= n; k += n > 2000 ? 7 : 1) {
        const long double want = lgammal(mode + 1) + lgammal(n - mode + 1) - lgammal(k + 1) -
                                 lgammal(n - k + 1) + (long double)(k - mode) * odds;
        const double got = binomial_log(&d, k) - d.mode_log;
        CHECK_MSG(fabsl((long double)got - want) <= 1e-13L * (1 + fabsl(want)),
                  "n = %g, p = %g, k = %g: %.17g, want %.20Lg", n, d.p, k, got, want);
      }
    }
  for (double p = 0; p <= 0.5; p += 0.00137) {
    CHECK(fabs(log1m(p) - log1p(-p)) <= 4e-16 * fabs(log1p(-p)));
    CHECK(fabs(exp_fine(-100 * p) - exp(-100 * p)) <= 4e-16 * exp(-100 * p));
    CHECK(fabs(log_fine(p + 1e-9) - log(p + 1e-9)) <= 4e-16 * fabs(log(p + 1e-9)));
  }
}

/* Far above the shape, where no draw is, the series of the share below takes as many terms as x; of
 * very small numbers its terms underflow. Values by mpmath: the derivative of gammainc() by the
 * shape over the density, with 60 digits, and -x / a (ln x - psi(1 + a)). */
static void test_gamma_slope(void) {
  static const struct {
    double shape, x, slope;
  } known[] = {{0.5, 302, 7.664583974025668141},        {2, 400, 5.5851081469920834843},
               {1, 1e6, 14.392727222864806967},         {100, 600, 2.1533562424767387059},
               {900, 2200, 1.5128877703416552835},      {0.5, 1e30, 71.04106281584279402},
               {1, 1e300, 691.35274356311523812},       {0.01, 0x1p-1020, 0x1.13f4ec82d4d19p-1004},
               {1, 0x1p-1019, 0x1.615eb07fc6539p-1010}, {900, 0x1p-1000, 0x1.8e31a04bced9dp-1001}};
  enum { COUNT = sizeof known / sizeof *known };
  double shape[COUNT], x[COUNT], got[COUNT];
  for (int k = 0; k < COUNT; k++) {
    shape[k] = known[k].shape;
    x[k] = known[k].x;
  }
  const uint32_t extent = COUNT;
  struct joist_program program;
  struct joist_plan *plan = NULL;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_F64, 1, &extent);
  const joist_value_id b = add_input(&program, JOIST_F64, 1, &extent);
  add_output(&program, add_simple(&program, JOIST_OP_RGAMMA_SLOPE, a, b));
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  const struct joist_run run = {.threads = 1};
  CHECK_INT(joist_plan_run(plan, (const void *[]){shape, x}, (void *[]){got}, &run, NULL),
            JOIST_OK);
  for (int k = 0; k < COUNT; k++)
    CHECK_MSG(fabs(got[k] - known[k].slope) <= 1e-14 * known[k].slope,
              "rgamma_slope(%g, %g): %.17g, want %.17g", shape[k], x[k], got[k], known[k].slope);
  joist_plan_free(plan);
  joist_program_clear(&program);
}

int main(void) {
  use_rules();
  test_vectors();
  test_sets();
  test_programs();
  test_multiply_high();
  test_binomial_log();
  test_gamma_slope();
  return check_report("random");
}
