/* The engine: random programs against the interpreter, for 1, 2 and 3 threads;
 * sizes around tiles and blocks; failures and interrupts; what a plan fuses. */
#include "random_programs.h"
#include "rules.h"

/* ---- running and comparing ---- */

static int programs_printed;
static struct { long compared, failing, mixed, scalars, iotas; } seen;

/* Runs the program with 1, 2 and 3 threads, and with results written past the caches: the same
 * bits, and those of the interpreter. */
static void check_program(const struct joist_program *program, fill_kind kind, const char *what) {
  enum { RUNS = 4, STREAMED = 3, LINE = 64 };
  void *inputs[VALUES_MAX] = {NULL}, *outputs[RUNS][OUTPUTS_MAX];
  char *got[VALUES_MAX] = {NULL};
  struct joist_plan *plan = NULL;
  struct joist_error errors[RUNS] = {0};
  joist_status status[RUNS];
  const long failed_before = check_failed_count;
  make_inputs(program, kind, inputs);
  if (!CHECK_INT(joist_plan_make(program, &plan, NULL), JOIST_OK)) return;
  for (int r = 0; r < RUNS; r++) {
    for (uint32_t k = 0; k < program->output_count; k++) {
      const size_t bytes = bytes_of(program, program->outputs[k]);
      outputs[r][k] = aligned_alloc(LINE, (bytes + 8 + LINE - 1) / LINE * LINE);
      if (outputs[r][k] != NULL) memset(outputs[r][k], 0x5a + r, bytes + 8);
    }
    const struct joist_run run = {.threads = r == STREAMED ? 2 : r + 1,
                                  .parallel_from = 1024,
                                  .stream_from = r == STREAMED ? 1 : SIZE_MAX};
    status[r] = joist_plan_run(plan, (const void *const *)inputs, outputs[r], &run, &errors[r]);
    for (uint32_t k = 0; k < program->output_count; k++) {
      const size_t bytes = bytes_of(program, program->outputs[k]);
      const unsigned char *const end = (unsigned char *)outputs[r][k] + bytes;
      bool clean = true;
      for (int b = 0; b < 8; b++) clean &= end[b] == 0x5a + r;
      CHECK_MSG(clean, "%s: output %u is written past its end", what, k);
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) got[program->outputs[k]] = outputs[0][k];
  struct interpreter in;
  interpreter_init(&in, program, (const void *const *)inputs);
  interpreter_run(&in, status[0] == JOIST_OK ? got : NULL);
  for (int r = 1; r < RUNS; r++) {
    CHECK_MSG(status[r] == status[0], "%s: status %d in run %d, %d in run 0", what, (int)status[r],
              r, (int)status[0]);
    CHECK_STR(words(&errors[r]), words(&errors[0]));
  }
  if (status[0] != JOIST_OK) {
    seen.failing++;
    CHECK_MSG(status[0] == JOIST_ERROR_VALUE && error_fits(&in, &errors[0]), "%s: status %d: %s",
              what, (int)status[0], words(&errors[0]));
  } else {
    CHECK_MSG(in.failure_count == 0, "%s: nv_%s() should fail", what,
              joist_op_name(in.failures[0].op));
    for (uint32_t k = 0; k < program->output_count; k++) {
      const joist_value_id v = program->outputs[k];
      const size_t n = in.count[v], bytes = interpreter_bytes(&in, v);
      const joist_dtype dtype = program->values[v].type.dtype;
      const size_t at = first_difference(dtype, n, outputs[0][k], in.array[v]);
      char mine[64], other[64];
      const size_t byte = at * joist_dtype_size(dtype);
      CHECK_MSG(at == n, "%s: output %u (%%%u, %s), element %zu of %zu: %s, want %s", what, k, v,
                joist_dtype_name(dtype), at, n,
                at == n ? "" : element_text(dtype, (char *)outputs[0][k] + byte, mine),
                at == n ? "" : element_text(dtype, in.array[v] + byte, other));
      for (int r = 1; r < RUNS; r++)
        CHECK_MSG(memcmp(outputs[r][k], outputs[0][k], bytes) == 0,
                  "%s: output %u has other bits in run %d", what, k, r);
      seen.compared += (long)n;
    }
  }
  if (check_failed_count > failed_before && programs_printed++ < 3) print_program(program);
  interpreter_clear(&in);
  for (int r = 0; r < RUNS; r++)
    for (uint32_t k = 0; k < program->output_count; k++) free(outputs[r][k]);
  for (uint32_t k = 0; k < program->input_count; k++) free(inputs[k]);
  joist_plan_free(plan);
}

/* ---- random programs ---- */

/* Counts what a test of random programs should have met. */
static void count_instructions(const struct joist_program *program) {
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    seen.iotas += i->op == JOIST_OP_IOTA;
    for (uint32_t a = 1; a < i->operand_count && i->op == JOIST_OP_CONCATENATE; a++) {
      const struct joist_value *const v = &program->values[i->operand[a]];
      seen.mixed += v->type.dtype != program->values[i->operand[0]].type.dtype;
      seen.scalars += v->shape.rank == 0;
    }
  }
}

static void test_random(int programs, struct style style, const char *what) {
  for (int k = 0; k < programs; k++) {
    struct joist_program program;
    char name[64];
    random_program(&program, &style);
    snprintf(name, sizeof name, "%s program %d", what, k);
    count_instructions(&program);
    if (program.output_count <= OUTPUTS_MAX && program.value_count <= VALUES_MAX)
      check_program(&program, (fill_kind)(k % 4 == 3 ? FILL_SMALL : k % 4), name);
    joist_program_clear(&program);
  }
  positions = JOIST_NO_INPUT;
}

/* ---- sizes ---- */

/* f16 * i32 + f64 and its sum: two conversions and a sink, for lengths about a
 * tile. */
static void test_lengths(void) {
  static const uint32_t about[] = {1, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
  for (size_t k = 0; k < sizeof about / sizeof *about; k++)
    for (uint32_t n = about[k] - 1; n <= about[k] + 1; n++) {
      struct joist_program program;
      char name[32];
      joist_program_init(&program);
      const joist_value_id a = add_input(&program, JOIST_F16, 1, &n);
      const joist_value_id b = add_input(&program, JOIST_I32, 1, &n);
      const joist_value_id c = add_input(&program, JOIST_F64, 0, NULL);
      const joist_value_id product = add_simple(&program, JOIST_OP_MUL, a, b);
      const joist_value_id sum = add_simple(&program, JOIST_OP_ADD, product, c);
      const joist_value_id direct = add_simple(&program, JOIST_OP_ADD, b, b);
      add_output(&program, sum);
      add_output(&program, direct);
      add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, sum, sum));
      add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, direct, direct));
      snprintf(name, sizeof name, "length %u", n);
      check_program(&program, FILL_SMALL, name);
      joist_program_clear(&program);
    }
}

/* Broadcasting along every subset of the dims, with extents that cross tiles.
 */
static void test_broadcasts(void) {
  static const uint32_t extents[][4] = {{3, 5, 2, 7}, {700, 3, 11, 2}, {2, 9001, 1, 3},
                                        {1, 1, 4, 5}, {63, 40, 3, 2},  {64, 40, 3, 2}};
  for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
    for (uint32_t mask = 0; mask < 16; mask++) {
      struct joist_program program;
      make_broadcast(&program, extents[k], mask);
      check_program(&program, FILL_BITS, "broadcast");
      joist_program_clear(&program);
    }
}

/* More elements than one block between two polls, without the interpreter,
 * which would be slow. */
static void test_blocks(void) {
  const uint32_t n = (1u << 24) + 12345;
  int8_t *const x = malloc(n), *const y = malloc(n);
  int64_t sums[3];
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error;
  if (!CHECK(x != NULL && y != NULL)) return;
  fill(JOIST_I8, 4096, FILL_BITS, x);
  for (uint32_t i = 4096; i < n; i++) x[i] = x[i % 4093];
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_I8, 1, &n);
  const joist_value_id sum = add_simple(&program, JOIST_OP_ADD, a, a);
  add_output(&program, sum);
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, sum, sum));
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  for (int threads = 1; threads <= 3; threads++) {
    const struct joist_run run = {.threads = threads, .parallel_from = 1};
    int64_t want = 0;
    memset(y, 0x5a, n);
    CHECK_INT(
        joist_plan_run(plan, (const void *[]){x}, (void *[]){y, &sums[threads - 1]}, &run, &error),
        JOIST_OK);
    bool right = true;
    for (uint32_t i = 0; i < n; i++) {
      right &= y[i] == (int8_t)(uint8_t)(2 * x[i]);
      want += y[i];
    }
    CHECK(right);
    CHECK_INT(sums[threads - 1], want);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  free(x);
  free(y);
}

/* ---- failures ---- */

static void check_position(joist_op op, size_t n, int most_threads, const size_t *at,
                           size_t failures) {
  const uint32_t extent = (uint32_t)n;
  int32_t *const a = malloc(n * sizeof *a), *const b = malloc(n * sizeof *b),
                 *const c = aligned_alloc(64, (n * sizeof *c + 63) / 64 * 64);
  struct joist_program program;
  struct joist_plan *plan = NULL;
  size_t first = n;
  if (!CHECK(a != NULL && b != NULL && c != NULL)) return;
  for (size_t i = 0; i < n; i++) a[i] = (int32_t)i, b[i] = 3;
  for (size_t k = 0; k < failures; k++) {
    b[at[k]] = op == JOIST_OP_POW ? -1 : 0;
    if (at[k] < first) first = at[k];
  }
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_I32, 1, &extent);
  const joist_value_id y = add_input(&program, JOIST_I32, 1, &extent);
  add_output(&program, add_simple(&program, op, x, y));
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  for (int threads = 1; threads <= most_threads; threads++) {
    struct joist_error error;
    const struct joist_run run = {
        .threads = threads, .parallel_from = 1, .stream_from = threads % 2 ? SIZE_MAX : 1};
    CHECK_ERROR(joist_plan_run(plan, (const void *[]){a, b}, (void *[]){c}, &run, &error), error,
                op == JOIST_OP_POW ? JOIST_E_NEGATIVE_POWER : JOIST_E_DIVISION_BY_ZERO);
    CHECK_STR(error.op, joist_op_name(op));
    CHECK_MSG(error.position == first + 1, "%d threads: position %zu, want %zu", threads,
              error.position, first + 1);
    CHECK_INT(joist_plan_run(plan, (const void *[]){a, b}, (void *[]){c}, &run, NULL),
              JOIST_ERROR_VALUE);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  free(a);
  free(b);
  free(c);
}

static void test_failures(void) {
  static const joist_op ops[] = {JOIST_OP_FLOORDIV, JOIST_OP_MOD, JOIST_OP_REMAINDER, JOIST_OP_POW};
  for (size_t k = 0; k < 4; k++) {
    check_position(ops[k], 10, 4, (size_t[]){9, 3}, 2);
    check_position(ops[k], 200000, 4, (size_t[]){199999}, 1);
    check_position(ops[k], 200000, 4, (size_t[]){0, 100000, 199999}, 3);
    check_position(ops[k], 200000, 4, (size_t[]){150000, 100001, 60000, 199999}, 4);
    check_position(ops[k], 200000, 4, (size_t[]){16384, 16383, 16385}, 3);
  }
  check_position(JOIST_OP_MOD, ((size_t)1 << 24) + 99999, 2, (size_t[]){(1u << 24) + 50}, 1);
}

struct polls {
  int calls, stop_at;
};

static bool poll_counting(void *context) {
  struct polls *const polls = context;
  return ++polls->calls == polls->stop_at;
}

/* Work that one thread does in one go also polls, and ends at the poll that interrupts it. */
static void check_polled(joist_op op, const struct joist_attributes *attributes, joist_dtype dtype,
                         const void *one, const void *many, uint32_t n) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error;
  struct joist_inference inference;
  joist_value_id operands[2], result = 0;
  const void *in[2] = {one, many};
  int32_t out[4] = {0};
  const bool two = op == JOIST_OP_MATCH;
  joist_program_init(&program);
  if (two) operands[0] = add_input(&program, dtype, 1, (uint32_t[]){1});
  operands[two] = add_input(&program, dtype, 1, &n);
  CHECK_INT(
      infer_and_append(&program, op, operands, 1u + two, attributes, &inference, &result, NULL),
      JOIST_OK);
  add_output(&program, result);
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  struct polls polls = {0, 0};
  const struct joist_run run = {.threads = 1, .poll = poll_counting, .context = &polls};
  CHECK_INT(joist_plan_run(plan, two ? in : in + 1, (void *[]){out}, &run, &error), JOIST_OK);
  const int all = polls.calls;
  CHECK_MSG(all >= (int)(n >> 18), "%s: %d polls", joist_op_name(op), all);
  for (int stop_at = 1; stop_at <= all; stop_at++) {
    polls = (struct polls){0, stop_at};
    CHECK_INT(joist_plan_run(plan, two ? in : in + 1, (void *[]){out}, &run, &error),
              JOIST_INTERRUPTED);
    CHECK_INT(polls.calls, stop_at);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
}

static void test_polls_within(void) {
  enum { MANY = 1 << 20 };
  double *const far = malloc(MANY * sizeof *far);
  int32_t *const close = malloc(MANY * sizeof *close);
  if (!CHECK(far != NULL && close != NULL)) return;
  for (int k = 0; k < MANY; k++) far[k] = ldexp(1 + k, k % 600), close[k] = MANY - k;
  const struct joist_attributes match = with(no_attributes, JOIST_ATTRIBUTE_NOMATCH, 0);
  check_polled(JOIST_OP_MATCH, &match, JOIST_F64, far + 5, far, MANY);
  check_polled(JOIST_OP_MATCH, &match, JOIST_I32, close + 5, close, MANY);
  const struct joist_attributes top =
      with(with(with(no_attributes, JOIST_ATTRIBUTE_DIM, 0), JOIST_ATTRIBUTE_K, 3),
           JOIST_ATTRIBUTE_DECREASING, 1);
  check_polled(JOIST_OP_TOP_K, &top, JOIST_F64, NULL, far, MANY);
  free(far);
  free(close);
}

static void test_interrupt(void) {
  const uint32_t n = (3u << 24) + 5;
  uint8_t *const x = calloc(n, 1), *const y = malloc(n);
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error;
  if (!CHECK(x != NULL && y != NULL)) return;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_UI8, 1, &n);
  add_output(&program, add_simple(&program, JOIST_OP_ADD, a, a));
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  for (int threads = 1; threads <= 2; threads++) {
    struct polls polls = {0, 0};
    struct joist_run run = {
        .threads = threads, .parallel_from = 1, .poll = poll_counting, .context = &polls};
    CHECK_INT(joist_plan_run(plan, (const void *[]){x}, (void *[]){y}, &run, &error), JOIST_OK);
    CHECK(polls.calls >= 2);
    polls = (struct polls){0, 1};
    CHECK_INT(joist_plan_run(plan, (const void *[]){x}, (void *[]){y}, &run, &error),
              JOIST_INTERRUPTED);
    CHECK_INT(polls.calls, 1);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  free(x);
  free(y);
}

/* ---- what a plan does ---- */

static void check_plan(struct joist_program *program, size_t groups, size_t bytes,
                       const char *what) {
  struct joist_plan *plan = NULL;
  if (!CHECK_INT(joist_plan_make(program, &plan, NULL), JOIST_OK)) return;
  CHECK_MSG(joist_plan_group_count(plan) == groups, "%s: %zu groups", what,
            joist_plan_group_count(plan));
  CHECK_MSG(joist_plan_temporary_bytes(plan) == bytes, "%s: %zu bytes of temporaries", what,
            joist_plan_temporary_bytes(plan));
  joist_plan_free(plan);
  check_program(program, FILL_SMALL, what);
  joist_program_clear(program);
}

static void test_plans(void) {
  const uint32_t n = 50000;
  struct joist_program program;
  joist_program_init(&program);
  joist_value_id x = add_input(&program, JOIST_F32, 1, &n);
  joist_value_id y = add_input(&program, JOIST_F16, 1, &n);
  joist_value_id s = add_input(&program, JOIST_I32, 0, NULL);
  joist_value_id z = add_simple(&program, JOIST_OP_MUL, x, y);
  z = add_simple(&program, JOIST_OP_ADD, z, s);
  z = add_simple(&program, JOIST_OP_MAX, z, x);
  z = add_simple(&program, JOIST_OP_NEGATE, z, z);
  add_output(&program, z);
  check_plan(&program, 1, 0, "elementwise");

  joist_program_init(&program);
  x = add_input(&program, JOIST_F32, 1, &n);
  y = add_simple(&program, JOIST_OP_MUL, x, x);
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, y, y));
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_MAX, y, y));
  check_plan(&program, 1, 0, "two sinks");

  /* The sum is needed before its operand is read again: two passes. */
  joist_program_init(&program);
  x = add_input(&program, JOIST_F64, 1, &n);
  y = add_simple(&program, JOIST_OP_MUL, x, x);
  s = add_simple(&program, JOIST_OP_REDUCE_MAX, y, y);
  add_output(&program, add_simple(&program, JOIST_OP_DIV, y, s));
  check_plan(&program, 2, 64, "normalized");

  /* Of three large values, the first is overwritten and the last never has an
   * array. */
  joist_program_init(&program);
  x = add_input(&program, JOIST_F64, 1, &n);
  y = add_simple(&program, JOIST_OP_MUL, x, x);
  s = add_simple(&program, JOIST_OP_REDUCE_MAX, y, y);
  z = add_simple(&program, JOIST_OP_DIV, y, s);
  s = add_simple(&program, JOIST_OP_REDUCE_MIN, z, z);
  z = add_simple(&program, JOIST_OP_SUB, z, s);
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, z, z));
  check_plan(&program, 3, n * sizeof(double) + 64, "overwritten");

  /* A reshaped value is its operand, and that waits in the output. */
  const uint32_t extents[2] = {500, 100};
  joist_program_init(&program);
  x = add_input(&program, JOIST_F32, 2, extents);
  y = add_simple(&program, JOIST_OP_MUL, x, x);
  const struct joist_shape line = {1, {50000}};
  const struct joist_attributes attributes = with_shape(no_attributes, &line);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_RESHAPE, &y, 1, &attributes, &z));
  add_output(&program, add_simple(&program, JOIST_OP_ADD, z, z));
  check_plan(&program, 2, 0, "reshaped");
  joist_program_init(&program);
  x = add_input(&program, JOIST_F32, 2, extents);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_RESHAPE, &x, 1, &attributes, &z));
  y = add_simple(&program, JOIST_OP_MUL, x, x);
  add_output(&program, z);
  add_output(&program, y);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_RESHAPE, &y, 1, &attributes, &z));
  add_output(&program, z);
  check_plan(&program, 1, 0, "reshaped inputs and outputs");

  /* Only inputs and outputs, and nothing at all. */
  joist_program_init(&program);
  x = add_input(&program, JOIST_C64, 1, &n);
  add_output(&program, x);
  add_output(&program, x);
  check_plan(&program, 0, 0, "identity");
  joist_program_init(&program);
  check_plan(&program, 0, 0, "empty");

  /* Dead instructions cost nothing, and do not fail. */
  joist_program_init(&program);
  x = add_input(&program, JOIST_I32, 1, &n);
  y = add_simple(&program, JOIST_OP_SUB, x, x);
  add_simple(&program, JOIST_OP_MOD, x, y);
  add_output(&program, add_simple(&program, JOIST_OP_ADD, x, x));
  check_plan(&program, 1, 0, "dead");
}

/* The id of a result may be written where that of an operand was read. */
static void test_alias(void) {
  for (int k = 0; k < 2; k++) {
    struct joist_program program;
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, JOIST_F32, 0, NULL);
    const joist_value_id y = add_input(&program, JOIST_F32, 0, NULL);
    joist_value_id operands[2] = {x, y};
    CHECK(
        add(&program, joist_rules_at(0), JOIST_OP_SUB, operands, 2, &no_attributes, &operands[k]));
    const struct joist_instruction *const added = &program.instructions[0];
    CHECK_INT(program.instruction_count, 1);
    CHECK_INT(added->operand[0], x);
    CHECK_INT(added->operand[1], y);
    CHECK_INT(added->result, operands[k]);
    joist_program_clear(&program);
  }
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_alias();
  test_plans();
  test_random(20000, (struct style){.elements = 60, .instructions = 12}, "tiny");
  test_random(8000, (struct style){.elements = 300, .zero = true, .instructions = 12}, "zero");
  test_random(8000, (struct style){.elements = 200, .checked = true, .instructions = 8}, "checked");
  test_random(3000, (struct style){.elements = 400, .instructions = 40}, "long");
  test_random(200, (struct style){.elements = 20000, .instructions = 15}, "large");
  test_random(10, (struct style){.elements = 100000, .checked = true, .instructions = 10},
              "larger");
  CHECK(seen.compared > 100000 && seen.failing > 20);
  CHECK_MSG(seen.mixed > 5000 && seen.scalars > 5000 && seen.iotas > 2000,
            "%ld mixed, %ld scalars, %ld iotas", seen.mixed, seen.scalars, seen.iotas);
  test_lengths();
  test_broadcasts();
  test_blocks();
  test_failures();
  test_interrupt();
  test_polls_within();
  return check_report("engine");
}
