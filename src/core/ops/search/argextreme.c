/* Positions of the smallest and the largest element along a dim, the first one where there
 * are several; the first NaN where there is one.
 *
 * The operand is seen as (inner, middle, outer). Lines of contiguous elements (inner = 1) are
 * folded chunk by chunk, and only the chunk that has the extreme is searched; otherwise the
 * positions of a whole row are kept and every further row is compared with it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

#ifdef _OPENMP
#include <omp.h>
#endif

JOIST_VECTORIZE_FILE

enum {
  CHUNK = 512,   /* elements of a line folded at once */
  WIDTH = 1024,  /* elements of a row compared at once */
  BATCH = 4096,  /* elements of short lines in one task */
  STEP = 1 << 24 /* elements between two polls */
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
#define EMIT(ID, N, K, T, C, L, S, A, B) \
  UPDATE(smaller_##ID, T, <) UPDATE(larger_##ID, T, >) FIND(find_##ID, T)
JOIST_DTYPES_BOOL(EMIT, , )
JOIST_DTYPES_INT(EMIT, , )
JOIST_DTYPES_UINT(EMIT, , )
JOIST_DTYPES_FLOAT(EMIT, , )

static const struct {
  update *smaller, *larger;
  find *find;
} functions[JOIST_DTYPE_COUNT] = {
#define ENTRY(ID, N, K, T, C, L, S, A, B) [JOIST_##ID] = {smaller_##ID, larger_##ID, find_##ID},
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

static size_t chunks_of(const struct pass *pass) { return (pass->middle + CHUNK - 1) / CHUNK; }

static size_t chunk_length(const struct pass *pass, size_t chunk) {
  const size_t first = chunk * CHUNK;
  return pass->middle - first < CHUNK ? pass->middle - first : CHUNK;
}

static void fold_chunk(const struct pass *pass, size_t line, size_t chunk, char *scratch,
                       void *extreme) {
  const size_t n = chunk_length(pass, chunk);
  pass->fold(1, n, load(pass, line * pass->middle + chunk * CHUNK, n, scratch), extreme);
}

/* 1-based, of an extreme that is in that chunk. */
static int32_t position_in(const struct pass *pass, size_t line, size_t chunk, char *scratch,
                           const void *extreme) {
  const size_t first = chunk * CHUNK, n = chunk_length(pass, chunk);
  const char *const x = load(pass, line * pass->middle + first, n, scratch);
  return (int32_t)(first + pass->find(n, x, extreme) + 1);
}

static int32_t position_in_line(const struct pass *pass, size_t line, char *scratch) {
  _Alignas(8) char best[8], other[8]; /* enough for every dtype that has an order */
  int32_t chunk = 0;
  fold_chunk(pass, line, 0, scratch, best);
  for (size_t k = 1; k < chunks_of(pass); k++) {
    fold_chunk(pass, line, k, scratch, other);
    pass->update(1, other, (int32_t)k, best, &chunk);
  }
  return position_in(pass, line, (size_t)chunk, scratch, best);
}

static void positions_in_rows(const struct pass *pass, size_t outer, size_t piece, char *scratch) {
  const size_t from = piece * WIDTH;
  const size_t n = pass->inner - from < WIDTH ? pass->inner - from : WIDTH;
  int32_t *const position = pass->out + outer * pass->inner + from;
  char *const best = scratch + WIDTH * pass->size;
  for (size_t m = 0; m < pass->middle; m++) {
    const char *const row = load(pass, (outer * pass->middle + m) * pass->inner + from, n, scratch);
    if (m > 0) {
      pass->update(n, row, (int32_t)m + 1, best, position);
      continue;
    }
    memcpy(best, row, n * pass->size);
    for (size_t k = 0; k < n; k++) position[k] = 1;
  }
}

static size_t lines_per_task(const struct pass *pass) {
  return pass->middle >= BATCH ? 1 : BATCH / pass->middle;
}

static void run_task(const struct pass *pass, size_t k, char *scratch) {
  if (pass->inner > 1) {
    const size_t pieces = (pass->inner + WIDTH - 1) / WIDTH;
    positions_in_rows(pass, k / pieces, k % pieces, scratch);
    return;
  }
  const size_t each = lines_per_task(pass), first = k * each;
  for (size_t line = first; line < first + each && line < pass->outer; line++)
    pass->out[line] = position_in_line(pass, line, scratch);
}

static joist_status out_of_memory(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}

static joist_status run_pass(const struct pass *pass, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t count = pass->inner * pass->middle * pass->outer, each = lines_per_task(pass);
  const size_t tasks = pass->inner > 1 ? pass->outer * ((pass->inner + WIDTH - 1) / WIDTH)
                                       : (pass->outer + each - 1) / each;
  const int threads = joist_threads_for(run, count, tasks);
  const size_t room = 2 * WIDTH * pass->size;
  char *const scratch = malloc(room * (size_t)threads);
  if (scratch == NULL) return out_of_memory(error);
  size_t step = STEP / (count / tasks + 1);
  if (step < (size_t)threads) step = (size_t)threads;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < tasks && status == JOIST_OK; begin += step) {
    const size_t end = tasks - begin < step ? tasks : begin + step;
    if (begin > 0) status = joist_run_poll(run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
      char *own = scratch;
#ifdef _OPENMP
      own += (size_t)omp_get_thread_num() * room;
#pragma omp for schedule(dynamic) nowait
#endif
      for (size_t k = begin; k < end; k++) run_task(pass, k, own);
    }
  }
  free(scratch);
  return status;
}

/* Fewer lines than threads: the chunks of a line are folded in parallel. */
static joist_status run_line(const struct pass *pass, size_t line, int threads,
                             const struct joist_run *run, struct joist_error *error) {
  const size_t chunks = chunks_of(pass), room = CHUNK * pass->size;
  char *const extremes = malloc(chunks * pass->size + room * (size_t)threads);
  if (extremes == NULL) return out_of_memory(error);
  char *const scratch = extremes + chunks * pass->size;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < chunks && status == JOIST_OK; begin += STEP / CHUNK) {
    const size_t end = chunks - begin < STEP / CHUNK ? chunks : begin + STEP / CHUNK;
    if (begin > 0) status = joist_run_poll(run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
      char *own = scratch;
#ifdef _OPENMP
      own += (size_t)omp_get_thread_num() * room;
#pragma omp for nowait
#endif
      for (size_t k = begin; k < end; k++)
        fold_chunk(pass, line, k, own, extremes + k * pass->size);
    }
  }
  if (status == JOIST_OK) {
    int32_t chunk = 0;
    for (size_t k = 1; k < chunks; k++)
      pass->update(1, extremes + k * pass->size, (int32_t)k, extremes, &chunk);
    pass->out[line] = position_in(pass, line, (size_t)chunk, scratch, extremes);
  }
  free(extremes);
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
  const int threads = joist_threads_for(call->run, count, pass.middle / CHUNK);
  if (pass.inner > 1 || threads <= 1 || pass.outer >= (size_t)threads)
    return run_pass(&pass, call->run, error);
  joist_status status = JOIST_OK;
  for (size_t line = 0; line < pass.outer && status == JOIST_OK; line++)
    status = run_line(&pass, line, threads, call->run, error);
  return status;
}
