/* memory.h: small blocks of memory and calls of the driver that they save, on the stand-in.
 * Included by standin.h. */
#ifndef JOIST_TESTS_CUDA_MEMORY_H
#define JOIST_TESTS_CUDA_MEMORY_H

/* ---- blocks ---- */

enum { HELD = 6000, LARGEST = 40000 };
static struct held {
  unsigned char *at;
  size_t bytes;
} held[HELD];

/* Sizes around the limits of classes come often. */
static size_t random_bytes(void) {
  const size_t around = (size_t)256 << random_below(8);
  return one_in(3) ? around - 1 + random_below(3) : random_below(one_in(4) ? LARGEST : 700);
}

/* The memory of the stand-in is that of the process. */
static void hold(int k) {
  held[k].bytes = random_bytes();
  held[k].at = gpu->allocate(gpu, held[k].bytes);
  if (!CHECK(held[k].at != NULL)) return;
  memset(held[k].at, k % 251, held[k].bytes);
}

static size_t wrong_bytes(void) {
  size_t wrong = 0;
  for (int k = 0; k < HELD; k++)
    for (size_t i = 0; i < held[k].bytes; i++) wrong += held[k].at[i] != k % 251;
  return wrong;
}

static size_t bytes_held(void) {
  size_t bytes = 0;
  for (int k = 0; k < HELD; k++) bytes += held[k].bytes;
  return bytes;
}

static int by_address(const void *lhs, const void *rhs) {
  const unsigned char *const a = ((const struct held *)lhs)->at, *const b =
                                                                     ((const struct held *)rhs)->at;
  return (a > b) - (a < b);
}

/* Blocks in use share no byte, are aligned, and are counted. */
static void check_blocks(size_t used_before) {
  static struct held sorted[HELD];
  size_t shared = 0, askew = 0;
  memcpy(sorted, held, sizeof held);
  qsort(sorted, HELD, sizeof *sorted, by_address);
  for (int k = 0; k < HELD; k++) {
    askew += (uintptr_t)sorted[k].at % 256 != 0;
    if (k > 0) shared += sorted[k - 1].at + sorted[k - 1].bytes > sorted[k].at;
    if (k > 0) shared += sorted[k - 1].at == sorted[k].at;
  }
  CHECK_INT(shared, 0);
  CHECK_INT(askew, 0);
  CHECK_INT(wrong_bytes(), 0);
  const size_t used = gpu->figures(gpu).used - used_before;
  CHECK(used >= bytes_held() && used <= 2 * bytes_held() + HELD * 256);
}

static void test_blocks(void) {
  const size_t blocks = blocks_in_use(), used = gpu->figures(gpu).used;
  CHECK_INT(gpu->figures(gpu).kept, 0);
  for (int k = 0; k < HELD; k++) hold(k);
  check_blocks(used);
  for (int round = 0; round < 5; round++) {
    for (int k = 0; k < HELD; k++) {
      if (one_in(2)) continue;
      gpu->free(gpu, held[k].at);
      hold(k);
    }
    check_blocks(used);
    if (round == 2) (void)gpu->trim(gpu); /* keeps the blocks in use */
  }
  const struct joist_device_figures figures = gpu->figures(gpu);
  CHECK_INT(figures.used + figures.kept, host_runtime.used);
  for (int k = 0; k < HELD; k++) gpu->free(gpu, held[k].at);
  /* What is free is not used, and trimming gives all of it back. */
  CHECK_INT(gpu->figures(gpu).used, used);
  const size_t kept = gpu->figures(gpu).kept;
  CHECK(kept > 0);
  CHECK_INT(gpu->trim(gpu), kept);
  CHECK_INT(gpu->figures(gpu).kept, 0);
  CHECK_INT(host_runtime.blocks, blocks);
}

/* A block is used again, and few empty slabs are kept. */
static void test_reuse(void) {
  enum { COUNT = 3000 };
  static void *all[COUNT];
  (void)gpu->trim(gpu);
  void *const first = gpu->allocate(gpu, 100);
  gpu->free(gpu, first);
  void *const second = gpu->allocate(gpu, 200);
  CHECK(first == second);
  gpu->free(gpu, second);
  for (int k = 0; k < COUNT; k++) all[k] = gpu->allocate(gpu, 32 << 10);
  for (int k = 0; k < COUNT; k++) gpu->free(gpu, all[k]);
  CHECK(gpu->figures(gpu).kept >= 16 << 20 && gpu->figures(gpu).kept <= 64 << 20);
  /* Empty slabs serve blocks of any size. */
  const long allocations = host_runtime.allocations;
  for (int k = 0; k < COUNT; k++) all[k] = gpu->allocate(gpu, 1);
  CHECK_INT(host_runtime.allocations, allocations);
  for (int k = 0; k < COUNT; k++) gpu->free(gpu, all[k]);
  (void)gpu->trim(gpu);
}

/* Before memory is out, what is kept is used; and a block gets what is left of it. */
static void test_last_memory(void) {
  const size_t limit = host_runtime.limit, blocks = blocks_in_use();
  void *all[100];
  for (int k = 0; k < 100; k++) all[k] = gpu->allocate(gpu, 32 << 10);
  for (int k = 0; k < 100; k++) gpu->free(gpu, all[k]);
  CHECK(gpu->figures(gpu).kept > 0);
  host_runtime.limit = host_runtime.used + 1000;
  void *const large = gpu->allocate(gpu, 2 << 20);
  CHECK(large != NULL);
  gpu->free(gpu, large);
  (void)gpu->trim(gpu);
  host_runtime.limit = host_runtime.used + 1000;
  void *const small = gpu->allocate(gpu, 600);
  CHECK(small != NULL && gpu->allocate(gpu, 600) == NULL);
  gpu->free(gpu, small);
  host_runtime.limit = limit;
  CHECK_INT(blocks_in_use(), blocks);
  /* Other errors are not a lack of memory: only memory allocated before is handed out. */
  host_runtime.allocation = cudaErrorIllegalAddress;
  CHECK(gpu->allocate(gpu, 600) == NULL);
  host_runtime.allocation = cudaSuccess;
}

/* ---- calls ---- */

static void make_sum(struct joist_program *program, uint32_t n) {
  joist_program_init(program);
  const joist_value_id x = add_input(program, JOIST_F32, 1, &n);
  add_output(program, add_simple(program, JOIST_OP_ADD, x, x));
}

/* An operation on small tensors is one launch, and no other call. */
static void test_calls_of_one(void) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error = {0};
  const struct joist_run run = {.threads = 1};
  make_sum(&program, 3);
  void *const in = gpu->allocate(gpu, 12);
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  CHECK_INT(gpu->synchronize(gpu, &error), JOIST_OK);
  const struct host_runtime before = host_runtime;
  for (int k = 0; k < 100; k++) {
    void *const out = gpu->allocate(gpu, 12);
    CHECK_INT(gpu->run(gpu, plan, (const void *[]){in}, (void *[]){out}, &run, &error), JOIST_OK);
    gpu->free(gpu, out);
  }
  CHECK_INT(host_runtime.launches - before.launches, 100);
  CHECK_INT(host_runtime.settings, before.settings);
  CHECK_INT(host_runtime.allocations, before.allocations);
  CHECK_INT(host_runtime.copies, before.copies);
  /* Somebody else in this process changes the device. */
  for (int k = 0; k < 2; k++) {
    host_runtime.context = k == 0;
    CHECK_INT(cudaSetDevice(1), cudaSuccess);
    CHECK_INT(gpu->run(gpu, plan, (const void *[]){in}, (void *[]){in}, &run, &error), JOIST_OK);
    int ordinal = -1;
    CHECK(cudaGetDevice(&ordinal) == cudaSuccess && ordinal == gpu->ordinal);
  }
  host_runtime.context = 1;
  joist_plan_free(plan);
  joist_program_clear(&program);
  gpu->free(gpu, in);
}

/* x + y for a y that is here: no copy and no memory, whatever becomes of y. */
static void test_given(void) {
  enum { N = 5 };
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    if (!joist_dtype_has_zero(dtype)) continue; /* some of the elements would be NaN */
    const uint32_t n = N;
    struct joist_program program;
    struct joist_plan *plan = NULL;
    struct joist_error error = {0};
    char x[16 * N], y[16], want[16 * N], got[16 * N];
    joist_program_init(&program);
    const joist_value_id a = add_input(&program, dtype, 1, &n);
    const joist_value_id b = add_input(&program, dtype, 0, NULL);
    add_output(&program, add_simple(&program, JOIST_OP_EQ, a, b));
    if (d != JOIST_BOOL) add_output(&program, add_simple(&program, JOIST_OP_MUL, b, b));
    fill(dtype, N, FILL_SMALL, x);
    memcpy(y, x + joist_dtype_size(dtype), joist_dtype_size(dtype));
    void *outputs[] = {want, x}, *there[] = {gpu->allocate(gpu, N), gpu->allocate(gpu, 16)};
    void *const in = gpu->allocate(gpu, N * joist_dtype_size(dtype));
    const bool here[] = {false, true};
    const struct joist_run run = {.threads = 1, .here = here};
    CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
    CHECK_INT(gpu->copy(gpu, in, x, N * joist_dtype_size(dtype), JOIST_COPY_TO_DEVICE, &error),
              JOIST_OK);
    CHECK_INT(
        joist_plan_run(plan, (const void *[]){x, y}, (void *[]){want, outputs[1]}, &run, &error),
        JOIST_OK);
    const struct host_runtime before = host_runtime;
    CHECK_INT(gpu->run(gpu, plan, (const void *[]){in, y}, there, &run, &error), JOIST_OK);
    CHECK_INT(host_runtime.copies - before.copies, joist_dtype_size(dtype) > 8 ? 1 : 0);
    CHECK_INT(host_runtime.allocations, before.allocations);
    memset(y, 77, sizeof y);
    CHECK_INT(gpu->copy(gpu, got, there[0], N, JOIST_COPY_TO_HOST, &error), JOIST_OK);
    CHECK_MSG(memcmp(got, want, N) == 0 && got[1] == 1, "%s", joist_dtype_name(dtype));
    joist_plan_free(plan);
    joist_program_clear(&program);
    for (int k = 0; k < 2; k++) gpu->free(gpu, there[k]);
    gpu->free(gpu, in);
  }
}

/* One that is an output, is moved, or is read by what the CPU runs is copied. */
static void test_given_elsewhere(void) {
  enum { OUTPUT, MOVED, ON_CPU, KINDS };
  static const long copies[KINDS] = {1, 1, 3}; /* of it; and to and from the CPU */
  const uint32_t n = 3, one = 1;
  for (int kind = 0; kind < KINDS; kind++) {
    struct joist_program program;
    struct joist_plan *plan = NULL;
    struct joist_error error = {0};
    float x[3] = {1, 2, 3}, y = 5, got[5] = {0}, want[5] = {0};
    const bool here[] = {false, true};
    const struct joist_run run = {.threads = 1, .here = here};
    const int64_t edge = 1;
    const struct joist_attributes scalar =
                                      with_shape(no_attributes, &(struct joist_shape){.rank = 0}),
                                  first = with(no_attributes, JOIST_ATTRIBUTE_DIM, 0),
                                  pads = with_list(
                                      with_list(no_attributes, JOIST_ATTRIBUTE_LOW, &edge, 1),
                                      JOIST_ATTRIBUTE_HIGH, &edge, 1);
    joist_value_id result = 0, point = 0;
    joist_program_init(&program);
    const joist_value_id a = add_input(&program, JOIST_F32, 1, &n);
    const joist_value_id b = add_input(&program, JOIST_F32, 1, &one);
    CHECK(add(&program, joist_rules_at(0), JOIST_OP_RESHAPE, &b, 1, &scalar, &point));
    if (kind == MOVED) result = add_move(&program, JOIST_OP_PAD, a, point, &pads);
    if (kind == ON_CPU)
      CHECK(add(&program, joist_rules_at(0), JOIST_OP_ARGSORT, &b, 1, &first, &result));
    add_output(&program, kind == OUTPUT ? point : result);
    const size_t bytes = bytes_of(&program, program.outputs[0]);
    void *const in = gpu->allocate(gpu, sizeof x), *out = gpu->allocate(gpu, bytes);
    CHECK_INT(gpu->copy(gpu, in, x, sizeof x, JOIST_COPY_TO_DEVICE, &error), JOIST_OK);
    CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
    CHECK_INT(joist_plan_run(plan, (const void *[]){x, &y}, (void *[]){want}, &run, &error),
              JOIST_OK);
    const long before = host_runtime.copies;
    CHECK_INT(gpu->run(gpu, plan, (const void *[]){in, &y}, &out, &run, &error), JOIST_OK);
    CHECK_INT(host_runtime.copies - before, copies[kind]);
    y = 0;
    CHECK_INT(gpu->copy(gpu, got, out, bytes, JOIST_COPY_TO_HOST, &error), JOIST_OK);
    CHECK(memcmp(got, want, bytes) == 0);
    joist_plan_free(plan);
    joist_program_clear(&program);
    gpu->free(gpu, in);
    gpu->free(gpu, out);
  }
}

static void test_memory(void) {
  test_blocks();
  test_reuse();
  test_last_memory();
  test_calls_of_one();
  test_given();
  test_given_elsewhere();
}

#endif
