/* Times a CUDA device through joist's own plans, without R:
 *
 *   bench_gpu [elements [seconds]]    2^28 elements, or fewer where memory is short
 *
 * Prints the bytes moved per second and what they are of a copy within the device's memory by
 * the driver, measured in the same run for as many seconds as everything else (0.3); then the
 * time of operations so small that it is the time of a call: calls are queued, then waited
 * for. Results are checked, which is all that it is for with the stand-in of host/: there it
 * has few elements. */
#include "programs.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "../rules.h"
#include "core/device.h"
#include "core/kernels/kernels.h"
#include "core/kernels/random_element.h"
#include "core/types/convert.h"
#include "cuda/codegen/compile.h"

#ifndef JOIST_TEST_GPU
#include "host/loader.h"
#include "rules.h"
#endif

static const struct joist_device *gpu;
#ifdef JOIST_TEST_GPU
static size_t elements = (size_t)1 << 28;
static double least_seconds = 0.3;
#else
static size_t elements = 5000;
static double least_seconds = 0.02;
#endif

/* ---- data: what element k of an input is, computed when it is needed ---- */

enum { PERIOD = 1 << 20 };
enum { DATA_X, DATA_Y, DATA_I, INPUTS };

static uint64_t hash_of(size_t k, uint64_t seed) {
  uint64_t h = (k % PERIOD + seed * PERIOD) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return h ^ h >> 32;
}
/* In [0.5, 1.5). */
static float float_at(size_t k, uint64_t seed) {
  return 0.5f + (float)(hash_of(k, seed) >> 40) * 0x1p-24f;
}
static float x_at(size_t k) { return float_at(k, DATA_X); }
static float y_at(size_t k) { return float_at(k, DATA_Y); }
static int32_t i_at(size_t k) { return (int32_t)(hash_of(k, DATA_I) % 1000); }

static void *arrays[INPUTS]; /* of the device */

static bool make_array(int which) {
  struct joist_error error = {0};
  uint32_t *const period = malloc(PERIOD * sizeof *period);
  char *const made = gpu->allocate(gpu, elements * 4);
  arrays[which] = made;
  if (!CHECK(period != NULL && made != NULL)) return free(period), false;
  for (size_t k = 0; k < PERIOD; k++) {
    const float x = float_at(k, (uint64_t)which);
    const int32_t i = i_at(k);
    memcpy(&period[k], which == DATA_I ? (const void *)&i : &x, sizeof *period);
  }
  for (size_t k = 0; k < elements; k += PERIOD) {
    const size_t n = elements - k < PERIOD ? elements - k : PERIOD;
    CHECK_INT(gpu->copy(gpu, made + 4 * k, period, 4 * n, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
  }
  free(period);
  return true;
}

/* ---- what is timed ---- */

struct work {
  const char *name;
  size_t bytes; /* that it moves per element */
  void (*build)(struct work *work);
  double (*want)(size_t k); /* element k of the result */
  struct joist_program program;
  struct joist_plan *plan;
  size_t count; /* elements of the inputs */
  const void *inputs[8];
  void *numbers[4]; /* memory of those inputs that are numbers */
  float literals[2];
  bool here[8]; /* inputs that are literals */
  uint32_t input_count, number_count, literal_count;
};

static joist_value_id add_array(struct work *work, joist_dtype dtype, int which) {
  const uint32_t n = (uint32_t)work->count;
  work->inputs[work->input_count++] = arrays[which];
  return add_input(&work->program, dtype, 1, &n);
}

static joist_value_id add_number(struct work *work, float number) {
  struct joist_error error;
  void *const memory = gpu->allocate(gpu, sizeof number);
  if (CHECK(memory != NULL))
    CHECK_INT(gpu->copy(gpu, memory, &number, sizeof number, JOIST_COPY_TO_DEVICE, &error),
              JOIST_OK);
  work->inputs[work->input_count++] = work->numbers[work->number_count++] = memory;
  return add_input(&work->program, JOIST_F32, 0, NULL);
}

/* A number that stays in the process's memory, as those of R do. */
static joist_value_id add_literal(struct work *work, float number) {
  float *const literal = &work->literals[work->literal_count++];
  *literal = number;
  work->here[work->input_count] = true;
  work->inputs[work->input_count++] = literal;
  return add_input(&work->program, JOIST_F32, 0, NULL);
}

static joist_value_id two(struct work *work, joist_op op, joist_value_id a, joist_value_id b) {
  return add_simple(&work->program, op, a, b);
}

static void build_sum(struct work *work) {
  const joist_value_id x = add_array(work, JOIST_F32, DATA_X),
                       y = add_array(work, JOIST_F32, DATA_Y);
  add_output(&work->program, two(work, JOIST_OP_ADD, x, y));
}
static double want_sum(size_t k) { return x_at(k) + y_at(k); }

static void build_mixed(struct work *work) {
  const joist_value_id i = add_array(work, JOIST_I32, DATA_I),
                       x = add_array(work, JOIST_F32, DATA_X);
  add_output(&work->program, two(work, JOIST_OP_ADD, i, x));
}
static double want_mixed(size_t k) { return (float)i_at(k) + x_at(k); }

static void build_fused(struct work *work) {
  const joist_value_id x = add_array(work, JOIST_F32, DATA_X),
                       y = add_array(work, JOIST_F32, DATA_Y);
  const joist_value_id half = add_number(work, 0.5f), one = add_number(work, 1);
  const joist_value_id twice = add_number(work, 2), thrice = add_number(work, 3);
  joist_value_id z = two(work, JOIST_OP_ADD, two(work, JOIST_OP_MUL, x, twice), y);
  z = two(work, JOIST_OP_SUB, two(work, JOIST_OP_MUL, z, z), x);
  z = two(work, JOIST_OP_MUL, two(work, JOIST_OP_MAX, z, y), half);
  z = two(work, JOIST_OP_ADD, z, x);
  z = two(work, JOIST_OP_ADD, two(work, JOIST_OP_MUL, z, y), one);
  z = two(work, JOIST_OP_SUB, z, x);
  z = two(work, JOIST_OP_MUL, two(work, JOIST_OP_ABS, z, z), thrice);
  add_output(&work->program, z);
}
static double want_fused(size_t k) {
  const double x = x_at(k), y = y_at(k);
  double z = x * 2 + y;
  z = z * z - x;
  z = fmax(z, y) * 0.5 + x;
  z = z * y + 1;
  return fabs(z - x) * 3;
}

static void build_total(struct work *work) {
  const joist_value_id x = add_array(work, JOIST_F32, DATA_X);
  add_output(&work->program, two(work, JOIST_OP_REDUCE_SUM, x, x));
}

/* The sum of the first k elements of x; the first call makes those of a period. */
static double sum_of(size_t k) {
  static double sums[PERIOD + 1];
  for (size_t i = 0; sums[PERIOD] == 0 && i < PERIOD; i++) sums[i + 1] = sums[i] + x_at(i);
  return (double)(k / PERIOD) * sums[PERIOD] + sums[k % PERIOD];
}
static double want_total(size_t k) {
  (void)k;
  return sum_of(elements);
}

static void build_cumulated(struct work *work) {
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, 0);
  const joist_value_id x = add_array(work, JOIST_F32, DATA_X);
  joist_value_id result = 0;
  CHECK(add(&work->program, joist_rules_at(0), JOIST_OP_CUMSUM, &x, 1, &attributes, &result));
  add_output(&work->program, result);
}
static double want_cumulated(size_t k) { return sum_of(k + 1); }

/* Rows of the elements as a matrix that is about square. */
static size_t matrix_rows(void) {
  size_t rows = (size_t)sqrt((double)elements);
  while (elements % rows != 0) rows--;
  return rows;
}
static void build_transposed(struct work *work) {
  const struct joist_attributes attributes =
      with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, (int64_t[]){1, 0}, 2);
  const uint32_t rows = (uint32_t)matrix_rows();
  const uint32_t extents[2] = {rows, (uint32_t)work->count / rows};
  joist_value_id result = 0;
  work->inputs[work->input_count++] = arrays[DATA_X];
  const joist_value_id x = add_input(&work->program, JOIST_F32, 2, extents);
  CHECK(add(&work->program, joist_rules_at(0), JOIST_OP_PERMUTE, &x, 1, &attributes, &result));
  add_output(&work->program, result);
}
static double want_transposed(size_t k) {
  const size_t rows = matrix_rows(), columns = elements / rows;
  return x_at(k / columns + k % columns * rows);
}

/* The bytes of x and y. */
static void build_bytes(struct work *work) {
  const joist_value_id x = add_array(work, JOIST_UI8, DATA_X),
                       y = add_array(work, JOIST_UI8, DATA_Y);
  add_output(&work->program, two(work, JOIST_OP_ADD, x, y));
}
static double want_bytes(size_t k) {
  const float x = x_at(k / 4), y = y_at(k / 4);
  unsigned char a[4], b[4];
  memcpy(a, &x, 4);
  memcpy(b, &y, 4);
  return (unsigned char)(a[k % 4] + b[k % 4]);
}

/* Where the largest element of the period is. */
static void build_position(struct work *work) {
  const joist_value_id x = add_array(work, JOIST_F32, DATA_X);
  joist_value_id result = 0;
  CHECK(add(&work->program, joist_rules_at(0), JOIST_OP_ARGMAX, &x, 1, &no_attributes, &result));
  add_output(&work->program, result);
}
static double want_position(size_t k) {
  size_t best = 0;
  (void)k;
  for (size_t i = 1; i < PERIOD && i < elements; i++)
    if (x_at(i) > x_at(best)) best = i;
  return (double)best + 1;
}

/* Numbers from 0 to 1, or standard normal ones, as the CPU's engine draws them. */
static void build_draw(struct work *work, joist_op op) {
  static const uint32_t two = 2;
  const struct joist_shape shape = {1, {(uint32_t)work->count}};
  const struct joist_attributes attributes =
      with_shape(with_type(no_attributes, (struct joist_type){JOIST_F32, false}), &shape);
  const joist_value_id key = add_input(&work->program, JOIST_UI32, 1, &two);
  work->inputs[work->input_count++] = arrays[DATA_I];
  const joist_value_id zero = add_literal(work, 0), one = add_literal(work, 1);
  joist_value_id result = 0;
  CHECK(add(&work->program, joist_rules_at(0), op, (joist_value_id[]){key, zero, one}, 3,
            &attributes, &result));
  add_output(&work->program, result);
}
static void build_uniform(struct work *work) { build_draw(work, JOIST_OP_RUNIF); }
static void build_normal(struct work *work) { build_draw(work, JOIST_OP_RNORM); }

/* The stream of the key that the first two elements of i are. */
static struct joist_block block_at(size_t number) {
  const struct joist_stream stream = {
      {(uint32_t)i_at(0), (uint32_t)i_at(1)}, 0, JOIST_STREAM_DENSE};
  return stream_block(&stream, number);
}
static double want_uniform(size_t k) { return unit_of_word(block_at(k / 4).word[k % 4]); }
static double want_normal(size_t k) {
  const struct joist_block block = block_at(k / 4);
  const struct joist_pair pair = k % 4 < 2 ? normal_narrow(block.word[0], block.word[1])
                                           : normal_narrow(block.word[2], block.word[3]);
  return k % 2 == 0 ? pair.first : pair.second;
}

static struct work works[] = {{"x + y, f32", 12, build_sum, want_sum, .count = 0},
                              {"i32 + f32", 12, build_mixed, want_mixed, .count = 0},
                              {"12 operations, fused", 12, build_fused, want_fused, .count = 0},
                              {"sum, f32", 4, build_total, want_total, .count = 0},
                              {"x + y, ui8", 3, build_bytes, want_bytes, .count = 0},
                              {"argmax, f32", 4, build_position, want_position, .count = 0},
                              {"runif, f32", 4, build_uniform, want_uniform, .count = 0},
                              {"rnorm, f32", 4, build_normal, want_normal, .count = 0},
                              {"cumsum, f32", 8, build_cumulated, want_cumulated, .count = 0},
                              {"transpose, f32", 8, build_transposed, want_transposed, .count = 0}};
enum { WORKS = sizeof works / sizeof *works, COMPILED = 5 /* the first of them, at run time */ };

/* ---- running: what is timed counts as a check only where it fails ---- */

static struct joist_plan *new_plan(const struct joist_program *program) {
  struct joist_error error = {0};
  struct joist_plan *plan = NULL;
  if (joist_plan_make(program, &plan, &error) != JOIST_OK) CHECK_MSG(false, "%s", words(&error));
  return plan;
}

static void prepare(struct work *work, size_t count) {
  joist_program_init(&work->program);
  work->count = count;
  work->input_count = work->number_count = work->literal_count = 0;
  work->build(work);
  work->plan = new_plan(&work->program);
}

static void finish(struct work *work) {
  for (uint32_t k = 0; k < work->number_count; k++) gpu->free(gpu, work->numbers[k]);
  joist_plan_free(work->plan);
  joist_program_clear(&work->program);
}

static size_t result_bytes(const struct work *work) {
  return joist_value_bytes(&work->program.values[work->program.outputs[0]]);
}

/* The result is the caller's to free. */
static void *run_once(const struct work *work, const struct joist_plan *plan) {
  struct joist_error error = {0};
  const struct joist_run run = {.threads = 1, .here = work->literal_count > 0 ? work->here : NULL};
  void *out = gpu->allocate(gpu, result_bytes(work));
  if (out == NULL || gpu->run(gpu, plan, work->inputs, &out, &run, &error) != JOIST_OK)
    CHECK_MSG(false, "%s", out == NULL ? "no memory for a result" : words(&error));
  return out;
}

/* As tensors come and go: memory for each result. */
static void call_work(void *context) {
  const struct work *const work = context;
  gpu->free(gpu, run_once(work, work->plan));
}
static void call_with_new_plan(void *context) {
  const struct work *const work = context;
  struct joist_plan *const plan = new_plan(&work->program);
  gpu->free(gpu, run_once(work, plan));
  joist_plan_free(plan);
}

struct transfer {
  joist_copy direction;
  void *to;
  const void *from;
  size_t bytes;
};
static void call_transfer(void *context) {
  const struct transfer *const t = context;
  struct joist_error error;
  if (gpu->copy(gpu, t->to, t->from, t->bytes, t->direction, &error) != JOIST_OK)
    CHECK_MSG(false, "%s", words(&error));
}

/* ---- timing ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(void (*call)(void *), void *context, size_t calls) {
  struct joist_error error = {0};
  const double start = now();
  for (size_t k = 0; k < calls; k++) call(context);
  if (gpu->synchronize(gpu, &error) != JOIST_OK) CHECK_MSG(false, "%s", words(&error));
  return now() - start;
}

/* Seconds per call: the least of several runs, each long enough for the clock. */
static double seconds_per_call(void (*call)(void *), void *context) {
  enum { RUNS = 5 };
  size_t calls = 2;
  double best = INFINITY;
  (void)seconds_of(call, context, 3);
  while (calls < 1000000 && seconds_of(call, context, calls) < least_seconds / RUNS) calls *= 2;
  for (int run = 0; run < RUNS; run++) {
    const double seconds = seconds_of(call, context, calls) / (double)calls;
    if (seconds < best) best = seconds;
  }
  return best;
}

static void report(const char *name, double bytes, double seconds, double copy) {
  printf("%-32s %10.1f us %8.0f GB/s  %6.1f %% of a copy\n", name, 1e6 * seconds,
         1e-9 * bytes / seconds, 100 * bytes / seconds / copy);
}

/* ---- results ---- */

static double element_at(joist_dtype dtype, const void *element) {
  double value = 0;
  joist_convert_find_portable(dtype, JOIST_F64)(1, element, &value);
  return value;
}

/* Some at the start, in the middle and at the end, where the last threads have fewer. */
static void check_result(const struct work *work) {
  enum { SOME = 5000 };
  struct joist_error error;
  const joist_value_id v = work->program.outputs[0];
  const joist_dtype dtype = work->program.values[v].type.dtype;
  const size_t n = count_of(&work->program, v), size = joist_dtype_size(dtype);
  const size_t some = n < SOME ? n : SOME;
  const size_t first[] = {0, (n - some) / 2, n - some};
  char *const out = run_once(work, work->plan), *const here = malloc(some * size);
  size_t wrong = 0;
  if (!CHECK(out != NULL && here != NULL)) return;
  for (int s = 0; s < 3; s++) {
    CHECK_INT(gpu->copy(gpu, here, out + first[s] * size, some * size, JOIST_COPY_TO_HOST, &error),
              JOIST_OK);
    for (size_t k = 0; k < some; k++) {
      const double got = element_at(dtype, here + k * size), want = work->want(first[s] + k);
      wrong += !(fabs(got - want) <= 2e-6 * fabs(want));
    }
  }
  CHECK_MSG(wrong == 0, "%s: %zu of %zu elements are wrong", work->name, wrong, 3 * some);
  gpu->free(gpu, out);
  free(here);
}

/* ---- the table ---- */

/* Bytes per second of a copy by the driver, which everything is compared with. */
static double measure_copies(void *other) {
  enum { MOST = 1 << 28 };
  const size_t bytes = elements * 4, some = bytes < MOST ? bytes : MOST;
  struct transfer copy = {JOIST_COPY_WITHIN, other, arrays[DATA_X], bytes};
  void *const here = malloc(some);
  const double seconds = seconds_per_call(call_transfer, &copy);
  const double bandwidth = 2 * (double)bytes / seconds;
  report("copy by the driver", 2 * (double)bytes, seconds, bandwidth);
  if (!CHECK(here != NULL)) return bandwidth;
  struct transfer out = {JOIST_COPY_TO_HOST, here, other, some};
  report("copy to the host", (double)some, seconds_per_call(call_transfer, &out), bandwidth);
  struct transfer in = {JOIST_COPY_TO_DEVICE, other, here, some};
  report("copy from the host", (double)some, seconds_per_call(call_transfer, &in), bandwidth);
  CHECK(element_at(JOIST_F32, here) == (double)x_at(0));
  free(here);
  return bandwidth;
}

static void measure_works(double copy) {
  for (int w = 0; w < WORKS; w++) {
    struct work *const work = &works[w];
    prepare(work, work->build == build_bytes ? elements * 4 : elements);
    check_result(work);
    report(work->name, (double)work->bytes * (double)work->count, seconds_per_call(call_work, work),
           copy);
    finish(work);
  }
}

static void measure_calls(void *other) {
  struct work *const work = &works[0];
  struct transfer copy = {JOIST_COPY_WITHIN, other, arrays[DATA_X], 40};
  struct transfer upload = {JOIST_COPY_TO_DEVICE, other, (const float[10]){0}, 40};
  prepare(work, elements < 10 ? elements : 10);
  check_result(work);
  const double kept = seconds_per_call(call_work, work);
  const double made = seconds_per_call(call_with_new_plan, work);
  const double copied = seconds_per_call(call_transfer, &copy);
  const double uploaded = seconds_per_call(call_transfer, &upload);
  printf("%-32s %10.2f us\n%-32s %10.2f us\n%-32s %10.2f us\n%-32s %10.2f us\n",
         "x + y of 10 elements", 1e6 * kept, "the same and its plan", 1e6 * made,
         "copy of 10 elements", 1e6 * copied, "10 elements from the host", 1e6 * uploaded);
  finish(work);
}

static void describe(void) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const size_t n = joist_device_diagnose(rows);
  for (size_t k = 0; k < n; k++)
    printf("%-7s %s\n", rows[k].item, rows[k].found ? rows[k].detail : words(&rows[k].why));
  printf("%zu elements, %ld kernels compiled\n", elements, joist_cuda_compilation()->compiled);
}

/* What every result is computed by from now on. */
static void compile_kernels(void) {
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS);
  for (int w = 0; w < WORKS; w++) {
    prepare(&works[w], elements);
    call_work(&works[w]);
    finish(&works[w]);
  }
#ifdef JOIST_TEST_GPU
  const struct joist_cuda_compilation *const all = joist_cuda_compilation();
  CHECK_MSG(all->compiled >= COMPILED && all->failed == 0, "%ld kernels failed: %s", all->failed,
            all->log);
#else
  CHECK(host_compile_all());
  joist_cuda_forget();
#endif
}

int main(int argc, char **argv) {
  struct joist_error error = {0};
  use_rules();
  joist_kernels_select(NULL);
  if (argc > 1) elements = (size_t)strtod(argv[1], NULL);
  if (argc > 2) least_seconds = strtod(argv[2], NULL);
  gpu = joist_device_find("cuda:0");
  if (gpu->ready(gpu, &error) != JOIST_OK) {
    printf("bench: skipped: no GPU (%s)\nbench: 0 passed, 0 failed\n", words(&error));
    return 0;
  }
  if (!CHECK_MSG(elements >= 2 && elements <= (size_t)1 << 28, "2 to 2^28 elements"))
    return check_report("bench");
  /* The inputs, a copy, a result and the one before it. */
  while (elements > 1 && elements * 4 * 7 > gpu->figures(gpu).available) elements /= 2;
  void *const other = gpu->allocate(gpu, elements * 4);
  bool made = CHECK(other != NULL);
  for (int which = DATA_X; which < INPUTS; which++) made = made && make_array(which);
  if (made) {
    compile_kernels();
    describe();
    measure_works(measure_copies(other));
    measure_calls(other);
  }
  for (int which = DATA_X; which < INPUTS; which++) gpu->free(gpu, arrays[which]);
  gpu->free(gpu, other);
  return check_report("bench");
}
