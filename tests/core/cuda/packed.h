/* packed.h: quantized blocks on the device against the CPU's engine: values, and products whose
 * terms are whole numbers, so that sums are exact in any order. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_PACKED_H
#define JOIST_TESTS_CUDA_PACKED_H

#include "core/kernels/blocks.h"
#include "cuda/kernels/packed_kernels.h"
#include "random_draws.h"

/* Random bytes, but scales of a block in f16 are 1. */
static void fill_blocks(const struct joist_block_facts *facts, size_t n, unsigned char *bytes) {
  for (size_t k = 0; k < n * facts->bytes; k++) bytes[k] = (unsigned char)(rand() & 127);
  for (size_t k = 0; k < n; k++)
    for (size_t h = 0; h < facts->halves; h++) {
      bytes[k * facts->bytes + facts->halves_at + 2 * h] = 0;
      bytes[k * facts->bytes + facts->halves_at + 2 * h + 1] = 0x3c;
    }
}

static void check_packed(joist_block block, uint32_t blocks, uint32_t rows, uint32_t columns) {
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const uint32_t shapes[2][2] = {{blocks * facts->bytes, rows},
                                 {blocks * facts->elements, columns}};
  const size_t count = (size_t)shapes[1][0] * columns;
  unsigned char *const bytes = malloc((size_t)shapes[0][0] * rows + 1);
  float *const x = malloc(count * sizeof *x + 1);
  char what[100];
  if (!CHECK(bytes != NULL && x != NULL)) goto done;
  fill_blocks(facts, (size_t)blocks * rows, bytes);
  for (size_t k = 0; k < count; k++) x[k] = (float)(rand() % 7 - 3);
  for (size_t product = 0; product < 2; product++) {
    struct joist_program program;
    const struct joist_attributes attributes = with_type(
        with(no_attributes, JOIST_ATTRIBUTE_K, facts->code), (struct joist_type){JOIST_F32, false});
    void *const inputs[2] = {bytes, x};
    joist_value_id operands[2], result = 0;
    joist_program_init(&program);
    operands[0] = add_input(&program, JOIST_UI8, 2, shapes[0]);
    if (product) operands[1] = add_input(&program, JOIST_F32, 2, shapes[1]);
    CHECK(add(&program, joist_rules_at(0), product ? JOIST_OP_PACKED_PRODUCT : JOIST_OP_UNPACK,
              operands, 1 + product, &attributes, &result));
    add_output(&program, result);
    snprintf(what, sizeof what, "%s %s, %u blocks, %u rows, %u columns",
             product ? "product of" : "values of", facts->name, blocks, rows, columns);
    const long before = launches_so_far();
    if (check_alike(&program, inputs, what)) {
      const bool some = count_of(&program, result) > 0 && joist_cuda_has_packed((int)block);
      check_launches(before, some, some, what);
    }
    joist_program_clear(&program);
  }
done:
  free(bytes);
  free(x);
}

static void test_packed(void) {
  for (int block = 0; block < JOIST_BLOCK_COUNT; block++) {
    check_packed((joist_block)block, 1, 1, 1);
    check_packed((joist_block)block, 2, 9, 3);
    check_packed((joist_block)block, 1, 64, 9);
    check_packed((joist_block)block, 2, 0, 3);
  }
}

#endif
