/* Categories by their weights: the last dim of these counts them. */
#include <stdlib.h>

#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/ops/random/random_counts.h"
#include "core/types/error.h"
#include "core/types/loss.h"

static size_t category_count(const struct joist_draw *draw) {
  const struct joist_shape *const weights = &draw->call->operand[1]->shape;
  return weights->extent[weights->rank - 1];
}

/* Whether every element has its own weights. */
static bool are_apart(const struct joist_draw *draw) {
  return draw->call->operand[1]->shape.rank > 1;
}

static void draw_units(const struct joist_draw *draw, size_t first, size_t n, double *units) {
  uint32_t words[2 * JOIST_DRAW_BLOCK];
  joist_draw_words(draw, 64, first, n, words);
  joist_random_kernels()->unit_f64(n, words, units);
}

/* The weights of category `category` for some elements. */
static void read_weights(const struct joist_draw *draw, size_t category, size_t first, size_t n,
                         double *weights) {
  const size_t count = are_apart(draw) ? joist_value_count(draw->call->result) : 1;
  joist_parameter_read(&draw->lhs, category * count + first, n, JOIST_F64, weights);
}

/* A unit times the sum of all is below it; the category belongs to the first sum above. */
static void draw_apart(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double units[JOIST_DRAW_BLOCK], weights[JOIST_DRAW_BLOCK], numbers[JOIST_DRAW_BLOCK];
  double sums[JOIST_DRAW_BLOCK] = {0};
  const size_t categories = category_count(draw);
  draw_units(draw, first, n, units);
  for (size_t c = 0; c < categories; c++) {
    read_weights(draw, c, first, n, weights);
    for (size_t k = 0; k < n; k++) sums[k] += weights[k];
  }
  for (size_t k = 0; k < n; k++) {
    units[k] *= sums[k];
    sums[k] = 0;
    numbers[k] = 1;
  }
  for (size_t c = 0; c < categories; c++) {
    read_weights(draw, c, first, n, weights);
    for (size_t k = 0; k < n; k++) {
      sums[k] += weights[k];
      numbers[k] += sums[k] <= units[k] ? 1 : 0;
    }
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

static void draw_alike(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double numbers[JOIST_DRAW_BLOCK];
  const size_t categories = category_count(draw);
  draw_units(draw, first, n, numbers);
  for (size_t k = 0; k < n; k++) {
    const double at = numbers[k] * draw->sums[categories - 1];
    size_t low = 0, high = categories - 1;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (draw->sums[middle] <= at)
        low = middle + 1;
      else
        high = middle;
    }
    numbers[k] = (double)low + 1;
  }
  joist_convert_find(JOIST_F64, draw->dtype)(n, numbers, out);
}

/* The weights of some elements are finite and not negative, and their sum is positive. */
static joist_status check_weights(const struct joist_draw *draw, size_t first, size_t n,
                                  struct joist_error *error) {
  double weights[JOIST_DRAW_BLOCK], sums[JOIST_DRAW_BLOCK] = {0};
  const size_t categories = category_count(draw);
  for (size_t c = 0; c < categories; c++) {
    read_weights(draw, c, first, n, weights);
    for (size_t k = 0; k < n; k++) {
      if (!(weights[k] >= 0 && weights[k] - weights[k] == 0))
        return JOIST_FAIL(error, JOIST_E_WEIGHT, .number = {weights[k]},
                          .position = (are_apart(draw) ? first + k : c) + 1);
      sums[k] += weights[k];
    }
  }
  for (size_t k = 0; k < n; k++)
    if (!(sums[k] >= 0x1p-1022 && sums[k] - sums[k] == 0))
      return JOIST_FAIL(error, JOIST_E_NO_WEIGHT, .position = first + k + 1);
  return JOIST_OK;
}

static joist_status check_categories(const struct joist_draw *draw, struct joist_error *error) {
  const size_t count = joist_value_count(draw->call->result), categories = category_count(draw);
  const size_t different = are_apart(draw) || count == 0 ? count : 1;
  if ((double)categories > joist_count_most(draw->dtype))
    return JOIST_FAIL(error, JOIST_E_CATEGORIES, .count = {categories},
                      .type = {{draw->dtype, false}});
  joist_status status = JOIST_OK;
  for (size_t first = 0; first < different && status == JOIST_OK; first += JOIST_DRAW_BLOCK)
    status = check_weights(draw, first, joist_smaller(JOIST_DRAW_BLOCK, different - first), error);
  return status;
}

joist_status joist_random_category_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = check_categories(&draw, error);
  if (status != JOIST_OK || joist_value_count(call->result) == 0) return status;
  const size_t categories = category_count(&draw);
  draw.work = are_apart(&draw) ? 4 + 4 * categories : 32;
  draw.run = draw_apart;
  if (are_apart(&draw)) return joist_draw_all(&draw, error);
  double *const sums = malloc(categories * sizeof *sums);
  if (sums == NULL)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = categories * sizeof *sums);
  joist_parameter_read(&draw.lhs, 0, categories, JOIST_F64, sums);
  for (size_t c = 1; c < categories; c++) sums[c] += sums[c - 1];
  draw.sums = sums;
  draw.run = draw_alike;
  status = joist_draw_all(&draw, error);
  free(sums);
  return status;
}
