/* Positions of extremes. An element becomes a key, an unsigned number whose largest is the
 * extreme; of equal keys the first counts. That is one order of all candidates: whichever way
 * they are shared among threads, the result is the same. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE static inline
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "cuda/kernels/argextreme_kernels.h"
#include "cuda/kernels/loops.cuh"
#include "cuda/kernels/shared.cuh"

enum { NOWHERE = 0xffffffffu };

/* ---- what is searched: `word` in memory, `key` to compare ---- */

template <class Word, class Key>
struct searched_elements {
  enum { LONG = true }; /* lines that are worth being read by 16 bytes */
  typedef Word word;
  typedef Key key;
  const joist_cuda_positions &search;
  /* NaN, of which every one is the same, is beyond infinity at either end. */
  JOIST_DEVICE Key key_of(Word x) const {
    const Key sign = (Key)search.sign, infinity = (Key)search.infinity, all = sign | (sign - 1);
    Key bits = x;
    if (infinity != 0) {
      const Key size = bits & ~sign;
      if (size > infinity) return (Key) ~(Key)0;
      bits = size == 0 ? sign : bits ^ ((bits & sign) != 0 ? all : sign);
    } else {
      bits ^= sign;
    }
    return bits ^ (Key)search.turn;
  }
  JOIST_DEVICE uint32_t found_at(uint64_t, uint64_t row) const { return (uint32_t)row; }
};

template <class Key>
struct searched_candidates {
  enum { LONG = false };
  typedef Key word;
  typedef Key key;
  const joist_cuda_positions &search;
  JOIST_DEVICE Key key_of(Key x) const { return x; }
  JOIST_DEVICE uint32_t found_at(uint64_t place, uint64_t) const { return search.found[place]; }
};

/* ---- a thread's candidate ---- */

template <class Key>
struct candidate {
  Key key;
  uint32_t found;
};

template <class Key>
JOIST_DEVICE static inline bool is_further(const candidate<Key> &a, const candidate<Key> &b) {
  return a.key > b.key || (a.key == b.key && a.found < b.found);
}

/* Of later elements, only what is larger counts. */
template <class Searched>
JOIST_DEVICE static inline void meet(const Searched &searched, typename Searched::word x,
                                     uint64_t place, uint64_t row,
                                     candidate<typename Searched::key> &best) {
  const typename Searched::key key = searched.key_of(x);
  if (key > best.key || best.found == NOWHERE) {
    best.key = key;
    best.found = searched.found_at(place, row);
  }
}

/* Rows from `row` on, `step` apart; row 0 is at `base`. Loads do not wait for each other. */
template <class Searched>
JOIST_DEVICE static inline void scan_rows(const Searched &searched, uint64_t base, uint64_t row,
                                          uint64_t end, uint64_t step,
                                          candidate<typename Searched::key> &best) {
  typedef typename Searched::word Word;
  constexpr int TOGETHER = 4;
  const uint64_t inner = searched.search.inner;
  const Word *const in = (const Word *)searched.search.in;
  for (; row + (TOGETHER - 1) * step < end; row += TOGETHER * step) {
    Word x[TOGETHER];
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      x[k] = in[base + (row + (uint64_t)k * step) * inner];
    }
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      const uint64_t at = row + (uint64_t)k * step;
      meet(searched, x[k], base + at * inner, at, best);
    }
  }
  for (; row < end; row += step)
    meet(searched, in[base + row * inner], base + row * inner, row, best);
}

template <class Searched>
JOIST_DEVICE static inline void scan_row(const Searched &searched, uint64_t base, uint64_t row,
                                         uint64_t end, candidate<typename Searched::key> &best) {
  const typename Searched::word *const in = (const typename Searched::word *)searched.search.in;
  if (row < end) meet(searched, in[base + row], base + row, row, best);
}

/* Rows from `row` to `end` of contiguous elements, by the 16 bytes that are aligned so: all
 * threads of the block take turns. Before and behind these there are fewer than threads. */
template <class Searched>
JOIST_DEVICE static inline void scan_line(const Searched &searched, uint64_t base, uint64_t row,
                                          uint64_t end, candidate<typename Searched::key> &best) {
  typedef typename Searched::word Word;
  constexpr int V = 16 / sizeof(Word), TOGETHER = 2;
  typedef joist_pack<Word, V> Pack;
  static_assert(2 * V <= (int)JOIST_CUDA_BLOCK, "an element for each thread");
  const uint64_t own = threadIdx.x, step = JOIST_CUDA_BLOCK;
  const uint64_t first = (base + row + V - 1) / V, last = (base + end) / V;
  const Pack *const in = (const Pack *)searched.search.in;
  scan_row(searched, base, row + own, first < last ? first * V - base : end, best);
  if (first >= last) return;
  for (uint64_t at = first + own; at < last; at += TOGETHER * step) {
    Pack x[TOGETHER];
    const bool both = at + step < last;
    x[0] = in[at];
    if (both) x[1] = in[at + step];
    JOIST_UNROLL for (int t = 0; t < TOGETHER; t++) {
      if (t > 0 && !both) break;
      const uint64_t place = (at + (uint64_t)t * step) * V;
      JOIST_UNROLL for (int k = 0; k < V; k++) {
        meet(searched, x[t].x[k], place + (uint64_t)k, place + (uint64_t)k - base, best);
      }
    }
  }
  scan_row(searched, base, last * V - base + own, end, best);
}

/* ---- a block ---- */

/* The threads of a column, `columns` apart, agree on a candidate, which the first gets. */
template <class Key>
JOIST_DEVICE static inline void join_rows(uint32_t column, uint32_t columns, uint32_t y,
                                          uint32_t rows, candidate<Key> &best) {
  candidate<Key> *const all = (candidate<Key> *)joist_shared;
  candidate<Key> *const own = all + column + columns * y;
  *own = best;
  for (uint32_t half = rows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half && is_further(own[columns * half], best)) *own = best = own[columns * half];
  }
  __syncthreads();
}

template <class Searched>
JOIST_DEVICE static inline void find_positions(const joist_cuda_positions &search) {
  typedef typename Searched::key Key;
  const Searched searched = {search};
  const uint32_t x = threadIdx.x % search.x, y = threadIdx.x / search.x % search.y;
  const uint32_t z = threadIdx.x / search.x / search.y;
  const uint64_t across = (search.inner + search.x - 1) / search.x;
  const uint64_t deep = (search.outer + search.z - 1) / search.z;
  for (uint64_t tile = blockIdx.x; tile < across * search.segments * deep; tile += gridDim.x) {
    const uint64_t i = tile % across * search.x + x, s = tile / across % search.segments;
    const uint64_t o = tile / across / search.segments * search.z + z;
    const bool inside = i < search.inner && o < search.outer;
    const uint64_t base = o * search.middle * search.inner + i, row = s * search.rows;
    const uint64_t end = row + search.rows < search.middle ? row + search.rows : search.middle;
    candidate<Key> best = {0, NOWHERE};
    if (Searched::LONG && inside && search.inner == 1 && search.y == JOIST_CUDA_BLOCK)
      scan_line(searched, base, row, end, best);
    else if (inside)
      scan_rows(searched, base, row + y, end, search.y, best);
    if (search.y > 1) join_rows(x + search.x * search.y * z, search.x, y, search.y, best);
    if (!inside || y > 0) continue;
    const uint64_t result = (o * search.segments + s) * search.inner + i;
    if (search.segments == 1) {
      search.out[result] = (int32_t)(best.found + 1);
      continue;
    }
    ((Key *)search.out_keys)[result] = best.key;
    search.out_found[result] = best.found;
  }
}

/* ---- kernels ---- */

#define FIND(NAME, ...)                                        \
  JOIST_KERNEL(joist_positions_##NAME, joist_cuda_positions) { \
    find_positions<__VA_ARGS__>(parameter);                    \
  }
FIND(8, searched_elements<uint8_t, uint32_t>)
FIND(16, searched_elements<uint16_t, uint32_t>)
FIND(32, searched_elements<uint32_t, uint32_t>)
FIND(64, searched_elements<uint64_t, uint64_t>)
FIND(candidates_32, searched_candidates<uint32_t>)
FIND(candidates_64, searched_candidates<uint64_t>)
#undef FIND

static const void *kernel_of(const joist_cuda_positions *search) {
  const bool candidates = search->found != nullptr;
  switch (search->size) {
    case 1:
      return (const void *)joist_positions_8;
    case 2:
      return (const void *)joist_positions_16;
    case 4:
      return candidates ? (const void *)joist_positions_candidates_32
                        : (const void *)joist_positions_32;
    default:
      return candidates ? (const void *)joist_positions_candidates_64
                        : (const void *)joist_positions_64;
  }
}

int joist_cuda_start_positions(const joist_cuda_positions *search, void *stream) {
  const uint64_t across = (search->inner + search->x - 1) / search->x;
  const uint64_t deep = (search->outer + search->z - 1) / search->z;
  const uint64_t blocks = across * search->segments * deep;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<joist_cuda_positions *>(search)};
  return (int)cudaLaunchKernel(kernel_of(search), dim3(grid), dim3(JOIST_CUDA_BLOCK), arguments,
                               JOIST_CUDA_BLOCK * sizeof(candidate<uint64_t>),
                               (cudaStream_t)stream);
}
