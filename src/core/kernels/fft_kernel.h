/* Kernels of Fourier transforms. A kernel transforms several lines at once, one in each lane of a
 * vector: element e of lane l has its real part at lanes[2 * e * width + l] and its imaginary part
 * `width` numbers further on, where `width` is the number of lanes. */
#ifndef JOIST_CORE_KERNELS_FFT_KERNEL_H
#define JOIST_CORE_KERNELS_FFT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

enum {
  JOIST_FFT_LANES_MAX = 16,
  JOIST_FFT_PASSES_MAX = 40,
  JOIST_FFT_RADIX_MAX = 271 /* transforms with a larger prime factor are convolutions */
};

/* One pass of Stockham's algorithm: `before` is the product of the factors of the passes before it,
 * `after` of those that follow. Tables are complex, in the type of the numbers. */
struct joist_fft_pass {
  unsigned radix;
  size_t before, after;
  const void *twiddles; /* radix - 1 for each of after - 1 */
  const void *roots;    /* the roots of unity of an odd radix */
};

struct joist_fft_passes {
  size_t n;
  unsigned count;
  struct joist_fft_pass pass[JOIST_FFT_PASSES_MAX];
};

/* Where the lines of the lanes are: real and imaginary parts, NULL for imaginary parts that are
 * zero, or not wanted; from one element to the next there are `stride` numbers. */
struct joist_fft_lines {
  size_t stride;
  char *re[JOIST_FFT_LANES_MAX], *im[JOIST_FFT_LANES_MAX];
};

/* The kernels of a type of real numbers. */
struct joist_fft_kernel {
  size_t width;
  void (*load)(size_t n, const struct joist_fft_lines *from, void *lanes);
  /* The first `count` lanes, times `scale`, conjugated if asked to. */
  void (*store)(size_t n, const void *lanes, double scale, bool conjugate, size_t count,
                const struct joist_fft_lines *to);
  /* Returns where the result is: `lanes` or `spare`. */
  void *(*transform)(const struct joist_fft_passes *passes, void *lanes, void *spare);
  /* Multiplies element e by table[e], then conjugates it if asked to. */
  void (*turn)(size_t n, const void *table, bool conjugate, void *lanes);
  /* Multiplies by others in lanes, then conjugates if asked to. */
  void (*multiply)(size_t n, const void *by, bool conjugate, void *lanes);
  /* Multiplies element e of lane l by coarse[e / steps] * fine[e % steps], complex doubles in
   * lanes. */
  void (*twist)(size_t n, size_t steps, const double *coarse, const double *fine, void *lanes);
  /* z is the transform of n pairs of real numbers as complex ones, table[k] is exp(-pi i k / n), in
   * double: writes the first n + 1 elements of the transform of the 2 n numbers. */
  void (*split)(size_t n, const double *table, const void *z, void *to);
  /* The other way: what, transformed, has each pair in reverse order. The elements are conjugated
   * first if asked to. */
  void (*merge)(size_t n, const double *table, bool conjugate, const void *from, void *z);
  /* Conjugates the first n / 2 + 1 elements, if asked to, and writes the others, which are their
   * conjugates in reverse order. */
  void (*mirror)(size_t n, bool conjugate, void *z);
};

/* By single and double precision. */
struct joist_fft_table {
  struct joist_fft_kernel kernel[2];
};

#endif
