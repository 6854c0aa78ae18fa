/* Tables of Fourier transforms, computed in double and rounded once. */
#ifndef JOIST_CORE_OPS_SIGNAL_FFT_PLAN_H
#define JOIST_CORE_OPS_SIGNAL_FFT_PLAN_H

#include <stdint.h>

#include "core/base/status.h"
#include "core/kernels/fft_kernel.h"

/* exp(-2 pi i k / n) for all k, as products of two tables. */
struct joist_turns {
  size_t n, mask;
  unsigned bits;
  double *fine, *coarse; /* complex; `coarse` is a part of the memory of `fine` */
};

/* False if allocation fails. */
bool joist_turns_make(size_t n, struct joist_turns *turns) JOIST_MUST_CHECK;
void joist_turns_free(struct joist_turns *turns);
/* For k less than n. */
void joist_turns_read(const struct joist_turns *turns, uint64_t k, double *to);

/* Whether all prime factors of n have a pass. */
bool joist_fft_is_smooth(size_t n);
/* The least number from n on without a prime factor beyond 7. */
size_t joist_fft_smooth_from(size_t n);
/* A divisor of a smooth n close to its square root. */
size_t joist_fft_divisor(size_t n);

/* The passes for a smooth n of at least 1; false if allocation fails. `memory` owns their tables.
 */
bool joist_fft_passes_make(size_t n, bool wide, struct joist_fft_passes *passes,
                           void **memory) JOIST_MUST_CHECK;

/* Writes number k of a complex table in single or double precision. */
void joist_fft_put(void *table, bool wide, size_t k, double re, double im);

#endif
