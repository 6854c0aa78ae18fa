/* The shapes and positions of convolutions. The one sum behind them is over products of x, a kernel
 * and y:
 *   x[n, g c, z] kernel[g o, c, k] y[n, g o, p] where z = p step + k dilation - low,
 * of n in a batch, groups g, channels c and o, and positions z, p and k of up to three dims. Each
 * operation makes one of the three arrays out of the other two: conv(x, kernel) is y,
 * conv_input(y, kernel) is x, conv_kernel(x, y) is a kernel, of the extents asked for. Dims behind
 * these are a batch, of equal extents or 1. Owns no memory. */
#ifndef JOIST_CORE_PROGRAM_WINDOWS_H
#define JOIST_CORE_PROGRAM_WINDOWS_H

#include "core/program/ops.h"
#include "core/types/shape.h"

enum { JOIST_WINDOW_DIMS = 3 };

typedef enum { JOIST_CONV_OUTPUT, JOIST_CONV_INPUT, JOIST_CONV_KERNEL } joist_conv_form;

struct joist_windows {
  joist_conv_form form;
  int dims;
  size_t n, groups, c, o;                                                  /* channels of a group */
  size_t z[JOIST_WINDOW_DIMS], p[JOIST_WINDOW_DIMS], k[JOIST_WINDOW_DIMS]; /* 1 beyond `dims` */
  int64_t step[JOIST_WINDOW_DIMS], dilation[JOIST_WINDOW_DIMS], low[JOIST_WINDOW_DIMS];
};

bool joist_is_conv(joist_op op);

/* JOIST_ERROR_SHAPE unless the shapes and attributes fit. `result` may be NULL. */
joist_status joist_windows_make(joist_op op, const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes, struct joist_windows *w,
                                struct joist_shape *result, struct joist_error *error);

/* Positions in all dims of such extents. */
size_t joist_window_positions(const size_t *extents);

/* Elements of an array of one convolution of a batch. */
size_t joist_windows_input(const struct joist_windows *w);
size_t joist_windows_kernel(const struct joist_windows *w);
size_t joist_windows_output(const struct joist_windows *w);

/* Which of an operand's convolutions belongs to number `index` of a batch, the dims of `result`
 * from `first` on. */
size_t joist_windows_batch(const struct joist_shape *operand, const struct joist_shape *result,
                           int first, size_t index);

/* Along dim d: z for p and k, or p for z and k; -1 where there is none. */
static inline ptrdiff_t joist_window_input(const struct joist_windows *w, int d, size_t p,
                                           size_t k) {
  const int64_t z = (int64_t)p * w->step[d] + (int64_t)k * w->dilation[d] - w->low[d];
  return z >= 0 && z < (int64_t)w->z[d] ? (ptrdiff_t)z : -1;
}
ptrdiff_t joist_window_output(const struct joist_windows *w, int d, size_t z, size_t k);

/* How many products an element is the sum of, at most; and positions of term `term` of element
 * `at` in both operands, false if there is none. */
size_t joist_windows_terms(const struct joist_windows *w);
bool joist_windows_term(const struct joist_windows *w, size_t at, size_t term, size_t *lhs,
                        size_t *rhs);

/* Terms of a sum of products, of a matrix product or a convolution of operands of these shapes. */
size_t joist_product_terms(joist_op op, const struct joist_shape *lhs,
                           const struct joist_shape *rhs,
                           const struct joist_attributes *attributes);

#endif
