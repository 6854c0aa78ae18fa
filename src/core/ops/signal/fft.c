/* Fourier transforms along a dim: fft of complex or real numbers, rfft of real ones to the first
 * half of the result, irfft from such a half to real numbers.
 *
 * Short lines are transformed side by side, one in each lane of a vector; of
 * real lines of an even length, two elements are a complex number.
 * A long line is seen as a matrix: its columns are transformed, turned, and its rows (Bailey, "FFTs
 * in external or hierarchical memory", J. Supercomputing 4, 1990). A length with a large prime
 * factor becomes a convolution of a length without (Bluestein, IEEE Trans. Audio 18, 1970). Which
 * way is taken depends on the shape alone. Along several dims, real numbers are transformed to the
 * first half of the first one, and the rest is copied from that. */
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/kernels.h"
#include "core/ops/signal/fft.h"
#include "core/ops/signal/fft_line.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum {
  SHORT = 4096, /* elements of a line of which several are transformed side by side */
  LONE = 1024,  /* or of one that is not, where there are few lines */
  WORK = 8,     /* additions' worth of an element */
  ALIGNMENT = 64
};

/* ---- shapes ---- */

static size_t length_of(const struct joist_attributes *attributes) {
  return (size_t)joist_attribute_value(attributes, JOIST_ATTRIBUTE_K);
}

static joist_status shape_with(const struct joist_shape *shape,
                               const struct joist_attributes *attributes, size_t extent,
                               struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  *result = *shape;
  joist_status status = joist_shape_needs_dim(shape, dim, error);
  for (int d = shape->rank; d < JOIST_RANK_MAX && status == JOIST_OK; d++)
    if (joist_attribute_mask(attributes) >> d & 1) status = joist_shape_needs_dim(shape, d, error);
  if (status == JOIST_OK) result->extent[dim] = (uint32_t)extent;
  return status;
}

joist_status joist_fft_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  return shape_with(shapes[0], attributes, length_of(attributes), result, error);
}

joist_status joist_rfft_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  return shape_with(shapes[0], attributes, length_of(attributes) / 2 + 1, result, error);
}

joist_status joist_irfft_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  return joist_fft_shape(shapes, attributes, result, error);
}

/* ---- lines side by side ---- */

/* Lines of an array. Of the results of real numbers only the first `half` of each `whole` are. */
struct place {
  struct joist_lines lines;
  size_t half, whole;
};

struct batch {
  const struct joist_fft_job *job;
  struct place in, out;
  const char *from;
  char *to;
  size_t lines;
  char *scratch;
  size_t room; /* bytes of a worker */
};

/* The first element of a line. */
static size_t start_of(const struct place *place, size_t line) {
  const struct joist_lines *const lines = &place->lines;
  if (place->whole > 0) line = line / place->half * place->whole + line % place->half;
  return line / lines->inner * lines->middle * lines->inner + line % lines->inner;
}

/* Lines `first` and on, one in each lane; the last of all is repeated. */
static struct joist_fft_lines lanes_of(const struct batch *b, const struct place *place,
                                       const char *memory, bool pairs, size_t first) {
  const size_t size = b->job->size, parts = pairs ? 2 : 1;
  struct joist_fft_lines lanes = {.stride = place->lines.inner * parts};
  for (size_t l = 0; l < b->job->kernel->width; l++) {
    const size_t at = start_of(place, joist_smaller(first + l, b->lines - 1));
    lanes.re[l] = (char *)memory + at * parts * size;
    lanes.im[l] = pairs ? lanes.re[l] + size : NULL;
  }
  return lanes;
}

static void swap_parts(struct joist_fft_lines *lines) {
  const struct joist_fft_lines copy = *lines;
  memcpy(lines->re, copy.im, sizeof lines->re);
  memcpy(lines->im, copy.re, sizeof lines->im);
}

static size_t lanes_left(const struct batch *b, size_t first) {
  return first >= b->lines ? 0 : joist_smaller(b->job->kernel->width, b->lines - first);
}

static void run_complex(const struct batch *b, size_t first, char *lanes, char *spare) {
  const struct joist_fft_job *const job = b->job;
  struct joist_fft_lines from = lanes_of(b, &b->in, b->from, true, first);
  struct joist_fft_lines to = lanes_of(b, &b->out, b->to, true, first);
  if (job->reverse) {
    swap_parts(&from);
    swap_parts(&to);
  }
  job->kernel->load(job->read, &from, lanes);
  const void *const z = joist_fft_lanes(job, job->read, lanes, spare);
  job->kernel->store(job->n, z, job->scale, false, lanes_left(b, first), &to);
}

/* The odd elements of real lines as imaginary parts. */
static void pair_up(const struct joist_fft_job *job, struct joist_fft_lines *lines) {
  for (size_t l = 0; l < job->kernel->width; l++)
    lines->im[l] = lines->re[l] + lines->stride * job->size;
  lines->stride *= 2;
}

static void run_real(const struct batch *b, size_t first, char *lanes, char *spare) {
  const struct joist_fft_job *const job = b->job;
  struct joist_fft_lines from = lanes_of(b, &b->in, b->from, false, first);
  const struct joist_fft_lines to = lanes_of(b, &b->out, b->to, true, first);
  const size_t given = job->halved ? job->read / 2 : job->read;
  if (job->halved) pair_up(job, &from);
  job->kernel->load(given, &from, lanes);
  void *z = joist_fft_lanes(job, given, lanes, spare);
  if (job->halved) {
    char *const other = z == lanes ? spare : lanes;
    job->kernel->split(job->length, job->pairs, z, other);
    z = other;
  }
  if (job->whole) job->kernel->mirror(job->n, job->reverse, z);
  job->kernel->store(job->whole ? job->n : job->n / 2 + 1, z, job->scale,
                     job->reverse && !job->whole, lanes_left(b, first), &to);
}

static void run_half(const struct batch *b, size_t first, char *lanes, char *spare) {
  const struct joist_fft_job *const job = b->job;
  const size_t element = joist_fft_element(job), half = job->n / 2 + 1;
  const struct joist_fft_lines from = lanes_of(b, &b->in, b->from, true, first);
  struct joist_fft_lines to = lanes_of(b, &b->out, b->to, false, first);
  job->kernel->load(job->read, &from, lanes);
  memset(lanes + job->read * element, 0, (half - job->read) * element);
  void *z;
  if (job->halved) {
    job->kernel->merge(job->length, job->pairs, !job->reverse, lanes, spare);
    z = joist_fft_lanes(job, job->length, spare, lanes);
    pair_up(job, &to);
    swap_parts(&to);
  } else {
    job->kernel->mirror(job->n, job->reverse, lanes);
    z = joist_fft_lanes(job, job->n, lanes, spare);
  }
  job->kernel->store(job->length, z, job->scale, false, lanes_left(b, first), &to);
}

static void run_task(const void *context, size_t task, size_t worker) {
  const struct batch *const b = context;
  char *const lanes = b->scratch + worker * b->room, *const spare = lanes + b->room / 2;
  const size_t first = task * b->job->kernel->width;
  if (b->job->form == JOIST_FFT_COMPLEX)
    run_complex(b, first, lanes, spare);
  else if (b->job->form == JOIST_FFT_REAL)
    run_real(b, first, lanes, spare);
  else
    run_half(b, first, lanes, spare);
}

static joist_status run_batch(struct batch *b, const struct joist_run *run,
                              struct joist_error *error) {
  const struct joist_fft_job *const job = b->job;
  const size_t width = job->kernel->width;
  const size_t longest = job->whole && job->m <= job->n ? job->n : job->m + 1;
  b->room = 2 * joist_round_up(longest * joist_fft_element(job), ALIGNMENT);
  const size_t tasks = joist_divide_up(b->lines, width), work = job->m * width * WORK;
  const int threads = joist_threads_for(run, tasks * work, tasks);
  void *const memory = joist_scratch_allocate(b->room * (size_t)threads + ALIGNMENT);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  b->scratch = (char *)memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
  const joist_status status = joist_tasks_run_on(run, threads, tasks, work, run_task, b, error);
  joist_scratch_free(memory);
  return status;
}

/* ---- any lines ---- */

/* Whether one line after the other is transformed. */
static bool one_by_one(const struct joist_fft_job *job, size_t lines) {
  const size_t n = joist_fft_is_smooth(job->n) ? job->n : joist_fft_smooth_from(2 * job->n - 1);
  return n > SHORT || (n >= LONE && 2 * lines <= job->kernel->width);
}

static joist_status run_lines(const struct batch *b, const struct joist_run *run,
                              struct joist_error *error) {
  const struct joist_fft_job *const job = b->job;
  const size_t in = (job->form == JOIST_FFT_REAL ? 1 : 2) * job->size;
  const size_t out = (job->form == JOIST_FFT_HALF ? 1 : 2) * job->size;
  joist_status status = JOIST_OK;
  for (size_t line = 0; line < b->lines && status == JOIST_OK; line++) {
    const char *const from = b->from + start_of(&b->in, line) * in;
    char *const to = b->to + start_of(&b->out, line) * out;
    status = joist_fft_line(job, from, b->in.lines.inner, to, b->out.lines.inner, run, error);
  }
  return status;
}

/* ---- tables of the latest transforms ---- */

enum { KEPT = 8, KEPT_BYTES = 8 << 20 /* of each */ };
static struct joist_fft_job kept[KEPT]; /* the latest first, without gaps */

/* Takes the tables that were kept of a transform like this one. */
static bool take_tables(struct joist_fft_job *job, bool single) {
  const bool halved = joist_fft_halves(job, single);
  for (size_t k = 0; k < KEPT; k++) {
    struct joist_fft_job found = kept[k];
    if (found.kernel != job->kernel || found.n != job->n || found.split != single ||
        found.halved != halved)
      continue;
    found.form = job->form;
    found.whole = job->whole;
    found.read = job->read;
    found.scale = job->scale;
    found.reverse = job->reverse;
    *job = found;
    memmove(kept + k, kept + k + 1, (KEPT - 1 - k) * sizeof *kept);
    kept[KEPT - 1] = (struct joist_fft_job){.n = 0};
    return true;
  }
  return false;
}

static void keep_tables(struct joist_fft_job *job) {
  if (job->bytes > KEPT_BYTES) {
    joist_fft_finish(job);
    return;
  }
  joist_fft_finish(&kept[KEPT - 1]);
  memmove(kept + 1, kept, (KEPT - 1) * sizeof *kept);
  kept[0] = *job;
}

void joist_fft_forget(void) {
  for (size_t k = 0; k < KEPT; k++) joist_fft_finish(&kept[k]);
  memset(kept, 0, sizeof kept);
}

/* Transforms the lines along a dim, of which the results have another extent. */
static joist_status run_dim(struct joist_fft_job job, struct batch *b, const struct joist_run *run,
                            struct joist_error *error) {
  b->job = &job;
  b->lines = b->in.lines.inner * b->in.lines.outer;
  if (b->lines == 0 || b->out.lines.middle == 0) return JOIST_OK;
  job.read = joist_smaller(b->in.lines.middle, job.form == JOIST_FFT_HALF ? job.n / 2 + 1 : job.n);
  const bool single = one_by_one(&job, b->lines);
  if (!take_tables(&job, single) && !joist_fft_prepare(&job, single, run)) {
    joist_fft_finish(&job);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  const joist_status status = single ? run_lines(b, run, error) : run_batch(b, run, error);
  keep_tables(&job);
  return status;
}

/* ---- several dims ---- */

struct mirrored {
  const struct joist_shape *shape;
  int dim;       /* of which the first half is there */
  uint32_t dims; /* the other ones */
  size_t size;   /* bytes of a real number */
  char *at;
};

/* Fills the second half of a line with the conjugates of the first half of its mirror image. */
static void run_mirror(const void *context, size_t task, size_t worker) {
  const struct mirrored *const m = context;
  const size_t n = m->shape->extent[m->dim];
  size_t rest = task, stride = 1, step = 1, to = 0, from = 0;
  (void)worker;
  for (int d = 0; d < m->shape->rank; d++) {
    const size_t extent = m->shape->extent[d];
    if (d == m->dim) {
      step = stride;
    } else {
      const size_t at = rest % extent;
      to += at * stride;
      from += (m->dims >> d & 1 && at > 0 ? extent - at : at) * stride;
      rest /= extent;
    }
    stride *= extent;
  }
  if (m->size == sizeof(double)) {
    double *const z = (double *)(void *)m->at;
    for (size_t k = n / 2 + 1; k < n; k++) {
      const size_t target = 2 * (to + k * step), source = 2 * (from + (n - k) * step);
      z[target] = z[source];
      z[target + 1] = -z[source + 1];
    }
    return;
  }
  const float signs[] = {0.0F, -0.0F};
  uint64_t sign, z;
  memcpy(&sign, signs, sizeof sign);
  for (size_t k = n / 2 + 1; k < n; k++) {
    memcpy(&z, m->at + (from + (n - k) * step) * sizeof z, sizeof z);
    z ^= sign;
    memcpy(m->at + (to + k * step) * sizeof z, &z, sizeof z);
  }
}

/* The other dims, between arrays of these shapes; the last of them goes to `to`. */
static joist_status run_others(struct joist_fft_job job, struct mirrored *m, char *from,
                               const struct joist_shape *shape, char *to,
                               const struct joist_run *run, struct joist_error *error) {
  joist_status status = JOIST_OK;
  uint32_t left = m->dims;
  job.scale = 1;
  for (int d = 0; left != 0 && status == JOIST_OK; d++) {
    if ((left >> d & 1) == 0) continue;
    left &= ~(UINT32_C(1) << d);
    const bool last = left == 0;
    struct batch b = {.in = {.lines = joist_shape_lines(shape, d)}, .from = from};
    b.out.lines = joist_shape_lines(last ? m->shape : shape, d);
    b.to = last ? to : from;
    if (last && shape->extent[m->dim] != m->shape->extent[m->dim]) {
      size_t before = 1;
      for (int k = 0; k < m->dim; k++)
        if (k != d) before *= shape->extent[k];
      b.out.half = before * shape->extent[m->dim];
      b.out.whole = before * m->shape->extent[m->dim];
    }
    job.n = shape->extent[d];
    status = run_dim(job, &b, run, error);
  }
  return status;
}

static size_t elements_of(const struct joist_shape *shape) {
  return joist_shape_lines(shape, -1).middle;
}

static joist_status run_dims(struct joist_fft_job job, struct batch *b, struct mirrored *m,
                             const struct joist_run *run, struct joist_error *error) {
  const bool real = job.whole;
  struct joist_shape half = *m->shape;
  if (real) half.extent[m->dim] = (uint32_t)(job.n / 2 + 1);
  char *const to = b->to;
  const size_t elements = elements_of(&half);
  char *const memory = real ? joist_scratch_allocate(2 * elements * job.size) : to;
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  job.whole = false;
  b->out.lines = joist_shape_lines(&half, m->dim);
  b->to = memory;
  joist_status status = run_dim(job, b, run, error);
  job.form = JOIST_FFT_COMPLEX;
  if (status == JOIST_OK) status = run_others(job, m, memory, &half, to, run, error);
  if (!real) return status;
  joist_scratch_free(memory);
  if (status != JOIST_OK) return status;
  const size_t n = m->shape->extent[m->dim], lines = elements_of(m->shape) / n;
  return joist_tasks_run(run, lines, n, run_mirror, m, error);
}

static joist_status run(const struct joist_call *call, enum joist_fft_form form,
                        struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const int dim = joist_attribute_dim(attributes);
  const joist_dtype dtype = call->instruction->signature.operand[0];
  const bool real = joist_dtype_real(dtype) == dtype;
  const bool wide = joist_dtype_real(dtype) == JOIST_F64;
  const struct joist_shape *const shape = &call->result->shape;
  struct joist_fft_job job = {.kernel = joist_fft_find(wide),
                              .size = wide ? sizeof(double) : sizeof(float),
                              .form = form == JOIST_FFT_COMPLEX && real ? JOIST_FFT_REAL : form,
                              .whole = form == JOIST_FFT_COMPLEX && real,
                              .n = length_of(attributes),
                              .reverse = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_REVERSE),
                              .scale = joist_attribute_number(attributes, JOIST_ATTRIBUTE_SCALE)};
  struct batch b = {.in = {.lines = joist_shape_lines(&call->operand[0]->shape, dim)},
                    .out = {.lines = joist_shape_lines(shape, dim)},
                    .from = call->in[0],
                    .to = call->out[0]};
  struct mirrored m = {.shape = shape, .dim = dim, .size = job.size, .at = call->out[0]};
  m.dims = joist_attribute_mask(attributes) & ~(UINT32_C(1) << dim);
  if (m.dims == 0 || elements_of(shape) == 0) return run_dim(job, &b, call->run, error);
  return run_dims(job, &b, &m, call->run, error);
}

joist_status joist_fft_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, JOIST_FFT_COMPLEX, error);
}

joist_status joist_rfft_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, JOIST_FFT_REAL, error);
}

joist_status joist_irfft_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, JOIST_FFT_HALF, error);
}
