/* The kernels that are compiled with the package: the interpreter, reductions, moving
 * elements by position. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

/* One copy of each function that every operation calls: the interpreter is large enough. */
#define JOIST_INLINE JOIST_DEVICE JOIST_OUTLINE static
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "cuda/kernels/interpreter.cuh"
#include "cuda/kernels/kernels.h"

JOIST_KERNEL(joist_interpret_kernel, joist_cuda_group) { interpret(parameter); }

JOIST_PASS_KERNEL(joist_reduce_kernel) {
  const joist_interpreted reduction = {parameter.op, parameter.from, parameter.accumulator};
  reduce_pass(parameter, reduction);
}

JOIST_KERNEL(joist_finish_kernel, joist_cuda_finish) {
  for (uint64_t at = thread_number(); at < parameter.count; at += thread_count()) {
    joist_register value, out = {{0, 0}};
    load_element(parameter.from, parameter.in, at, value);
    if (parameter.length != 0 && parameter.from == JOIST_C128)
      put(value, get<joist_c128>(value) / parameter.length);
    else if (parameter.length != 0)
      put(value, get<double>(value) / parameter.length);
    convert_element(parameter.from, parameter.to, value, out);
    store_element(parameter.to, out, parameter.out, at);
  }
}

/* One element of a move; `Word` has its size. */
template <class Word>
JOIST_DEVICE static inline void take(const joist_cuda_move &move, uint64_t k) {
  ((Word *)move.out)[k] = ((const Word *)move.in)[move.index[k]];
}
template <class Word>
JOIST_DEVICE static inline void put_owned(const joist_cuda_move &move, uint64_t k) {
  if (move.owner == nullptr || move.owner[move.index[k]] == (uint32_t)k + 1)
    ((Word *)move.out)[move.index[k]] = ((const Word *)move.in)[k * move.step];
}

/* Division of 32 bits is several times faster. */
template <class Word, class Count>
JOIST_DEVICE static inline void walk_to(const joist_cuda_walk &walk, Count rest) {
  int64_t in = walk.in_base, out = walk.out_base;
  for (uint32_t d = 0; d < walk.rank; d++) {
    const Count extent = (Count)walk.extent[d];
    const Count last = d + 1 == walk.rank ? rest : rest % extent;
    in += (int64_t)last * walk.in_stride[d];
    out += (int64_t)last * walk.out_stride[d];
    rest /= extent;
  }
  ((Word *)walk.out)[out] = ((const Word *)walk.in)[in];
}
template <class Word>
JOIST_DEVICE static inline void walk(const joist_cuda_walk &walk, uint64_t k) {
  if (walk.count <= UINT32_MAX)
    walk_to<Word>(walk, (uint32_t)k);
  else
    walk_to<Word>(walk, k);
}

JOIST_DEVICE static inline int64_t position_at(uint32_t dtype, const void *index, uint64_t k) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (int64_t)((const T *)index)[k];
    JOIST_DTYPES_INT(X, , )
    JOIST_DTYPES_UINT(X, , )
    JOIST_DTYPES_BYTE_INT(X, , )
    JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
  }
  return 0;
}

template <class Word>
JOIST_DEVICE static inline void gather(const joist_cuda_gather &gather, uint64_t k) {
  const uint64_t i = k % gather.inner, line = k / gather.inner;
  const uint64_t entry = line % gather.entries, outer = line / gather.entries;
  const uint64_t at = (uint64_t)(position_at(gather.dtype, gather.index, entry) - 1);
  ((Word *)gather.out)[k] =
      ((const Word *)gather.in)[(outer * gather.extent + at) * gather.inner + i];
}

#define MOVE(FUNCTION)                                                         \
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count()) \
    switch (parameter.size) {                                                  \
      case 1:                                                                  \
        FUNCTION<uint8_t>(parameter, k);                                       \
        break;                                                                 \
      case 2:                                                                  \
        FUNCTION<uint16_t>(parameter, k);                                      \
        break;                                                                 \
      case 4:                                                                  \
        FUNCTION<uint32_t>(parameter, k);                                      \
        break;                                                                 \
      case 8:                                                                  \
        FUNCTION<uint64_t>(parameter, k);                                      \
        break;                                                                 \
      default:                                                                 \
        FUNCTION<joist_register>(parameter, k);                                \
        break;                                                                 \
    }

JOIST_KERNEL(joist_take_kernel, joist_cuda_move) { MOVE(take); }
JOIST_KERNEL(joist_put_kernel, joist_cuda_move) { MOVE(put_owned); }
JOIST_KERNEL(joist_walk_kernel, joist_cuda_walk) { MOVE(walk); }
JOIST_KERNEL(joist_gather_kernel, joist_cuda_gather) { MOVE(gather); }

JOIST_KERNEL(joist_check_kernel, joist_cuda_check) {
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count()) {
    const int64_t at = position_at(parameter.dtype, parameter.index, k);
    /* Not `at - base`, which overflows for the smallest number. */
    if (at < parameter.base || (uint64_t)at - (uint64_t)parameter.base >= parameter.extent)
      atomicMin((unsigned long long *)parameter.failure, (unsigned long long)k);
  }
}

/* The last of several elements for one position is the one with the largest number. */
JOIST_KERNEL(joist_own_kernel, joist_cuda_move) {
  for (uint64_t k = thread_number(); k < parameter.count; k += thread_count())
    atomicMax(&parameter.owner[parameter.index[k]], (uint32_t)k + 1);
}

JOIST_KERNEL(joist_iota_kernel, joist_cuda_iota) {
  for (uint64_t at = thread_number(); at < parameter.count; at += thread_count()) {
    const uint64_t step = at / parameter.inner % parameter.middle;
    joist_register number, out = {{0, 0}};
    put(number, parameter.from + (double)step);
    if (parameter.dtype == JOIST_I64 || parameter.dtype == JOIST_UI64)
      put(out, parameter.first + step);
    else
      convert_element(JOIST_F64, parameter.dtype, number, out);
    store_element(parameter.dtype, out, parameter.out, at);
  }
}

int joist_cuda_start(joist_cuda_kernel kernel, uint64_t threads, const void *parameter,
                     void *stream) {
  const void *const kernels[JOIST_CUDA_KERNELS] = {
      (const void *)joist_interpret_kernel, (const void *)joist_reduce_kernel,
      (const void *)joist_finish_kernel,    (const void *)joist_take_kernel,
      (const void *)joist_own_kernel,       (const void *)joist_put_kernel,
      (const void *)joist_check_kernel,     (const void *)joist_walk_kernel,
      (const void *)joist_gather_kernel,    (const void *)joist_iota_kernel};
  const uint64_t blocks = (threads + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<void *>(parameter)};
  return (int)cudaLaunchKernel(kernels[kernel], dim3(grid), dim3(JOIST_CUDA_BLOCK), arguments, 0,
                               (cudaStream_t)stream);
}

int joist_cuda_find_code(void) {
  cudaFuncAttributes attributes;
  return (int)cudaFuncGetAttributes(&attributes, (const void *)joist_finish_kernel);
}
