/* transposes.h: permuted dims on the device against one element at a time: every permutation,
 * extents about those of a tile, and that none goes by way of the CPU. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_TRANSPOSES_H
#define JOIST_TESTS_CUDA_TRANSPOSES_H

#include "moves.h"

static void check_transpose(joist_dtype dtype, int rank, const uint32_t *extents,
                            const int64_t *order) {
  struct joist_program program;
  const struct joist_attributes attributes =
      with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, order, (size_t)rank);
  joist_value_id result = 0;
  char what[160];
  int length = snprintf(what, sizeof what, "nv_transpose() of %s", joist_dtype_name(dtype));
  for (int d = 0; d < rank; d++)
    length +=
        snprintf(what + length, sizeof what - (size_t)length, " %u:%d", extents[d], (int)order[d]);
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, dtype, rank, extents);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_PERMUTE, &x, 1, &attributes, &result));
  add_output(&program, result);
  check_there(&program, FILL_BITS, what);
  joist_program_clear(&program);
}

/* Every permutation of dims d, d + 1, ... */
static void check_orders(joist_dtype dtype, int rank, const uint32_t *extents, int64_t *order,
                         int d) {
  if (d == rank) check_transpose(dtype, rank, extents, order);
  for (int other = d; other < rank; other++) {
    const int64_t first = order[d];
    order[d] = order[other];
    order[other] = first;
    check_orders(dtype, rank, extents, order, d + 1);
    order[other] = order[d];
    order[d] = first;
  }
}

/* Extents about the sides of tiles: of SIDE words, each of one, two or four elements. */
static void test_tiles(joist_dtype dtype) {
  static const uint32_t about[] = {7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 260};
  const int64_t swap[] = {1, 0}, keep[] = {1, 0, 2};
  for (size_t a = 0; a < sizeof about / sizeof *about; a++)
    for (size_t b = 0; b < sizeof about / sizeof *about; b++) {
      if ((a + b) % 3 > 0 && about[a] + about[b] > 260) continue;
      check_transpose(dtype, 2, (uint32_t[]){about[a], about[b]}, swap);
      check_transpose(dtype, 3, (uint32_t[]){about[a], about[b] % 40 + 1, 3}, keep);
    }
}

static void test_transposes(void) {
  /* Of every size of elements, and all dtypes. */
  static const joist_dtype sizes[] = {JOIST_UI8, JOIST_BF16, JOIST_F32, JOIST_I64, JOIST_C128};
  static const uint32_t three[][3] = {{5, 7, 3}, {40, 36, 9}, {1, 40, 33}, {35, 1, 12}, {0, 4, 3},
                                      {8, 0, 2}, {64, 8, 16}, {3, 300, 2}, {300, 3, 2}};
  static const uint32_t four[][4] = {{3, 5, 2, 7}, {33, 2, 12, 3}, {8, 10, 1, 12}, {16, 8, 9, 4}};
  static const uint32_t five[][5] = {{9, 2, 8, 3, 2}, {2, 33, 1, 3, 10}};
  int64_t order[5];
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    for (int d = 0; d < 5; d++) order[d] = d;
    for (size_t s = 0; s < sizeof three / sizeof *three; s++)
      check_orders(sizes[k], 3, three[s], order, 0);
    for (size_t s = 0; s < sizeof four / sizeof *four; s++)
      check_orders(sizes[k], 4, four[s], order, 0);
    for (size_t s = 0; s < sizeof five / sizeof *five; s++)
      check_orders(sizes[k], 5, five[s], order, 0);
    test_tiles(sizes[k]);
  }
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    check_transpose((joist_dtype)d, 2, (uint32_t[]){70, 45}, (int64_t[]){1, 0});
    check_transpose((joist_dtype)d, 1, (uint32_t[]){70}, (int64_t[]){0});
    check_transpose((joist_dtype)d, 0, NULL, NULL);
  }
#ifndef JOIST_TEST_GPU
  /* Tiles of 32 x 32 words of four bytes or more; two words of runs that stay per element. */
  check_transpose(JOIST_F32, 3, (uint32_t[]){65, 32, 2}, (int64_t[]){1, 0, 2});
  CHECK_INT(host_runtime.grid, 3 * 2);
  check_transpose(JOIST_I8, 2, (uint32_t[]){129, 128}, (int64_t[]){1, 0});
  CHECK_INT(host_runtime.grid, 2);
  check_transpose(JOIST_I16, 3, (uint32_t[]){8, 16, 64}, (int64_t[]){0, 2, 1});
  CHECK_INT(host_runtime.grid, 16 * 64 / JOIST_CUDA_BLOCK);
#endif
}

#endif
