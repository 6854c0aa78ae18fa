/* Programs decoded from bytes: built, inferred, planned and run. Each instruction gives the same
 * bits when it runs alone, and programs fail with the errors of their instructions.
 *
 * The bytes: inputs, as dtype, shape and the kind of their values; then instructions, as operation,
 * operands and attributes; outputs are chosen by the last ones. */
#include "../core/arrays.h"
#include "../core/programs.h"
#include "../core/rules.h"
#include "bytes.h"
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"
#include "core/program/print.h"
#include "fuzz.h"
#include "r/base/error_text.h"

enum { VALUES = 64, ELEMENTS = 2500, OPERANDS = 6, ROOM = 4 * JOIST_RANK_MAX };

static const struct joist_run run = {.threads = 1};

/* A program and, of each value, what its instruction gave alone; NULL where that failed, or where
 * nothing was got because an operand's did. */
struct tried {
  struct joist_program program;
  void *array[VALUES];
  bool failed[VALUES], checked[VALUES];
};

/* Memory of exactly this size, aligned as the engine has it. */
static void *exact_array(size_t bytes) {
  void *memory = NULL;
  HOLDS(posix_memalign(&memory, 64, bytes == 0 ? 1 : bytes) == 0);
  return memory;
}

static struct joist_shape take_shape(struct bytes *bytes) {
  static const uint32_t extents[] = {1, 2, 3, 0, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65, 128};
  struct joist_shape shape = {.rank = (int)take_below(bytes, 5)};
  size_t count = 1;
  for (int d = 0; d < shape.rank; d++) {
    uint32_t extent = extents[take_below(bytes, sizeof extents / sizeof *extents)];
    if (shape.rank == 1 && extent > 64) extent = (uint32_t)(take(bytes) * 9);
    if (count * extent > ELEMENTS) extent = 1;
    if (extent > 0) count *= extent;
    shape.extent[d] = extent;
  }
  return shape;
}

static void take_input(struct bytes *bytes, struct tried *t) {
  const struct joist_type type = {(joist_dtype)take_below(bytes, JOIST_DTYPE_COUNT),
                                  take_one_in(bytes, 6)};
  /* Often the shape of an input before. */
  const struct joist_shape shape = t->program.value_count > 0 && take_below(bytes, 3) > 0
                                       ? t->program.values[0].shape
                                       : take_shape(bytes);
  joist_value_id v;
  HOLDS(joist_program_add_input(&t->program, type, &shape, &v, NULL) == JOIST_OK);
  t->array[v] = exact_array(joist_value_bytes(&t->program.values[v]));
  const size_t kind = take_below(bytes, FILL_COUNT + 1);
  fill(type.dtype, joist_value_count(&t->program.values[v]), (fill_kind)(kind % FILL_COUNT),
       t->array[v]);
}

/* ---- attributes ---- */

/* Those of src/r/trace/attributes.c: lists of whole numbers below 2^31, dims that are there. */
static int64_t take_number(struct bytes *bytes) {
  const unsigned byte = take(bytes);
  if (byte < 200) return (int64_t)(byte % 8) - (byte >= 180 ? 4 : 0);
  return byte < 250 ? (int64_t)byte - 190 : (int64_t)take_short(bytes) * (1 << (byte - 250) * 3);
}

static size_t take_list(struct bytes *bytes, int rank, int64_t *list) {
  const size_t n = take_one_in(bytes, 16) ? take_below(bytes, JOIST_RANK_MAX) : (size_t)rank;
  for (size_t k = 0; k < n; k++) list[k] = take_number(bytes);
  return n;
}

static size_t take_dims(struct bytes *bytes, int rank, int64_t *list) {
  const unsigned mask = take_one_in(bytes, 3) ? ~0u : take(bytes);
  size_t n = 0;
  for (int d = 0; d < rank; d++)
    if (mask >> d % 8 & 1) list[n++] = d;
  return n;
}

static void take_permutation(struct bytes *bytes, int rank, int64_t *list) {
  for (int d = 0; d < rank; d++) {
    const size_t other = take_below(bytes, (size_t)d + 1);
    list[d] = list[other];
    list[other] = d;
  }
  if (rank > 0 && take_one_in(bytes, 32)) list[0] = take_number(bytes);
}

static void take_attribute(struct bytes *bytes, joist_attribute_name name,
                           const struct joist_shape *shape, const struct joist_shape *other,
                           struct joist_attributes *attributes, int64_t *list) {
  const int rank = shape == NULL ? 3 : shape->rank;
  switch (joist_attribute_kind_of(name)) {
    case JOIST_ATTRIBUTE_IS_DIM:
      if (rank > 0)
        joist_attributes_set(attributes, name, (int64_t)take_below(bytes, (size_t)rank));
      return;
    case JOIST_ATTRIBUTE_IS_DIMS:
      if (name == JOIST_ATTRIBUTE_DIMS) {
        joist_attributes_set_list(attributes, name, list, take_dims(bytes, rank, list));
        return;
      }
      take_permutation(bytes, rank, list);
      joist_attributes_set_list(attributes, name, list, (size_t)rank);
      return;
    case JOIST_ATTRIBUTE_IS_POSITIONS:
    case JOIST_ATTRIBUTE_IS_COUNTS:
      joist_attributes_set_list(attributes, name, list, take_list(bytes, rank, list));
      return;
    case JOIST_ATTRIBUTE_IS_COUNT:
      joist_attributes_set(attributes, name, take_number(bytes));
      return;
    case JOIST_ATTRIBUTE_IS_FLAG:
      joist_attributes_set(attributes, name, (int64_t)take_below(bytes, 2));
      return;
    case JOIST_ATTRIBUTE_IS_EXTENTS: {
      struct joist_shape asked = take_below(bytes, 2) == 0 ? *other : take_shape(bytes);
      if (take_one_in(bytes, 4)) {
        size_t count = 0;
        (void)joist_shape_count(&asked, &count);
        asked = (struct joist_shape){1, {(uint32_t)count}};
      }
      joist_attributes_set_shape(attributes, &asked, list);
      return;
    }
    case JOIST_ATTRIBUTE_IS_NUMBER:
      joist_attributes_set_number(attributes, name, (double)take_number(bytes) / 4);
      return;
    case JOIST_ATTRIBUTE_IS_DTYPE:
      joist_attributes_set_type(
          attributes, (struct joist_type){(joist_dtype)take_below(bytes, JOIST_DTYPE_COUNT),
                                          take_one_in(bytes, 6)});
      return;
  }
}

/* ---- one instruction alone ---- */

static void run_alone(struct tried *t, const struct joist_instruction *instruction) {
  struct joist_value values[OPERANDS + JOIST_RESULTS_MAX];
  joist_value_id operands[OPERANDS], outputs[JOIST_RESULTS_MAX];
  const void *inputs[OPERANDS];
  void *results[JOIST_RESULTS_MAX];
  bool known = true;
  const uint32_t n = instruction->operand_count, count = instruction->result_count;
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = k;
    values[k] = t->program.values[instruction->operand[k]];
    values[k].input = k;
    inputs[k] = t->array[instruction->operand[k]];
    known &= inputs[k] != NULL;
  }
  struct joist_instruction alone = *instruction;
  alone.operand = operands;
  alone.result = n;
  alone.held = 0;
  for (uint32_t r = 0; r < count; r++) {
    values[n + r] = t->program.values[instruction->result + r];
    values[n + r].instruction = 0;
    outputs[r] = n + r;
  }
  /* Aliases are removed from the whole program: those of what failed are nothing there. */
  if (!known && instruction->op == JOIST_OP_ALIAS && inputs[0] != NULL) {
    const size_t bytes = joist_value_bytes(&values[0]);
    t->array[instruction->result] = memcpy(exact_array(bytes), inputs[0], bytes);
  }
  if (!known) return;
  for (uint32_t r = 0; r < count; r++) results[r] = exact_array(joist_value_bytes(&values[n + r]));
  const struct joist_program program = {.values = values,
                                        .instructions = &alone,
                                        .outputs = outputs,
                                        .value_count = n + count,
                                        .input_count = n,
                                        .instruction_count = 1,
                                        .output_count = count};
  struct joist_plan *plan = NULL;
  struct joist_error error;
  char text[JOIST_R_ERROR_TEXT_SIZE];
  HOLDS(joist_plan_make(&program, &plan, &error) == JOIST_OK);
  const joist_status status = joist_plan_run(plan, inputs, results, &run, &error);
  joist_plan_free(plan);
  HOLDS(status == JOIST_OK || strlen(joist_r_error_text(&error, text)) > 0);
  for (uint32_t r = 0; r < count; r++) {
    t->failed[instruction->result + r] = status != JOIST_OK;
    if (status == JOIST_OK)
      t->array[instruction->result + r] = results[r];
    else
      free(results[r]);
  }
}

/* ---- building ---- */

/* Which NaN a computation gives is not said, nor then what is made of its bits or its sign. */
static bool is_left_open(const struct joist_program *program, joist_op op,
                         const struct joist_inference *inference, joist_value_id first) {
  const struct joist_value *const v = &program->values[first];
  if (op == JOIST_OP_BITCAST && v->input == JOIST_NO_INPUT)
    return joist_dtype_category(v->type.dtype) >= JOIST_CATEGORY_FLOAT;
  return !joist_op_is_reduction(op) && is_wild(op, inference->signature.compute);
}

static void take_instruction(struct bytes *bytes, struct tried *t,
                             const struct joist_rules *rules) {
  struct joist_program *const program = &t->program;
  const joist_op op = (joist_op)take_below(bytes, JOIST_OP_COUNT);
  const struct joist_operation *const operation = joist_operation(op);
  const size_t most = operation->most < OPERANDS ? operation->most : OPERANDS;
  const size_t n = operation->least + take_below(bytes, most - operation->least + 1);
  joist_value_id operands[OPERANDS] = {0};
  for (size_t k = 0; k < n; k++) {
    const size_t back = take(bytes);
    operands[k] = (joist_value_id)(program->value_count - 1 - back % program->value_count);
  }
  static int64_t rooms[JOIST_ATTRIBUTES_MAX][JOIST_RANK_MAX];
  struct joist_attributes attributes = {.count = 0};
  const struct joist_shape *const shape = n == 0 ? NULL : &program->values[operands[0]].shape;
  for (int name = 0, room = 0; name < JOIST_ATTRIBUTE_COUNT; name++)
    if ((operation->attributes >> name & 1) && !take_one_in(bytes, 8))
      take_attribute(bytes, (joist_attribute_name)name, shape,
                     &program->values[take(bytes) % program->value_count].shape, &attributes,
                     rooms[room++]);
  struct joist_inference inference;
  struct joist_error error;
  char text[JOIST_R_ERROR_TEXT_SIZE];
  joist_value_id result;
  const joist_status status =
      infer(program, rules, op, operands, n, &attributes, &inference, &error);
  if (status != JOIST_OK) {
    HOLDS(strlen(joist_r_error_text(&error, text)) > 0);
    return;
  }
  if (n > 0 && is_left_open(program, op, &inference, operands[0])) return;
  for (int r = 0; r < operation->results; r++) {
    size_t count = 0;
    if (!joist_shape_count(&inference.shape[r], &count) || count > 2 * ELEMENTS) return;
  }
  const uint32_t before = program->instruction_count;
  HOLDS(append(program, op, &inference, operands, n, &attributes, &result, &error) == JOIST_OK);
  if (program->instruction_count == before) return; /* there is one that computes the same */
  run_alone(t, &program->instructions[before]);
}

/* ---- all together ---- */

static void check_outputs(struct tried *t) {
  struct joist_program *const program = &t->program;
  void *outputs[VALUES];
  struct joist_plan *plan = NULL;
  struct joist_error error;
  const void *inputs[VALUES];
  bool needed[VALUES] = {false}, fails = false;
  for (uint32_t v = 0; v < program->value_count; v++)
    if (program->values[v].input != JOIST_NO_INPUT) inputs[program->values[v].input] = t->array[v];
  for (uint32_t k = 0; k < program->output_count; k++) {
    needed[program->outputs[k]] = true;
    outputs[k] = exact_array(joist_value_bytes(&program->values[program->outputs[k]]));
  }
  HOLDS(joist_plan_make(program, &plan, &error) == JOIST_OK);
  const joist_status status = joist_plan_run(plan, inputs, outputs, &run, &error);
  const char *failed = status == JOIST_OK ? NULL : error.op; /* not all errors name it */
  bool named = failed == NULL;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    bool wanted = false;
    for (uint32_t r = 0; r < i->result_count; r++) wanted |= needed[i->result + r];
    for (uint32_t a = 0; wanted && a < i->operand_count; a++) needed[i->operand[a]] = true;
    fails |= wanted && t->failed[i->result];
    named |= !named && wanted && t->failed[i->result] && strcmp(joist_op_name(i->op), failed) == 0;
  }
  HOLDS(status == JOIST_OK ? !fails : fails && named);
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++) {
    const joist_value_id v = program->outputs[k];
    const size_t count = joist_value_count(&program->values[v]);
    HOLDS(t->array[v] != NULL);
    HOLDS(first_difference(program->values[v].type.dtype, count, outputs[k], t->array[v]) == count);
  }
  for (uint32_t k = 0; k < program->output_count; k++) free(outputs[k]);
  joist_plan_free(plan);
}

static void print(const struct joist_program *program) {
  struct joist_text text = {NULL, 0, 0, false};
  joist_print_program(program, NULL, &text);
  HOLDS(!text.failed && text.length > 0 && strlen(text.data) == text.length);
  if (getenv("JOIST_FUZZ_PRINT") != NULL) fputs(text.data, stderr);
  joist_text_free(&text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static bool ready = false;
  if (!ready) {
    use_rules();
    joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  }
  ready = true;
  struct bytes bytes = {data, data + size};
  static struct tried t;
  memset(&t, 0, sizeof t);
  random_state = 88172645463325252u;
  joist_program_init(&t.program);
  const struct joist_rules *const rules =
      joist_rules_at(take_one_in(&bytes, 4) ? take(&bytes) % joist_rules_count() : 0);
  for (size_t k = 1 + take_below(&bytes, 4); k > 0; k--) take_input(&bytes, &t);
  const size_t outputs = 1 + take_below(&bytes, 4);
  unsigned chosen[4];
  for (size_t k = 0; k < outputs; k++) chosen[k] = take(&bytes);
  while (bytes_left(&bytes) > 0 && t.program.value_count + JOIST_RESULTS_MAX <= VALUES)
    take_instruction(&bytes, &t, rules);
  for (size_t k = 0; k < outputs; k++)
    HOLDS(joist_program_add_output(&t.program,
                                   t.program.value_count - 1 - chosen[k] % t.program.value_count,
                                   NULL) == JOIST_OK);
  print(&t.program);
  HOLDS(joist_program_remove_aliases(&t.program, NULL) == JOIST_OK);
  check_outputs(&t);
  for (uint32_t v = 0; v < VALUES; v++) free(t.array[v]);
  joist_program_clear(&t.program);
  return 0;
}
