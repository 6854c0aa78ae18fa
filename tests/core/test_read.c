/* Programs written as text and read back: the same fields and the same text, for random programs
 * and for one with bodies; text that is not a program is refused. */
#include "core/program/print.h"
#include "core/program/read.h"
#include "core/program/regions.h"

#include "random_programs.h"
#include "rules.h"

enum { PROGRAMS = 2000, CHANGES = 20 };

static const struct joist_print_words exactly = {.exact = true};

static struct joist_text text_of(const struct joist_program *program) {
  struct joist_text text = {NULL, 0, 0, false};
  joist_print_program(program, &exactly, &text);
  if (text.failed) abort();
  return text;
}

static bool same_type(struct joist_type a, struct joist_type b) {
  return a.dtype == b.dtype && (a.dtype == JOIST_DTYPE_NONE || a.ambiguous == b.ambiguous);
}

static bool same_signature(const struct joist_signature *a, const struct joist_signature *b) {
  bool same = same_type(a->promoted, b->promoted) && a->rounds == b->rounds &&
              a->rounds_float == b->rounds_float && a->compute == b->compute;
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++) same &= a->operand[k] == b->operand[k];
  return same && same_type(a->result[0], b->result[0]);
}

static void check_same(const struct joist_program *a, const struct joist_program *b) {
  CHECK_INT(a->value_count, b->value_count);
  CHECK_INT(a->input_count, b->input_count);
  CHECK_INT(a->instruction_count, b->instruction_count);
  CHECK_INT(a->output_count, b->output_count);
  if (a->value_count != b->value_count || a->instruction_count != b->instruction_count) return;
  for (uint32_t v = 0; v < a->value_count; v++) {
    const struct joist_value *const x = &a->values[v], *const y = &b->values[v];
    CHECK(same_type(x->type, y->type) && joist_shape_equal(&x->shape, &y->shape) &&
          x->input == y->input && x->known == y->known && x->number == y->number);
    if (x->input == JOIST_NO_INPUT) CHECK_INT(x->instruction, y->instruction);
  }
  for (uint32_t k = 0; k < a->instruction_count; k++) {
    const struct joist_instruction *const x = &a->instructions[k], *const y = &b->instructions[k];
    CHECK(x->op == y->op && x->operand_count == y->operand_count && x->result == y->result &&
          x->result_count == y->result_count && x->dims == y->dims && x->held == y->held &&
          x->missing == y->missing && x->watch == y->watch && x->again == y->again &&
          x->region_count == y->region_count);
    CHECK(joist_attributes_equal(x->attributes, y->attributes));
    CHECK(x->operand_count == 0 ||
          memcmp(x->operand, y->operand, x->operand_count * sizeof *x->operand) == 0);
    CHECK(x->region_count > 0 || same_signature(&x->signature, &y->signature));
    for (uint32_t r = 0; r < x->region_count && r < y->region_count; r++)
      check_same(x->regions[r], y->regions[r]);
  }
}

/* Returns the text, which the caller frees. */
static struct joist_text check_round_trip(const struct joist_program *program) {
  struct joist_text text = text_of(program);
  struct joist_program again;
  struct joist_error error = {.code = JOIST_E_OUT_OF_MEMORY};
  joist_program_init(&again);
  const joist_status status = joist_program_read(text.data, &again, &error);
  CHECK_INT(status, JOIST_OK);
  if (status == JOIST_OK) {
    check_same(program, &again);
    struct joist_text twice = text_of(&again);
    CHECK(strcmp(text.data, twice.data) == 0);
    joist_text_free(&twice);
  } else if (check_failed_count < CHECK_MAX_PRINTED) {
    fprintf(stderr, "code %d, line %zu: expected %s, not %s\n%s", (int)error.code, error.position,
            error.text[0].bytes, error.text[1].bytes, text.data);
  }
  joist_program_clear(&again);
  return text;
}

/* Any change of a character makes another program, or none; what is read has a text. */
static void check_changed(const struct joist_text *text) {
  char *const changed = malloc(text->length + 1);
  if (changed == NULL) abort();
  for (int k = 0; k < CHANGES; k++) {
    memcpy(changed, text->data, text->length + 1);
    const size_t at = random_below(text->length);
    changed[at] = one_in(6) ? '\0' : "%0123456789x{},: =()\nabf?-"[random_below(26)];
    struct joist_program program;
    struct joist_error error;
    joist_program_init(&program);
    if (joist_program_read(changed, &program, &error) == JOIST_OK) {
      struct joist_text again = text_of(&program);
      joist_text_free(&again);
    }
    joist_program_clear(&program);
  }
  free(changed);
}

/* What the functions that build random programs do not set. */
static void set_more(struct joist_program *program) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    struct joist_instruction *const i = &program->instructions[k];
    i->watch = (uint8_t)random_below(8);
    i->again = one_in(5);
    i->held = one_in(5) ? 1 + (uint32_t)random_below(i->result) : 0;
    i->missing = one_in(5) ? 1 + (uint32_t)random_below(i->result) : 0;
  }
  for (uint32_t v = 0; v < program->value_count; v++) {
    struct joist_value *const value = &program->values[v];
    value->known = value->input != JOIST_NO_INPUT && value->shape.rank == 0;
    if (value->known) value->number = (double)random_below(1000) / 7 - 50;
  }
}

static void test_random(void) {
  const struct style style = {300, true, true, 14};
  for (int n = 0; n < PROGRAMS; n++) {
    struct joist_program program;
    random_program(&program, &style);
    set_more(&program);
    struct joist_text text = check_round_trip(&program);
    check_changed(&text);
    joist_text_free(&text);
    joist_program_clear(&program);
  }
}

/* sum(1..n) of a captured step, by a loop: inputs are added between the instructions. */
static void test_bodies(void) {
  struct joist_program program, *const body = calloc(1, sizeof *body);
  if (body == NULL) abort();
  joist_program_init(&program);
  const joist_value_id n = add_input(&program, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(&program, JOIST_F32, 2, (uint32_t[]){3, 2});
  const joist_value_id twice = add_simple(&program, JOIST_OP_ADD, x, x);
  const joist_value_id step = add_input(&program, JOIST_F32, 0, NULL);
  add_input(body, JOIST_I32, 0, NULL);
  const joist_value_id own = add_input(body, JOIST_F32, 2, (uint32_t[]){3, 2});
  const joist_value_id by = add_input(body, JOIST_F32, 0, NULL);
  add_output(body, add_simple(body, JOIST_OP_ADD, own, by));
  struct joist_program *const bodies[] = {body};
  joist_value_id made = 0;
  CHECK_INT(joist_program_add_regions(&program, JOIST_OP_FOR, (joist_value_id[]){n, twice, step}, 3,
                                      &no_attributes, JOIST_NO_SOURCE, bodies, &made, NULL),
            JOIST_OK);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, made, x));
  add_output(&program, made);
  struct joist_text text = check_round_trip(&program);
  for (int k = 0; k < 50; k++) check_changed(&text);
  joist_text_free(&text);
  joist_program_clear(&program);
}

static void test_refused(void) {
  static const char *const texts[] = {
      "",
      "%1: f32{2}\n",
      "%2: f32{2}\nreturn %2\n",
      "%1: f33{2}\nreturn %1\n",
      "%1: f32{2}\nreturn %2\n",
      "%1: f32{2}\nreturn %1\nreturn %1\n",
      "%1: f32{2}\n%2: f32{3} = add(%1, %1) in f32 f32 f32 f32 f32\nreturn %2\n",
      "%1: f32{2}\n%2: f32{2} = add(%1, %2) in f32 f32 f32 f32 f32\nreturn %2\n",
      "%1: f32{2}\n%2: f32{2} = ad(%1, %1) in f32 f32 f32 f32 f32\nreturn %2\n",
      "%1: f32{2}\n%2: f32{2} = add(%1, %1, dim = 1) in f32 f32 f32 f32 f32\nreturn %2\n",
      "%1: f32{2}\n%2: f32{2} = cumsum(%1, dim = 2) in f32 f32 f32 none f32\nreturn %2\n",
      "%1: f32{2}\n%2: f32{2} = add(%1, %1)\nreturn %2\n",
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    struct joist_program program;
    struct joist_error error = {.code = JOIST_E_OUT_OF_MEMORY};
    joist_program_init(&program);
    CHECK_INT(joist_program_read(texts[k], &program, &error), JOIST_ERROR_VALUE);
    CHECK_INT(error.code, JOIST_E_PROGRAM_TEXT);
    joist_program_clear(&program);
  }
}

int main(void) {
  use_rules();
  CHECK(joist_kernels_select("generic"));
  test_random();
  test_bodies();
  test_refused();
  return check_report("read");
}
