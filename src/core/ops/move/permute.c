/* Permuting dims: transpositions of planes in squares that stay in cache. */
#include "core/ops/move/permute.h"

#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"

/* Rows of a task, and bytes of a line of the caches, which a square has on either side. */
enum { STRIPE = 64, LINE = 64 };

/* Where compilers have vectors of 16 bytes, a tile of as many columns as rows fit one is turned in
 * registers: k times, where 2^k is its side, the elements of the vectors of its first half are put
 * between elements of its second. The arguments after SIDE say which these are. */
#if defined(__clang__)
#define SHUFFLE(TYPE, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#define UNROLLED(N)
#elif defined(__GNUC__)
#define SHUFFLE(TYPE, x, y, ...) __builtin_shuffle(x, y, (vector_of_##TYPE){__VA_ARGS__})
#define TEXT_OF(x) #x
#define UNROLLED(N) _Pragma(TEXT_OF(GCC unroll N))
#else
#define UNROLLED(N)
#endif
#define LIST(...) __VA_ARGS__

#ifdef SHUFFLE
#define TILE(TYPE, SIDE, FIRST, SECOND)                                                            \
  typedef TYPE vector_of_##TYPE __attribute__((vector_size(SIDE * sizeof(TYPE))));                 \
  static inline void turn_##TYPE(const TYPE *in, size_t in_stride, TYPE *out, size_t out_stride) { \
    vector_of_##TYPE v[SIDE], w[SIDE];                                                             \
    UNROLLED(SIDE)                                                                                 \
    for (int k = 0; k < SIDE; k++) memcpy(&v[k], in + (size_t)k * in_stride, sizeof v[k]);         \
    UNROLLED(4) for (int times = 1; times < SIDE; times *= 2) {                                    \
      UNROLLED(SIDE) for (int k = 0; k < SIDE / 2; k++) {                                          \
        w[2 * k] = SHUFFLE(TYPE, v[k], v[k + SIDE / 2], FIRST);                                    \
        w[2 * k + 1] = SHUFFLE(TYPE, v[k], v[k + SIDE / 2], SECOND);                               \
      }                                                                                            \
      UNROLLED(SIDE) for (int k = 0; k < SIDE; k++) v[k] = w[k];                                   \
    }                                                                                              \
    UNROLLED(SIDE)                                                                                 \
    for (int k = 0; k < SIDE; k++) memcpy(out + (size_t)k * out_stride, &v[k], sizeof v[k]);       \
  }
#else
#define TILE(TYPE, SIDE, FIRST, SECOND)                                                            \
  static inline void turn_##TYPE(const TYPE *in, size_t in_stride, TYPE *out, size_t out_stride) { \
    for (size_t r = 0; r < SIDE; r++)                                                              \
      for (size_t c = 0; c < SIDE; c++) out[c + r * out_stride] = in[r + c * in_stride];           \
  }
#endif
TILE(uint8_t, 16, LIST(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
     LIST(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
TILE(uint16_t, 8, LIST(0, 8, 1, 9, 2, 10, 3, 11), LIST(4, 12, 5, 13, 6, 14, 7, 15))
TILE(uint32_t, 4, LIST(0, 4, 1, 5), LIST(2, 6, 3, 7))
TILE(uint64_t, 2, LIST(0, 2), LIST(1, 3))

static inline void turn_sixteen(const sixteen *in, size_t in_stride, sixteen *out,
                                size_t out_stride) {
  (void)in_stride;
  (void)out_stride;
  *out = *in;
}

/* `rows` x `columns` elements, `in` strided by columns, to `out` strided by rows, in squares of
 * whole lines, in tiles. Strides count elements. */
#define TRANSPOSE(TYPE, SIDE)                                                                      \
  static void transpose_##TYPE(size_t rows, size_t columns, const TYPE *in, size_t in_stride,      \
                               TYPE *out, size_t out_stride) {                                     \
    enum { SQUARE = LINE / sizeof(TYPE) };                                                         \
    for (size_t c0 = 0; c0 < columns; c0 += SQUARE)                                                \
      for (size_t r0 = 0; r0 < rows; r0 += SQUARE) {                                               \
        const TYPE *const from = in + r0 + c0 * in_stride;                                         \
        TYPE *const to = out + c0 + r0 * out_stride;                                               \
        if (rows - r0 >= SQUARE && columns - c0 >= SQUARE) {                                       \
          for (size_t r = 0; r < SQUARE; r += SIDE) UNROLLED(4)                                    \
          for (size_t c = 0; c < SQUARE; c += SIDE)                                                \
            turn_##TYPE(from + r + c * in_stride, in_stride, to + c + r * out_stride, out_stride); \
        } else {                                                                                   \
          const size_t m = joist_smaller(rows - r0, SQUARE);                                       \
          const size_t n = joist_smaller(columns - c0, SQUARE);                                    \
          for (size_t r = 0; r < m; r++)                                                           \
            for (size_t c = 0; c < n; c++) to[c + r * out_stride] = from[r + c * in_stride];       \
        }                                                                                          \
      }                                                                                            \
  }
TRANSPOSE(uint8_t, 16)
TRANSPOSE(uint16_t, 8)
TRANSPOSE(uint32_t, 4)
TRANSPOSE(uint64_t, 2)
TRANSPOSE(sixteen, 1)

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
