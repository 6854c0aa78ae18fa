/* Permuting dims: transpositions of planes in squares that stay in cache. */
#include "core/ops/move/permute.h"

#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"

enum { STRIPE = 64 };

/* `rows` x `columns` elements, `in` strided by columns, to `out` strided by rows, in squares
 * that stay in cache. Strides count elements. */
#define TRANSPOSE(TYPE, SIDE)                                                                 \
  static void transpose_##TYPE(size_t rows, size_t columns, const TYPE *in, size_t in_stride, \
                               TYPE *out, size_t out_stride) {                                \
    for (size_t r0 = 0; r0 < rows; r0 += SIDE)                                                \
      for (size_t c0 = 0; c0 < columns; c0 += SIDE) {                                         \
        const size_t r1 = r0 + SIDE < rows ? r0 + SIDE : rows;                                \
        const size_t c1 = c0 + SIDE < columns ? c0 + SIDE : columns;                          \
        for (size_t r = r0; r < r1; r++)                                                      \
          for (size_t c = c0; c < c1; c++) out[c + r * out_stride] = in[r + c * in_stride];   \
      }                                                                                       \
  }
TRANSPOSE(uint8_t, 64)
TRANSPOSE(uint16_t, 64)
TRANSPOSE(uint32_t, 64)
TRANSPOSE(uint64_t, 64)
TRANSPOSE(sixteen, 32)

static void transpose(size_t size, size_t rows, size_t columns, const char *in, size_t in_stride,
                      char *out, size_t out_stride) {
  const void *const from = in;
  void *const to = out;
  JOIST_BY_SIZE(size, transpose, rows, columns, from, in_stride, to, out_stride);
}

/* A walk whose dim `a` is dense in `in` and whose first dim is dense in `out`. */
struct permuting {
  size_t size;
  const struct joist_walk *walk;
  int a;
  size_t stripes; /* of the rows, per plane */
  const char *in;
  char *out;
};

/* One stripe of rows of one plane: a task. */
static void permute_stripe(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct permuting *const p = context;
  const struct joist_walk *const walk = p->walk;
  const size_t row = task % p->stripes * STRIPE;
  size_t plane = task / p->stripes;
  int64_t in = walk->in_base, out = walk->out_base;
  for (int d = 1; d < walk->rank; d++) {
    if (d == p->a) continue;
    in += (int64_t)(plane % walk->extent[d]) * walk->in_stride[d];
    out += (int64_t)(plane % walk->extent[d]) * walk->out_stride[d];
    plane /= walk->extent[d];
  }
  const size_t rest = walk->extent[p->a] - row;
  in += (int64_t)row;
  out += (int64_t)row * walk->out_stride[p->a];
  transpose(p->size, rest < STRIPE ? rest : STRIPE, walk->extent[0], p->in + in * (int64_t)p->size,
            (size_t)walk->in_stride[0], p->out + out * (int64_t)p->size,
            (size_t)walk->out_stride[p->a]);
}

void joist_walk_permute(const struct joist_shape *shape, const struct joist_attributes *attributes,
                        struct joist_walk *walk) {
  int64_t stride[JOIST_RANK_MAX + 1] = {1};
  for (int d = 0; d < shape->rank; d++) stride[d + 1] = stride[d] * (int64_t)shape->extent[d];
  joist_walk_init(walk, false);
  int64_t to = 1;
  for (int d = 0; d < shape->rank; d++) {
    const int64_t from = joist_attribute_at(attributes, JOIST_ATTRIBUTE_PERMUTATION, d);
    const size_t extent = shape->extent[from];
    joist_walk_add(walk, extent, stride[from], to, NULL);
    to *= (int64_t)extent;
  }
}

joist_status joist_walk_transpose(size_t size, const struct joist_walk *walk, const void *in,
                                  void *out, const struct joist_run *run,
                                  struct joist_error *error) {
  int a = 0;
  while (a < walk->rank && walk->in_stride[a] != 1) a++;
  /* The first dim stays, or there is nothing to permute: runs are copied. */
  if (walk->count == 0 || walk->rank < 2 || a == 0 || a == walk->rank || walk->out_stride[0] != 1)
    return joist_move(size, walk, in, out, run, error);
  const size_t stripes = joist_divide_up(walk->extent[a], STRIPE);
  const struct permuting permuting = {size, walk, a, stripes, in, out};
  const size_t planes = walk->count / walk->extent[a] / walk->extent[0];
  const size_t rows = joist_smaller(walk->extent[a], STRIPE);
  return joist_tasks_run(run, planes * stripes, rows * walk->extent[0], permute_stripe, &permuting,
                         error);
}

joist_status joist_permute(size_t size, const struct joist_shape *shape,
                           const struct joist_attributes *attributes, const void *in, void *out,
                           const struct joist_run *run, struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_permute(shape, attributes, &walk);
  return joist_walk_transpose(size, &walk, in, out, run, error);
}
