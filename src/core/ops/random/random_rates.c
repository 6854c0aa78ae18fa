/* Exponential, gamma and Poisson numbers. */
#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/ops/random/random_counts.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE
#include "core/ops/random/rates.h" /* below the pragma: functions of other options are not inlined */

/* The elements of a parameter as doubles, from `first` on. */
static void read_rates(const struct joist_parameter *parameter, size_t first, size_t n,
                       double *rates) {
  joist_parameter_read(parameter, first, n, JOIST_F64, rates);
}

/* JOIST_ERROR_VALUE says which of the elements of a parameter is none. */
static joist_status check_rates(const struct joist_parameter *parameter, size_t count,
                                joist_error_code code, struct joist_error *error) {
  double rates[JOIST_DRAW_BLOCK];
  for (size_t first = 0; first < count; first += JOIST_DRAW_BLOCK) {
    const size_t n = joist_smaller(JOIST_DRAW_BLOCK, count - first);
    read_rates(parameter, first, n, rates);
    for (size_t k = 0; k < n; k++)
      if (!is_rate(rates[k]))
        return JOIST_FAIL(error, code, .number = {rates[k]}, .position = first + k + 1);
  }
  return JOIST_OK;
}

/* ---- exponential numbers ---- */

static void draw_exponential(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  uint32_t words[2 * JOIST_DRAW_BLOCK];
  double rate[JOIST_DRAW_BLOCK], numbers[JOIST_DRAW_BLOCK];
  joist_draw_words(draw, 64, first, n, words);
  read_rates(&draw->lhs, first, n, rate);
  JOIST_VECTORIZE_LOOP for (size_t k = 0; k < n; k++) {
    numbers[k] = exponential_of_words(words[2 * k], words[2 * k + 1], rate[k]);
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

joist_status joist_random_exponential_run(const struct joist_call *call,
                                          struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK)
    status = check_rates(&draw.lhs, joist_parameter_count(&draw), JOIST_E_REXP_RATE, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_exponential;
  draw.work = 16;
  return joist_draw_all(&draw, error);
}

/* ---- gamma numbers ---- */

/* What no attempt is needed for. */
static bool is_gamma_limit(double shape, double rate, double *number) {
  const bool none = shape == 0 || rate == (double)INFINITY;
  *number = none ? 0 : (double)INFINITY;
  return none || shape == (double)INFINITY || rate == 0;
}

/* The first attempts are made of words that are drawn side by side. */
static void draw_gamma(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double shape[JOIST_DRAW_BLOCK], rate[JOIST_DRAW_BLOCK], numbers[JOIST_DRAW_BLOCK];
  double normal[2 * JOIST_DRAW_BLOCK];
  uint32_t words[4 * JOIST_DRAW_BLOCK];
  const struct joist_random_kernels *const kernels = joist_random_kernels();
  struct joist_stream stream = draw->stream;
  stream.use = JOIST_STREAM_ELEMENT;
  read_rates(&draw->lhs, first, n, shape);
  read_rates(&draw->rhs, first, n, rate);
  kernels->words(&stream, first, n, words);
  kernels->normal_wide(n, words, normal);
  stream.attempt = 1;
  kernels->words(&stream, first, n, words);
  struct joist_gamma known = gamma_setup(shape[0]);
  for (size_t k = 0; k < n; k++) {
    if (shape[k] != known.shape) known = gamma_setup(shape[k]);
    if (is_gamma_limit(shape[k], rate[k], &numbers[k])) continue;
    struct joist_block other;
    memcpy(other.word, words + 4 * k, sizeof other.word);
    bool made = gamma_of(&known, normal[2 * k], other, &numbers[k]);
    for (uint32_t attempt = 1; !made; attempt++)
      made = gamma_attempt(&known, &draw->stream, first + k, attempt, &numbers[k]);
    numbers[k] /= rate[k];
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

joist_status joist_random_gamma_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status != JOIST_OK) return status;
  const size_t count = joist_parameter_count(&draw);
  status = check_rates(&draw.lhs, count, JOIST_E_RGAMMA_SHAPE, error);
  if (status == JOIST_OK) status = check_rates(&draw.rhs, count, JOIST_E_RGAMMA_RATE, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_gamma;
  draw.work = 64;
  return joist_draw_all(&draw, error);
}

/* ---- Poisson numbers ---- */

static void draw_poisson(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double rate[JOIST_DRAW_BLOCK], numbers[JOIST_DRAW_BLOCK];
  const double most = joist_count_most(draw->dtype);
  read_rates(&draw->lhs, first, n, rate);
  struct joist_poisson known = poisson_setup(rate[0]);
  for (size_t k = 0; k < n; k++) {
    if (rate[k] != known.rate) known = poisson_setup(rate[k]);
    uint32_t attempt = 0;
    while (!poisson_attempt(&known, element_block(&draw->stream, first + k, attempt), &numbers[k]))
      attempt++;
    if (numbers[k] > most) numbers[k] = most;
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

static joist_status check_means(const struct joist_draw *draw, struct joist_error *error) {
  double rates[JOIST_DRAW_BLOCK];
  const double most = joist_count_most(draw->dtype);
  const size_t count = joist_parameter_count(draw);
  for (size_t first = 0; first < count; first += JOIST_DRAW_BLOCK) {
    const size_t n = joist_smaller(JOIST_DRAW_BLOCK, count - first);
    read_rates(&draw->lhs, first, n, rates);
    for (size_t k = 0; k < n; k++)
      if (!is_poisson_rate(rates[k], most))
        return JOIST_FAIL(error, JOIST_E_RPOIS_RATE, .number = {rates[k]},
                          .position = first + k + 1, .type = {{draw->dtype, false}});
  }
  return JOIST_OK;
}

joist_status joist_random_poisson_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = check_means(&draw, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_poisson;
  draw.work = 32;
  return joist_draw_all(&draw, error);
}
