/* Cumulative sums, products, minima and maxima along a dim.
 *
 * The operand is seen as (inner, middle, outer) and scanned along the middle. Lines of
 * contiguous elements (inner = 1) and narrow slabs are scanned block by block in the
 * accumulator's dtype; wide rows are combined with the row before, a row at a time. What is
 * combined in which order depends on the shape alone. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/program/call.h"
#include "core/program/watch.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum {
  BLOCK = 4096, /* elements of a line or slab that are scanned at once */
  NARROW = 64,  /* largest inner extent of a slab */
  WIDTH = 1024, /* elements of a row combined at once */
  WAVE = 1 << 8 /* blocks of one line between two polls */
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
  char *scratch;                /* for every worker, ROOM elements */
  joist_magnitudes *magnitudes; /* of integers that are watched; NULL for others */
  _Atomic uint64_t *bits;       /* what it gave, or'ed */
};
enum { ROOM = BLOCK + NARROW > 2 * WIDTH ? BLOCK + NARROW : 2 * WIDTH };

static char *scratch_of(const struct pass *pass, size_t worker) {
  return pass->scratch + worker * ROOM * pass->size;
}

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

static void note_magnitudes(const struct pass *pass, size_t n, const char *in) {
  if (pass->magnitudes == NULL) return;
  const uint64_t bits = pass->magnitudes(n, in);
  if (bits & ~atomic_load_explicit(pass->bits, memory_order_relaxed))
    atomic_fetch_or_explicit(pass->bits, bits, memory_order_relaxed);
}

/* Where the accumulator of `n` elements from `first` on is: in the result itself, if it has
 * that dtype. The elements are there afterwards. */
static char *load(const struct pass *pass, size_t first, size_t n, char *scratch) {
  const char *const in = pass->in + first * pass->in_size;
  char *const at = pass->narrow == NULL ? pass->out + first * pass->size : scratch;
  note_magnitudes(pass, n, in);
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
    const size_t n = joist_smaller(block, slab - at);
    char *const x = load(pass, outer * slab + at, n, scratch);
    pass->scan(n, pass->inner, at == 0 ? NULL : carry, x);
    memcpy(carry, x + n * pass->size - row, row);
    store(pass, outer * slab + at, n, x);
  }
}

/* A piece of every row of one outer index. */
static void scan_rows(const struct pass *pass, size_t outer, size_t piece, char *scratch) {
  const struct joist_part part = joist_strip_of(pass->inner, pass->width, piece);
  const size_t n = part.n;
  char *const wide = scratch + WIDTH * pass->size;
  for (size_t m = 0; m < pass->middle; m++) {
    const size_t first = (outer * pass->middle + m) * pass->inner + part.first;
    const char *row = pass->in + first * pass->in_size;
    note_magnitudes(pass, n, row);
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

static void run_task(const void *context, size_t task, size_t worker) {
  const struct pass *const pass = context;
  char *const scratch = scratch_of(pass, worker);
  if (pass->inner > NARROW) {
    const size_t pieces = joist_divide_up(pass->inner, pass->width);
    scan_rows(pass, task / pieces, task % pieces, scratch);
  } else if (pass->middle * pass->inner > BLOCK) {
    scan_long_slab(pass, task, scratch);
  } else {
    const struct joist_part slabs = joist_strip_of(pass->outer, slabs_per_task(pass), task);
    scan_slabs(pass, slabs.first, slabs.n, scratch);
  }
}

/* ---- one long line by several threads: the totals of its blocks first ---- */

/* Blocks of the line from `first` on. `carry` has room for an element per block and one more: the
 * first is the total before the blocks, the last the total up to their end. */
struct wave {
  const struct pass *pass;
  size_t first;
  char *carry;
};

static void total_of_block(const void *context, size_t block, size_t worker) {
  const struct wave *const wave = context;
  const struct pass *const pass = wave->pass;
  const struct joist_part part = joist_strip_of(pass->middle, BLOCK, wave->first + block);
  const char *const in = pass->in + part.first * pass->in_size;
  char *const scratch = scratch_of(pass, worker);
  if (pass->widen != NULL)
    pass->widen(part.n, in, scratch);
  else
    memcpy(scratch, in, part.n * pass->size);
  pass->scan(part.n, 1, NULL, scratch);
  memcpy(wave->carry + (block + 1) * pass->size, scratch + (part.n - 1) * pass->size, pass->size);
}

static void scan_block(const void *context, size_t block, size_t worker) {
  const struct wave *const wave = context;
  const struct pass *const pass = wave->pass;
  const struct joist_part part = joist_strip_of(pass->middle, BLOCK, wave->first + block);
  char *const x = load(pass, part.first, part.n, scratch_of(pass, worker));
  const bool start = wave->first + block == 0;
  pass->scan(part.n, 1, start ? NULL : wave->carry + block * pass->size, x);
  store(pass, part.first, part.n, x);
}

static joist_status run_line(const struct pass *pass, char *carry, int threads,
                             const struct joist_run *run, struct joist_error *error) {
  const size_t blocks = joist_divide_up(pass->middle, BLOCK), size = pass->size;
  struct wave wave = {.pass = pass, .carry = carry};
  for (; wave.first < blocks; wave.first += WAVE) {
    const size_t count = joist_smaller(WAVE, blocks - wave.first);
    if (wave.first > 0) {
      if (joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
      memcpy(carry, carry + WAVE * size, size);
    }
    joist_parallel(threads, count, total_of_block, &wave);
    for (size_t k = wave.first == 0; k < count; k++)
      pass->scan(1, 1, carry + k * size, carry + (k + 1) * size);
    joist_parallel(threads, count, scan_block, &wave);
  }
  return JOIST_OK;
}

/* Of contiguous flags, all from the first that is set. */
static void scan_flags(const struct pass *pass) {
  for (size_t k = 0; k < pass->outer; k++) {
    const char *const line = pass->in + k * pass->middle;
    const char *const set = memchr(line, 1, pass->middle);
    const size_t unset = set == NULL ? pass->middle : (size_t)(set - line);
    char *const out = pass->out + k * pass->middle;
    memset(out, 0, unset);
    memset(out + unset, 1, pass->middle - unset);
  }
}

static joist_status run_pass(struct pass *pass, bool sequential, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t count = pass->inner * pass->middle * pass->outer, outer = pass->outer;
  const size_t even = joist_divide_up(pass->inner, (size_t)run->threads);
  pass->width = even < WIDTH ? (even < NARROW ? NARROW : even) : WIDTH;
  const size_t tasks = pass->inner > NARROW ? outer * joist_divide_up(pass->inner, pass->width)
                                            : joist_divide_up(outer, slabs_per_task(pass));
  const int alone = joist_threads_for(run, count, tasks);
  const int together = joist_threads_for(run, count, pass->middle / BLOCK);
  const bool share = pass->inner == 1 && !sequential && outer < (size_t)together;
  const int threads = share ? together : alone;
  const size_t scratch_bytes = ROOM * pass->size * (size_t)threads;
  pass->scratch = malloc(scratch_bytes + (WAVE + 1) * pass->size);
  if (pass->scratch == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  joist_status status = JOIST_OK;
  if (!share)
    status = joist_tasks_run_on(run, threads, tasks, count / tasks, run_task, pass, error);
  for (size_t k = 0; share && k < outer && status == JOIST_OK; k++) {
    status = run_line(pass, pass->scratch + scratch_bytes, threads, run, error);
    pass->in += pass->middle * pass->in_size;
    pass->out += pass->middle * pass->out_size;
  }
  free(pass->scratch);
  return status;
}

joist_status joist_scan_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_instruction *const instruction = call->instruction;
  const struct joist_lines lines =
      joist_shape_lines(&call->operand[0]->shape, joist_attribute_dim(instruction->attributes));
  const joist_op combine = joist_op_combine(instruction->op);
  const joist_dtype accumulator = instruction->signature.operand[0];
  const joist_dtype to = instruction->signature.result[0].dtype;
  /* Operands of other classes were converted by the caller. */
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
  if (instruction->op == JOIST_OP_CUMMAX && from == JOIST_BOOL && lines.inner == 1) {
    scan_flags(&pass);
    return JOIST_OK;
  }
  _Atomic uint64_t bits = 0;
  pass.bits = &bits;
  const bool same_sign = joist_dtype_kind(from) == joist_dtype_kind(to);
  if (call->fits != NULL && combine == JOIST_OP_ADD && same_sign)
    pass.magnitudes = joist_magnitudes_find(from);
  const joist_status status = run_pass(&pass, combine == JOIST_OP_MUL, call->run, error);
  if (pass.magnitudes != NULL) *call->fits = !joist_sum_may_exceed(bits, lines.middle, to);
  return status;
}
