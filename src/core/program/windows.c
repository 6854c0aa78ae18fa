/* Shapes and positions of convolutions. */
#include "core/program/windows.h"

#include "core/types/error.h"

enum { CHANNEL_DIMS = 2 };

bool joist_is_conv(joist_op op) {
  return op == JOIST_OP_CONV || op == JOIST_OP_CONV_INPUT || op == JOIST_OP_CONV_KERNEL;
}

size_t joist_window_positions(const size_t *extents) {
  return extents[0] * extents[1] * extents[2];
}

size_t joist_windows_input(const struct joist_windows *w) {
  return w->n * w->groups * w->c * joist_window_positions(w->z);
}
size_t joist_windows_kernel(const struct joist_windows *w) {
  return w->groups * w->o * w->c * joist_window_positions(w->k);
}
size_t joist_windows_output(const struct joist_windows *w) {
  return w->n * w->groups * w->o * joist_window_positions(w->p);
}

static uint32_t extent_of(const struct joist_shape *shape, int dim) {
  return dim < shape->rank ? shape->extent[dim] : 1;
}

static joist_status mismatch(const struct joist_shape *const *shapes, int dim, size_t a, size_t b,
                             struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_SHAPE_EXTENTS, .shape = {*shapes[0], *shapes[1]}, .dim = dim + 1,
                    .count = {a, b});
}

static void set_extents(size_t *to, const struct joist_shape *from, int first, int dims) {
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) to[d] = d < dims ? from->extent[first + d] : 1;
}

/* Channels of all groups, in the dims of the operands that have them, which must agree. */
static joist_status set_channels(const struct joist_shape *const *shapes, struct joist_windows *w,
                                 struct joist_error *error) {
  const struct joist_shape *const a = shapes[0], *const b = shapes[1];
  size_t inputs = 0, outputs = 0;
  w->n = a->extent[0];
  switch (w->form) {
    case JOIST_CONV_OUTPUT:
      inputs = a->extent[1];
      outputs = b->extent[0];
      if (inputs != b->extent[1] * w->groups)
        return mismatch(shapes, 1, inputs, b->extent[1] * w->groups, error);
      break;
    case JOIST_CONV_INPUT:
      outputs = a->extent[1];
      inputs = b->extent[1] * w->groups;
      if (outputs != b->extent[0]) return mismatch(shapes, 1, outputs, b->extent[0], error);
      break;
    case JOIST_CONV_KERNEL:
      inputs = a->extent[1];
      outputs = b->extent[1];
      if (a->extent[0] != b->extent[0])
        return mismatch(shapes, 0, a->extent[0], b->extent[0], error);
      break;
  }
  if (inputs % w->groups != 0 || outputs % w->groups != 0)
    return mismatch(shapes, 1, inputs, outputs, error);
  w->c = inputs / w->groups;
  w->o = outputs / w->groups;
  return JOIST_OK;
}

static joist_status set_result(const struct joist_shape *const *shapes,
                               const struct joist_windows *w, const struct joist_shape *extents,
                               struct joist_shape *result, struct joist_error *error) {
  const bool kernel = w->form == JOIST_CONV_KERNEL;
  const int rank = shapes[0]->rank > shapes[1]->rank ? shapes[0]->rank : shapes[1]->rank;
  *result = (struct joist_shape){.rank = rank};
  result->extent[0] = (uint32_t)(kernel ? w->groups * w->o : w->n);
  result->extent[1] =
      (uint32_t)(kernel ? w->c : w->groups * (w->form == JOIST_CONV_INPUT ? w->c : w->o));
  for (int d = 0; d < w->dims; d++) result->extent[CHANNEL_DIMS + d] = extents->extent[d];
  for (int d = CHANNEL_DIMS + w->dims; d < rank; d++) {
    const uint32_t a = extent_of(shapes[0], d), b = extent_of(shapes[1], d);
    if (a != b && a != 1 && b != 1) return mismatch(shapes, d, a, b, error);
    result->extent[d] = a == 1 ? b : a;
  }
  return JOIST_OK;
}

joist_status joist_windows_make(joist_op op, const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes, struct joist_windows *w,
                                struct joist_shape *result, struct joist_error *error) {
  struct joist_shape extents = {.rank = 0};
  (void)joist_attribute_shape(attributes, &extents);
  const int64_t groups = joist_attribute_value(attributes, JOIST_ATTRIBUTE_K);
  *w = (struct joist_windows){.dims = extents.rank, .groups = (size_t)groups};
  const int dims = w->dims, rank = CHANNEL_DIMS + dims;
  w->form = op == JOIST_OP_CONV         ? JOIST_CONV_OUTPUT
            : op == JOIST_OP_CONV_INPUT ? JOIST_CONV_INPUT
                                        : JOIST_CONV_KERNEL;
  if (dims > JOIST_WINDOW_DIMS || shapes[0]->rank < rank || shapes[1]->rank < rank || groups < 1)
    return JOIST_FAIL(error, JOIST_E_SHAPE_RANKS, .shape = {*shapes[0], *shapes[1]});
  static const joist_attribute_name lists[] = {JOIST_ATTRIBUTE_STEP, JOIST_ATTRIBUTE_INTERIOR,
                                               JOIST_ATTRIBUTE_LOW};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    const joist_status status = joist_attribute_check_rank(attributes, lists[k], dims, error);
    if (status != JOIST_OK) return status;
  }
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) {
    w->step[d] = d < dims ? joist_attribute_at(attributes, JOIST_ATTRIBUTE_STEP, d) : 1;
    w->dilation[d] =
        1 + (d < dims ? joist_attribute_at(attributes, JOIST_ATTRIBUTE_INTERIOR, d) : 0);
    w->low[d] = d < dims ? joist_attribute_at(attributes, JOIST_ATTRIBUTE_LOW, d) : 0;
    if (w->step[d] < 1 || w->dilation[d] < 1)
      return mismatch(shapes, CHANNEL_DIMS + d, 0, 0, error);
  }
  const joist_status status = set_channels(shapes, w, error);
  if (status != JOIST_OK) return status;
  set_extents(w->z, w->form == JOIST_CONV_INPUT ? &extents : shapes[0],
              w->form == JOIST_CONV_INPUT ? 0 : CHANNEL_DIMS, dims);
  set_extents(w->k, w->form == JOIST_CONV_KERNEL ? &extents : shapes[1],
              w->form == JOIST_CONV_KERNEL ? 0 : CHANNEL_DIMS, dims);
  set_extents(w->p, w->form == JOIST_CONV_OUTPUT ? &extents : shapes[w->form == JOIST_CONV_KERNEL],
              w->form == JOIST_CONV_OUTPUT ? 0 : CHANNEL_DIMS, dims);
  return result == NULL ? JOIST_OK : set_result(shapes, w, &extents, result, error);
}

size_t joist_windows_batch(const struct joist_shape *operand, const struct joist_shape *result,
                           int first, size_t index) {
  size_t at = 0, stride = 1;
  for (int d = first; d < result->rank; d++) {
    const uint32_t extent = extent_of(operand, d);
    if (extent != 1) at += index % result->extent[d] * stride;
    index /= result->extent[d];
    stride *= extent;
  }
  return at;
}

ptrdiff_t joist_window_output(const struct joist_windows *w, int d, size_t z, size_t k) {
  const int64_t from = (int64_t)z + w->low[d] - (int64_t)k * w->dilation[d];
  return from >= 0 && from % w->step[d] == 0 && from / w->step[d] < (int64_t)w->p[d]
             ? (ptrdiff_t)(from / w->step[d])
             : -1;
}

size_t joist_windows_terms(const struct joist_windows *w) {
  switch (w->form) {
    case JOIST_CONV_OUTPUT:
      return w->c * joist_window_positions(w->k);
    case JOIST_CONV_INPUT:
      return w->o * joist_window_positions(w->k);
    default:
      return w->n * joist_window_positions(w->p);
  }
}

/* Positions in all dims, from one number, or the other way round. */
static void split(size_t at, const size_t *extents, size_t *positions) {
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) {
    positions[d] = at % extents[d];
    at /= extents[d];
  }
}
static size_t joined(const size_t *positions, const size_t *extents) {
  return positions[0] + extents[0] * (positions[1] + extents[1] * positions[2]);
}

bool joist_windows_term(const struct joist_windows *w, size_t at, size_t term, size_t *lhs,
                        size_t *rhs) {
  const bool kernel = w->form == JOIST_CONV_KERNEL;
  const size_t first = kernel ? w->groups * w->o : w->n;
  const size_t second = kernel ? w->c : w->groups * (w->form == JOIST_CONV_INPUT ? w->c : w->o);
  const size_t terms = kernel ? w->n : w->form == JOIST_CONV_INPUT ? w->o : w->c;
  const size_t a = at % first, b = at / first % second, t = term % terms;
  size_t z[JOIST_WINDOW_DIMS], p[JOIST_WINDOW_DIMS], k[JOIST_WINDOW_DIMS];
  split(at / first / second,
        kernel                        ? w->k
        : w->form == JOIST_CONV_INPUT ? w->z
                                      : w->p,
        kernel                        ? k
        : w->form == JOIST_CONV_INPUT ? z
                                      : p);
  split(term / terms, kernel ? w->p : w->k, kernel ? p : k);
  for (int d = 0; d < JOIST_WINDOW_DIMS; d++) {
    const ptrdiff_t found = w->form == JOIST_CONV_INPUT ? joist_window_output(w, d, z[d], k[d])
                                                        : joist_window_input(w, d, p[d], k[d]);
    if (found < 0) return false;
    if (w->form == JOIST_CONV_INPUT)
      p[d] = (size_t)found;
    else
      z[d] = (size_t)found;
  }
  const size_t n = kernel ? t : a;
  const size_t group = kernel ? a / w->o : w->form == JOIST_CONV_INPUT ? b / w->c : b / w->o;
  const size_t c = kernel ? b : w->form == JOIST_CONV_INPUT ? b % w->c : t;
  const size_t o = kernel ? a % w->o : w->form == JOIST_CONV_INPUT ? t : b % w->o;
  const size_t in_x = n + w->n * (group * w->c + c + w->groups * w->c * joined(z, w->z));
  const size_t in_kernel = group * w->o + o + w->groups * w->o * (c + w->c * joined(k, w->k));
  const size_t in_y = n + w->n * (group * w->o + o + w->groups * w->o * joined(p, w->p));
  *lhs = w->form == JOIST_CONV_INPUT ? in_y : in_x;
  *rhs = kernel ? in_y : in_kernel;
  return true;
}

size_t joist_product_terms(joist_op op, const struct joist_shape *lhs,
                           const struct joist_shape *rhs,
                           const struct joist_attributes *attributes) {
  if (joist_is_conv(op)) {
    struct joist_windows w;
    const struct joist_shape *const shapes[] = {lhs, rhs, NULL};
    return joist_windows_make(op, shapes, attributes, &w, NULL, NULL) == JOIST_OK
               ? joist_windows_terms(&w)
               : 0;
  }
  size_t all = 0;
  (void)joist_shape_count(lhs, &all);
  const bool transposed = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS);
  return lhs->rank < 2 ? all : lhs->extent[transposed ? 0 : 1];
}
