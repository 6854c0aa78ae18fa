/* Reading compiled programs. Texts are written to one that the trace owns. */
#include "r/trace/program_view.h"

#include "core/cpu/native.h"
#include "core/plan/groups.h"
#include "core/program/print.h"
#include "core/types/host.h"
#include "r/base/conditions.h"
#include "r/base/source.h"
#include "r/base/vector.h"
#include "r/trace/trace.h"

/* ---- what a trace knows of its program ---- */

static bool print_constant(const void *context, uint32_t input, struct joist_text *text) {
  SEXP compiled = *(const SEXP *)context;
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_r_source source = trace->sources[input];
  if (source.kind != JOIST_R_FROM_CONSTANT) return false;
  SEXP constants = VECTOR_ELT(R_ExternalPtrProtected(compiled), JOIST_R_CONSTANTS);
  SEXP payload = VECTOR_ELT(constants, source.index);
  if (TYPEOF(payload) == EXTPTRSXP) return false;
  char element[JOIST_TEXT_SIZE];
  joist_format_element(source.dtype, joist_r_elements(payload), 0, element);
  joist_text_add(text, "%s", element);
  return true;
}

static void print_origin(const void *context, uint32_t input, struct joist_text *text) {
  static const char *const origin[] = {"argument", "number", "mask of argument", "constant"};
  const struct joist_r_source source = joist_r_trace_of(*(const SEXP *)context)->sources[input];
  joist_text_add(text, "%s %u", origin[source.kind], source.index + 1);
}

static void print_line(const void *context, uint32_t line, struct joist_text *text) {
  SEXP lines = VECTOR_ELT(R_ExternalPtrProtected(*(const SEXP *)context), JOIST_R_LINES);
  SEXP reference = VECTOR_ELT(lines, line);
  const char *const file = joist_r_source_file(reference);
  joist_text_add(text, "%s%sline %d", file, *file != '\0' ? ", " : "",
                 joist_r_source_line(reference));
}

static struct joist_print_words words_of(const SEXP *compiled) {
  return (struct joist_print_words){.constant = print_constant,
                                    .origin = print_origin,
                                    .source = print_line,
                                    .context = compiled};
}

/* The trace's own text, empty. */
static struct joist_text *empty_text(struct joist_r_trace *trace) {
  trace->text.length = 0;
  joist_text_add(&trace->text, "%s", "");
  return &trace->text;
}

static SEXP string_of(const struct joist_text *text) {
  if (text->failed) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  return Rf_mkCharLenCE(text->data, (int)text->length, CE_UTF8);
}

SEXP joist_r_program_c(SEXP compiled) {
  struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  struct joist_text *const text = empty_text(trace);
  if (trace->plan != NULL) joist_native_source(trace->plan, text);
  return Rf_ScalarString(string_of(text));
}

SEXP joist_r_program_text(SEXP compiled) {
  struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_print_words words = words_of(&compiled);
  struct joist_text *const text = empty_text(trace);
  joist_print_program(&trace->program, &words, text);
  SEXP line = PROTECT(string_of(text));
  SEXP out = Rf_ScalarString(line);
  UNPROTECT(1);
  return out;
}

/* ---- the table ---- */

enum {
  RESULT,
  OP,
  OPERANDS,
  OPERAND_DTYPES,
  ATTRIBUTES,
  DTYPE,
  AMBIGUOUS,
  SHAPE,
  BYTES,
  KEPT,
  SOURCE,
  DEPTH
};

static void separate(struct joist_text *text) {
  if (text->length > 0) joist_text_add(text, ", ");
}

/* One column of one row. */
static void write_cell(int column, const struct joist_program *program,
                       const struct joist_instruction *i, const struct joist_print_words *words,
                       struct joist_text *text) {
  char shape[JOIST_SHAPE_TEXT];
  switch (column) {
    case OP:
      joist_text_add(text, "%s", joist_op_name(i->op));
      return;
    case OPERANDS:
    case OPERAND_DTYPES:
      for (uint32_t k = 0; k < i->operand_count; k++) {
        separate(text);
        if (column == OPERANDS)
          joist_print_operand(program, i->operand[k], words, text);
        else
          joist_print_type(program->values[i->operand[k]].type, text);
      }
      return;
    case ATTRIBUTES:
      joist_print_attributes(i->attributes, false, text);
      return;
    case SOURCE:
      words->source(words->context, i->source, text);
      return;
    default:
      break;
  }
  for (uint32_t r = 0; r < i->result_count; r++) {
    const struct joist_value *const value = &program->values[i->result + r];
    separate(text);
    if (column == RESULT)
      joist_text_add(text, "%%%u", i->result + r + 1);
    else if (column == DTYPE)
      joist_text_add(text, "%s", joist_dtype_name(value->type.dtype));
    else
      joist_text_add(text, "%s", joist_shape_format(&value->shape, shape));
  }
}

/* The table that is being filled. */
struct table {
  SEXP columns;
  struct joist_r_trace *trace;
  R_xlen_t row;
};

static R_xlen_t count_rows(const struct joist_program *program) {
  R_xlen_t rows = program->instruction_count;
  for (uint32_t k = 0; k < program->instruction_count; k++)
    for (uint32_t r = 0; r < program->instructions[k].region_count; r++)
      rows += count_rows(program->instructions[k].regions[r]);
  return rows;
}

static void fill_row(struct table *table, const struct joist_program *program,
                     const struct joist_plan *plan, const struct joist_instruction *i, int depth,
                     const struct joist_print_words *words) {
  const R_xlen_t row = table->row++;
  double bytes = 0, kept = 0;
  for (uint32_t v = i->result; v < i->result + i->result_count; v++) {
    const double own = (double)joist_value_bytes(&program->values[v]);
    bytes += own;
    if (plan != NULL && plan->materialized[v] && plan->root[v] == v) kept += own;
  }
  REAL(VECTOR_ELT(table->columns, BYTES))[row] = bytes;
  REAL(VECTOR_ELT(table->columns, KEPT))[row] = kept;
  INTEGER(VECTOR_ELT(table->columns, DEPTH))[row] = depth;
  LOGICAL(VECTOR_ELT(table->columns, AMBIGUOUS))
  [row] = i->result_count > 0 && program->values[i->result].type.ambiguous;
  for (int c = RESULT; c <= SOURCE; c++) {
    if (c == AMBIGUOUS || c == BYTES || c == KEPT) continue;
    if (c == SOURCE && i->source == JOIST_NO_SOURCE) {
      SET_STRING_ELT(VECTOR_ELT(table->columns, c), row, NA_STRING);
      continue;
    }
    struct joist_text *const text = empty_text(table->trace);
    write_cell(c, program, i, words, text);
    SET_STRING_ELT(VECTOR_ELT(table->columns, c), row, string_of(text));
  }
}

/* The plan of body r of instruction k; NULL if it is not run. */
static const struct joist_plan *plan_of_body(const struct joist_plan *plan, uint32_t k,
                                             uint32_t r) {
  for (uint32_t g = 0; plan != NULL && g < plan->group_count; g++)
    if (plan->groups[g].kind == JOIST_GROUP_ARRAY && plan->groups[g].instruction == k)
      return plan->bodies[plan->groups[g].first_body + r];
  return NULL;
}

/* Those of the bodies of an instruction follow it. */
static void fill_rows(struct table *table, const struct joist_program *program,
                      const struct joist_plan *plan, int depth,
                      const struct joist_print_words *words) {
  const struct joist_print_words inside = {.source = words->source, .context = words->context};
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    fill_row(table, program, plan, i, depth, words);
    for (uint32_t r = 0; r < i->region_count; r++)
      fill_rows(table, i->regions[r], plan_of_body(plan, k, r), depth + 1, &inside);
  }
}

SEXP joist_r_program_table(SEXP compiled) {
  static const char *columns[] = {"result", "op",        "operands", "operand_dtypes", "attributes",
                                  "dtype",  "ambiguous", "shape",    "bytes",          "kept",
                                  "source", "depth",     ""};
  struct table table = {.trace = joist_r_trace_of(compiled)};
  const struct joist_program *const program = &table.trace->program;
  const struct joist_print_words words = words_of(&compiled);
  const R_xlen_t n = count_rows(program);
  table.columns = PROTECT(Rf_mkNamed(VECSXP, columns));
  for (int c = RESULT; c <= DEPTH; c++)
    SET_VECTOR_ELT(table.columns, c,
                   Rf_allocVector(c == AMBIGUOUS            ? LGLSXP
                                  : c == BYTES || c == KEPT ? REALSXP
                                  : c == DEPTH              ? INTSXP
                                                            : STRSXP,
                                  n));
  fill_rows(&table, program, table.trace->plan, 0, &words);
  UNPROTECT(1);
  return table.columns;
}

/* ---- memory ---- */

SEXP joist_r_program_bytes(SEXP compiled) {
  static const char *names[] = {"arguments", "constants", "results", "temporaries", ""};
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_program *const program = &trace->program;
  double bytes[] = {0, 0, 0, 0};
  for (uint32_t v = 0; v < program->value_count; v++) {
    const struct joist_value *const value = &program->values[v];
    if (value->input == JOIST_NO_INPUT) continue;
    const bool argument = trace->sources[value->input].kind != JOIST_R_FROM_CONSTANT;
    bytes[argument ? 0 : 1] += (double)joist_value_bytes(value);
  }
  for (uint32_t k = 0; k < program->output_count; k++)
    bytes[2] += (double)joist_value_bytes(&program->values[program->outputs[k]]);
  if (trace->plan != NULL) bytes[3] = (double)joist_plan_temporary_bytes(trace->plan);
  SEXP out = PROTECT(Rf_mkNamed(REALSXP, names));
  for (int k = 0; k < 4; k++) REAL(out)[k] = bytes[k];
  UNPROTECT(1);
  return out;
}
