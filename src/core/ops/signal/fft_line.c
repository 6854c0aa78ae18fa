#include "core/ops/signal/fft_line.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/kernels.h"
#include "core/types/error.h"

enum { WORK = 8, ALIGNMENT = 64 };

static char *aligned(char *memory) { return memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT; }

/* ---- lanes ---- */

void *joist_fft_lanes(const struct joist_fft_job *job, size_t given, void *lanes, void *spare) {
  const struct joist_fft_kernel *const kernel = job->kernel;
  const size_t element = joist_fft_element(job);
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

/* A convolution goes back from the rows to the columns, without a change of their order. */
struct split {
  const struct joist_fft_job *job;
  const char *re, *im; /* of what is read, `stride` real numbers apart; NULL: real numbers */
  char *to_re, *to_im;
  size_t stride, to_stride;
  double scale;
  bool conjugate; /* the result */
  char *between;  /* m complex numbers: row after row of the transposed matrix */
  char *tail;     /* the last row that a convolution reads, filled up with zeros */
  char *response; /* where the transformed rows are to go in lanes, or NULL */
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

/* The scratch memory of a worker. */
struct bench {
  char *lanes, *spare;
  double *twists;
};

static size_t longest_of(const struct joist_fft_job *job) {
  const size_t rows = job->passes[0].n, columns = job->passes[1].n;
  return rows < columns ? columns : rows;
}

static struct bench bench_of(const struct split *s, size_t worker) {
  const size_t bytes = longest_of(s->job) * joist_fft_element(s->job);
  struct bench bench = {.lanes = s->scratch + worker * s->room};
  bench.spare = bench.lanes + bytes;
  bench.twists = (double *)(void *)(bench.spare + bytes);
  return bench;
}

/* Multiplies element e of lane l by exp(-2 pi i e (first + l) / m). */
static void twist(const struct joist_fft_job *job, size_t n, size_t first, size_t lines,
                  double *twists, void *z) {
  const size_t steps = steps_of(n);
  double *const fine = twists + 2 * job->kernel->width * (n / steps + 1);
  write_twists(job, first, n, lines, steps, twists, fine);
  job->kernel->twist(n, steps, twists, fine, z);
}

/* Lines from `first` on, `by` real numbers apart; the last of `count` is repeated. */
static struct joist_fft_lines lines_of(const struct joist_fft_job *job, const char *re,
                                       const char *im, size_t by, size_t stride, size_t first,
                                       size_t count) {
  struct joist_fft_lines lines = {.stride = stride};
  for (size_t l = 0; l < job->kernel->width; l++) {
    const size_t at = joist_smaller(first + l, count - 1) * by * job->size;
    lines.re[l] = (char *)re + at;
    lines.im[l] = im == NULL ? NULL : (char *)im + at;
  }
  return lines;
}

/* Columns of the transposed matrix that is between the steps. */
static struct joist_fft_lines columns_between(const struct split *s, size_t first) {
  const size_t rows = s->job->passes[0].n, columns = s->job->passes[1].n;
  return lines_of(s->job, s->between, s->between + s->job->size, 2 * rows, 2, first, columns);
}

/* The columns of the line times its chirp. */
static void load_chirped(const struct split *s, size_t first, char *lanes) {
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n, whole = job->length / columns;
  const size_t element = joist_fft_element(job), given = joist_divide_up(job->length, columns);
  const struct joist_fft_lines from =
      lines_of(job, s->re, s->im, s->stride, columns * s->stride, first, columns);
  job->kernel->load(whole, &from, lanes);
  if (whole < given) {
    const struct joist_fft_lines tail =
        lines_of(job, s->tail, s->tail + job->size, 2, 2, first, columns);
    job->kernel->load(1, &tail, lanes + whole * element);
  }
  job->kernel->multiply(given, (char *)job->chirp + first / job->kernel->width * given * element,
                        false, lanes);
  memset(lanes + given * element, 0, (rows - given) * element);
}

static void transform_columns(const void *context, size_t task, size_t worker) {
  const struct split *const s = context;
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n;
  const size_t width = job->kernel->width, first = task * width;
  const struct bench bench = bench_of(s, worker);
  if (job->convolved && s->response == NULL) {
    load_chirped(s, first, bench.lanes);
  } else {
    const struct joist_fft_lines from =
        lines_of(job, s->re, s->im, s->stride, columns * s->stride, first, columns);
    job->kernel->load(rows, &from, bench.lanes);
  }
  void *const z = job->kernel->transform(&job->passes[0], bench.lanes, bench.spare);
  twist(job, rows, first, columns, bench.twists, z);
  const struct joist_fft_lines to = columns_between(s, first);
  job->kernel->store(rows, z, 1, false, joist_smaller(width, columns - first), &to);
}

static void transform_rows(const void *context, size_t task, size_t worker) {
  const struct split *const s = context;
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n;
  const size_t width = job->kernel->width, first = task * width;
  const size_t count = joist_smaller(width, rows - first), bytes = columns * joist_fft_element(job);
  const struct bench bench = bench_of(s, worker);
  struct joist_fft_lines lines =
      lines_of(job, s->between, s->between + job->size, 2, 2 * rows, first, rows);
  job->kernel->load(columns, &lines, bench.lanes);
  char *z = job->kernel->transform(&job->passes[1], bench.lanes, bench.spare);
  if (s->response != NULL) {
    memcpy(s->response + task * bytes, z, bytes);
    return;
  }
  if (job->convolved) {
    job->kernel->multiply(columns, (char *)job->response + task * bytes, true, z);
    char *const other = z == bench.lanes ? bench.spare : bench.lanes;
    z = job->kernel->transform(&job->passes[1], z, other);
    twist(job, columns, first, rows, bench.twists, z);
  } else {
    lines = lines_of(job, s->to_re, s->to_im, s->to_stride, rows * s->to_stride, first, rows);
  }
  job->kernel->store(columns, z, job->convolved ? 1 : s->scale, !job->convolved && s->conjugate,
                     count, &lines);
}

/* The last step of a convolution. */
static void return_columns(const void *context, size_t task, size_t worker) {
  const struct split *const s = context;
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n, whole = job->length / columns;
  const size_t element = joist_fft_element(job), given = joist_divide_up(job->length, columns);
  const size_t width = job->kernel->width, first = task * width, rest = job->length % columns;
  const struct bench bench = bench_of(s, worker);
  const struct joist_fft_lines from = columns_between(s, first);
  job->kernel->load(rows, &from, bench.lanes);
  char *const z = job->kernel->transform(&job->passes[0], bench.lanes, bench.spare);
  job->kernel->multiply(given, (char *)job->last + task * given * element, true, z);
  struct joist_fft_lines to =
      lines_of(job, s->to_re, s->to_im, s->to_stride, columns * s->to_stride, first, columns);
  job->kernel->store(whole, z, s->scale, s->conjugate, joist_smaller(width, columns - first), &to);
  if (rest <= first) return;
  for (size_t l = 0; l < width; l++) {
    to.re[l] += whole * to.stride * job->size;
    to.im[l] += whole * to.stride * job->size;
  }
  job->kernel->store(1, z + whole * element, s->scale, s->conjugate,
                     joist_smaller(width, rest - first), &to);
}

/* A complex line of m elements, or of a convolution. */
static joist_status run_split(struct split *s, const struct joist_run *run,
                              struct joist_error *error) {
  const struct joist_fft_job *const job = s->job;
  const size_t rows = job->passes[0].n, columns = job->passes[1].n, width = job->kernel->width;
  const size_t tasks[2] = {joist_divide_up(columns, width), joist_divide_up(rows, width)};
  const size_t longest = longest_of(job), steps = steps_of(longest);
  const size_t work[2] = {rows * width * WORK, columns * width * WORK};
  const int threads = joist_threads_for(run, job->m * WORK, tasks[0]);
  const bool returns = job->convolved && s->response == NULL;
  s->room = joist_round_up(
      2 * longest * joist_fft_element(job) + 4 * width * (steps + 1) * sizeof(double), ALIGNMENT);
  char *const memory = joist_scratch_allocate(s->room * (size_t)threads + ALIGNMENT);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  s->scratch = aligned(memory);
  joist_status status =
      joist_tasks_run_on(run, threads, tasks[0], work[0], transform_columns, s, error);
  if (status == JOIST_OK)
    status = joist_tasks_run_on(run, threads, tasks[1], work[1], transform_rows, s, error);
  if (status == JOIST_OK && returns)
    status = joist_tasks_run_on(run, threads, tasks[0], work[0], return_columns, s, error);
  joist_scratch_free(memory);
  return status;
}

/* ---- any line ---- */

static double number(const struct joist_fft_job *job, const char *from, size_t k) {
  return job->size == sizeof(double) ? ((const double *)(const void *)from)[k]
                                     : (double)((const float *)(const void *)from)[k];
}

/* The line as complex numbers; those of a reversed transform have their parts swapped. */
static void read_line(const struct joist_fft_job *job, const char *from, size_t stride, char *to) {
  const bool wide = job->size == sizeof(double);
  memset(to, 0, 2 * job->length * job->size);
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
  const size_t count = job->form == JOIST_FFT_REAL && !job->whole ? job->n / 2 + 1 : job->n;
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

/* The last row of a line, which lacks some columns. */
static void fill_tail(const struct split *s) {
  const struct joist_fft_job *const job = s->job;
  const size_t columns = job->passes[1].n, size = job->size, rest = job->length % columns;
  memset(s->tail, 0, 2 * columns * size);
  for (size_t k = 0; k < rest; k++) {
    const size_t at = (job->length - rest + k) * s->stride * size;
    memcpy(s->tail + 2 * k * size, s->re + at, size);
    if (s->im != NULL) memcpy(s->tail + (2 * k + 1) * size, s->im + at, size);
  }
}

joist_status joist_fft_line(const struct joist_fft_job *job, const char *from, size_t stride,
                            char *to, size_t to_stride, const struct joist_run *run,
                            struct joist_error *error) {
  const bool direct = (job->form == JOIST_FFT_COMPLEX || job->whole) && job->read == job->n;
  const size_t bytes = joist_round_up(2 * job->m * job->size, ALIGNMENT);
  const size_t tail = job->convolved ? 2 * job->passes[1].n * job->size : 0;
  const size_t copy = direct ? 0 : 2 * job->length * job->size;
  char *const memory = joist_scratch_allocate(tail + bytes + copy);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  struct split s = {.job = job, .scale = 1, .between = memory + tail, .tail = memory};
  char *const line = s.between + bytes;
  if (direct) {
    const size_t first = job->reverse && !job->whole ? job->size : 0, second = job->size - first;
    s.re = from + first;
    s.im = job->whole ? NULL : from + second;
    s.to_re = to + first;
    s.to_im = to + second;
    s.stride = job->whole ? stride : 2 * stride;
    s.to_stride = 2 * to_stride;
    s.scale = job->scale;
    s.conjugate = job->whole && job->reverse;
  } else {
    read_line(job, from, stride, line);
    read_and_write(&s, line, line);
  }
  if (job->convolved) fill_tail(&s);
  const joist_status status = run_split(&s, run, error);
  if (status == JOIST_OK && !direct) write_line(job, line, to_stride, to);
  joist_scratch_free(memory);
  return status;
}

/* ---- tables ---- */

/* The transform of the chirp that a line is convolved with. */
static bool write_response(struct joist_fft_job *job, char *sequence, const struct joist_run *run) {
  const size_t bytes = job->m * joist_fft_element(job);
  const bool split = job->split;
  char *const memory =
      joist_scratch_allocate((split ? 2 * job->m * job->size : 2 * bytes) + ALIGNMENT);
  if (memory == NULL) return false;
  char *const lanes = aligned(memory);
  bool done = true;
  if (split) {
    struct split s = {.job = job, .between = memory, .response = job->response};
    const struct joist_run quiet = {.threads = run->threads, .parallel_from = run->parallel_from};
    read_and_write(&s, sequence, sequence);
    done = run_split(&s, &quiet, NULL) == JOIST_OK;
  } else {
    struct joist_fft_lines lines = lines_of(job, sequence, sequence + job->size, 0, 2, 0, 1);
    job->kernel->load(job->m, &lines, lanes);
    const void *const z = job->kernel->transform(&job->passes[0], lanes, lanes + bytes);
    lines = lines_of(job, job->response, (char *)job->response + job->size, 0, 2, 0, 1);
    job->kernel->store(job->m, z, 1, false, 1, &lines);
  }
  joist_scratch_free(memory);
  return done;
}

/* Number k of a table: of lanes if the line is split. */
static void put_chirp(const struct joist_fft_job *job, void *table, size_t k, double re,
                      double im) {
  const bool wide = job->size == sizeof(double);
  if (!job->split) {
    joist_fft_put(table, wide, k, re, im);
    return;
  }
  const size_t columns = job->passes[1].n, width = job->kernel->width, column = k % columns;
  const size_t given = joist_divide_up(job->length, columns);
  const size_t at = 2 * width * (column / width * given + k / columns) + column % width;
  if (wide) {
    ((double *)table)[at] = re;
    ((double *)table)[at + width] = im;
  } else {
    ((float *)table)[at] = (float)re;
    ((float *)table)[at + width] = (float)im;
  }
}

static bool write_chirps(struct joist_fft_job *job, const struct joist_run *run) {
  const bool wide = job->size == sizeof(double);
  const size_t bytes = 2 * job->size, n = job->length, width = job->kernel->width;
  size_t room = n, responses = job->m;
  if (job->split) {
    const size_t rows = job->passes[0].n, columns = job->passes[1].n;
    room = joist_round_up(columns, width) * joist_divide_up(n, columns);
    responses = joist_round_up(rows, width) * columns;
  }
  struct joist_turns turns = {.n = 0};
  job->bytes = (2 * room + responses) * bytes + ALIGNMENT;
  job->tables = calloc(job->bytes, 1);
  if (job->tables == NULL || !joist_turns_make(2 * n, &turns)) return false;
  job->chirp = aligned(job->tables);
  job->last = (char *)job->chirp + room * bytes;
  job->response = (char *)job->last + room * bytes;
  char *const sequence = job->response; /* all of it is read before the first number is written */
  size_t square = 0;                    /* k^2 modulo 2 n */
  for (size_t k = 0; k < n; k++) {
    double w[2];
    joist_turns_read(&turns, square, w);
    square += 2 * k + 1;
    if (square >= 2 * n) square -= 2 * n;
    put_chirp(job, job->chirp, k, w[0], w[1]);
    put_chirp(job, job->last, k, w[0] / (double)job->m, -w[1] / (double)job->m);
    joist_fft_put(sequence, wide, k, w[0], -w[1]);
    if (k > 0) joist_fft_put(sequence, wide, job->m - k, w[0], -w[1]);
  }
  joist_turns_free(&turns);
  return write_response(job, sequence, run);
}

static bool write_pairs(struct joist_fft_job *job) {
  struct joist_turns turns;
  job->pairs = malloc((job->length + 1) * 2 * sizeof(double));
  if (job->pairs == NULL || !joist_turns_make(job->n, &turns)) return false;
  for (size_t k = 0; k <= job->length; k++) {
    joist_turns_read(&turns, k, job->pairs + 2 * k);
  }
  joist_turns_free(&turns);
  return true;
}

bool joist_fft_prepare(struct joist_fft_job *job, bool single, const struct joist_run *run) {
  const bool wide = job->size == sizeof(double);
  job->halved = joist_fft_halves(job, single);
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
  return !job->convolved || write_chirps(job, run);
}

void joist_fft_finish(struct joist_fft_job *job) {
  free(job->tables);
  free(job->pairs);
  free(job->memory[0]);
  free(job->memory[1]);
  joist_turns_free(&job->turns);
}
