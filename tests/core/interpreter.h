/* interpreter.h: runs a program one instruction at a time over whole arrays, one element at
 * a time. The reference for the engine: it shares the kernels and conversions with it (each
 * called with n = 1), and no indexing, fusing, tiling or threading.
 *
 * Floating-point reductions have no one right answer: they are computed in long double
 * with a bound on the error, and what the engine gave is then taken over, so that what
 * depends on it can be compared bit for bit. */
#ifndef JOIST_TESTS_INTERPRETER_H
#define JOIST_TESTS_INTERPRETER_H

#include <math.h>

#include "core/cpu/engine.h"
#include "core/kernels/compare.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"

#include "arrays.h"

enum { FAILURES_MAX = 256 };

struct interpreter {
  const struct joist_program *program;
  char **array; /* per value */
  size_t *count;
  bool *needed;  /* per value: an output depends on it */
  bool *unknown; /* per value: it depends on a reduction of floats of which nothing was got */
  /* What fails, if anything does: (operation, first position) of every instruction. */
  int failure_count;
  struct {
    joist_op op;
    size_t position; /* SIZE_MAX: nothing to reduce, or not known */
  } failures[FAILURES_MAX];
};

static size_t interpreter_bytes(const struct interpreter *in, joist_value_id v) {
  return in->count[v] * joist_dtype_size(in->program->values[v].type.dtype);
}

CHECK_UNUSED static void interpreter_init(struct interpreter *in,
                                          const struct joist_program *program,
                                          const void *const *inputs) {
  memset(in, 0, sizeof *in);
  in->program = program;
  in->array = calloc(program->value_count, sizeof *in->array);
  in->count = calloc(program->value_count, sizeof *in->count);
  in->needed = calloc(program->value_count, sizeof *in->needed);
  in->unknown = calloc(program->value_count, sizeof *in->unknown);
  for (uint32_t v = 0; v < program->value_count; v++) {
    CHECK(joist_shape_count(&program->values[v].shape, &in->count[v]));
    in->array[v] = calloc(interpreter_bytes(in, v) + 1, 1);
    const uint32_t input = program->values[v].input;
    if (input != JOIST_NO_INPUT) memcpy(in->array[v], inputs[input], interpreter_bytes(in, v));
  }
  for (uint32_t k = 0; k < program->output_count; k++) in->needed[program->outputs[k]] = true;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    for (uint32_t a = 0; in->needed[i->result] && a < i->operand_count; a++)
      in->needed[i->operand[a]] = true;
  }
}

CHECK_UNUSED static void interpreter_clear(struct interpreter *in) {
  for (uint32_t v = 0; v < in->program->value_count; v++) free(in->array[v]);
  free(in->array);
  free(in->count);
  free(in->needed);
  free(in->unknown);
}

static void interpreter_fail(struct interpreter *in, const struct joist_instruction *i,
                             size_t position) {
  if (!in->needed[i->result] || in->failure_count == FAILURES_MAX) return;
  in->failures[in->failure_count].op = i->op;
  in->failures[in->failure_count++].position = position;
}

/* Where element `at` of an array of shape `space` is found in one of shape `from`. */
static size_t broadcast_index(const struct joist_shape *space, const struct joist_shape *from,
                              size_t at) {
  size_t found = 0, stride = 1;
  for (int d = 0; d < space->rank && from->rank > 0; d++) {
    if (from->extent[d] != 1) found += at % space->extent[d] * stride;
    stride *= from->extent[d];
    at /= space->extent[d];
  }
  return found;
}

/* The lowest bits of a byte that holds an integer or a float of so many, and its sign above them if
 * it is a signed integer. */
static void take_bits(char *byte, unsigned bits, bool is_signed) {
  const unsigned used = (unsigned char)*byte & ((1u << bits) - 1);
  const bool negative = is_signed && (used >> (bits - 1)) != 0;
  *byte = (char)(unsigned char)(negative ? used | ~((1u << bits) - 1) : used);
}

static void interpret_elementwise(struct interpreter *in, const struct joist_instruction *i) {
  const struct joist_value *const result = &in->program->values[i->result];
  const size_t out_size = joist_dtype_size(result->type.dtype);
  const bool moves = i->op == JOIST_OP_BROADCAST || i->op == JOIST_OP_BITCAST;
  const bool converts = i->op == JOIST_OP_CONVERT;
  size_t failed = SIZE_MAX;
  for (size_t at = 0; at < in->count[i->result]; at++) {
    _Alignas(16) char own[JOIST_ELEMENT_OPERANDS][16], computed[JOIST_ELEMENT_OPERANDS][16],
        made[16];
    const void *operands[JOIST_ELEMENT_OPERANDS] = {NULL};
    for (uint32_t a = 0; a < i->operand_count; a++) {
      const struct joist_value *const v = &in->program->values[i->operand[a]];
      const joist_dtype wanted = i->signature.operand[a], compute = joist_dtype_compute(wanted);
      operands[a] = in->array[i->operand[a]] + broadcast_index(&result->shape, &v->shape, at) *
                                                   joist_dtype_size(v->type.dtype);
      if (v->type.dtype != wanted) {
        joist_convert_find_portable(v->type.dtype, wanted)(1, operands[a], own[a]);
        operands[a] = own[a];
      }
      if (moves || converts || compute == wanted) continue;
      joist_convert_find_portable(wanted, compute)(1, operands[a], computed[a]);
      /* Operations on bits have no use for copies of the sign. */
      if (compute == JOIST_I8 && i->signature.compute == JOIST_UI8)
        take_bits(computed[a], joist_dtype_bits(wanted), false);
      operands[a] = computed[a];
    }
    char *const out = in->array[i->result] + at * out_size;
    if (moves) {
      memcpy(out, operands[0], out_size);
      const joist_dtype from = i->signature.operand[0], to = result->type.dtype;
      if (i->op == JOIST_OP_BITCAST && out_size == 1 && from != JOIST_BOOL && to != JOIST_BOOL) {
        take_bits(out, joist_dtype_bits(from), false);
        take_bits(out, joist_dtype_bits(to), joist_dtype_kind(to) == JOIST_KIND_INT);
      }
    } else if (converts) {
      joist_convert_find_portable(i->signature.operand[0], result->type.dtype)(1, operands[0], out);
    } else {
      memset(made, 0, sizeof made);
      joist_kernel *const kernel =
          joist_is_mixed(i)
              ? joist_compare_find(i->op, i->signature.operand[0], i->signature.operand[1])
              : joist_kernel_find(i->op, i->signature.compute);
      const size_t done = kernel(1, operands, made);
      if (done == 0 && failed == SIZE_MAX) failed = at;
      if (i->signature.rounds_float) {
        double value;
        memcpy(&value, made, sizeof value);
        value = round(value);
        memcpy(made, &value, sizeof value);
      }
      joist_convert_find_portable(joist_op_result(i->op, i->signature.compute), result->type.dtype)(
          1, made, out);
    }
  }
  if (failed != SIZE_MAX) interpreter_fail(in, i, failed);
}

/* Attributes of an instruction, per dim. */
static int64_t attribute_at(const struct joist_instruction *i, joist_attribute_name name, int d) {
  return joist_attribute_at(i->attributes, name, d);
}

/* How many positions a slice has along a dim. */
static size_t slice_extent(const struct joist_instruction *i, int d) {
  const int64_t start = attribute_at(i, JOIST_ATTRIBUTE_START, d);
  const int64_t stop = attribute_at(i, JOIST_ATTRIBUTE_STOP, d);
  const int64_t step = attribute_at(i, JOIST_ATTRIBUTE_STEP, d);
  size_t n = 0;
  for (int64_t at = start; step < 0 ? at >= stop : at <= stop; at += step) {
    n++;
    if (step == 0) break;
  }
  return n;
}

/* Where the k-th element of a slice is in the array it is of. */
static size_t interpret_slice(const struct interpreter *in, const struct joist_instruction *i,
                              size_t k) {
  const struct joist_shape *const shape = &in->program->values[i->operand[0]].shape;
  size_t at = 0, stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    const size_t n = slice_extent(i, d);
    at += (size_t)(attribute_at(i, JOIST_ATTRIBUTE_START, d) +
                   (int64_t)(k % n) * attribute_at(i, JOIST_ATTRIBUTE_STEP, d)) *
          stride;
    k /= n;
    stride *= shape->extent[d];
  }
  return at;
}

/* Element `at` of operand a as the dtype of the result. */
static void read_operand(const struct interpreter *in, const struct joist_instruction *i, size_t a,
                         size_t at, char *out) {
  const joist_dtype own = in->program->values[i->operand[a]].type.dtype;
  joist_convert_find_portable(own, in->program->values[i->result].type.dtype)(
      1, in->array[i->operand[a]] + at * joist_dtype_size(own), out);
}

/* Element k of operands side by side: which operand, and where in it. A scalar is repeated. */
static void interpret_concatenated(const struct interpreter *in, const struct joist_instruction *i,
                                   size_t k, char *out) {
  const struct joist_value *const result = &in->program->values[i->result];
  const int dim = joist_attribute_dim(i->attributes);
  const struct joist_shape *shape = NULL;
  size_t index[JOIST_RANK_MAX], at = 0, stride = 1, which = 0;
  for (int d = 0; d < result->shape.rank; d++) {
    index[d] = k % result->shape.extent[d];
    k /= result->shape.extent[d];
  }
  for (;; which++) {
    shape = &in->program->values[i->operand[which]].shape;
    const size_t extent = shape->rank == 0 ? 1 : shape->extent[dim];
    if (index[dim] < extent) break;
    index[dim] -= extent;
  }
  for (int d = 0; d < shape->rank; d++) {
    at += index[d] * stride;
    stride *= shape->extent[d];
  }
  read_operand(in, i, which, at, out);
}

/* A double holds every number of an iota that a test makes. */
static void interpret_iota(const struct interpreter *in, const struct joist_instruction *i,
                           size_t k, char *out) {
  const struct joist_value *const result = &in->program->values[i->result];
  for (int d = 0; d < joist_attribute_dim(i->attributes); d++) k /= result->shape.extent[d];
  const double number = joist_attribute_number(i->attributes, JOIST_ATTRIBUTE_FROM) +
                        (double)(k % result->shape.extent[joist_attribute_dim(i->attributes)]);
  joist_convert_find_portable(JOIST_F64, result->type.dtype)(1, &number, out);
}

static void interpret_layout(struct interpreter *in, const struct joist_instruction *i) {
  const struct joist_value *const result = &in->program->values[i->result];
  const struct joist_shape *const shape = &result->shape;
  const size_t size = joist_dtype_size(result->type.dtype), count = in->count[i->result];
  char *const out = in->array[i->result];
  const char *const x = i->operand_count == 0 ? NULL : in->array[i->operand[0]];
  switch (i->op) {
    case JOIST_OP_RESHAPE:
      memcpy(out, x, count * size);
      break;
    case JOIST_OP_TAKE:
      for (size_t k = 0; k < count; k++)
        memcpy(out + k * size, x + (size_t)((int64_t *)in->array[i->operand[1]])[k] * size, size);
      break;
    case JOIST_OP_PUT:
      memcpy(out, x, count * size);
      for (size_t k = 0; k < in->count[i->operand[1]]; k++)
        read_operand(in, i, 2, in->count[i->operand[2]] == 1 ? 0 : k,
                     out + (size_t)((int64_t *)in->array[i->operand[1]])[k] * size);
      break;
    case JOIST_OP_CONCATENATE:
      for (size_t k = 0; k < count; k++) interpret_concatenated(in, i, k, out + k * size);
      break;
    case JOIST_OP_IOTA:
      for (size_t k = 0; k < count; k++) interpret_iota(in, i, k, out + k * size);
      break;
    case JOIST_OP_PERMUTE:
      for (size_t k = 0; k < count; k++) {
        const struct joist_shape *const from = &in->program->values[i->operand[0]].shape;
        size_t rest = k, index[JOIST_RANK_MAX] = {0}, at = 0;
        for (int d = 0; d < shape->rank; d++) {
          index[attribute_at(i, JOIST_ATTRIBUTE_PERMUTATION, d)] = rest % shape->extent[d];
          rest /= shape->extent[d];
        }
        for (int d = from->rank; d-- > 0;) at = at * from->extent[d] + index[d];
        memcpy(out + k * size, x + at * size, size);
      }
      break;
    case JOIST_OP_SLICE:
      for (size_t k = 0; k < count; k++)
        memcpy(out + k * size, x + interpret_slice(in, i, k) * size, size);
      break;
    case JOIST_OP_UPDATE: {
      size_t selected = 1;
      for (int d = 0; d < shape->rank; d++) selected *= slice_extent(i, d);
      memcpy(out, x, count * size);
      for (size_t k = 0; k < selected; k++)
        read_operand(in, i, 1, in->count[i->operand[1]] == 1 ? 0 : k,
                     out + interpret_slice(in, i, k) * size);
      break;
    }
    case JOIST_OP_PAD:
      for (size_t k = 0; k < count; k++) {
        const struct joist_shape *const from = &in->program->values[i->operand[0]].shape;
        size_t rest = k, at = 0, stride = 1;
        bool inside = true;
        for (int d = 0; d < shape->rank; d++) {
          const int64_t step = attribute_at(i, JOIST_ATTRIBUTE_INTERIOR, d) + 1;
          const int64_t place =
              (int64_t)(rest % shape->extent[d]) - attribute_at(i, JOIST_ATTRIBUTE_LOW, d);
          inside &= place >= 0 && place % step == 0 && place / step < (int64_t)from->extent[d];
          rest /= shape->extent[d];
          at += (size_t)(place / step) * stride;
          stride *= from->extent[d];
        }
        read_operand(in, i, !inside, inside ? at : 0, out + k * size);
      }
      break;
    case JOIST_OP_GATHER: {
      const struct joist_value *const index = &in->program->values[i->operand[1]];
      const struct joist_shape *const from = &in->program->values[i->operand[0]].shape;
      const int dim = joist_attribute_dim(i->attributes);
      const size_t entries = in->count[i->operand[1]], extent = from->extent[dim];
      size_t inner = 1;
      for (int d = 0; d < dim; d++) inner *= from->extent[d];
      for (size_t k = 0; k < count; k++) {
        const size_t entry = k / inner % entries, outer = k / inner / entries;
        int64_t at = 0;
        joist_convert_find_portable(index->type.dtype, JOIST_I64)(
            1, in->array[i->operand[1]] + entry * joist_dtype_size(index->type.dtype), &at);
        memcpy(out + k * size, x + ((outer * extent + (size_t)at - 1) * inner + k % inner) * size,
               size);
      }
      break;
    }
    default:
      CHECK_MSG(0, "the interpreter has no nv_%s()", joist_op_name(i->op));
  }
}

/* The number of the result that element `at` of a reduction's operand goes into. */
static size_t reduced_index(const struct joist_shape *shape, uint32_t dims, size_t at) {
  size_t found = 0, stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    const size_t index = at % shape->extent[d];
    at /= shape->extent[d];
    if (dims >> d & 1) continue;
    found += index * stride;
    stride *= shape->extent[d];
  }
  return found;
}

/* Integers, bools, minima and maxima: one element after the other. */
static void interpret_exact_reduction(struct interpreter *in, const struct joist_instruction *i) {
  const struct joist_value *const v = &in->program->values[i->operand[0]];
  const joist_dtype accumulator = i->signature.operand[0], own = v->type.dtype;
  const joist_op combine = joist_op_combine(i->op);
  const size_t size = joist_dtype_size(accumulator), results = in->count[i->result];
  char *const sums = calloc(results + 1, size);
  bool *const any = calloc(results + 1, sizeof *any);
  if (!CHECK(sums != NULL && any != NULL)) return;
  for (size_t k = 0; k < results; k++)
    any[k] = joist_identity(combine, accumulator, sums + k * size);
  for (size_t at = 0; at < in->count[i->operand[0]]; at++) {
    const size_t k = reduced_index(&v->shape, i->dims, at);
    _Alignas(16) char element[16];
    joist_convert_find_portable(own, accumulator)(
        1, in->array[i->operand[0]] + at * joist_dtype_size(own), element);
    const void *both[2] = {sums + k * size, element};
    if (any[k])
      joist_kernel_find(combine, accumulator)(1, both, sums + k * size);
    else
      memcpy(sums + k * size, element, size);
    any[k] = true;
  }
  for (size_t k = 0; k < results; k++)
    if (!any[k]) {
      interpreter_fail(in, i, SIZE_MAX);
      break;
    }
  joist_convert_find_portable(accumulator, in->program->values[i->result].type.dtype)(
      results, sums, in->array[i->result]);
  free(sums);
  free(any);
}

/* One part (0 real, 1 imaginary) of an element. */
static long double read_part(joist_dtype dtype, const char *at, int part) {
  double both[2];
  joist_convert_find_portable(dtype, JOIST_C128)(1, at, both);
  return both[part];
}

/* Sums, products and means of floats: compares `got`, and takes it over. */
static void interpret_float_reduction(struct interpreter *in, const struct joist_instruction *i,
                                      const char *got) {
  const struct joist_value *const v = &in->program->values[i->operand[0]];
  const joist_dtype own = v->type.dtype, to = in->program->values[i->result].type.dtype;
  const bool product = i->op == JOIST_OP_REDUCE_PROD;
  const bool complex_result = joist_dtype_kind(to) == JOIST_KIND_COMPLEX;
  const size_t results = in->count[i->result], to_size = joist_dtype_size(to);
  memcpy(in->array[i->result], got, results * to_size);
  /* Only floats have a unit in the last place; a complex product has no simple bound. */
  if (joist_dtype_category(to) < JOIST_CATEGORY_FLOAT || results == 0) return;
  if (product && (joist_dtype_kind(own) == JOIST_KIND_COMPLEX || complex_result)) return;
  /* Per result: the sum or product, that of the sizes, and for a product that of all below 1. */
  long double *const sums = calloc(3 * results, sizeof *sums);
  if (!CHECK(sums != NULL)) return;
  long double *const sizes = sums + results, *const smalls = sizes + results;
  const double n = (double)(in->count[i->operand[0]] / results);
  for (int part = 0; part <= complex_result; part++) {
    for (size_t k = 0; k < results; k++)
      sums[k] = product && part == 0, sizes[k] = product, smalls[k] = 1;
    for (size_t at = 0; at < in->count[i->operand[0]]; at++) {
      const size_t k = reduced_index(&v->shape, i->dims, at);
      const long double x =
          read_part(own, in->array[i->operand[0]] + at * joist_dtype_size(own), part);
      sums[k] = product ? (part == 0 ? sums[k] * x : 0) : sums[k] + x;
      sizes[k] = product ? sizes[k] * fmaxl(fabsl(x), 1) : sizes[k] + fabsl(x);
      if (product && x != 0) smalls[k] *= fminl(fabsl(x), 1);
    }
    for (size_t k = 0; k < results; k++) {
      const long double answer = read_part(to, got + k * to_size, part);
      long double want = sums[k], bound = product ? fabsl(sums[k]) * n : sizes[k];
      if (i->op == JOIST_OP_REDUCE_MEAN) want /= n, bound /= n;
      /* A partial result may overflow or vanish in one order and not in another. */
      if (!isfinite(sizes[k]) || sizes[k] > 1e290L || isnan(want)) continue;
      if (product && (smalls[k] < 1e-290L || n > 200)) continue;
      if (fabsl(want) > 0.999L * (long double)joist_dtype_max_float(to)) continue;
      /* What is 0 in f32 is not a number of a dtype without zero. */
      if (!joist_dtype_has_zero(to) && fabsl(want) < 0x1p-149L) continue;
      const double last = half_unit(joist_dtype_real(to));
      const long double smallest = smallest_number(joist_dtype_real(to));
      const long double exact = bound * 64 * 0x1p-53L;
      const long double allowed = exact + fabsl(want) * (long double)last * 1.01L + smallest;
      bool right;
      if (lacks_number(joist_dtype_real(to), want, exact, answer, &right)) {
        CHECK_MSG(right, "nv_%s of %s to %s, result %zu: %Lg, want %Lg", joist_op_name(i->op),
                  joist_dtype_name(own), joist_dtype_name(to), k, answer, want);
        continue;
      }
      CHECK_MSG(fabsl(answer - want) <= allowed, "nv_%s of %s to %s, result %zu: %Lg, want %Lg",
                joist_op_name(i->op), joist_dtype_name(own), joist_dtype_name(to), k, answer, want);
    }
  }
  free(sums);
}

static bool is_float_reduction(const struct joist_instruction *i) {
  return joist_op_is_reduction(i->op) &&
         joist_dtype_category(i->signature.operand[0]) >= JOIST_CATEGORY_FLOAT;
}

/* A minimum of -0 and 0 may be either: the order is not fixed. */
static bool is_float_extreme(const struct joist_instruction *i) {
  return i->op == JOIST_OP_REDUCE_MIN || i->op == JOIST_OP_REDUCE_MAX;
}

static void take_over_zeros(const struct interpreter *in, const struct joist_instruction *i,
                            const char *got) {
  const joist_dtype dtype = in->program->values[i->result].type.dtype;
  const size_t size = joist_dtype_size(dtype);
  for (size_t k = 0; k < in->count[i->result]; k++) {
    char *const mine = in->array[i->result] + k * size;
    if (read_part(dtype, mine, 0) == 0 && read_part(dtype, got + k * size, 0) == 0)
      memcpy(mine, got + k * size, size);
  }
}

/* Runs the program. `got[v]` is what the engine gave for value v if v is an output, else
 * NULL; needed for reductions of floats. */
CHECK_UNUSED static void interpreter_run(struct interpreter *in, char *const *got) {
  for (uint32_t k = 0; k < in->program->instruction_count; k++) {
    const struct joist_instruction *const i = &in->program->instructions[k];
    if (!in->needed[i->result]) continue;
    const char *const engine = got == NULL ? NULL : got[i->result];
    if (joist_op_is_array(i->op)) {
      interpret_layout(in, i);
    } else if (!joist_op_is_reduction(i->op)) {
      interpret_elementwise(in, i);
    } else if (!is_float_reduction(i) || is_float_extreme(i)) {
      interpret_exact_reduction(in, i);
      if (is_float_reduction(i) && engine != NULL) take_over_zeros(in, i, engine);
    } else if (engine != NULL) {
      interpret_float_reduction(in, i, engine);
    } else {
      in->unknown[i->result] = true;
    }
    for (uint32_t a = 0; a < i->operand_count; a++)
      in->unknown[i->result] |= in->unknown[i->operand[a]];
    if (in->unknown[i->result] && joist_can_fail(i)) interpreter_fail(in, i, SIZE_MAX);
  }
}

#endif
