/* Block types of quantized numbers, and the kernels that compute with them. */
#ifndef JOIST_CORE_KERNELS_BLOCKS_H
#define JOIST_CORE_KERNELS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define BLOCK(ID, CODE, ELEMENTS, BYTES, HALVES_AT, HALVES, PART, SIGN) JOIST_BLOCK_##ID,
#include "core/kernels/blocks.def"
  JOIST_BLOCK_COUNT
} joist_block;

struct joist_block_facts {
  const char *name;
  uint32_t code;
  uint32_t elements, bytes;
  uint32_t halves_at, halves;
  bool swaps; /* blocks of the other byte order can be read */
};

/* The type with a code of GGUF files, or with a name; JOIST_BLOCK_COUNT if there is none. */
joist_block joist_block_of_code(uint32_t code);
joist_block joist_block_named(const char *name);
const struct joist_block_facts *joist_block_facts(joist_block block);

/* Swaps the bytes of the numbers of n blocks. */
void joist_block_swap(joist_block block, size_t n, unsigned char *bytes);

/* Whether blocks of a type can be made of numbers. */
bool joist_block_is_made(joist_block block);
/* Makes n blocks of a type that can be made; returns how many were made before one that could not
 * be, as an element or its scale is not finite. */
size_t joist_block_encode(joist_block block, size_t n, const float *from, unsigned char *to);

/* The values of n blocks. */
typedef void joist_block_decode(size_t n, const unsigned char *from, float *to);

/* The inner products of a row of n blocks with columns of f32, `across` elements apart; result c is
 * at to[c * step]. */
typedef void joist_block_dot(size_t n, const unsigned char *row, size_t columns, const float *x,
                             size_t across, float *to, size_t step);

/* A column of integers from -127 to 127; each 32 have a scale and their sum times that, and each 16
 * of them theirs. Where 256 have one scale, these scales, and sums of 16 without one; or NULL. */
struct joist_byte_column {
  const int8_t *level;
  const float *scale, *sum, *sum_of_16, *scale_of_256;
  const int16_t *whole_sum_of_16;
};

/* The inner product of a row of n blocks with a column. */
typedef void joist_block_dot_bytes(size_t n, const unsigned char *row,
                                   const struct joist_byte_column *x, float *to);

/* Grids whose points blocks of some types refer to by number; see block_grids.c. */
extern const uint16_t joist_grid_IQ1_S[2048], joist_grid_IQ2_XXS[256], joist_grid_IQ2_XS[512],
    joist_grid_IQ2_S[1024], joist_grid_IQ3_XXS[256], joist_grid_IQ3_S[512];
/* The values of the codes of IQ4. */
extern const int8_t joist_iq4_values[16];

struct joist_block_table {
  joist_block_decode *decode[JOIST_BLOCK_COUNT];
  joist_block_dot *dot[JOIST_BLOCK_COUNT];
  joist_block_dot_bytes *dot_bytes[JOIST_BLOCK_COUNT];
};

#endif
