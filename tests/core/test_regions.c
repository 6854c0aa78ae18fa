/* Operations with bodies: that they run as often as they should, that nothing else runs, and that
 * operands which do not fit are refused. */
#include "core/base/tally.h"
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"
#include "core/plan/storage.h"
#include "core/program/call.h"
#include "core/program/regions.h"
#include "core/program/watch.h"

#include "programs.h"
#include "rules.h"

static struct joist_program *new_program(void) {
  struct joist_program *const program = malloc(sizeof *program);
  if (program == NULL) abort();
  joist_program_init(program);
  return program;
}

static joist_status add_op(struct joist_program *program, joist_op op,
                           const joist_value_id *operands, size_t count,
                           const struct joist_attributes *attributes, struct joist_program *first,
                           struct joist_program *second, joist_value_id *result,
                           struct joist_error *error) {
  struct joist_program *const bodies[2] = {first, second};
  return joist_program_add_regions(program, op, operands, count, attributes, JOIST_NO_SOURCE,
                                   bodies, result, error);
}

static joist_status run_with(const struct joist_program *program, const void *const *inputs,
                             void *const *outputs, const struct joist_run *run,
                             struct joist_error *error) {
  struct joist_plan *plan = NULL;
  joist_status status = joist_plan_make(program, &plan, error);
  if (status == JOIST_OK) status = joist_plan_run(plan, inputs, outputs, run, error);
  joist_plan_free(plan);
  return status;
}

static joist_status run(const struct joist_program *program, const void *const *inputs,
                        void *const *outputs) {
  const struct joist_run how = {.threads = 1};
  struct joist_error error;
  return run_with(program, inputs, outputs, &how, &error);
}

/* ---- for: x and y swap, and x grows by the iteration number and a capture ---- */

static struct joist_program *swapping_body(void) {
  struct joist_program *const body = new_program();
  const joist_value_id turn = add_input(body, JOIST_I32, 0, NULL);
  const joist_value_id x = add_input(body, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id y = add_input(body, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id captured = add_input(body, JOIST_I32, 0, NULL);
  const joist_value_id grown = add_simple(body, JOIST_OP_ADD, x, turn);
  add_output(body, y);
  add_output(body, add_simple(body, JOIST_OP_ADD, grown, captured));
  return body;
}

static void make_for(struct joist_program *program) {
  joist_program_init(program);
  const joist_value_id n = add_input(program, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(program, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id c = add_input(program, JOIST_I32, 0, NULL);
  const joist_value_id twice = add_simple(program, JOIST_OP_ADD, x, x);
  joist_value_id result = 0;
  CHECK_INT(add_op(program, JOIST_OP_FOR, (joist_value_id[]){n, x, twice, c}, 4, &no_attributes,
                   swapping_body(), NULL, &result, NULL),
            JOIST_OK);
  add_output(program, result);
  add_output(program, result + 1);
  add_output(program, add_simple(program, JOIST_OP_ADD, result, result + 1));
}

static void test_for(void) {
  struct joist_program program;
  make_for(&program);
  for (int64_t n = -1; n < 8; n++) {
    const int32_t start[3] = {1, -5, 100}, c = 7;
    int32_t x[3], y[3], out[3][3];
    for (int e = 0; e < 3; e++) {
      x[e] = start[e];
      y[e] = 2 * start[e];
      for (int32_t turn = 1; turn <= n; turn++) {
        const int32_t grown = x[e] + turn + c;
        x[e] = y[e];
        y[e] = grown;
      }
    }
    CHECK_INT(run(&program, (const void *[]){&n, start, &c}, (void *[]){out[0], out[1], out[2]}),
              JOIST_OK);
    for (int e = 0; e < 3; e++) {
      CHECK_INT(out[0][e], x[e]);
      CHECK_INT(out[1][e], y[e]);
      CHECK_INT(out[2][e], x[e] + y[e]);
    }
  }
  joist_program_clear(&program);
}

/* ---- carries that are written to in place ---- */

enum { N = 6 };

/* How a body uses its array x after z is x with turn + c at its position turn. */
typedef enum { PUT_ONCE, PUT_TWICE, ADDED, READ_AFTER, RETURNED_TWICE, SWAPPED, USES } use;

static joist_value_id put_at(struct joist_program *body, joist_op op, joist_value_id x,
                             joist_value_id at, joist_value_id value) {
  joist_value_id result = 0;
  CHECK(add(body, joist_rules_at(0), op, (joist_value_id[]){x, at, value}, 3, &no_attributes,
            &result));
  return result;
}

static struct joist_program *putting_body(use how) {
  struct joist_program *const body = new_program();
  const joist_value_id turn = add_input(body, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(body, JOIST_F64, 1, (uint32_t[]){N});
  const joist_value_id y = add_input(body, JOIST_F64, 1, (uint32_t[]){N});
  const joist_value_id c = add_input(body, JOIST_F64, 0, NULL);
  const joist_value_id h = add_simple(body, JOIST_OP_ADD, c, c);
  joist_value_id z = put_at(body, how == ADDED ? JOIST_OP_SCATTER_ADD : JOIST_OP_PUT, x, turn, h);
  if (how == PUT_TWICE) z = put_at(body, JOIST_OP_SCATTER_ADD, z, turn, c);
  const joist_value_id last = how == READ_AFTER ? add_simple(body, JOIST_OP_ADD, x, z) : y;
  add_output(body, how == SWAPPED ? y : z);
  add_output(body, how == RETURNED_TWICE || how == SWAPPED ? z : last);
  return body;
}

static void put_in_c(use how, int64_t turns, double c, double *x, double *y) {
  for (int64_t turn = 1; turn <= turns; turn++) {
    double z[N], last[N];
    for (int e = 0; e < N; e++) z[e] = x[e];
    z[turn] = how == ADDED ? x[turn] + (c + c) : c + c;
    if (how == PUT_TWICE) z[turn] += c;
    for (int e = 0; e < N; e++) last[e] = how == READ_AFTER ? x[e] + z[e] : y[e];
    for (int e = 0; e < N; e++) {
      const double swapped = y[e];
      y[e] = how == RETURNED_TWICE || how == SWAPPED ? z[e] : last[e];
      x[e] = how == SWAPPED ? swapped : z[e];
    }
  }
}

/* A loop over the body of `how`, of which x, or x twice, is the start of the carries. */
static void check_puts(use how, bool same_start) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id n = add_input(&program, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(&program, JOIST_F64, 1, (uint32_t[]){N});
  const joist_value_id y = add_input(&program, JOIST_F64, 1, (uint32_t[]){N});
  const joist_value_id c = add_input(&program, JOIST_F64, 0, NULL);
  joist_value_id result = 0;
  CHECK_INT(add_op(&program, JOIST_OP_FOR, (joist_value_id[]){n, x, same_start ? x : y, c}, 4,
                   &no_attributes, putting_body(how), NULL, &result, NULL),
            JOIST_OK);
  add_output(&program, result);
  add_output(&program, result + 1);
  struct joist_plan *plan = NULL;
  struct joist_error error;
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  for (uint32_t k = 0; plan != NULL && k < 2; k++)
    CHECK_INT(joist_carry_is_in_place(plan->bodies[0], &program.instructions[0], k),
              k == 0 && how <= ADDED);
  const struct joist_run once = {.threads = 1};
  for (int64_t turns = 0; turns < N; turns++) {
    const double start_x[N] = {1, 2, 3, 4, 5, 6}, start_y[N] = {-1, -2, -3, -4, -5, -6}, add = 0.5;
    double in_x[N], in_y[N], x_in_c[N], y_in_c[N], out[2][N];
    memcpy(in_x, start_x, sizeof in_x);
    memcpy(in_y, start_y, sizeof in_y);
    memcpy(x_in_c, start_x, sizeof x_in_c);
    memcpy(y_in_c, same_start ? start_x : start_y, sizeof y_in_c);
    put_in_c(how, turns, add, x_in_c, y_in_c);
    CHECK_INT(joist_plan_run(plan, (const void *[]){&turns, in_x, in_y, &add},
                             (void *[]){out[0], out[1]}, &once, &error),
              JOIST_OK);
    CHECK(memcmp(out[0], x_in_c, sizeof x_in_c) == 0);
    CHECK(memcmp(out[1], y_in_c, sizeof y_in_c) == 0);
    CHECK(memcmp(in_x, start_x, sizeof in_x) == 0 && memcmp(in_y, start_y, sizeof in_y) == 0);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
}

static void test_puts(void) {
  for (int how = 0; how < USES; how++)
    for (int same_start = 0; same_start < 2; same_start++) check_puts((use)how, same_start == 1);
}

/* ---- while: x is doubled while it is less than a capture ---- */

static struct joist_program *below(void) {
  struct joist_program *const condition = new_program();
  const joist_value_id x = add_input(condition, JOIST_F64, 0, NULL);
  const joist_value_id bound = add_input(condition, JOIST_F64, 0, NULL);
  add_output(condition, add_simple(condition, JOIST_OP_LT, x, bound));
  return condition;
}

static struct joist_program *doubling(void) {
  struct joist_program *const body = new_program();
  const joist_value_id x = add_input(body, JOIST_F64, 0, NULL);
  add_output(body, add_simple(body, JOIST_OP_ADD, x, x));
  return body;
}

static bool stop_third(void *count) { return ++*(int *)count == 3; }

static void test_while(void) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F64, 0, NULL);
  const joist_value_id bound = add_input(&program, JOIST_F64, 0, NULL);
  joist_value_id result = 0;
  CHECK_INT(add_op(&program, JOIST_OP_WHILE, (joist_value_id[]){x, bound}, 2, &no_attributes,
                   below(), doubling(), &result, NULL),
            JOIST_OK);
  add_output(&program, result);
  const double starts[] = {1, 5, 8, 3, 0.0625};
  for (int k = 0; k < 5; k++) {
    const double most = 8;
    double want = starts[k], out = 0;
    while (want < most) want *= 2;
    CHECK_INT(run(&program, (const void *[]){&starts[k], &most}, (void *[]){&out}), JOIST_OK);
    CHECK(out == want);
  }
  /* 0 stays 0: only a poll ends it. */
  const double zero = 0, one = 1;
  double out;
  int polls = 0;
  const struct joist_run how = {.threads = 1, .poll = stop_third, .context = &polls};
  struct joist_error error;
  CHECK_INT(run_with(&program, (const void *[]){&zero, &one}, (void *[]){&out}, &how, &error),
            JOIST_INTERRUPTED);
  CHECK_INT(polls, 3);
  joist_program_clear(&program);
}

/* ---- scan: running sums of columns, from either end ---- */

/* Its results are the last sums, all sums, and the columns. */
static joist_value_id add_sums(struct joist_program *program, joist_value_id start,
                               joist_value_id x, joist_value_id zero, bool reverse) {
  struct joist_program *const body = new_program();
  const joist_value_id sum = add_input(body, JOIST_F32, 1, (uint32_t[]){2});
  const joist_value_id column = add_input(body, JOIST_F32, 1, (uint32_t[]){2});
  const joist_value_id total = add_simple(body, JOIST_OP_REDUCE_SUM, column, column);
  const joist_value_id nothing = add_input(body, JOIST_F32, 1, (uint32_t[]){2});
  const joist_value_id next = add_simple(
      body, JOIST_OP_ADD, sum,
      add_simple(body, JOIST_OP_ADD, column, add_simple(body, JOIST_OP_MUL, total, nothing)));
  add_output(body, next);
  add_output(body, next);
  add_output(body, column);
  const struct joist_attributes attributes =
      with(with(no_attributes, JOIST_ATTRIBUTE_CARRIES, 1), JOIST_ATTRIBUTE_REVERSE, reverse);
  joist_value_id result = 0;
  CHECK_INT(add_op(program, JOIST_OP_SCAN, (joist_value_id[]){start, x, zero}, 3, &attributes, body,
                   NULL, &result, NULL),
            JOIST_OK);
  return result;
}

/* The program's inputs: where sums start, columns, zeros. */
static joist_value_id make_sums(struct joist_program *program, bool reverse, uint32_t turns) {
  joist_program_init(program);
  const joist_value_id start = add_input(program, JOIST_F32, 1, (uint32_t[]){2});
  const joist_value_id x = add_input(program, JOIST_F32, 2, (uint32_t[]){2, turns});
  const joist_value_id zero = add_input(program, JOIST_F32, 1, (uint32_t[]){2});
  return add_sums(program, start, x, zero, reverse);
}

static void check_scan(bool reverse, uint32_t turns) {
  struct joist_program program;
  const joist_value_id result = make_sums(&program, reverse, turns);
  for (joist_value_id k = 0; k < 3; k++) add_output(&program, result + k);
  CHECK_INT(program.values[result + 1].shape.rank, 2);
  CHECK_INT(program.values[result + 1].shape.extent[1], turns);
  const float from[2] = {10, 20}, zeros[2] = {0, 0};
  float in[2][2 * 8], sums[2 * 8], last[2], want[2] = {10, 20};
  for (uint32_t k = 0; k < 2 * turns; k++) in[0][k] = (float)(k * k);
  CHECK_INT(run(&program, (const void *[]){from, in[0], zeros}, (void *[]){last, sums, in[1]}),
            JOIST_OK);
  for (uint32_t turn = 0; turn < turns; turn++) {
    const uint32_t at = reverse ? turns - 1 - turn : turn;
    for (uint32_t e = 0; e < 2; e++) {
      want[e] += in[0][2 * at + e];
      CHECK(sums[2 * at + e] == want[e]);
    }
  }
  CHECK(last[0] == want[0] && last[1] == want[1]);
  CHECK(memcmp(in[0], in[1], 2 * turns * sizeof(float)) == 0);
  joist_program_clear(&program);
}

/* ---- if: a branch that would fail is not run ---- */

static void test_if(void) {
  struct joist_program program, *const yes = new_program(), *const no = new_program();
  const joist_value_id a = add_input(yes, JOIST_I32, 1, (uint32_t[]){2});
  const joist_value_id b = add_input(yes, JOIST_I32, 1, (uint32_t[]){2});
  add_output(yes, add_simple(yes, JOIST_OP_FLOORDIV, a, b));
  add_output(no, add_input(no, JOIST_I32, 1, (uint32_t[]){2}));
  joist_program_init(&program);
  const joist_value_id p = add_input(&program, JOIST_BOOL, 0, NULL);
  const joist_value_id x = add_input(&program, JOIST_I32, 1, (uint32_t[]){2});
  const joist_value_id y = add_input(&program, JOIST_I32, 1, (uint32_t[]){2});
  joist_value_id result = 0;
  CHECK_INT(add_op(&program, JOIST_OP_IF, (joist_value_id[]){p, x, y, x}, 4, &no_attributes, yes,
                   no, &result, NULL),
            JOIST_OK);
  add_output(&program, result);
  const uint8_t holds = 1, fails = 0;
  const int32_t in[2] = {9, 14}, two[2] = {2, 3}, zero[2] = {1, 0};
  int32_t out[2];
  CHECK_INT(run(&program, (const void *[]){&holds, in, two}, (void *[]){out}), JOIST_OK);
  CHECK(out[0] == 4 && out[1] == 4);
  CHECK_INT(run(&program, (const void *[]){&fails, in, zero}, (void *[]){out}), JOIST_OK);
  CHECK(out[0] == 9 && out[1] == 14);
  const struct joist_run how = {.threads = 1};
  struct joist_error error;
  CHECK_ERROR(run_with(&program, (const void *[]){&holds, in, zero}, (void *[]){out}, &how, &error),
              error, JOIST_E_DIVISION_BY_ZERO);
  CHECK_INT(error.position, 2);
  joist_program_clear(&program);
}

/* ---- copies ---- */

/* A loop within the copy of a body runs as in the original. */
static void test_inline(void) {
  struct joist_program outer, copy;
  make_for(&outer);
  joist_program_init(&copy);
  const joist_value_id inputs[] = {add_input(&copy, JOIST_I64, 0, NULL),
                                   add_input(&copy, JOIST_I32, 1, (uint32_t[]){3}),
                                   add_input(&copy, JOIST_I32, 0, NULL)};
  joist_value_id outputs[3];
  CHECK_INT(joist_program_inline(&copy, &outer, inputs, outputs, NULL), JOIST_OK);
  for (int k = 0; k < 3; k++) add_output(&copy, outputs[k]);
  const int64_t n = 5;
  const int32_t x[3] = {4, 5, 6}, c = -3;
  int32_t want[3][3], got[3][3];
  CHECK_INT(run(&outer, (const void *[]){&n, x, &c}, (void *[]){want[0], want[1], want[2]}),
            JOIST_OK);
  joist_program_clear(&outer); /* nothing of it is shared */
  CHECK_INT(run(&copy, (const void *[]){&n, x, &c}, (void *[]){got[0], got[1], got[2]}), JOIST_OK);
  CHECK(memcmp(want, got, sizeof want) == 0);
  joist_program_clear(&copy);
}

/* Unused parts are not copied: of two scans one, without its sums. */
static void test_needed(void) {
  struct joist_program from, copy;
  const joist_value_id result = make_sums(&from, false, 4);
  const joist_value_id other = add_sums(&from, 0, 1, 2, true);
  const joist_value_id doubled = add_simple(&from, JOIST_OP_ADD, result, result);
  joist_program_init(&copy);
  joist_value_id values[16], wanted[] = {doubled, result + 2};
  bool needed[16];
  for (int v = 0; v < 16; v++) values[v] = JOIST_NO_VALUE;
  values[0] = add_input(&copy, JOIST_F32, 1, (uint32_t[]){2});
  values[1] = add_input(&copy, JOIST_F32, 2, (uint32_t[]){2, 4});
  values[2] = add_input(&copy, JOIST_F32, 1, (uint32_t[]){2});
  joist_program_needs(&from, values, wanted, 2, needed);
  CHECK(needed[result] && !needed[result + 1] && needed[result + 2] && !needed[other]);
  CHECK_INT(joist_program_copy_needed(&copy, &from, needed, values, NULL), JOIST_OK);
  CHECK_INT(copy.instruction_count, 2);
  CHECK_INT(copy.instructions[0].result_count, 2);
  CHECK(values[result + 1] == JOIST_NO_VALUE && values[other] == JOIST_NO_VALUE);
  joist_program_clear(&from); /* nothing of it is shared */
  for (int k = 0; k < 2; k++) add_output(&copy, values[wanted[k]]);
  const float start[2] = {1, 2}, x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, zeros[2] = {0, 0};
  float sums[2], columns[8];
  CHECK_INT(run(&copy, (const void *[]){start, x, zeros}, (void *[]){sums, columns}), JOIST_OK);
  CHECK(sums[0] == 34 && sums[1] == 44);
  CHECK(memcmp(columns, x, sizeof x) == 0);
  /* Nothing is needed of what is known. */
  joist_value_id known[16];
  for (uint32_t v = 0; v < 16; v++) known[v] = v;
  joist_program_needs(&copy, known, copy.outputs, 2, needed);
  CHECK(needed[copy.outputs[0]] && !needed[0]);
  joist_program_clear(&copy);
}

/* A loop in the place of an earlier one that gives a part of its results. */
static void test_replace(void) {
  struct joist_program program, other;
  struct joist_error error;
  bool done;
  const joist_value_id first = make_sums(&program, false, 3);
  const joist_value_id doubled = add_simple(&program, JOIST_OP_ADD, first, first);
  add_output(&program, doubled);
  add_output(&program, first + 1);
  const joist_value_id second = add_sums(&program, 0, 1, 2, false);
  CHECK_INT(joist_program_replace(&program, 0, &done, &error), JOIST_OK);
  CHECK(done);
  CHECK_INT(program.instruction_count, 2);
  CHECK_INT(program.instructions[0].result, second);
  CHECK_INT(program.instructions[1].operand[0], second);
  CHECK_INT(program.values[second + 2].instruction, 0);
  CHECK_INT(program.outputs[1], second + 1);
  const float start[2] = {1, 2}, x[6] = {1, 2, 3, 4, 5, 6}, zeros[2] = {0, 0};
  float twice[2], sums[6];
  CHECK_INT(run(&program, (const void *[]){start, x, zeros}, (void *[]){twice, sums}), JOIST_OK);
  CHECK(twice[0] == 20 && twice[1] == 28 && sums[0] == 2 && sums[5] == 14);
  /* Not in the place of what its operands are computed from, nor of what gives something else. */
  add_sums(&program, doubled, 1, 2, false);
  CHECK_INT(joist_program_replace(&program, 0, &done, &error), JOIST_OK);
  CHECK(!done);
  CHECK_INT(program.instruction_count, 3);
  joist_program_clear(&program);
  make_for(&other);
  const joist_value_id columns = add_input(&other, JOIST_F32, 2, (uint32_t[]){2, 3});
  const joist_value_id zero = add_input(&other, JOIST_F32, 1, (uint32_t[]){2});
  add_sums(&other, zero, columns, zero, false);
  CHECK_INT(joist_program_replace(&other, 1, &done, &error), JOIST_OK);
  CHECK(!done);
  joist_program_clear(&other);
}

/* ---- prints: their order, whether anything reads what prints, and what comes before an error ----
 */

struct shown {
  int count, stop_at;
  int64_t label[16];
  int32_t value[16];
};

static bool note(void *context, const struct joist_call *call) {
  struct shown *const shown = context;
  if (!CHECK(shown->count < 16)) return true;
  shown->label[shown->count] =
      joist_attribute_value(joist_call_attributes(call), JOIST_ATTRIBUTE_LABEL);
  memcpy(&shown->value[shown->count], call->in[0], sizeof(int32_t));
  return ++shown->count == shown->stop_at;
}

static void add_print(struct joist_program *program, joist_value_id value, int64_t label) {
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_LABEL, label);
  joist_value_id unused;
  CHECK(add(program, joist_rules_at(0), JOIST_OP_PRINT, &value, 1, &attributes, &unused));
}

/* x is printed, and what may fail; a loop that nothing reads prints its iterations; x again. */
static void make_prints(struct joist_program *program) {
  struct joist_program *const body = new_program();
  const joist_value_id turn = add_input(body, JOIST_I32, 0, NULL);
  const joist_value_id carry = add_input(body, JOIST_I32, 0, NULL);
  add_print(body, turn, 3);
  add_output(body, carry);
  joist_program_init(program);
  const joist_value_id n = add_input(program, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(program, JOIST_I32, 0, NULL);
  const joist_value_id y = add_input(program, JOIST_I32, 0, NULL);
  joist_value_id result = 0;
  add_print(program, x, 1);
  const joist_value_id rest = add_simple(program, JOIST_OP_MOD, x, y);
  add_print(program, add_simple(program, JOIST_OP_ADD, rest, rest), 2);
  CHECK_INT(add_op(program, JOIST_OP_FOR, (joist_value_id[]){n, x}, 2, &no_attributes, body, NULL,
                   &result, NULL),
            JOIST_OK);
  add_print(program, x, 1);
  add_output(program, add_simple(program, JOIST_OP_ADD, x, x));
}

static void test_prints(void) {
  struct joist_program program, copy;
  make_prints(&program);
  const int64_t n = 3;
  const int32_t x = 7, y = 4, zero = 0;
  int32_t out;
  static const int64_t labels[] = {1, 2, 3, 3, 3, 1};
  static const int32_t values[] = {7, 6, 1, 2, 3, 7};
  struct joist_error error;
  for (int stop_at = 0; stop_at <= 6; stop_at++) {
    struct shown shown = {.stop_at = stop_at};
    const struct joist_run how = {.threads = 1, .print = note, .context = &shown};
    CHECK_INT(run_with(&program, (const void *[]){&n, &x, &y}, (void *[]){&out}, &how, &error),
              stop_at > 0 ? JOIST_INTERRUPTED : JOIST_OK);
    CHECK_INT(shown.count, stop_at > 0 ? stop_at : 6);
    for (int k = 0; k < shown.count; k++) {
      CHECK_INT(shown.label[k], labels[k]);
      CHECK_INT(shown.value[k], values[k]);
    }
    if (stop_at == 0) CHECK_INT(out, 14);
  }
  struct shown shown = {.count = 0};
  const struct joist_run how = {.threads = 1, .print = note, .context = &shown};
  CHECK_INT(run_with(&program, (const void *[]){&n, &x, &zero}, (void *[]){&out}, &how, &error),
            JOIST_ERROR_VALUE);
  CHECK_INT(shown.count, 1);
  CHECK_INT(shown.value[0], 7);
  CHECK_INT(run(&program, (const void *[]){&n, &x, &y}, (void *[]){&out}), JOIST_OK);

  /* Copies do not print. */
  joist_program_init(&copy);
  const joist_value_id inputs[] = {add_input(&copy, JOIST_I64, 0, NULL),
                                   add_input(&copy, JOIST_I32, 0, NULL),
                                   add_input(&copy, JOIST_I32, 0, NULL)};
  joist_value_id output;
  CHECK_INT(joist_program_inline(&copy, &program, inputs, &output, NULL), JOIST_OK);
  add_output(&copy, output);
  shown.count = 0;
  CHECK_INT(run_with(&copy, (const void *[]){&n, &x, &y}, (void *[]){&out}, &how, &error),
            JOIST_OK);
  CHECK_INT(shown.count, 0);
  CHECK_INT(out, 14);
  joist_program_clear(&copy);
  joist_program_clear(&program);
}

/* ---- what does not fit ---- */

static void test_misfits(void) {
  struct joist_program program;
  struct joist_error error;
  joist_value_id result;
  joist_program_init(&program);
  const joist_value_id n = add_input(&program, JOIST_I64, 0, NULL);
  const joist_value_id x = add_input(&program, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id c = add_input(&program, JOIST_I32, 0, NULL);
  const joist_value_id f = add_input(&program, JOIST_F64, 0, NULL);
  const joist_value_id wrong[][4] = {{c, x, x, c}, {x, x, x, c}, {n, c, x, c},
                                     {n, x, f, c}, {n, x, x, x}, {n, x, x, f}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    CHECK_ERROR(add_op(&program, JOIST_OP_FOR, wrong[k], 4, &no_attributes, swapping_body(), NULL,
                       &result, &error),
                error, JOIST_E_BODY);
  CHECK_ERROR(add_op(&program, JOIST_OP_FOR, wrong[0], 3, &no_attributes, swapping_body(), NULL,
                     &result, &error),
              error, JOIST_E_BODY);
  CHECK_ERROR(add_op(&program, JOIST_OP_WHILE, (joist_value_id[]){f, c}, 2, &no_attributes, below(),
                     doubling(), &result, &error),
              error, JOIST_E_BODY);
  CHECK_ERROR(add_op(&program, JOIST_OP_WHILE, (joist_value_id[]){f}, 1, &no_attributes, doubling(),
                     doubling(), &result, &error),
              error, JOIST_E_BODY);
  const struct joist_attributes one = with(no_attributes, JOIST_ATTRIBUTE_CARRIES, 1);
  CHECK_ERROR(add_op(&program, JOIST_OP_SCAN, (joist_value_id[]){f}, 1, &one, doubling(), NULL,
                     &result, &error),
              error, JOIST_E_BODY);
  struct joist_inference inference;
  CHECK_ERROR(
      infer(&program, joist_rules_at(0), JOIST_OP_WHILE, &f, 1, &no_attributes, &inference, &error),
      error, JOIST_E_BODY);
  CHECK_INT(program.instruction_count, 0);
  joist_program_clear(&program);
}

/* ---- what need not be watched ---- */

static void watch_all(struct joist_program *program) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    struct joist_instruction *const i = &program->instructions[k];
    i->watch = JOIST_WATCH_OVERFLOW | JOIST_WATCH_LOSS;
    for (uint32_t r = 0; r < i->region_count; r++) watch_all(i->regions[r]);
  }
}

/* The copy is not watched for what was found, and is for all else; so is the program it is of. */
static void test_unwatched(void) {
  enum { BOTH = JOIST_WATCH_OVERFLOW | JOIST_WATCH_LOSS };
  struct joist_program program;
  struct joist_arena arena = {0};
  make_for(&program);
  watch_all(&program);
  const struct joist_program *const body = program.instructions[1].regions[0];
  const struct joist_finding findings[] = {
      {&program, 0, JOIST_FOUND_OVERFLOW, 1, 0},
      {body, 0, JOIST_FOUND_LOSS, 1, 0},
      {body, 1, JOIST_FOUND_OVERFLOW, 1, 0},
      {&program, 2, JOIST_FOUND_BEYOND, 1, 0},
  };
  const struct joist_program *const copy =
      joist_program_unwatched(&program, findings, sizeof findings / sizeof *findings, &arena);
  if (copy == NULL) abort();
  const struct joist_program *const own = copy->instructions[1].regions[0];
  CHECK(own != body && own->instructions != body->instructions);
  CHECK_INT(copy->instructions[0].watch, JOIST_WATCH_LOSS);
  CHECK_INT(copy->instructions[1].watch, BOTH);
  CHECK_INT(copy->instructions[2].watch, BOTH);
  CHECK_INT(own->instructions[0].watch, JOIST_WATCH_OVERFLOW);
  CHECK_INT(own->instructions[1].watch, JOIST_WATCH_LOSS);
  for (uint32_t k = 0; k < program.instruction_count; k++)
    CHECK_INT(program.instructions[k].watch, BOTH);
  for (uint32_t k = 0; k < body->instruction_count; k++)
    CHECK_INT(body->instructions[k].watch, BOTH);

  /* INT32_MAX + INT32_MAX is not counted, INT32_MAX + 1 in the body is. */
  const int64_t n = 1;
  const int32_t x[3] = {INT32_MAX, 1, INT32_MIN}, c = 7;
  const void *const inputs[] = {&n, x, &c};
  int32_t got[3][3], want[3][3];
  void *const outputs[] = {got[0], got[1], got[2]}, *const wanted[] = {want[0], want[1], want[2]};
  struct joist_tally tally, all;
  const struct joist_run unwatched = {.threads = 1, .tally = &tally};
  const struct joist_run watched = {.threads = 1, .tally = &all};
  joist_tally_init(&tally, false);
  joist_tally_init(&all, false);
  CHECK_INT(run_with(copy, inputs, outputs, &unwatched, NULL), JOIST_OK);
  CHECK_INT(run_with(&program, inputs, wanted, &watched, NULL), JOIST_OK);
  CHECK(memcmp(got, want, sizeof want) == 0);
  CHECK(joist_tally_has(&all, &program, 0, JOIST_FOUND_OVERFLOW, 0));
  CHECK(!joist_tally_has(&tally, copy, 0, JOIST_FOUND_OVERFLOW, 2));
  CHECK(joist_tally_has(&tally, own, 0, JOIST_FOUND_OVERFLOW, 0));
  joist_arena_clear(&arena);
  joist_program_clear(&program);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_for();
  test_puts();
  test_while();
  for (uint32_t turns = 0; turns < 6; turns++) {
    check_scan(false, turns);
    check_scan(true, turns);
  }
  test_if();
  test_inline();
  test_needed();
  test_replace();
  test_prints();
  test_misfits();
  test_unwatched();
  return check_report("regions");
}
