/* The loops over random numbers that are compiled once per instruction set. */
#ifndef JOIST_CORE_KERNELS_RANDOM_KERNELS_H
#define JOIST_CORE_KERNELS_RANDOM_KERNELS_H

#include <stddef.h>

#include "core/kernels/philox.h"

struct joist_random_kernels {
  /* The words of `count` blocks from number `first` on, four each, in order. */
  void (*words)(const struct joist_stream *stream, uint64_t first, size_t count, uint32_t *out);
  /* n numbers in [0, 1): multiples of 2^-24 from a word each, of 2^-53 from two each. */
  void (*unit_f32)(size_t n, const uint32_t *words, float *out);
  void (*unit_f64)(size_t n, const uint32_t *words, double *out);
  /* 2n multiples of 2^-bits, bits <= 16, from half a word each. */
  void (*unit_half)(size_t n, int bits, const uint32_t *words, float *out);
  /* x becomes low (1 - x) + high x, at least low and at most top. */
  void (*between)(size_t n, const double *low, const double *high, const double *top, double *x);
  /* Pairs of standard normal numbers from two words a pair, or from four. */
  void (*normal_narrow)(size_t pairs, const uint32_t *words, double *out);
  void (*normal_wide)(size_t pairs, const uint32_t *words, double *out);
  /* x becomes mean + sd x. */
  void (*spread)(size_t n, const double *mean, const double *sd, double *x);
};

#endif
