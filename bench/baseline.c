/* The plain C loop that joist's memory speed is compared with: c[i] = a[i] + b[i] on f32,
 * split over threads by OpenMP. All three arrays are touched before anything is timed. */
#ifdef __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#include <stdlib.h>
#include <time.h>

#include <R.h>

enum { ALIGNMENT = 1 << 21 }; /* bytes: a huge page on x86-64 and arm64 */

static float *arrays[3];
static size_t length;

static float *touched(size_t n, float value) {
  size_t bytes = (n * sizeof(float) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  float *out = aligned_alloc(ALIGNMENT, bytes);
  if (out == NULL) return NULL;
#ifdef MADV_HUGEPAGE
  (void)madvise(out, bytes, MADV_HUGEPAGE);
#endif
  for (size_t i = 0; i < n; i++) out[i] = value;
  return out;
}

void baseline_release(void) {
  for (int i = 0; i < 3; i++) {
    free(arrays[i]);
    arrays[i] = NULL;
  }
  length = 0;
}

/* n: number of elements, as a double because R's integers end at 2^31. */
void baseline_prepare(const double *n) {
  baseline_release();
  length = (size_t)*n;
  for (int i = 0; i < 3; i++) arrays[i] = touched(length, (float)(i + 1));
  if (arrays[0] == NULL || arrays[1] == NULL || arrays[2] == NULL) {
    baseline_release();
    error("no memory for three arrays of %.0f floats", *n);
  }
}

static void add(const float *restrict a, const float *restrict b, float *restrict c, size_t n,
                int threads) {
#ifdef _OPENMP
#pragma omp parallel for simd schedule(static) num_threads(threads)
#else
  (void)threads;
#endif
  for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds: of each of `count` runs. */
void baseline_add(const int *threads, const int *count, double *seconds) {
  for (int i = 0; i < *count; i++) {
    double start = now();
    add(arrays[0], arrays[1], arrays[2], length, *threads);
    seconds[i] = now() - start;
  }
}
