/* Facts about operations and the inference of their dtypes. */
#include "core/program/ops.h"

#include <math.h>
#include <string.h>

#include "core/kernels/kernels.h"

struct op_facts {
  const char *name;
  const char *generic;
  int arity;
  joist_class class;
  bool reduction, array;
  joist_op combine; /* array operations: the one whose kernels say which dtypes have it */
};

static const struct op_facts facts[JOIST_OP_COUNT] = {
#define OP(ID, NAME, ARITY, CLASS, GENERIC) \
  {NAME, GENERIC, ARITY, JOIST_CLASS_##CLASS, false, false, JOIST_OP_##ID},
#define REDUCTION(ID, NAME, CLASS, COMBINE, GENERIC) \
  {NAME, GENERIC, 1, JOIST_CLASS_##CLASS, true, false, JOIST_OP_##COMBINE},
#define ARRAY(ID, NAME, ARITY, CLASS, DEFINED, FUNCTION) \
  {NAME, "", ARITY, JOIST_CLASS_##CLASS, false, true, JOIST_OP_##DEFINED},
#include "core/program/ops.def"
};

const char *joist_op_name(joist_op op) { return facts[op].name; }
const char *joist_op_generic(joist_op op) { return facts[op].generic; }
int joist_op_arity(joist_op op) { return facts[op].arity; }
joist_class joist_op_class(joist_op op) { return facts[op].class; }
bool joist_op_is_reduction(joist_op op) { return facts[op].reduction; }
bool joist_op_is_array(joist_op op) { return facts[op].array; }
bool joist_op_can_fail(joist_op op) {
  return false
#define CHECKED(ID, KIND, FAILURE, EXPRESSION) || op == JOIST_OP_##ID
#include "core/program/ops.def"
      ;
}
joist_op joist_op_combine(joist_op reduction) { return facts[reduction].combine; }

joist_op joist_op_parse(const char *name) {
  int op = 0;
  while (op < JOIST_OP_COUNT && strcmp(name, facts[op].name) != 0) op++;
  return (joist_op)op;
}

static bool is_inexact(joist_dtype dtype) {
  return joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
}

/* The type of `type` after an operation whose result is no integer. */
static joist_status make_inexact(const struct joist_rules *rules, struct joist_type *type,
                                 struct joist_error *error) {
  if (is_inexact(type->dtype)) return JOIST_OK;
  const struct joist_operand operands[2] = {
      {.type = *type, .rank = 1},
      {.type = {(joist_dtype)rules->literal[JOIST_CATEGORY_FLOAT], true}, .rank = 1}};
  return joist_common_type(rules, operands, 2, type, error);
}

/* The dtype a reduction runs in: wide enough that only the result is rounded. */
static joist_dtype accumulator(joist_dtype dtype) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
    case JOIST_KIND_INT:
      return JOIST_I64;
    case JOIST_KIND_UINT:
      return JOIST_UI64;
    case JOIST_KIND_FLOAT:
      return JOIST_F64;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_C128;
}

/* A literal outside of the range of the dtype it would be compared in. */
static bool out_of_range(const struct joist_operand *operand, joist_dtype dtype) {
  if (!operand->literal || !operand->has_range) return false;
  if (is_inexact(dtype)) {
    const double largest = joist_dtype_max_float(dtype);
    return (isfinite(operand->low) && operand->low < -largest) ||
           (isfinite(operand->high) && operand->high > largest);
  }
  return operand->low < (double)joist_dtype_min_int(dtype) ||
         operand->high > (double)joist_dtype_max_int(dtype);
}

/* The dtype that holds both the values of `dtype` and literals beyond them, as far as
 * a comparison needs to tell. */
static joist_dtype wide_enough(joist_dtype dtype) {
  if (joist_dtype_category(dtype) == JOIST_CATEGORY_COMPLEX) return JOIST_C128;
  return is_inexact(dtype) || dtype == JOIST_UI64 ? JOIST_F64 : JOIST_I64;
}

/* The dtype that holds every R value of a category. */
static joist_dtype widest(joist_category category) {
  static const joist_dtype dtypes[JOIST_CATEGORY_COUNT] = {JOIST_BOOL, JOIST_I64, JOIST_F64,
                                                           JOIST_C128};
  return dtypes[category];
}

/* What a message says where an operation is not defined for a dtype. */
static const char *way_out(joist_op op, joist_op kernel_op, joist_dtype dtype) {
  if (dtype == JOIST_BOOL && (op == JOIST_OP_SUB || op == JOIST_OP_NEGATE))
    return "; use nv_xor() or nv_not(), or nv_convert() to an integer dtype first";
  if (joist_kernel_find(kernel_op, JOIST_F64) == NULL &&
      joist_kernel_find(kernel_op, JOIST_I32) != NULL && facts[op].arity > 0)
    return "; it takes integers, see nv_convert()";
  return "";
}

joist_status joist_infer(const struct joist_rules *rules, joist_op op,
                         const struct joist_operand *operands, struct joist_type requested,
                         struct joist_signature *signature, struct joist_error *error) {
  const size_t arity = (size_t)facts[op].arity;
  const joist_class class = facts[op].class;
  const bool select = class == JOIST_CLASS_SELECT;
  struct joist_type type = operands[0].type;
  joist_status status = JOIST_OK;

  /* The join, which a pair of bools in a logical operation does not need. */
  const bool all_bool = class == JOIST_CLASS_LOGICAL && type.dtype == JOIST_BOOL &&
                        operands[arity - 1].type.dtype == JOIST_BOOL;
  const bool as_they_are = class == JOIST_CLASS_LAYOUT || class == JOIST_CLASS_DRAW;
  if (arity > 1 && !all_bool && !as_they_are)
    status = joist_common_type(rules, operands + select, arity - select, &type, error);
  if (status != JOIST_OK) return status;

  struct joist_type result = type;
  joist_dtype operand = type.dtype;
  switch (class) {
    case JOIST_CLASS_INEXACT:
    case JOIST_CLASS_ANGLE:
      status = make_inexact(rules, &type, error);
      if (status != JOIST_OK) return status;
      result = type;
      operand = type.dtype;
      if (class == JOIST_CLASS_ANGLE) result.dtype = joist_dtype_real(type.dtype);
      break;
    case JOIST_CLASS_REAL:
      result.dtype = joist_dtype_real(type.dtype);
      break;
    case JOIST_CLASS_COMPARE:
      for (size_t i = 0; i < arity; i++)
        if (out_of_range(&operands[i], type.dtype)) operand = wide_enough(type.dtype);
      result = (struct joist_type){JOIST_BOOL, false};
      break;
    case JOIST_CLASS_PREDICATE:
      result = (struct joist_type){JOIST_BOOL, false};
      break;
    case JOIST_CLASS_LOGICAL:
    case JOIST_CLASS_TRUTH:
      operand = JOIST_BOOL;
      result = (struct joist_type){JOIST_BOOL, false};
      break;
    case JOIST_CLASS_CONVERT:
      /* A literal is still exact: it is read in full before it is cast. */
      if (operands[0].literal) operand = widest(joist_dtype_category(operand));
      result = requested;
      break;
    case JOIST_CLASS_BITCAST:
      result = requested;
      break;
    case JOIST_CLASS_DRAW:
      if (requested.dtype == JOIST_DTYPE_NONE)
        return joist_fail(error, JOIST_ERROR_DTYPE, "nv_%s() needs a dtype", facts[op].name);
      result = requested;
      operand = requested.dtype;
      break;
    case JOIST_CLASS_POSITION:
      for (size_t i = 0; i < arity; i++)
        if (out_of_range(&operands[i], type.dtype)) operand = wide_enough(type.dtype);
      result = (struct joist_type){JOIST_I32, false};
      break;
    case JOIST_CLASS_ACCUMULATE:
      if (requested.dtype != JOIST_DTYPE_NONE) result = requested;
      operand = accumulator(result.dtype);
      if (!is_inexact(result.dtype) && requested.dtype == JOIST_DTYPE_NONE) result.dtype = operand;
      break;
    case JOIST_CLASS_AVERAGE:
      status = make_inexact(rules, &result, error);
      if (status != JOIST_OK) return status;
      if (requested.dtype != JOIST_DTYPE_NONE) result = requested;
      operand = accumulator(result.dtype);
      break;
    case JOIST_CLASS_EXTREME:
      operand = joist_dtype_compute(operand);
      break;
    case JOIST_CLASS_JOIN:
    case JOIST_CLASS_SELECT:
    case JOIST_CLASS_LAYOUT:
      break;
  }

  signature->result = result;
  signature->compute = joist_dtype_compute(operand);
  for (size_t i = 0; i < JOIST_ARITY_MAX; i++) signature->operand[i] = operand;
  if (select) signature->operand[0] = JOIST_BOOL;
  for (size_t i = 0; as_they_are && i < arity; i++) signature->operand[i] = operands[i].type.dtype;

  /* A parameter of a distribution that is a literal is exact, too. */
  for (size_t i = 0; class == JOIST_CLASS_DRAW && i < arity; i++) {
    const joist_category category = joist_dtype_category(operands[i].type.dtype);
    if (operands[i].literal) signature->operand[i] = widest(category);
    if (category == JOIST_CATEGORY_COMPLEX && joist_dtype_kind(operand) != JOIST_KIND_COMPLEX)
      return joist_fail(error, JOIST_ERROR_DTYPE,
                        "nv_%s() of dtype %s cannot have a complex parameter", facts[op].name,
                        joist_dtype_name(operand));
  }

  if (class == JOIST_CLASS_BITCAST &&
      (joist_dtype_size(operand) != joist_dtype_size(result.dtype) ||
       (operand == JOIST_BOOL) != (result.dtype == JOIST_BOOL)))
    return joist_fail(error, JOIST_ERROR_DTYPE,
                      "the bits of %s cannot be read as %s: %s; use nv_convert() for the values",
                      joist_dtype_name(operand), joist_dtype_name(result.dtype),
                      joist_dtype_size(operand) != joist_dtype_size(result.dtype)
                          ? "the sizes differ"
                          : "a bool is 0 or 1, not any byte");
  if (class == JOIST_CLASS_CONVERT || class == JOIST_CLASS_BITCAST || class == JOIST_CLASS_LAYOUT)
    return JOIST_OK;
  if (class == JOIST_CLASS_AVERAGE && !is_inexact(result.dtype))
    return joist_fail(error, JOIST_ERROR_DTYPE,
                      "a mean cannot be %s: ask for a float or complex dtype",
                      joist_dtype_name(result.dtype));
  const joist_op kernel_op = facts[op].combine;
  if (joist_kernel_find(kernel_op, signature->compute) == NULL)
    return joist_fail(error, JOIST_ERROR_DTYPE, "nv_%s() is not defined for %s%s", facts[op].name,
                      joist_dtype_name(operand), way_out(op, kernel_op, operand));
  return JOIST_OK;
}
