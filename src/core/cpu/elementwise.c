/* Running the steps of a group over its index space: tiles, threads, and the folds of its
 * sinks. What is folded in which order depends on the space of the sinks alone. */
#include "core/cpu/elementwise.h"

#include "core/base/parallel.h"
#include "core/cpu/bind.h"
#include "core/cpu/native.h"
#include "core/cpu/row_fold.h"
#include "core/cpu/steps.h"
#include "core/cpu/watch.h"
#include "core/program/watch.h"
#include "core/types/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  STACK_BYTES = 8192, /* scratch up to this size lives on the stack */
  ALIGNMENT = 64,
  LOOKED_AT = 1024,     /* elements of a run that are looked through before they are folded */
  STREAMED = 256,       /* elements that are computed, then written past the caches: so many, */
  STREAMED_BYTES = 1024 /* or as many as have so many bytes */
};

/* How the index space is cut into tiles. In rows (inner > 1), a tile is a strip of rows to be
 * combined, or a piece `width` wide of each; else it is a part of a run. */
struct cut {
  size_t tiles, elements; /* of one tile */
  bool rows;
  size_t span, per_span;               /* runs: elements of one, tiles of one */
  size_t strip, strips, pieces, width; /* rows */
};

/* What every thread of a group's loop sees. */
struct loop {
  const struct joist_plan *plan;
  const struct joist_group *group;
  void *const *arrays;             /* per value */
  char *const *accumulated;        /* per sink; NULL: sinks are not run */
  const struct joist_halves *sums; /* per sink, what is folded instead; NULL: nothing */
  struct cut cut;
  size_t accumulator;            /* bytes of the largest of the sinks' accumulators */
  const struct joist_step *lone; /* all there is to do is to fold an array */
  joist_native_part *part;       /* compiled code for all steps but folds; NULL for none */
  atomic_bool *left;             /* set when a tile did not fit: others are interpreted, too */
  size_t kept;                   /* bytes of a tile's operands that the part writes over */
  atomic_bool *decided;          /* set when no other element can change the result; NULL: never */
  joist_stream_lines *stream;    /* NULL when no result is written past the caches */
  size_t stream_from;            /* bytes from which it is */
  struct joist_tally *tally;     /* of the run */
  _Atomic uint64_t *bits;        /* of the magnitudes of integers that sinks fold and watch */
  _Atomic size_t *failed;        /* the first tile that did */
  char *workers;                 /* a struct worker every `stride` bytes */
  size_t stride;
};

/* The memory of one worker: this struct, then its arena, what it keeps of operands, its rows. */
struct worker {
  char *arena;
  char *kept;
  char *rows; /* per sink and depth: a combined row */
  uint32_t depth;
  size_t width;              /* of the rows that are being combined */
  size_t result;             /* where they are combined to */
  bool fresh;                /* the next row is the first */
  size_t failure;            /* SIZE_MAX, or the index of the first element that failed, and */
  uint32_t instruction;      /* where */
  struct joist_tally *tally; /* of the run; or its own, which is added to that */
};

static char *address(const struct loop *loop, struct joist_ref ref, size_t first, char *arena) {
  if (ref.array) return (char *)loop->arrays[ref.index] + first * ref.size;
  return arena + loop->plan->slot_offset[ref.index] * loop->group->room;
}

/* Fills the slots of scalar operands, once per arena. A slot may be shorter than a tile that was
 * widened, where only folds read it, and these read one element. */
static void fill_splats(const struct loop *loop, char *arena) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  const size_t tile = joist_smaller(loop->group->tile, loop->group->room);
  const size_t n = joist_smaller(loop->group->count, tile);
  for (uint32_t s = 0; s < loop->group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    if (step->kind == JOIST_STEP_SPLAT)
      joist_step_splat(step, n, loop->arrays[step->in[0].index],
                       address(loop, step->out, 0, arena));
  }
}

/* ---- folding ---- */

/* What a fold reads of a tile: elements, or those that a mask leaves. */
struct folded {
  const char *x, *mask, *fill; /* no mask: NULL */
};

static struct folded folded_part(const struct loop *loop, const struct joist_step *step,
                                 size_t first, char *arena) {
  if (joist_bound_masked_fold(step) == NULL)
    return (struct folded){.x = address(loop, step->in[0], first, arena)};
  return (struct folded){.x = address(loop, step->masked[2], first, arena),
                         .mask = address(loop, step->masked[0], first, arena),
                         .fill = address(loop, step->masked[1], first, arena)};
}

/* `runs` runs of n elements, the first from element `at` on. */
static void fold(const struct joist_step *step, size_t runs, size_t n, struct folded in, size_t at,
                 char *out) {
  const char *const x = in.x + at * step->in[0].size;
  if (in.mask == NULL)
    joist_bound_fold(step)(runs, n, x, out);
  else
    joist_bound_masked_fold(step)(runs, n, (const void *[]){in.mask + at, in.fill, x},
                                  step->drops_nan, out);
}

/* Whether what the sink folds is looked at. */
static bool is_noted(const struct loop *loop, const struct joist_step *step) {
  const uint8_t watch = loop->plan->program->instructions[step->instruction].watch;
  return step->counts_wrapped && (loop->tally != NULL || (watch & JOIST_WATCH_SATURATE) != 0);
}

/* Before a sink folds n integers; products are always looked at. */
static void note_magnitudes(const struct loop *loop, const struct joist_step *step, size_t n,
                            const void *in) {
  joist_magnitudes *const find = (joist_magnitudes *)step->looks[0];
  const uint64_t bits = find == NULL ? ~UINT64_C(0) : find(n, in);
  if (bits & ~atomic_load_explicit(loop->bits, memory_order_relaxed))
    atomic_fetch_or_explicit(loop->bits, bits, memory_order_relaxed);
}

/* A run of integers, in whatever order: pieces are looked through and then added from the cache. */
static void fold_watched(const struct loop *loop, const struct joist_step *step, size_t n,
                         struct folded in, size_t at, char *out) {
  _Alignas(16) char more[JOIST_ELEMENT_MAX];
  for (size_t k = 0; k < n; k += LOOKED_AT) {
    const size_t m = joist_smaller(n - k, LOOKED_AT);
    note_magnitudes(loop, step, m, in.x + (at + k) * step->in[0].size);
    fold(step, 1, m, in, at + k, k == 0 ? out : more);
    if (k > 0) joist_bound_kernel(step)(1, (const void *[]){out, more}, out);
  }
}

/* Runs, or strips of one, to the accumulated values of their results. */
static void fold_runs(const struct loop *loop, const struct joist_step *step, size_t first,
                      size_t n, struct folded in) {
  const struct joist_fold_space space = loop->group->space;
  const size_t strip = joist_fold_strip(space), strips = joist_fold_strips(space);
  const size_t unit = joist_smaller(space.middle, strip);
  char *const out = loop->accumulated[step->sink] +
                    (first / space.middle * strips + first % space.middle / unit) * step->out.size;
  const size_t whole = n / unit, rest = n % unit;
  const bool noted = is_noted(loop, step), looks = noted && unit >= LOOKED_AT;
  for (size_t k = 0; looks && k < whole; k++)
    fold_watched(loop, step, unit, in, k * unit, out + k * step->out.size);
  if (noted && !looks) note_magnitudes(loop, step, whole * unit, in.x);
  if (noted && rest > 0) note_magnitudes(loop, step, rest, in.x + whole * unit * step->in[0].size);
  if (whole > 0 && !looks) fold(step, whole, unit, in, 0, out);
  if (rest > 0) fold(step, 1, rest, in, whole * unit, out + whole * step->out.size);
  if (loop->decided == NULL) return;
  const char absorbing =
      joist_absorbing(joist_op_combine(loop->plan->program->instructions[step->instruction].op));
  for (size_t k = 0; k < whole + (rest > 0); k++)
    if (out[k] == absorbing) atomic_store_explicit(loop->decided, true, memory_order_relaxed);
}

/* The same to exact sums. */
static void sum_runs(const struct loop *loop, const struct joist_step *step, size_t first, size_t n,
                     struct folded in) {
  const struct joist_fold_space space = loop->group->space;
  const size_t strip = joist_fold_strip(space), size = step->in[0].size;
  const size_t unit = joist_smaller(space.middle, strip);
  size_t at = first / space.middle * joist_fold_strips(space) + first % space.middle / unit;
  _Alignas(8) char kept[LOOKED_AT * 8];
  for (size_t k = 0, m; k < n; k += m, at++) {
    m = joist_smaller(n - k, unit);
    const char *x = in.x + k * size;
    if (in.mask != NULL) {
      for (size_t j = 0; j < m; j++)
        memcpy(kept + j * size, in.mask[k + j] != 0 ? in.fill : x + j * size, size);
      x = kept;
    }
    const struct joist_halves *const sums = &loop->sums[step->sink];
    joist_halves_add((struct joist_halves){sums->high + at, sums->low + at}, step->in[0].dtype, 1,
                     m, x);
  }
}

static char *row_at(const struct loop *loop, const struct worker *worker, uint32_t sink,
                    uint32_t depth) {
  return worker->rows + (sink * JOIST_ROWS_DEPTH + depth) * loop->cut.width * loop->accumulator;
}

/* Rows that lie one after the other; the last may be shorter. */
static void fold_rows(const struct loop *loop, struct worker *worker, const struct joist_step *step,
                      size_t n, const char *in) {
  char *const out = row_at(loop, worker, step->sink, worker->depth);
  const size_t width = worker->width, whole = n / width, rest = n % width;
  if (whole > 0) joist_bound_rows(step)(width, whole, width, worker->fresh, in, out);
  if (rest > 0)
    joist_bound_rows(step)(rest, 1, width, worker->fresh && whole == 0,
                           in + whole * width * step->in[0].size, out);
}

/* ---- tiles ---- */

static size_t step_run(const struct loop *loop, const struct worker *worker,
                       const struct joist_step *step, size_t first, size_t n, const void *const *in,
                       void *out) {
  return joist_step_is_watched(step)
             ? joist_watch_run(loop->plan->program, step, first, n, in, out, worker->tally)
             : joist_step_run(step, n, in, out);
}

/* A step past the caches, piece by piece: the stores of one overlap with the loads of the next. */
static size_t run_streamed(const struct loop *loop, const struct worker *worker,
                           const struct joist_step *step, size_t first, size_t n,
                           const void *const *in, char *out) {
  _Alignas(JOIST_LINE) char piece[STREAMED * JOIST_ELEMENT_MAX];
  const size_t size = step->out.size;
  const size_t most = size * STREAMED < STREAMED_BYTES ? STREAMED_BYTES / size : STREAMED;
  size_t k = joist_watch_stream(loop->plan->program, step, first, n, in, out, worker->tally);
  for (; k < n; k += most) {
    const size_t m = joist_smaller(n - k, most);
    const void *part[JOIST_REFS_MAX] = {NULL};
    for (uint32_t j = 0; j < step->operand_count; j++)
      part[j] = (const char *)in[j] + (step->by_number && j == 1 ? 0 : k * step->in[j].size);
    const size_t done = step_run(loop, worker, step, first + k, m, part, piece);
    if (done < m) return k + done;
    const size_t whole = m * size / JOIST_LINE;
    loop->stream(whole, piece, out + k * size);
    memcpy(out + k * size + whole * JOIST_LINE, piece + whole * JOIST_LINE,
           m * size - whole * JOIST_LINE);
  }
  return n;
}

/* Whether the group writes over the array that operand k of the step is in. */
static bool is_changed(const struct joist_plan *plan, const struct joist_group *group,
                       void *const *arrays, const struct joist_step *step, uint32_t k) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  for (uint32_t s = 0; s < group->step_count && step->in[k].array; s++)
    if (steps[s].kind != JOIST_STEP_FOLD && steps[s].out.array &&
        arrays[steps[s].out.index] == arrays[step->in[k].index])
      return true;
  return false;
}

bool joist_tiles_can_repeat(const struct joist_plan *plan, const struct joist_group *group,
                            void *const *arrays) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  for (uint32_t s = 0; s < group->step_count; s++)
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      if (is_changed(plan, group, arrays, &steps[s], k)) return false;
  return true;
}

/* The same of one that is read element by element. */
static bool reads_changed(const struct loop *loop, const struct joist_step *step, uint32_t k) {
  return step->kind != JOIST_STEP_SPLAT && step->kind != JOIST_STEP_GATHER &&
         is_changed(loop->plan, loop->group, loop->arrays, step, k);
}

/* The bytes of each tile that a part that watches writes over. */
static size_t bytes_kept(const struct loop *loop) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  const size_t room = loop->group->room, width = loop->cut.width;
  bool watched = false;
  size_t bytes = 0;
  for (uint32_t s = 0; s < loop->group->step_count; s++) {
    watched |= steps[s].counts_wrapped || steps[s].counts_lost;
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      if (reads_changed(loop, &steps[s], k))
        bytes += (room > width ? room : width) * steps[s].in[k].size;
  }
  return watched && loop->tally != NULL ? bytes : 0;
}

/* Copies what the part writes over to where it is kept, or back. */
static void keep(const struct loop *loop, const struct worker *worker, size_t first, size_t n,
                 bool back) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  char *kept = worker->kept;
  for (uint32_t s = 0; s < loop->group->step_count && loop->kept > 0; s++)
    for (uint32_t k = 0; k < steps[s].operand_count; k++) {
      if (!reads_changed(loop, &steps[s], k)) continue;
      char *const own = address(loop, steps[s].in[k], first, NULL);
      const size_t bytes = n * steps[s].in[k].size;
      memcpy(back ? own : kept, back ? kept : own, bytes);
      kept += bytes;
    }
}

/* All steps but the folds; whether everything that is watched fits. */
static bool run_native(const struct loop *loop, const struct worker *worker, size_t first,
                       size_t n) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  const uint32_t count = loop->group->sink_count > 0 ? loop->group->step_count : 0;
  void *folded[JOIST_NATIVE_SINKS] = {NULL};
  for (uint32_t s = 0; s < count; s++)
    if (steps[s].kind == JOIST_STEP_FOLD)
      folded[steps[s].sink] = address(loop, steps[s].in[0], first, worker->arena);
  uint8_t wrapped = 0;
  keep(loop, worker, first, n, false);
  loop->part(first, n, loop->arrays, folded, &wrapped);
  if (wrapped == 0 || loop->tally == NULL) return true;
  keep(loop, worker, first, n, true);
  atomic_store_explicit(loop->left, true, memory_order_relaxed);
  return false;
}

/* Elements first .. first + n - 1; whether all went well. */
static bool run_part(const struct loop *loop, struct worker *worker, size_t first, size_t n) {
  const struct joist_group *const group = loop->group;
  const struct joist_step *const steps = loop->plan->steps + group->first_step;
  /* The interpreter counts what does not fit. */
  const bool native = loop->part != NULL &&
                      !atomic_load_explicit(loop->left, memory_order_relaxed) &&
                      run_native(loop, worker, first, n);
  if (native && group->sink_count == 0) return true;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    if (step->kind == JOIST_STEP_SPLAT || step->passed_over) continue;
    if (native && step->kind != JOIST_STEP_FOLD) continue;
    char *const out = address(loop, step->out, first, worker->arena);
    const void *in[JOIST_REFS_MAX] = {address(loop, step->in[0], first, worker->arena)};
    for (uint32_t k = 1; k < step->operand_count; k++)
      in[k] = address(loop, step->in[k], first, worker->arena);
    switch (step->kind) {
      case JOIST_STEP_OPERATION:
      case JOIST_STEP_CONVERT:
      case JOIST_STEP_COPY: {
        const bool streamed = loop->stream != NULL &&
                              joist_step_streams(loop->group, step, loop->stream_from) &&
                              (uintptr_t)out % JOIST_LINE == 0;
        const size_t done = streamed ? run_streamed(loop, worker, step, first, n, in, out)
                                     : step_run(loop, worker, step, first, n, in, out);
        if (done < n) {
          worker->failure = first + done;
          worker->instruction = step->instruction;
          return false;
        }
        break;
      }
      case JOIST_STEP_GATHER:
        joist_step_gather(group, step, first, n, loop->arrays[step->in[0].index],
                          loop->arrays[step->in[1].index], out);
        break;
      case JOIST_STEP_FOLD:
        if (loop->sums != NULL && loop->sums[step->sink].high == NULL) break;
        if (loop->sums != NULL && loop->cut.rows) {
          const struct joist_halves *const sums = &loop->sums[step->sink];
          joist_halves_add(
              (struct joist_halves){sums->high + worker->result, sums->low + worker->result},
              step->in[0].dtype, worker->width, n / worker->width, in[0]);
          break;
        }
        if (loop->sums != NULL) {
          sum_runs(loop, step, first, n, folded_part(loop, step, first, worker->arena));
          break;
        }
        if (loop->accumulated == NULL) break;
        if (loop->cut.rows && is_noted(loop, step)) note_magnitudes(loop, step, n, in[0]);
        if (loop->cut.rows)
          fold_rows(loop, worker, step, n, in[0]);
        else
          fold_runs(loop, step, first, n, folded_part(loop, step, first, worker->arena));
        break;
      case JOIST_STEP_SPLAT:
        break;
    }
  }
  return true;
}

/* The rows of a tile: what folds them in order, see row_fold.h. */
struct tile_rows {
  const struct loop *loop;
  struct worker *worker;
  size_t first;  /* element of the first row */
  size_t stride; /* elements from one row to the next */
  size_t lanes;  /* rows of a wide row */
};

static void combine_rows(void *context, uint32_t into, uint32_t from, size_t at, size_t n) {
  const struct tile_rows *const rows = context;
  const struct loop *const loop = rows->loop;
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  for (uint32_t s = 0; s < loop->group->step_count; s++) {
    if (steps[s].kind != JOIST_STEP_FOLD) continue;
    char *const out = row_at(loop, rows->worker, steps[s].sink, into);
    const char *const other =
        row_at(loop, rows->worker, steps[s].sink, from) + at * steps[s].out.size;
    joist_bound_kernel (&steps[s])(n, (const void *[]){out, other}, out);
  }
}

static bool fold_leaf(void *context, size_t row, size_t count, uint32_t into) {
  const struct tile_rows *const rows = context;
  const struct loop *const loop = rows->loop;
  struct worker *const worker = rows->worker;
  const size_t first = rows->first + row * rows->stride, stride = rows->stride * rows->lanes;
  if (loop->lone != NULL) {
    const size_t room = loop->group->count - first - (count - 1) * stride;
    const size_t n = joist_row_filled(worker->width, loop->lone->in[0].size,
                                      joist_smaller(room, loop->cut.width));
    joist_bound_rows(loop->lone)(n, count, stride, true,
                                 address(loop, loop->lone->in[0], first, NULL),
                                 row_at(loop, worker, loop->lone->sink, into));
    return true;
  }
  const size_t fit = loop->group->tile / worker->width;
  const size_t together = stride == worker->width && fit > 1 ? fit : 1;
  bool well = true;
  worker->depth = into;
  for (size_t k = 0; k < count && well; k += together) {
    worker->fresh = k == 0;
    well = run_part(loop, worker, first + k * stride,
                    joist_smaller(together, count - k) * worker->width);
  }
  return well;
}

static bool fold_rest(void *context, size_t row, size_t count) {
  const struct tile_rows *const rows = context;
  rows->worker->depth = 0;
  rows->worker->fresh = false;
  return run_part(rows->loop, rows->worker, rows->first + row * rows->stride, count * rows->stride);
}

/* One tile of rows, whose combined row goes to the accumulated values of every sink. */
static bool run_rows(const struct loop *loop, struct worker *worker, size_t tile) {
  const struct joist_fold_space space = loop->group->space;
  const struct cut *const cut = &loop->cut;
  const size_t piece = tile % cut->pieces, strip = tile / cut->pieces % cut->strips;
  const size_t outer = tile / cut->pieces / cut->strips;
  const struct joist_part rows = joist_strip_of(space.middle, cut->strip, strip);
  const size_t first = (outer * space.middle + rows.first) * space.inner + piece * cut->width;
  const size_t lanes = joist_row_lanes(space.inner, rows.n);
  const size_t width =
      cut->pieces == 1 ? space.inner : joist_strip_of(space.inner, cut->width, piece).n;
  const size_t result = (outer * cut->strips + strip) * space.inner + piece * cut->width;
  if (loop->sums != NULL) {
    const size_t fit = cut->pieces == 1 ? loop->group->tile / width : 1;
    const size_t together = fit > 1 ? fit : 1;
    bool well = true;
    worker->width = width;
    worker->result = result;
    for (size_t k = 0; k < rows.n && well; k += together)
      well = run_part(loop, worker, first + k * space.inner,
                      joist_smaller(together, rows.n - k) * width);
    return well;
  }
  worker->width = width * lanes;
  struct tile_rows context = {loop, worker, first, space.inner, lanes};
  const struct joist_row_order order = {&context, fold_leaf, fold_rest, combine_rows};
  if (!joist_row_order_run(&order, width, lanes, rows.n)) return false;
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  for (uint32_t s = 0; s < loop->group->step_count; s++)
    if (steps[s].kind == JOIST_STEP_FOLD)
      memcpy(loop->accumulated[steps[s].sink] + result * steps[s].out.size,
             row_at(loop, worker, steps[s].sink, 0), width * steps[s].out.size);
  return true;
}

static bool run_tile(const struct loop *loop, struct worker *worker, size_t tile) {
  const struct cut *const cut = &loop->cut;
  if (loop->decided != NULL && atomic_load_explicit(loop->decided, memory_order_relaxed))
    return true;
  if (cut->rows) return run_rows(loop, worker, tile);
  const struct joist_part part = joist_strip_of(cut->span, loop->group->tile, tile % cut->per_span);
  return run_part(loop, worker, tile / cut->per_span * cut->span + part.first, part.n);
}

static struct cut make_cut(const struct joist_group *group, bool sinks) {
  const struct joist_fold_space space = group->space;
  struct cut cut = {.rows = sinks && space.inner > 1};
  if (group->count == 0) return cut;
  if (cut.rows) {
    cut.strip = joist_fold_strip(space);
    cut.strips = joist_fold_strips(space);
    const size_t most = joist_smaller(group->tile, JOIST_ROWS_WIDTH);
    cut.pieces = joist_divide_up(space.inner, most);
    cut.width = most;
    if (cut.pieces == 1)
      cut.width =
          joist_round_up(space.inner * joist_row_lanes(space.inner, SIZE_MAX), JOIST_ROWS_ROUNDED);
    cut.tiles = space.outer * cut.strips * cut.pieces;
    cut.elements = joist_smaller(space.middle, cut.strip) * joist_smaller(space.inner, most);
    return cut;
  }
  const bool long_runs = sinks && space.middle > joist_fold_strip(space);
  cut.span = long_runs ? space.middle : group->count;
  cut.per_span = joist_divide_up(cut.span, group->tile);
  cut.tiles = group->count / cut.span * cut.per_span;
  cut.elements = joist_smaller(group->tile, cut.span);
  return cut;
}

/* ---- tasks ---- */

static struct worker *worker_at(const struct loop *loop, size_t worker) {
  return (struct worker *)(void *)(loop->workers + worker * loop->stride);
}

/* Only what comes after a failure is left out, so that the first one is found. */
static void run_task(const void *context, size_t tile, size_t number) {
  const struct loop *const loop = context;
  if (atomic_load_explicit(loop->failed, memory_order_relaxed) < tile) return;
  if (!run_tile(loop, worker_at(loop, number), tile)) joist_lower(loop->failed, tile);
  if (loop->stream != NULL) joist_stream_end();
}

/* All tiles of a group. Rows are not run in the order of their elements: to find the first
 * that fails, these then run again without the sinks. */
static joist_status run_tiles(struct loop *loop, int threads, const struct joist_run *run,
                              struct joist_error *error) {
  const size_t workers = (size_t)threads;
  _Atomic size_t failed = SIZE_MAX;
  loop->failed = &failed;
  for (size_t w = 0; w < workers; w++) worker_at(loop, w)->failure = SIZE_MAX;
  const joist_status status = joist_tasks_run_on(
      run, threads, loop->cut.tiles, loop->cut.elements * loop->group->work, run_task, loop, error);
  if (status != JOIST_OK || failed == SIZE_MAX) return status;
  if (loop->cut.rows) {
    loop->accumulated = NULL;
    loop->cut = make_cut(loop->group, false);
    return run_tiles(loop, 1, run, error);
  }
  const struct worker *first = worker_at(loop, 0);
  for (size_t w = 1; w < workers; w++)
    if (worker_at(loop, w)->failure < first->failure) first = worker_at(loop, w);
  return joist_value_error(loop->plan->program, first->instruction, first->failure, error);
}

/* Whether the group computes nothing but one bool that a single element can decide. Writes
 * what it is until then. */
static bool start_decision(const struct loop *loop) {
  const struct joist_group *const group = loop->group;
  if (!group->decidable) return false;
  const struct joist_step *const step =
      &loop->plan->steps[group->first_step + group->step_count - 1];
  const joist_op combine =
      joist_op_combine(loop->plan->program->instructions[step->instruction].op);
  memset(loop->accumulated[0], !joist_absorbing(combine), joist_fold_strips(group->space));
  return true;
}

/* The tiles of a group, to values or to exact sums. */
static joist_status run_loop(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, char *const *accumulated,
                             const struct joist_halves *sums, bool *may_exceed,
                             const struct joist_run *run, struct joist_error *error) {
  _Atomic uint64_t bits = 0;
  struct loop loop = {.plan = plan,
                      .group = group,
                      .arrays = arrays,
                      .accumulated = accumulated,
                      .sums = sums,
                      .cut = make_cut(group, group->sink_count > 0),
                      .stream_from = joist_stream_from(run),
                      .tally = run->tally,
                      .bits = &bits};
  if (loop.cut.tiles == 0) return JOIST_OK;
  const int threads = joist_threads_for(run, group->count * group->work, loop.cut.tiles);
  atomic_bool decided = false, left = false;
  loop.left = &left;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    if (step->kind == JOIST_STEP_FOLD && step->out.size > loop.accumulator)
      loop.accumulator = step->out.size;
    if (joist_step_streams(group, step, loop.stream_from)) loop.stream = joist_stream_find();
  }
  const struct joist_step *const only = &plan->steps[group->first_step];
  if (group->step_count == 1 && only->kind == JOIST_STEP_FOLD && only->in[0].array &&
      !is_noted(&loop, only))
    loop.lone = only;
  if (sums == NULL && start_decision(&loop)) loop.decided = &decided;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    if (step->kind == JOIST_STEP_SPLAT)
      joist_watch_splat(plan->program, step, arrays[step->in[0].index], run->tally);
  }
  const joist_status found = joist_native_find_part(plan, group, run, &loop.part, error);
  if (found != JOIST_OK) return found;
  if (loop.part != NULL) loop.kept = bytes_kept(&loop);

  const size_t arena = joist_round_up(sizeof(struct worker), ALIGNMENT);
  const size_t kept = arena + joist_round_up(group->arena_bytes, ALIGNMENT);
  const size_t rows = kept + joist_round_up(loop.kept, ALIGNMENT);
  loop.stride = rows;
  if (loop.cut.rows)
    loop.stride += joist_round_up(
        group->sink_count * JOIST_ROWS_DEPTH * loop.cut.width * loop.accumulator, ALIGNMENT);
  const bool own_tally = loop.cut.tiles > 1 && run->tally != NULL;
  const size_t after_rows = loop.stride;
  if (own_tally) loop.stride += joist_round_up(sizeof *run->tally, ALIGNMENT);
  const size_t total = loop.stride * (size_t)threads + ALIGNMENT;
  _Alignas(ALIGNMENT) char stack[STACK_BYTES];
  char *const block = total <= STACK_BYTES ? stack : malloc(total);
  if (block == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = total);
  loop.workers = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  for (int t = 0; t < threads; t++) {
    char *const own = loop.workers + (size_t)t * loop.stride;
    struct joist_tally *const tally =
        own_tally ? (struct joist_tally *)(void *)(own + after_rows) : run->tally;
    if (own_tally) joist_tally_init(tally, true);
    *(struct worker *)(void *)own = (struct worker){
        .arena = own + arena, .kept = own + kept, .rows = own + rows, .tally = tally};
    fill_splats(&loop, own + arena);
  }
  const joist_status status = run_tiles(&loop, threads, run, error);
  for (int t = 0; t < threads && own_tally; t++)
    joist_tally_merge(run->tally, worker_at(&loop, (size_t)t)->tally);
  for (uint32_t s = 0; s < group->step_count && may_exceed != NULL; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    if (step->kind != JOIST_STEP_FOLD || !step->counts_wrapped) continue;
    const struct joist_instruction *const i = &plan->program->instructions[step->instruction];
    const size_t results = joist_value_count(&plan->program->values[i->result]);
    const size_t n = group->count / (results > 0 ? results : 1);
    *may_exceed |= step->signs_differ || joist_sum_may_exceed(bits, n, step->bounds);
  }
  if (block != stack) free(block);
  return status;
}

joist_status joist_tiles_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, char *const *accumulated, bool *may_exceed,
                             const struct joist_run *run, struct joist_error *error) {
  return run_loop(plan, group, arrays, accumulated, NULL, may_exceed, run, error);
}

joist_status joist_tiles_sum(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_halves *sums,
                             const struct joist_run *run, struct joist_error *error) {
  struct joist_run again = *run;
  again.tally = NULL;
  return run_loop(plan, group, arrays, NULL, sums, NULL, &again, error);
}
