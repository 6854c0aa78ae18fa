/* Moving elements. Owns no memory. */
#include "core/layout.h"

#include <string.h>

/* Copies `n` elements in[index[k] * stride] to out; one loop per element size, so that
 * the compiler sees a plain move. */
#define GATHER(TYPE)                                           \
  do {                                                         \
    const TYPE *const from = in;                               \
    TYPE *const to = out;                                      \
    for (size_t k = 0; k < count; k++) to[k] = from[index[k]]; \
  } while (0)
#define SCATTER(TYPE)                                                 \
  do {                                                                \
    const TYPE *const from = values;                                  \
    TYPE *const to = out;                                             \
    for (size_t k = 0; k < count; k++) to[index[k]] = from[k * step]; \
  } while (0)

struct sixteen {
  uint64_t part[2];
};

void joist_take(size_t size, size_t count, const int64_t *index, const void *in, void *out) {
  switch (size) {
    case 1:
      GATHER(uint8_t);
      break;
    case 2:
      GATHER(uint16_t);
      break;
    case 4:
      GATHER(uint32_t);
      break;
    case 8:
      GATHER(uint64_t);
      break;
    default:
      GATHER(struct sixteen);
      break;
  }
}

void joist_put(size_t size, size_t count, const int64_t *index, const void *values,
               size_t value_count, void *out) {
  const size_t step = value_count > 1;
  switch (size) {
    case 1:
      SCATTER(uint8_t);
      break;
    case 2:
      SCATTER(uint16_t);
      break;
    case 4:
      SCATTER(uint32_t);
      break;
    case 8:
      SCATTER(uint64_t);
      break;
    default:
      SCATTER(struct sixteen);
      break;
  }
}

void joist_concatenate(size_t size, const struct joist_shape *shape, int dim, size_t first,
                       size_t extent, const void *in, void *out) {
  size_t inner = size, outer = 1;
  for (int d = 0; d < dim; d++) inner *= shape->extent[d];
  for (int d = dim + 1; d < shape->rank; d++) outer *= shape->extent[d];
  const size_t run = inner * extent, row = inner * shape->extent[dim];
  for (size_t o = 0; o < outer && run > 0; o++)
    memcpy((char *)out + o * row + first * inner, (const char *)in + o * run, run);
}

/* Walks the selected positions in runs along the first dim: calls nothing, keeps the
 * counters in `at`, returns false after the last run. */
static bool next_run(const struct joist_shape *shape, const uint32_t *extent, uint32_t *at) {
  for (int d = 1; d < shape->rank; d++) {
    if (++at[d] < extent[d]) return true;
    at[d] = 0;
  }
  return false;
}

static int64_t run_base(const struct joist_shape *shape, const int64_t *const *index,
                        const uint32_t *at) {
  int64_t base = 0, stride = shape->rank > 0 ? (int64_t)shape->extent[0] : 1;
  for (int d = 1; d < shape->rank; d++) {
    base += (index[d] == NULL ? (int64_t)at[d] : index[d][at[d]]) * stride;
    stride *= (int64_t)shape->extent[d];
  }
  return base;
}

static bool nothing(const struct joist_shape *shape, const uint32_t *extent) {
  for (int d = 0; d < shape->rank; d++)
    if (extent[d] == 0) return true;
  return false;
}

void joist_positions(const struct joist_shape *shape, const int64_t *const *index,
                     const uint32_t *extent, int64_t *positions) {
  uint32_t at[JOIST_RANK_MAX] = {0};
  if (nothing(shape, extent)) return;
  const size_t n = shape->rank > 0 ? extent[0] : 1;
  do {
    const int64_t base = run_base(shape, index, at);
    const int64_t *const first = shape->rank > 0 ? index[0] : NULL;
    for (size_t k = 0; k < n; k++) *positions++ = base + (first == NULL ? (int64_t)k : first[k]);
  } while (next_run(shape, extent, at));
}

void joist_take_dims(size_t size, const struct joist_shape *shape, const int64_t *const *index,
                     const uint32_t *extent, const void *in, void *out) {
  uint32_t at[JOIST_RANK_MAX] = {0};
  if (nothing(shape, extent)) return;
  const size_t n = shape->rank > 0 ? extent[0] : 1;
  char *to = out;
  do {
    const char *const from = (const char *)in + (size_t)run_base(shape, index, at) * size;
    if (shape->rank == 0 || index[0] == NULL)
      memcpy(to, from, n * size);
    else
      joist_take(size, n, index[0], from, to);
    to += n * size;
  } while (next_run(shape, extent, at));
}

/* `rows` x `columns` elements, `in` strided by columns, to `out` strided by rows, in squares
 * that stay in cache. Strides count elements. */
#define TRANSPOSE(TYPE)                                                                       \
  static void transpose_##TYPE(size_t rows, size_t columns, const TYPE *in, size_t in_stride, \
                               TYPE *out, size_t out_stride) {                                \
    enum { SIDE = 32 };                                                                       \
    for (size_t r0 = 0; r0 < rows; r0 += SIDE)                                                \
      for (size_t c0 = 0; c0 < columns; c0 += SIDE) {                                         \
        const size_t r1 = r0 + SIDE < rows ? r0 + SIDE : rows;                                \
        const size_t c1 = c0 + SIDE < columns ? c0 + SIDE : columns;                          \
        for (size_t c = c0; c < c1; c++)                                                      \
          for (size_t r = r0; r < r1; r++) out[c + r * out_stride] = in[r + c * in_stride];   \
      }                                                                                       \
  }
typedef struct sixteen sixteen;
TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)
TRANSPOSE(sixteen)

static void transpose(size_t size, size_t rows, size_t columns, const char *in, size_t in_stride,
                      char *out, size_t out_stride) {
  const void *const from = in;
  void *const to = out;
  switch (size) {
    case 1:
      transpose_uint8_t(rows, columns, from, in_stride, to, out_stride);
      break;
    case 2:
      transpose_uint16_t(rows, columns, from, in_stride, to, out_stride);
      break;
    case 4:
      transpose_uint32_t(rows, columns, from, in_stride, to, out_stride);
      break;
    case 8:
      transpose_uint64_t(rows, columns, from, in_stride, to, out_stride);
      break;
    default:
      transpose_sixteen(rows, columns, from, in_stride, to, out_stride);
      break;
  }
}

void joist_permute(size_t size, const struct joist_shape *shape, const int32_t *order,
                   const void *in, void *out) {
  const int rank = shape->rank;
  size_t in_stride[JOIST_RANK_MAX + 1], out_stride[JOIST_RANK_MAX + 1];
  size_t product = 1;
  for (int d = 0; d < rank; d++) {
    if (shape->extent[d] == 0) return;
    in_stride[d] = product;
    product *= shape->extent[d];
  }
  if (rank == 0) {
    memcpy(out, in, size);
    return;
  }
  /* out_stride[d]: how far a step along dim d of `in` goes in `out` */
  size_t step = 1;
  for (int d = 0; d < rank; d++) {
    out_stride[order[d]] = step;
    step *= shape->extent[order[d]];
  }
  /* Each plane of in's first dim and the dim that becomes out's first is one transposition
   * (a plain run when they are the same dim); the other dims are counted. */
  const int other = order[0];
  const size_t rows = shape->extent[0], columns = other == 0 ? 1 : shape->extent[other];
  uint32_t at[JOIST_RANK_MAX] = {0};
  size_t from = 0, to = 0;
  for (;;) {
    const char *const source = (const char *)in + from * size;
    char *const target = (char *)out + to * size;
    if (other == 0)
      memcpy(target, source, rows * size);
    else
      transpose(size, rows, columns, source, in_stride[other], target, out_stride[0]);
    int d = 1;
    for (; d < rank; d++) {
      if (d == other) continue;
      from += in_stride[d];
      to += out_stride[d];
      if (++at[d] < shape->extent[d]) break;
      from -= in_stride[d] * shape->extent[d];
      to -= out_stride[d] * shape->extent[d];
      at[d] = 0;
    }
    if (d == rank) return;
  }
}
