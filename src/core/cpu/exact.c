/* Exact results. */
#include "core/cpu/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/tally.h"
#include "core/kernels/kernels.h"
#include "core/plan/fold_space.h"
#include "core/program/watch.h"
#include "core/program/windows.h"
#include "core/types/convert.h"
#include "core/types/error.h"

/* ---- integers of 192 bits: two's complement, the low limb first ---- */

enum { LIMBS = 3 };
struct wide {
  uint64_t limb[LIMBS];
};

/* An integer of 64 bits: a magnitude, and whether it is negative. */
struct whole {
  uint64_t magnitude;
  bool negative;
};

/* How the elements of a dtype are read. */
struct reading {
  size_t size;
  bool sign;
};

static struct reading reading_of(joist_dtype dtype) {
  return (struct reading){joist_dtype_size(dtype), joist_dtype_kind(dtype) == JOIST_KIND_INT};
}

static inline struct whole element(struct reading reading, const void *array, size_t k) {
  const bool sign = reading.sign;
  int64_t value = 0;
  switch (reading.size) {
    case 1:
      value = sign ? ((const int8_t *)array)[k] : ((const uint8_t *)array)[k];
      break;
    case 2:
      value = sign ? ((const int16_t *)array)[k] : ((const uint16_t *)array)[k];
      break;
    case 4:
      value = sign ? ((const int32_t *)array)[k] : (int64_t)((const uint32_t *)array)[k];
      break;
    default:
      value = ((const int64_t *)array)[k];
      break;
  }
  const bool negative = sign && value < 0;
  return (struct whole){negative ? 0 - (uint64_t)value : (uint64_t)value, negative};
}

/* Adds a magnitude of two limbs, or subtracts it. */
static void accumulate(struct wide *sum, uint64_t high, uint64_t low, bool negative) {
  uint64_t add[LIMBS] = {low, high, 0}, carry = 0;
  if (negative) {
    carry = 1;
    for (int k = 0; k < LIMBS; k++) add[k] = ~add[k];
  }
  for (int k = 0; k < LIMBS; k++) {
    const uint64_t partial = sum->limb[k] + carry;
    carry = partial < carry;
    sum->limb[k] = partial + add[k];
    carry += sum->limb[k] < partial;
  }
}

static void multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
  const uint64_t half = UINT64_C(0xffffffff);
  const uint64_t a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
  *high = a1 * b1 + (middle >> 32) + (other >> 32);
  *low = a * b;
}

/* 0 where the integer fits the dtype, else where it is. */
static uint8_t beyond(const struct wide *x, joist_dtype dtype) {
  const bool negative = x->limb[LIMBS - 1] >> 63 != 0;
  const uint64_t rest = negative ? ~UINT64_C(0) : 0;
  const bool small = x->limb[1] == rest && x->limb[2] == rest;
  const bool sign = joist_dtype_kind(dtype) == JOIST_KIND_INT;
  if (negative)
    return small && sign && x->limb[0] >> 63 != 0 &&
                   (int64_t)x->limb[0] >= joist_dtype_min_int(dtype)
               ? 0
               : JOIST_WRAPPED_BELOW;
  return small && x->limb[0] <= joist_dtype_max_int(dtype) ? 0 : JOIST_WRAPPED_ABOVE;
}

/* ---- combining elements ---- */

/* A sum or a product of some elements. */
struct state {
  struct wide sum;
  struct whole product;
  bool exceeds, zero; /* of a product */
};

struct combining {
  bool adds, saturates;
  joist_dtype dtype; /* of the result */
};

static void clamp(struct wide *x, uint8_t where, joist_dtype dtype) {
  const uint64_t bound = where == JOIST_WRAPPED_ABOVE ? joist_dtype_max_int(dtype)
                                                      : (uint64_t)joist_dtype_min_int(dtype);
  const uint64_t rest =
      where == JOIST_WRAPPED_BELOW && joist_dtype_min_int(dtype) < 0 ? ~UINT64_C(0) : 0;
  *x = (struct wide){{bound, rest, rest}};
}

static void start(struct state *s) { *s = (struct state){.product = {1, false}}; }

static void combine(const struct combining *c, struct state *s, struct whole x) {
  if (c->adds) {
    accumulate(&s->sum, 0, x.magnitude, x.negative);
    return;
  }
  s->product.negative ^= x.negative;
  if (x.magnitude == 0) {
    s->zero = true;
    s->product.magnitude = 0;
  }
  if (s->exceeds || s->zero) return;
  uint64_t high;
  multiply(s->product.magnitude, x.magnitude, &high, &s->product.magnitude);
  s->exceeds = high != 0;
}

static uint8_t result_beyond(const struct combining *c, const struct state *s) {
  if (c->adds) return beyond(&s->sum, c->dtype);
  if (s->zero) return 0;
  const uint8_t where = s->product.negative ? JOIST_WRAPPED_BELOW : JOIST_WRAPPED_ABOVE;
  if (s->exceeds) return where;
  struct wide product = {{0, 0, 0}};
  accumulate(&product, 0, s->product.magnitude, s->product.negative);
  return beyond(&product, c->dtype);
}

/* ---- what is checked ---- */

enum { OPERANDS = 3 };
struct check {
  const struct joist_program *program;
  const struct joist_instruction *instruction;
  void *const *arrays;
  const struct joist_run *run;
  struct combining combining;
  struct reading reading[OPERANDS];
  const uint8_t *mask;
  size_t count, first;
};

static const struct joist_value *operand_of(const struct check *check, uint32_t k) {
  return &check->program->values[check->instruction->operand[k]];
}

static struct whole read(const struct check *check, uint32_t operand, size_t k) {
  return element(check->reading[operand], check->arrays[check->instruction->operand[operand]], k);
}

enum { POLL_EVERY = 1 << 20 }; /* elements between two polls for interrupts */

static joist_status poll(const struct check *check, size_t k, struct joist_error *error) {
  return k % POLL_EVERY == 0 ? joist_run_poll(check->run, error) : JOIST_OK;
}

static void count_beyond(struct check *check, size_t at) {
  if (check->mask != NULL && check->mask[at] != 0) return;
  if (check->count == 0 || at < check->first) check->first = at;
  check->count++;
}

/* The state that result `at` ends with: exact, so that only the result saturates. */
static void finish(struct check *check, size_t at, const struct state *s) {
  const struct combining *const c = &check->combining;
  const uint8_t where = result_beyond(c, s);
  if (!c->saturates) {
    if (where != 0) count_beyond(check, at);
    return;
  }
  struct wide result = s->sum;
  if (!c->adds) accumulate(&result, 0, s->product.magnitude, s->product.negative);
  if (where != 0) clamp(&result, where, c->dtype);
  char *const out = check->arrays[check->instruction->result];
  joist_convert_find(JOIST_UI64, c->dtype)(1, result.limb, out + at * joist_dtype_size(c->dtype));
}

/* Adds the sums of the halves of n elements. */
static void accumulate_halves(struct wide *sum, uint64_t high, uint64_t low, joist_dtype dtype,
                              uint64_t n) {
  uint64_t up, more;
  multiply(joist_half_of_range(dtype), n, &more, &up);
  accumulate(sum, high >> 32, high << 32, false);
  accumulate(sum, 0, low, false);
  accumulate(sum, more, up, true);
}

/* Adds n elements in a row: the halves of integers of 64 bits apart, whose sums fit in 64 bits. */
static void combine_row(const struct check *check, struct state *s, size_t first, size_t n) {
  const joist_dtype dtype = operand_of(check, 0)->type.dtype;
  const void *const array = check->arrays[check->instruction->operand[0]];
  if (!check->combining.adds || joist_dtype_size(dtype) < 8 || n >> 31 != 0) {
    for (size_t k = first; k < first + n; k++) combine(&check->combining, s, read(check, 0, k));
    return;
  }
  uint64_t high = 0, low = 0;
  joist_halves_add((struct joist_halves){&high, &low}, dtype, 1, n,
                   (const uint64_t *)array + first);
  accumulate_halves(&s->sum, high, low, dtype, n);
}

/* What a result of a total becomes. */
typedef void finish_total(struct check *check, size_t at, const struct state *s);

static joist_status run_totals(struct check *check, finish_total *made, struct joist_error *error) {
  const struct joist_value *const x = operand_of(check, 0);
  const size_t n = joist_value_count(x);
  const size_t results = joist_value_count(&check->program->values[check->instruction->result]);
  struct state *const states = malloc((results + 1) * sizeof *states);
  if (states == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (size_t r = 0; r < results; r++) start(&states[r]);
  size_t stride[JOIST_RANK_MAX], index[JOIST_RANK_MAX] = {0}, next = 1, at = 0;
  for (int d = 0; d < x->shape.rank; d++) {
    const bool reduced = check->instruction->dims >> d & 1;
    stride[d] = reduced ? 0 : next;
    if (!reduced) next *= x->shape.extent[d];
  }
  joist_status status = JOIST_OK;
  const bool rows = x->shape.rank > 0 && stride[0] == 0;
  for (size_t k = 0, due = 0, length; k < n && status == JOIST_OK; k += length) {
    const size_t left = rows ? x->shape.extent[0] - index[0] : 1;
    length = joist_smaller(left, POLL_EVERY);
    if (k >= due) {
      status = joist_run_poll(check->run, error);
      due = k + POLL_EVERY;
    }
    if (rows)
      combine_row(check, &states[at], k, length);
    else
      combine(&check->combining, &states[at], read(check, 0, k));
    if (length < left) {
      index[0] += length;
      continue;
    }
    if (rows) index[0] = x->shape.extent[0] - 1;
    for (int d = 0; d < x->shape.rank; d++) {
      at += stride[d];
      if (++index[d] < x->shape.extent[d]) break;
      at -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  for (size_t r = 0; r < results && status == JOIST_OK; r++) made(check, r, &states[r]);
  free(states);
  return status;
}

/* The running sums of n elements, `stride` apart, in 128 bits. */
static void check_running_sums(struct check *check, size_t first, size_t n, size_t stride,
                               struct wide *sum) {
  const joist_dtype dtype = check->combining.dtype;
  const uint64_t most = joist_dtype_max_int(dtype);
  const int64_t least = joist_dtype_min_int(dtype);
  const joist_dtype from = operand_of(check, 0)->type.dtype;
  const uint64_t *const array = check->arrays[check->instruction->operand[0]];
  const uint64_t sign = joist_half_of_range(from);
  const bool words = joist_dtype_size(from) == sizeof(uint64_t);
  uint64_t low = sum->limb[0], high = sum->limb[1];
  for (size_t k = 0, at = first; k < n; k++, at += stride) {
    const struct whole x = words ? (struct whole){0, false} : read(check, 0, at);
    const uint64_t value = words ? array[at] : x.negative ? 0 - x.magnitude : x.magnitude;
    low += value;
    high += (low < value) - (uint64_t)(words ? (value & sign) != 0 : x.negative);
    const bool fits =
        high == 0 ? low <= most : least < 0 && high == ~UINT64_C(0) && low >= (uint64_t)least;
    if (!fits) count_beyond(check, at);
  }
  *sum = (struct wide){{low, high, 0}};
}

/* The running products of n elements, `stride` apart; nothing is beyond after a zero. */
static void check_running_products(struct check *check, size_t first, size_t n, size_t stride,
                                   struct state *s) {
  for (size_t k = 0, at = first; k < n && !s->zero; k++, at += stride) {
    combine(&check->combining, s, read(check, 0, at));
    if (s->zero) return;
    if (s->exceeds || result_beyond(&check->combining, s) != 0) count_beyond(check, at);
  }
}

static joist_status check_running(struct check *check, struct joist_error *error) {
  const struct joist_value *const x = operand_of(check, 0);
  const int dim = joist_attribute_dim(check->instruction->attributes);
  size_t inner = 1, middle = joist_value_count(x), outer = 1;
  if (dim >= 0) {
    middle = x->shape.extent[dim];
    for (int d = 0; d < dim; d++) inner *= x->shape.extent[d];
    for (int d = dim + 1; d < x->shape.rank; d++) outer *= x->shape.extent[d];
  }
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++) {
      struct state s;
      start(&s);
      const bool saturates = check->combining.saturates;
      for (size_t m = 0; !saturates && m < middle; m += POLL_EVERY) {
        const joist_status status = joist_run_poll(check->run, error);
        if (status != JOIST_OK) return status;
        const size_t at = (o * middle + m) * inner + i, n = joist_smaller(middle - m, POLL_EVERY);
        if (check->combining.adds)
          check_running_sums(check, at, n, inner, &s.sum);
        else
          check_running_products(check, at, n, inner, &s);
      }
      for (size_t m = 0; saturates && m < middle; m++) {
        const size_t at = (o * middle + m) * inner + i;
        const joist_status status = poll(check, at, error);
        if (status != JOIST_OK) return status;
        combine(&check->combining, &s, read(check, 0, at));
        finish(check, at, &s);
      }
    }
  return JOIST_OK;
}

/* The matrix of an operand that the matrix j of the result is computed from; extents of 1 are
 * repeated. */
static size_t matrix_of(const struct joist_shape *operand, const struct joist_shape *result,
                        size_t j) {
  size_t at = 0, stride = 1;
  for (int d = 2; d < result->rank; d++) {
    const size_t index = j % result->extent[d];
    const size_t extent = d < operand->rank ? operand->extent[d] : 1;
    if (extent != 1) at += index * stride;
    stride *= extent;
    j /= result->extent[d];
  }
  return at;
}

static uint64_t magnitudes_of(const struct check *check, uint32_t operand) {
  const struct joist_value *const value = operand_of(check, operand);
  const joist_dtype dtype =
      value->type.dtype == JOIST_BOOL ? JOIST_UI8 : joist_dtype_compute(value->type.dtype);
  joist_magnitudes *const find = joist_magnitudes_find(dtype);
  return find == NULL
             ? ~UINT64_C(0)
             : find(joist_value_count(value), check->arrays[check->instruction->operand[operand]]);
}

/* A product of matrices: which element of an operand is k of a row or a column of the result. */
struct product {
  size_t rows, columns, inner;
  bool lhs_transposed, rhs_transposed;
};

static size_t lhs_at(const struct product *p, size_t row, size_t k) {
  return p->lhs_transposed ? row * p->inner + k : k * p->rows + row;
}
static size_t rhs_at(const struct product *p, size_t column, size_t k) {
  return p->rhs_transposed ? k * p->columns + column : column * p->inner + k;
}

/* A column of sums that all fit in 64 bits, along the order that the left matrix has in memory. */
static void sum_in_words(const struct product *p, size_t column, const int64_t *x, const int64_t *y,
                         int64_t *sums) {
  const size_t outer = p->lhs_transposed ? p->rows : p->inner;
  const size_t inner = p->lhs_transposed ? p->inner : p->rows;
  for (size_t row = 0; row < p->rows; row++) sums[row] = 0;
  for (size_t o = 0; o < outer; o++) {
    if (p->lhs_transposed) {
      int64_t sum = 0;
      for (size_t k = 0; k < inner; k++) sum += x[o * inner + k] * y[rhs_at(p, column, k)];
      sums[o] = sum;
    } else {
      const int64_t factor = y[rhs_at(p, column, o)];
      for (size_t row = 0; row < inner; row++) sums[row] += x[o * inner + row] * factor;
    }
  }
}

static struct wide sum_of_products(const struct check *check, const struct product *p, size_t row,
                                   size_t column, size_t x0, size_t y0) {
  struct wide sum = {{0, 0, 0}};
  for (size_t k = 0; k < p->inner; k++) {
    const struct whole a = read(check, 0, x0 + lhs_at(p, row, k));
    const struct whole b = read(check, 1, y0 + rhs_at(p, column, k));
    uint64_t high, low;
    multiply(a.magnitude, b.magnitude, &high, &low);
    accumulate(&sum, high, low, a.negative != b.negative);
  }
  return sum;
}

/* Whether every sum of n products fits in 64 bits, with a sign. */
static bool fits_words(const struct check *check, size_t n) {
  enum { WORD = 62 };
  int digits = 0;
  for (uint32_t k = 0; k < 2; k++)
    for (uint64_t bits = magnitudes_of(check, k); bits != 0; bits >>= 1) digits++;
  while (digits <= WORD && n > 1) {
    n -= n / 2;
    digits++;
  }
  return digits <= WORD;
}

/* The elements of an operand in 64 bits. */
static void to_words(const struct check *check, uint32_t operand, int64_t *words) {
  const struct joist_value *const value = operand_of(check, operand);
  joist_convert_find(value->type.dtype, JOIST_I64)(
      joist_value_count(value), check->arrays[check->instruction->operand[operand]], words);
}

static joist_status check_product(struct check *check, struct joist_error *error) {
  const struct joist_instruction *const i = check->instruction;
  const struct joist_value *const x = operand_of(check, 0), *const y = operand_of(check, 1);
  const struct joist_value *const z = &check->program->values[i->result];
  const bool transposed = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS);
  const struct product p = {z->shape.extent[0], z->shape.extent[1],
                            x->shape.extent[transposed ? 0 : 1], transposed,
                            joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS)};
  const size_t results = joist_value_count(z);
  int64_t *words = NULL;
  const size_t lhs = joist_value_count(x), rhs = joist_value_count(y);
  if (results > 0 && fits_words(check, p.inner)) {
    words = malloc((lhs + rhs + p.rows) * sizeof *words);
    if (words == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
    to_words(check, 0, words);
    to_words(check, 1, words + lhs);
  }
  int64_t *const sums = words == NULL ? NULL : words + lhs + rhs;
  joist_status status = JOIST_OK;
  for (size_t at = 0; at < results && status == JOIST_OK; at++) {
    const size_t row = at % p.rows, column = at / p.rows % p.columns;
    const size_t j = at / p.rows / p.columns;
    const size_t x0 = matrix_of(&x->shape, &z->shape, j) * p.rows * p.inner;
    const size_t y0 = matrix_of(&y->shape, &z->shape, j) * p.columns * p.inner;
    struct state s = {.zero = false};
    if (row == 0) {
      status = joist_run_poll(check->run, error);
      if (words != NULL) sum_in_words(&p, column, words + x0, words + lhs + y0, sums);
    }
    if (words == NULL) {
      s.sum = sum_of_products(check, &p, row, column, x0, y0);
    } else {
      const bool negative = sums[row] < 0;
      const uint64_t size = (uint64_t)sums[row];
      accumulate(&s.sum, 0, negative ? 0 - size : size, negative);
    }
    finish(check, at, &s);
  }
  free(words);
  return status;
}

static joist_status check_convolution(struct check *check, struct joist_error *error) {
  const struct joist_instruction *const i = check->instruction;
  const struct joist_shape *const shapes[] = {&operand_of(check, 0)->shape,
                                              &operand_of(check, 1)->shape, NULL};
  const struct joist_value *const z = &check->program->values[i->result];
  struct joist_windows w;
  joist_status status = joist_windows_make(i->op, shapes, i->attributes, &w, NULL, error);
  if (status != JOIST_OK) return status;
  const bool input = w.form == JOIST_CONV_INPUT, kernel = w.form == JOIST_CONV_KERNEL;
  const size_t inputs = joist_windows_input(&w), kernels = joist_windows_kernel(&w);
  const size_t outputs = joist_windows_output(&w), terms = joist_windows_terms(&w);
  const size_t each = kernel ? kernels : input ? inputs : outputs;
  const size_t results = joist_value_count(z);
  for (size_t at = 0; at < results && status == JOIST_OK; at++) {
    const size_t batch = at / each;
    const size_t x0 =
        joist_windows_batch(shapes[0], &z->shape, 2 + w.dims, batch) * (input ? outputs : inputs);
    const size_t y0 =
        joist_windows_batch(shapes[1], &z->shape, 2 + w.dims, batch) * (kernel ? outputs : kernels);
    struct state s = {.zero = false};
    if (at % 1024 == 0) status = joist_run_poll(check->run, error);
    for (size_t term = 0; term < terms; term++) {
      size_t lhs, rhs;
      if (!joist_windows_term(&w, at % each, term, &lhs, &rhs)) continue;
      const struct whole a = read(check, 0, x0 + lhs), b = read(check, 1, y0 + rhs);
      uint64_t high, low;
      multiply(a.magnitude, b.magnitude, &high, &low);
      accumulate(&s.sum, high, low, a.negative != b.negative);
    }
    finish(check, at, &s);
  }
  return status;
}

/* x with values added to or multiplied by elements at positions; rows where they have the other
 * extents of x. */
static joist_status check_scatter(struct check *check, struct joist_error *error) {
  const struct joist_value *const x = operand_of(check, 0), *const index = operand_of(check, 1);
  const size_t n = joist_value_count(x), places = joist_value_count(index);
  const size_t values = joist_value_count(operand_of(check, 2));
  struct state *const states = malloc((n + 1) * sizeof *states);
  if (states == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (size_t k = 0; k < n; k++) {
    start(&states[k]);
    combine(&check->combining, &states[k], read(check, 0, k));
  }
  const size_t rows = x->shape.rank > 0 ? x->shape.extent[0] : 1;
  const bool by_rows = values > places && places > 0;
  const size_t columns = by_rows ? values / places : 1;
  joist_status status = JOIST_OK;
  for (size_t c = 0; c < columns; c++)
    for (size_t k = 0; k < places && status == JOIST_OK; k++) {
      status = poll(check, c * places + k, error);
      const struct whole at = read(check, 1, k);
      const size_t to = (size_t)at.magnitude + c * rows;
      if (at.negative || to >= n) continue;
      combine(&check->combining, &states[to], read(check, 2, values == 1 ? 0 : c * places + k));
    }
  for (size_t k = 0; k < n && status == JOIST_OK; k++) finish(check, k, &states[k]);
  free(states);
  return status;
}

/* ---- bounds ---- */

static bool is_signed(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_INT; }

/* Whether anything may exceed the range, by the largest magnitudes of the operands. */
static bool may_exceed(const struct check *check) {
  const joist_dtype made = check->combining.dtype;
  const struct joist_value *const x = operand_of(check, 0);
  if (is_signed(x->type.dtype) && !is_signed(made)) return true;
  if (!check->combining.adds) return true;
  uint64_t bits = magnitudes_of(check, 0);
  size_t n = joist_value_count(x);
  if (joist_op_overflow_rule(check->instruction->op) == JOIST_OVERFLOW_PRODUCT) {
    if (is_signed(operand_of(check, 1)->type.dtype) != is_signed(made)) return true;
    uint64_t high, low;
    /* the complement of a negative number is less than its magnitude, by one; so 0 is 2^64 */
    const uint64_t lhs = bits + 1, rhs = magnitudes_of(check, 1) + 1;
    multiply(lhs, rhs, &high, &low);
    if (high != 0 || lhs == 0 || rhs == 0) return true;
    bits = low;
    n = joist_product_terms(check->instruction->op, &x->shape, &operand_of(check, 1)->shape,
                            check->instruction->attributes);
  } else if (joist_op_overflow_rule(check->instruction->op) == JOIST_OVERFLOW_SCATTER) {
    bits |= magnitudes_of(check, 2);
    n = joist_value_count(operand_of(check, 1)) + 1;
    if (is_signed(operand_of(check, 2)->type.dtype) != is_signed(made)) return true;
  }
  return joist_sum_may_exceed(bits, n, made);
}

static void set_readings(struct check *check) {
  const struct joist_instruction *const i = check->instruction;
  for (uint32_t k = 0; k < i->operand_count && k < OPERANDS; k++)
    check->reading[k] = reading_of(operand_of(check, k)->type.dtype);
}

joist_status joist_exact_check(const struct joist_program *program, uint32_t number,
                               void *const *arrays, const struct joist_run *run,
                               struct joist_error *error) {
  const struct joist_instruction *const i = &program->instructions[number];
  const bool saturates = (i->watch & JOIST_WATCH_SATURATE) != 0;
  if (!saturates && (run->tally == NULL || !(i->watch & JOIST_WATCH_OVERFLOW))) return JOIST_OK;
  struct check check = {.program = program,
                        .instruction = i,
                        .arrays = arrays,
                        .run = run,
                        .mask = i->missing > 0 ? arrays[i->missing - 1] : NULL};
  const bool multiplies = joist_op_combine(i->op) == JOIST_OP_MUL || i->op == JOIST_OP_SCATTER_MUL;
  check.combining =
      (struct combining){!multiplies, saturates, program->values[i->result].type.dtype};
  if (joist_op_overflow_rule(i->op) <= JOIST_OVERFLOW_NARROW || !may_exceed(&check))
    return JOIST_OK;
  set_readings(&check);
  joist_status status = JOIST_OK;
  switch (joist_op_overflow_rule(i->op)) {
    case JOIST_OVERFLOW_TOTAL:
      status = run_totals(&check, finish, error);
      break;
    case JOIST_OVERFLOW_RUNNING:
      status = check_running(&check, error);
      break;
    case JOIST_OVERFLOW_PRODUCT:
      status =
          joist_is_conv(i->op) ? check_convolution(&check, error) : check_product(&check, error);
      break;
    case JOIST_OVERFLOW_SCATTER:
      status = check_scatter(&check, error);
      break;
    case JOIST_OVERFLOW_UNDECIDED:
    case JOIST_OVERFLOW_NEVER:
    case JOIST_OVERFLOW_EACH:
    case JOIST_OVERFLOW_NARROW:
      break;
  }
  if (status == JOIST_OK && !saturates)
    joist_tally_add(run->tally, program, number, JOIST_FOUND_OVERFLOW, check.count, check.first);
  return status;
}

joist_status joist_exact_sums(const struct joist_program *program, uint32_t number,
                              struct joist_halves strips, joist_dtype dtype, void *const *arrays,
                              const struct joist_run *run, struct joist_error *error) {
  const struct joist_instruction *const i = &program->instructions[number];
  struct check check = {
      .program = program,
      .instruction = i,
      .mask = i->missing > 0 ? arrays[i->missing - 1] : NULL,
      .combining = {.adds = true, .dtype = program->values[i->result].type.dtype}};
  const struct joist_value *const x = operand_of(&check, 0);
  const size_t results = joist_value_count(&program->values[i->result]);
  struct joist_fold_dims dims = joist_fold_dims(&x->shape, i->dims);
  struct joist_fold_space space;
  const int first = joist_fold_next(&dims, &space);
  if (first >= 0) dims.extent[first] = joist_fold_strips(space);
  uint64_t *const totals = calloc(2 * results + 1, sizeof *totals);
  if (totals == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  size_t index[JOIST_RANK_MAX] = {0}, count = 1;
  for (int d = 0; d < dims.rank; d++) count *= dims.extent[d];
  for (size_t k = 0; k < count; k++) {
    size_t at = 0, next = 1;
    for (int d = 0; d < dims.rank; d++) {
      if (dims.reduced[d]) continue;
      at += index[d] * next;
      next *= dims.extent[d];
    }
    totals[2 * at] += strips.high[k];
    totals[2 * at + 1] += strips.low[k];
    for (int d = 0; d < dims.rank && ++index[d] == dims.extent[d]; d++) index[d] = 0;
  }
  for (size_t r = 0; r < results; r++) {
    struct state s = {.exceeds = false};
    accumulate_halves(&s.sum, totals[2 * r], totals[2 * r + 1], dtype,
                      joist_value_count(x) / results);
    finish(&check, r, &s);
  }
  free(totals);
  joist_tally_add(run->tally, program, number, JOIST_FOUND_OVERFLOW, check.count, check.first);
  return JOIST_OK;
}

/* ---- means ---- */

/* A sum of n integers of 64 bits by n, rounded once: bits of the quotient, of which the last one
 * stands for all that follow. */
static double quotient(const struct wide *sum, uint64_t n) {
  const bool negative = sum->limb[LIMBS - 1] >> 63 != 0;
  uint64_t low = sum->limb[0], high = sum->limb[1];
  if (negative) {
    low = 0 - low;
    high = ~high + (low == 0);
  }
  uint64_t whole = 0, rest = 0;
  int shift = 0;
  for (int k = 127; k >= 0; k--) {
    rest = rest << 1 | ((k >= 64 ? high >> (k - 64) : low >> k) & 1);
    whole = whole << 1 | (rest >= n);
    if (rest >= n) rest -= n;
  }
  for (; rest != 0 && whole >> 63 == 0; shift++) {
    rest <<= 1;
    whole = whole << 1 | (rest >= n);
    if (rest >= n) rest -= n;
  }
  const double value = ldexp((double)(whole | (rest != 0)), -shift);
  return negative ? -value : value;
}

static void finish_mean(struct check *check, size_t at, const struct state *s) {
  const struct joist_value *const result = &check->program->values[check->instruction->result];
  const size_t n = joist_value_count(operand_of(check, 0)) / joist_value_count(result);
  const double mean = quotient(&s->sum, n);
  char *const out = check->arrays[check->instruction->result];
  joist_convert_find(JOIST_F64, result->type.dtype)(
      1, &mean, out + at * joist_dtype_size(result->type.dtype));
}

joist_status joist_exact_mean(const struct joist_program *program, uint32_t number,
                              void *const *arrays, const struct joist_run *run,
                              struct joist_error *error) {
  const struct joist_instruction *const i = &program->instructions[number];
  struct check check = {.program = program,
                        .instruction = i,
                        .arrays = arrays,
                        .run = run,
                        .combining = {.adds = true}};
  set_readings(&check);
  return joist_value_count(&program->values[i->operand[0]]) == 0
             ? JOIST_OK
             : run_totals(&check, finish_mean, error);
}
