/* Operations on tensors: reading operands, inference, and running one instruction. */
#include "r/operations.h"

#include <math.h>
#include <string.h>

#include "r/arguments.h"
#include "r/conditions.h"
#include "r/device_payload.h"
#include "r/dtypes.h"
#include "r/rules.h"
#include "r/run.h"
#include "r/trace.h"

/* ---- operations by name: R keeps one CHARSXP per string ---- */

static SEXP op_strings(bool generic) {
  static SEXP cached[2] = {NULL, NULL};
  if (cached[generic] == NULL) {
    SEXP made = PROTECT(Rf_allocVector(STRSXP, JOIST_OP_COUNT));
    for (int op = 0; op < JOIST_OP_COUNT; op++)
      SET_STRING_ELT(
          made, op,
          Rf_mkChar(generic ? joist_op_generic((joist_op)op) : joist_op_name((joist_op)op)));
    R_PreserveObject(made);
    UNPROTECT(1);
    cached[generic] = made;
  }
  return cached[generic];
}

/* What an entry point knows how to call. */
typedef enum {
  ELEMENTWISE,
  CONVERSION, /* to a dtype that is asked for */
  RELAYOUT,   /* to a shape that is asked for */
  REDUCTION,
  WHOLE_ARRAY
} family;

static bool belongs(joist_op op, family wanted) {
  const joist_class class = joist_op_class(op);
  switch (wanted) {
    case CONVERSION:
      return class == JOIST_CLASS_CONVERT || class == JOIST_CLASS_BITCAST;
    case RELAYOUT:
      return op == JOIST_OP_RESHAPE || op == JOIST_OP_BROADCAST;
    case REDUCTION:
      return joist_op_is_reduction(op);
    case WHOLE_ARRAY:
      return joist_op_is_array(op);
    case ELEMENTWISE:
      break;
  }
  return !joist_op_is_reduction(op) && !joist_op_is_array(op) && class != JOIST_CLASS_CONVERT &&
         class != JOIST_CLASS_BITCAST && class != JOIST_CLASS_LAYOUT;
}

static joist_op op_of(SEXP name, bool generic, family wanted) {
  const char *const text = joist_r_string(name, "name");
  const SEXP *const strings = STRING_PTR_RO(op_strings(generic));
  SEXP wanted_string = STRING_ELT(name, 0);
  for (int op = 0; op < JOIST_OP_COUNT; op++)
    if (strings[op] == wanted_string && belongs((joist_op)op, wanted)) return (joist_op)op;
  joist_r_stop(JOIST_ERROR_DTYPE, "%s is not defined for tensors", text);
}

SEXP joist_r_op_names(void) {
  static const char *fields[] = {"name", "generic", "arity", "reduction", "array", ""};
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, fields));
  SEXP arity = PROTECT(Rf_allocVector(INTSXP, JOIST_OP_COUNT));
  SEXP reduction = PROTECT(Rf_allocVector(LGLSXP, JOIST_OP_COUNT));
  SEXP array = PROTECT(Rf_allocVector(LGLSXP, JOIST_OP_COUNT));
  for (int op = 0; op < JOIST_OP_COUNT; op++) {
    INTEGER(arity)[op] = joist_op_arity((joist_op)op);
    LOGICAL(reduction)[op] = joist_op_is_reduction((joist_op)op);
    LOGICAL(array)[op] = joist_op_is_array((joist_op)op);
  }
  SET_VECTOR_ELT(table, 0, op_strings(false));
  SET_VECTOR_ELT(table, 1, op_strings(true));
  SET_VECTOR_ELT(table, 2, arity);
  SET_VECTOR_ELT(table, 3, reduction);
  SET_VECTOR_ELT(table, 4, array);
  UNPROTECT(4);
  return table;
}

/* ---- running ---- */

/* The elements of a value in the dtype an operation reads it in: a literal is
 * converted here, exactly and once. */
static const void *operand_elements(const struct joist_r_value *value, joist_dtype dtype,
                                    void *scalar) {
  if (value->form != JOIST_R_LITERAL) return value->data;
  void *const out =
      value->count == 1 ? scalar : (void *)R_alloc(value->count + 1, (int)joist_dtype_size(dtype));
  struct joist_error error;
  const joist_status status = joist_r_import(value, dtype, out, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return out;
}

/* One element that a device gets without memory of its own. */
static bool comes_along(const struct joist_device *device, const struct joist_r_value *value) {
  return !device->host && value->form == JOIST_R_LITERAL && value->count == 1;
}

/* The same where a device reads it: in its memory, unless it is one element. What had to be
 * allocated is protected by `owned`, a pairlist. */
static const void *elements_for(const struct joist_device *device,
                                const struct joist_r_value *value, joist_dtype dtype, void *scalar,
                                SEXP *owned) {
  const void *const read = operand_elements(value, dtype, scalar);
  if (device->host || value->form != JOIST_R_LITERAL || comes_along(device, value)) return read;
  SEXP payload = PROTECT(joist_r_upload(device, dtype, value->count, read));
  *owned = Rf_cons(payload, *owned);
  UNPROTECT(1);
  return joist_r_remote_memory(payload);
}

static SEXP run_eager(joist_op op, const struct joist_r_value *values,
                      const struct joist_inference *inference,
                      const struct joist_attributes *attributes) {
  const uint32_t arity = (uint32_t)joist_op_arity(op);
  const struct joist_signature *const signature = &inference->signature;
  const void *vmax = vmaxget();
  _Alignas(16) char scalar[JOIST_ARITY_MAX][16];
  const void *inputs[JOIST_ARITY_MAX];
  struct joist_value slots[JOIST_ARITY_MAX + 1];
  const struct joist_device *device = joist_r_common_device(values, (int)arity);
  if (device == NULL) device = joist_device_at(0);
  bool here[JOIST_ARITY_MAX], any_here = false;
  SEXP owned = R_NilValue;
  PROTECT_INDEX place;
  PROTECT_WITH_INDEX(owned, &place);
  for (uint32_t k = 0; k < arity; k++) {
    inputs[k] = elements_for(device, &values[k], signature->operand[k], scalar[k], &owned);
    REPROTECT(owned, place);
    here[k] = comes_along(device, &values[k]);
    any_here |= here[k];
    slots[k].type = values[k].argument.operand.type;
    if (values[k].form == JOIST_R_LITERAL)
      slots[k].type = (struct joist_type){signature->operand[k], false};
    slots[k].shape = values[k].argument.shape;
    slots[k].input = k;
    slots[k].instruction = 0;
  }
  slots[arity] = (struct joist_value){signature->result, inference->shape, JOIST_NO_INPUT, 0};
  struct joist_instruction instruction = {.op = op,
                                          .signature = *signature,
                                          .operand = {0, 1, 2},
                                          .result = arity,
                                          .dims = attributes->dims};
  memcpy(instruction.parameter, attributes->parameter, sizeof instruction.parameter);
  joist_value_id output = arity;
  const struct joist_program program = {.values = slots,
                                        .instructions = &instruction,
                                        .outputs = &output,
                                        .value_count = arity + 1,
                                        .input_count = arity,
                                        .instruction_count = 1,
                                        .output_count = 1};
  size_t count = 0;
  (void)joist_shape_count(&inference->shape, &count);
  void *out;
  SEXP payload = PROTECT(joist_r_payload_on(device, signature->result.dtype, count, &out));
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_status status = joist_plan_make(&program, &plan, &error);
  if (status == JOIST_OK)
    status = joist_r_run_plan(device, plan, inputs, any_here ? here : NULL, &out, &error);
  joist_plan_free(plan);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  vmaxset(vmax);
  SEXP extents = PROTECT(joist_r_shape_among(&inference->shape, values, (int)arity));
  SEXP tensor = joist_r_tensor_on(device, payload, signature->result, extents);
  UNPROTECT(3);
  return tensor;
}

SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   const struct joist_attributes *attributes) {
  const int arity = joist_op_arity(op);
  const bool by_value = joist_r_by_value(rules);
  const bool compares = joist_op_class(op) == JOIST_CLASS_COMPARE ||
                        (joist_op_class(op) == JOIST_CLASS_POSITION && arity > 1);
  bool traced = false, abstract = false;
  for (int k = 0; k < arity; k++) {
    traced |= values[k].form == JOIST_R_TRACED;
    abstract |= values[k].form == JOIST_R_ABSTRACT;
    if (by_value || (compares && values[k].form == JOIST_R_LITERAL)) joist_r_read_range(&values[k]);
  }
  if (traced) return joist_r_trace_apply(rules, op, values, attributes);
  struct joist_argument arguments[JOIST_ARITY_MAX];
  for (int k = 0; k < arity; k++) arguments[k] = values[k].argument;
  struct joist_inference inference;
  struct joist_error error;
  const joist_status status =
      joist_program_infer(rules, op, arguments, attributes, &inference, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  if (abstract) return joist_r_aval(inference.signature.result, &inference.shape);
  return run_eager(op, values, &inference, attributes);
}

/* ---- .Call entry points ---- */

struct joist_attributes joist_r_attributes(void) {
  struct joist_attributes attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.requested.dtype = JOIST_DTYPE_NONE;
  return attributes;
}

static SEXP apply_plain(joist_op op, int n, SEXP *operands) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  if (joist_op_arity(op) != n)
    joist_r_stop(JOIST_ERROR_VALUE, "nv_%s() has %d operands, not %d", joist_op_name(op),
                 joist_op_arity(op), n);
  struct joist_r_value values[JOIST_ARITY_MAX];
  for (int k = 0; k < n; k++) joist_r_read_any(rules, operands[k], &values[k]);
  struct joist_attributes attributes = joist_r_attributes();
  return joist_r_apply(rules, op, values, &attributes);
}

SEXP joist_r_op1(SEXP name, SEXP x) { return apply_plain(op_of(name, false, ELEMENTWISE), 1, &x); }

SEXP joist_r_op2(SEXP name, SEXP lhs, SEXP rhs) {
  SEXP operands[] = {lhs, rhs};
  return apply_plain(op_of(name, false, ELEMENTWISE), 2, operands);
}

SEXP joist_r_op3(SEXP name, SEXP a, SEXP b, SEXP c) {
  SEXP operands[] = {a, b, c};
  return apply_plain(op_of(name, false, ELEMENTWISE), 3, operands);
}

SEXP joist_r_operator(SEXP generic, SEXP lhs, SEXP rhs) {
  SEXP operands[] = {lhs, rhs};
  return apply_plain(op_of(generic, true, ELEMENTWISE), 2, operands);
}

SEXP joist_r_operator1(SEXP generic, SEXP x) {
  const char *const name = joist_r_string(generic, "generic");
  if (strcmp(name, "-") == 0) return apply_plain(JOIST_OP_NEGATE, 1, &x);
  if (strcmp(name, "+") == 0) return x;
  return apply_plain(op_of(generic, true, ELEMENTWISE), 1, &x);
}

SEXP joist_r_convert(SEXP name, SEXP x, SEXP dtype, SEXP ambiguous) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  struct joist_attributes attributes = joist_r_attributes();
  attributes.requested =
      (struct joist_type){joist_r_dtype(dtype), joist_r_flag(ambiguous, "ambiguous")};
  return joist_r_apply(rules, op_of(name, false, CONVERSION), &value, &attributes);
}

SEXP joist_r_relayout(SEXP name, SEXP x, SEXP shape) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  struct joist_attributes attributes = joist_r_attributes();
  joist_r_shape(shape, &attributes.shape);
  return joist_r_apply(rules, op_of(name, false, RELAYOUT), &value, &attributes);
}

SEXP joist_r_array(SEXP name, SEXP operands, SEXP dim, SEXP parameters, SEXP shape, SEXP dtype) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const joist_op op = op_of(name, false, WHOLE_ARRAY);
  struct joist_r_value values[JOIST_ARITY_MAX];
  if (TYPEOF(operands) != VECSXP || XLENGTH(operands) != joist_op_arity(op))
    joist_r_stop(JOIST_ERROR_VALUE, "nv_%s() has %d operands", joist_op_name(op),
                 joist_op_arity(op));
  for (int k = 0; k < joist_op_arity(op); k++)
    joist_r_read_any(rules, VECTOR_ELT(operands, k), &values[k]);
  struct joist_attributes attributes = joist_r_attributes();
  int used = 0;
  if (dim != R_NilValue) attributes.parameter[used++] = joist_r_dim(dim, &values[0].argument.shape);
  if (TYPEOF(parameters) != INTSXP || XLENGTH(parameters) > JOIST_RANK_MAX - used)
    joist_r_stop(JOIST_ERROR_VALUE, "the parameters of nv_%s() are at most %d integers",
                 joist_op_name(op), JOIST_RANK_MAX - used);
  for (R_xlen_t k = 0; k < XLENGTH(parameters); k++)
    attributes.parameter[used++] = INTEGER(parameters)[k];
  if (shape != R_NilValue) joist_r_shape(shape, &attributes.shape);
  if (dtype != R_NilValue) attributes.requested.dtype = joist_r_dtype(dtype);
  return joist_r_apply(rules, op, values, &attributes);
}

/* Bits of the dims to reduce; NULL is all of them. Negative dims are left out, as R's
 * negative indices are. */
static uint32_t dims_mask(SEXP dims, int rank) {
  const uint32_t all = rank == 32 ? UINT32_MAX : (UINT32_C(1) << rank) - 1;
  if (dims == R_NilValue) return all;
  if ((TYPEOF(dims) != INTSXP && TYPEOF(dims) != REALSXP) || Rf_isObject(dims))
    joist_r_stop(JOIST_ERROR_SHAPE, "`dims` must be whole numbers, not %s",
                 Rf_type2char(TYPEOF(dims)));
  for (R_xlen_t k = 0; TYPEOF(dims) == REALSXP && k < XLENGTH(dims); k++)
    if (!(fabs(REAL(dims)[k]) <= rank) || REAL(dims)[k] != floor(REAL(dims)[k]))
      joist_r_stop(JOIST_ERROR_SHAPE, "`dims`: there is no dimension %g; the tensor has %d",
                   REAL(dims)[k], rank);
  SEXP whole = PROTECT(Rf_coerceVector(dims, INTSXP));
  uint32_t mask = 0;
  int negative = 0;
  for (R_xlen_t k = 0; k < XLENGTH(whole); k++) {
    const int d = INTEGER(whole)[k];
    const int at = d == NA_INTEGER ? 0 : d < 0 ? -d : d;
    if (at == 0 || at > rank)
      joist_r_stop(JOIST_ERROR_SHAPE, "`dims`: there is no dimension %d; the tensor has %d",
                   d == NA_INTEGER ? 0 : d, rank);
    if (mask >> (at - 1) & 1)
      joist_r_stop(JOIST_ERROR_SHAPE, "`dims`: dimension %d is given twice", d);
    mask |= UINT32_C(1) << (at - 1);
    negative += d < 0;
  }
  if (negative > 0 && negative < XLENGTH(whole))
    joist_r_stop(JOIST_ERROR_SHAPE, "`dims` cannot be positive and negative at once");
  UNPROTECT(1);
  return negative > 0 ? all & ~mask : mask;
}

static SEXP reduce(joist_op op, SEXP x, SEXP dims, bool drop, SEXP dtype) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  struct joist_attributes attributes = joist_r_attributes();
  if (dtype != R_NilValue) attributes.requested.dtype = joist_r_dtype(dtype);
  attributes.dims = dims_mask(dims, value.argument.shape.rank);
  attributes.drop = drop;
  return joist_r_apply(rules, op, &value, &attributes);
}

SEXP joist_r_reduce(SEXP name, SEXP x, SEXP dims, SEXP drop, SEXP dtype) {
  return reduce(op_of(name, false, REDUCTION), x, dims, joist_r_flag(drop, "drop"), dtype);
}

SEXP joist_r_summary(SEXP generic, SEXP x) {
  return reduce(op_of(generic, true, REDUCTION), x, R_NilValue, true, R_NilValue);
}
