/* Reads programs, line by line. */
#include "core/program/read.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/program/regions.h"
#include "core/types/error.h"

enum { WORD = 48, DEPTH_MAX = 64 };

struct reader {
  const char *at;
  size_t line;
  struct joist_error *error;
};

/* ---- words ---- */

static joist_status refuse(const struct reader *r, const char *wanted) {
  char rest[64];
  size_t n = strcspn(r->at, "\n");
  if (n >= sizeof rest) n = sizeof rest - 1;
  memcpy(rest, r->at, n);
  rest[n] = '\0';
  return JOIST_FAIL(r->error, JOIST_E_PROGRAM_TEXT, .position = r->line,
                    .text = {joist_quote(wanted), joist_quote(rest)});
}

static joist_status out_of_memory(const struct reader *r) {
  return JOIST_FAIL(r->error, JOIST_E_OUT_OF_MEMORY);
}

static bool take(struct reader *r, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static bool end_line(struct reader *r) {
  if (!take(r, "\n")) return false;
  r->line++;
  return true;
}

static void skip_blanks(struct reader *r) { r->at += strspn(r->at, " "); }

/* A word of letters, digits and underscores; false if there is none, or one that is too long. */
static bool take_word(struct reader *r, char word[WORD]) {
  const size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  if (n == 0 || n >= WORD) return false;
  memcpy(word, r->at, n);
  word[n] = '\0';
  r->at += n;
  return true;
}

static bool take_whole(struct reader *r, int64_t *number) {
  char *end;
  if (*r->at != '-' && (*r->at < '0' || *r->at > '9')) return false;
  *number = strtoll(r->at, &end, 10);
  if (end == r->at) return false;
  r->at = end;
  return true;
}

static bool take_double(struct reader *r, double *number) {
  char *end;
  if (*r->at == '\0' || strchr("-.0123456789", *r->at) == NULL) return false;
  *number = strtod(r->at, &end);
  if (end == r->at) return false;
  r->at = end;
  return true;
}

/* %4, a number from 1 on, which becomes one from 0 on. */
static bool take_id(struct reader *r, joist_value_id *value) {
  int64_t number;
  if (!take(r, "%") || !take_whole(r, &number) || number < 1 || number > UINT32_MAX / 2)
    return false;
  *value = (joist_value_id)(number - 1);
  return true;
}

static bool take_type(struct reader *r, struct joist_type *type) {
  char word[WORD];
  if (!take_word(r, word)) return false;
  *type = (struct joist_type){joist_dtype_parse(word, JOIST_STYLE_ANVIL), false};
  if (type->dtype == JOIST_DTYPE_NONE) return strcmp(word, "none") == 0;
  type->ambiguous = take(r, "?");
  return true;
}

static bool take_shape(struct reader *r, struct joist_shape *shape) {
  int64_t extent;
  size_t count;
  *shape = (struct joist_shape){.rank = 0};
  if (!take(r, "{")) return false;
  while (!take(r, "}")) {
    if (shape->rank == JOIST_RANK_MAX || (shape->rank > 0 && !take(r, "x"))) return false;
    if (!take_whole(r, &extent) || extent < 0 || extent > INT32_MAX) return false;
    shape->extent[shape->rank++] = (uint32_t)extent;
  }
  return joist_shape_count(shape, &count);
}

/* ---- the parts of a line ---- */

struct line {
  struct reader start;
  struct joist_value *values; /* results, whose `instruction` is the number of each, or an input */
  joist_value_id *operands;
  uint32_t value_count, value_capacity, operand_count, operand_capacity;
  struct joist_attributes attributes;
  int64_t lists[JOIST_ATTRIBUTES_MAX][JOIST_RANK_MAX];
};

static void free_line(struct line *line) {
  free(line->values);
  free(line->operands);
}

/* Appends `%4: f32{2x3}`. */
static joist_status read_value(struct reader *r, struct joist_value **values, uint32_t *count,
                               uint32_t *capacity) {
  struct joist_value value = {.input = JOIST_NO_INPUT};
  if (!take_id(r, &value.instruction) || !take(r, ": ") || !take_type(r, &value.type) ||
      value.type.dtype == JOIST_DTYPE_NONE || !take_shape(r, &value.shape))
    return refuse(r, "a value with its type and shape");
  void *const grown = joist_array_grown(*values, sizeof **values, *count, capacity);
  if (grown == NULL) return out_of_memory(r);
  *values = grown;
  (*values)[(*count)++] = value;
  return JOIST_OK;
}

static bool take_number(struct reader *r, joist_attribute_kind kind, int64_t *value) {
  double number;
  struct joist_type type;
  switch (kind) {
    case JOIST_ATTRIBUTE_IS_DIM:
    case JOIST_ATTRIBUTE_IS_DIMS:
    case JOIST_ATTRIBUTE_IS_POSITIONS:
      if (!take_whole(r, value)) return false;
      --*value;
      return true;
    case JOIST_ATTRIBUTE_IS_FLAG:
      *value = take(r, "TRUE");
      return *value || take(r, "FALSE");
    case JOIST_ATTRIBUTE_IS_NUMBER:
      if (!take_double(r, &number)) return false;
      memcpy(value, &number, sizeof number);
      return true;
    case JOIST_ATTRIBUTE_IS_DTYPE:
      if (!take_type(r, &type) || type.dtype == JOIST_DTYPE_NONE) return false;
      *value = (int64_t)type.dtype + (type.ambiguous ? JOIST_AMBIGUOUS : 0);
      return true;
    case JOIST_ATTRIBUTE_IS_COUNT:
    case JOIST_ATTRIBUTE_IS_COUNTS:
    case JOIST_ATTRIBUTE_IS_EXTENTS:
      return take_whole(r, value);
  }
  return false;
}

static bool is_list(joist_attribute_kind kind) {
  return kind == JOIST_ATTRIBUTE_IS_DIMS || kind == JOIST_ATTRIBUTE_IS_POSITIONS ||
         kind == JOIST_ATTRIBUTE_IS_COUNTS;
}

/* Reads `start = 1 4`. */
static joist_status read_attribute(struct reader *r, joist_op op, struct line *line) {
  char word[WORD];
  int64_t *const list = line->lists[line->attributes.count];
  const struct reader before = *r;
  const joist_attribute_name name =
      take_word(r, word) ? joist_attribute_parse(word) : JOIST_ATTRIBUTE_COUNT;
  if (name == JOIST_ATTRIBUTE_COUNT || !(joist_operation(op)->attributes >> name & 1) ||
      joist_attributes_find(&line->attributes, name) != NULL ||
      line->attributes.count == JOIST_ATTRIBUTES_MAX || !take(r, " ="))
    return refuse(&before, "an attribute of the operation");
  const joist_attribute_kind kind = joist_attribute_kind_of(name);
  if (kind == JOIST_ATTRIBUTE_IS_EXTENTS) {
    struct joist_shape shape;
    if (!take(r, " ") || !take_shape(r, &shape)) return refuse(r, "a shape");
    joist_attributes_set_shape(&line->attributes, &shape, list);
    return JOIST_OK;
  }
  size_t count = 0;
  while (*r->at == ' ') {
    r->at++;
    if (count == JOIST_RANK_MAX || !take_number(r, kind, &list[count++]))
      return refuse(r, "the value of an attribute");
  }
  if (is_list(kind))
    joist_attributes_set_list(&line->attributes, name, list, count);
  else if (count == 1)
    joist_attributes_set(&line->attributes, name, list[0]);
  else
    return refuse(r, "one value");
  return JOIST_OK;
}

/* Reads `slice(%1, start = 1 4)` after its name. */
static joist_status read_arguments(struct reader *r, const struct joist_program *program,
                                   joist_op op, struct line *line) {
  if (!take(r, "(")) return refuse(r, "operands");
  for (bool first = true; !take(r, ")"); first = false) {
    if (!first && !take(r, ", ")) return refuse(r, "the next operand or attribute");
    if (*r->at != '%') {
      const joist_status status = read_attribute(r, op, line);
      if (status != JOIST_OK) return status;
      continue;
    }
    void *const grown = joist_array_grown(line->operands, sizeof *line->operands,
                                          line->operand_count, &line->operand_capacity);
    if (grown == NULL) return out_of_memory(r);
    line->operands = grown;
    joist_value_id *const operand = &line->operands[line->operand_count++];
    if (!take_id(r, operand) || *operand >= program->value_count)
      return refuse(r, "a value that was computed before");
  }
  return JOIST_OK;
}

/* Reads `in f32 f32 none f32 f32, watch 1`. */
static joist_status read_details(struct reader *r, const struct joist_program *program,
                                 struct joist_instruction *i) {
  struct joist_type types[JOIST_ELEMENT_OPERANDS + 2];
  struct joist_signature *const s = &i->signature;
  bool fits = take(r, " in");
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS + 2; k++)
    fits = fits && take(r, " ") && take_type(r, &types[k]);
  if (!fits) return refuse(r, "the dtypes that are computed in");
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++) s->operand[k] = types[k].dtype;
  s->promoted = types[JOIST_ELEMENT_OPERANDS];
  s->compute = types[JOIST_ELEMENT_OPERANDS + 1].dtype;
  while (take(r, ", ")) {
    int64_t watch;
    joist_value_id value;
    if (take(r, "rounds_float"))
      s->rounds_float = true;
    else if (take(r, "rounds"))
      s->rounds = true;
    else if (take(r, "again"))
      i->again = true;
    else if (take(r, "watch ") && take_whole(r, &watch) && watch >= 0 &&
             watch < 2 * JOIST_WATCH_CONVERTS)
      i->watch = (uint8_t)watch;
    else if (take(r, "held ") && take_id(r, &value) && value < program->value_count)
      i->held = value + 1;
    else if (take(r, "missing ") && take_id(r, &value) && value < program->value_count)
      i->missing = value + 1;
    else
      return refuse(r, "what else is known of an instruction");
  }
  return end_line(r) ? JOIST_OK : refuse(r, "the end of the line");
}

/* ---- instructions ---- */

static bool all_below(const struct joist_attributes *attributes, joist_attribute_name name,
                      int rank) {
  const struct joist_attribute *const item = joist_attributes_find(attributes, name);
  for (uint32_t k = 0; item != NULL && k < item->count; k++)
    if (item->list[k] < 0 || item->list[k] >= rank) return false;
  return true;
}

/* Whether the dims among the attributes are dims of the first operand or of the result. */
static bool has_dims(const struct joist_program *program, const struct line *line,
                     const struct joist_shape *made) {
  const int first =
      line->operand_count > 0 ? program->values[line->operands[0]].shape.rank : made->rank;
  const int rank = first > made->rank ? first : made->rank; /* scalars are put beside arrays */
  const int dim = joist_attribute_dim(&line->attributes);
  return dim >= -1 && dim < (rank > 0 ? rank : 1) &&
         all_below(&line->attributes, JOIST_ATTRIBUTE_DIMS, rank) &&
         all_below(&line->attributes, JOIST_ATTRIBUTE_PERMUTATION, rank);
}

/* Whether the results are the next values of the program and have these shapes. */
static bool has_results(const struct joist_program *program, const struct line *line,
                        const struct joist_shape *shapes) {
  bool fits = true;
  for (uint32_t k = 0; k < line->value_count; k++)
    fits = fits && line->values[k].instruction == program->value_count + k &&
           joist_shape_equal(&line->values[k].shape, &shapes[k]);
  return fits;
}

static joist_status append(struct reader *r, struct joist_program *program, struct line *line,
                           struct joist_instruction *i) {
  const struct joist_shape **const shapes = malloc((line->operand_count + 1) * sizeof *shapes);
  struct joist_shape made[JOIST_RESULTS_MAX] = {{.rank = 0}};
  if (shapes == NULL) return out_of_memory(r);
  for (uint32_t k = 0; k < line->operand_count; k++)
    shapes[k] = &program->values[line->operands[k]].shape;
  shapes[line->operand_count] = NULL;
  joist_status status = joist_op_check_operands(i->op, line->operand_count, r->error);
  if (status == JOIST_OK && !has_dims(program, line, &line->values[0].shape))
    status = refuse(&line->start, "dimensions of the operand");
  if (status == JOIST_OK)
    status = joist_program_infer_shapes(i->op, shapes, line->operand_count, &line->attributes, made,
                                        r->error);
  free(shapes);
  if (status != JOIST_OK) return status;
  if (line->value_count != joist_operation(i->op)->results || !has_results(program, line, made) ||
      i->signature.compute == JOIST_DTYPE_NONE || !joist_op_has(i->op, i->signature.compute))
    return refuse(&line->start, "the results of the operation");
  if (joist_op_is_reduction(i->op)) i->dims = joist_attribute_mask(&line->attributes);
  for (int k = 0; k < JOIST_RESULTS_MAX; k++)
    i->signature.result[k] = line->values[(uint32_t)k < line->value_count ? k : 0].type;
  i->result_count = line->value_count;
  i->operand_count = line->operand_count;
  i->operand = line->operands;
  i->attributes = &line->attributes;
  return joist_program_append(program, i, line->values, r->error);
}

static joist_status read_body(struct reader *r, int depth, struct joist_program *program);

static void drop_bodies(struct joist_program **bodies, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    joist_program_clear(bodies[k]);
    free(bodies[k]);
  }
}

static joist_status read_bodies(struct reader *r, int depth, uint32_t count,
                                struct joist_program **bodies) {
  for (uint32_t k = 0; k < count; k++) {
    joist_status status = JOIST_OK;
    skip_blanks(r);
    if (!take(r, "{") || !end_line(r)) status = refuse(r, "a body");
    bodies[k] = status == JOIST_OK ? calloc(1, sizeof *bodies[k]) : NULL;
    if (status == JOIST_OK && bodies[k] == NULL) status = out_of_memory(r);
    if (status == JOIST_OK) status = read_body(r, depth + 1, bodies[k]);
    skip_blanks(r);
    if (status == JOIST_OK && (!take(r, "}") || !end_line(r))) status = refuse(r, "a }");
    if (status == JOIST_OK) continue;
    drop_bodies(bodies, k + (bodies[k] != NULL));
    return status;
  }
  return JOIST_OK;
}

/* An instruction whose bodies follow its line. */
static joist_status append_regions(struct reader *r, int depth, struct joist_program *program,
                                   struct line *line, const struct joist_instruction *i) {
  enum { BODIES = 2 };
  struct joist_program *bodies[BODIES];
  const joist_value_id wanted = program->value_count;
  joist_value_id first = 0;
  joist_status status = read_bodies(r, depth, joist_operation(i->op)->regions, bodies);
  if (status != JOIST_OK) return status;
  status = joist_program_add_regions(program, i->op, line->operands, line->operand_count,
                                     &line->attributes, JOIST_NO_SOURCE, bodies, &first, r->error);
  if (status != JOIST_OK) return status;
  struct joist_instruction *const made = &program->instructions[program->instruction_count - 1];
  bool fits = made->result_count == line->value_count;
  for (uint32_t k = 0; fits && k < line->value_count; k++) {
    const struct joist_value *const own = &program->values[first + k];
    const struct joist_value *const read = &line->values[k];
    fits = read->instruction == wanted + k && own->type.dtype == read->type.dtype &&
           own->type.ambiguous == read->type.ambiguous &&
           joist_shape_equal(&own->shape, &read->shape);
  }
  made->again = i->again;
  made->watch = i->watch;
  made->held = i->held;
  made->missing = i->missing;
  return fits ? JOIST_OK : refuse(&line->start, "the results of the bodies");
}

/* ---- programs ---- */

/* Inputs are listed first, but have the numbers of when they were added: between instructions. */
struct inputs {
  struct joist_value *values;
  uint32_t count, capacity, used;
};

static joist_status add_inputs(struct reader *r, struct joist_program *program,
                               struct inputs *inputs) {
  while (inputs->used < inputs->count &&
         inputs->values[inputs->used].instruction == program->value_count) {
    const struct joist_value *const input = &inputs->values[inputs->used++];
    joist_value_id made;
    const joist_status status =
        joist_program_add_input(program, input->type, &input->shape, &made, r->error);
    if (status != JOIST_OK) return status;
    program->values[made].known = input->known;
    program->values[made].number = input->number;
  }
  return JOIST_OK;
}

static joist_status read_instruction(struct reader *r, int depth, struct joist_program *program,
                                     struct line *line) {
  char word[WORD];
  struct joist_instruction i = {.source = JOIST_NO_SOURCE};
  if (!take(r, " = ") || !take_word(r, word)) return refuse(r, "an operation");
  i.op = joist_op_parse(word);
  if (i.op == JOIST_OP_COUNT) return refuse(r, "an operation");
  joist_status status = read_arguments(r, program, i.op, line);
  if (status == JOIST_OK) status = read_details(r, program, &i);
  if (status != JOIST_OK) return status;
  return joist_operation(i.op)->regions > 0 ? append_regions(r, depth, program, line, &i)
                                            : append(r, program, line, &i);
}

/* A line of an input or an instruction. */
static joist_status read_line(struct reader *r, int depth, struct joist_program *program,
                              struct inputs *inputs) {
  struct line line = {.start = *r};
  joist_status status = JOIST_OK;
  do status = read_value(r, &line.values, &line.value_count, &line.value_capacity);
  while (status == JOIST_OK && take(r, ", "));
  struct joist_value *const first = line.values;
  const bool known = status == JOIST_OK && line.value_count == 1 && first->shape.rank == 0 &&
                     strncmp(r->at, " = ", 3) == 0 && strchr("-0123456789", r->at[3]) != NULL;
  if (known) {
    r->at += 3;
    first->known = take_double(r, &first->number);
  }
  if (status != JOIST_OK || *r->at != '\n') {
    if (status == JOIST_OK) status = add_inputs(r, program, inputs);
    if (status == JOIST_OK) status = read_instruction(r, depth, program, &line);
  } else if (line.value_count > 1 || program->instruction_count > 0) {
    status = refuse(r, "an input, before all instructions");
  } else {
    void *const grown =
        joist_array_grown(inputs->values, sizeof *inputs->values, inputs->count, &inputs->capacity);
    if (grown == NULL) {
      status = out_of_memory(r);
    } else {
      inputs->values = grown;
      inputs->values[inputs->count++] = *first;
      (void)end_line(r);
    }
  }
  free_line(&line);
  return status;
}

static joist_status read_outputs(struct reader *r, struct joist_program *program) {
  for (bool first = true; !end_line(r); first = false) {
    joist_value_id value;
    if (!take(r, first ? " " : ", ") || !take_id(r, &value) || value >= program->value_count)
      return refuse(r, "a value of the program");
    const joist_status status = joist_program_add_output(program, value, r->error);
    if (status != JOIST_OK) return status;
  }
  return JOIST_OK;
}

static joist_status read_body(struct reader *r, int depth, struct joist_program *program) {
  struct inputs inputs = {.values = NULL};
  joist_status status = depth < DEPTH_MAX ? JOIST_OK : refuse(r, "fewer bodies within bodies");
  for (skip_blanks(r); status == JOIST_OK && !take(r, "return"); skip_blanks(r))
    status = read_line(r, depth, program, &inputs);
  if (status == JOIST_OK) status = add_inputs(r, program, &inputs);
  if (status == JOIST_OK && inputs.used < inputs.count)
    status = refuse(r, "a program with all of its values");
  if (status == JOIST_OK) status = read_outputs(r, program);
  free(inputs.values);
  return status;
}

joist_status joist_program_read(const char *text, struct joist_program *program,
                                struct joist_error *error) {
  struct reader r = {text, 1, error};
  const joist_status status = read_body(&r, 0, program);
  if (status == JOIST_OK && *r.at != '\0') return refuse(&r, "the end of the program");
  return status;
}
