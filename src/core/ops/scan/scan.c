/* Cumulative sums, products, minima and maxima along a dim.
 *
 * The operand is seen as (inner, middle, outer) and scanned along the middle. Lines of
 * contiguous elements (inner = 1) and narrow slabs are scanned block by block in the
 * accumulator's dtype; wide rows are combined with the row before, a row at a time. What is
 * combined in which order depends on the shape alone. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  BLOCK = 4096,  /* elements of a line or slab that are scanned at once */
  NARROW = 64,   /* largest inner extent of a slab */
  WIDTH = 1024,  /* elements of a row combined at once */
  WAVE = 1 << 8, /* blocks of one line between two polls */
  STEP = 1 << 24 /* elements between two polls */
};

struct pass {
  joist_scan *scan;
  joist_kernel *combine;
  joist_convert_kernel *widen, *narrow; /* NULL: the same dtype as the accumulator */
  size_t in_size, size, out_size;       /* bytes per element; of the accumulator: size */
  size_t inner, middle, outer;
  size_t width; /* of a piece of rows */
  const char *in;
  char *out;
};

joist_status joist_scan_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  size_t count = 0;
  *result = *shapes[0];
  const joist_status status = joist_shape_check_dim(shapes[0], dim, error);
  if (status != JOIST_OK) return status;
  if (dim >= 0) return JOIST_OK;
  if (!joist_shape_count(shapes[0], &count) || count > INT32_MAX)
    return JOIST_FAIL(error, JOIST_E_FLAT_LIMIT, .count = {count});
  *result = (struct joist_shape){1, {(uint32_t)count}};
  return JOIST_OK;
}

/* Where the accumulator of `n` elements from `first` on is: in the result itself, if it has
 * that dtype. The elements are there afterwards. */
static char *load(const struct pass *pass, size_t first, size_t n, char *scratch) {
  const char *const in = pass->in + first * pass->in_size;
  char *const at = pass->narrow == NULL ? pass->out + first * pass->size : scratch;
  if (pass->widen != NULL)
    pass->widen(n, in, at);
  else
    memcpy(at, in, n * pass->size);
  return at;
}

static void store(const struct pass *pass, size_t first, size_t n, const char *at) {
  if (pass->narrow != NULL) pass->narrow(n, at, pass->out + first * pass->out_size);
}

/* `count` slabs of middle x inner contiguous elements, no more than a block of them. */
static void scan_slabs(const struct pass *pass, size_t outer, size_t count, char *scratch) {
  const size_t slab = pass->middle * pass->inner, first = outer * slab;
  char *const at = load(pass, first, count * slab, scratch);
  for (size_t k = 0; k < count; k++)
    pass->scan(slab, pass->inner, NULL, at + k * slab * pass->size);
  store(pass, first, count * slab, at);
}

/* One slab longer than a block. */
static void scan_long_slab(const struct pass *pass, size_t outer, char *scratch) {
  const size_t slab = pass->middle * pass->inner, row = pass->inner * pass->size;
  const size_t block = BLOCK / pass->inner * pass->inner;
  char *const carry = scratch + BLOCK * pass->size;
  for (size_t at = 0; at < slab; at += block) {
    const size_t n = slab - at < block ? slab - at : block;
    char *const x = load(pass, outer * slab + at, n, scratch);
    pass->scan(n, pass->inner, at == 0 ? NULL : carry, x);
    memcpy(carry, x + n * pass->size - row, row);
    store(pass, outer * slab + at, n, x);
  }
}

/* A piece of every row of one outer index. */
static void scan_rows(const struct pass *pass, size_t outer, size_t piece, char *scratch) {
  const size_t from = piece * pass->width;
  const size_t n = pass->inner - from < pass->width ? pass->inner - from : pass->width;
  char *const wide = scratch + WIDTH * pass->size;
  for (size_t m = 0; m < pass->middle; m++) {
    const size_t first = (outer * pass->middle + m) * pass->inner + from;
    const char *row = pass->in + first * pass->in_size;
    if (pass->widen != NULL) {
      pass->widen(n, row, wide);
      row = wide;
    }
    char *const out = pass->out + first * pass->out_size;
    char *const now = pass->narrow == NULL ? out : scratch;
    const void *operands[2] = {pass->narrow == NULL ? out - pass->inner * pass->size : scratch,
                               row};
    if (m == 0)
      memcpy(now, row, n * pass->size);
    else
      pass->combine(n, operands, now);
    if (pass->narrow != NULL) pass->narrow(n, scratch, out);
  }
}

static size_t slabs_per_task(const struct pass *pass) {
  const size_t slab = pass->middle * pass->inner;
  return slab >= BLOCK ? 1 : BLOCK / slab;
}

static void run_task(const struct pass *pass, size_t k, char *scratch) {
  if (pass->inner > NARROW) {
    const size_t pieces = (pass->inner + pass->width - 1) / pass->width;
    scan_rows(pass, k / pieces, k % pieces, scratch);
  } else if (pass->middle * pass->inner > BLOCK) {
    scan_long_slab(pass, k, scratch);
  } else {
    const size_t each = slabs_per_task(pass), first = k * each;
    scan_slabs(pass, first, pass->outer - first < each ? pass->outer - first : each, scratch);
  }
}

static void run_tasks(const struct pass *pass, size_t begin, size_t length, char *scratch,
                      size_t stride, int threads) {
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      char *const own = scratch + (size_t)omp_get_thread_num() * stride;
#pragma omp for schedule(dynamic) nowait
      for (size_t k = begin; k < begin + length; k++) run_task(pass, k, own);
    }
    return;
  }
#endif
  (void)stride;
  (void)threads;
  for (size_t k = begin; k < begin + length; k++) run_task(pass, k, scratch);
}

/* ---- one long line by several threads: the totals of its blocks first ---- */

static void total_of_block(const struct pass *pass, size_t first, size_t n, char *scratch,
                           char *total) {
  const char *const in = pass->in + first * pass->in_size;
  if (pass->widen != NULL)
    pass->widen(n, in, scratch);
  else
    memcpy(scratch, in, n * pass->size);
  pass->scan(n, 1, NULL, scratch);
  memcpy(total, scratch + (n - 1) * pass->size, pass->size);
}

/* Blocks begin .. begin + length - 1. `carry` has room for one element more than blocks: the
 * first is what comes before them, the last what comes after. */
static void run_wave(const struct pass *pass, size_t begin, size_t length, bool start,
                     char *scratch, size_t stride, int threads, char *carry) {
  const size_t total = pass->middle, size = pass->size;
  (void)stride;
  (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
  {
    char *own = scratch;
#ifdef _OPENMP
    own += (size_t)omp_get_thread_num() * stride;
#pragma omp for
#endif
    for (size_t k = 0; k < length; k++) {
      const size_t first = (begin + k) * BLOCK;
      total_of_block(pass, first, total - first < BLOCK ? total - first : BLOCK, own,
                     carry + (k + 1) * size);
    }
#ifdef _OPENMP
#pragma omp single
#endif
    for (size_t k = start ? 1 : 0; k < length; k++)
      pass->scan(1, 1, carry + k * size, carry + (k + 1) * size);
#ifdef _OPENMP
#pragma omp for
#endif
    for (size_t k = 0; k < length; k++) {
      const size_t first = (begin + k) * BLOCK;
      const size_t n = total - first < BLOCK ? total - first : BLOCK;
      char *const x = load(pass, first, n, own);
      pass->scan(n, 1, start && k == 0 ? NULL : carry + k * size, x);
      store(pass, first, n, x);
    }
  }
}

static joist_status run_line(const struct pass *pass, int threads, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t blocks = (pass->middle + BLOCK - 1) / BLOCK, stride = BLOCK * pass->size;
  char *const scratch = malloc(stride * (size_t)threads + (WAVE + 1) * pass->size);
  if (scratch == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  char *const carry = scratch + stride * (size_t)threads;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < blocks && status == JOIST_OK; begin += WAVE) {
    const size_t length = blocks - begin < WAVE ? blocks - begin : WAVE;
    if (begin > 0) memcpy(carry, carry + WAVE * pass->size, pass->size);
    if (begin > 0) status = joist_run_poll(run, error);
    if (status == JOIST_OK)
      run_wave(pass, begin, length, begin == 0, scratch, stride, threads, carry);
  }
  free(scratch);
  return status;
}

static joist_status run_pass(struct pass *pass, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t count = pass->inner * pass->middle * pass->outer;
  const size_t even = (pass->inner + (size_t)run->threads - 1) / (size_t)run->threads;
  pass->width = even < WIDTH ? (even < NARROW ? NARROW : even) : WIDTH;
  const size_t pieces = (pass->inner + pass->width - 1) / pass->width, each = slabs_per_task(pass);
  const size_t tasks =
      pass->inner > NARROW ? pass->outer * pieces : (pass->outer + each - 1) / each;
  const int threads = joist_threads_for(run, count, tasks);
  const size_t room = BLOCK + NARROW > 2 * WIDTH ? BLOCK + NARROW : 2 * WIDTH;
  char *const scratch = malloc(room * pass->size * (size_t)threads);
  if (scratch == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  size_t step = STEP / (count / tasks + 1);
  if (step < (size_t)threads) step = (size_t)threads;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < tasks && status == JOIST_OK; begin += step) {
    const size_t length = tasks - begin < step ? tasks - begin : step;
    if (begin > 0) status = joist_run_poll(run, error);
    if (status == JOIST_OK) run_tasks(pass, begin, length, scratch, room * pass->size, threads);
  }
  free(scratch);
  return status;
}

joist_status joist_scan_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_instruction *const instruction = call->instruction;
  const struct joist_lines lines =
      joist_shape_lines(&call->operand[0]->shape, joist_attribute_dim(instruction->attributes));
  const joist_op combine = joist_op_combine(instruction->op);
  const joist_dtype accumulator = instruction->signature.operand[0];
  const joist_dtype to = instruction->signature.result[0].dtype;
  /* What is not accumulated was converted by the caller. */
  const joist_dtype from = joist_op_class(instruction->op) == JOIST_CLASS_ACCUMULATE
                               ? call->operand[0]->type.dtype
                               : accumulator;
  struct pass pass = {.scan = joist_scan_find(combine, accumulator),
                      .combine = joist_kernel_find(combine, accumulator),
                      .widen = from == accumulator ? NULL : joist_convert_find(from, accumulator),
                      .narrow = to == accumulator ? NULL : joist_convert_find(accumulator, to),
                      .in_size = joist_dtype_size(from),
                      .size = joist_dtype_size(accumulator),
                      .out_size = joist_dtype_size(to),
                      .inner = lines.inner,
                      .middle = lines.middle,
                      .outer = lines.outer,
                      .in = call->in[0],
                      .out = call->out[0]};
  const size_t count = joist_value_count(call->operand[0]);
  if (count == 0) return JOIST_OK;
  const bool sequential = combine == JOIST_OP_MUL;
  const size_t blocks = pass.middle / BLOCK;
  const int threads = joist_threads_for(call->run, count, blocks);
  if (pass.inner > 1 || sequential || threads <= 1 || pass.outer >= (size_t)threads)
    return run_pass(&pass, call->run, error);
  joist_status status = JOIST_OK;
  const size_t bytes_in = pass.middle * pass.in_size, bytes_out = pass.middle * pass.out_size;
  for (size_t o = 0; o < pass.outer && status == JOIST_OK; o++) {
    status = run_line(&pass, threads, call->run, error);
    pass.in += bytes_in;
    pass.out += bytes_out;
  }
  return status;
}
