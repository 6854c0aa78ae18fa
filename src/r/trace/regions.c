/* Tracing bodies. A body is a trace within another; when its operation is added to that one, its
 * program becomes a part of it. */
#include "r/trace/regions.h"

#include <stdlib.h>

#include "core/program/batch.h"
#include "core/program/batch_flow.h"
#include "core/program/regions.h"
#include "core/promotion/builtin_rules.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/poison.h"
#include "r/trace/attributes.h"
#include "r/trace/trace.h"

SEXP joist_r_region_begin(SEXP parent, SEXP like) {
  joist_r_check_open(parent);
  const R_xlen_t n = XLENGTH(like);
  SEXP avals = PROTECT(Rf_allocVector(VECSXP, n)), all = PROTECT(Rf_allocVector(LGLSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    joist_r_read_any(joist_rules_at(0), VECTOR_ELT(like, k), &value);
    SET_VECTOR_ELT(avals, k, joist_r_aval(value.argument.operand.type, &value.argument.shape));
    LOGICAL(all)[k] = TRUE;
  }
  SEXP begun = PROTECT(joist_r_trace_begin(avals, all, R_NilValue));
  SET_VECTOR_ELT(R_ExternalPtrProtected(VECTOR_ELT(begun, 0)), JOIST_R_PARENT, parent);
  UNPROTECT(3);
  return begun;
}

/* Numbers of a list of tensors in a trace. */
static joist_value_id *numbers_of(SEXP pointer, SEXP tensors, R_xlen_t room) {
  const R_xlen_t n = joist_r_list_length(tensors, "operands");
  joist_value_id *const numbers =
      (joist_value_id *)R_alloc((size_t)(n + room) + 1, (int)sizeof *numbers);
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_r_value value;
    joist_r_read_any(joist_rules_at(0), VECTOR_ELT(tensors, k), &value);
    if (value.form == JOIST_R_ABSTRACT) joist_r_stop_abstract();
    if (value.form == JOIST_R_TRACED) {
      joist_r_check_open(value.payload);
      if (!joist_r_is_within(pointer, value.payload)) joist_r_stop_two_traces();
    }
    numbers[k] = joist_r_trace_number(pointer, &value, value.argument.operand.type);
  }
  return numbers;
}

/* Tensors of consecutive values of a trace, or of those in `values`. */
static SEXP tensors_of(SEXP pointer, joist_value_id first, const joist_value_id *values,
                       uint32_t n) {
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, n));
  for (uint32_t k = 0; k < n; k++)
    SET_VECTOR_ELT(tensors, k,
                   joist_r_trace_tensor(pointer, values == NULL ? first + k : values[k]));
  UNPROTECT(1);
  return tensors;
}

SEXP joist_r_region_end(SEXP body, SEXP outputs) {
  struct joist_r_trace *const trace = joist_r_trace_of(body);
  joist_r_poison_end();
  joist_r_check_open(body);
  const joist_value_id *const numbers = numbers_of(body, outputs, 0);
  for (R_xlen_t k = 0; k < XLENGTH(outputs); k++) {
    struct joist_error error;
    const joist_status status = joist_program_add_output(&trace->program, numbers[k], &error);
    joist_r_raise_if(status, &error);
  }
  trace->closed = true;
  return body;
}

/* Moves the program of a body out of its trace, which is left with an empty one. */
static struct joist_program *take_program(struct joist_r_trace *trace) {
  struct joist_program *const program = malloc(sizeof *program);
  if (program == NULL) return NULL;
  *program = trace->program;
  joist_program_init(&trace->program);
  return program;
}

SEXP joist_r_region_apply(SEXP pointer, SEXP name, SEXP operands, SEXP bodies, SEXP attributes) {
  enum { MOST = 2 };
  const joist_op op = joist_op_parse(joist_r_string(name, "name"));
  joist_r_check_open(pointer);
  if (op == JOIST_OP_COUNT || joist_operation(op)->regions == 0 || TYPEOF(bodies) != VECSXP ||
      XLENGTH(bodies) != joist_operation(op)->regions)
    joist_r_stop(JOIST_ERROR_VALUE, "no operation with such bodies");
  struct joist_r_trace *traces[MOST];
  const uint32_t regions = joist_operation(op)->regions;
  R_xlen_t room = 0;
  for (uint32_t r = 0; r < regions; r++) {
    traces[r] = joist_r_trace_of(VECTOR_ELT(bodies, r));
    SEXP parent = VECTOR_ELT(R_ExternalPtrProtected(VECTOR_ELT(bodies, r)), JOIST_R_PARENT);
    if (!traces[r]->closed || parent != pointer)
      joist_r_stop(JOIST_ERROR_VALUE, "a body belongs to another trace");
    room += traces[r]->program.input_count;
  }
  joist_value_id *const numbers = numbers_of(pointer, operands, room);
  size_t count = (size_t)XLENGTH(operands);
  for (uint32_t r = 0; r < regions; r++)
    for (uint32_t k = 0; k < traces[r]->program.input_count; k++)
      if (traces[r]->sources[k].kind == JOIST_R_FROM_OUTSIDE)
        numbers[count++] = joist_r_moved(pointer, traces[r]->sources[k].index);
  const struct joist_attributes read = joist_r_attributes(op, attributes, NULL);
  const uint32_t line = joist_r_trace_line(pointer);
  struct joist_program *programs[MOST] = {NULL};
  bool all = true;
  for (uint32_t r = 0; r < regions && all; r++)
    all = (programs[r] = take_program(traces[r])) != NULL;
  struct joist_error error;
  if (!all) {
    for (uint32_t r = 0; r < regions && programs[r] != NULL; r++) {
      joist_program_clear(programs[r]);
      free(programs[r]);
    }
    JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  }
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  joist_value_id first = 0;
  const joist_status status =
      joist_program_add_regions(program, op, numbers, count, &read, line, programs, &first, &error);
  joist_r_raise_if(status, &error);
  const uint32_t results = program->instructions[program->instruction_count - 1].result_count;
  return tensors_of(pointer, first, NULL, results);
}

SEXP joist_r_region_inline(SEXP pointer, SEXP number, SEXP region, SEXP into, SEXP inputs) {
  const struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const uint32_t index = (uint32_t)Rf_asInteger(number), r = (uint32_t)Rf_asInteger(region) - 1;
  joist_r_check_open(into);
  if (index >= program->instruction_count || r >= program->instructions[index].region_count)
    joist_r_stop(JOIST_ERROR_VALUE, "no such body");
  const struct joist_program *const body = program->instructions[index].regions[r];
  const joist_value_id *const numbers = numbers_of(into, inputs, 0);
  struct joist_program *const to = &joist_r_trace_of(into)->program;
  bool fit = (uint32_t)XLENGTH(inputs) == body->input_count && pointer != into;
  for (uint32_t v = 0; v < body->value_count && fit; v++) {
    const struct joist_value *const value = &body->values[v];
    if (value->input == JOIST_NO_INPUT) continue;
    const struct joist_value *const given = &to->values[numbers[value->input]];
    fit = given->type.dtype == value->type.dtype && joist_shape_equal(&given->shape, &value->shape);
  }
  if (!fit) joist_r_stop(JOIST_ERROR_VALUE, "a body is given other operands");
  joist_value_id *const outputs =
      (joist_value_id *)R_alloc(body->output_count + 1, (int)sizeof *outputs);
  struct joist_error error;
  const joist_status status = joist_program_inline(to, body, numbers, outputs, &error);
  joist_r_raise_if(status, &error);
  return tensors_of(into, 0, outputs, body->output_count);
}

/* The values of the trace that a body gets: operands, and then what it captures. */
static joist_value_id *given_to(SEXP pointer, SEXP body, SEXP operands) {
  const struct joist_r_trace *const trace = joist_r_trace_of(body);
  SEXP parent = VECTOR_ELT(R_ExternalPtrProtected(body), JOIST_R_PARENT);
  if (!trace->closed || parent != pointer)
    joist_r_stop(JOIST_ERROR_VALUE, "a body belongs to another trace");
  joist_value_id *const numbers = numbers_of(pointer, operands, trace->program.input_count);
  R_xlen_t count = XLENGTH(operands);
  for (uint32_t k = 0; k < trace->program.input_count; k++)
    if (trace->sources[k].kind == JOIST_R_FROM_OUTSIDE)
      numbers[count++] = joist_r_moved(pointer, trace->sources[k].index);
  if ((uint32_t)count != trace->program.input_count)
    joist_r_stop(JOIST_ERROR_VALUE, "a body is given other operands");
  return numbers;
}

SEXP joist_r_region_batch(SEXP pointer, SEXP body, SEXP operands, SEXP varies, SEXP extent,
                          SEXP marks, SEXP new_marks) {
  joist_r_check_open(pointer);
  const struct joist_program *const from = &joist_r_trace_of(body)->program;
  const R_xlen_t count = XLENGTH(operands), n = XLENGTH(marks);
  const joist_value_id *const inputs = given_to(pointer, body, operands);
  bool *const in = (bool *)R_alloc(from->input_count + 1, sizeof *in);
  bool *const out = (bool *)R_alloc(from->output_count + 1, sizeof *out);
  joist_value_id *const outputs =
      (joist_value_id *)R_alloc(from->output_count + 1, (int)sizeof *outputs);
  int64_t *const all = (int64_t *)R_alloc(2 * (size_t)n + 1, sizeof *all);
  for (uint32_t k = 0; k < from->input_count; k++) in[k] = k < count && LOGICAL(varies)[k] != 0;
  for (R_xlen_t k = 0; k < n; k++) {
    all[k] = INTEGER(marks)[k];
    all[n + k] = INTEGER(new_marks)[k];
  }
  const struct joist_batch batch = {.extent = (uint32_t)Rf_asReal(extent),
                                    .marks = all,
                                    .new_marks = all + n,
                                    .mark_count = (size_t)n};
  struct joist_error error;
  joist_status status = joist_batch_flow_body(from, in, out, &error);
  if (status == JOIST_OK)
    status = joist_program_batch(&joist_r_trace_of(pointer)->program, from, &batch, inputs, in,
                                 outputs, out, &error);
  joist_r_raise_if(status, &error);
  SEXP made = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(made, 0, tensors_of(pointer, 0, outputs, from->output_count));
  SEXP flags = Rf_allocVector(LGLSXP, from->output_count);
  SET_VECTOR_ELT(made, 1, flags);
  for (uint32_t k = 0; k < from->output_count; k++) LOGICAL(flags)[k] = out[k];
  UNPROTECT(1);
  return made;
}

/* Writes the marks of a program and of its bodies, with the ranks of the operands they are on. */
static SEXP marks_of(const struct joist_program *program, SEXP found) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    for (uint32_t r = 0; r < i->region_count; r++) found = marks_of(i->regions[r], found);
    if (i->op != JOIST_OP_ALIAS ||
        joist_attributes_find(i->attributes, JOIST_ATTRIBUTE_MARK) == NULL)
      continue;
    PROTECT(found);
    SEXP one = PROTECT(Rf_allocVector(INTSXP, i->operand_count + 1));
    INTEGER(one)[0] = (int)joist_attribute_value(i->attributes, JOIST_ATTRIBUTE_MARK);
    for (uint32_t a = 0; a < i->operand_count; a++)
      INTEGER(one)[a + 1] = program->values[i->operand[a]].shape.rank;
    found = Rf_cons(one, found);
    UNPROTECT(2);
  }
  return found;
}

SEXP joist_r_region_marks(SEXP body) {
  SEXP found = PROTECT(marks_of(&joist_r_trace_of(body)->program, R_NilValue));
  SEXP list = Rf_PairToVectorList(found);
  UNPROTECT(1);
  return list;
}
