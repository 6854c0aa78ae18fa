/* Cumulative operations, tile by tile through shared memory.
 *
 * Each thread scans a run of a column by itself. The totals of up to GROUP runs are then joined
 * one after the other, those of groups, of the tiles of a segment and of the segments likewise,
 * so that an element is what comes before its segment, tile, group and run and its place in the
 * run. Sums join these from the inside out: sums of numbers that are not negative never
 * decrease, as what comes before the next run, group, tile or segment is made of the same terms
 * in the same order as the last element of this one. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE JOIST_OUTLINE static
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "cuda/kernels/scan_kernels.h"
#include "cuda/kernels/scan_kinds.cuh"
#include "cuda/kernels/shared.cuh"

enum { GROUP = 16 /* runs */ };

/* ---- tiles ---- */

/* How a tile lies in the array and in shared memory: element e is number e % extent of line e /
 * extent. */
struct joist_tile {
  uint64_t first;         /* element of the array: where the tile begins */
  uint32_t count, extent; /* elements; of a line */
  uint32_t line, shared;  /* from line to line, in the array and in shared memory */
};

/* The elements of a thread, BLOCK apart. */
struct joist_tile_walk {
  uint32_t number, line, at;
  JOIST_DEVICE joist_tile_walk(const joist_tile &tile)
      : number(threadIdx.x), line(number / tile.extent), at(number % tile.extent) {}
  JOIST_DEVICE inline void next(const joist_tile &tile) {
    number += JOIST_CUDA_BLOCK;
    line += JOIST_CUDA_BLOCK / tile.extent;
    at += JOIST_CUDA_BLOCK % tile.extent;
    if (at < tile.extent) return;
    at -= tile.extent;
    line++;
  }
};

/* Some are loaded before the first of them is stored, so that a thread waits for all of them at
 * once: the compiler would not know that it may. */
template <class E, class P>
JOIST_DEVICE static inline void load_elements(const P &p, const void *array, const joist_tile &tile,
                                              typename P::number *numbers) {
  const typename E::stored *const in = (const typename E::stored *)array + tile.first;
  constexpr int TOGETHER = sizeof *in < 8 ? 5 : 4;
  joist_tile_walk walk(tile);
  JOIST_ROLLED while (walk.number < tile.count) {
    typename E::stored x[TOGETHER];
    joist_tile_walk ahead = walk;
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      if (ahead.number < tile.count) x[k] = in[ahead.line * tile.line + ahead.at];
      ahead.next(tile);
    }
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      if (walk.number < tile.count)
        numbers[walk.line * tile.shared + walk.at] = p.lift(E::read(x[k]));
      walk.next(tile);
    }
  }
}

template <class E, class P>
JOIST_DEVICE static inline void store_elements(const P &p, void *array, const joist_tile &tile,
                                               const typename P::number *numbers) {
  typename E::stored *const out = (typename E::stored *)array + tile.first;
  constexpr int TOGETHER = 3;
  joist_tile_walk walk(tile);
  JOIST_ROLLED while (walk.number < tile.count) {
    typename P::number x[TOGETHER] = {};
    joist_tile_walk ahead = walk;
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      if (ahead.number < tile.count) x[k] = numbers[ahead.line * tile.shared + ahead.at];
      ahead.next(tile);
    }
    JOIST_UNROLL for (int k = 0; k < TOGETHER; k++) {
      if (walk.number < tile.count) out[walk.line * tile.line + walk.at] = E::made(p.lower(x[k]));
      walk.next(tile);
    }
  }
}

template <class P>
JOIST_DEVICE static inline void load_tile(const P &p, const joist_cuda_scan &scan,
                                          const joist_tile &tile, typename P::number *numbers) {
  switch (scan.from) {
#define X(ID, KIND, T, FACTS, A, B)                                                             \
  case JOIST_##ID:                                                                              \
    if constexpr (P::reads(JOIST_##ID)) load_elements<element_##ID>(p, scan.in, tile, numbers); \
    break;
    JOIST_DTYPES_WORD(X, , )
#undef X
  }
}

template <class P>
JOIST_DEVICE static inline void store_tile(const P &p, const joist_cuda_scan &scan,
                                           const joist_tile &tile,
                                           const typename P::number *numbers) {
  switch (scan.to) {
#define X(ID, KIND, T, FACTS, A, B)                                                                \
  case JOIST_##ID:                                                                                 \
    if constexpr (P::writes(JOIST_##ID)) store_elements<element_##ID>(p, scan.out, tile, numbers); \
    break;
    JOIST_DTYPES_WORD(X, , )
#undef X
  }
}

JOIST_DEVICE static inline uint32_t least(uint64_t a, uint64_t b) {
  return (uint32_t)(a < b ? a : b);
}

/* ---- units, and their segments ---- */

struct joist_unit {
  uint64_t first;        /* element of the array: its first row and column */
  uint32_t slabs, width; /* that are there */
  uint32_t columns;      /* of all slabs, whether they are there or not */
};

JOIST_DEVICE static inline joist_unit unit_of(const joist_cuda_scan &scan, uint32_t number) {
  const uint64_t outer = (uint64_t)(number / scan.pieces) * scan.slabs;
  const uint64_t column = (uint64_t)(number % scan.pieces) * scan.width;
  joist_unit unit;
  unit.first = outer * scan.middle * scan.inner + column;
  unit.slabs = least(scan.outer - outer, scan.slabs);
  unit.width = least(scan.inner - column, scan.width);
  unit.columns = scan.slabs * scan.width;
  return unit;
}

/* Slabs, where there are several, are apart by an odd number of elements in shared memory, so
 * that their columns lie in different banks. */
JOIST_DEVICE static inline uint32_t shared_slab(const joist_cuda_scan &scan) {
  return scan.slabs == 1 ? 0 : (scan.rows * scan.width) | 1;
}

JOIST_DEVICE static inline joist_tile tile_of(const joist_cuda_scan &scan, const joist_unit &unit,
                                              uint64_t row, uint32_t rows) {
  joist_tile tile = {unit.first + row * scan.inner, 0, unit.width, (uint32_t)scan.inner,
                     scan.width};
  if (scan.slabs > 1) {
    tile.extent = rows * unit.width;
    tile.count = unit.slabs * tile.extent;
    tile.line = tile.extent;
    tile.shared = shared_slab(scan);
  } else {
    tile.count = rows * unit.width;
    if (scan.pieces == 1) tile.extent = tile.count;
  }
  return tile;
}

/* Of a segment of a unit's column. */
template <class Q>
JOIST_DEVICE static inline Q *total_of(const joist_cuda_scan &scan, uint32_t unit, uint32_t segment,
                                       uint32_t column) {
  return (Q *)scan.totals + ((uint64_t)unit * scan.segments + segment) * scan.width + column;
}

/* `n` totals, `step` apart: each becomes those before it, but for the first. Gives all of them. */
template <class P>
JOIST_DEVICE static inline typename P::total join_totals(const P &p, typename P::total *totals,
                                                         uint32_t step, uint32_t n) {
  typename P::total now = totals[0];
  typename P::total ahead = n > 1 ? totals[step] : now;
  JOIST_ROLLED for (uint32_t k = 1; k < n; k++) {
    const typename P::total next = ahead;
    if (k + 1 < n) ahead = totals[(k + 1) * step];
    totals[k * step] = now;
    now = p.join(now, next);
  }
  return now;
}

template <class P>
JOIST_DEVICE static inline void scan_segment(const P &p, const joist_cuda_scan &scan) {
  typedef typename P::number N;
  typedef typename P::total Q;
  N *const numbers = (N *)joist_shared;
  Q *const totals = (Q *)(numbers + JOIST_CUDA_BLOCK * (P::RUN + 1));
  Q *const groups = totals + JOIST_CUDA_BLOCK;
  const uint32_t number = blockIdx.x / scan.segments, segment = blockIdx.x % scan.segments;
  if (scan.only_totals && segment + 1 == scan.segments) return;
  const joist_unit unit = unit_of(scan, number);
  const uint32_t column = threadIdx.x % unit.columns, run = threadIdx.x / unit.columns;
  const uint32_t slab = column / scan.width, i = column % scan.width;
  const bool there = slab < unit.slabs && i < unit.width && run < scan.runs;
  const uint32_t groups_of_column = (scan.runs + GROUP - 1) / GROUP;
  N *const own = numbers + slab * shared_slab(scan) + run * scan.run * scan.width + i;
  /* Of a column: what comes before this tile in the segment. There is room for it where a unit
   * has one slab; where it has more, it has one tile. */
  Q *const of_tiles = groups + groups_of_column * unit.columns + column;
  const uint32_t begin = segment * scan.tiles;
  Q all = {}; /* of a column, in the tiles so far: its first thread's */
  for (uint32_t t = begin; t < begin + scan.tiles && (uint64_t)t * scan.rows < scan.middle; t++) {
    const uint64_t row = (uint64_t)t * scan.rows;
    const uint32_t rows = least(scan.middle - row, scan.rows);
    const uint32_t first = run * scan.run, left = there && first < rows ? rows - first : 0;
    const uint32_t n = least(left, scan.run);
    const uint32_t runs = (rows + scan.run - 1) / scan.run;
    const joist_tile tile = tile_of(scan, unit, row, rows);
    load_tile(p, scan, tile, numbers);
    __syncthreads();
    if (n > 0) totals[threadIdx.x] = total_of_run(p, own, scan.width, n);
    __syncthreads();
    if (n > 0 && run % GROUP == 0)
      groups[run / GROUP * unit.columns + column] =
          join_totals(p, totals + threadIdx.x, unit.columns, least(runs - run, GROUP));
    __syncthreads();
    if (n > 0 && run == 0) {
      const Q now = join_totals(p, groups + column, unit.columns, (runs + GROUP - 1) / GROUP);
      if (t > begin) *of_tiles = all;
      all = t > begin ? p.join(all, now) : now;
    }
    if (scan.only_totals) continue;
    __syncthreads();
    /* What comes before a run. */
    enum { SEGMENT, TILE, RUNS, RUN, LEVELS };
    const bool any[LEVELS] = {segment > 0, t > begin, run >= GROUP, run % GROUP > 0};
    Q before[LEVELS] = {};
    if (n > 0 && any[SEGMENT]) before[SEGMENT] = *total_of<Q>(scan, number, segment, i);
    if (n > 0 && any[TILE]) before[TILE] = *of_tiles;
    if (n > 0 && any[RUNS]) before[RUNS] = groups[run / GROUP * unit.columns + column];
    if (n > 0 && any[RUN]) before[RUN] = totals[threadIdx.x];
    if (n > 0) finish_run<LEVELS>(p, any, before, own, scan.width, n);
    __syncthreads();
    /* A thread loads the next tile to where it stores this one from. */
    store_tile(p, scan, tile, numbers);
  }
  if (scan.only_totals && there && run == 0) *total_of<Q>(scan, number, segment, i) = all;
}

/* What comes before each segment but the first, of the totals of all but the last. */
template <class P>
JOIST_DEVICE static inline void carry_on(const P &p, const joist_cuda_scan &scan) {
  typedef typename P::total Q;
  constexpr uint32_t ROUND = 128 / sizeof(Q) < 16 ? 128 / sizeof(Q) : 16;
  const uint64_t columns = (uint64_t)scan.units * scan.width;
  for (uint64_t k = thread_number(); k < columns; k += thread_count()) {
    const uint32_t number = (uint32_t)(k / scan.width), i = (uint32_t)(k % scan.width);
    if (i >= unit_of(scan, number).width) continue;
    Q *const totals = total_of<Q>(scan, number, 0, i);
    Q now = totals[0];
    for (uint32_t first = 1; first < scan.segments; first += ROUND) {
      Q next[ROUND];
      JOIST_UNROLL for (uint32_t s = 0; s < ROUND; s++) {
        if (first + s + 1 < scan.segments) next[s] = totals[(uint64_t)(first + s) * scan.width];
      }
      JOIST_UNROLL for (uint32_t s = 0; s < ROUND; s++) {
        if (first + s < scan.segments) totals[(uint64_t)(first + s) * scan.width] = now;
        if (first + s + 1 < scan.segments) now = p.join(now, next[s]);
      }
    }
  }
}

/* ---- a kernel of each sort for each kind; blocks of a multiprocessor, by
 * their registers ---- */

#define EACH_KIND(X)                                       \
  X(WRAP, wrap, 3, scan_wrap)                              \
  X(ORDER, order, 3, scan_order)                           \
  X(ORDER_F32, order_f32, 4, scan_order_float<float, 15>)  \
  X(ORDER_F64, order_f64, 3, scan_order_float<double, 11>) \
  X(SUM_F64, sum_f64, 4, scan_sum<double, 11>)             \
  X(PRODUCT_F64, product_f64, 4, scan_product<double, 11>) \
  X(SUM_C128, sum_c128, 4, scan_sum<joist_c128, 5>)        \
  X(PRODUCT_C128, product_c128, 2, scan_product<joist_c128, 5>)

#define X(ID, NAME, BLOCKS, ...)                                             \
  extern "C" __global__ void __launch_bounds__(JOIST_CUDA_BLOCK, BLOCKS)     \
      joist_scan_##NAME(joist_cuda_scan const __grid_constant__ parameter) { \
    scan_segment(__VA_ARGS__(parameter), parameter);                         \
  }                                                                          \
  JOIST_KERNEL(joist_carry_##NAME, joist_cuda_scan) { carry_on(__VA_ARGS__(parameter), parameter); }
EACH_KIND(X)
#undef X

struct entry {
  const void *scan, *carry;
  uint32_t run, number, total; /* rows; bytes */
};

static entry entry_of(joist_cuda_scan_kind kind) {
#define X(ID, NAME, BLOCKS, ...)                                                                 \
  if (kind == JOIST_CUDA_SCAN_##ID)                                                              \
    return {(const void *)joist_scan_##NAME, (const void *)joist_carry_##NAME, __VA_ARGS__::RUN, \
            sizeof(__VA_ARGS__::number), sizeof(__VA_ARGS__::total)};
  EACH_KIND(X)
#undef X
  return {nullptr, nullptr, 1, 1, 1};
}

uint32_t joist_cuda_scan_run(joist_cuda_scan_kind kind) { return entry_of(kind).run; }
size_t joist_cuda_scan_total(joist_cuda_scan_kind kind) { return entry_of(kind).total; }

int joist_cuda_start_scan(joist_cuda_scan_kind kind, const joist_cuda_scan *scan, void *stream) {
  const entry found = entry_of(kind);
  const size_t shared =
      JOIST_CUDA_BLOCK * ((found.run + 1) * (size_t)found.number + 2 * (size_t)found.total);
  void *arguments[] = {const_cast<joist_cuda_scan *>(scan)};
  return (int)cudaLaunchKernel(found.scan, dim3(scan->units * scan->segments),
                               dim3(JOIST_CUDA_BLOCK), arguments, shared, (cudaStream_t)stream);
}

int joist_cuda_start_carry(joist_cuda_scan_kind kind, const joist_cuda_scan *scan, void *stream) {
  const uint64_t columns = (uint64_t)scan->units * scan->width;
  void *arguments[] = {const_cast<joist_cuda_scan *>(scan)};
  return (int)cudaLaunchKernel(
      entry_of(kind).carry, dim3((unsigned)((columns + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK)),
      dim3(JOIST_CUDA_BLOCK), arguments, 0, (cudaStream_t)stream);
}
