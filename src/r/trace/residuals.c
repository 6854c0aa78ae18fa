#include "r/trace/residuals.h"

#include "core/program/regions.h"
#include "core/program/residuals.h"
#include "core/promotion/builtin_rules.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/trace/trace.h"

/* Of an iteration, derivatives keep at most so many times the bytes of its states, its slices and
 * its outputs, but those of exponentials and logarithms only within those bytes; or of a loop so
 * many bytes. */
enum { KEPT_MOST = 8, KEPT_ANYWAY = 64 << 20 };

/* The numbers of a list of tensors of a trace. */
static joist_value_id *own_numbers(SEXP pointer, SEXP tensors) {
  const R_xlen_t n = joist_r_list_length(tensors, "values of a trace");
  joist_value_id *const numbers = (joist_value_id *)R_alloc((size_t)n + 1, (int)sizeof *numbers);
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    joist_r_read_missing(joist_rules_at(0), VECTOR_ELT(tensors, k), &value);
    const bool own = value.form == JOIST_R_TRACED && value.payload == pointer && !value.leaf;
    numbers[k] = value.argument.value;
    if (!own || numbers[k] >= joist_r_trace_of(pointer)->program.value_count)
      joist_r_stop(JOIST_ERROR_VALUE, "a tensor is of another trace than its body");
  }
  return numbers;
}

static size_t bytes_of(const struct joist_program *program, const joist_value_id *values,
                       R_xlen_t n) {
  size_t bytes = 0;
  for (R_xlen_t k = 0; k < n; k++) bytes += joist_value_bytes(&program->values[values[k]]);
  return bytes;
}

/* JOIST_NO_VALUE for each value of a program. */
static joist_value_id *no_values(const struct joist_program *program) {
  joist_value_id *const values =
      (joist_value_id *)R_alloc(program->value_count + 1, (int)sizeof *values);
  for (uint32_t v = 0; v < program->value_count; v++) values[v] = JOIST_NO_VALUE;
  return values;
}

SEXP joist_r_body_keep(SEXP body, SEXP forward, SEXP states, SEXP slices, SEXP outputs,
                       SEXP turns) {
  const struct joist_program *const program = &joist_r_trace_of(body)->program;
  const joist_value_id *const own = own_numbers(body, states), *const xs =
                                                                   own_numbers(body, slices);
  const joist_value_id *const given = own_numbers(body, outputs);
  const double count = joist_r_number(turns);
  const size_t anyway = (size_t)(KEPT_ANYWAY / (count < 1 ? 1 : count));
  const size_t bytes = bytes_of(program, own, XLENGTH(states)) +
                       bytes_of(program, xs, XLENGTH(slices)) +
                       bytes_of(program, given, XLENGTH(outputs));
  const struct joist_residual_body loop = {
      .program = program,
      .forward = (uint32_t)Rf_asInteger(forward),
      .states = own,
      .state_count = (uint32_t)XLENGTH(states),
      .few = bytes > anyway ? bytes : anyway,
      .limit = bytes > anyway / KEPT_MOST ? KEPT_MOST * bytes : anyway};
  bool *const kept = (bool *)R_alloc(program->value_count + 1, sizeof *kept);
  bool *const needed = (bool *)R_alloc(program->value_count + 1, sizeof *needed);
  joist_value_id *const known = no_values(program);
  struct joist_error error;
  joist_r_raise_if(joist_residuals_choose(&loop, kept, &error), &error);
  R_xlen_t n = 0;
  for (uint32_t v = 0; v < program->value_count; v++) {
    if (kept[v]) known[v] = v;
    n += kept[v];
  }
  joist_program_needs(program, known, program->outputs, program->output_count, needed);
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
  SEXP all = Rf_allocVector(VECSXP, n);
  SET_VECTOR_ELT(list, 0, all);
  n = 0;
  for (uint32_t v = 0; v < program->value_count; v++)
    if (kept[v]) SET_VECTOR_ELT(all, n++, joist_r_trace_tensor(body, v));
  SEXP flags = Rf_allocVector(LGLSXP, XLENGTH(slices));
  SET_VECTOR_ELT(list, 1, flags);
  for (R_xlen_t k = 0; k < XLENGTH(slices); k++) LOGICAL(flags)[k] = needed[xs[k]];
  UNPROTECT(1);
  return list;
}

/* The number of a tensor in a trace that may capture it. */
static joist_value_id number_in(SEXP into, SEXP tensor) {
  struct joist_r_value value;
  joist_r_read_any(joist_rules_at(0), tensor, &value);
  return joist_r_trace_number(into, &value, value.argument.operand.type);
}

/* The inputs of a body that stand for values of the trace around it. */
static void capture(SEXP body, SEXP into, const bool *needed, joist_value_id *values) {
  SEXP parent = joist_r_trace_parent(body);
  const struct joist_r_trace *const trace = joist_r_trace_of(body);
  for (uint32_t k = 0; k < trace->program.input_count; k++) {
    const struct joist_r_source source = trace->sources[k];
    if (source.kind != JOIST_R_FROM_OUTSIDE || !needed[source.value] ||
        values[source.value] != JOIST_NO_VALUE)
      continue;
    const joist_value_id outer = joist_r_moved(parent, source.index);
    SEXP tensor = PROTECT(joist_r_trace_tensor(parent, outer));
    values[source.value] = number_in(into, tensor);
    UNPROTECT(1);
  }
}

SEXP joist_r_body_copy(SEXP body, SEXP into, SEXP known, SEXP tensors, SEXP outputs) {
  const struct joist_program *const from = &joist_r_trace_of(body)->program;
  joist_r_check_open(into);
  const joist_value_id *const ids = own_numbers(body, known);
  if (body == into || XLENGTH(known) != XLENGTH(tensors) ||
      joist_r_trace_parent(body) != joist_r_trace_parent(into))
    joist_r_stop(JOIST_ERROR_VALUE, "a body cannot be copied there");
  joist_value_id *const values = no_values(from);
  for (R_xlen_t k = 0; k < XLENGTH(known); k++)
    values[ids[k]] = number_in(into, VECTOR_ELT(tensors, k));
  const bool all = outputs == R_NilValue;
  const joist_value_id *const wanted = all ? from->outputs : own_numbers(body, outputs);
  const R_xlen_t count = all ? (R_xlen_t)from->output_count : XLENGTH(outputs);
  bool *const needed = (bool *)R_alloc(from->value_count + 1, sizeof *needed);
  joist_program_needs(from, values, wanted, (size_t)count, needed);
  capture(body, into, needed, values);
  for (uint32_t v = 0; v < from->value_count; v++)
    if (needed[v] && from->values[v].input != JOIST_NO_INPUT && values[v] == JOIST_NO_VALUE)
      joist_r_stop(JOIST_ERROR_VALUE, "a body that is copied needs other inputs");
  struct joist_error error;
  joist_r_raise_if(
      joist_program_copy_needed(&joist_r_trace_of(into)->program, from, needed, values, &error),
      &error);
  SEXP made = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++)
    SET_VECTOR_ELT(made, k, joist_r_trace_tensor(into, values[wanted[k]]));
  UNPROTECT(1);
  return made;
}
