/* Reading a trace that is under way. */
#include "r/trace/trace_walk.h"

#include <string.h>

#include "core/program/regions.h"
#include "core/promotion/builtin_rules.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/trace/trace.h"
#include "r/trace/trace_mask.h"

/* ---- an instruction as a list ---- */

enum { BODY_FACTS = 5 };

static SEXP numbers_of(const struct joist_attribute *attribute, int base) {
  SEXP numbers = Rf_allocVector(REALSXP, attribute->count);
  for (uint32_t k = 0; k < attribute->count; k++)
    REAL(numbers)[k] = (double)(attribute->list[k] + base);
  return numbers;
}

static SEXP attribute_value(const struct joist_attributes *attributes,
                            const struct joist_attribute *attribute) {
  switch (joist_attribute_kind_of(attribute->name)) {
    case JOIST_ATTRIBUTE_IS_DIM:
      return Rf_ScalarInteger((int)attribute->one + 1);
    case JOIST_ATTRIBUTE_IS_DIMS:
    case JOIST_ATTRIBUTE_IS_POSITIONS:
      return numbers_of(attribute, 1);
    case JOIST_ATTRIBUTE_IS_COUNTS:
    case JOIST_ATTRIBUTE_IS_EXTENTS:
      return numbers_of(attribute, 0);
    case JOIST_ATTRIBUTE_IS_FLAG:
      return Rf_ScalarLogical(attribute->one != 0);
    case JOIST_ATTRIBUTE_IS_COUNT:
      return Rf_ScalarReal((double)attribute->one);
    case JOIST_ATTRIBUTE_IS_NUMBER:
      return Rf_ScalarReal(joist_attribute_number(attributes, attribute->name));
    case JOIST_ATTRIBUTE_IS_DTYPE:
      return Rf_mkString(joist_dtype_name(joist_attribute_type(attributes).dtype));
  }
  return R_NilValue;
}

/* What a rule for an operation with bodies has to know of it besides its attributes. */
static void describe_bodies(const struct joist_program *program, uint32_t index, SEXP depends,
                            SEXP list, SEXP names, R_xlen_t at) {
  const struct joist_instruction *const i = &program->instructions[index];
  const struct joist_region_parts parts = joist_region_parts(program, i);
  static const char *const words[BODY_FACTS] = {"number", "arrays", "captures", "index", "depends"};
  const struct joist_program *const body = i->regions[0];
  const joist_dtype first = body->input_count > 0 ? body->values[0].type.dtype : JOIST_BOOL;
  SET_VECTOR_ELT(list, at, Rf_ScalarInteger((int)index));
  SET_VECTOR_ELT(list, at + 1, Rf_ScalarInteger((int)parts.arrays));
  SET_VECTOR_ELT(list, at + 2, Rf_ScalarInteger((int)parts.captures[0]));
  SET_VECTOR_ELT(list, at + 3, Rf_mkString(joist_dtype_name(first)));
  SET_VECTOR_ELT(list, at + 4, depends);
  for (int k = 0; k < BODY_FACTS; k++) SET_STRING_ELT(names, at + k, Rf_mkChar(words[k]));
}

static SEXP attributes_of(const struct joist_program *program, uint32_t index, SEXP depends) {
  const struct joist_instruction *const i = &program->instructions[index];
  const struct joist_attributes *const attributes = i->attributes;
  const uint32_t count = attributes->count + (i->region_count > 0 ? BODY_FACTS : 0);
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
  for (uint32_t k = 0; k < attributes->count; k++) {
    const struct joist_attribute *const attribute = &attributes->item[k];
    SET_VECTOR_ELT(list, k, attribute_value(attributes, attribute));
    SET_STRING_ELT(names, k, Rf_mkChar(joist_attribute_text(attribute->name)));
  }
  if (i->region_count > 0) describe_bodies(program, index, depends, list, names, attributes->count);
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(2);
  return list;
}

static SEXP instruction_of(SEXP pointer, uint32_t index, const bool *depends) {
  static const char *fields[] = {"op",     "operands", "results", "attributes",
                                 "dtypes", "depends",  ""};
  const struct joist_instruction i = joist_r_trace_of(pointer)->program.instructions[index];
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(list, 0, Rf_mkString(joist_op_name(i.op)));
  SEXP operands = Rf_allocVector(VECSXP, i.operand_count);
  SET_VECTOR_ELT(list, 1, operands);
  for (uint32_t k = 0; k < i.operand_count; k++)
    SET_VECTOR_ELT(operands, k,
                   joist_r_traced_masked(joist_r_trace_tensor(pointer, i.operand[k]), pointer));
  SEXP results = Rf_allocVector(VECSXP, i.result_count);
  SET_VECTOR_ELT(list, 2, results);
  for (uint32_t r = 0; r < i.result_count; r++)
    SET_VECTOR_ELT(results, r,
                   joist_r_traced_masked(joist_r_trace_tensor(pointer, i.result + r), pointer));
  SEXP dtypes = Rf_allocVector(STRSXP, i.operand_count);
  SET_VECTOR_ELT(list, 4, dtypes);
  SEXP by = Rf_allocVector(LGLSXP, i.operand_count);
  SET_VECTOR_ELT(list, 5, by);
  for (uint32_t k = 0; k < i.operand_count; k++) {
    const joist_dtype own = joist_r_trace_of(pointer)->program.values[i.operand[k]].type.dtype;
    const bool bodies = i.region_count > 0; /* do not convert operands */
    const joist_dtype read = bodies ? own : joist_signature_operand(&i.signature, k);
    SET_STRING_ELT(dtypes, k, Rf_mkChar(joist_dtype_name(read)));
    LOGICAL(by)[k] = depends[i.operand[k]];
  }
  SET_VECTOR_ELT(list, 3, attributes_of(&joist_r_trace_of(pointer)->program, index, by));
  UNPROTECT(1);
  return list;
}

/* ---- which instructions ---- */

static bool *flags_of(const struct joist_program *program) {
  bool *const flags = (bool *)R_alloc(program->value_count + 1, sizeof *flags);
  memset(flags, 0, (program->value_count + 1) * sizeof *flags);
  return flags;
}

/* Sets the flags of tensors of the trace. */
static void flag_values(SEXP pointer, SEXP tensors, bool *flags) {
  const R_xlen_t n = joist_r_list_length(tensors, "values of a trace");
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    joist_r_read_missing(joist_rules_at(0), VECTOR_ELT(tensors, k), &value);
    const bool own = value.form == JOIST_R_TRACED && value.payload == pointer && !value.leaf;
    if (!own || value.argument.value >= joist_r_trace_of(pointer)->program.value_count)
      joist_r_stop(JOIST_ERROR_VALUE, "a tensor of another jit() trace has no derivative here");
    flags[value.argument.value] = true;
  }
}

static bool any_of(const bool *flags, const joist_value_id *values, uint32_t n) {
  bool any = false;
  for (uint32_t k = 0; k < n; k++) any |= flags[values[k]];
  return any;
}

static bool any_result(const bool *flags, const struct joist_instruction *i) {
  bool any = false;
  for (uint32_t r = 0; r < i->result_count; r++) any |= flags[i->result + r];
  return any;
}

static bool is_stop(const struct joist_instruction *i) {
  return i->op == JOIST_OP_ALIAS &&
         joist_attributes_find(i->attributes, JOIST_ATTRIBUTE_MARK) == NULL;
}

SEXP joist_r_trace_length(SEXP pointer) {
  return Rf_ScalarInteger((int)joist_r_trace_of(pointer)->program.value_count);
}

SEXP joist_r_trace_instructions(SEXP pointer) {
  return Rf_ScalarInteger((int)joist_r_trace_of(pointer)->program.instruction_count);
}

SEXP joist_r_trace_again(SEXP pointer, SEXP first) {
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  for (uint32_t k = (uint32_t)Rf_asInteger(first); k < program->instruction_count; k++)
    program->instructions[k].again = true;
  return R_NilValue;
}

SEXP joist_r_trace_captured(SEXP pointer, SEXP outputs, SEXP number, SEXP constants) {
  const struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const void *const vmax = vmaxget();
  const joist_value_id first = (joist_value_id)Rf_asInteger(number);
  bool *const wanted = flags_of(program);
  flag_values(pointer, outputs, wanted);
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (i->result < first || !any_result(wanted, i)) continue;
    for (uint32_t a = 0; a < joist_reads(i); a++) wanted[joist_read_at(i, a)] = true;
  }
  R_xlen_t count = 0;
  const bool inputs = Rf_asLogical(constants) == TRUE;
  for (joist_value_id v = 0; v < program->value_count; v++) {
    wanted[v] &= v < first || (inputs && program->values[v].input != JOIST_NO_INPUT);
    count += wanted[v];
  }
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
  for (joist_value_id v = 0; v < program->value_count; v++)
    if (wanted[v]) SET_VECTOR_ELT(list, --count, joist_r_trace_tensor(pointer, v));
  vmaxset(vmax);
  UNPROTECT(1);
  return list;
}

SEXP joist_r_trace_walk(SEXP pointer, SEXP outputs, SEXP inputs) {
  const struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const void *const vmax = vmaxget();
  bool *const depends = flags_of(program), *const wanted = flags_of(program);
  bool *const given = flags_of(program);
  flag_values(pointer, inputs, depends);
  flag_values(pointer, inputs, given);
  flag_values(pointer, outputs, wanted);
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (is_stop(i) || !any_of(depends, i->operand, i->operand_count)) continue;
    for (uint32_t r = 0; r < i->result_count; r++) {
      const joist_dtype dtype = program->values[i->result + r].type.dtype;
      depends[i->result + r] |= joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
    }
  }
  uint32_t *const found = (uint32_t *)R_alloc(program->instruction_count + 1, sizeof *found);
  R_xlen_t count = 0;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (any_result(given, i) || !any_result(wanted, i) || !any_result(depends, i) ||
        !any_of(depends, i->operand, i->operand_count))
      continue;
    for (uint32_t a = 0; a < i->operand_count; a++) wanted[i->operand[a]] |= depends[i->operand[a]];
    found[count++] = k;
  }
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++)
    SET_VECTOR_ELT(list, k, instruction_of(pointer, found[k], depends));
  vmaxset(vmax);
  UNPROTECT(1);
  return list;
}
