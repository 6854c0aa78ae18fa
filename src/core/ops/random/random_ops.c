/* Random bits, keys, uniform and normal numbers. */
#include "core/ops/random/random_ops.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/types/error.h"
#include "core/types/loss.h"

JOIST_VECTORIZE_FILE
#include "core/kernels/random_element.h" /* below the pragma: functions of other options are not inlined */

/* ---- what all draws share ---- */

static joist_status check_key(const struct joist_shape *key, struct joist_error *error) {
  if (key->rank == 1 && key->extent[0] == 2) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_KEY_SHAPE, .shape = {*key});
}

/* The shape asked for; parameters fit when they are one value or have that shape. */
static joist_status drawn_shape(joist_op op, const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes,
                                struct joist_shape *result, struct joist_error *error) {
  (void)joist_attribute_shape(attributes, result);
  for (int k = 1; shapes[k] != NULL; k++)
    if (shapes[k]->rank > 0 && !joist_shape_equal(shapes[k], result))
      return JOIST_FAIL(error, JOIST_E_PARAMETER_SHAPE, .op = joist_op_name(op),
                        .shape = {*shapes[k], *result});
  return check_key(shapes[0], error);
}

#define SHAPE_OF(FUNCTION, OP)                                                            \
  joist_status joist_random_##FUNCTION##_shape(                                           \
      const struct joist_shape *const *shapes, const struct joist_attributes *attributes, \
      struct joist_shape *result, struct joist_error *error) {                            \
    return drawn_shape(JOIST_OP_##OP, shapes, attributes, result, error);                 \
  }
SHAPE_OF(bits, RANDOM_BITS)
SHAPE_OF(uniform, RUNIF)
SHAPE_OF(normal, RNORM)
SHAPE_OF(integer, RANDINT)
SHAPE_OF(binomial, RBINOM)
SHAPE_OF(exponential, REXP)
SHAPE_OF(gamma, RGAMMA)
SHAPE_OF(poisson, RPOIS)

/* Weights: a vector for all elements, or an array with one more dim than the result. */
joist_status joist_random_category_shape(const struct joist_shape *const *shapes,
                                         const struct joist_attributes *attributes,
                                         struct joist_shape *result, struct joist_error *error) {
  (void)joist_attribute_shape(attributes, result);
  struct joist_shape each = *shapes[1];
  if (each.rank > 0) each.rank--;
  if (shapes[1]->rank == 0 || (shapes[1]->rank > 1 && !joist_shape_equal(&each, result)))
    return JOIST_FAIL(error, JOIST_E_WEIGHTS_SHAPE, .shape = {*shapes[1], *result});
  return check_key(shapes[0], error);
}

static struct joist_parameter parameter_of(const struct joist_call *call, int k) {
  const size_t count = joist_value_count(call->operand[k]);
  return (struct joist_parameter){.dtype = call->operand[k]->type.dtype,
                                  .elements = call->in[k],
                                  .count = count,
                                  .single = call->operand[k]->shape.rank == 0};
}

joist_status joist_draw_init(struct joist_draw *draw, const struct joist_call *call,
                             struct joist_error *error) {
  const uint32_t operands = call->instruction->operand_count;
  memset(draw, 0, sizeof *draw);
  draw->call = call;
  draw->dtype = call->result->type.dtype;
  draw->work = 4;
  draw->stream.use = JOIST_STREAM_DENSE;
  if (call->operand[0]->type.dtype != JOIST_UI32)
    return JOIST_FAIL(error, JOIST_E_KEY_DTYPE, .type = {{call->operand[0]->type.dtype, false}});
  memcpy(draw->stream.key, call->in[0], sizeof draw->stream.key);
  draw->lhs.single = draw->rhs.single = true;
  if (operands > 1) draw->lhs = parameter_of(call, 1);
  if (operands > 2) draw->rhs = parameter_of(call, 2);
  return JOIST_OK;
}

size_t joist_parameter_count(const struct joist_draw *draw) {
  const size_t count = joist_value_count(draw->call->result);
  return count == 0 || !(draw->lhs.single && draw->rhs.single) ? count : 1;
}

static void draw_block(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct joist_draw *const draw = context;
  const size_t count = joist_value_count(draw->call->result), size = joist_dtype_size(draw->dtype);
  const struct joist_part part = joist_strip_of(count, JOIST_DRAW_BLOCK, block);
  draw->run(draw, part.first, part.n, (char *)draw->call->out[0] + part.first * size);
}

joist_status joist_draw_all(const struct joist_draw *draw, struct joist_error *error) {
  const size_t blocks = joist_divide_up(joist_value_count(draw->call->result), JOIST_DRAW_BLOCK);
  return joist_tasks_run(draw->call->run, blocks, JOIST_DRAW_BLOCK * draw->work, draw_block, draw,
                         error);
}

void joist_draw_words(const struct joist_draw *draw, int bits, size_t first, size_t n,
                      uint32_t *words) {
  const size_t per_block = (size_t)(128 / bits);
  joist_random_kernels()->words(&draw->stream, first / per_block, joist_divide_up(n, per_block),
                                words);
}

void joist_parameter_read(const struct joist_parameter *parameter, size_t first, size_t n,
                          joist_dtype dtype, void *out) {
  joist_convert_kernel *const kernel = joist_convert_find(parameter->dtype, dtype);
  const size_t from = joist_dtype_size(parameter->dtype), to = joist_dtype_size(dtype);
  if (!parameter->single) {
    kernel(n, parameter->elements + first * from, out);
    return;
  }
  kernel(1, parameter->elements, out);
  for (size_t done = 1; done < n; done *= 2)
    memcpy((char *)out + done * to, out, (n - done < done ? n - done : done) * to);
}

/* ---- keys ---- */

joist_status joist_random_fold_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  *result = *shapes[0];
  if (shapes[1]->rank != 0) return JOIST_FAIL(error, JOIST_E_FOLD_SHAPE, .shape = {*shapes[1]});
  return check_key(shapes[0], error);
}

joist_status joist_fold_number(const struct joist_draw *draw, int64_t *number,
                               struct joist_error *error) {
  double given;
  joist_parameter_read(&draw->lhs, 0, 1, JOIST_I64, number);
  if (joist_dtype_category(draw->lhs.dtype) < JOIST_CATEGORY_FLOAT) return JOIST_OK;
  joist_parameter_read(&draw->lhs, 0, 1, JOIST_F64, &given);
  if (given == floor(given) && fabs(given) <= 0x1p53) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_FOLD_NUMBER, .number = {given});
}

joist_status joist_random_fold_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  int64_t number;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status != JOIST_OK) return status;
  if (draw.dtype != JOIST_UI32)
    return JOIST_FAIL(error, JOIST_E_KEY_DTYPE, .type = {{draw.dtype, false}});
  status = joist_fold_number(&draw, &number, error);
  if (status != JOIST_OK) return status;
  const bool split = joist_attribute_flag(joist_call_attributes(call), JOIST_ATTRIBUTE_SPLIT);
  draw.stream.use = split ? JOIST_STREAM_SPLIT : JOIST_STREAM_FOLD;
  uint32_t words[4];
  joist_random_kernels()->words(&draw.stream, (uint64_t)number, 1, words);
  memcpy(call->out[0], words, 2 * sizeof *words);
  return JOIST_OK;
}

/* ---- bits ---- */

static void draw_bits(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  uint32_t words[2 * JOIST_DRAW_BLOCK];
  const size_t size = joist_dtype_size(draw->dtype);
  joist_draw_words(draw, (int)(8 * size), first, n, words);
  uint8_t bytes[JOIST_DRAW_BLOCK];
  switch (size) {
    case 1:
      for (size_t k = 0; k < n; k++) bytes[k] = (uint8_t)(words[k / 4] >> (8 * (k % 4)));
      joist_convert_find(JOIST_UI8, draw->dtype)(n, bytes, out); /* keeps the lowest bits */
      break;
    case 2:
      for (size_t k = 0; k < n; k++)
        ((uint16_t *)out)[k] = (uint16_t)(words[k / 2] >> (16 * (k % 2)));
      break;
    case 4:
      memcpy(out, words, n * size);
      break;
    default:
      JOIST_VECTORIZE_LOOP for (size_t k = 0; k < n; k++) {
        ((uint64_t *)out)[k] = words[2 * k] | (uint64_t)words[2 * k + 1] << 32;
      }
  }
}

joist_status joist_random_bits_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  const joist_status status = joist_draw_init(&draw, call, error);
  if (status != JOIST_OK) return status;
  draw.run = draw_bits;
  return joist_draw_all(&draw, error);
}

/* ---- uniform numbers ---- */

/* The same of a dtype of a byte, among all its numbers. */
static double top_of_codes(joist_dtype dtype, double low, double high) {
  enum { CODES = 256 };
  const size_t count = (size_t)1 << joist_dtype_bits(dtype);
  uint8_t codes[CODES];
  double numbers[CODES], top = low;
  for (size_t k = 0; k < count; k++) codes[k] = (uint8_t)k;
  joist_convert_find(dtype, JOIST_F64)(count, codes, numbers);
  for (size_t k = 0; k < count; k++)
    if (numbers[k] > top && numbers[k] < high) top = numbers[k];
  return top;
}

/* The largest number of the dtype below `high`, or `low` if there is none in between. */
static double top_of(joist_dtype dtype, double low, double high) {
  union {
    uint16_t half;
    uint32_t single;
    uint64_t wide;
  } bits = {.wide = 0};
  double top;
  if (!joist_dtype_is_word(dtype)) return top_of_codes(dtype, low, high);
  joist_convert_find(JOIST_F64, dtype)(1, &high, &bits);
  const size_t size = joist_dtype_size(dtype);
  const unsigned width = (unsigned)(8 * size);
  if (size == sizeof bits.half) bits.half = (uint16_t)next_below(bits.half, width);
  if (size == sizeof bits.single) bits.single = (uint32_t)next_below(bits.single, width);
  if (size == sizeof bits.wide) bits.wide = next_below(bits.wide, width);
  joist_convert_find(dtype, JOIST_F64)(1, &bits, &top);
  return top < low ? low : top;
}

/* Limits of n elements, rounded to the dtype, and the largest number below the upper. */
static void limits_of(const struct joist_draw *draw, size_t first, size_t n, double *low,
                      double *high, double *top) {
  char rounded[JOIST_DRAW_BLOCK * sizeof(double)];
  joist_convert_kernel *const widen = joist_convert_find(draw->dtype, JOIST_F64);
  joist_parameter_read(&draw->lhs, first, n, draw->dtype, rounded);
  widen(n, rounded, low);
  joist_parameter_read(&draw->rhs, first, n, draw->dtype, rounded);
  widen(n, rounded, high);
  const bool same = draw->lhs.single && draw->rhs.single;
  for (size_t k = 0; k < n; k++)
    top[k] = same && k > 0 ? top[0] : top_of(draw->dtype, low[k], high[k]);
}

/* Numbers in [0, 1), all multiples of a power of 2: of 1/2^digits, or of the least positive number
 * of the dtype if that is more. Narrow ones take 16 bits each, and are computed as f32. */
static void units_in_compute(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  uint32_t words[2 * JOIST_DRAW_BLOCK];
  const struct joist_random_kernels *const kernels = joist_random_kernels();
  const joist_dtype compute = joist_dtype_compute(draw->dtype);
  const bool narrow = compute != draw->dtype;
  joist_draw_words(draw, narrow ? 16 : (int)(8 * joist_dtype_size(compute)), first, n, words);
  if (narrow) {
    const int digits = joist_dtype_digits(draw->dtype);
    const int least = -joist_dtype_least_exponent(draw->dtype);
    float units[JOIST_DRAW_BLOCK + 1];
    kernels->unit_half((n + 1) / 2, digits < least ? digits : least, words, units);
    memcpy(out, units, n * sizeof *units);
  } else if (compute == JOIST_F64) {
    kernels->unit_f64(n, words, out);
  } else {
    kernels->unit_f32(n, words, out);
  }
}

static void units_of(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  const joist_dtype compute = joist_dtype_compute(draw->dtype);
  if (compute == draw->dtype) {
    units_in_compute(draw, first, n, out);
    return;
  }
  float units[JOIST_DRAW_BLOCK];
  units_in_compute(draw, first, n, units);
  joist_convert_find(compute, draw->dtype)(n, units, out);
}

static void draw_between(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double low[JOIST_DRAW_BLOCK], high[JOIST_DRAW_BLOCK], top[JOIST_DRAW_BLOCK];
  double x[JOIST_DRAW_BLOCK];
  double units[JOIST_DRAW_BLOCK];
  units_in_compute(draw, first, n, units);
  joist_convert_find(joist_dtype_compute(draw->dtype), JOIST_F64)(n, units, x);
  limits_of(draw, first, n, low, high, top);
  joist_random_kernels()->between(n, low, high, top, x);
  joist_convert_find(JOIST_F64, draw->dtype)(n, x, out);
}

joist_status joist_uniform_check(const struct joist_draw *draw, struct joist_error *error) {
  double low[JOIST_DRAW_BLOCK], high[JOIST_DRAW_BLOCK], top[JOIST_DRAW_BLOCK];
  const size_t count = joist_parameter_count(draw);
  for (size_t first = 0; first < count; first += JOIST_DRAW_BLOCK) {
    const size_t n = joist_smaller(JOIST_DRAW_BLOCK, count - first);
    limits_of(draw, first, n, low, high, top);
    for (size_t k = 0; k < n; k++)
      if (!are_limits(low[k], high[k]))
        return JOIST_FAIL(error, JOIST_E_RUNIF_RANGE, .type = {{draw->dtype, false}},
                          .number = {low[k], high[k]}, .position = first + k + 1);
  }
  return JOIST_OK;
}

bool joist_uniform_is_unit(const struct joist_draw *draw) {
  double low, high, top;
  if (!draw->lhs.single || !draw->rhs.single) return false;
  limits_of(draw, 0, 1, &low, &high, &top);
  return low == 0 && high == 1;
}

joist_status joist_random_uniform_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = joist_uniform_check(&draw, error);
  if (status != JOIST_OK) return status;
  draw.run = joist_uniform_is_unit(&draw) ? units_of : draw_between;
  return joist_draw_all(&draw, error);
}

/* ---- normal numbers ---- */

/* n numbers of f64 arithmetic for an element's parts, a pair from each 64 or 128 bits. */
static void standard_normals(const struct joist_draw *draw, size_t first, size_t n, int parts,
                             double *x) {
  uint32_t words[4 * JOIST_DRAW_BLOCK + 4];
  const bool wide = joist_dtype_digits(draw->dtype) > 24;
  const size_t pairs = (n * (size_t)parts + 1) / 2;
  joist_draw_words(draw, (wide ? 64 : 32) * parts, first, n, words);
  (wide ? joist_random_kernels()->normal_wide : joist_random_kernels()->normal_narrow)(pairs, words,
                                                                                       x);
}

bool joist_normal_is_standard(const struct joist_draw *draw) {
  double mean[2], sd;
  if (!draw->lhs.single || !draw->rhs.single) return false;
  joist_parameter_read(&draw->lhs, 0, 1, JOIST_C128, mean);
  joist_parameter_read(&draw->rhs, 0, 1, JOIST_F64, &sd);
  return mean[0] == 0 && mean[1] == 0 && sd == 1;
}

static void draw_standard_normal(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double x[JOIST_DRAW_BLOCK + 2];
  standard_normals(draw, first, n, 1, x);
  joist_convert_find(JOIST_F64, draw->dtype)(n, x, out);
}

static void draw_normal(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double x[JOIST_DRAW_BLOCK + 2], mean[JOIST_DRAW_BLOCK], sd[JOIST_DRAW_BLOCK];
  standard_normals(draw, first, n, 1, x);
  joist_parameter_read(&draw->lhs, first, n, JOIST_F64, mean);
  joist_parameter_read(&draw->rhs, first, n, JOIST_F64, sd);
  joist_random_kernels()->spread(n, mean, sd, x);
  joist_convert_find(JOIST_F64, draw->dtype)(n, x, out);
}

/* Real and imaginary part have half of the variance each. */
static void draw_normal_complex(const struct joist_draw *draw, size_t first, size_t n, void *out) {
  double x[2 * JOIST_DRAW_BLOCK + 2], mean[2 * JOIST_DRAW_BLOCK], sd[JOIST_DRAW_BLOCK];
  double part_sd[2 * JOIST_DRAW_BLOCK];
  standard_normals(draw, first, n, 2, x);
  joist_parameter_read(&draw->lhs, first, n, JOIST_C128, mean);
  joist_parameter_read(&draw->rhs, first, n, JOIST_F64, sd);
  for (size_t k = 0; k < n; k++) part_sd[2 * k] = part_sd[2 * k + 1] = sd[k] * PART_SD;
  joist_random_kernels()->spread(2 * n, mean, part_sd, x);
  joist_convert_find(JOIST_C128, draw->dtype)(n, x, out);
}

joist_status joist_normal_check(const struct joist_draw *draw, struct joist_error *error) {
  double sd[JOIST_DRAW_BLOCK];
  if (joist_dtype_kind(draw->rhs.dtype) == JOIST_KIND_COMPLEX)
    return JOIST_FAIL(error, JOIST_E_RNORM_DTYPE, .type = {{draw->rhs.dtype, false}});
  const size_t count = joist_parameter_count(draw);
  for (size_t first = 0; first < count; first += JOIST_DRAW_BLOCK) {
    const size_t n = joist_smaller(JOIST_DRAW_BLOCK, count - first);
    joist_parameter_read(&draw->rhs, first, n, JOIST_F64, sd);
    for (size_t k = 0; k < n; k++)
      if (!is_deviation(sd[k]))
        return JOIST_FAIL(error, JOIST_E_RNORM_SD, .number = {sd[k]}, .position = first + k + 1);
  }
  return JOIST_OK;
}

joist_status joist_random_normal_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_draw draw;
  joist_status status = joist_draw_init(&draw, call, error);
  if (status == JOIST_OK) status = joist_normal_check(&draw, error);
  if (status != JOIST_OK) return status;
  const bool is_complex = joist_dtype_kind(draw.dtype) == JOIST_KIND_COMPLEX;
  draw.run = is_complex                        ? draw_normal_complex
             : joist_normal_is_standard(&draw) ? draw_standard_normal
                                               : draw_normal;
  draw.work = 8;
  return joist_draw_all(&draw, error);
}
