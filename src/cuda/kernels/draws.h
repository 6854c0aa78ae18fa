/* What the host hands to the kernels that draw random numbers. */
#ifndef JOIST_CUDA_KERNELS_DRAWS_H
#define JOIST_CUDA_KERNELS_DRAWS_H

#include <stdint.h>

/* A parameter of a distribution, of a dtype that its kernel reads: an element of the result's
 * for each, or `one` for all where `elements` is NULL. */
struct joist_cuda_parameter {
  const void *elements;
  uint64_t one[2];
  uint32_t dtype;
};

/* `count` elements of `dtype`: random bits, uniform, normal or binomial numbers or integers, as
 * `op` says; or a key, made of another one and the number `lhs` (I64). */
struct joist_cuda_draw {
  uint64_t count;
  const uint32_t *key;
  void *out;
  /* Uniform: limits in `dtype`. Normal: mean (F64, of complex numbers C128) and standard deviation
   * (F64). Integers: limits in I64, UI64 or F64. Binomial: size and probability (F64). */
  struct joist_cuda_parameter lhs, rhs;
  int64_t smallest; /* that a limit may be, and the largest */
  uint64_t largest;
  double most;       /* that a size may be */
  uint64_t *failure; /* of checking: the first element whose parameters are none */
  uint32_t op, dtype, size;
  uint32_t wide;     /* an element, or each part of a complex number, has 64 bits */
  uint32_t standard; /* from 0 to 1, or of mean 0 and deviation 1 */
  uint32_t split;    /* a key is one of several, not a user's */
};

#endif
