/* What derivatives of a loop keep of an iteration: as little as possible that is enough. */
#include "core/program/residuals.h"

#include "programs.h"
#include "rules.h"

enum { MOST = 32 };

/* `known` are kept; checks that no others are. */
static void check_kept_of(const struct joist_program *program, uint32_t forward, size_t few,
                          size_t limit, uint32_t states, const joist_value_id *known,
                          size_t count) {
  const joist_value_id all[] = {0, 1, 2};
  const struct joist_residual_body body = {.program = program,
                                           .forward = forward,
                                           .states = all,
                                           .state_count = states,
                                           .few = few,
                                           .limit = limit};
  bool kept[MOST];
  if (!CHECK(program->value_count <= MOST)) return;
  CHECK_INT(joist_residuals_choose(&body, kept, NULL), JOIST_OK);
  for (uint32_t v = 0; v < program->value_count; v++) {
    bool want = false;
    for (size_t k = 0; k < count; k++) want |= known[k] == v;
    if (!CHECK(kept[v] == want)) printf("value %u of %u, limit %zu\n", v, forward, limit);
  }
}

static void check_kept(const struct joist_program *program, uint32_t forward, size_t limit,
                       uint32_t states, const joist_value_id *known, size_t count) {
  check_kept_of(program, forward, limit, limit, states, known, count);
}

/* Functions are kept, sums and products of what is kept are not. */
static void test_functions(void) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id s = add_input(&program, JOIST_F64, 1, (uint32_t[]){4});
  const joist_value_id x = add_input(&program, JOIST_F64, 1, (uint32_t[]){4});
  const joist_value_id g = add_input(&program, JOIST_F64, 1, (uint32_t[]){4});
  const joist_value_id a = add_simple(&program, JOIST_OP_MUL, s, x);
  const joist_value_id b = add_simple(&program, JOIST_OP_TANH, a, a);
  const joist_value_id c = add_simple(&program, JOIST_OP_ADD, b, s);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, b));
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, a));
  /* The product rather than the state, which nothing else reads. */
  check_kept(&program, 3, 1000, 1, (joist_value_id[]){a, b}, 2);
  check_kept(&program, 3, 64, 1, (joist_value_id[]){a, b}, 2);
  check_kept(&program, 3, 63, 1, (joist_value_id[]){a}, 1);
  check_kept(&program, 3, 0, 1, (joist_value_id[]){a}, 1);
  program.output_count = 0;
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, c));
  /* One value instead of the two that it is computed from. */
  check_kept(&program, 3, 1000, 1, (joist_value_id[]){c}, 1);
  program.output_count = 0;
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, x));
  check_kept(&program, 3, 1000, 1, NULL, 0);
  /* What a program gives is read, too. */
  add_output(&program, b);
  check_kept(&program, 3, 1000, 1, (joist_value_id[]){b}, 1);
  program.instructions[1].again = true;
  check_kept(&program, 3, 1000, 1, (joist_value_id[]){b}, 1);
  add_output(&program, s);
  check_kept(&program, 3, 1000, 1, (joist_value_id[]){s}, 1);
  joist_program_clear(&program);
}

/* Exponentials are computed again where that spares memory that is wanted. */
static void test_exponentials(void) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id s = add_input(&program, JOIST_F64, 1, (uint32_t[]){4});
  const joist_value_id g = add_input(&program, JOIST_F64, 1, (uint32_t[]){4});
  const joist_value_id e = add_simple(&program, JOIST_OP_EXP, s, s);
  const joist_value_id t = add_simple(&program, JOIST_OP_TANH, e, e);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, e));
  check_kept_of(&program, 2, 0, 1000, 1, (joist_value_id[]){e}, 1);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, s));
  check_kept_of(&program, 2, 64, 1000, 1, (joist_value_id[]){s, e}, 2);
  check_kept_of(&program, 2, 63, 1000, 1, (joist_value_id[]){s}, 1);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, t));
  check_kept_of(&program, 2, 63, 1000, 1, (joist_value_id[]){s, t}, 2);
  check_kept_of(&program, 2, 63, 63, 1, (joist_value_id[]){s}, 1);
  joist_program_clear(&program);
}

/* A sum of two products is kept rather than these, and a reduction rather than its operand. */
static void test_arrays(void) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id s = add_input(&program, JOIST_F32, 2, (uint32_t[]){3, 3});
  const joist_value_id w = add_input(&program, JOIST_F32, 2, (uint32_t[]){3, 3});
  const joist_value_id g = add_input(&program, JOIST_F32, 2, (uint32_t[]){3, 3});
  const joist_value_id left = add_simple(&program, JOIST_OP_MATMUL, s, w);
  const joist_value_id right = add_simple(&program, JOIST_OP_MATMUL, w, s);
  const joist_value_id sum = add_simple(&program, JOIST_OP_ADD, left, right);
  const joist_value_id root = add_simple(&program, JOIST_OP_SQRT, sum, sum);
  const joist_value_id total = add_simple(&program, JOIST_OP_REDUCE_SUM, root, root);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, total));
  check_kept(&program, 5, 1000, 1, (joist_value_id[]){total}, 1);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, root));
  check_kept(&program, 5, 1000, 1, (joist_value_id[]){total, root}, 2);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, sum));
  check_kept(&program, 5, 1000, 1, (joist_value_id[]){total, sum}, 2);
  /* All is computed again from as few bytes as there are. */
  check_kept(&program, 5, 20, 1, (joist_value_id[]){sum}, 1);
  add_output(&program, add_simple(&program, JOIST_OP_MUL, g, left));
  check_kept(&program, 5, 20, 1, (joist_value_id[]){s}, 1);
  check_kept(&program, 5, 20, 2, (joist_value_id[]){left, sum}, 2);
  joist_program_clear(&program);
}

int main(void) {
  use_rules();
  test_functions();
  test_exponentials();
  test_arrays();
  return check_report("residuals");
}
