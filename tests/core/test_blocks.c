/* Kernels of block types in each instruction set: values are the same bits in all, and products of
 * rows with columns of f32 and of integers are the sums of these values' products in f64. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sets.h"

enum { BLOCKS = 11, COLUMNS = 6, MOST = 256 * BLOCKS };

static uint32_t state = 12345;
static uint32_t draw(uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

static bool is_near(double got, double want, double size) {
  return fabs(got - want) <= 1e-6 * size;
}

/* A row of blocks, all of whose numbers are finite, in memory of exactly its size. */
static void check_block(joist_block block, const char *const *sets, int count, bool whole) {
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const size_t n = (size_t)BLOCKS * facts->elements, bytes = (size_t)BLOCKS * facts->bytes;
  unsigned char *const row = malloc(bytes);
  int8_t *const level = malloc(n);
  static float values[MOST], first[MOST], x[COLUMNS * MOST], scale[MOST / 32], half[MOST / 16],
      sum[MOST / 32], of_256[BLOCKS];
  static int16_t whole_half[MOST / 16];
  if (!CHECK(row != NULL && level != NULL)) goto done;
  for (size_t k = 0; k < bytes; k++) row[k] = (unsigned char)(draw(60) + 128 * draw(2));
  for (size_t k = 0; k < COLUMNS * n; k++) x[k] = (float)draw(2001) / 1000 - 1;
  for (size_t k = 0; k < n / 32; k++)
    scale[k] = whole && k % 8 > 0 ? scale[k - 1] : (float)draw(1000) / 1000;
  for (size_t k = 0; k < n / 256; k++) of_256[k] = scale[8 * k];
  for (size_t k = 0; k < n; k++) level[k] = (int8_t)((int)draw(255) - 127);
  for (size_t k = 0; k < n / 16; k++) {
    int total = 0;
    for (size_t j = 0; j < 16; j++) total += level[16 * k + j];
    half[k] = scale[k / 2] * (float)total;
    whole_half[k] = (int16_t)total;
  }
  for (size_t k = 0; k < n / 32; k++) sum[k] = half[2 * k] + half[2 * k + 1];
  for (int set = 0; set < count; set++) {
    CHECK(joist_kernels_select(sets[set]));
    const struct joist_block_table *const kernels = joist_block_kernels();
    float got[COLUMNS * 2], product;
    kernels->decode[block](BLOCKS, row, values);
    if (set == 0) memcpy(first, values, n * sizeof *values);
    CHECK(memcmp(values, first, n * sizeof *values) == 0);
    double most = 0;
    for (size_t k = 0; k < n; k++) most = fmax(most, fabs((double)values[k]));
    CHECK(isfinite(most) && most > 0);
    kernels->dot[block](BLOCKS, row, COLUMNS, x, n, got, 2);
    for (size_t c = 0; c < COLUMNS; c++) {
      double want = 0;
      for (size_t k = 0; k < n; k++) want += (double)values[k] * (double)x[c * n + k];
      CHECK(is_near((double)got[2 * c], want, most * (double)n));
    }
    double want = 0;
    for (size_t k = 0; k < n; k++) want += (double)values[k] * level[k] * (double)scale[k / 32];
    const struct joist_byte_column column = {level,     scale, sum, half, whole ? of_256 : NULL,
                                             whole_half};
    kernels->dot_bytes[block](BLOCKS, row, &column, &product);
    CHECK(is_near((double)product, want, most * 127 * (double)n));
  }
done:
  free(row);
  free(level);
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int turn = 0; turn < 20; turn++)
    for (int block = 0; block < JOIST_BLOCK_COUNT; block++)
      check_block((joist_block)block, sets, count, turn % 2 == 1);
  return check_report("blocks");
}
