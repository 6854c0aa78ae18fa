/* Functions of f16 and bf16 that use tables, in every instruction set: all 65,536 values, and
 * chains of operations, give the same bits as computing in f32 without a table. */
#include "core/kernels/half_tables.h"
#include "core/plan/groups.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rules.h"
#include "sets.h"
#include "single.h"

enum { VALUES = 1 << 16, MORE = 37, N = VALUES + MORE, HALF = VALUES / 2 };

static uint16_t all[N];

/* `count` elements from `first` on, as a program of their own. */
static uint16_t *run_part(joist_op op, joist_dtype dtype, size_t first, size_t count, int threads) {
  struct single s;
  struct joist_shape shape = {.rank = 1, .extent = {(uint32_t)count}};
  if (begin_single(&s, op, dtype, &shape, &no_attributes) != JOIST_OK) return NULL;
  joist_status status;
  uint16_t *const out =
      s.to == dtype ? run_output(&s.program, (const void *[]){all + first}, threads, &status)
                    : NULL;
  end_single(&s);
  return out;
}

static bool is_looked_up(joist_op op) {
  return joist_operation(op)->most == 1 && joist_op_accuracy(op).f32 > 0;
}

static void check_op(const char *set, joist_op op, joist_dtype dtype) {
  joist_kernel *const computing = joist_half_kernel_find(op, dtype, VALUES - 1);
  CHECK_MSG((computing != NULL) == is_looked_up(op), "%s", joist_op_name(op));
  CHECK_MSG(computing == NULL || computing != joist_half_kernel_find(op, dtype, VALUES),
            "%s has a table", joist_op_name(op));
  uint16_t *const low = run_part(op, dtype, 0, HALF, 1);
  uint16_t *const high = run_part(op, dtype, HALF, HALF, 1);
  if (low == NULL || high == NULL) return;
  for (int threads = 1; threads <= 3; threads += 2) {
    uint16_t *const out = run_part(op, dtype, 0, N, threads);
    for (size_t k = 0; k < N; k++) {
      const uint16_t want = all[k] < HALF ? low[all[k]] : high[all[k] - HALF];
      CHECK_MSG(out[k] == want, "%s %s of %s 0x%04x: want 0x%04x, got 0x%04x", set,
                joist_op_name(op), joist_dtype_name(dtype), (unsigned)all[k], (unsigned)want,
                (unsigned)out[k]);
    }
    free(out);
  }
  joist_kernel *const kernel = joist_half_kernel_find(op, dtype, 1);
  CHECK_MSG(kernel == NULL || kernel != computing, "%s has no table", joist_op_name(op));
  for (size_t n = 0; kernel != NULL && n < 10; n++) {
    uint16_t some[10];
    memset(some, 0xab, sizeof some);
    CHECK_INT(kernel(n, (const void *[]){all + 15000}, some), n);
    CHECK(memcmp(some, low + 15000, n * sizeof *some) == 0);
    for (size_t k = n; k < 10; k++) CHECK_INT(some[k], 0xabab);
  }
  free(low);
  free(high);
}

/* log1p(-tanh(x)) as one program, with tables and without. */
static uint16_t *run_chain(joist_dtype dtype, size_t first, size_t count) {
  struct joist_program program;
  joist_program_init(&program);
  joist_value_id value = add_input(&program, dtype, 1, (const uint32_t[]){(uint32_t)count});
  value = add_simple(&program, JOIST_OP_TANH, value, value);
  value = add_simple(&program, JOIST_OP_NEGATE, value, value);
  value = add_simple(&program, JOIST_OP_LOG1P, value, value);
  add_output(&program, value);
  joist_status status;
  uint16_t *const out = run_output(&program, (const void *[]){all + first}, 2, &status);
  CHECK_INT(status, JOIST_OK);
  joist_program_clear(&program);
  return out;
}

static void check_chain(joist_dtype dtype) {
  uint16_t *const low = run_chain(dtype, 0, HALF), *const high = run_chain(dtype, HALF, HALF);
  uint16_t *const whole = run_chain(dtype, 0, VALUES);
  CHECK(memcmp(whole, low, HALF * sizeof *low) == 0);
  CHECK(memcmp(whole + HALF, high, HALF * sizeof *high) == 0);
  free(low);
  free(high);
  free(whole);
}

static bool same_ref(struct joist_ref a, struct joist_ref b) {
  return a.array == b.array && a.index == b.index && a.size == b.size && a.dtype == b.dtype;
}

/* By members: the bytes between them are anything. */
static void check_same_step(const struct joist_step *a, const struct joist_step *b) {
  CHECK(a->kind == b->kind && a->through == b->through && a->leaves == b->leaves);
  CHECK(a->instruction == b->instruction && same_ref(a->out, b->out));
  CHECK_INT(a->operand_count, b->operand_count);
  for (uint32_t k = 0; k < a->operand_count; k++) CHECK(same_ref(a->in[k], b->in[k]));
  for (int k = 0; k < 3; k++) CHECK(a->bound[k] == NULL && b->bound[k] == NULL);
}

/* A plan does not depend on what has run before. */
static void check_plan(void) {
  struct single s;
  const struct joist_shape shape = {.rank = 1, .extent = {MORE}};
  struct joist_plan *plans[2] = {NULL};
  CHECK_INT(begin_single(&s, JOIST_OP_EXP, JOIST_F16, &shape, &no_attributes), JOIST_OK);
  for (int k = 0; k < 2; k++) {
    CHECK_INT(joist_plan_make(&s.program, &plans[k], NULL), JOIST_OK);
    if (k == 0) free(run_part(JOIST_OP_EXP, JOIST_F16, 0, VALUES, 1));
  }
  CHECK_INT(plans[0]->step_count, 1);
  check_same_step(&plans[0]->steps[0], &plans[1]->steps[0]);
  for (int k = 0; k < 2; k++) joist_plan_free(plans[k]);
  end_single(&s);
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  use_rules();
  for (size_t k = 0; k < N; k++) all[k] = (uint16_t)k;
  for (int k = 0; k < count; k++) {
    CHECK(joist_kernels_select(sets[k]));
    joist_half_tables_forget();
    check_chain(JOIST_F16);
    check_chain(JOIST_BF16);
    joist_half_tables_forget();
    for (int op = 0; op < JOIST_OP_COUNT; op++) {
      if (joist_operation((joist_op)op)->family != JOIST_FAMILY_ELEMENTWISE ||
          joist_operation((joist_op)op)->most != 1)
        continue;
      check_op(sets[k], (joist_op)op, JOIST_F16);
      check_op(sets[k], (joist_op)op, JOIST_BF16);
    }
  }
  joist_half_tables_forget();
  check_plan();
  joist_half_tables_forget();
  CHECK(joist_half_kernel_find(JOIST_OP_ADD, JOIST_F16, N) == NULL);
  CHECK(joist_half_kernel_find(JOIST_OP_EXP, JOIST_F32, N) == NULL);
  return check_report("half_tables");
}
