#include "core/ops/signal/fft_line.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/types/error.h"

enum { WORK = 8, ALIGNMENT = 64 };

static void *aligned(void *memory) {
  return (char *)memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
}

/* ---- lanes ---- */

void *joist_fft_lanes(const struct joist_fft_job *job, size_t given, void *lanes, void *spare) {
  const struct joist_fft_kernel *const kernel = job->kernel;
  const size_t element = 2 * kernel->width * job->size;
  memset((char *)lanes + given * element, 0, (job->m - given) * element);
  if (!job->convolved) return kernel->transform(&job->passes[0], lanes, spare);
  kernel->turn(job->length, job->chirp, false, lanes);
  char *const z = kernel->transform(&job->passes[0], lanes, spare);
  kernel->turn(job->m, job->response, true, z);
  char *const y = kernel->transform(&job->passes[0], z, z == lanes ? spare : lanes);
  kernel->turn(job->length, job->last, true, y);
  return y;
}

/* ---- a long line: columns, then rows ---- */

struct split {
  const struct joist_fft_job *job;
  const char *re, *im; /* of what is read, `stride` real numbers apart */
  char *to_re, *to_im;
  size_t stride, to_stride;
  double scale;
  char *between; /* m complex numbers: row after row of the transposed matrix */
  char *scratch;
  size_t room;
};

/* Powers of turns for the lanes from column `first` on: e = steps * a + b has coarse[a] * fine[b].
 */
static void write_twists(const struct joist_fft_job *job, size_t first, size_t rows, size_t columns,
                         size_t steps, double *coarse, double *fine) {
  const size_t width = job->kernel->width;
  for (size_t l = 0; l < width; l++) {
    const uint64_t column = joist_smaller(first + l, columns - 1);
    for (size_t e = 0; e * steps < rows; e++) {
      double w[2];
      joist_turns_read(&job->turns, e * steps * column, w);
      coarse[2 * e * width + l] = w[0];
      coarse[(2 * e + 1) * width + l] = w[1];
    }
    for (size_t e = 0; e < steps; e++) {
      double w[2];
      joist_turns_read(&job->turns, e * column, w);
      fine[2 * e * width + l] = w[0];
      fine[(2 * e + 1) * width + l] = w[1];
    }
  }
}

static size_t steps_of(size_t rows) {
  size_t steps = 1;
  while (steps * steps < rows) steps *= 2;
  return steps;
}

static void transform_columns(const void *context, size_t task, size_t worker) {
  const struct split *const s = context;
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n;
  const size_t width = job->kernel->width, first = task * width, steps = steps_of(rows);
  char *const lanes = s->scratch + worker * s->room;
  char *const spare = lanes + 2 * rows * width * job->size;
  double *const coarse = (double *)(void *)(spare + 2 * rows * width * job->size);
  double *const fine = coarse + 2 * width * (rows / steps + 1);
  struct joist_fft_lines from = {.stride = columns * s->stride}, to = {.stride = 2};
  for (size_t l = 0; l < width; l++) {
    const size_t column = joist_smaller(first + l, columns - 1);
    from.re[l] = (char *)s->re + column * s->stride * job->size;
    from.im[l] = (char *)s->im + column * s->stride * job->size;
    to.re[l] = s->between + column * rows * 2 * job->size;
    to.im[l] = to.re[l] + job->size;
  }
  job->kernel->load(rows, &from, lanes);
  void *const z = job->kernel->transform(&job->passes[0], lanes, spare);
  write_twists(job, first, rows, columns, steps, coarse, fine);
  job->kernel->twist(rows, steps, coarse, fine, z);
  job->kernel->store(rows, z, 1, false, joist_smaller(width, columns - first), &to);
}

static void transform_rows(const void *context, size_t task, size_t worker) {
  const struct split *const s = context;
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n;
  const size_t width = job->kernel->width, first = task * width;
  char *const lanes = s->scratch + worker * s->room;
  char *const spare = lanes + 2 * columns * width * job->size;
  struct joist_fft_lines from = {.stride = 2 * rows}, to = {.stride = rows * s->to_stride};
  for (size_t l = 0; l < width; l++) {
    const size_t row = joist_smaller(first + l, rows - 1);
    from.re[l] = s->between + row * 2 * job->size;
    from.im[l] = from.re[l] + job->size;
    to.re[l] = s->to_re + row * s->to_stride * job->size;
    to.im[l] = s->to_im + row * s->to_stride * job->size;
  }
  job->kernel->load(columns, &from, lanes);
  void *const z = job->kernel->transform(&job->passes[1], lanes, spare);
  job->kernel->store(columns, z, s->scale, false, joist_smaller(width, rows - first), &to);
}

/* A complex line of m elements. */
static joist_status run_split(struct split *s, const struct joist_run *run,
                              struct joist_error *error) {
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n, width = job->kernel->width;
  const size_t tasks[2] = {joist_divide_up(columns, width), joist_divide_up(rows, width)};
  const size_t longest = rows < columns ? columns : rows, steps = steps_of(rows);
  const int threads = joist_threads_for(run, job->m * WORK, tasks[0]);
  s->room = joist_round_up(
      4 * longest * width * job->size + 2 * width * (rows / steps + 1 + steps) * sizeof(double),
      ALIGNMENT);
  void *const memory = malloc(s->room * (size_t)threads + ALIGNMENT);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  s->scratch = aligned(memory);
  joist_status status =
      joist_tasks_run_on(run, threads, tasks[0], rows * width * WORK, transform_columns, s, error);
  if (status == JOIST_OK)
    status = joist_tasks_run_on(run, threads, tasks[1], columns * width * WORK, transform_rows, s,
                                error);
  free(memory);
  return status;
}

/* ---- any line ---- */

static double number(const struct joist_fft_job *job, const char *from, size_t k) {
  return job->size == sizeof(double) ? ((const double *)(const void *)from)[k]
                                     : (double)((const float *)(const void *)from)[k];
}

/* The line as m complex numbers; those of a reversed transform have their parts swapped. */
static void read_line(const struct joist_fft_job *job, const char *from, size_t stride, char *to) {
  const bool wide = job->size == sizeof(double);
  memset(to, 0, 2 * job->m * job->size);
  for (size_t k = 0; k < job->read; k++) {
    const size_t at = k * stride;
    if (job->form == JOIST_FFT_REAL) {
      joist_fft_put(to, wide, k, number(job, from, at), 0);
      continue;
    }
    double re = number(job, from, 2 * at), im = number(job, from, 2 * at + 1);
    if (job->form == JOIST_FFT_COMPLEX) {
      joist_fft_put(to, wide, k, job->reverse ? im : re, job->reverse ? re : im);
      continue;
    }
    if (k == 0 || 2 * k == job->n) im = 0;
    if (job->reverse) im = -im;
    joist_fft_put(to, wide, k, re, im);
    if (k > 0) joist_fft_put(to, wide, job->n - k, re, -im);
  }
}

static void write_line(const struct joist_fft_job *job, const char *from, size_t stride, char *to) {
  const bool wide = job->size == sizeof(double);
  const size_t count = job->form == JOIST_FFT_REAL ? job->n / 2 + 1 : job->n;
  for (size_t k = 0; k < count; k++) {
    const double re = number(job, from, 2 * k) * job->scale;
    const double im = number(job, from, 2 * k + 1) * job->scale;
    if (job->form == JOIST_FFT_HALF) {
      if (wide)
        ((double *)(void *)to)[k * stride] = re;
      else
        ((float *)(void *)to)[k * stride] = (float)re;
    } else if (job->form == JOIST_FFT_REAL) {
      joist_fft_put(to, wide, k * stride, re, job->reverse ? -im : im);
    } else {
      joist_fft_put(to, wide, k * stride, job->reverse ? im : re, job->reverse ? re : im);
    }
  }
}

static void read_and_write(struct split *s, char *from, char *to) {
  s->re = from;
  s->im = from + s->job->size;
  s->to_re = to;
  s->to_im = to + s->job->size;
  s->stride = s->to_stride = 2;
}

/* Complex numbers times those of a table; then conjugated if asked to. */
static void multiply(const struct joist_fft_job *job, size_t n, const void *table, bool conjugate,
                     char *line) {
  const joist_dtype dtype = job->size == sizeof(double) ? JOIST_C128 : JOIST_C64;
  const void *operands[2] = {line, table};
  joist_kernel_find(JOIST_OP_MUL, dtype)(n, operands, line);
  if (conjugate) joist_kernel_find(JOIST_OP_CONJ, dtype)(n, operands, line);
}

static joist_status run_convolution(struct split *s, char *line, const struct joist_run *run,
                                    struct joist_error *error) {
  const struct joist_fft_job *const job = s->job;
  multiply(job, job->n, job->chirp, false, line);
  read_and_write(s, line, line);
  s->scale = 1;
  joist_status status = run_split(s, run, error);
  if (status != JOIST_OK) return status;
  multiply(job, job->m, job->response, true, line);
  status = run_split(s, run, error);
  if (status == JOIST_OK) multiply(job, job->n, job->last, true, line);
  return status;
}

joist_status joist_fft_line(const struct joist_fft_job *job, const char *from, char *to,
                            size_t stride, const struct joist_run *run, struct joist_error *error) {
  const bool direct = job->form == JOIST_FFT_COMPLEX && job->read == job->n && !job->convolved;
  const size_t bytes = joist_round_up(2 * job->m * job->size, ALIGNMENT);
  void *const memory = malloc((direct ? 1 : 2) * bytes + ALIGNMENT);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  struct split s = {.job = job, .scale = 1, .between = aligned(memory)};
  char *const line = s.between + bytes;
  joist_status status;
  if (direct) {
    const size_t first = job->reverse ? job->size : 0, second = job->size - first;
    s.re = from + first;
    s.im = from + second;
    s.to_re = to + first;
    s.to_im = to + second;
    s.stride = s.to_stride = 2 * stride;
    s.scale = job->scale;
    status = run_split(&s, run, error);
  } else {
    read_line(job, from, stride, line);
    read_and_write(&s, line, line);
    status = job->convolved ? run_convolution(&s, line, run, error) : run_split(&s, run, error);
    if (status == JOIST_OK) write_line(job, line, stride, to);
  }
  free(memory);
  return status;
}

/* ---- tables ---- */

/* The transform of the chirp that a line is convolved with. */
static bool write_response(struct joist_fft_job *job) {
  const size_t element = 2 * job->kernel->width * job->size, bytes = 2 * job->m * job->size;
  if (job->split) {
    void *const memory = malloc(bytes + ALIGNMENT);
    if (memory == NULL) return false;
    struct split s = {.job = job, .scale = 1, .between = aligned(memory)};
    read_and_write(&s, job->response, job->response);
    const struct joist_run run = {.threads = 1};
    const joist_status status = run_split(&s, &run, NULL);
    free(memory);
    return status == JOIST_OK;
  }
  char *const memory = malloc(2 * job->m * element + ALIGNMENT);
  if (memory == NULL) return false;
  char *const lanes = aligned(memory);
  struct joist_fft_lines lines = {.stride = 2};
  for (size_t l = 0; l < job->kernel->width; l++) {
    lines.re[l] = job->response;
    lines.im[l] = lines.re[l] + job->size;
  }
  job->kernel->load(job->m, &lines, lanes);
  const void *const z = job->kernel->transform(&job->passes[0], lanes, lanes + job->m * element);
  job->kernel->store(job->m, z, 1, false, 1, &lines);
  free(memory);
  return true;
}

static bool write_chirps(struct joist_fft_job *job) {
  const bool wide = job->size == sizeof(double);
  const size_t bytes = 2 * job->size;
  struct joist_turns turns;
  const size_t n = job->length;
  size_t square = 0; /* k^2 modulo 2 n */
  job->chirp = calloc(2 * n + job->m, bytes);
  if (job->chirp == NULL || !joist_turns_make(2 * n, &turns)) return false;
  job->last = (char *)job->chirp + n * bytes;
  job->response = (char *)job->last + n * bytes;
  for (size_t k = 0; k < n; k++) {
    double w[2];
    joist_turns_read(&turns, square, w);
    square += 2 * k + 1;
    if (square >= 2 * n) square -= 2 * n;
    joist_fft_put(job->chirp, wide, k, w[0], w[1]);
    joist_fft_put(job->last, wide, k, w[0] / (double)job->m, -w[1] / (double)job->m);
    joist_fft_put(job->response, wide, k, w[0], -w[1]);
    if (k > 0) joist_fft_put(job->response, wide, job->m - k, w[0], -w[1]);
  }
  joist_turns_free(&turns);
  return write_response(job);
}

static bool write_pairs(struct joist_fft_job *job) {
  const bool wide = job->size == sizeof(double);
  struct joist_turns turns;
  job->pairs = malloc((job->length + 1) * 2 * job->size);
  if (job->pairs == NULL || !joist_turns_make(job->n, &turns)) return false;
  for (size_t k = 0; k <= job->length; k++) {
    double w[2];
    joist_turns_read(&turns, k, w);
    joist_fft_put(job->pairs, wide, k, w[0], w[1]);
  }
  joist_turns_free(&turns);
  return true;
}

bool joist_fft_prepare(struct joist_fft_job *job, bool single) {
  const bool wide = job->size == sizeof(double);
  job->halved = !single && job->form != JOIST_FFT_COMPLEX && job->n % 2 == 0 &&
                (job->form == JOIST_FFT_HALF || job->read % 2 == 0);
  job->length = job->halved ? job->n / 2 : job->n;
  job->convolved = !joist_fft_is_smooth(job->length);
  job->m = job->convolved ? joist_fft_smooth_from(2 * job->length - 1) : job->length;
  job->split = single;
  if (single) {
    const size_t rows = joist_fft_divisor(job->m);
    if (!joist_turns_make(job->m, &job->turns) ||
        !joist_fft_passes_make(rows, wide, &job->passes[0], &job->memory[0]) ||
        !joist_fft_passes_make(job->m / rows, wide, &job->passes[1], &job->memory[1]))
      return false;
  } else if (!joist_fft_passes_make(job->m, wide, &job->passes[0], &job->memory[0])) {
    return false;
  }
  if (job->halved && !write_pairs(job)) return false;
  return !job->convolved || write_chirps(job);
}

void joist_fft_finish(struct joist_fft_job *job) {
  free(job->chirp);
  free(job->pairs);
  free(job->memory[0]);
  free(job->memory[1]);
  joist_turns_free(&job->turns);
}
