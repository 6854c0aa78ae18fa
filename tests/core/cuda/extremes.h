/* extremes.h: positions of extremes on the device against the CPU's engine. Included by
 * test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_EXTREMES_H
#define JOIST_TESTS_CUDA_EXTREMES_H

#include "random_draws.h"

static bool has_order(joist_dtype dtype) { return joist_dtype_kind(dtype) != JOIST_KIND_COMPLEX; }

/* Along a dim, or among all elements where it is -1. */
static void check_extremes(joist_dtype dtype, int rank, const uint32_t *extents, int dim,
                           void *elements, const char *data) {
  static const joist_op ops[] = {JOIST_OP_ARGMIN, JOIST_OP_ARGMAX};
  char what[100];
  for (int k = 0; k < 2; k++) {
    struct joist_program program;
    const struct joist_attributes attributes =
        with(with(no_attributes, JOIST_ATTRIBUTE_DIM, dim), JOIST_ATTRIBUTE_DROP, k);
    joist_value_id result = 0;
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, dtype, rank, extents);
    CHECK(add(&program, joist_rules_at(0), ops[k], &x, 1, &attributes, &result));
    add_output(&program, result);
    snprintf(what, sizeof what, "nv_%s() of %zu %s along %d: %s", joist_op_name(ops[k]),
             count_of(&program, x), joist_dtype_name(dtype), dim, data);
    const long before = launches_so_far();
    if (check_alike(&program, &elements, what))
      check_launches(before, count_of(&program, result) > 0, 2, what);
    joist_program_clear(&program);
  }
}

static size_t product_of(int rank, const uint32_t *extents) {
  size_t n = 1;
  for (int d = 0; d < rank; d++) n *= extents[d];
  return n;
}

static void check_fill(joist_dtype dtype, int rank, const uint32_t *extents, int dim,
                       fill_kind kind) {
  static const char *const names[] = {"small", "bits", "extreme"};
  const size_t n = product_of(rank, extents);
  void *const elements = malloc(n * joist_dtype_size(dtype) + 1);
  if (!CHECK(elements != NULL)) return;
  fill(dtype, n, kind, elements);
  check_extremes(dtype, rank, extents, dim, elements, names[kind]);
  free(elements);
}

static void test_extreme_shapes(void) {
  static const uint32_t extents[][3] = {{5, 7, 3},    {33, 40, 3},  {1, 300, 4},  {17, 999, 2},
                                        {1031, 3, 1}, {2, 9001, 1}, {6, 3, 1007}, {5000, 1, 2}};
  for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
    for (int d = 0; d < JOIST_WORD_COUNT; d++)
      for (int dim = -1; dim < 3; dim++)
        if (has_order((joist_dtype)d) && !leaves_out(d))
          check_fill((joist_dtype)d, 3, extents[k], dim,
                     (fill_kind)(((size_t)d + k + (size_t)(dim + 1)) % FILL_COUNT));
}

/* About what a thread and a block of threads have, and where lines are cut. */
static void test_extreme_lengths(void) {
  static const uint32_t about[] = {1, 4, 16, 256, 1024, 4096, 65536};
  for (size_t k = 0; k < sizeof about / sizeof *about; k++)
    for (uint32_t n = about[k] - (k > 0); n <= about[k] + 1; n++)
      for (int d = 0; d < JOIST_WORD_COUNT; d++)
        if (has_order((joist_dtype)d) && !leaves_out(d))
          check_fill((joist_dtype)d, 1, &n, n % 2 == 0 ? -1 : 0,
                     (fill_kind)(((uint32_t)d + n) % FILL_COUNT));
}

/* Elements that are all the same but for two: the first of these counts, and of the others the
 * first of all. NaN is further than infinity. */
static void check_planted(joist_dtype dtype, int rank, const uint32_t *extents, int dim,
                          double usual, double planted) {
  const size_t n = product_of(rank, extents), size = joist_dtype_size(dtype);
  char *const elements = malloc(n * size + 1);
  char text[64];
  snprintf(text, sizeof text, "%g among %g", planted, usual);
  for (int turn = 0; turn < 8 && CHECK(elements != NULL); turn++) {
    const size_t line = extents[0];
    const size_t ends[] = {0, n - 1, line, line - 1, 255, 256, 3 * line, 4096};
    for (size_t k = 0; k < n; k++)
      joist_convert_find_portable(JOIST_F64, dtype)(1, &usual, elements + k * size);
    for (int p = 0; p < 2; p++) {
      const size_t at = p == 0 ? ends[turn] % n : random_below(n);
      joist_convert_find_portable(JOIST_F64, dtype)(1, &planted, elements + at * size);
    }
    check_extremes(dtype, rank, extents, dim, elements, text);
  }
  free(elements);
}

static void test_planted(void) {
  static const uint32_t line[] = {9001}, lines[] = {1031, 5}, plane[] = {37, 403};
  static const double pairs[][2] = {
      {0, 1},   {1, 0},           {-1, -2},        {0, -0.0},         {-0.0, 0}, {INFINITY, NAN},
      {NAN, 1}, {-INFINITY, NAN}, {NAN, INFINITY}, {-INFINITY, -1e4}, {0, NAN}};
  enum { WHOLE = 3 };
  for (int d = 0; d < JOIST_WORD_COUNT; d++)
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
      const bool fits = joist_dtype_kind((joist_dtype)d) == JOIST_KIND_FLOAT || k < WHOLE;
      if (!has_order((joist_dtype)d) || leaves_out(d) || !fits) continue;
      check_planted((joist_dtype)d, 2, lines, 0, pairs[k][0], pairs[k][1]);
      if (k % 3 == 0)
        check_planted((joist_dtype)d, 1, line, 0, pairs[k][0], pairs[k][1]);
      else
        check_planted((joist_dtype)d, 2, plane, (int)(k % 3) - 1, pairs[k][0], pairs[k][1]);
    }
}

/* The extreme of no elements is an error, unless the result has no elements, either. */
static void test_no_elements(void) {
  static const uint32_t extents[][2] = {{0, 3}, {3, 0}, {0, 0}};
  float none_of_them[1] = {0};
  for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
    for (int dim = -1; dim < 2; dim++)
      check_extremes(JOIST_F32, 2, extents[k], dim, none_of_them, "no elements");
}

static void test_extremes(void) {
  test_extreme_shapes();
  test_extreme_lengths();
  test_planted();
  test_no_elements();
}

#endif
