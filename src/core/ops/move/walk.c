/* Walks. Owns no memory. */
#include "core/ops/move/walk.h"

#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"

enum { STRIP = 1 << 15, PIECE = 512, AHEAD = 24 };

#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* ---- making walks ---- */

void joist_walk_init(struct joist_walk *walk, bool scatter) {
  walk->rank = 0;
  walk->scatter = scatter;
  walk->count = 1;
  walk->in_base = walk->out_base = 0;
}

void joist_walk_add(struct joist_walk *walk, size_t extent, int64_t in_stride, int64_t out_stride,
                    const struct joist_index *index) {
  walk->count *= extent;
  if (extent == 0) return;
  int64_t *const base = walk->scatter ? &walk->out_base : &walk->in_base;
  int64_t *const stride = walk->scatter ? &out_stride : &in_stride;
  if (index != NULL && (index->kind == JOIST_INDEX_RANGE || extent == 1)) {
    *base += joist_index_at(index, 0) * *stride;
    *stride *= index->step;
    index = NULL;
  }
  if (extent == 1) return;
  const int last = walk->rank - 1;
  if (index == NULL && last >= 0 && walk->list[last] == NULL &&
      in_stride == walk->in_stride[last] * (int64_t)walk->extent[last] &&
      out_stride == walk->out_stride[last] * (int64_t)walk->extent[last]) {
    walk->extent[last] *= extent;
    return;
  }
  walk->extent[walk->rank] = extent;
  walk->in_stride[walk->rank] = in_stride;
  walk->out_stride[walk->rank] = out_stride;
  walk->list[walk->rank++] = index;
}

void joist_walk_take(const struct joist_shape *shape, const struct joist_index *indices,
                     struct joist_walk *walk) {
  int64_t in_stride = 1, out_stride = 1;
  joist_walk_init(walk, false);
  for (int d = 0; d < shape->rank; d++) {
    joist_walk_add(walk, indices[d].count, in_stride, out_stride, &indices[d]);
    in_stride *= (int64_t)shape->extent[d];
    out_stride *= (int64_t)indices[d].count;
  }
}

void joist_walk_put(const struct joist_shape *shape, const struct joist_index *indices,
                    bool repeated, struct joist_walk *walk) {
  int64_t in_stride = repeated ? 0 : 1, out_stride = 1;
  joist_walk_init(walk, true);
  for (int d = 0; d < shape->rank; d++) {
    joist_walk_add(walk, indices[d].count, in_stride, out_stride, &indices[d]);
    in_stride *= (int64_t)indices[d].count;
    out_stride *= (int64_t)shape->extent[d];
  }
}

/* ---- moving: one loop per element size, so that the compiler sees a plain move ---- */

#define MOVES(TYPE)                                                                                \
  static void stride_##TYPE(size_t n, const TYPE *in, int64_t in_stride, TYPE *out,                \
                            int64_t out_stride) {                                                  \
    if (in_stride == 0 && out_stride == 1) {                                                       \
      const TYPE value = *in;                                                                      \
      for (size_t k = 0; k < n; k++) out[k] = value;                                               \
    } else if (out_stride == 1) {                                                                  \
      for (size_t k = 0; k < n; k++) out[k] = in[(int64_t)k * in_stride];                          \
    } else {                                                                                       \
      for (size_t k = 0; k < n; k++) out[(int64_t)k * out_stride] = in[(int64_t)k * in_stride];    \
    }                                                                                              \
  }                                                                                                \
  static void gather_##TYPE(size_t n, const int64_t *position, const TYPE *in, int64_t in_stride,  \
                            TYPE *out, int64_t out_stride) {                                       \
    size_t k = 0;                                                                                  \
    for (; k + AHEAD < n; k++) {                                                                   \
      PREFETCH(in + position[k + AHEAD] * in_stride);                                              \
      out[(int64_t)k * out_stride] = in[position[k] * in_stride];                                  \
    }                                                                                              \
    for (; k < n; k++) out[(int64_t)k * out_stride] = in[position[k] * in_stride];                 \
  }                                                                                                \
  static void scatter_##TYPE(size_t n, const int64_t *position, const TYPE *in, int64_t in_stride, \
                             TYPE *out, int64_t out_stride) {                                      \
    for (size_t k = 0; k < n; k++) out[position[k] * out_stride] = in[(int64_t)k * in_stride];     \
  }
MOVES(uint8_t)
MOVES(uint16_t)
MOVES(uint32_t)
MOVES(uint64_t)
MOVES(sixteen)

struct moving {
  size_t size;
  const struct joist_walk *walk;
  const char *in;
  char *out;
  const struct joist_edges *edges; /* NULL for none */
};

/* n steps along the first dim from step k on; `in` and `out` are where the dim begins. */
static void move_run(const struct moving *moving, size_t k, size_t n, const char *in, char *out) {
  const struct joist_walk *const walk = moving->walk;
  const size_t size = moving->size;
  const int64_t is = walk->rank > 0 ? walk->in_stride[0] : 1;
  const int64_t os = walk->rank > 0 ? walk->out_stride[0] : 1;
  const struct joist_index *const list = walk->rank > 0 ? walk->list[0] : NULL;
  if (list == NULL) {
    const void *const from = in + (int64_t)k * is * (int64_t)size;
    void *const to = out + (int64_t)k * os * (int64_t)size;
    if (is == 1 && os == 1)
      memcpy(to, from, n * size);
    else
      JOIST_BY_SIZE(size, stride, n, from, is, to, os);
    return;
  }
  int64_t positions[PIECE];
  for (size_t done = 0; done < n; done += PIECE) {
    const size_t piece = joist_smaller(n - done, PIECE);
    joist_index_read(list, k + done, piece, positions);
    const int64_t at = (int64_t)(k + done);
    if (walk->scatter) {
      const void *const from = in + at * is * (int64_t)size;
      void *const to = out;
      JOIST_BY_SIZE(size, scatter, piece, positions, from, is, to, os);
    } else {
      const void *const from = in;
      void *const to = out + at * os * (int64_t)size;
      JOIST_BY_SIZE(size, gather, piece, positions, from, is, to, os);
    }
  }
}

static void repeat(size_t size, size_t n, const void *from, void *to) {
  JOIST_BY_SIZE(size, stride, n, from, 0, to, 1);
}

/* The edges of a line of which steps first .. end - 1 have been moved. */
static void fill_edges(const struct moving *moving, size_t first, size_t end, char *line) {
  const struct joist_edges *const edges = moving->edges;
  const size_t size = moving->size, length = moving->walk->extent[0];
  if (first == 0) repeat(size, edges->low, edges->value, line - edges->low * size);
  if (end == length) repeat(size, edges->high, edges->value, line + length * size);
}

/* How far step k of dim d is from the start of the dim, in the array that is read (or
 * written). */
static int64_t offset_of(const struct joist_walk *walk, int d, size_t k, bool written) {
  const int64_t stride = written ? walk->out_stride[d] : walk->in_stride[d];
  if (walk->list[d] == NULL || written != walk->scatter) return (int64_t)k * stride;
  return joist_index_at(walk->list[d], k) * stride;
}

/* n steps from step `first` on. */
static void move_steps(const struct moving *moving, size_t first, size_t n) {
  const struct joist_walk *const walk = moving->walk;
  const int64_t size = (int64_t)moving->size;
  size_t at[JOIST_RANK_MAX];
  int64_t in = walk->in_base, out = walk->out_base;
  const size_t inner = walk->rank > 0 ? walk->extent[0] : 1;
  for (int d = 0; d < walk->rank; d++) {
    at[d] = first % walk->extent[d];
    first /= walk->extent[d];
    if (d == 0) continue;
    in += offset_of(walk, d, at[d], false);
    out += offset_of(walk, d, at[d], true);
  }
  size_t k = walk->rank > 0 ? at[0] : 0;
  for (;;) {
    const size_t run = joist_smaller(inner - k, n);
    move_run(moving, k, run, moving->in + in * size, moving->out + out * size);
    if (moving->edges != NULL) fill_edges(moving, k, k + run, moving->out + out * size);
    n -= run;
    if (n == 0) return;
    k = 0;
    for (int d = 1; d < walk->rank; d++) {
      in -= offset_of(walk, d, at[d], false);
      out -= offset_of(walk, d, at[d], true);
      const bool more = ++at[d] < walk->extent[d];
      if (!more) at[d] = 0;
      in += offset_of(walk, d, at[d], false);
      out += offset_of(walk, d, at[d], true);
      if (more) break;
    }
  }
}

static void move_strip(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct moving *const moving = context;
  const struct joist_part part = joist_strip_of(moving->walk->count, STRIP, task);
  move_steps(moving, part.first, part.n);
}

joist_status joist_move_lines(size_t size, const struct joist_walk *walk,
                              const struct joist_edges *edges, const void *in, void *out,
                              const struct joist_run *run, struct joist_error *error) {
  if (walk->count == 0) return JOIST_OK;
  const struct moving moving = {size, walk, in, out, edges};
  const size_t strips = joist_divide_up(walk->count, STRIP);
  int threads = joist_threads_for(run, walk->count, strips);
  /* Of places that are listed twice, the last one counts. */
  for (int d = 0; d < walk->rank; d++)
    if (walk->scatter && walk->list[d] != NULL) threads = 1;
  return joist_tasks_run_on(run, threads, strips, STRIP, move_strip, &moving, error);
}

joist_status joist_move(size_t size, const struct joist_walk *walk, const void *in, void *out,
                        const struct joist_run *run, struct joist_error *error) {
  return joist_move_lines(size, walk, NULL, in, out, run, error);
}

joist_status joist_copy_elements(size_t size, size_t count, const void *in, void *out,
                                 const struct joist_run *run, struct joist_error *error) {
  struct joist_walk walk;
  if (in == out) return JOIST_OK;
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, count, 1, 1, NULL);
  return joist_move(size, &walk, in, out, run, error);
}

joist_status joist_repeat_element(size_t size, size_t count, const void *in, void *out,
                                  const struct joist_run *run, struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, count, 0, 1, NULL);
  return joist_move(size, &walk, in, out, run, error);
}

void joist_positions(const struct joist_shape *shape, const struct joist_index *indices,
                     int64_t *positions) {
  size_t at[JOIST_RANK_MAX] = {0}, stride[JOIST_RANK_MAX], product = 1;
  for (int d = 0; d < shape->rank; d++) {
    if (indices[d].count == 0) return;
    stride[d] = product;
    product *= shape->extent[d];
  }
  const size_t n = shape->rank > 0 ? indices[0].count : 1;
  for (;;) {
    int64_t base = 0;
    for (int d = 1; d < shape->rank; d++)
      base += joist_index_at(&indices[d], at[d]) * (int64_t)stride[d];
    if (shape->rank > 0)
      joist_index_read(&indices[0], 0, n, positions);
    else
      positions[0] = 0;
    for (size_t k = 0; k < n; k++) positions[k] += base;
    positions += n;
    int d = 1;
    for (; d < shape->rank && ++at[d] == indices[d].count; d++) at[d] = 0;
    if (d >= shape->rank) return;
  }
}
