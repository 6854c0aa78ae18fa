/* missing_cases.h: random operations on operands with masks, each with two contents that differ
 * under the masks. */
#ifndef JOIST_TESTS_MISSING_CASES_H
#define JOIST_TESTS_MISSING_CASES_H

#include "core/cpu/engine.h"
#include "core/plan/plan.h"
#include "core/program/missing.h"

#include "arrays.h"
#include "programs.h"

enum { OPERANDS_MOST = 4 };

/* What the elements of an operand are. */
typedef enum {
  HOLDS_NUMBERS,
  HOLDS_DIVISORS,  /* positive */
  HOLDS_POSITIONS, /* from `low` to `high` */
  HOLDS_ASCENDING,
  HOLDS_FEW /* some small numbers many times */
} contents;

struct operand {
  struct joist_type type;
  struct joist_shape shape;
  bool literal; /* an R vector: read in the dtype that inference decides */
  bool masked;
  contents contents;
  int64_t low, high;
  /* Made by fill_case(): the dtype is that of the program's input. The plain elements are valid
   * everywhere; the wild ones differ where the mask is TRUE. */
  joist_dtype dtype;
  size_t count;
  char *plain, *wild;
  uint8_t *mask;
};

struct missing_case {
  const struct joist_rules *rules;
  joist_op op;
  size_t count;
  struct operand operand[OPERANDS_MOST];
  struct joist_attributes attributes; /* without NA_RM */
  bool remove;
  bool twice; /* the first two operands are one value */
  fill_kind fill;
  struct joist_inference inference;
};

/* ---- shapes ---- */

/* One shape in 12 may have extents of 0. */
static struct joist_shape small_shape(int least_rank) {
  struct joist_shape shape = {least_rank + (int)random_below((size_t)(4 - least_rank)), {0}};
  const bool empty = one_in(12);
  for (int d = 0; d < shape.rank; d++)
    shape.extent[d] = (uint32_t)(empty && one_in(2) ? 0 : 1 + random_below(5));
  if (shape.rank > 0 && one_in(8)) shape.extent[0] = 40 + (uint32_t)random_below(300);
  return shape;
}

/* The shape, or one that is repeated to it. */
static struct joist_shape repeated(struct joist_shape shape) {
  if (one_in(4)) shape.rank = 0;
  for (int d = 0; d < shape.rank; d++)
    if (one_in(5)) shape.extent[d] = 1;
  return shape;
}

/* The position of the element of an operand that element i of the result comes from. */
static size_t source_of(const struct joist_shape *result, size_t i,
                        const struct joist_shape *operand) {
  size_t at = 0, stride = 1;
  for (int d = 0; d < operand->rank; d++) {
    if (operand->extent[d] > 1) at += i % result->extent[d] * stride;
    i /= result->extent[d];
    stride *= operand->extent[d];
  }
  return at;
}

/* ---- operands and attributes of each operation ---- */

static joist_dtype random_dtype(void) { return (joist_dtype)random_below(JOIST_DTYPE_COUNT); }

static joist_dtype random_integer_dtype(void) {
  joist_dtype dtype = random_dtype();
  while (joist_dtype_category(dtype) != JOIST_CATEGORY_INTEGER) dtype = random_dtype();
  return dtype;
}

static int random_dim(const struct joist_shape *shape) {
  return (int)random_below((size_t)shape->rank);
}

static void holds_positions(struct operand *operand, joist_dtype dtype, int64_t low, int64_t high) {
  operand->type = (struct joist_type){dtype, false};
  operand->contents = HOLDS_POSITIONS;
  operand->literal = false;
  operand->low = low;
  operand->high = high;
}

static void set_dim(struct missing_case *c, int dim) {
  c->attributes = with(c->attributes, JOIST_ATTRIBUTE_DIM, dim);
}

static void set_flag(struct missing_case *c, joist_attribute_name name) {
  if (one_in(2)) c->attributes = with(c->attributes, name, one_in(2));
}

static void set_type(struct missing_case *c, joist_dtype dtype) {
  c->attributes = with_type(c->attributes, (struct joist_type){dtype, false});
}

/* A slice of the shape. */
static struct joist_shape set_slice(struct missing_case *c, const struct joist_shape *shape) {
  int64_t start[JOIST_RANK_MAX], stop[JOIST_RANK_MAX], step[JOIST_RANK_MAX];
  struct joist_shape slice = {shape->rank, {0}};
  for (int d = 0; d < shape->rank; d++) {
    const int64_t extent = shape->extent[d];
    step[d] = one_in(3) ? 2 : 1;
    start[d] = extent == 0 ? 0 : (int64_t)random_below((size_t)extent);
    const int64_t left = extent == 0 ? 0 : (extent - 1 - start[d]) / step[d] + 1;
    slice.extent[d] = (uint32_t)random_below((size_t)left + 1);
    stop[d] = start[d] + ((int64_t)slice.extent[d] - 1) * step[d];
    if (slice.extent[d] == 0) stop[d] = start[d] - step[d];
  }
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_START, start, (size_t)shape->rank);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_STOP, stop, (size_t)shape->rank);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_STEP, step, (size_t)shape->rank);
  return slice;
}

static void set_padding(struct missing_case *c, const struct joist_shape *shape) {
  int64_t low[JOIST_RANK_MAX], high[JOIST_RANK_MAX], interior[JOIST_RANK_MAX];
  for (int d = 0; d < shape->rank; d++) {
    low[d] = (int64_t)random_below(4) - (shape->extent[d] > 2);
    high[d] = (int64_t)random_below(3);
    interior[d] = (int64_t)random_below(2);
  }
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_LOW, low, (size_t)shape->rank);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_HIGH, high, (size_t)shape->rank);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_INTERIOR, interior, (size_t)shape->rank);
}

static void make_product(struct missing_case *c) {
  const bool lhs = one_in(2), rhs = one_in(2);
  struct joist_shape *const x = &c->operand[0].shape, *const y = &c->operand[1].shape;
  const uint32_t extents[] = {(uint32_t)random_below(8),
                              (uint32_t)(one_in(9) ? 0 : 1 + random_below(6)),
                              (uint32_t)(1 + random_below(7))};
  *x = (struct joist_shape){2, {extents[lhs], extents[!lhs]}};
  *y = (struct joist_shape){2, {extents[1 + rhs], extents[2 - rhs]}};
  const int batch = (int)random_below(3);
  for (int d = 0; d < batch; d++) {
    const uint32_t extent = (uint32_t)(1 + random_below(3));
    if (!one_in(3) && x->rank == 2 + d) x->extent[x->rank++] = one_in(3) ? 1 : extent;
    if (!one_in(3) && y->rank == 2 + d) y->extent[y->rank++] = one_in(3) ? 1 : extent;
  }
  c->attributes = with(c->attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS, lhs);
  c->attributes = with(c->attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS, rhs);
}

/* Extents of 1 to 3 for all, and positions that windows may have beyond the array. */
static void make_convolution(struct missing_case *c) {
  const int dims = 1 + (int)random_below(3);
  int64_t step[3], low[3], interior[3], shape[3];
  const uint32_t groups = 1 + (uint32_t)random_below(2), n = 1 + (uint32_t)random_below(3);
  const uint32_t inputs = groups * (1 + (uint32_t)random_below(2));
  const uint32_t outputs = groups * (1 + (uint32_t)random_below(2));
  const bool input = c->op == JOIST_OP_CONV_INPUT, kernel = c->op == JOIST_OP_CONV_KERNEL;
  struct joist_shape *const x = &c->operand[0].shape, *const y = &c->operand[1].shape;
  *x = (struct joist_shape){2 + dims, {n, input ? outputs : inputs}};
  *y = (struct joist_shape){2 + dims, {kernel ? n : outputs, kernel ? outputs : inputs / groups}};
  for (int d = 0; d < dims; d++) {
    step[d] = 1 + (int64_t)random_below(2);
    low[d] = (int64_t)random_below(3) - 1;
    interior[d] = (int64_t)random_below(2);
    shape[d] = 1 + (int64_t)random_below(3);
    x->extent[2 + d] = (uint32_t)random_below(4) + (one_in(9) && !input ? 0 : 1);
    y->extent[2 + d] = 1 + (uint32_t)random_below(3);
  }
  if (one_in(3)) x->extent[x->rank++] = 2;
  if (one_in(3)) y->extent[y->rank++] = 2;
  const size_t count = (size_t)dims;
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_STEP, step, count);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_LOW, low, count);
  c->attributes = with_list(c->attributes, JOIST_ATTRIBUTE_INTERIOR, interior, count);
  c->attributes = with(c->attributes, JOIST_ATTRIBUTE_K, groups);
  struct joist_shape extents = {dims, {0}};
  for (int d = 0; d < dims; d++) extents.extent[d] = (uint32_t)shape[d];
  c->attributes = with_shape(c->attributes, &extents);
}

static void make_concatenate(struct missing_case *c) {
  const struct joist_shape whole = small_shape(1);
  const int dim = random_dim(&whole);
  c->count = 1 + random_below(OPERANDS_MOST);
  for (size_t k = 0; k < c->count; k++) {
    c->operand[k].shape = whole;
    c->operand[k].shape.extent[dim] = (uint32_t)random_below(4);
    if (k > 0 && one_in(4)) c->operand[k].shape.rank = 0;
  }
  set_dim(c, dim);
}

/* Operations with attributes of their own, or operands that do not have one shape. */
static void make_array(struct missing_case *c) {
  struct operand *const x = &c->operand[0], *const y = &c->operand[1];
  int64_t order[JOIST_RANK_MAX];
  struct joist_shape shape;
  switch (c->op) {
    case JOIST_OP_RESHAPE:
      shape = (struct joist_shape){2, {1, (uint32_t)elements_in(&x->shape)}};
      c->attributes = with_shape(c->attributes, &shape);
      break;
    case JOIST_OP_TAKE:
    case JOIST_OP_PUT:
    case JOIST_OP_SCATTER_ADD:
    case JOIST_OP_SCATTER_MIN:
    case JOIST_OP_SCATTER_MAX:
    case JOIST_OP_SCATTER_MUL:
      holds_positions(y, JOIST_I64, 0, (int64_t)elements_in(&x->shape) - 1);
      y->shape = small_shape(c->op == JOIST_OP_TAKE ? 0 : 1);
      if (c->op == JOIST_OP_TAKE) break;
      c->operand[2].shape = y->shape;
      if (one_in(3)) c->operand[2].shape.rank = 0;
      break;
    case JOIST_OP_CONCATENATE:
      make_concatenate(c);
      break;
    case JOIST_OP_PERMUTE:
      for (int d = 0; d < x->shape.rank; d++) {
        const int other = (int)random_below((size_t)d + 1);
        order[d] = order[other];
        order[other] = d;
      }
      c->attributes =
          with_list(c->attributes, JOIST_ATTRIBUTE_PERMUTATION, order, (size_t)x->shape.rank);
      break;
    case JOIST_OP_SLICE:
      (void)set_slice(c, &x->shape);
      break;
    case JOIST_OP_UPDATE:
      y->shape = set_slice(c, &x->shape);
      if (one_in(3)) y->shape.rank = 0;
      break;
    case JOIST_OP_PAD:
      y->shape.rank = 0;
      set_padding(c, &x->shape);
      break;
    case JOIST_OP_GATHER:
      x->shape = small_shape(1);
      set_dim(c, random_dim(&x->shape));
      y->shape = small_shape(0);
      if (y->shape.rank > 2) y->shape.rank = 2;
      holds_positions(y, random_integer_dtype(), 1,
                      x->shape.extent[joist_attribute_dim(&c->attributes)]);
      break;
    case JOIST_OP_TAKE_ALONG:
      x->shape = small_shape(1);
      set_dim(c, random_dim(&x->shape));
      y->shape = x->shape;
      y->shape.extent[joist_attribute_dim(&c->attributes)] = (uint32_t)random_below(6);
      holds_positions(y, JOIST_I32, 1, x->shape.extent[joist_attribute_dim(&c->attributes)]);
      break;
    case JOIST_OP_ALIAS:
      if (one_in(2)) c->count = 2;
      break;
    case JOIST_OP_REQUIRE:
      y->shape.rank = 0;
      holds_positions(y, JOIST_BOOL, 1, 1);
      break;
    case JOIST_OP_SORT:
    case JOIST_OP_ARGSORT:
    case JOIST_OP_TOP_K:
      x->shape = small_shape(1);
      set_dim(c, random_dim(&x->shape));
      set_flag(c, JOIST_ATTRIBUTE_DECREASING);
      if (one_in(2)) x->contents = HOLDS_FEW;
      if (c->op == JOIST_OP_TOP_K)
        c->attributes =
            with(c->attributes, JOIST_ATTRIBUTE_K,
                 (int64_t)random_below(x->shape.extent[joist_attribute_dim(&c->attributes)] + 1u));
      break;
    case JOIST_OP_FFT:
    case JOIST_OP_RFFT:
    case JOIST_OP_IRFFT:
      x->shape = small_shape(1);
      set_dim(c, random_dim(&x->shape));
      if (c->op == JOIST_OP_FFT && one_in(2))
        c->attributes = with_dims(c->attributes, (uint32_t)random_below(1u << x->shape.rank));
      set_flag(c, JOIST_ATTRIBUTE_REVERSE);
      c->attributes = with(c->attributes, JOIST_ATTRIBUTE_K, (int64_t)random_below(9) + 1);
      joist_attributes_set_number(&c->attributes, JOIST_ATTRIBUTE_SCALE, 0.5);
      break;
    case JOIST_OP_ARGMIN:
    case JOIST_OP_ARGMAX:
      if (one_in(2)) x->contents = HOLDS_FEW;
      if (x->shape.rank > 0 && one_in(2)) set_dim(c, random_dim(&x->shape));
      set_flag(c, JOIST_ATTRIBUTE_DROP);
      break;
    case JOIST_OP_MATCH:
      y->shape = small_shape(0);
      x->contents = y->contents = HOLDS_FEW;
      c->attributes = with(c->attributes, JOIST_ATTRIBUTE_NOMATCH, (int64_t)random_below(9) - 2);
      break;
    case JOIST_OP_SEARCHSORTED:
      x->shape = (struct joist_shape){1, {(uint32_t)random_below(9)}};
      x->contents = HOLDS_ASCENDING;
      set_flag(c, JOIST_ATTRIBUTE_RIGHT);
      break;
    case JOIST_OP_TABULATE:
      shape = (struct joist_shape){1, {(uint32_t)random_below(9)}};
      c->attributes = with_shape(c->attributes, &shape);
      set_type(c, JOIST_I64);
      if (one_in(2)) x->contents = HOLDS_FEW;
      break;
    case JOIST_OP_MATMUL:
      make_product(c);
      break;
    case JOIST_OP_CONV:
    case JOIST_OP_CONV_INPUT:
    case JOIST_OP_CONV_KERNEL:
      make_convolution(c);
      break;
    case JOIST_OP_CUMSUM:
    case JOIST_OP_CUMPROD:
    case JOIST_OP_CUMMIN:
    case JOIST_OP_CUMMAX:
      if (x->shape.rank > 0 && one_in(2)) set_dim(c, random_dim(&x->shape));
      c->remove = one_in(3);
      break;
    default: /* distributions: scalars, or the shape of the result */
      for (size_t k = 0; k < c->count; k++) {
        c->operand[k].shape = x->shape;
        if (one_in(4)) c->operand[k].shape.rank = 0;
      }
  }
}

static void make_elementwise(struct missing_case *c) {
  const struct joist_shape whole = small_shape(0);
  for (size_t k = 0; k < c->count; k++) c->operand[k].shape = repeated(whole);
  if (c->op == JOIST_OP_CONVERT) set_type(c, random_dtype());
  if (c->op == JOIST_OP_BITCAST) {
    joist_dtype to = random_dtype();
    const joist_dtype from = c->operand[0].type.dtype;
    while (joist_dtype_bits(to) != joist_dtype_bits(from) ||
           (to == JOIST_BOOL) != (from == JOIST_BOOL))
      to = random_dtype();
    set_type(c, to);
  }
  if (c->op == JOIST_OP_BROADCAST) c->attributes = with_shape(c->attributes, &whole);
  if (c->op == JOIST_OP_IFELSE && !one_in(4)) c->operand[0].type.dtype = JOIST_BOOL;
  if (c->op == JOIST_OP_POW || c->op == JOIST_OP_AND || c->op == JOIST_OP_OR)
    for (size_t k = 0; k < c->count; k++)
      if (one_in(2)) c->operand[k].contents = HOLDS_FEW;
  if (joist_op_can_fail(c->op, JOIST_I32)) c->operand[1].contents = HOLDS_DIVISORS;
}

static void make_reduction(struct missing_case *c) {
  const struct joist_shape *const shape = &c->operand[0].shape;
  const uint32_t all = (UINT32_C(1) << shape->rank) - 1;
  c->attributes = with_dims(c->attributes, one_in(2) ? all : (uint32_t)random_below(all + 1u));
  set_flag(c, JOIST_ATTRIBUTE_DROP);
  c->remove = one_in(2);
  const bool accumulates = joist_operation(c->op)->attributes >> JOIST_ATTRIBUTE_DTYPE & 1;
  if (accumulates && one_in(4)) set_type(c, random_dtype());
}

/* Operands of `dtype`, and attributes; inference may refuse them. */
static void make_case(struct missing_case *c, joist_op op, joist_dtype dtype) {
  *c = (struct missing_case){.op = op, .count = joist_operation(op)->least};
  c->rules = joist_rules_at(one_in(2) ? 0 : random_below(joist_rules_count()));
  c->fill = (fill_kind)random_below(FILL_COUNT);
  const bool alike = !one_in(3);
  const struct joist_shape shape = small_shape(0);
  for (size_t k = 0; k < OPERANDS_MOST; k++) {
    c->operand[k].type = (struct joist_type){k == 0 || alike ? dtype : random_dtype(), one_in(6)};
    c->operand[k].shape = shape;
    c->operand[k].literal = one_in(12);
  }
  if (joist_op_is_reduction(op))
    make_reduction(c);
  else if (joist_op_is_array(op))
    make_array(c);
  else
    make_elementwise(c);
  struct operand *const x = &c->operand[0], *const y = &c->operand[1];
  c->twice = c->count >= 2 && one_in(6) && x->contents != HOLDS_ASCENDING &&
             y->contents != HOLDS_POSITIONS;
  if (!c->twice) return;
  y->literal = false;
  *x = *y;
}

/* Literals have the dtypes that R's types are read as. */
static void guess_literals(struct missing_case *c) {
  static const joist_dtype guesses[] = {JOIST_BOOL, JOIST_I32, JOIST_F32, JOIST_C64};
  for (size_t k = 0; k < c->count; k++) {
    struct operand *const o = &c->operand[k];
    if (!o->literal) continue;
    o->type = (struct joist_type){guesses[joist_dtype_category(o->type.dtype)], true};
    if (o->contents == HOLDS_NUMBERS) o->contents = HOLDS_FEW;
  }
}

static bool infer_case(struct missing_case *c) {
  struct joist_argument arguments[OPERANDS_MOST];
  struct joist_error error;
  guess_literals(c);
  memset(arguments, 0, sizeof arguments);
  for (size_t k = 0; k < c->count; k++) {
    const struct operand *const o = &c->operand[k];
    arguments[k].operand = (struct joist_operand){
        .type = o->type, .literal = o->literal, .rank = o->shape.rank, .whole = o->literal};
    arguments[k].shape = o->shape;
  }
  return joist_program_infer(c->rules, c->op, arguments, c->count, &c->attributes, &c->inference,
                             &error) == JOIST_OK;
}

/* ---- contents ---- */

static void fill_plain(const struct missing_case *c, struct operand *o) {
  const size_t size = joist_dtype_size(o->dtype);
  if (o->contents == HOLDS_NUMBERS) fill(o->dtype, o->count, c->fill, o->plain);
  if (o->contents == HOLDS_NUMBERS) return;
  for (size_t i = 0; i < o->count; i++) {
    double number[2] = {(double)random_below(4), o->contents == HOLDS_FEW && one_in(4)};
    if (o->contents == HOLDS_FEW && one_in(8)) number[0] = one_in(2) ? NAN : -1;
    if (joist_dtype_kind(o->dtype) != JOIST_KIND_FLOAT && isnan(number[0])) number[0] = 0;
    /* int1 has -1 and 0, and no negative powers. */
    const bool whole = o->contents == HOLDS_DIVISORS;
    if (whole && o->dtype != JOIST_INT1) number[0]++;
    if (whole && o->dtype == JOIST_INT1) number[0] = c->op == JOIST_OP_POW ? 0 : -1;
    if (o->contents == HOLDS_POSITIONS)
      number[0] = o->low > o->high
                      ? (double)o->low
                      : (double)o->low + (double)random_below((size_t)(o->high - o->low + 1));
    if (o->contents == HOLDS_ASCENDING) number[0] = (double)(i / 2);
    joist_convert_find_portable(JOIST_C128, o->dtype)(1, number, o->plain + i * size);
  }
}

static void *allocate(size_t bytes) {
  void *const block = malloc(bytes + 1);
  if (block == NULL) abort();
  return block;
}

/* Divisors that fail where the dividend is missing. */
static void fill_divisors(const struct missing_case *c) {
  const struct operand *const x = &c->operand[0], *const y = &c->operand[1];
  if (!joist_op_can_fail(c->op, JOIST_I32) || !x->masked ||
      !joist_shape_equal(&x->shape, &y->shape))
    return;
  const size_t size = joist_dtype_size(y->dtype);
  for (size_t i = 0; i < x->count; i++) {
    if (!x->mask[i]) continue;
    fill(y->dtype, 1, (fill_kind)random_below(FILL_COUNT), y->plain + i * size);
    memcpy(y->wild + i * size, y->plain + i * size, size);
  }
}

static void fill_case(struct missing_case *c) {
  if (c->twice) c->operand[0].masked = c->operand[1].masked;
  for (size_t k = 0; k < c->count; k++) {
    struct operand *const o = &c->operand[k];
    o->dtype = o->literal ? joist_signature_operand(&c->inference.signature, k) : o->type.dtype;
    const size_t size = joist_dtype_size(o->dtype);
    o->count = elements_in(&o->shape);
    o->plain = allocate(o->count * size);
    o->wild = allocate(o->count * size);
    o->mask = allocate(o->count);
    /* Without a valid position, every index is missing. */
    const bool nothing = o->contents == HOLDS_POSITIONS && o->low > o->high;
    const size_t often = nothing ? 1 : (size_t[]){1, 2, 2, 4, 9}[random_below(5)];
    if (nothing && o->count > 0) o->masked = true;
    for (size_t i = 0; i < o->count; i++) o->mask[i] = o->masked && one_in(often);
    fill_plain(c, o);
    if (o->count > 0) memcpy(o->wild, o->plain, o->count * size);
    for (size_t i = 0; i < o->count; i++)
      if (o->mask[i]) fill(o->dtype, 1, (fill_kind)random_below(FILL_COUNT), o->wild + i * size);
  }
  const struct operand *const x = &c->operand[0], *const y = &c->operand[1];
  if (!c->twice) fill_divisors(c);
  if (!c->twice || x->count == 0) return;
  const size_t bytes = x->count * joist_dtype_size(x->dtype);
  memcpy(x->plain, y->plain, bytes);
  memcpy(x->wild, y->wild, bytes);
  memcpy(x->mask, y->mask, x->count);
}

static void free_case(struct missing_case *c) {
  for (size_t k = 0; k < c->count; k++) {
    free(c->operand[k].plain);
    free(c->operand[k].wild);
    free(c->operand[k].mask);
  }
}

/* ---- running ---- */

/* What a run gives: elements and masks of the results. A mask is NULL if nothing can be missing. */
struct outcome {
  joist_status status;
  struct joist_error error;
  char *elements[JOIST_RESULTS_MAX];
  uint8_t *masks[JOIST_RESULTS_MAX];
};

static void free_outcome(struct outcome *outcome) {
  for (int r = 0; r < JOIST_RESULTS_MAX; r++) {
    free(outcome->elements[r]);
    free(outcome->masks[r]);
  }
}

static size_t result_count(const struct missing_case *c, int r) {
  return elements_in(&c->inference.shape[r]);
}

static joist_dtype result_dtype(const struct missing_case *c, int r) {
  return c->inference.signature.result[r].dtype;
}

static void check_types(const struct missing_case *c, const struct joist_program *program,
                        const joist_value_id *results, const joist_value_id *masks) {
  for (int r = 0; r < joist_operation(c->op)->results; r++) {
    const struct joist_value *const made = &program->values[results[r]];
    const struct joist_type want = c->inference.signature.result[r];
    CHECK_MSG(made->type.dtype == want.dtype && made->type.ambiguous == want.ambiguous,
              "nv_%s(): result %s%s, want %s%s", joist_op_name(c->op),
              joist_dtype_name(made->type.dtype), made->type.ambiguous ? "?" : "",
              joist_dtype_name(want.dtype), want.ambiguous ? "?" : "");
    CHECK_MSG(joist_shape_equal(&made->shape, &c->inference.shape[r]), "nv_%s(): shape",
              joist_op_name(c->op));
    if (masks[r] == JOIST_NO_MASK) continue;
    const struct joist_value *const mask = &program->values[masks[r]];
    CHECK_MSG(mask->type.dtype == JOIST_BOOL && !mask->type.ambiguous &&
                  joist_shape_equal(&mask->shape, &made->shape),
              "nv_%s(): type or shape of the mask", joist_op_name(c->op));
  }
}

/* Adds the operation to a program whose inputs are the operands and then their masks. */
static joist_status lower_case(const struct missing_case *c, struct joist_program *program,
                               joist_value_id *results, joist_value_id *masks,
                               struct joist_error *error) {
  joist_value_id operands[OPERANDS_MOST], own[OPERANDS_MOST];
  for (size_t k = 0; k < c->count; k++) {
    const struct operand *const o = &c->operand[k];
    const struct joist_type type = o->literal ? (struct joist_type){o->dtype, false} : o->type;
    CHECK_INT(joist_program_add_input(program, type, &o->shape, &operands[k], error), JOIST_OK);
  }
  for (size_t k = 0; k < c->count; k++) {
    const struct operand *const o = &c->operand[k];
    own[k] =
        o->masked ? add_input(program, JOIST_BOOL, o->shape.rank, o->shape.extent) : JOIST_NO_MASK;
  }
  if (c->twice) {
    operands[0] = operands[1];
    own[0] = own[1];
  }
  const struct joist_missing missing = {.op = c->op,
                                        .inference = &c->inference,
                                        .attributes = &c->attributes,
                                        .count = c->count,
                                        .operands = operands,
                                        .masks = own,
                                        .remove = c->remove,
                                        .source = JOIST_NO_SOURCE};
  return joist_missing_add(program, &missing, results, masks, error);
}

/* Runs the lowered operation on the plain or the wild elements. */
static void run_lowered(const struct missing_case *c, bool wild, int threads,
                        struct outcome *outcome) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  joist_value_id results[JOIST_RESULTS_MAX], masks[JOIST_RESULTS_MAX];
  const void *inputs[2 * OPERANDS_MOST];
  void *outputs[2 * JOIST_RESULTS_MAX];
  const int count = joist_operation(c->op)->results;
  size_t n = 0, made = 0;
  *outcome = (struct outcome){.status = JOIST_OK};
  joist_program_init(&program);
  outcome->status = lower_case(c, &program, results, masks, &outcome->error);
  if (outcome->status != JOIST_OK) {
    joist_program_clear(&program);
    return;
  }
  check_types(c, &program, results, masks);
  for (size_t k = 0; k < c->count; k++)
    inputs[n++] = wild ? c->operand[k].wild : c->operand[k].plain;
  for (size_t k = 0; k < c->count; k++)
    if (c->operand[k].masked) inputs[n++] = c->operand[k].mask;
  for (int r = 0; r < count; r++) {
    outcome->elements[r] = outputs[made++] = allocate(bytes_of(&program, results[r]));
    add_output(&program, results[r]);
    if (masks[r] == JOIST_NO_MASK) continue;
    outputs[made++] = outcome->masks[r] = allocate(bytes_of(&program, masks[r]));
    add_output(&program, masks[r]);
  }
  outcome->status = joist_plan_make(&program, &plan, &outcome->error);
  const struct joist_run run = {.threads = threads, .parallel_from = threads > 1};
  if (CHECK_INT(outcome->status, JOIST_OK))
    outcome->status = joist_plan_run(plan, inputs, outputs, &run, &outcome->error);
  joist_plan_free(plan);
  joist_program_clear(&program);
}

/* Runs the operation itself on elements of these dtypes. The caller frees the results. */
static joist_status run_plain(const struct missing_case *c, const void *const *inputs,
                              const joist_dtype *dtypes, char **results) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_value_id operands[OPERANDS_MOST];
  const int count = joist_operation(c->op)->results;
  joist_program_init(&program);
  for (size_t k = 0; k < c->count; k++)
    operands[k] =
        add_input(&program, dtypes[k], c->operand[k].shape.rank, c->operand[k].shape.extent);
  struct joist_instruction instruction =
      joist_instruction_of(c->op, &c->inference, operands, c->count, &c->attributes, 0);
  CHECK_INT(joist_program_add(&program, &instruction, &c->inference, &error), JOIST_OK);
  for (int r = 0; r < count; r++) {
    results[r] = allocate(bytes_of(&program, instruction.result + (joist_value_id)r));
    add_output(&program, instruction.result + (joist_value_id)r);
  }
  joist_status status = joist_plan_make(&program, &plan, &error);
  const struct joist_run run = {.threads = 1};
  if (status == JOIST_OK)
    status = joist_plan_run(plan, inputs, (void *const *)results, &run, &error);
  joist_plan_free(plan);
  joist_program_clear(&program);
  return status;
}

#endif
