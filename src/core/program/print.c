/* Printing programs. */
#include "core/program/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program/regions.h"

void joist_print_type(struct joist_type type, struct joist_text *text) {
  joist_text_add(text, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
}

static void print_known_type(struct joist_type type, struct joist_text *text) {
  joist_text_add(text, " ");
  if (type.dtype == JOIST_DTYPE_NONE)
    joist_text_add(text, "none");
  else
    joist_print_type(type, text);
}

static void print_value_type(const struct joist_value *value, struct joist_text *text) {
  char shape[JOIST_SHAPE_TEXT];
  joist_print_type(value->type, text);
  joist_text_add(text, "%s", joist_shape_format(&value->shape, shape));
}

static bool print_constant(const struct joist_value *value, const struct joist_print_words *words,
                           struct joist_text *text) {
  return words != NULL && words->constant != NULL && value->input != JOIST_NO_INPUT &&
         value->shape.rank == 0 && words->constant(words->context, value->input, text);
}

void joist_print_operand(const struct joist_program *program, joist_value_id value,
                         const struct joist_print_words *words, struct joist_text *text) {
  const struct joist_value *const v = &program->values[value];
  if (print_constant(v, words, text))
    joist_text_add(text, ":%s", joist_dtype_name(v->type.dtype));
  else
    joist_text_add(text, "%%%u", value + 1);
}

static void print_number(joist_attribute_kind kind, int64_t value, bool exact,
                         struct joist_text *text) {
  double number;
  switch (kind) {
    case JOIST_ATTRIBUTE_IS_DIM:
    case JOIST_ATTRIBUTE_IS_DIMS:
    case JOIST_ATTRIBUTE_IS_POSITIONS:
      joist_text_add(text, " %lld", (long long)value + 1);
      return;
    case JOIST_ATTRIBUTE_IS_FLAG:
      joist_text_add(text, value ? " TRUE" : " FALSE");
      return;
    case JOIST_ATTRIBUTE_IS_NUMBER:
      memcpy(&number, &value, sizeof number);
      joist_text_add(text, exact ? " %.17g" : " %.15g", number);
      return;
    case JOIST_ATTRIBUTE_IS_DTYPE:
      joist_text_add(text, " ");
      joist_print_type(
          (struct joist_type){(joist_dtype)(value % JOIST_AMBIGUOUS), value >= JOIST_AMBIGUOUS},
          text);
      return;
    case JOIST_ATTRIBUTE_IS_COUNT:
    case JOIST_ATTRIBUTE_IS_COUNTS:
    case JOIST_ATTRIBUTE_IS_EXTENTS:
      joist_text_add(text, " %lld", (long long)value);
      return;
  }
}

static void print_extents(const struct joist_attributes *attributes, struct joist_text *text) {
  struct joist_shape shape;
  char extents[JOIST_SHAPE_TEXT];
  (void)joist_attribute_shape(attributes, &shape);
  joist_text_add(text, " %s", joist_shape_format(&shape, extents));
}

void joist_print_attributes(const struct joist_attributes *attributes, bool exact,
                            struct joist_text *text) {
  bool first = true;
  for (uint32_t k = 0; k < attributes->count; k++) {
    const struct joist_attribute *const item = &attributes->item[k];
    const joist_attribute_kind kind = joist_attribute_kind_of(item->name);
    const bool usual =
        (kind == JOIST_ATTRIBUTE_IS_FLAG || kind == JOIST_ATTRIBUTE_IS_DIM) &&
        item->one == joist_attribute_value(&(struct joist_attributes){.count = 0}, item->name);
    if (usual && !exact) continue;
    joist_text_add(text, "%s%s =", first ? "" : ", ", joist_attribute_text(item->name));
    first = false;
    if (kind == JOIST_ATTRIBUTE_IS_EXTENTS) {
      print_extents(attributes, text);
      continue;
    }
    for (uint32_t e = 0; e < item->count; e++)
      print_number(kind, item->list != NULL ? item->list[e] : item->one, exact, text);
  }
}

/* What an instruction does with its dtypes, and what else the line of a reader does not have. */
static void print_exactly(const struct joist_instruction *i, struct joist_text *text) {
  const struct joist_signature *const s = &i->signature;
  joist_text_add(text, " in");
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++)
    print_known_type((struct joist_type){s->operand[k], false}, text);
  print_known_type(s->promoted, text);
  print_known_type((struct joist_type){s->compute, false}, text);
  if (s->rounds) joist_text_add(text, ", rounds");
  if (s->rounds_float) joist_text_add(text, ", rounds_float");
  if (i->again) joist_text_add(text, ", again");
  if (i->watch > 0) joist_text_add(text, ", watch %u", (unsigned)i->watch);
  if (i->held > 0) joist_text_add(text, ", held %%%u", i->held);
  if (i->missing > 0) joist_text_add(text, ", missing %%%u", i->missing);
}

static void indent(int depth, struct joist_text *text) {
  for (int k = 0; k < depth; k++) joist_text_add(text, "  ");
}

static void print_body(const struct joist_program *program, const struct joist_print_words *words,
                       int depth, struct joist_text *text);

static void print_instruction(const struct joist_program *program,
                              const struct joist_instruction *i, bool runs,
                              const struct joist_print_words *words, int depth,
                              struct joist_text *text) {
  struct joist_text attributes = {NULL, 0, 0, false};
  indent(depth, text);
  for (uint32_t r = 0; r < i->result_count; r++) {
    joist_text_add(text, "%s%%%u: ", r == 0 ? "" : ", ", i->result + r + 1);
    print_value_type(&program->values[i->result + r], text);
  }
  joist_text_add(text, " = %s(", joist_op_name(i->op));
  for (uint32_t k = 0; k < i->operand_count; k++) {
    joist_text_add(text, k == 0 ? "" : ", ");
    joist_print_operand(program, i->operand[k], words, text);
  }
  const bool exact = words != NULL && words->exact;
  joist_print_attributes(i->attributes, exact, &attributes);
  if (attributes.length > 0)
    joist_text_add(text, "%s%s", i->operand_count > 0 ? ", " : "", attributes.data);
  joist_text_free(&attributes);
  joist_text_add(text, ")");
  if (exact) print_exactly(i, text);
  const bool has_source = words != NULL && words->source != NULL && i->source != JOIST_NO_SOURCE;
  runs |= exact;
  if (!runs || has_source) joist_text_add(text, "  # %s", runs ? "" : "not run");
  if (!runs && has_source) joist_text_add(text, ", ");
  if (has_source) words->source(words->context, i->source, text);
  joist_text_add(text, "\n");
  /* Inputs of a body come from its instruction. */
  struct joist_print_words inside = {.source = NULL};
  if (words != NULL)
    inside = (struct joist_print_words){
        .source = words->source, .context = words->context, .exact = words->exact};
  for (uint32_t r = 0; r < i->region_count; r++) {
    indent(depth, text);
    joist_text_add(text, "{\n");
    print_body(i->regions[r], words == NULL ? NULL : &inside, depth + 1, text);
    indent(depth, text);
    joist_text_add(text, "}\n");
  }
}

static void print_body(const struct joist_program *program, const struct joist_print_words *words,
                       int depth, struct joist_text *text) {
  bool *const needed = malloc(program->value_count + 1);
  if (needed == NULL) {
    text->failed = true;
    return;
  }
  joist_program_mark_needed(program, needed);
  for (uint32_t v = 0; v < program->value_count; v++) {
    const struct joist_value *const value = &program->values[v];
    struct joist_text constant = {NULL, 0, 0, false};
    const bool named = value->input != JOIST_NO_INPUT && !print_constant(value, words, &constant);
    joist_text_free(&constant);
    if (!named) continue;
    indent(depth, text);
    joist_text_add(text, "%%%u: ", v + 1);
    print_value_type(value, text);
    if (words != NULL && words->origin != NULL) {
      joist_text_add(text, " = ");
      words->origin(words->context, value->input, text);
    }
    if (words != NULL && words->exact && value->known)
      joist_text_add(text, " = %.17g", value->number);
    joist_text_add(text, "\n");
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    print_instruction(program, i, joist_is_needed(i, needed), words, depth, text);
  }
  free(needed);
  indent(depth, text);
  joist_text_add(text, "return");
  for (uint32_t k = 0; k < program->output_count; k++) {
    joist_text_add(text, k == 0 ? " " : ", ");
    joist_print_operand(program, program->outputs[k], words, text);
  }
  joist_text_add(text, "\n");
}

void joist_print_program(const struct joist_program *program, const struct joist_print_words *words,
                         struct joist_text *text) {
  print_body(program, words, 1, text);
}
