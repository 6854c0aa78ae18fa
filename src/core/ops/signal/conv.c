/* Convolutions and their derivatives, as products of matrices whose elements are read where they
 * lie: no array of windows is made.
 *
 * One side of the product reads through windows, the other is a plain array; both are packed, up to
 * JOIST_GEMM_DEPTH terms at a time, into panels for the kernels of gemm_kernel.h, and elements of
 * other dtypes are converted on the way. A task computes a strip of lines of the first side times
 * all lines of the second. The sums of an element run over its terms in the same order, whatever
 * the number of threads.
 *
 * A line and a term are pairs of a fast index, a channel or an element of the batch, and a slow
 * one, a position. conv_kernel() reads both arrays with channels first, from copies. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/program/call.h"
#include "core/program/windows.h"
#include "core/types/convert.h"
#include "core/types/error.h"

enum {
  ALIGNMENT = 64,
  DEPTH = JOIST_GEMM_DEPTH,
  STRIP = 8,            /* panels of rows of a task */
  ROWS_MOST = 128,      /* of a panel: of bytes in the widest vectors */
  LARGEST_ELEMENT = 16, /* bytes, of c128 */
  TIMED = 64,           /* multiplications in the time of an addition that waits for memory */
  TURNED = 32           /* of a block that is transposed */
};

static joist_status shape_of(joist_op op, const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  struct joist_windows w;
  return joist_windows_make(op, shapes, attributes, &w, result, error);
}

joist_status joist_conv_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  return shape_of(JOIST_OP_CONV, shapes, attributes, result, error);
}
joist_status joist_conv_input_shape(const struct joist_shape *const *shapes,
                                    const struct joist_attributes *attributes,
                                    struct joist_shape *result, struct joist_error *error) {
  return shape_of(JOIST_OP_CONV_INPUT, shapes, attributes, result, error);
}
joist_status joist_conv_kernel_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  return shape_of(JOIST_OP_CONV_KERNEL, shapes, attributes, result, error);
}

/* ---- where elements lie ---- */

/* Along one dim: the offset that a position of a line and one of a term add, -1 for none. */
struct table {
  size_t lines, terms;
  ptrdiff_t *offset; /* lines x terms, terms first; NULL where the side is plain */
};

/* One operand as lines of terms. */
struct side {
  joist_dtype dtype;             /* of the elements in memory */
  size_t fast_lines, fast_terms; /* and the distances between two of them */
  size_t across, along;
  size_t slow_lines;
  size_t slow_stride; /* between two slow terms of a plain side, which has one slow line */
  struct table table[JOIST_WINDOW_DIMS];
  bool windows;
  size_t width; /* lines of a panel */
  joist_gemm_pack *pack;
};

struct conv {
  const struct joist_call *call;
  struct joist_windows windows;
  const struct joist_gemm_kernel *kernel;
  joist_dtype dtype, result_dtype; /* of the kernel; of the result */
  struct side row, column;
  size_t m, n, k, slices, depth; /* lines of both sides, terms, and of how many one slice is */
  size_t strips;
  const char *in[2];
  size_t elements[2], group[2]; /* of one convolution of a batch; between groups */
  size_t result_elements, result_group;
  size_t line_fast, line_slow, column_fast; /* distances in the result */
  char *scratch;
  size_t room, stage_room; /* bytes of a worker */
};

/* Positions in all dims of a slow index. */
struct position {
  size_t at[JOIST_WINDOW_DIMS];
};

static struct position split(const struct side *side, size_t slow, bool of_term) {
  struct position made;
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) {
    const size_t extent = of_term ? side->table[d].terms : side->table[d].lines;
    made.at[d] = slow % extent;
    slow /= extent;
  }
  return made;
}

/* Along the dims from `dim` on. */
static ptrdiff_t offset_of(const struct side *side, int dim, const struct position *line,
                           const struct position *term) {
  ptrdiff_t sum = 0;
  for (int d = dim; d < JOIST_WINDOW_DIMS; d++) {
    const struct table *const t = &side->table[d];
    const ptrdiff_t part = t->offset[line->at[d] * t->terms + term->at[d]];
    if (part < 0) return -1;
    sum += part;
  }
  return sum;
}

/* ---- packing ---- */

/* What copies elements of `size` bytes. */
#define BY_SIZE(COPY)             \
  switch (size) {                 \
    case 1:                       \
      COPY(uint8_t)               \
    case 2:                       \
      COPY(uint16_t)              \
    case 4:                       \
      COPY(uint32_t)              \
    case 8:                       \
      COPY(uint64_t)              \
    default:                      \
      COPY(struct complex_double) \
  }

#define COPY_BLOCK(TYPE)                                                          \
  for (size_t t = 0; t < terms; t++)                                              \
    for (size_t i = 0; i < lines; i++)                                            \
      ((TYPE *)to)[t * width + i] = ((const TYPE *)from)[t * along + i * across]; \
  return;

struct complex_double {
  double re, im;
};

/* `terms` rows of `lines` elements, `width` apart in `to`. */
static void copy_block(size_t size, size_t terms, size_t lines, const void *from, size_t across,
                       size_t along, void *to, size_t width) {
  if (across == 1 && lines * size >= ALIGNMENT) {
    for (size_t t = 0; t < terms; t++)
      memcpy((char *)to + t * width * size, (const char *)from + t * along * size, lines * size);
    return;
  }
  BY_SIZE(COPY_BLOCK)
}

#define COPY_LINES(TYPE)                                                            \
  for (size_t i = 0; i < lines; i++)                                                \
    for (size_t t = 0; t < terms && offset[i * every] >= 0; t++)                    \
      ((TYPE *)to)[t * width + i] =                                                 \
          ((const TYPE *)from)[start + offset[i * every] + (ptrdiff_t)(t * along)]; \
  return;

/* The same of lines at offset[0], offset[every], ... from `start`; none where that is negative. */
static void copy_lines(size_t size, size_t terms, size_t lines, const void *from, ptrdiff_t start,
                       const ptrdiff_t *offset, size_t every, size_t along, void *to,
                       size_t width) {
  BY_SIZE(COPY_LINES)
}

/* Whether the lines lie one after the other: from the first one on, all are as far apart as the
 * first two, up to those of -1 at the end. */
static bool follow(const ptrdiff_t *offset, size_t every, size_t lines) {
  return offset[0] >= 0 && (lines == 1 || offset[every] == offset[0] + 1) &&
         offset[(lines - 1) * every] == offset[0] + (ptrdiff_t)(lines - 1);
}

/* Lines first ... first + count - 1 of a side, `depth` terms from `term` on, as [term][line] in
 * the dtype of the array; elements outside it are 0. */
static void gather(const struct side *side, const char *data, size_t first, size_t count,
                   size_t term, size_t depth, char *to, size_t width) {
  const size_t size = joist_dtype_size(side->dtype);
  const bool part = side->windows || count < width;
  if (part) memset(to, 0, depth * width * size);
  const struct table *const near = &side->table[0];
  const bool single =
      side->windows && side->fast_lines == 1; /* lines follow each other in `near` */
  for (size_t line = 0, run; line < count; line += run) {
    const size_t slow = (first + line) / side->fast_lines, fast = (first + line) % side->fast_lines;
    run = joist_smaller(single ? near->lines - slow % near->lines : side->fast_lines - fast,
                        count - line);
    const struct position at = side->windows ? split(side, slow, false) : (struct position){{0}};
    struct position tap = side->windows ? split(side, term / side->fast_terms, true) : at;
    for (size_t t = 0, terms; t < depth; t += terms) {
      const size_t slow_term = (term + t) / side->fast_terms, skip = (term + t) % side->fast_terms;
      terms = joist_smaller(side->fast_terms - skip, depth - t);
      const ptrdiff_t offset = side->windows ? offset_of(side, single, &at, &tap)
                                             : (ptrdiff_t)(slow_term * side->slow_stride);
      const ptrdiff_t *const own =
          single ? near->offset + at.at[0] * near->terms + tap.at[0] : NULL;
      if (offset >= 0 && single && follow(own, near->terms, run))
        copy_block(size, terms, run, data + ((size_t)(offset + own[0]) + skip * side->along) * size,
                   1, side->along, to + (t * width + line) * size, width);
      else if (offset >= 0 && single)
        copy_lines(size, terms, run, data + skip * side->along * size, offset, own, near->terms,
                   side->along, to + (t * width + line) * size, width);
      else if (offset >= 0)
        copy_block(size, terms, run,
                   data + ((size_t)offset + fast * side->across + skip * side->along) * size,
                   side->across, side->along, to + (t * width + line) * size, width);
      for (int d = 0; d < JOIST_WINDOW_DIMS && side->windows; d++) {
        if (++tap.at[d] < side->table[d].terms) break;
        tap.at[d] = 0;
      }
    }
  }
}

/* A panel: in the dtype of the kernel, with the parts of complex numbers apart. */
static void pack_panel(const struct conv *c, const struct side *side, const char *data,
                       size_t panel, size_t term, size_t depth, char *stage, char *to) {
  const size_t first = panel * side->width;
  const size_t lines = side->fast_lines * side->slow_lines;
  const size_t count = joist_smaller(side->width, lines - first);
  const bool converts = side->dtype != c->dtype;
  const bool parts = joist_dtype_kind(c->dtype) == JOIST_KIND_COMPLEX;
  char *const second = stage + c->stage_room / 2;
  gather(side, data, first, count, term, depth, converts || parts ? stage : to, side->width);
  if (converts)
    joist_convert_find(side->dtype, c->dtype)(depth * side->width, stage, parts ? second : to);
  if (parts) side->pack(depth, side->width, converts ? second : stage, 1, side->width, to);
}

/* ---- strips of the result ---- */

static void place(const struct conv *c, size_t first, size_t lines, const char *sums, char *result,
                  char *stage) {
  const size_t size = joist_dtype_size(c->result_dtype), own = c->kernel->size;
  joist_convert_kernel *const convert =
      c->dtype == c->result_dtype ? NULL : joist_convert_find(c->dtype, c->result_dtype);
  for (size_t j = 0; j < c->n; j++) {
    const char *from = sums + j * lines * own;
    if (convert != NULL) {
      convert(lines, from, stage);
      from = stage;
    }
    const bool single = c->row.fast_lines == 1;
    for (size_t line = 0, run; line < lines; line += run) {
      const size_t slow = (first + line) / c->row.fast_lines;
      const size_t fast = (first + line) % c->row.fast_lines;
      run = single ? lines : joist_smaller(c->row.fast_lines - fast, lines - line);
      char *const to =
          result + (slow * c->line_slow + fast * c->line_fast + j * c->column_fast) * size;
      const size_t apart = single ? c->line_slow : c->line_fast;
      if (apart == 1)
        memcpy(to, from + line * size, run * size);
      else
        copy_block(size, run, 1, from + line * size, 1, 1, to, apart);
    }
  }
}

static void multiply_strip(const void *context, size_t task, size_t worker) {
  const struct conv *const c = context;
  const struct joist_gemm_kernel *const kernel = c->kernel;
  const size_t strip = task % c->strips, group = task / c->strips % c->windows.groups;
  const size_t batch = task / c->strips / c->windows.groups;
  const struct joist_shape *const shape = &c->call->result->shape;
  const char *data[2];
  for (int k = 0; k < 2; k++) {
    const size_t at =
        joist_windows_batch(&c->call->operand[k]->shape, shape, 2 + c->windows.dims, batch);
    const joist_dtype dtype = k == 0 ? c->row.dtype : c->column.dtype;
    data[k] = c->in[k] + (at * c->elements[k] + group * c->group[k]) * joist_dtype_size(dtype);
  }
  const size_t panels = joist_divide_up(c->m, c->row.width);
  const struct joist_part part = joist_share_of(panels, c->strips, strip);
  const size_t first = part.first * c->row.width;
  const size_t lines = joist_smaller(part.n * c->row.width, c->m - first);
  const size_t column_panels = joist_divide_up(c->n, c->column.width);
  char *const stage = c->scratch + worker * c->room;
  char *const rows = stage + c->stage_room;
  char *const columns = rows + joist_round_up(c->row.width * c->depth * kernel->size, ALIGNMENT);
  const size_t column_bytes = joist_round_up(c->column.width * c->depth * kernel->size, ALIGNMENT);
  char *const sums = columns + column_panels * column_bytes;
  for (size_t slice = 0; slice < c->slices; slice++) {
    const size_t term = slice * c->depth, depth = joist_smaller(c->depth, c->k - term);
    for (size_t j = 0; j < column_panels; j++)
      pack_panel(c, &c->column, data[1], j, term, depth, stage, columns + j * column_bytes);
    for (size_t i = 0; i < part.n; i++) {
      pack_panel(c, &c->row, data[0], part.first + i, term, depth, stage, rows);
      const size_t row = i * c->row.width;
      for (size_t j = 0; j < column_panels; j++) {
        const size_t column = j * c->column.width;
        kernel->multiply(depth, rows, columns + j * column_bytes, slice > 0,
                         joist_smaller(c->row.width, lines - row),
                         joist_smaller(c->column.width, c->n - column),
                         sums + (column * lines + row) * kernel->size, lines);
      }
    }
  }
  const size_t at = batch * c->result_elements + group * c->result_group;
  place(c, first, lines, sums, (char *)c->call->out[0] + at * joist_dtype_size(c->result_dtype),
        stage);
}

/* ---- the forms ---- */

/* The tables of the side that is read through windows. False if allocation fails. */
static bool make_tables(struct conv *c) {
  const struct joist_windows *const w = &c->windows;
  const size_t *const lines = w->form == JOIST_CONV_OUTPUT  ? w->p
                              : w->form == JOIST_CONV_INPUT ? w->z
                                                            : w->k;
  const size_t *const terms = w->form == JOIST_CONV_KERNEL ? w->p : w->k;
  const size_t *const extents = w->form == JOIST_CONV_INPUT ? w->p : w->z;
  size_t stride =
      c->elements[0] / (joist_window_positions(extents) + (joist_window_positions(extents) == 0));
  c->row.windows = true;
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) {
    struct table *const t = &c->row.table[d];
    t->lines = lines[d];
    t->terms = terms[d];
    t->offset = malloc((t->lines * t->terms + 1) * sizeof *t->offset);
    if (t->offset == NULL) return false;
    for (size_t line = 0; line < t->lines; line++)
      for (size_t term = 0; term < t->terms; term++) {
        const ptrdiff_t at = w->form == JOIST_CONV_OUTPUT  ? joist_window_input(w, d, line, term)
                             : w->form == JOIST_CONV_INPUT ? joist_window_output(w, d, line, term)
                                                           : joist_window_input(w, d, term, line);
        t->offset[line * t->terms + term] = at < 0 ? -1 : at * (ptrdiff_t)stride;
      }
    stride *= extents[d];
  }
  return true;
}

static void lay_out(struct conv *c) {
  const struct joist_windows *const w = &c->windows;
  const size_t outputs = w->groups * w->o, inputs = w->groups * w->c;
  struct side *const row = &c->row, *const column = &c->column;
  const bool input = w->form == JOIST_CONV_INPUT;
  row->across = 1;
  column->slow_lines = 1;
  if (w->form == JOIST_CONV_KERNEL) { /* of x with channels first; of y in the same way */
    *row = (struct side){.dtype = row->dtype,
                         .fast_lines = w->c,
                         .fast_terms = w->n,
                         .across = 1,
                         .along = inputs,
                         .slow_lines = joist_window_positions(w->k)};
    *column = (struct side){.dtype = column->dtype,
                            .fast_lines = w->o,
                            .fast_terms = w->n,
                            .across = 1,
                            .along = outputs,
                            .slow_lines = 1,
                            .slow_stride = w->n * outputs};
    c->elements[0] = joist_windows_input(w);
    c->elements[1] = joist_windows_output(w);
    c->group[0] = w->c;
    c->group[1] = c->result_group = w->o;
    c->result_elements = joist_windows_kernel(w);
    c->line_fast = outputs;
    c->line_slow = outputs * w->c;
    c->column_fast = 1;
    return;
  }
  row->fast_lines = w->n;
  row->fast_terms = input ? w->o : w->c;
  row->along = w->n;
  row->slow_lines = joist_window_positions(input ? w->z : w->p);
  column->fast_lines = input ? w->c : w->o;
  column->fast_terms = row->fast_terms;
  column->across = input ? outputs : 1;
  column->along = input ? 1 : outputs;
  column->slow_stride = outputs * w->c;
  c->elements[0] = input ? joist_windows_output(w) : joist_windows_input(w);
  c->elements[1] = joist_windows_kernel(w);
  c->group[0] = w->n * row->fast_terms;
  c->group[1] = w->o;
  c->result_group = w->n * column->fast_lines;
  c->result_elements = input ? joist_windows_input(w) : joist_windows_output(w);
  c->line_fast = 1;
  c->line_slow = w->n * (input ? inputs : outputs);
  c->column_fast = w->n;
}

/* ---- channels first ---- */

struct turning {
  const char *from;
  char *to;
  size_t size, n, channels;
};

/* One position of an array: n x channels elements become channels x n. */
static void turn(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct turning *const t = context;
  const size_t start = task * t->n * t->channels;
  for (size_t i = 0; i < t->n; i += TURNED)
    for (size_t j = 0; j < t->channels; j += TURNED)
      copy_block(t->size, joist_smaller(TURNED, t->n - i), joist_smaller(TURNED, t->channels - j),
                 t->from + (start + j * t->n + i) * t->size, t->n, 1,
                 t->to + (start + i * t->channels + j) * t->size, t->channels);
}

/* Both operands with channels first, in memory that the caller frees. */
static joist_status turn_operands(struct conv *c, void **made, struct joist_error *error) {
  const struct joist_windows *const w = &c->windows;
  for (int k = 0; k < 2; k++) {
    const size_t count = joist_value_count(c->call->operand[k]);
    const joist_dtype dtype = k == 0 ? c->row.dtype : c->column.dtype;
    struct turning t = {.from = c->in[k],
                        .size = joist_dtype_size(dtype),
                        .n = w->n,
                        .channels = w->groups * (k == 0 ? w->c : w->o)};
    made[k] = malloc(count * t.size + 1);
    if (made[k] == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
    t.to = made[k];
    const size_t each = t.n * t.channels;
    const joist_status status =
        joist_tasks_run(c->call->run, each == 0 ? 0 : count / each, each, turn, &t, error);
    if (status != JOIST_OK) return status;
    c->in[k] = made[k];
  }
  return JOIST_OK;
}

/* ---- all of it ---- */

/* The dtype whose kernel computes; modulo 2^8 is modulo 2^16, narrowed. */
static joist_dtype kernel_dtype(joist_dtype dtype) {
  const bool byte =
      joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER && joist_dtype_size(dtype) == 1;
  return byte ? JOIST_I16 : joist_dtype_compute(dtype);
}

static joist_status run_strips(struct conv *c, struct joist_error *error) {
  const size_t size = c->kernel->size, panels = joist_divide_up(c->m, c->row.width);
  const size_t batches = joist_value_count(c->call->result) / c->result_elements;
  c->slices = joist_divide_up(c->k, DEPTH);
  c->depth = joist_divide_up(c->k, c->slices);
  c->strips = joist_divide_up(panels, STRIP);
  const double work = (double)c->n * (double)c->k * (double)c->row.width;
  const size_t tasks = c->strips * c->windows.groups * batches;
  const double each = work * (double)joist_smaller(STRIP, panels) / TIMED + 1;
  const size_t per_task = each < 1e15 ? (size_t)each : (size_t)1e15;
  const size_t total = tasks < SIZE_MAX / per_task ? tasks * per_task : SIZE_MAX;
  const int threads = joist_threads_for(c->call->run, total, tasks);
  const size_t strip_lines = joist_divide_up(panels, c->strips) * c->row.width;
  c->stage_room =
      2 * joist_round_up(LARGEST_ELEMENT *
                             (c->row.width > c->column.width ? c->row.width : c->column.width) *
                             (c->depth > STRIP ? c->depth : STRIP),
                         ALIGNMENT);
  const size_t column_panels = joist_divide_up(c->n, c->column.width);
  const size_t column_bytes = joist_round_up(c->column.width * c->depth * size, ALIGNMENT);
  c->room = c->stage_room + joist_round_up(c->row.width * c->depth * size, ALIGNMENT) +
            column_panels * column_bytes + joist_round_up(strip_lines * c->n * size, ALIGNMENT);
  void *const memory = malloc(c->room * (size_t)threads + ALIGNMENT);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  c->scratch = (char *)memory + ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
  const joist_status status =
      joist_tasks_run_on(c->call->run, threads, tasks, per_task, multiply_strip, c, error);
  free(memory);
  return status;
}

static joist_status run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const joist_dtype *const given = call->instruction->signature.operand;
  struct conv c = {
      .call = call, .result_dtype = call->result->type.dtype, .in = {call->in[0], call->in[1]}};
  const struct joist_shape *const shapes[] = {&call->operand[0]->shape, &call->operand[1]->shape,
                                              NULL};
  joist_status status =
      joist_windows_make(call->instruction->op, shapes, attributes, &c.windows, NULL, error);
  const size_t count = joist_value_count(call->result);
  if (status != JOIST_OK || count == 0) return status;
  c.dtype = kernel_dtype(c.result_dtype);
  c.kernel = joist_gemm_find(c.dtype);
  c.row.dtype = given[0];
  c.column.dtype = given[1];
  lay_out(&c);
  c.row.width = c.kernel->rows;
  c.row.pack = c.kernel->pack_rows;
  c.column.width = c.kernel->columns;
  c.column.pack = c.kernel->pack_columns;
  c.m = c.row.fast_lines * c.row.slow_lines;
  c.n = c.column.fast_lines;
  c.k = joist_windows_terms(&c.windows);
  if (c.k == 0) {
    memset(call->out[0], 0, count * joist_dtype_size(c.result_dtype));
    return JOIST_OK;
  }
  void *made[2] = {NULL, NULL};
  if (!make_tables(&c)) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  if (status == JOIST_OK && c.windows.form == JOIST_CONV_KERNEL)
    status = turn_operands(&c, made, error);
  if (status == JOIST_OK) status = run_strips(&c, error);
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) free(c.row.table[d].offset);
  for (int k = 0; k < 2; k++) free(made[k]);
  return status;
}

joist_status joist_conv_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, error);
}
joist_status joist_conv_input_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, error);
}
joist_status joist_conv_kernel_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, error);
}
