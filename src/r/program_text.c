/* Printing programs: one line per instruction, dtypes with `?` where ambiguous. */
#include "r/program_text.h"

#include <stdio.h>
#include <string.h>

#include "r/trace.h"
#include "r/vector.h"

enum { LINE = 512 };

static void type_text(const struct joist_value *value, char *text) {
  char shape[JOIST_SHAPE_TEXT];
  snprintf(text, LINE, "%s%s%s", joist_dtype_name(value->type.dtype),
           value->type.ambiguous ? "?" : "", joist_shape_format(&value->shape, shape));
}

/* What an operand is called: %2 for a value, the value itself for a constant scalar. */
static void operand_text(SEXP compiled, joist_value_id number, char *text) {
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_value *const value = &trace->program.values[number];
  if (value->input != JOIST_NO_INPUT) {
    const struct joist_r_source source = trace->sources[value->input];
    SEXP constants = VECTOR_ELT(R_ExternalPtrProtected(compiled), JOIST_R_CONSTANTS);
    if (source.kind == JOIST_R_FROM_CONSTANT && value->shape.rank == 0 &&
        TYPEOF(VECTOR_ELT(constants, source.index)) != EXTPTRSXP) {
      char element[JOIST_TEXT_SIZE];
      joist_format_element(value->type.dtype, joist_r_elements(VECTOR_ELT(constants, source.index)),
                           0, element);
      snprintf(text, LINE, "%s:%s", element, joist_dtype_name(value->type.dtype));
      return;
    }
  }
  snprintf(text, LINE, "%%%u", number + 1);
}

static void instruction_text(SEXP compiled, const struct joist_instruction *i, char *line) {
  const struct joist_program *const program = &joist_r_trace_of(compiled)->program;
  char text[LINE];
  type_text(&program->values[i->result], text);
  size_t used =
      (size_t)snprintf(line, LINE, "  %%%u: %s = %s(", i->result + 1, text, joist_op_name(i->op));
  for (int k = 0; k < joist_op_arity(i->op) && used < LINE; k++) {
    operand_text(compiled, i->operand[k], text);
    used += (size_t)snprintf(line + used, LINE - used, "%s%s", k == 0 ? "" : ", ", text);
  }
  if (joist_op_is_reduction(i->op) && used < LINE) {
    used += (size_t)snprintf(line + used, LINE - used, ", dims =");
    for (int d = 0; d < program->values[i->operand[0]].shape.rank && used < LINE; d++)
      if (i->dims >> d & 1) used += (size_t)snprintf(line + used, LINE - used, " %d", d + 1);
  }
  int parameters = JOIST_RANK_MAX;
  while (parameters > 0 && i->parameter[parameters - 1] == 0) parameters--;
  if (joist_op_is_array(i->op) && parameters > 0 && used < LINE) {
    used += (size_t)snprintf(line + used, LINE - used, ", parameters =");
    for (int k = 0; k < parameters && used < LINE; k++)
      used += (size_t)snprintf(line + used, LINE - used, " %d", i->parameter[k]);
  }
  if (used < LINE) snprintf(line + used, LINE - used, ")");
}

SEXP joist_r_program_text(SEXP compiled) {
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_program *const program = &trace->program;
  SEXP lines = PROTECT(
      Rf_allocVector(STRSXP, (R_xlen_t)program->input_count + program->instruction_count + 1));
  R_xlen_t n = 0;
  char line[LINE];
  static const char *const origin[] = {"argument", "number", "constant"};
  for (uint32_t v = 0; v < program->value_count; v++) {
    const struct joist_value *const value = &program->values[v];
    if (value->input == JOIST_NO_INPUT) continue;
    const struct joist_r_source source = trace->sources[value->input];
    if (source.kind == JOIST_R_FROM_CONSTANT && value->shape.rank == 0) continue;
    char type[LINE];
    type_text(value, type);
    snprintf(line, LINE, "  %%%u: %.400s = %s %u", v + 1, type, origin[source.kind],
             source.index + 1);
    SET_STRING_ELT(lines, n++, Rf_mkChar(line));
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    instruction_text(compiled, &program->instructions[k], line);
    SET_STRING_ELT(lines, n++, Rf_mkChar(line));
  }
  size_t used = (size_t)snprintf(line, LINE, "  return");
  for (uint32_t k = 0; k < program->output_count && used < LINE; k++) {
    char operand[LINE];
    operand_text(compiled, program->outputs[k], operand);
    used += (size_t)snprintf(line + used, LINE - used, "%s %s", k == 0 ? "" : ",", operand);
  }
  SET_STRING_ELT(lines, n++, Rf_mkChar(line));
  SEXP out = Rf_lengthgets(lines, (R_len_t)n);
  UNPROTECT(1);
  return out;
}
