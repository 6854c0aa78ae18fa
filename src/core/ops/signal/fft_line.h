/* One transform: its tables, and a line at a time. Private to fft*.c. */
#ifndef JOIST_CORE_OPS_SIGNAL_FFT_LINE_H
#define JOIST_CORE_OPS_SIGNAL_FFT_LINE_H

#include "core/base/run.h"
#include "core/ops/signal/fft_plan.h"

/* What goes in and what comes out: complex numbers, real ones and the first half of their
 * transform, or such a half and real numbers. */
enum joist_fft_form { JOIST_FFT_COMPLEX, JOIST_FFT_REAL, JOIST_FFT_HALF };

struct joist_fft_job {
  const struct joist_fft_kernel *kernel;
  size_t size;    /* bytes of a real number */
  size_t n, read; /* the length, and elements that are read; others are 0 */
  double scale;
  size_t length;                 /* n; half of it where pairs of real numbers are complex ones */
  size_t m;                      /* `length`, or that of a convolution */
  double *pairs;                 /* table of the kernels split and merge */
  void *chirp, *response, *last; /* of a convolution; of a line that is split, in lanes, as its
                                  columns and rows are */
  void *tables;                  /* owns them, */
  size_t bytes;                  /* and has so many */
  struct joist_turns turns;      /* of m, if it is split */
  void *memory[2];
  struct joist_fft_passes passes[2]; /* of m; or of columns, which have as many elements as there
                                      are rows, and of rows */
  enum joist_fft_form form;
  bool reverse; /* exp(+2 pi i k / n) */
  bool whole;   /* of real numbers, all of the transform */
  bool halved;  /* pairs of real numbers are complex ones */
  bool convolved;
  bool split; /* a line is m = rows * columns elements */
};

/* Bytes of an element of all lanes. */
static inline size_t joist_fft_element(const struct joist_fft_job *job) {
  return 2 * job->kernel->width * job->size;
}

/* Whether pairs of real numbers are to be complex ones; of few that would round more than it
 * spares. */
static inline bool joist_fft_halves(const struct joist_fft_job *job, bool single) {
  return !single && job->form != JOIST_FFT_COMPLEX && job->n % 2 == 0 && job->n > 64 &&
         (job->form == JOIST_FFT_HALF || job->read % 2 == 0);
}

/* Makes the tables, for one line after the other (`single`) or several side by side. False if
 * allocation fails. joist_fft_finish() frees them either way. */
bool joist_fft_prepare(struct joist_fft_job *job, bool single,
                       const struct joist_run *run) JOIST_MUST_CHECK;
void joist_fft_finish(struct joist_fft_job *job);

/* Transforms lanes that have `given` elements, and memory for m, as has `spare`. Returns where the
 * result is. */
void *joist_fft_lanes(const struct joist_fft_job *job, size_t given, void *lanes, void *spare);

/* Transforms a line of elements that are `stride` apart to others, on all threads. */
joist_status joist_fft_line(const struct joist_fft_job *job, const char *from, size_t stride,
                            char *to, size_t to_stride, const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

#endif
