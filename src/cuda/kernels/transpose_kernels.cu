/* Transposes: a block moves a tile by way of shared memory, so that threads next to each other
 * both read and write elements next to each other.
 *
 * A tile has SIDE x SIDE cells. Elements of one or two bytes are moved four or two at a time: a
 * cell has that many rows and columns, and a thread turns it round in its registers. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE JOIST_OUTLINE static
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "cuda/kernels/loops.cuh"
#include "cuda/kernels/shared.cuh"
#include "cuda/kernels/transpose_kernels.h"

enum { SIDE = 32, LINES = JOIST_CUDA_BLOCK / SIDE /* of cells, moved at a time */ };

/* `Word` is several elements of type T, next to each other. */
template <class T, class Word>
struct elements {
  enum { COUNT = sizeof(Word) / sizeof(T), BITS = 8 * sizeof(T) };

  JOIST_DEVICE static inline Word load(const T *at, uint32_t n, bool whole) {
    if (whole && n >= COUNT) return *(const Word *)at;
    Word word = 0;
    for (uint32_t k = 0; k < COUNT; k++)
      if (k < n) word = (Word)(word | (Word)at[k] << (k * BITS));
    return word;
  }
  JOIST_DEVICE static inline void store(T *at, uint32_t n, bool whole, Word word) {
    if (whole && n >= COUNT) {
      *(Word *)at = word;
      return;
    }
    for (uint32_t k = 0; k < COUNT; k++)
      if (k < n) at[k] = (T)(word >> (k * BITS));
  }
  /* Row `row` of a cell, of which there are the columns. */
  JOIST_DEVICE static inline Word row_of(const Word *columns, uint32_t row) {
    Word word = 0;
    JOIST_UNROLL for (uint32_t c = 0; c < COUNT; c++) {
      word = (Word)(word | (Word)(T)(columns[c] >> (row * BITS)) << (c * BITS));
    }
    return word;
  }
};
template <class T>
struct elements<T, T> {
  enum { COUNT = 1 };
  JOIST_DEVICE static inline T load(const T *at, uint32_t, bool) { return *at; }
  JOIST_DEVICE static inline void store(T *at, uint32_t, bool, T word) { *at = word; }
  JOIST_DEVICE static inline T row_of(const T *columns, uint32_t) { return columns[0]; }
};

/* Where row `row` of a tile has the word of column cell `cell`. Lanes that are neighbours along
 * rows or along columns meet different banks. */
template <int COUNT>
JOIST_DEVICE static inline uint32_t place_in_tile(uint32_t row, uint32_t cell) {
  return row * SIDE + (cell + row / COUNT) % SIDE;
}

/* A tile's first element in both arrays, and how many rows and columns are left from there. */
struct corner {
  uint64_t in, out;
  uint32_t rows, columns;
};

template <int COUNT>
JOIST_DEVICE static inline corner corner_of(const joist_cuda_transpose &t, uint32_t tile) {
  constexpr uint32_t ACROSS = SIDE * COUNT;
  const uint64_t row = (uint64_t)(tile % t.down) * ACROSS;
  const uint64_t column = (uint64_t)(tile / t.down % t.across) * ACROSS;
  corner at = {row + column * t.in_stride, row * t.out_stride + column,
               (uint32_t)(t.rows - row < ACROSS ? t.rows - row : ACROSS),
               (uint32_t)(t.columns - column < ACROSS ? t.columns - column : ACROSS)};
  uint32_t plane = tile / t.down / t.across;
  for (uint32_t d = 0; d < t.rank; d++) {
    const uint32_t index = d + 1 == t.rank ? plane : plane % t.extent[d];
    at.in += index * t.in_batch[d];
    at.out += index * t.out_batch[d];
    plane /= t.extent[d];
  }
  return at;
}

template <class T, class Word>
JOIST_DEVICE static inline void transpose(const joist_cuda_transpose &t) {
  typedef elements<T, Word> E;
  constexpr uint32_t COUNT = E::COUNT, CELLS = SIDE / LINES, ROWS = SIDE * COUNT / LINES;
  Word *const tile = (Word *)joist_shared;
  const uint32_t lane = threadIdx.x % SIDE, line = threadIdx.x / SIDE, along = lane * COUNT;
  const corner at = corner_of<E::COUNT>(t, blockIdx.x);
  const T *const in = (const T *)t.in + at.in + along;
  Word cells[CELLS][COUNT];
  JOIST_UNROLL for (uint32_t k = 0; k < CELLS; k++)
      JOIST_UNROLL for (uint32_t c = 0; c < COUNT; c++) {
    const uint32_t column = (line + k * LINES) * COUNT + c;
    cells[k][c] = along < at.rows && column < at.columns
                      ? E::load(in + column * t.in_stride, at.rows - along, t.in_whole != 0)
                      : Word();
  }
  JOIST_UNROLL for (uint32_t k = 0; k < CELLS; k++)
      JOIST_UNROLL for (uint32_t r = 0; r < COUNT; r++) {
    tile[place_in_tile<E::COUNT>(along + r, line + k * LINES)] = E::row_of(cells[k], r);
  }
  __syncthreads();
  T *const out = (T *)t.out + at.out + along;
  JOIST_UNROLL for (uint32_t k = 0; k < ROWS; k++) {
    const uint32_t row = line + k * LINES;
    if (row < at.rows && along < at.columns)
      E::store(out + row * t.out_stride, at.columns - along, t.out_whole != 0,
               tile[place_in_tile<E::COUNT>(row, lane)]);
  }
}

#define EACH_SIZE(X)       \
  X(1, uint8_t, uint32_t)  \
  X(2, uint16_t, uint32_t) \
  X(4, uint32_t, uint32_t) \
  X(8, uint64_t, uint64_t) \
  X(16, joist_shared_word, joist_shared_word)

#define X(SIZE, T, WORD) \
  JOIST_KERNEL(joist_transpose_##SIZE, joist_cuda_transpose) { transpose<T, WORD>(parameter); }
EACH_SIZE(X)
#undef X

struct entry {
  const void *kernel;
  uint32_t count, word; /* elements of a word, and its bytes */
};

static entry entry_of(uint32_t size) {
  switch (size) {
#define X(SIZE, T, WORD) \
  case SIZE:             \
    return {(const void *)joist_transpose_##SIZE, sizeof(WORD) / sizeof(T), sizeof(WORD)};
    EACH_SIZE(X)
#undef X
  }
  return {nullptr, 1, 1};
}

uint32_t joist_cuda_transpose_side(uint32_t size) { return SIDE * entry_of(size).count; }

int joist_cuda_start_transpose(uint32_t size, const joist_cuda_transpose *transpose, void *stream) {
  const entry found = entry_of(size);
  void *arguments[] = {const_cast<joist_cuda_transpose *>(transpose)};
  return (int)cudaLaunchKernel(found.kernel, dim3(transpose->tiles), dim3(JOIST_CUDA_BLOCK),
                               arguments, SIDE * SIDE * found.count * found.word,
                               (cudaStream_t)stream);
}
