/* Moving elements, against index arithmetic one element at a time: every element size,
 * ranks 0 to 4, zero extents; and programs of the operations that move. */
#include "core/cpu/engine.h"
#include "core/ops/move/move_ops.h"
#include "core/ops/move/permute.h"
#include "core/ops/move/place.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"

enum { ROUNDS = 400, COUNT_MAX = 1 << 16, GUARD = 16 };

static const size_t sizes[] = {1, 2, 4, 8, 16};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---- arrays of bytes ---- */

static void *allocate(size_t bytes) {
  void *const block = malloc(bytes + GUARD);
  if (block == NULL) abort();
  memset(block, 0x5a, bytes + GUARD);
  return block;
}

/* Random bytes. */
static char *random_elements(size_t bytes) {
  char *const block = allocate(bytes);
  for (size_t k = 0; k < bytes; k++) block[k] = (char)random_bits();
  return block;
}

/* Equal, and nothing written past the end. */
static void check_bytes(const char *got, const char *want, size_t bytes, const char *what) {
  size_t at = 0;
  while (at < bytes && got[at] == want[at]) at++;
  CHECK_MSG(at == bytes, "%s: byte %zu of %zu differs", what, at, bytes);
  bool clean = true;
  for (size_t k = 0; k < GUARD; k++) clean &= got[bytes + k] == 0x5a;
  CHECK_MSG(clean, "%s: written past its end", what);
}

/* ---- random shapes and indices ---- */

static struct joist_shape random_shape(int rank) {
  static const uint32_t extents[] = {0, 1, 1, 2, 3, 4, 5, 7, 31, 32, 33, 65};
  struct joist_shape shape = {rank, {0}};
  size_t room = COUNT_MAX;
  for (int d = 0; d < rank; d++) {
    uint32_t extent = extents[random_below(sizeof extents / sizeof *extents)];
    if (extent == 0 && !one_in(3)) extent = 2;
    if (extent > room) extent = (uint32_t)room;
    shape.extent[d] = extent;
    if (extent > 0) room /= extent;
  }
  return shape;
}

static int64_t *random_positions(size_t n, size_t below) {
  int64_t *const positions = allocate(n * sizeof *positions);
  for (size_t k = 0; k < n; k++) positions[k] = (int64_t)random_below(below);
  return positions;
}

/* The indices of element `at`. */
static void indices_of(const struct joist_shape *shape, size_t at, size_t *index) {
  for (int d = 0; d < shape->rank; d++) {
    index[d] = at % shape->extent[d];
    at /= shape->extent[d];
  }
}

static size_t position_of(const struct joist_shape *shape, const size_t *index) {
  size_t at = 0, stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    at += index[d] * stride;
    stride *= shape->extent[d];
  }
  return at;
}

/* ---- the functions ---- */

static const struct joist_run runs[] = {{.threads = 1}, {.threads = 3, .parallel_from = 1}};

static struct joist_run random_run(void) { return runs[random_below(2)]; }

/* Positions along a dim: all, a range, a list of any kind that counts from 0 or 1. `list` is
 * the caller's to free, `positions` has them as they should be read. */
static struct joist_index random_index(size_t extent, size_t most, void **list,
                                       int64_t *positions) {
  struct joist_index index = joist_index_all(extent);
  *list = NULL;
  if (extent > most) index.count = most;
  if (extent == 0) return index;
  if (one_in(2)) {
    if (one_in(2)) { /* a range, backwards or forwards */
      index.start = (int64_t)random_below(extent);
      index.step = 1 + (int64_t)random_below(3);
      if (one_in(2)) index.step = -index.step;
      const int64_t room = index.step > 0 ? (int64_t)extent - 1 - index.start : index.start;
      index.count = 1 + (size_t)(room / (index.step > 0 ? index.step : -index.step));
      if (index.count > most) index.count = most;
    }
  } else {
    index.kind = (joist_index_kind)(1 + random_below(3));
    index.base = (int64_t)random_below(2);
    index.count = random_below((most < 40 ? most : 40) + 1);
    *list = allocate((index.count + 1) * 8);
    index.list = *list;
    for (size_t k = 0; k < index.count; k++) {
      const int64_t entry = (int64_t)random_below(extent) + index.base;
      if (index.kind == JOIST_INDEX_I32)
        ((int32_t *)*list)[k] = (int32_t)entry;
      else if (index.kind == JOIST_INDEX_I64)
        ((int64_t *)*list)[k] = entry;
      else
        ((double *)*list)[k] = (double)entry + (one_in(2) ? 0.25 : 0);
      positions[k] = entry - index.base;
    }
    return index;
  }
  for (size_t k = 0; k < index.count; k++) positions[k] = index.start + (int64_t)k * index.step;
  return index;
}

/* One index per dim, with repeats: taken, and put in order, so that the last one wins. */
static void test_dims(void) {
  for (int round = 0; round < 2 * ROUNDS; round++) {
    const size_t size = sizes[random_below(SIZES)];
    const struct joist_shape shape = random_shape((int)random_below(5));
    const struct joist_run run = random_run();
    struct joist_shape result = {shape.rank, {0}};
    struct joist_index indices[JOIST_RANK_MAX];
    void *lists[JOIST_RANK_MAX] = {NULL};
    int64_t *chosen[JOIST_RANK_MAX];
    size_t room = COUNT_MAX;
    for (int d = 0; d < shape.rank; d++) {
      chosen[d] = allocate(((size_t)shape.extent[d] + 64) * sizeof **chosen);
      indices[d] = random_index(shape.extent[d], room, &lists[d], chosen[d]);
      result.extent[d] = (uint32_t)indices[d].count;
      if (result.extent[d] > 0) room = room / result.extent[d] + 1;
    }
    const size_t n = elements_in(&shape), count = elements_in(&result);
    char *const in = random_elements(n * size);
    char *const out = allocate(count * size), *const want = allocate(count * size);
    int64_t *const positions = allocate(count * sizeof *positions);
    int64_t *const wanted = allocate(count * sizeof *wanted);
    for (size_t k = 0; k < count; k++) {
      size_t at[JOIST_RANK_MAX];
      indices_of(&result, k, at);
      for (int d = 0; d < shape.rank; d++) at[d] = (size_t)chosen[d][at[d]];
      wanted[k] = (int64_t)position_of(&shape, at);
      memcpy(want + k * size, in + (size_t)wanted[k] * size, size);
    }
    joist_positions(&shape, indices, positions);
    check_bytes((char *)positions, (char *)wanted, count * sizeof *wanted, "joist_positions");
    struct joist_walk walk;
    joist_walk_take(&shape, indices, &walk);
    CHECK_INT(joist_move(size, &walk, in, out, &run, NULL), JOIST_OK);
    check_bytes(out, want, count * size, "joist_walk_take");

    const bool repeated = one_in(3);
    char *const value = random_elements((repeated ? 1 : count) * size);
    char *const put = allocate(n * size), *const reference = allocate(n * size);
    memcpy(put, in, n * size);
    memcpy(reference, in, n * size);
    joist_walk_put(&shape, indices, repeated, &walk);
    CHECK_INT(joist_move(size, &walk, value, put, &run, NULL), JOIST_OK);
    for (size_t k = 0; k < count; k++)
      memcpy(reference + (size_t)wanted[k] * size, value + (repeated ? 0 : k) * size, size);
    check_bytes(put, reference, n * size, "joist_walk_put");
    for (int d = 0; d < shape.rank; d++) {
      free(lists[d]);
      free(chosen[d]);
    }
    free(in);
    free(out);
    free(want);
    free(positions);
    free(wanted);
    free(value);
    free(put);
    free(reference);
  }
}

/* More elements than a thread takes at once. */
static void test_large(void) {
  enum { LARGE = 200003 };
  for (int s = 0; s < SIZES; s++)
    for (int r = 0; r < 2; r++) {
      const size_t size = sizes[s];
      char *const in = random_elements(LARGE * size);
      char *const out = allocate(LARGE * size), *const want = allocate(LARGE * size);
      CHECK_INT(joist_copy_elements(size, LARGE, in, out, &runs[r], NULL), JOIST_OK);
      check_bytes(out, in, LARGE * size, "joist_copy_elements");
      CHECK_INT(joist_repeat_element(size, LARGE, in, out, &runs[r], NULL), JOIST_OK);
      for (size_t k = 0; k < LARGE; k++) memcpy(want + k * size, in, size);
      check_bytes(out, want, LARGE * size, "joist_repeat_element");
      int64_t *const positions = random_positions(LARGE, LARGE);
      const struct joist_index index = joist_index_of(positions, LARGE);
      struct joist_walk walk;
      joist_walk_init(&walk, false);
      joist_walk_add(&walk, LARGE, 1, 1, &index);
      CHECK_INT(joist_move(size, &walk, in, out, &runs[r], NULL), JOIST_OK);
      for (size_t k = 0; k < LARGE; k++)
        memcpy(want + k * size, in + (size_t)positions[k] * size, size);
      check_bytes(out, want, LARGE * size, "a large gather");
      /* The last of equal positions wins, however many threads there are. */
      joist_walk_init(&walk, true);
      joist_walk_add(&walk, LARGE, 1, 1, &index);
      memcpy(out, in, LARGE * size);
      memcpy(want, in, LARGE * size);
      CHECK_INT(joist_move(size, &walk, in, out, &runs[r], NULL), JOIST_OK);
      for (size_t k = 0; k < LARGE; k++)
        memcpy(want + (size_t)positions[k] * size, in + k * size, size);
      check_bytes(out, want, LARGE * size, "a large scatter");
      free(positions);
      free(in);
      free(out);
      free(want);
    }
}

static bool stop(void *calls) { return ++*(int *)calls > 0; }

/* The caller is asked between blocks, and can stop. */
static void test_poll(void) {
  enum { MANY = 40000000 };
  int calls = 0;
  const struct joist_run run = {.threads = 1, .poll = stop, .context = &calls};
  char value = 7, *const out = malloc(MANY);
  if (out == NULL) return;
  struct joist_error error;
  CHECK_INT(joist_repeat_element(1, MANY, &value, out, &run, &error), JOIST_INTERRUPTED);
  CHECK_INT(calls, 1);
  free(out);
}

static void check_permutation(size_t size, const struct joist_shape *shape, const int64_t *order) {
  char text[JOIST_SHAPE_TEXT], what[JOIST_SHAPE_TEXT + 64];
  struct joist_shape result = {shape->rank, {0}};
  for (int d = 0; d < shape->rank; d++) result.extent[d] = shape->extent[order[d]];
  const size_t n = elements_in(shape);
  char *const in = random_elements(n * size);
  char *const out = allocate(n * size), *const want = allocate(n * size);
  for (size_t k = 0; k < n; k++) {
    size_t at[JOIST_RANK_MAX], from[JOIST_RANK_MAX];
    indices_of(&result, k, at);
    for (int d = 0; d < shape->rank; d++) from[order[d]] = at[d];
    memcpy(want + k * size, in + position_of(shape, from) * size, size);
  }
  const struct joist_run run = random_run();
  const struct joist_attributes attributes =
      with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, order, (size_t)shape->rank);
  CHECK_INT(joist_permute(size, shape, &attributes, in, out, &run, NULL), JOIST_OK);
  snprintf(what, sizeof what, "joist_permute of %s, element size %zu, first dim %d",
           joist_shape_format(shape, text), size, shape->rank > 0 ? (int)order[0] : -1);
  check_bytes(out, want, n * size, what);
  free(in);
  free(out);
  free(want);
}

static void test_permute(void) {
  for (int s = 0; s < SIZES; s++) {
    static const int64_t swap[] = {1, 0};
    /* Around the square blocks of a transposition. */
    static const uint32_t about[] = {1, 2, 7, 17, 31, 32, 33, 64, 65, 129};
    for (size_t a = 0; a < sizeof about / sizeof *about; a++)
      for (size_t b = 0; b < sizeof about / sizeof *about; b++)
        check_permutation(sizes[s], &(struct joist_shape){2, {about[a], about[b]}}, swap);
  }
  for (int round = 0; round < ROUNDS; round++) {
    const struct joist_shape shape = random_shape((int)random_below(6));
    int64_t order[JOIST_RANK_MAX];
    for (int d = 0; d < shape.rank; d++) {
      const int other = (int)random_below((size_t)d + 1);
      order[d] = order[other];
      order[other] = d;
    }
    check_permutation(sizes[random_below(SIZES)], &shape, order);
  }
}

static void test_concatenate(void) {
  for (int round = 0; round < ROUNDS; round++) {
    enum { PARTS_MAX = 4 };
    const size_t size = sizes[random_below(SIZES)], parts = 1 + random_below(PARTS_MAX);
    struct joist_shape shape = random_shape(1 + (int)random_below(4));
    const int dim = (int)random_below((size_t)shape.rank);
    struct joist_shape part[PARTS_MAX];
    char *in[PARTS_MAX];
    shape.extent[dim] = 0;
    for (size_t p = 0; p < parts; p++) {
      part[p] = shape;
      part[p].extent[dim] = (uint32_t)random_below(5);
      in[p] = random_elements(elements_in(&part[p]) * size);
    }
    for (size_t p = 0; p < parts; p++) shape.extent[dim] += part[p].extent[dim];
    const size_t n = elements_in(&shape);
    char *const out = allocate(n * size), *const want = allocate(n * size);
    size_t first = 0;
    for (size_t p = 0; p < parts; p++) {
      const size_t own = elements_in(&part[p]);
      for (size_t k = 0; k < own; k++) {
        size_t at[JOIST_RANK_MAX];
        indices_of(&part[p], k, at);
        at[dim] += first;
        memcpy(want + position_of(&shape, at) * size, in[p] + k * size, size);
      }
      const struct joist_run run = random_run();
      struct joist_walk walk;
      CHECK_INT(joist_walk_part(&shape, &part[p], dim, first, &walk), part[p].extent[dim]);
      CHECK_INT(joist_move(size, &walk, in[p], out, &run, NULL), JOIST_OK);
      first += part[p].extent[dim];
    }
    check_bytes(out, want, n * size, "joist_walk_part");
    for (size_t p = 0; p < parts; p++) free(in[p]);
    free(out);
    free(want);
  }
}

/* ---- programs ---- */

static joist_value_id input_of(struct joist_program *program, joist_dtype dtype,
                               const struct joist_shape *shape) {
  return add_input(program, dtype, shape->rank, shape->extent);
}

static joist_value_id add_move(struct joist_program *program, joist_op op,
                               const joist_value_id *operands, size_t count,
                               const struct joist_attributes *attributes) {
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), op, operands, count, attributes, &result));
  return result;
}

/* put(concatenate(x, x), where, take(x, from)), and what it is made of. The outputs are in
 * another order than they are computed in, and one is an input. */
static void check_program(joist_dtype dtype, uint32_t rows, uint32_t columns, size_t moved) {
  const struct joist_shape shape = {2, {rows, columns}}, list = {1, {(uint32_t)moved}};
  const size_t size = joist_dtype_size(dtype), n = (size_t)rows * columns;
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id x = input_of(&program, dtype, &shape);
  const joist_value_id from = input_of(&program, JOIST_I64, &list);
  const joist_value_id where = input_of(&program, JOIST_I64, &list);
  const struct joist_attributes columnwise = with(no_attributes, JOIST_ATTRIBUTE_DIM, 1);
  const joist_value_id taken =
      add_move(&program, JOIST_OP_TAKE, (joist_value_id[]){x, from}, 2, &no_attributes);
  const joist_value_id both =
      add_move(&program, JOIST_OP_CONCATENATE, (joist_value_id[]){x, x}, 2, &columnwise);
  const joist_value_id put =
      add_move(&program, JOIST_OP_PUT, (joist_value_id[]){both, where, taken}, 3, &no_attributes);
  const joist_value_id outputs[] = {put, taken, x, both};
  enum { OUTPUTS = 4 };
  for (int k = 0; k < OUTPUTS; k++)
    CHECK_INT(joist_program_add_output(&program, outputs[k], NULL), JOIST_OK);

  char *const in = random_elements(n * size);
  int64_t *const sources = random_positions(moved, n), *const targets =
                                                           random_positions(moved, 2 * n);
  const void *const inputs[] = {in, sources, targets};
  const size_t bytes[OUTPUTS] = {2 * n * size, moved * size, n * size, 2 * n * size};
  char *want[OUTPUTS];
  for (int k = 0; k < OUTPUTS; k++) want[k] = allocate(bytes[k]);
  memcpy(want[2], in, n * size);
  for (int k = 0; k < 2; k++) memcpy(want[3] + (size_t)k * n * size, in, n * size);
  memcpy(want[0], want[3], 2 * n * size);
  for (size_t k = 0; k < moved; k++) {
    memcpy(want[1] + k * size, in + (size_t)sources[k] * size, size);
    memcpy(want[0] + (size_t)targets[k] * size, want[1] + k * size, size);
  }

  struct joist_plan *plan = NULL;
  struct joist_error error;
  if (CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK))
    for (int threads = 1; threads <= 2; threads++) {
      const struct joist_run run = {.threads = threads};
      void *got[OUTPUTS];
      for (int k = 0; k < OUTPUTS; k++) got[k] = allocate(bytes[k]);
      CHECK_INT(joist_plan_run(plan, inputs, got, &run, &error), JOIST_OK);
      for (int k = 0; k < OUTPUTS; k++) {
        char what[64];
        snprintf(what, sizeof what, "output %d of a program of %s", k, joist_dtype_name(dtype));
        check_bytes(got[k], want[k], bytes[k], what);
        free(got[k]);
      }
    }
  for (int k = 0; k < OUTPUTS; k++) free(want[k]);
  free(in);
  free(sources);
  free(targets);
  joist_plan_free(plan);
  joist_program_clear(&program);
}

static void test_programs(void) {
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    check_program((joist_dtype)dtype, 3, 4, 5);
    check_program((joist_dtype)dtype, 1, 1, 1);
    check_program((joist_dtype)dtype, 7, 9, 0);
    check_program((joist_dtype)dtype, 300, 200, 40000);
  }
}

/* One value is put at every position; nothing is put into an array without elements. */
static void test_put_one(void) {
  static const struct joist_shape six = {1, {6}}, two = {1, {2}}, scalar = {0, {0}}, no = {1, {0}};
  const float in[] = {1, 2, 3, 4, 5, 6}, value = 9;
  const int64_t where[] = {1, 4};
  for (int empty = 0; empty < 2; empty++) {
    const struct joist_shape *const shape = empty ? &no : &six;
    struct joist_program program;
    struct joist_plan *plan = NULL;
    joist_program_init(&program);
    const joist_value_id operands[] = {input_of(&program, JOIST_F32, shape),
                                       input_of(&program, JOIST_I64, empty ? &no : &two),
                                       input_of(&program, JOIST_F32, &scalar)};
    const joist_value_id put = add_move(&program, JOIST_OP_PUT, operands, 3, &no_attributes);
    CHECK_INT(joist_program_add_output(&program, put, NULL), JOIST_OK);
    CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
    const void *const inputs[] = {in, where, &value};
    float out[6] = {0};
    void *const outputs[] = {out};
    const struct joist_run run = {.threads = 1};
    CHECK_INT(joist_plan_run(plan, inputs, outputs, &run, NULL), JOIST_OK);
    for (int k = 0; k < 6; k++)
      CHECK(out[k] == (empty ? 0 : k == 1 || k == 4 ? 9 : (float)(k + 1)));
    joist_plan_free(plan);
    joist_program_clear(&program);
  }
}

/* Parts at random places, with dims in order or reversed, compared with one element at a time. */
static void test_places(void) {
  for (int round = 0; round < ROUNDS; round++) {
    const size_t size = sizes[random_bits() % SIZES];
    struct joist_shape shape = {.rank = (int)(random_bits() % 5)}, part = {.rank = shape.rank};
    uint32_t start[JOIST_RANK_MAX] = {0};
    const bool turned = random_bits() % 2 == 0;
    for (int d = 0; d < shape.rank; d++) {
      shape.extent[d] = (uint32_t)(1 + random_bits() % 9);
      start[d] = (uint32_t)(random_bits() % shape.extent[d]);
      const uint32_t extent = (uint32_t)(random_bits() % (shape.extent[d] - start[d] + 1));
      part.extent[turned ? shape.rank - 1 - d : d] = extent;
    }
    size_t count = 0, piece = 0;
    CHECK(joist_shape_count(&shape, &count) && joist_shape_count(&part, &piece));
    char *const in = random_elements(piece * size), *const out = random_elements(count * size);
    char *const want = allocate(count * size);
    memcpy(want, out, count * size);
    for (size_t k = 0; k < piece; k++) {
      size_t rest = k, at = 0;
      size_t position[JOIST_RANK_MAX];
      for (int d = 0; d < part.rank; d++) {
        position[turned ? part.rank - 1 - d : d] = rest % part.extent[d];
        rest /= part.extent[d];
      }
      for (int d = shape.rank; d-- > 0;) at = at * shape.extent[d] + start[d] + position[d];
      memcpy(want + at * size, in + k * size, size);
    }
    const struct joist_run run = {.threads = 1 + round % 3, .parallel_from = 1};
    const struct joist_place place = {&shape, &part, turned, start};
    CHECK(joist_place_fits(&place));
    CHECK_INT(joist_place_part(size, &place, in, out, &run, NULL), JOIST_OK);
    check_bytes(out, want, count * size, "place");
    if (shape.rank > 0) {
      start[0] = shape.extent[0] + 1;
      CHECK(!joist_place_fits(&place));
    }
    free(in);
    free(out);
    free(want);
  }
}

int main(void) {
  use_rules();
  test_large();
  test_poll();
  test_dims();
  test_permute();
  test_concatenate();
  test_programs();
  test_put_one();
  test_places();
  return check_report("walk");
}
