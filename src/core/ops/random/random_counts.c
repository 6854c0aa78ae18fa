/* Random integers, binomial numbers and categories. */
#include "core/ops/random/random_counts.h"

#include <math.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/types/error.h"
#include "core/types/loss.h"

JOIST_VECTORIZE_FILE
#include "core/ops/random/binomial.h" /* below the pragma: functions of other options are not inlined */

struct joist_whole joist_dtype_whole(joist_dtype dtype) {
  if (joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT)
    return (struct joist_whole){joist_dtype_min_int(dtype), joist_dtype_max_int(dtype)};
  int64_t largest = INT64_C(1) << joist_dtype_digits(dtype);
  if ((double)largest > joist_dtype_max_float(dtype))
    largest = (int64_t)joist_dtype_max_float(dtype);
  return (struct joist_whole){joist_dtype_has_sign(dtype) ? -largest : 1, (uint64_t)largest};
}

/* ---- integers ---- */

joist_dtype joist_limit_carrier(joist_dtype dtype) {
  if (dtype == JOIST_UI64) return JOIST_UI64;
  return joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT ? JOIST_I64 : JOIST_F64;
}

/* One limit of element k; false if the dtype cannot hold it exactly. */
static bool limit_of(const struct joist_parameter *parameter, size_t k, joist_dtype dtype,
                     uint64_t *limit) {
  const struct joist_whole whole = joist_dtype_whole(dtype);
  const joist_dtype carrier = joist_limit_carrier(parameter->dtype);
  union {
    uint64_t natural;
    int64_t integer;
    double number;
  } given;
  joist_parameter_read(parameter, k, 1, carrier, &given);
  if (carrier == JOIST_UI64) return whole_of_unsigned(given.natural, whole, limit);
  if (carrier == JOIST_I64) return whole_of_signed(given.integer, whole, limit);
  return whole_of_double(given.number, whole, limit);
}

static bool range_of(const struct joist_draw *draw, size_t k, struct joist_range *range) {
  uint64_t high;
  if (!limit_of(&draw->lhs, k, draw->dtype, &range->low)) return false;
  if (!limit_of(&draw->rhs, k, draw->dtype, &high)) return false;
  range->span = high - range->low;
  return draw->dtype == JOIST_UI64 ? range->low <= high : (int64_t)range->low <= (int64_t)high;
}

/* As below_wide, for one range: false when some bits may have to be redrawn. */
static bool draw_wide(const struct joist_range *range, size_t n, const uint32_t *words,
                      uint64_t *numbers) {
  const uint64_t values = range->span + 1;
  bool redraw = values == 0;
  for (size_t k = 0; k < n; k++) {
    const uint64_t bits = wide_word(words[2 * k], words[2 * k + 1]);
    redraw |= bits * values < values;
    numbers[k] = range->low + multiply_high(bits, values);
  }
  return !redraw;
}

static void draw_integers(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  uint32_t words[2 * JOIST_DRAW_BLOCK];
  uint64_t numbers[JOIST_DRAW_BLOCK];
  const bool wide = joist_dtype_size(joist_dtype_real(draw->dtype)) == sizeof(uint64_t);
  const bool single = draw->lhs.single && draw->rhs.single;
  struct joist_range range = {0, 0};
  if (single) (void)range_of(draw, 0, &range);
  joist_draw_words(draw, wide ? 64 : 32, first, n, words);
  const bool done = single && wide && draw_wide(&range, n, words, numbers);
  for (size_t k = 0; k < n && !done; k++) {
    if (!single) (void)range_of(draw, first + k, &range);
    numbers[k] =
        range.low + (wide ? below_wide(&draw->stream, first + k,
                                       wide_word(words[2 * k], words[2 * k + 1]), range.span)
                          : below_narrow(&draw->stream, first + k, words[k], range.span));
  }
  const joist_dtype carrier = draw->dtype == JOIST_UI64 ? JOIST_UI64 : JOIST_I64;
  joist_convert_find(carrier, draw->dtype)(n, numbers, out);
}

joist_status joist_integer_check(const struct joist_draw *draw, struct joist_error *error) {
  const size_t count = joist_parameter_count(draw);
  for (size_t k = 0; k < count; k++) {
    struct joist_range range;
    if (range_of(draw, k, &range)) continue;
    double low, high;
    joist_parameter_read(&draw->lhs, k, 1, JOIST_F64, &low);
    joist_parameter_read(&draw->rhs, k, 1, JOIST_F64, &high);
    return JOIST_FAIL(error, JOIST_E_RANDINT_RANGE, .number = {low, high}, .position = k + 1,
                      .type = {{draw->dtype, false}});
  }
  return JOIST_OK;
}

joist_status joist_random_integer_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = joist_integer_check(&draw, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_integers;
  draw.work = 8;
  return joist_draw_all(&draw, error);
}

/* ---- binomial numbers ---- */

double joist_count_most(joist_dtype dtype) {
  const uint64_t largest = joist_dtype_whole(dtype).largest;
  return largest < UINT64_C(1) << 53 ? (double)largest : 0x1p53;
}

/* Single trials take dense bits, all others a block of their own for every attempt. */
static void draw_binomial(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  uint32_t words[4 * JOIST_DRAW_BLOCK];
  double size[JOIST_DRAW_BLOCK], prob[JOIST_DRAW_BLOCK], numbers[JOIST_DRAW_BLOCK];
  size_t trials = 0;
  joist_parameter_read(&draw->lhs, first, n, JOIST_F64, size);
  joist_parameter_read(&draw->rhs, first, n, JOIST_F64, prob);
  for (size_t k = 0; k < n; k++) trials += size[k] == 1;
  if (trials > 0) {
    joist_draw_words(draw, 64, first, n, words);
    joist_random_kernels()->unit_f64(n, words, numbers);
    JOIST_VECTORIZE_LOOP for (size_t k = 0; k < n; k++) numbers[k] = numbers[k] < prob[k] ? 1 : 0;
  }
  if (trials < n) {
    struct joist_stream stream = draw->stream;
    stream.use = JOIST_STREAM_ELEMENT;
    joist_random_kernels()->words(&stream, first, n, words);
    struct joist_binomial known = binomial_setup(size[0], prob[0]);
    double listed[MOST_ADDED + 1];
    const bool alike = draw->lhs.single && draw->rhs.single && known.inverted;
    if (alike) binomial_list(&known, listed);
    for (size_t k = 0; k < n; k++) {
      if (size[k] == 1) continue;
      if (size[k] != known.size || prob[k] != known.prob) known = binomial_setup(size[k], prob[k]);
      struct joist_block block;
      memcpy(block.word, words + 4 * k, sizeof block.word);
      for (uint32_t attempt = 1;
           !binomial_attempt(&known, alike ? listed : NULL, block, &numbers[k]); attempt++)
        block = element_block(&draw->stream, first + k, attempt);
    }
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

joist_status joist_binomial_check(const struct joist_draw *draw, struct joist_error *error) {
  const double most = joist_count_most(draw->dtype);
  const size_t count = joist_parameter_count(draw);
  double size[JOIST_DRAW_BLOCK], prob[JOIST_DRAW_BLOCK];
  for (size_t first = 0; first < count; first += JOIST_DRAW_BLOCK) {
    const size_t n = joist_smaller(JOIST_DRAW_BLOCK, count - first);
    joist_parameter_read(&draw->lhs, first, n, JOIST_F64, size);
    joist_parameter_read(&draw->rhs, first, n, JOIST_F64, prob);
    for (size_t k = 0; k < n; k++) {
      const size_t position = first + k + 1;
      if (!is_size(size[k], most))
        return JOIST_FAIL(error, JOIST_E_RBINOM_SIZE, .number = {size[k], most},
                          .position = position, .type = {{draw->dtype, false}});
      if (!is_probability(prob[k]))
        return JOIST_FAIL(error, JOIST_E_RBINOM_PROB, .number = {prob[k]}, .position = position);
    }
  }
  return JOIST_OK;
}

joist_status joist_random_binomial_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = joist_binomial_check(&draw, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_binomial;
  draw.work = 32;
  return joist_draw_all(&draw, error);
}
