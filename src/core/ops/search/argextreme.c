/* Positions of the smallest and the largest element along a dim, the first one where there
 * are several; the first NaN where there is one.
 *
 * The operand is seen as (inner, middle, outer). Long lines of contiguous elements (inner = 1) are
 * folded strip by strip, and only the strip that has the extreme is searched; otherwise the
 * positions of a whole row are kept and every further row is compared with it, several short rows
 * as one. Rows of short lines are gathered from several of them. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

JOIST_VECTORIZE_FILE

enum {
  STRIP = 512,   /* elements of a line folded at once */
  WIDTH = 1024,  /* elements of a row compared at once */
  BATCH = 4096,  /* elements of several lines in one task */
  SHORT = 64,    /* elements of a short line, at most */
  WIDE = 256,    /* elements of several short rows that are compared as one */
  WIDE_ROWS = 8, /* of them, at least */
  SHARED = 16    /* strips of a long line in one task */
};

/* Where an element of `x` is further out than the best so far, it becomes the best, found at
 * `at`. */
typedef void update(size_t n, const void *x, int32_t at, void *best, int32_t *position);
/* Index of the first element that is the extreme, NaN if the extreme is; n if there is none. */
typedef size_t find(size_t n, const void *x, const void *extreme);

#define UPDATE(NAME, TYPE, BEYOND)                                                       \
  static void NAME(size_t n, const void *in, int32_t at, void *out, int32_t *position) { \
    const TYPE *const x = (const TYPE *)in;                                              \
    TYPE *const best = (TYPE *)out;                                                      \
    JOIST_VECTORIZE_LOOP                                                                 \
    for (size_t k = 0; k < n; k++) {                                                     \
      const TYPE a = x[k], b = best[k];                                                  \
      const bool further = (a BEYOND b) | ((a != a) & (b == b));                         \
      best[k] = further ? a : b;                                                         \
      position[k] = further ? at : position[k];                                          \
    }                                                                                    \
  }
#define FIND(NAME, TYPE)                                              \
  static size_t NAME(size_t n, const void *in, const void *extreme) { \
    const TYPE *const x = (const TYPE *)in;                           \
    const TYPE e = *(const TYPE *)extreme;                            \
    size_t k = 0;                                                     \
    if (e == e)                                                       \
      while (k < n && x[k] != e) k++;                                 \
    else                                                              \
      while (k < n && x[k] == x[k]) k++;                              \
    return k;                                                         \
  }
#define EMIT(ID, K, T, F, A, B) \
  UPDATE(smaller_##ID, T, <) UPDATE(larger_##ID, T, >) FIND(find_##ID, T)
JOIST_DTYPES_BOOL(EMIT, , )
JOIST_DTYPES_INT(EMIT, , )
JOIST_DTYPES_UINT(EMIT, , )
JOIST_DTYPES_FLOAT(EMIT, , )

static const struct {
  update *smaller, *larger;
  find *find;
} functions[JOIST_DTYPE_COUNT] = {
#define ENTRY(ID, K, T, F, A, B) [JOIST_##ID] = {smaller_##ID, larger_##ID, find_##ID},
    JOIST_DTYPES_BOOL(ENTRY, , ) JOIST_DTYPES_INT(ENTRY, , ) JOIST_DTYPES_UINT(ENTRY, , )
        JOIST_DTYPES_FLOAT(ENTRY, , )};

struct pass {
  update *update;
  find *find;
  joist_fold *fold;
  joist_convert_kernel *widen; /* of f16 and bf16; NULL for others */
  size_t in_size, size;        /* bytes per element, as stored and as compared */
  size_t inner, middle, outer;
  const char *in;
  int32_t *out;
  char *scratch; /* room for three rows per worker */
};

joist_status joist_position_shape(const struct joist_shape *const *shapes,
                                  const struct joist_attributes *attributes,
                                  struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  const bool keep = !joist_attribute_flag(attributes, JOIST_ATTRIBUTE_DROP);
  size_t count = 0;
  const joist_status status = joist_shape_check_dim(shapes[0], dim, error);
  if (status != JOIST_OK) return status;
  joist_shape_reduce(shapes[0], dim < 0 ? UINT32_MAX : UINT32_C(1) << dim, !keep, result);
  if (dim < 0 && (!joist_shape_count(shapes[0], &count) || count > INT32_MAX))
    return JOIST_FAIL(error, JOIST_E_POSITION_LIMIT, .count = {count});
  return JOIST_OK;
}

static const char *load(const struct pass *pass, size_t first, size_t n, char *scratch) {
  const char *const in = pass->in + first * pass->in_size;
  if (pass->widen == NULL) return in;
  pass->widen(n, in, scratch);
  return scratch;
}

static char *scratch_of(const struct pass *pass, size_t worker) {
  return pass->scratch + worker * 3 * WIDTH * pass->size;
}

/* An extreme, of any dtype that has an order, and the strip that it is in. */
struct candidate {
  _Alignas(8) char extreme[8];
  int32_t strip;
};

static struct candidate best_of(const struct pass *pass, size_t line, struct joist_part strips,
                                char *scratch) {
  struct candidate best, other;
  best.strip = (int32_t)strips.first;
  for (size_t k = strips.first; k < strips.first + strips.n; k++) {
    const struct joist_part part = joist_strip_of(pass->middle, STRIP, k);
    const char *const x = load(pass, line * pass->middle + part.first, part.n, scratch);
    pass->fold(1, part.n, x, k == strips.first ? best.extreme : other.extreme);
    if (k > strips.first) pass->update(1, other.extreme, (int32_t)k, best.extreme, &best.strip);
  }
  return best;
}

/* 1-based. */
static int32_t position_of(const struct pass *pass, size_t line, const struct candidate *best,
                           char *scratch) {
  const struct joist_part part = joist_strip_of(pass->middle, STRIP, (size_t)best->strip);
  const char *const x = load(pass, line * pass->middle + part.first, part.n, scratch);
  return (int32_t)(part.first + pass->find(part.n, x, best->extreme) + 1);
}

static void positions_in_rows(const struct pass *pass, size_t outer, size_t piece, char *scratch) {
  const struct joist_part part = joist_strip_of(pass->inner, WIDTH, piece);
  int32_t *const position = pass->out + outer * pass->inner + part.first;
  char *const best = scratch + WIDTH * pass->size;
  for (size_t m = 0; m < pass->middle; m++) {
    const size_t first = (outer * pass->middle + m) * pass->inner + part.first;
    const char *const row = load(pass, first, part.n, scratch);
    if (m > 0) {
      pass->update(part.n, row, (int32_t)m + 1, best, position);
      continue;
    }
    memcpy(best, row, part.n * pass->size);
    for (size_t k = 0; k < part.n; k++) position[k] = 1;
  }
}

/* How many rows are compared as one. */
static size_t rows_together(const struct pass *pass) {
  const size_t most = WIDE / pass->inner, enough = pass->middle / WIDE_ROWS;
  return joist_smaller(most, enough);
}

/* Whether the extreme at `k` comes before the one at `best`, of elements that are compared apart,
 * the rows of which are `row`. */
static bool comes_first(const struct pass *pass, const char *extremes, const size_t row[2],
                        size_t k, size_t best) {
  _Alignas(8) char held[8];
  int32_t further = 0;
  memcpy(held, extremes + best * pass->size, pass->size);
  pass->update(1, extremes + k * pass->size, 1, held, &further);
  if (further != 0) return true;
  memcpy(held, extremes + k * pass->size, pass->size);
  pass->update(1, extremes + best * pass->size, 1, held, &further);
  return further == 0 && row[0] < row[1];
}

/* All rows, `together` of them as one; then the positions of each column of theirs. */
static void positions_in_wide_rows(const struct pass *pass, size_t outer, size_t together,
                                   char *scratch) {
  const size_t width = pass->inner * together, first = outer * pass->middle * pass->inner;
  const size_t wide = pass->middle / together, rest = pass->middle % together;
  char *const best = scratch + WIDTH * pass->size;
  int32_t position[WIDE] = {0};
  memcpy(best, load(pass, first, width, scratch), width * pass->size);
  for (size_t m = 1; m < wide; m++)
    pass->update(width, load(pass, first + m * width, width, scratch), (int32_t)m, best, position);
  const char *const row = load(pass, first + wide * width, rest * pass->inner, scratch);
  pass->update(rest * pass->inner, row, (int32_t)wide, best, position);
  for (size_t c = 0; c < pass->inner; c++) {
    size_t chosen = c, row_of[2] = {0, (size_t)position[c] * together};
    for (size_t l = 1; l < together; l++) {
      const size_t k = l * pass->inner + c;
      row_of[0] = (size_t)position[k] * together + l;
      if (!comes_first(pass, best, row_of, k, chosen)) continue;
      chosen = k;
      row_of[1] = row_of[0];
    }
    pass->out[outer * pass->inner + c] = (int32_t)row_of[1] + 1;
  }
}

static void rows_task(const void *context, size_t task, size_t worker) {
  const struct pass *const pass = context;
  const size_t pieces = joist_divide_up(pass->inner, WIDTH), together = rows_together(pass);
  if (together > 1) {
    positions_in_wide_rows(pass, task, together, scratch_of(pass, worker));
    return;
  }
  positions_in_rows(pass, task / pieces, task % pieces, scratch_of(pass, worker));
}

static size_t lines_per_task(const struct pass *pass) {
  return pass->middle >= BATCH ? 1 : BATCH / pass->middle;
}

/* The elements of n lines at one position. */
static void gather_row(size_t n, size_t size, size_t stride, const char *in, char *out) {
  switch (size) {
#define GATHER(BYTES, TYPE)                                                    \
  case BYTES:                                                                  \
    for (size_t k = 0; k < n; k++)                                             \
      ((TYPE *)(void *)out)[k] = ((const TYPE *)(const void *)in)[k * stride]; \
    return;
    GATHER(1, uint8_t)
    GATHER(2, uint16_t)
    GATHER(4, uint32_t)
    GATHER(8, uint64_t)
#undef GATHER
  }
}

/* At least one line and at most WIDTH elements. */
static void positions_in_lines(const struct pass *pass, struct joist_part lines, char *scratch) {
  const size_t n = pass->middle, size = pass->size;
  const char *const x = load(pass, lines.first * n, lines.n * n, scratch);
  int32_t *const position = pass->out + lines.first;
  char *const best = scratch + WIDTH * size, *const row = best + WIDTH * size;
  gather_row(lines.n, size, n, x, best);
  for (size_t k = 0; k < lines.n; k++) position[k] = 1;
  for (size_t k = 1; k < n; k++) {
    gather_row(lines.n, size, n, x + k * size, row);
    pass->update(lines.n, row, (int32_t)k + 1, best, position);
  }
}

static void short_lines_task(const void *context, size_t task, size_t worker) {
  const struct pass *const pass = context;
  struct joist_part lines = joist_strip_of(pass->outer, lines_per_task(pass), task);
  const size_t end = lines.first + lines.n, most = WIDTH / pass->middle;
  for (; lines.first < end; lines.first += lines.n) {
    lines.n = joist_smaller(end - lines.first, most);
    positions_in_lines(pass, lines, scratch_of(pass, worker));
  }
}

static void lines_task(const void *context, size_t task, size_t worker) {
  const struct pass *const pass = context;
  const struct joist_part lines = joist_strip_of(pass->outer, lines_per_task(pass), task);
  const struct joist_part strips = {0, joist_divide_up(pass->middle, STRIP)};
  char *const scratch = scratch_of(pass, worker);
  for (size_t line = lines.first; line < lines.first + lines.n; line++) {
    const struct candidate best = best_of(pass, line, strips, scratch);
    pass->out[line] = position_of(pass, line, &best, scratch);
  }
}

/* A line that several workers search. */
struct shared {
  const struct pass *pass;
  size_t line, tasks;
  struct candidate *best; /* of every task */
};

static void shared_task(const void *context, size_t task, size_t worker) {
  const struct shared *const shared = context;
  const struct pass *const pass = shared->pass;
  const size_t strips = joist_divide_up(pass->middle, STRIP);
  shared->best[task] =
      best_of(pass, shared->line, joist_strip_of(strips, SHARED, task), scratch_of(pass, worker));
}

static joist_status search_line(const struct shared *shared, int threads,
                                const struct joist_run *run, struct joist_error *error) {
  const struct pass *const pass = shared->pass;
  struct candidate *const best = shared->best;
  const joist_status status =
      joist_tasks_run_on(run, threads, shared->tasks, SHARED * STRIP, shared_task, shared, error);
  if (status != JOIST_OK) return status;
  for (size_t k = 1; k < shared->tasks; k++)
    pass->update(1, best[k].extreme, best[k].strip, best->extreme, &best->strip);
  pass->out[shared->line] = position_of(pass, shared->line, best, pass->scratch);
  return JOIST_OK;
}

static joist_status run_pass(struct pass *pass, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t count = pass->inner * pass->middle * pass->outer;
  const bool rows = pass->inner > 1;
  const size_t tasks = rows ? pass->outer * joist_divide_up(pass->inner, WIDTH)
                            : joist_divide_up(pass->outer, lines_per_task(pass));
  struct shared shared = {.pass = pass, .tasks = joist_divide_up(pass->middle, SHARED * STRIP)};
  const int alone = joist_threads_for(run, count, tasks);
  const int together = joist_threads_for(run, count, shared.tasks);
  const bool share = !rows && pass->outer < (size_t)together;
  const int threads = share ? together : alone;
  const size_t scratch_bytes = 3 * WIDTH * pass->size * (size_t)threads;
  pass->scratch = malloc(scratch_bytes + (share ? shared.tasks * sizeof *shared.best : 0));
  if (pass->scratch == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  shared.best = (struct candidate *)(void *)(pass->scratch + scratch_bytes);
  joist_status status = JOIST_OK;
  if (share)
    for (; shared.line < pass->outer && status == JOIST_OK; shared.line++)
      status = search_line(&shared, threads, run, error);
  else
    status = joist_tasks_run_on(run, threads, tasks, count / tasks,
                                rows                    ? rows_task
                                : pass->middle <= SHORT ? short_lines_task
                                                        : lines_task,
                                pass, error);
  free(pass->scratch);
  return status;
}

joist_status joist_position_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_instruction *const instruction = call->instruction;
  const struct joist_lines lines =
      joist_shape_lines(&call->operand[0]->shape, joist_attribute_dim(instruction->attributes));
  const bool least = instruction->op == JOIST_OP_ARGMIN;
  const joist_dtype stored = instruction->signature.operand[0];
  const joist_dtype compute = joist_dtype_compute(stored);
  struct pass pass = {
      .update = least ? functions[compute].smaller : functions[compute].larger,
      .find = functions[compute].find,
      .fold = joist_fold_find(least ? JOIST_OP_MIN : JOIST_OP_MAX, compute, compute),
      .widen = stored == compute ? NULL : joist_convert_find(stored, compute),
      .in_size = joist_dtype_size(stored),
      .size = joist_dtype_size(compute),
      .inner = lines.inner,
      .middle = lines.middle,
      .outer = lines.outer,
      .in = call->in[0],
      .out = call->out[0]};
  const size_t count = joist_value_count(call->operand[0]);
  if (joist_value_count(call->result) == 0) return JOIST_OK;
  if (count == 0)
    return JOIST_FAIL(error, JOIST_E_NO_ELEMENTS, .op = joist_op_name(instruction->op));
  return run_pass(&pass, call->run, error);
}
