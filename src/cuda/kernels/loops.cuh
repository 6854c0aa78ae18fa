/* What generated kernels and the interpreter share: tables of a group, places of elements,
 * vector loads, failures, and the order of reductions. */
#ifndef JOIST_CUDA_LOOPS_CUH
#define JOIST_CUDA_LOOPS_CUH

#include "cuda/kernels/device_code.h"
#include "cuda/kernels/element.cuh"

/* A kernel has one parameter, a struct, which stays where the launch put it. */
#define JOIST_KERNEL(NAME, PARAMETER) \
  extern "C" __global__ void NAME(PARAMETER const __grid_constant__ parameter)
/* Two blocks of a multiprocessor are enough where each thread waits for many loads at once;
 * without this the compiler saves registers for eight, and loads one by one. */
#define JOIST_LOADING_KERNEL(NAME, PARAMETER)                       \
  extern "C" __global__ void __launch_bounds__(JOIST_CUDA_BLOCK, 2) \
      NAME(PARAMETER const __grid_constant__ parameter)
#define JOIST_PASS_KERNEL(NAME) JOIST_LOADING_KERNEL(NAME, joist_cuda_pass)

JOIST_DEVICE static inline uint64_t thread_number(void) {
  return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
JOIST_DEVICE static inline uint64_t thread_count(void) { return (uint64_t)gridDim.x * blockDim.x; }

/* ---- the tables of a group ---- */

/* The parameter of a generated kernel: a joist_cuda_group, truncated after the last entry used. */
template <int ARRAYS, int GATHERS, int RANK>
struct joist_group_of {
  joist_cuda_head head;
  uint64_t own[ARRAYS + GATHERS * (RANK + 1) + RANK];
};

/* What the tables hold: numbers that the compiler knows there, and loops that it unrolls. */
#define COUNT_OF(FUNCTION, FIELD, PARAMETER)                                                    \
  JOIST_DEVICE static inline uint32_t FUNCTION(const joist_cuda_group &group) {                 \
    return group.head.FIELD;                                                                    \
  }                                                                                             \
  template <int ARRAYS, int GATHERS, int RANK>                                                  \
  JOIST_DEVICE static inline uint32_t FUNCTION(const joist_group_of<ARRAYS, GATHERS, RANK> &) { \
    return (uint32_t)(PARAMETER);                                                               \
  }
COUNT_OF(arrays_in, array_count, ARRAYS)
COUNT_OF(gathers_in, gather_count, GATHERS)
COUNT_OF(rank_of, rank, RANK)
#undef COUNT_OF

template <class Group>
JOIST_DEVICE static inline void *array_of(const Group &group, uint32_t index) {
  return (void *)group.own[index];
}
template <class Group>
JOIST_DEVICE static inline const void *given_in(const Group &group, uint32_t index) {
  return group.own + index;
}
template <class Group>
JOIST_DEVICE static inline const uint64_t *strides_of(const Group &group, uint32_t gather) {
  return group.own + arrays_in(group) + gather * (rank_of(group) + 1);
}
template <class Group>
JOIST_DEVICE static inline uint64_t along_of(const Group &group, uint32_t gather) {
  return strides_of(group, gather)[rank_of(group)];
}
template <class Group>
JOIST_DEVICE static inline const uint64_t *extents_of(const Group &group) {
  return strides_of(group, gathers_in(group));
}
JOIST_DEVICE static inline const joist_code_step *steps_of(const joist_cuda_group &group) {
  if (group.head.steps != nullptr) return group.head.steps;
  return (const joist_code_step *)(extents_of(group) + rank_of(group));
}

/* Where element `at` of the index space is found in an array with these strides. Division
 * of 32 bits is several times faster. */
template <class Group>
JOIST_DEVICE static inline uint64_t place_of(const Group &group, const uint64_t *strides,
                                             uint64_t at) {
  const uint64_t *const extents = extents_of(group);
  const uint32_t rank = rank_of(group);
  uint64_t place = 0;
  if (rank == 0) return 0;
  if (group.head.count <= UINT32_MAX) {
    uint32_t rest = (uint32_t)at;
    for (uint32_t d = 0; d + 1 < rank; d++) {
      const uint32_t extent = (uint32_t)extents[d];
      place += rest % extent * strides[d];
      rest /= extent;
    }
    return place + rest * strides[rank - 1];
  }
  JOIST_ROLLED for (uint32_t d = 0; d + 1 < rank; d++) {
    place += at % extents[d] * strides[d];
    at /= extents[d];
  }
  return place + at * strides[rank - 1];
}

/* The first position that fails is reported, at it the first step. */
template <class Group>
JOIST_DEVICE static inline void report(const Group &group, uint64_t position, uint32_t step) {
  atomicMin((unsigned long long *)group.head.failure, (unsigned long long)(position << 16 | step));
}

/* A value that is watched does not fit. */
template <class Group>
JOIST_DEVICE static inline void note_wrapped(const Group &group) {
  atomicOr((unsigned long long *)group.head.failure + 1, 1ull);
}

/* ---- V consecutive elements, in accesses of at most 16 bytes ---- */

template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) joist_pack {
  T x[V];
};

template <class T, int V>
JOIST_DEVICE static inline void load_whole(const void *array, uint64_t first,
                                           joist_pack<T, V> &out) {
  out = *(const joist_pack<T, V> *)((const T *)array + first);
}

template <class T, int V>
JOIST_DEVICE static inline void store_whole(void *array, uint64_t first,
                                            const joist_pack<T, V> &in) {
  *(joist_pack<T, V> *)((T *)array + first) = in;
}

/* ---- the elements of one thread of a group with sinks ---- */

struct joist_row {
  uint64_t first, step, length;
};

template <class Group>
JOIST_DEVICE static inline joist_row row_of(const Group &group, uint64_t thread) {
  const uint64_t i = thread % group.head.inner, s = thread / group.head.inner % group.head.segments;
  const uint64_t o = thread / group.head.inner / group.head.segments;
  joist_row row;
  row.first = (o * group.head.middle + s) * group.head.inner + i;
  row.step = group.head.segments * group.head.inner;
  row.length = (group.head.middle - s + group.head.segments - 1) / group.head.segments;
  return row;
}

/* n <= V elements that are `step` apart: of a row, or the last ones of an array. */
template <class T, int V>
JOIST_DEVICE static inline void load_row(const void *array, uint64_t first, uint64_t step,
                                         uint32_t n, joist_pack<T, V> &out) {
  for (int k = 0; k < V; k++)
    if ((uint32_t)k < n) out.x[k] = ((const T *)array)[first + (uint64_t)k * step];
}

template <class T, int V>
JOIST_DEVICE static inline void store_row(void *array, uint64_t first, uint64_t step, uint32_t n,
                                          const joist_pack<T, V> &in) {
  for (int k = 0; k < V; k++)
    if ((uint32_t)k < n) ((T *)array)[first + (uint64_t)k * step] = in.x[k];
}

/* ---- a pass of a reduction ---- */

/* `Reduction` has a type `accumulator`, load(in, at) that gives one, combine(), store(), and
 * `rounds`: so many elements of every lane are loaded before the first is combined. */
template <class Reduction>
JOIST_DEVICE static inline void reduce_pass(const joist_cuda_pass &pass, const Reduction &r) {
  typedef typename Reduction::accumulator A;
  constexpr int LANES = JOIST_CUDA_LANES, TOGETHER = LANES * (int)Reduction::rounds;
  const uint64_t results = pass.inner * pass.segments * pass.outer;
  for (uint64_t k = thread_number(); k < results; k += thread_count()) {
    const uint64_t i = k % pass.inner, s = k / pass.inner % pass.segments;
    const uint64_t outer = k / pass.inner / pass.segments;
    const uint64_t step = pass.segments * pass.inner;
    const uint64_t first = outer * pass.middle * pass.inner + i + s * pass.inner;
    /* Lane l has the elements l, l + LANES, ... of this result, which has one at least. Lanes
     * are numbers that the compiler knows: they stay in registers. */
    const uint64_t length = (pass.middle - s + pass.segments - 1) / pass.segments;
    A lane[LANES];
    JOIST_UNROLL for (int l = 0; l < LANES; l++) {
      if ((uint64_t)l < length) lane[l] = r.load(pass.in, first + (uint64_t)l * step);
    }
    uint64_t done = LANES;
    for (; done + TOGETHER <= length; done += TOGETHER) {
      A next[TOGETHER];
      JOIST_UNROLL for (int e = 0; e < TOGETHER; e++) {
        next[e] = r.load(pass.in, first + (done + (uint64_t)e) * step);
      }
      JOIST_UNROLL for (int e = 0; e < TOGETHER; e++) {
        lane[e % LANES] = r.combine(lane[e % LANES], next[e]);
      }
    }
    for (; done < length; done += LANES) {
      JOIST_UNROLL for (int l = 0; l < LANES; l++) {
        if (done + (uint64_t)l < length)
          lane[l] = r.combine(lane[l], r.load(pass.in, first + (done + (uint64_t)l) * step));
      }
    }
    A all = lane[0];
    JOIST_UNROLL for (int l = 1; l < LANES; l++) {
      if ((uint64_t)l < length) all = r.combine(all, lane[l]);
    }
    r.store(pass.out, k, all);
  }
}

#endif
