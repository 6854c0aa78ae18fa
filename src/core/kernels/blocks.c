/* Facts of the block types. */
#include "core/kernels/blocks.h"

#include <string.h>

enum { NONE = 1 << 30 };

static const struct joist_block_facts facts[JOIST_BLOCK_COUNT] = {
#define BLOCK(ID, CODE, ELEMENTS, BYTES, HALVES_AT, HALVES, PART, SIGN) \
  [JOIST_BLOCK_##ID] = {#ID, CODE, ELEMENTS, BYTES, HALVES_AT, HALVES, (HALVES_AT) != NONE},
#include "core/kernels/blocks.def"
};

joist_block joist_block_of_code(uint32_t code) {
  int k = 0;
  while (k < JOIST_BLOCK_COUNT && facts[k].code != code) k++;
  return (joist_block)k;
}

joist_block joist_block_named(const char *name) {
  int k = 0;
  while (k < JOIST_BLOCK_COUNT && strcmp(facts[k].name, name) != 0) k++;
  return (joist_block)k;
}

const struct joist_block_facts *joist_block_facts(joist_block block) { return &facts[block]; }

void joist_block_swap(joist_block block, size_t n, unsigned char *bytes) {
  const struct joist_block_facts *const f = &facts[block];
  for (size_t k = 0; k < n; k++)
    for (size_t h = 0; h < f->halves; h++) {
      unsigned char *const half = bytes + k * f->bytes + f->halves_at + 2 * h;
      const unsigned char first = half[0];
      half[0] = half[1];
      half[1] = first;
    }
}
