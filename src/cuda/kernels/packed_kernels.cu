/* Values of quantized blocks, and products of rows of them with columns, by a warp for each row,
 * whose threads read elements next to each other in registers. Layouts are those of
 * core/kernels/blocks.inc; products of levels and scales are exact in f32. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE static inline
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "core/kernels/blocks.h"
#include "core/types/narrow.h"
#include "cuda/kernels/loops.cuh"
#include "cuda/kernels/packed_kernels.h"
#include "cuda/kernels/shared.cuh"

enum { WARP = 32, ROWS = JOIST_CUDA_BLOCK / WARP };

JOIST_INLINE float half_at(const uint8_t *b) {
  return narrow_F16_to_f32((uint16_t)(b[0] | b[1] << 8));
}

/* Number j of two in each of n bytes: the lower halves first. */
JOIST_INLINE int nibble(const uint8_t *q, uint32_t n, uint32_t j) {
  return q[j % n] >> (j / n * 4) & 15;
}

JOIST_INLINE int bit(const uint8_t *bits, uint32_t j) { return bits[j / 8] >> j % 8 & 1; }

/* Number j of 256 of two bits: 32 bytes have those of 128. */
JOIST_INLINE int pair_of_bits(const uint8_t *q, uint32_t j) {
  return q[j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2) & 3;
}

/* A level of Q4_K or Q5_K times its scale of six bits, less its offset. */
JOIST_INLINE float scaled_K(const uint8_t *b, uint32_t part, int level) {
  const uint8_t *const s = b + 4;
  const uint32_t k = part % 4;
  const int scale = part < 4 ? s[k] & 63 : (s[k + 8] & 15) | s[k] >> 6 << 4;
  const int offset = part < 4 ? s[k + 4] & 63 : s[k + 8] >> 4 | s[k + 4] >> 6 << 4;
  return (float)level * (half_at(b) * (float)scale) - half_at(b + 2) * (float)offset;
}

/* Element j of a block at b. */
#define ELEMENT(ID, COUNT, SIZE, ...)                                                \
  struct block_##ID {                                                                \
    enum { ELEMENTS = COUNT, BYTES = SIZE };                                         \
    JOIST_DEVICE static inline float value(const uint8_t *b, uint32_t j) __VA_ARGS__ \
  };
#define RETURN(VALUE) \
  { return VALUE; }
ELEMENT(Q4_0, 32, 18, RETURN((float)(nibble(b + 2, 16, j) - 8) * half_at(b)))
ELEMENT(Q4_1, 32, 20, RETURN((float)nibble(b + 4, 16, j) * half_at(b) + half_at(b + 2)))
ELEMENT(Q5_0, 32, 22, RETURN((float)(nibble(b + 6, 16, j) + bit(b + 2, j) * 16 - 16) * half_at(b)))
ELEMENT(Q5_1, 32, 24,
        RETURN((float)(nibble(b + 8, 16, j) + bit(b + 4, j) * 16) * half_at(b) + half_at(b + 2)))
ELEMENT(Q8_0, 32, 34, RETURN((float)(int8_t)b[2 + j] * half_at(b)))
ELEMENT(Q2_K, 256, 84, {
  const int both = b[j / 16];
  return (float)pair_of_bits(b + 16, j) * (half_at(b + 80) * (float)(both & 15)) -
         half_at(b + 82) * (float)(both >> 4);
})
ELEMENT(Q3_K, 256, 110, {
  const uint32_t part = j / 16;
  const int low = b[96 + part % 8] >> part / 8 * 4 & 15;
  const int high = b[104 + part % 4] >> part / 4 * 2 & 3;
  const int level = pair_of_bits(b + 32, j) + (b[j % 32] >> j / 32 & 1) * 4 - 4;
  return (float)level * (half_at(b + 108) * (float)((low | high << 4) - 32));
})
ELEMENT(Q4_K, 256, 144, RETURN(scaled_K(b, j / 32, nibble(b + 16 + j / 64 * 32, 32, j % 64))))
ELEMENT(Q5_K, 256, 176, {
  const int high = b[16 + j % 32] >> j / 32 & 1;
  return scaled_K(b, j / 32, nibble(b + 48 + j / 64 * 32, 32, j % 64) + high * 16);
})
ELEMENT(Q6_K, 256, 210, {
  const int low = nibble(b + j / 128 * 64, 64, j % 128), high = pair_of_bits(b + 128, j);
  return (float)((low | high << 4) - 32) * (half_at(b + 208) * (float)(int8_t)b[192 + j / 16]);
})
#define EACH_BLOCK(X) \
  X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q8_0) X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K)

template <class Block>
JOIST_INLINE float value_at(const uint8_t *row, uint64_t element) {
  return Block::value(row + element / Block::ELEMENTS * Block::BYTES,
                      (uint32_t)(element % Block::ELEMENTS));
}

template <class Block>
JOIST_INLINE void decode(const joist_cuda_packed &p) {
  const uint64_t step = (uint64_t)gridDim.x * JOIST_CUDA_BLOCK;
  for (uint64_t k = (uint64_t)blockIdx.x * JOIST_CUDA_BLOCK + threadIdx.x; k < p.rows * p.depth;
       k += step)
    p.out[k] = value_at<Block>(p.packed + k / p.depth * p.row_bytes, k % p.depth);
}

/* The threads of a warp add up their partial sums in an order that does not depend on the grid. */
template <class Block>
JOIST_INLINE void multiply(const joist_cuda_packed &p) {
  float *const sums = (float *)joist_shared + threadIdx.x;
  const uint32_t lane = threadIdx.x % WARP;
  const uint64_t tiles = (p.rows + ROWS - 1) / ROWS;
  for (uint64_t tile = blockIdx.x; tile < tiles * p.columns; tile += gridDim.x) {
    const uint64_t row = tile % tiles * ROWS + threadIdx.x / WARP, column = tile / tiles;
    const float *const x = p.x + column * p.depth;
    float sum = 0;
    for (uint64_t k = lane; row < p.rows && k < p.depth; k += WARP)
      sum = fmaf(value_at<Block>(p.packed + row * p.row_bytes, k), x[k], sum);
    *sums = sum;
    for (uint32_t half = WARP / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) *sums += sums[half];
    }
    if (lane == 0 && row < p.rows) p.out[column * p.rows + row] = *sums;
    __syncthreads();
  }
}

#define X(ID)                                                                           \
  JOIST_KERNEL(joist_decode_##ID, joist_cuda_packed) { decode<block_##ID>(parameter); } \
  JOIST_KERNEL(joist_packed_product_##ID, joist_cuda_packed) { multiply<block_##ID>(parameter); }
EACH_BLOCK(X)
#undef X

static const void *kernel_of(int block, bool product) {
  switch (block) {
#define X(ID)            \
  case JOIST_BLOCK_##ID: \
    return product ? (const void *)joist_packed_product_##ID : (const void *)joist_decode_##ID;
    EACH_BLOCK(X)
#undef X
  }
  return nullptr;
}

bool joist_cuda_has_packed(int block) { return kernel_of(block, false) != nullptr; }

int joist_cuda_start_packed(int block, const joist_cuda_packed *packed, void *stream) {
  const bool product = packed->x != nullptr;
  const uint64_t n = packed->rows * packed->depth;
  const uint64_t blocks = product ? (packed->rows + ROWS - 1) / ROWS * packed->columns
                                  : (n + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<joist_cuda_packed *>(packed)};
  return (int)cudaLaunchKernel(kernel_of(block, product), dim3(grid), dim3(JOIST_CUDA_BLOCK),
                               arguments, product ? JOIST_CUDA_BLOCK * sizeof(float) : 0,
                               (cudaStream_t)stream);
}
