/* The CUDA device against the CPU: every operation on every dtype, conversions, broadcasts,
 * reductions, moving elements, random programs, failures.
 *
 * Without a GPU (see host/) everything runs twice: first by the interpreter while the kernels
 * that would be compiled are noted down, then by these. Both must give the same bits. With a
 * GPU (JOIST_TEST_GPU) the two runs are those of the interpreter and of NVRTC's kernels. With the
 * environment variable JOIST_TEST_SHORT set, a part of it: few programs, and the dtypes that it
 * names ("f32,i8"; one of them of more than a byte), or five for "1". Parts can run at once. */
#include "random_programs.h"

#include "core/base/tally.h"
#include "core/device.h"
#include "cuda/codegen/compile.h"
#include "cuda/host/memory.h"
#include "cuda/host/nvrtc.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct joist_device *gpu;

/* Bits of every result of the first run, for the second to compare with. */
enum { RESULTS_MAX = 1 << 20 };
static uint64_t *hashes;
static size_t hash_count, hashes_kept;
static bool second_run;

/* A NaN counts as any other: which one an operation gives, C leaves to the compiler. */
static void remember(joist_dtype dtype, size_t n, const void *elements, const char *what) {
  const joist_dtype real = joist_dtype_real(dtype);
  const size_t size = joist_dtype_size(real), parts = n * joist_dtype_size(dtype) / size;
  const bool has_nan = joist_dtype_kind(real) == JOIST_KIND_FLOAT;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < parts; k++) {
    const char *const part = (const char *)elements + k * size;
    uint64_t bits = 0;
    double value = 0;
    memcpy(&bits, part, size);
    if (has_nan) joist_convert_find_portable(real, JOIST_F64)(1, part, &value);
    /* NaN, of either sign, becomes zero of either sign in a dtype without. */
    if (has_nan && value == 0 && !joist_dtype_has_nan(real)) bits = 0;
    hash = (hash ^ (isnan(value) ? UINT64_C(0x7ff8dead) : bits)) * UINT64_C(0x100000001b3);
  }
  if (hash_count == (second_run ? hashes_kept : RESULTS_MAX)) return;
  if (second_run) {
    CHECK_MSG(hashes[hash_count] == hash, "%s: compiled and interpreted bits differ", what);
  } else {
    hashes[hash_count] = hash;
    hashes_kept = hash_count + 1;
  }
  hash_count++;
}

static bool short_run;
static bool in_short_run[JOIST_DTYPE_COUNT];
static uint64_t first_random_state = 88172645463325252u;

/* Those of a short run are named, or are of every kind and size that kernels know. */
static void read_short_run(void) {
  const char *const setting = getenv("JOIST_TEST_SHORT");
  short_run = setting != NULL;
  if (!short_run) return;
  const bool named = strcmp(setting, "1") != 0;
  char *const names = strdup(named ? setting : "i8,ui64,f16,f32,c128");
  for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
    int dtype = 0;
    while (dtype < JOIST_DTYPE_COUNT && strcmp(joist_dtype_name((joist_dtype)dtype), name) != 0)
      dtype++;
    if (CHECK_MSG(dtype < JOIST_DTYPE_COUNT, "JOIST_TEST_SHORT: no dtype is called %s", name))
      in_short_run[dtype] = true;
    if (named) first_random_state += (uint64_t)(dtype + 1) << 40;
  }
  free(names);
}

static bool leaves_out(int dtype) { return short_run && !in_short_run[dtype]; }

/* ---- running ---- */

static struct { long compared, failing, given; } seen;

static struct joist_tally *tally_there; /* of the next run; NULL for none */

/* Runs a program on copies in the device's memory; half of the inputs of one element stay here. */
static joist_status run_there(const struct joist_program *program, void *const *inputs,
                              void *const *outputs, struct joist_error *error) {
  void *in[VALUES_MAX] = {NULL}, *out[OUTPUTS_MAX] = {NULL};
  bool here[VALUES_MAX] = {false};
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = 1, .here = here, .tally = tally_there};
  joist_status status = joist_plan_make(program, &plan, error);
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t input = program->values[v].input;
    if (input == JOIST_NO_INPUT) continue;
    here[input] = count_of(program, v) == 1 && one_in(2);
    seen.given += here[input];
    in[input] = here[input] ? inputs[input] : NULL;
    if (here[input]) continue;
    in[input] = gpu->allocate(gpu, bytes_of(program, v));
    if (CHECK(in[input] != NULL))
      CHECK_INT(gpu->copy(gpu, in[input], inputs[input], bytes_of(program, v), JOIST_COPY_TO_DEVICE,
                          error),
                JOIST_OK);
  }
  for (uint32_t k = 0; k < program->output_count; k++)
    CHECK((out[k] = gpu->allocate(gpu, bytes_of(program, program->outputs[k]))) != NULL);
  if (status == JOIST_OK) status = gpu->run(gpu, plan, (const void *const *)in, out, &run, error);
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++)
    status = gpu->copy(gpu, outputs[k], out[k], bytes_of(program, program->outputs[k]),
                       JOIST_COPY_TO_HOST, error);
  for (uint32_t k = 0; k < program->input_count; k++)
    if (!here[k]) gpu->free(gpu, in[k]);
  for (uint32_t k = 0; k < program->output_count; k++) gpu->free(gpu, out[k]);
  joist_plan_free(plan);
  return status;
}

static void **new_outputs(const struct joist_program *program) {
  void **const outputs = calloc(OUTPUTS_MAX, sizeof *outputs);
  for (uint32_t k = 0; outputs != NULL && k < program->output_count; k++)
    outputs[k] = malloc(bytes_of(program, program->outputs[k]) + 1);
  return outputs;
}

static void free_outputs(void **outputs) {
  for (int k = 0; k < OUTPUTS_MAX; k++) free(outputs[k]);
  free(outputs);
}

/* ---- programs whose results have the CPU's bits, but for sums ---- */

/* As first_difference(), but a dtype without NaN has a zero for it whose sign is that of the NaN
 * that was computed, and processors make NaN of either sign. */
static size_t first_unlike(joist_dtype dtype, size_t n, const void *a, const void *b) {
  const size_t size = joist_dtype_size(dtype);
  const bool signless = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT && !joist_dtype_has_nan(dtype);
  for (size_t at = first_difference(dtype, n, a, b);; at++) {
    double x = 1, y = 1;
    if (at == n || !signless) return at;
    joist_convert_find_portable(dtype, JOIST_F64)(1, (const char *)a + at * size, &x);
    joist_convert_find_portable(dtype, JOIST_F64)(1, (const char *)b + at * size, &y);
    if (x != y) return at;
  }
}

static int programs_printed;

static void check_on(const struct joist_program *program, void **inputs, const char *what) {
  char *got[VALUES_MAX] = {NULL};
  struct joist_error error = {0};
  const long failed_before = check_failed_count;
  void **const outputs = new_outputs(program);
  const joist_status status = run_there(program, inputs, outputs, &error);
  for (uint32_t k = 0; k < program->output_count; k++) got[program->outputs[k]] = outputs[k];
  struct interpreter in;
  interpreter_init(&in, program, (const void *const *)inputs);
  interpreter_run(&in, status == JOIST_OK ? got : NULL);
  if (status != JOIST_OK) {
    seen.failing++;
    CHECK_MSG(status == JOIST_ERROR_VALUE && error_fits(&in, &error), "%s: status %d: %s", what,
              (int)status, words(&error));
  } else {
    CHECK_MSG(in.failure_count == 0, "%s: nv_%s() should fail", what,
              joist_op_name(in.failures[0].op));
    for (uint32_t k = 0; k < program->output_count; k++) {
      const joist_value_id v = program->outputs[k];
      const joist_dtype dtype = program->values[v].type.dtype;
      const size_t at = first_unlike(dtype, in.count[v], outputs[k], in.array[v]);
      const size_t byte = at * joist_dtype_size(dtype);
      char mine[64], other[64];
      CHECK_MSG(at == in.count[v], "%s: output %u (%%%u, %s), element %zu of %zu: %s, want %s",
                what, k, v, joist_dtype_name(dtype), at, in.count[v],
                at == in.count[v] ? "" : element_text(dtype, (char *)outputs[k] + byte, mine),
                at == in.count[v] ? "" : element_text(dtype, in.array[v] + byte, other));
      remember(dtype, in.count[v], outputs[k], what);
      seen.compared += (long)in.count[v];
    }
  }
  if (check_failed_count > failed_before && programs_printed++ < 3) print_program(program);
  interpreter_clear(&in);
  free_outputs(outputs);
}

static void check_program(const struct joist_program *program, fill_kind kind, const char *what) {
  void *inputs[VALUES_MAX] = {NULL};
  make_inputs(program, kind, inputs);
  check_on(program, inputs, what);
  for (uint32_t k = 0; k < program->input_count; k++) free(inputs[k]);
}

/* ---- every operation on every dtype ---- */

/* Functions that another library computes on a device: their results have bounds. */
static bool is_loose(joist_op op, joist_dtype compute) {
  const joist_kind kind = joist_dtype_kind(compute);
  const joist_class class = joist_op_class(op);
  const bool function = class == JOIST_CLASS_INEXACT || class == JOIST_CLASS_ANGLE;
  if (kind == JOIST_KIND_COMPLEX)
    return function || op == JOIST_OP_POW || op == JOIST_OP_SIGN || op == JOIST_OP_ABS;
#ifdef JOIST_TEST_GPU
  /* Where the vector code gives up: angles that are large, bases that are negative. */
  if (kind == JOIST_KIND_FLOAT)
    return op == JOIST_OP_SIN || op == JOIST_OP_COS || op == JOIST_OP_TAN || op == JOIST_OP_POW;
#endif
  return false;
}

/* How far apart two complex (or real) numbers are, in units of the larger. */
static double distance(joist_dtype dtype, const void *a, const void *b) {
  double x[2], y[2];
  joist_convert_find_portable(dtype, JOIST_C128)(1, a, x);
  joist_convert_find_portable(dtype, JOIST_C128)(1, b, y);
  if (!isfinite(y[0]) || !isfinite(y[1]) || !isfinite(x[0]) || !isfinite(x[1]))
    return isfinite(y[0]) && isfinite(y[1]) ? INFINITY : 0;
  const double size = hypot(y[0], y[1]);
  return size == 0 ? hypot(x[0], x[1]) : hypot(x[0] - y[0], x[1] - y[1]) / size;
}

static void check_loose(const struct joist_program *program, fill_kind kind, const char *what) {
  void *inputs[VALUES_MAX] = {NULL};
  struct joist_error error = {0};
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = 1};
  const joist_value_id v = program->outputs[0];
  const joist_dtype dtype = program->values[v].type.dtype;
  make_inputs(program, kind, inputs);
  void **const got = new_outputs(program), **const want = new_outputs(program);
  CHECK_INT(joist_plan_make(program, &plan, &error), JOIST_OK);
  CHECK_INT(joist_plan_run(plan, (const void *const *)inputs, want, &run, &error), JOIST_OK);
  CHECK_INT(run_there(program, inputs, got, &error), JOIST_OK);
  const joist_dtype real = joist_dtype_real(dtype);
  /* C's cpowf() loses a few digits where the exponent is large. */
  const bool power = program->instructions[0].op == JOIST_OP_POW;
  const double bound = real == JOIST_F64   ? (power ? 1e-12 : 4e-14)
                       : real == JOIST_F32 ? (power ? 2e-4 : 4e-6)
                                           : 0x1p-7;
  for (size_t i = 0; i < count_of(program, v); i++) {
    const size_t at = i * joist_dtype_size(dtype);
    const double apart = distance(dtype, (char *)got[0] + at, (char *)want[0] + at);
    char mine[64], other[64];
    CHECK_MSG(apart <= bound, "%s, element %zu: %s, want %s", what, i,
              element_text(dtype, (char *)got[0] + at, mine),
              element_text(dtype, (char *)want[0] + at, other));
  }
  remember(dtype, count_of(program, v), got[0], what);
  joist_plan_free(plan);
  free_outputs(got);
  free_outputs(want);
  for (uint32_t k = 0; k < program->input_count; k++) free(inputs[k]);
}

static void test_operation(joist_op op, joist_dtype dtype) {
  const uint32_t n = 1003;
  struct joist_program program;
  struct joist_inference inference;
  joist_value_id operands[JOIST_ELEMENT_OPERANDS], result;
  struct joist_error error;
  const size_t count = joist_operation(op)->least;
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++) {
    const bool condition = op == JOIST_OP_IFELSE && k == 0;
    operands[k] = add_input(&program, condition ? JOIST_BOOL : dtype, 1, &n);
  }
  if (infer_and_append(&program, op, operands, count, &no_attributes, &inference, &result,
                       &error) == JOIST_OK) {
    add_output(&program, result);
    char what[64];
    snprintf(what, sizeof what, "nv_%s of %s", joist_op_name(op), joist_dtype_name(dtype));
    if (is_loose(op, inference.signature.compute))
      check_loose(&program, FILL_SMALL, what);
    else
      for (int kind = 0; kind < FILL_COUNT; kind++) check_program(&program, (fill_kind)kind, what);
  }
  joist_program_clear(&program);
}

static void test_operations(void) {
  for (int op = 0; op < JOIST_OP_COUNT; op++) {
    const joist_class class = joist_op_class((joist_op)op);
    if (joist_op_is_reduction((joist_op)op) || joist_op_is_array((joist_op)op) ||
        class == JOIST_CLASS_LAYOUT || class == JOIST_CLASS_CONVERT || class == JOIST_CLASS_BITCAST)
      continue;
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
      if (!leaves_out(d)) test_operation((joist_op)op, (joist_dtype)d);
  }
}

static void test_conversions(void) {
  const uint32_t n = 1001;
  for (int from = 0; from < JOIST_DTYPE_COUNT; from++)
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      if (leaves_out(from)) continue;
      struct joist_program program;
      char what[64];
      snprintf(what, sizeof what, "%s to %s", joist_dtype_name((joist_dtype)from),
               joist_dtype_name((joist_dtype)to));
      for (int kind = 0; kind < FILL_COUNT; kind++) {
        joist_program_init(&program);
        const joist_value_id value = add_input(&program, (joist_dtype)from, 1, &n);
        joist_value_id result = 0;
        const struct joist_attributes attributes =
            with_type(no_attributes, (struct joist_type){(joist_dtype)to, false});
        CHECK(add(&program, joist_rules_at(0), JOIST_OP_CONVERT, &value, 1, &attributes, &result));
        add_output(&program, result);
        check_program(&program, (fill_kind)kind, what);
        joist_program_clear(&program);
      }
    }
}

/* ---- reductions: every one, of every dtype, over every subset of the dims ---- */

static void test_reductions(void) {
  static const uint32_t extents[][3] = {{5, 7, 3}, {70, 2, 129}, {1, 300, 4}, {3, 1, 2000}};
  for (int op = 0; op < JOIST_OP_COUNT; op++)
    for (int d = 0; d < JOIST_DTYPE_COUNT && joist_op_is_reduction((joist_op)op); d++)
      for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
        for (uint32_t dims = 0; dims < 8; dims++) {
          if (leaves_out(d)) continue;
          struct joist_program program;
          char what[64];
          joist_program_init(&program);
          const joist_value_id value = add_input(&program, (joist_dtype)d, 3, extents[k]);
          joist_value_id result = 0;
          const struct joist_attributes attributes = with_dims(no_attributes, dims);
          if (add(&program, joist_rules_at(0), (joist_op)op, &value, 1, &attributes, &result)) {
            add_output(&program, result);
            snprintf(what, sizeof what, "nv_%s of %s over %x", joist_op_name((joist_op)op),
                     joist_dtype_name((joist_dtype)d), dims);
            check_program(&program, (fill_kind)(dims % 2 ? FILL_SMALL : FILL_EXTREME), what);
          }
          joist_program_clear(&program);
        }
}

/* Lengths about those at which the number of threads or of lanes changes. */
static void test_lengths(void) {
  static const uint32_t about[] = {1, 4, 64, 128, 256, 4096, 8192, 100000};
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
      add_output(&program, sum);
      add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, sum, sum));
      add_output(&program, add_simple(&program, JOIST_OP_REDUCE_MEAN, b, b));
      add_output(&program, add_simple(&program, JOIST_OP_REDUCE_ANY, b, b));
      snprintf(name, sizeof name, "length %u", n);
      check_program(&program, FILL_SMALL, name);
      joist_program_clear(&program);
    }
}

/* So many elements that the CPU's plan looks the functions up. */
static void test_half_functions(void) {
  static const joist_op functions[] = {JOIST_OP_EXP, JOIST_OP_LOG1P, JOIST_OP_TANH, JOIST_OP_ERF};
  const uint32_t n = (1 << 16) + 1;
  for (int k = 0; k < 2; k++) {
    struct joist_program program;
    joist_program_init(&program);
    joist_value_id value = add_input(&program, k == 0 ? JOIST_F16 : JOIST_BF16, 1, &n);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
      value = add_simple(&program, functions[f], value, value);
      add_output(&program, value);
    }
    add_output(&program, add_simple(&program, JOIST_OP_NEGATE, value, value));
    check_program(&program, FILL_BITS, "functions of halves");
    joist_program_clear(&program);
  }
}

static void test_broadcasts(void) {
  static const uint32_t extents[][4] = {{3, 5, 2, 7}, {70, 3, 11, 2}, {2, 901, 1, 3}, {1, 1, 4, 5}};
  for (size_t k = 0; k < sizeof extents / sizeof *extents; k++)
    for (uint32_t mask = 0; mask < 16; mask++) {
      struct joist_program program;
      make_broadcast(&program, extents[k], mask);
      check_program(&program, FILL_BITS, "broadcast");
      joist_program_clear(&program);
    }
}

#include "extremes.h"
#include "moves.h"
#include "on_cpu.h"
#include "packed.h"
#include "products.h"
#include "random_draws.h"
#include "rules.h"
#include "scans.h"
#include "transposes.h"

/* ---- random programs ---- */

/* On a GPU, what is loose would make everything after it differ. */
static bool avoids(joist_op op, joist_dtype compute) {
  return !joist_op_is_reduction(op) && is_loose(op, compute);
}

static void test_random(int programs, struct style style, const char *what) {
  avoided = avoids;
  for (int k = 0; k < (short_run ? programs / 10 : programs); k++) {
    struct joist_program program;
    char name[64];
    random_program(&program, &style);
    snprintf(name, sizeof name, "%s program %d", what, k);
    if (program.output_count <= OUTPUTS_MAX && program.value_count <= VALUES_MAX)
      check_program(&program, (fill_kind)(k % 4 == 3 ? FILL_SMALL : k % 4), name);
    joist_program_clear(&program);
  }
  positions = JOIST_NO_INPUT;
}

/* ---- failures ---- */

static void test_positions(void) {
  static const joist_op ops[] = {JOIST_OP_FLOORDIV, JOIST_OP_MOD, JOIST_OP_REMAINDER, JOIST_OP_POW};
  enum { N = 100000 };
  const uint32_t n = N;
  int32_t *const a = malloc(N * sizeof *a), *const b = malloc(N * sizeof *b),
                 *const c = malloc(N * sizeof *c);
  if (!CHECK(a != NULL && b != NULL && c != NULL)) return;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    struct joist_program program;
    struct joist_error error = {0};
    for (uint32_t i = 0; i < n; i++) a[i] = (int32_t)i, b[i] = 3;
    b[n - 1] = b[70001] = b[60000 + k] = ops[k] == JOIST_OP_POW ? -1 : 0;
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, JOIST_I32, 1, &n);
    const joist_value_id y = add_input(&program, JOIST_I32, 1, &n);
    add_output(&program, add_simple(&program, ops[k], x, y));
    CHECK_ERROR(run_there(&program, (void *[]){a, b}, (void *[]){c}, &error), error,
                ops[k] == JOIST_OP_POW ? JOIST_E_NEGATIVE_POWER : JOIST_E_DIVISION_BY_ZERO);
    CHECK_INT(error.position, 60001 + k);
    CHECK_STR(error.op, joist_op_name(ops[k]));
    joist_program_clear(&program);
  }
  free(a);
  free(b);
  free(c);
}

static void test_copies(void) {
  static const size_t sizes[] = {0, 1, 100, 4u << 20, (4u << 20) + 1, 25000001};
  struct joist_error error;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const size_t n = sizes[k];
    unsigned char *const from = malloc(n + 1), *const to = malloc(n + 1);
    void *const x = gpu->allocate(gpu, n), *const y = gpu->allocate(gpu, n);
    if (!CHECK(from != NULL && to != NULL && x != NULL && y != NULL)) return;
    for (size_t i = 0; i < n; i++) from[i] = (unsigned char)(i * 2654435761u >> 13);
    to[n] = 77;
    CHECK_INT(gpu->copy(gpu, x, from, n, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
    CHECK_INT(gpu->copy(gpu, y, x, n, JOIST_COPY_WITHIN, &error), JOIST_OK);
    CHECK_INT(gpu->copy(gpu, to, y, n, JOIST_COPY_TO_HOST, &error), JOIST_OK);
    CHECK(memcmp(from, to, n) == 0 && to[n] == 77);
    gpu->free(gpu, x);
    gpu->free(gpu, y);
    free(from);
    free(to);
  }
}

/* In a forked child: an error, not a crash. */
static void test_fork(void) {
  const pid_t child = fork();
  if (child == 0) {
    struct joist_error error = {0};
    const bool right = gpu->ready(gpu, &error) == JOIST_ERROR_DEVICE &&
                       error.code == JOIST_E_FORKED && gpu->allocate(gpu, 10) == NULL &&
                       joist_device_in_use(1) == NULL && joist_device_count() == 1;
    gpu->free(gpu, &error);
    _exit(right ? 0 : 1);
  }
  int status = 1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void test_diagnosis(void) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  CHECK_INT(joist_device_diagnose(rows), JOIST_DIAGNOSES);
  CHECK(rows[0].found && rows[1].found && rows[2].found);
  CHECK(rows[3].found || rows[3].why.code == JOIST_E_NO_NVRTC);
  CHECK(rows[4].found || rows[4].why.code == JOIST_E_NO_CUBLAS);
  for (int k = 0; k < JOIST_DIAGNOSES; k++) CHECK(rows[k].found == (rows[k].detail[0] != '\0'));
  CHECK(joist_device_find("cuda:1") != NULL && joist_device_find("cuda") == gpu);
  CHECK(joist_device_find("cuda:99") == NULL && joist_device_find("tpu") == NULL);
}

#include "watched.h"

static void test_everything(void) {
  random_state = first_random_state;
  hash_count = 0;
  seen.compared = seen.failing = seen.given = 0;
  test_operations();
  test_conversions();
  test_reductions();
  test_lengths();
  test_half_functions();
  test_broadcasts();
  test_moves();
  test_on_cpu();
  test_watched();
  test_random(100, (struct style){.elements = 60, .instructions = 12}, "tiny");
  test_random(60, (struct style){.elements = 300, .zero = true, .instructions = 12}, "zero");
  test_random(100, (struct style){.elements = 200, .checked = true, .instructions = 8}, "checked");
  test_random(40, (struct style){.elements = 400, .instructions = 40}, "long");
  test_random(12, (struct style){.elements = 20000, .instructions = 15}, "large");
  CHECK(seen.compared > 100000 && (seen.failing > 3 || short_run) && seen.given > 100);
  test_positions();
}

#ifdef JOIST_TEST_GPU

/* The second run was not the interpreter's once more. */
static void test_compilation(void) {
  const struct joist_cuda_compilation *const all = joist_cuda_compilation();
  printf("cuda: %ld kernels compiled\n", all->compiled);
  CHECK_MSG(joist_nvrtc_found(), "NVRTC cannot be loaded: set CUDA_HOME");
  CHECK_MSG(all->failed == 0, "%ld kernels could not be compiled: %s", all->failed, all->log);
  CHECK_MSG(all->compiled > (short_run ? 200 : 500), "%ld kernels compiled", all->compiled);
}

/* cuBLAS is optional, but the log should say whether it was used. */
static void describe_products(void) {
  struct joist_cuda_state *state = NULL;
  struct joist_error error;
  if (CHECK_INT(joist_cuda_open(gpu->ordinal, &state, &error), JOIST_OK))
    printf("cuda: matrix products were %s\n",
           state->blas != NULL ? "cuBLAS's, too" : "joist's only: cuBLAS cannot be loaded");
}

#else
#include "standin.h"
#endif

int main(void) {
  struct joist_error error;
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  gpu = joist_device_find("cuda:0");
  read_short_run();
  hashes = malloc(RESULTS_MAX * sizeof *hashes);
  if (!CHECK(hashes != NULL)) return 1;
#ifdef JOIST_TEST_GPU
  if (gpu->ready(gpu, &error) != JOIST_OK) {
    printf("cuda: skipped: no GPU (%s)\ncuda gpu: 0 passed, 0 failed\n", words(&error));
    return 0;
  }
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_NEVER);
  test_everything();
  second_run = true;
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS);
  test_everything();
  test_compilation();
#else
  CHECK_INT(gpu->ready(gpu, &error), JOIST_OK);
  const size_t blocks = blocks_in_use();
  joist_cuda_share_small(false);
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS); /* but nothing is compiled yet */
  test_everything();
  if (getenv("JOIST_TEST_NVRTC") != NULL) {
    test_nvrtc();
    return check_report("cuda nvrtc");
  }
  CHECK(host_kernel_count() > (short_run ? 200 : 500) && host_compile_all());
  joist_cuda_forget();
  second_run = true;
  joist_cuda_share_small(true); /* in the first run, every array had its own allocation */
  test_everything();
  CHECK_INT(blocks_in_use(), blocks);
  test_errors();
  test_blas();
  test_trim();
  test_memory();
  test_other_ways();
  const size_t both = blocks_in_use();
  test_calls();
  CHECK_INT(blocks_in_use(), both);
#endif
  test_products(); /* once: no kernel of theirs is generated */
  test_transposes();
  test_draws();
  test_extremes();
  test_packed();
  test_scans();
#ifdef JOIST_TEST_GPU
  describe_products();
#endif
  test_copies();
  test_fork();
  test_diagnosis();
  return check_report("cuda");
}
