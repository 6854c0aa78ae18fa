/* standin.h: what only the stand-in of host/ can show: the runtime's errors, and how often it is
 * called. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_STANDIN_H
#define JOIST_TESTS_CUDA_STANDIN_H

/* Both have functions of these names. */
#define count_of running_count_of
#define bytes_of running_bytes_of
#include "cuda/ops/move_ops.h"
#undef count_of
#undef bytes_of

#include <inttypes.h>

#include "host/loader.h"

/* Allocations of the devices, less what is kept for reuse. */
static size_t blocks_in_use(void) {
  (void)joist_device_trim();
  return host_runtime.blocks;
}

#include "memory.h"

/* ---- errors ---- */

/* What the runtime reports, as errors that say what to do. */
static void test_errors(void) {
  struct joist_error error;
  const uint32_t n = 100;
  float x[100] = {0}, y[100];
  struct joist_program program;
  const struct joist_device *const third = joist_device_find("cuda:2");
  CHECK_INT(joist_device_count(), 3);
  CHECK_ERROR(third->ready(third, &error), error, JOIST_E_GPU_NUMBER);
  CHECK(error.number[0] == 2 && error.count[0] == 2);
  host_runtime.count_result = cudaErrorNoDevice;
  CHECK_ERROR(third->ready(third, &error), error, JOIST_E_NO_GPU);
  host_runtime.count_result = cudaErrorInsufficientDriver;
  host_runtime.driver = 11040;
  CHECK_ERROR(third->ready(third, &error), error, JOIST_E_DRIVER_OLD);
  CHECK_STR(error.text[0].bytes, "11.4");
  CHECK(strlen(error.text[1].bytes) >= 4); /* what it was built with */
  host_runtime.driver = 0;
  CHECK_ERROR(third->ready(third, &error), error, JOIST_E_NO_DRIVER);
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  CHECK_INT(joist_device_diagnose(rows), JOIST_DIAGNOSES);
  CHECK(rows[0].found && !rows[1].found && !rows[2].found);
  CHECK_INT(rows[1].why.code, JOIST_E_NO_DRIVER);
  CHECK_INT(rows[2].why.code, JOIST_E_GPU_UNKNOWN);
  CHECK_INT(joist_device_count(), 1);
  host_runtime.count_result = cudaSuccess;
  host_runtime.driver = 13000;

  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_F32, 1, &n);
  add_output(&program, add_simple(&program, JOIST_OP_ADD, a, a));
  const size_t blocks = blocks_in_use();
  void *const in = gpu->allocate(gpu, sizeof x), *out = gpu->allocate(gpu, sizeof y);
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = 1};
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  host_runtime.next = cudaErrorIllegalAddress;
  CHECK_ERROR(gpu->run(gpu, plan, (const void *[]){in}, &out, &run, &error), error,
              JOIST_E_GPU_LOST);
  static const cudaError_t lasting[] = {cudaErrorECCUncorrectable,   cudaErrorIllegalAddress,
                                        cudaErrorLaunchTimeout,      cudaErrorAssert,
                                        cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
                                        cudaErrorMisalignedAddress,  cudaErrorInvalidAddressSpace,
                                        cudaErrorInvalidPc,          cudaErrorLaunchFailure};
  for (size_t k = 0; k < sizeof lasting / sizeof *lasting; k++) {
    host_runtime.next = lasting[k];
    CHECK_ERROR(gpu->synchronize(gpu, &error), error, JOIST_E_GPU_LOST);
    CHECK_STR(error.name[0], cudaGetErrorName(lasting[k]));
    CHECK_STR(error.name[1], "waiting for the GPU");
    CHECK_STR(error.name[2], cudaGetErrorString(lasting[k]));
  }
  /* Others whose cause is known. */
  static const struct {
    cudaError_t error;
    joist_error_code code;
  } causes[] = {{cudaErrorNoKernelImageForDevice, JOIST_E_GPU_NO_CODE},
                {cudaErrorUnsupportedPtxVersion, JOIST_E_GPU_NO_CODE},
                {cudaErrorJitCompilerNotFound, JOIST_E_GPU_NO_CODE},
                {cudaErrorDevicesUnavailable, JOIST_E_GPU_BUSY},
                {cudaErrorSystemNotReady, JOIST_E_GPU_SERVICE},
                {cudaErrorStubLibrary, JOIST_E_GPU_STUB},
                {cudaErrorInvalidValue, JOIST_E_GPU_FAILED}};
  for (size_t k = 0; k < sizeof causes / sizeof *causes; k++) {
    host_runtime.next = causes[k].error;
    CHECK_ERROR(gpu->synchronize(gpu, &error), error, causes[k].code);
  }
  (void)cudaGetLastError();
  /* A GPU that joist has no code for is not opened. */
  const struct joist_device *const other = joist_device_find("cuda:1");
  host_runtime.code = cudaErrorNoKernelImageForDevice;
  CHECK_ERROR(other->ready(other, &error), error, JOIST_E_GPU_NO_CODE);
  CHECK(!other->in_use(other));
  host_runtime.code = cudaSuccess;
  (void)cudaGetLastError();
  joist_plan_free(plan);
  /* Memory that is out: nothing is lost, and it works again when there is some. */
  struct joist_program sum;
  joist_program_init(&sum);
  const joist_value_id v = add_input(&sum, JOIST_F32, 1, &n);
  add_output(&sum, add_simple(&sum, JOIST_OP_REDUCE_SUM, v, v));
  CHECK_INT(joist_plan_make(&sum, &plan, &error), JOIST_OK);
  const size_t limit = host_runtime.limit;
  (void)gpu->trim(gpu);
  host_runtime.limit = host_runtime.used;
  CHECK(gpu->allocate(gpu, 1) == NULL);
  CHECK_ERROR(gpu->run(gpu, plan, (const void *[]){in}, &out, &run, &error), error,
              JOIST_E_GPU_MEMORY);
  CHECK(error.number[0] == 0 && error.bytes > 0);
  host_runtime.limit = limit;
  /* An allocation that fails for what an earlier kernel did is another matter. */
  host_runtime.allocation = cudaErrorIllegalAddress;
  CHECK_ERROR(gpu->run(gpu, plan, (const void *[]){in}, &out, &run, &error), error,
              JOIST_E_GPU_LOST);
  host_runtime.allocation = cudaSuccess;
  CHECK_INT(gpu->run(gpu, plan, (const void *[]){in}, &out, &run, &error), JOIST_OK);
  joist_plan_free(plan);
  joist_program_clear(&program);
  joist_program_clear(&sum);
  gpu->free(gpu, in);
  gpu->free(gpu, out);
  CHECK_INT(blocks_in_use(), blocks);
}

/* Only devices that are in use are trimmed, and no other is opened for it. */
static void test_trim(void) {
  const struct joist_device *const second = joist_device_find("cuda:1");
  CHECK(joist_device_in_use(0) == joist_device_find("cpu") && joist_device_in_use(1) == gpu);
  CHECK(joist_device_in_use(2) == NULL && !second->in_use(second));
  (void)joist_device_trim();
  host_runtime.kept = 1000;
  CHECK_INT(gpu->figures(gpu).kept, 1000);
  CHECK(joist_device_trim() >= 1000 && host_runtime.kept == 0);
  CHECK(!second->in_use(second));
}

/* Without pools of memory, and groups that are too long for a kernel. */
static void test_other_ways(void) {
  const struct joist_device *const second = joist_device_find("cuda:1");
  const struct joist_device *const first = gpu;
  struct joist_program program;
  const uint32_t n = 50;
  host_runtime.pools = -1;
  gpu = second;
  second_run = false; /* nothing to compare with */
  test_copies();
  CHECK_INT(cudaGetLastError(), cudaSuccess);
  CHECK(joist_device_in_use(2) == second);
  host_runtime.next = cudaErrorMemoryAllocation;
  struct joist_error error;
  CHECK_ERROR(gpu->synchronize(gpu, &error), error, JOIST_E_GPU_MEMORY);
  CHECK_INT(error.number[0], 1);
  test_lengths();
  joist_program_init(&program);
  joist_value_id all[JOIST_CUDA_REGISTERS + 10];
  for (int k = 0; k < JOIST_CUDA_REGISTERS + 10; k++)
    all[k] = add_input(&program, JOIST_F32, 1, &n);
  joist_value_id sum = all[0];
  for (int k = 0; k < JOIST_CUDA_REGISTERS + 9; k++) {
    all[k] = add_simple(&program, JOIST_OP_MUL, all[k], all[k + 1]);
    sum = add_simple(&program, JOIST_OP_ADD, sum, all[k]);
  }
  for (int k = 0; k < JOIST_CUDA_REGISTERS + 9; k++)
    if (program.value_count + 1 < VALUES_MAX) sum = add_simple(&program, JOIST_OP_MAX, sum, all[k]);
  add_output(&program, sum);
  if (program.value_count <= VALUES_MAX) check_program(&program, FILL_SMALL, "many values");
  joist_program_clear(&program);
  gpu = first;
  host_runtime.pools = 1;
}

/* A file in the folder JOIST_TEST_NVRTC_KEPT for a source that NVRTC compiled before; NULL where
 * nothing is kept. */
static const char *kept_source(const char *source, char path[256]) {
  const char *const folder = getenv("JOIST_TEST_NVRTC_KEPT");
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (const char *c = source; *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  if (folder == NULL || *folder == '\0') return NULL;
  snprintf(path, 256, "%s/%016" PRIx64, folder, hash);
  return path;
}

static bool nvrtc_compiles(const char *source, int architecture, const char *option, char *log,
                           size_t log_size) {
  char path[256];
  const char *const kept = kept_source(source, path);
  if (kept != NULL && access(kept, F_OK) == 0) return true;
  void *const image = joist_nvrtc_compile(source, architecture, option, log, log_size);
  FILE *const note = image == NULL || kept == NULL ? NULL : fopen(kept, "w");
  if (note != NULL) fclose(note);
  free(image);
  return image != NULL;
}

/* NVRTC compiles what the C++ compiler did: every tenth part as on a GPU, to machine code, others
 * to PTX, as for an architecture that it does not know, and from version 13 on without most
 * optimizations, which take ten times as long as the rest. */
static void test_nvrtc(void) {
  enum { TOGETHER = 100, EVERY = 10, FIRST = 5, UNKNOWN = 990 };
  char log[4096] = "";
  if (!joist_nvrtc_found()) {
    printf("cuda: skipped: no NVRTC\n");
    return;
  }
  (void)joist_cuda_describe_nvrtc(log, sizeof log);
  const char *const quick = atoi(log) >= 13 ? "--Ofast-compile=max" : NULL;
  for (size_t k = 0; k < host_kernel_count(); k += TOGETHER) {
    char *const source = host_sources(k, k + TOGETHER);
    const bool machine = k / TOGETHER % EVERY == FIRST;
    CHECK_MSG(source != NULL && nvrtc_compiles(source, machine ? 90 : UNKNOWN,
                                               machine ? NULL : quick, log, sizeof log),
              "NVRTC: %s", log);
    free(source);
  }
  CHECK(joist_nvrtc_compile("not C++", 90, NULL, log, sizeof log) == NULL &&
        strstr(log, "error") != NULL);
}

/* ---- calls of the runtime ---- */

static void make_simple(struct joist_program *program, joist_op op, joist_dtype dtype, uint32_t n) {
  joist_program_init(program);
  const joist_value_id x = add_input(program, dtype, 1, &n);
  add_output(program, add_simple(program, op, x, x));
}

/* Runs a program of one input and one output on elements that are all bits of 1. */
static void run_often(const struct joist_program *program, int times) {
  struct joist_error error = {0};
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = 1};
  const joist_value_id v = program->outputs[0];
  void *const ones = malloc(bytes_of(program, 0) + 1);
  void *const in = gpu->allocate(gpu, bytes_of(program, 0));
  void *const out = gpu->allocate(gpu, bytes_of(program, v));
  if (!CHECK(ones != NULL && in != NULL && out != NULL)) return;
  memset(ones, 1, bytes_of(program, 0));
  CHECK_INT(gpu->copy(gpu, in, ones, bytes_of(program, 0), JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
  CHECK_INT(joist_plan_make(program, &plan, &error), JOIST_OK);
  for (int k = 0; k < times; k++)
    CHECK_INT(gpu->run(gpu, plan, (const void *[]){in}, (void *[]){out}, &run, &error), JOIST_OK);
  joist_plan_free(plan);
  gpu->free(gpu, in);
  gpu->free(gpu, out);
  free(ones);
}

/* A thread of a compiled kernel has 16 bytes of elements: no more are started. */
static void test_grids(void) {
  enum { N = 1 << 16 };
  static const joist_dtype dtypes[] = {JOIST_I8, JOIST_UI16, JOIST_F32, JOIST_F64};
  static const unsigned per_thread[] = {16, 8, 4, 2};
  for (int round = 0; round < 2; round++) {
    joist_cuda_forget();
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
      struct joist_program program;
      make_simple(&program, JOIST_OP_ADD, dtypes[k], N);
      run_often(&program, 1);
      if (round > 0) CHECK_INT(host_runtime.grid, N / per_thread[k] / JOIST_CUDA_BLOCK);
      joist_program_clear(&program);
    }
    CHECK(host_compile_all());
  }
}

/* Only operations that can fail are waited for. */
static void test_waits(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_kind kind = joist_dtype_kind((joist_dtype)d);
    if (kind != JOIST_KIND_INT && kind != JOIST_KIND_UINT) continue;
    for (int k = 0; k < 2; k++) {
      const joist_op op = k == 0 ? JOIST_OP_POW : JOIST_OP_MOD;
      const long waits = host_runtime.stream_waits;
      struct joist_program program;
      make_simple(&program, op, (joist_dtype)d, 10);
      run_often(&program, 1);
      CHECK_INT(host_runtime.stream_waits - waits,
                kind == JOIST_KIND_INT || op == JOIST_OP_MOD ? 1 : 0);
      joist_program_clear(&program);
    }
  }
}

/* Numbers are drawn without waiting where parameters are literals, or integers folded into a key.
 */
static void test_draw_waits(void) {
  static const joist_op ops[] = {JOIST_OP_RUNIF, JOIST_OP_RNORM, JOIST_OP_RANDINT, JOIST_OP_RBINOM,
                                 JOIST_OP_FOLD_IN};
  const uint32_t n = 1000, two = 2, words[] = {1, 2};
  const float zero = 0, one = 1;
  const bool here[] = {false, true, true};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    const bool folds = ops[k] == JOIST_OP_FOLD_IN;
    const struct joist_run run = {.threads = 1, .here = folds ? NULL : here};
    const struct joist_attributes attributes = drawn_as(folds ? JOIST_UI32 : JOIST_F32, 1, &n);
    const size_t count = joist_operation(ops[k])->least;
    struct joist_program program;
    struct joist_error error = {0};
    struct joist_plan *plan = NULL;
    joist_value_id operands[3], result = 0;
    joist_program_init(&program);
    operands[0] = add_input(&program, JOIST_UI32, 1, &two);
    for (size_t i = 1; i < count; i++)
      operands[i] = add_input(&program, folds ? JOIST_I32 : JOIST_F32, 0, NULL);
    CHECK(add(&program, joist_rules_at(0), ops[k], operands, count, &attributes, &result));
    add_output(&program, result);
    void *const key = gpu->allocate(gpu, 8), *const number = gpu->allocate(gpu, 4);
    void *out = gpu->allocate(gpu, bytes_of(&program, result));
    CHECK_INT(gpu->copy(gpu, key, words, 8, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
    CHECK_INT(gpu->copy(gpu, number, &one, 4, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
    CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
    const struct host_runtime before = host_runtime;
    const void *const inputs[] = {key, folds ? number : (const void *)&zero, &one};
    CHECK_INT(gpu->run(gpu, plan, inputs, &out, &run, &error), JOIST_OK);
    CHECK_INT(host_runtime.launches - before.launches, folds ? 2 : 1);
    CHECK_INT(host_runtime.copies - before.copies, 0);
    CHECK_INT(host_runtime.stream_waits - before.stream_waits, 0);
    joist_plan_free(plan);
    gpu->free(gpu, key);
    gpu->free(gpu, number);
    gpu->free(gpu, out);
    joist_program_clear(&program);
  }
}

/* What is small is compiled, too, when it comes often. */
static void test_frequent(void) {
  const uint32_t n = 10;
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_I64, 1, &n);
  const joist_value_id difference =
      add_simple(&program, JOIST_OP_SUB, add_simple(&program, JOIST_OP_MUL, x, x), x);
  add_output(&program, add_simple(&program, JOIST_OP_MIN, difference, x));
  const size_t kernels = host_kernel_count();
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_AUTO);
  run_often(&program, 20);
  CHECK_INT(host_kernel_count(), kernels);
  run_often(&program, 300);
  CHECK_INT(host_kernel_count(), kernels + 1);
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS);
  joist_program_clear(&program);
}

/* New programs, one after the other, do not pile up. */
static void test_many_programs(void) {
  enum { PROGRAMS = 20000, LENGTH = 14 };
  static const joist_op ops[] = {JOIST_OP_ADD, JOIST_OP_SUB};
  const uint32_t n = 1;
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_AUTO);
  for (int k = 0; k < PROGRAMS; k++) {
    struct joist_program program;
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, JOIST_I16, 1, &n);
    joist_value_id y = x;
    for (int bit = 0; bit <= LENGTH; bit++)
      y = add_simple(&program, ops[k >> bit & 1], bit % 2 == 0 ? y : x, bit % 2 == 0 ? x : y);
    add_output(&program, y);
    run_often(&program, 1);
    joist_program_clear(&program);
  }
  CHECK_MSG(joist_cuda_remembered() <= 16384, "%zu programs", joist_cuda_remembered());
  joist_cuda_set_policy(JOIST_CUDA_COMPILE_ALWAYS);
}

/* Small copies in do not wait for each other, and none is overwritten before it is done. */
static void test_uploads(void) {
  enum { COUNT = 4000, MOST = 5000 };
  struct joist_error error;
  void **const there = calloc(COUNT, sizeof *there);
  unsigned char here[MOST];
  if (!CHECK(there != NULL)) return;
  const long waits = host_runtime.event_waits;
  size_t wrong = 0;
  for (int k = 0; k < COUNT; k++) {
    const size_t bytes = k % 1000 == 999 ? MOST : (size_t)k % 97 + 1;
    there[k] = gpu->allocate(gpu, bytes);
    memset(here, k % 251, bytes);
    CHECK_INT(gpu->copy(gpu, there[k], here, bytes, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
  }
  CHECK_MSG(host_runtime.event_waits - waits < COUNT / 100, "%ld waits",
            host_runtime.event_waits - waits);
  for (int k = 0; k < COUNT; k++) {
    const size_t bytes = k % 1000 == 999 ? MOST : (size_t)k % 97 + 1;
    CHECK_INT(gpu->copy(gpu, here, there[k], bytes, JOIST_COPY_TO_HOST, &error), JOIST_OK);
    for (size_t i = 0; i < bytes; i++) wrong += here[i] != k % 251;
    gpu->free(gpu, there[k]);
  }
  CHECK_INT(wrong, 0);
  free(there);
}

/* What is next to each other is copied, runs are moved in words of up to 16 bytes. */
static void test_words(void) {
  static const struct {
    joist_dtype dtype;
    uint32_t rows;
    int dim;
    long launches;
    unsigned grid;
  } cases[] = {{JOIST_I16, 8, 0, 2, 1024 / JOIST_CUDA_BLOCK},
               {JOIST_I16, 4, 0, 2, 1024 / JOIST_CUDA_BLOCK},
               {JOIST_I8, 7, 0, 2, 7 * 1024 / JOIST_CUDA_BLOCK},
               {JOIST_C128, 2, 0, 2, 2 * 1024 / JOIST_CUDA_BLOCK},
               {JOIST_I8, 7, 1, 0, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const uint32_t extents[] = {cases[k].rows, 1024};
    const struct joist_attributes attributes =
        with(no_attributes, JOIST_ATTRIBUTE_DIM, cases[k].dim);
    struct joist_program program;
    joist_value_id result = 0;
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, cases[k].dtype, 2, extents);
    const long before = launches_so_far();
    CHECK(add(&program, joist_rules_at(0), JOIST_OP_CONCATENATE, (joist_value_id[]){x, x}, 2,
              &attributes, &result));
    add_output(&program, result);
    check_program(&program, FILL_BITS, "concatenate");
    CHECK_INT(host_runtime.launches - before, cases[k].launches);
    if (cases[k].launches > 0) CHECK_INT(host_runtime.grid, cases[k].grid);
    joist_program_clear(&program);
  }
}

/* As a finalizer that frees a tensor of another device. */
static bool use_another(void *context) {
  const struct joist_device *const second = joist_device_find("cuda:1");
  second->free(second, second->allocate(second, 1));
  ++*(int *)context;
  return false;
}

static void test_poll(void) {
  const uint32_t n = 100;
  struct joist_program program;
  struct joist_error error = {0};
  struct joist_plan *plan = NULL;
  int polls = 0;
  const struct joist_run run = {.threads = 1, .poll = use_another, .context = &polls};
  const int64_t start = 10, stop = 59;
  const struct joist_attributes attributes = with_list(
      with_list(no_attributes, JOIST_ATTRIBUTE_START, &start, 1), JOIST_ATTRIBUTE_STOP, &stop, 1);
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 1, &n);
  const joist_value_id sum = add_simple(&program, JOIST_OP_ADD, x, x);
  add_output(&program, add_move(&program, JOIST_OP_SLICE, sum, sum, &attributes));
  void *const in = gpu->allocate(gpu, 400), *out = gpu->allocate(gpu, 400);
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  CHECK_MSG(gpu->run(gpu, plan, (const void *[]){in}, &out, &run, &error) == JOIST_OK, "%s",
            words(&error));
  CHECK(polls > 0);
  joist_plan_free(plan);
  joist_program_clear(&program);
  gpu->free(gpu, in);
  gpu->free(gpu, out);
}

static void test_calls(void) {
  test_grids();
  test_waits();
  test_draw_waits();
  test_frequent();
  test_many_programs();
  test_uploads();
  test_words();
  test_poll();
}

#endif
