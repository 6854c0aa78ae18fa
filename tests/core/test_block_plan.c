/* Programs block by block beside the same programs on whole arrays: random programs of operations
 * whose results have blocks, with blocks in both orders of dims. Also the chunks of results. */
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/block_plan.h"
#include "core/plan/block_schedule.h"
#include "core/plan/plan.h"
#include "core/program/blocks.h"

#include "arrays.h"
#include "check.h"
#include "programs.h"
#include "rules.h"

enum { PROGRAMS = 3000, STEPS = 7, RANK = 4 };

/* ---- running ---- */

static void run_program(const struct joist_program *program, const void *const *inputs,
                        void *const *outputs) {
  const struct joist_run run = {.threads = 1};
  struct joist_plan *plan = NULL;
  struct joist_error error;
  CHECK_INT(joist_plan_make(program, &plan, &error), JOIST_OK);
  CHECK_INT(joist_plan_run(plan, inputs, outputs, &run, &error), JOIST_OK);
  joist_plan_free(plan);
}

/* The block of an array that begins at `start`, its dims reversed or not. */
static void take_block(const struct joist_shape *whole, const void *from, size_t size,
                       const uint32_t *start, const struct joist_shape *block, bool reversed,
                       void *to) {
  const size_t n = elements_in(block);
  for (size_t e = 0; e < n; e++) {
    size_t at = 0, rest = e, stride = 1, position[JOIST_RANK_MAX];
    for (int d = 0; d < block->rank; d++) {
      position[reversed ? block->rank - 1 - d : d] = rest % block->extent[d];
      rest /= block->extent[d];
    }
    for (int d = 0; d < whole->rank; d++) {
      at += (start[d] + position[d]) * stride;
      stride *= whole->extent[d];
    }
    memcpy((char *)to + e * size, (const char *)from + at * size, size);
  }
}

/* ---- random programs ---- */

/* The extents of the blocks of each value, as they follow from those of the inputs. */
static uint32_t chunks[STEPS + 8][JOIST_RANK_MAX];

static joist_value_id any_value(const struct joist_program *program) {
  return (joist_value_id)random_below(program->value_count);
}

/* Sets the chunks of the latest value. False if its blocks are combined from parts. */
static bool set_chunks(const struct joist_program *program) {
  const struct joist_instruction *const i = &program->instructions[program->instruction_count - 1];
  const struct joist_shape *shapes[2];
  const uint32_t *own[2];
  struct joist_blocks blocks;
  for (uint32_t k = 0; k < i->operand_count; k++) {
    shapes[k] = &program->values[i->operand[k]].shape;
    own[k] = chunks[i->operand[k]];
  }
  const struct joist_blocked blocked = {i->op,  i->attributes, i->operand_count,
                                        shapes, own,           &program->values[i->result].shape};
  CHECK(joist_blocks_of(&blocked, &blocks));
  memcpy(chunks[i->result], blocks.chunks, sizeof blocks.chunks);
  return !blocks.parts;
}

/* Adds any of the operations that have blocks, or none where it does not fit the value. */
static void add_step(struct joist_program *program) {
  joist_value_id x[2] = {any_value(program), any_value(program)}, result;
  const struct joist_shape shape = program->values[x[0]].shape;
  const int64_t dim = shape.rank > 0 ? (int64_t)random_below((size_t)shape.rank) : 0;
  struct joist_shape next = {.rank = 0};
  int64_t order[JOIST_RANK_MAX];
  struct joist_attributes attributes = no_attributes;
  joist_op op = JOIST_OP_ADD;
  size_t count = 1;
  switch (random_below(8)) {
    case 0:
      count = 2;
      break;
    case 1:
      op = JOIST_OP_NEGATE;
      break;
    case 2: /* extents of 1 go and come */
      op = JOIST_OP_RESHAPE;
      for (int d = 0; d < shape.rank; d++) {
        if (one_in(4) && next.rank < RANK) next.extent[next.rank++] = 1;
        if ((shape.extent[d] != 1 || one_in(2)) && next.rank < RANK + 1)
          next.extent[next.rank++] = shape.extent[d];
      }
      attributes = with_shape(attributes, &next);
      break;
    case 3:
      op = JOIST_OP_BROADCAST;
      next = shape;
      for (int d = 0; d < shape.rank; d++)
        if (shape.extent[d] == 1) next.extent[d] = 1 + (uint32_t)random_below(4);
      attributes = with_shape(attributes, &next);
      break;
    case 4:
      op = JOIST_OP_PERMUTE;
      for (int d = 0; d < shape.rank; d++) {
        const size_t at = random_below((size_t)d + 1);
        order[d] = order[at];
        order[at] = d;
      }
      attributes = with_list(attributes, JOIST_ATTRIBUTE_PERMUTATION, order, (size_t)shape.rank);
      break;
    case 5:
      op = one_in(2) ? JOIST_OP_CUMSUM : JOIST_OP_SORT;
      attributes = with(attributes, JOIST_ATTRIBUTE_DIM, dim);
      break;
    case 6:
      op = JOIST_OP_ARGMAX;
      attributes =
          with(with(attributes, JOIST_ATTRIBUTE_DIM, dim), JOIST_ATTRIBUTE_DROP, one_in(2));
      break;
    default:
      op = JOIST_OP_MATMUL;
      count = 2;
      attributes = with(with(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS, one_in(2)),
                        JOIST_ATTRIBUTE_TRANSPOSE_RHS, one_in(2));
      if (shape.rank != 2 || program->values[x[1]].shape.rank != 2) return;
  }
  if (shape.rank == 0 && op != JOIST_OP_ADD && op != JOIST_OP_NEGATE) return;
  (void)add(program, joist_rules_at(0), op, x, count, &attributes, &result);
}

/* Returns the value to compute: the last one whose blocks are not combined from parts. */
static joist_value_id make_program(struct joist_program *program) {
  joist_program_init(program);
  const int rank = 1 + (int)random_below(3);
  const size_t inputs = 1 + random_below(3);
  uint32_t extents[RANK];
  for (int d = 0; d < rank; d++) extents[d] = 1 + (uint32_t)random_below(4);
  for (size_t k = 0; k < inputs; k++) {
    uint32_t own[RANK];
    for (int d = 0; d < rank; d++) own[d] = one_in(5) ? 1 : extents[d];
    const joist_value_id v =
        add_input(program, one_in(4) ? JOIST_I8 : JOIST_I32, one_in(6) ? 0 : rank, own);
    for (int d = 0; d < program->values[v].shape.rank; d++)
      chunks[v][d] = 1 + (uint32_t)random_below(own[d]);
  }
  joist_value_id last = program->value_count - 1;
  for (int k = 0; k < STEPS; k++) {
    add_step(program);
    if (program->value_count - 1 == last) continue;
    if (!set_chunks(program)) break;
    last = program->value_count - 1;
  }
  return last;
}

/* ---- block by block ---- */

struct whole {
  const struct joist_program *program;
  void **inputs;
  void *output;
  const struct joist_value *result;
};

/* The block of the space at `start`, of these extents: in the order of the space, and reversed
 * where the plan is. */
static void check_block(const struct whole *w, const struct joist_block_plan *plan, bool reversed,
                        const uint32_t *start, const uint32_t *extents) {
  const int rank = w->result->shape.rank;
  const uint32_t reads = joist_block_plan_reads(plan);
  struct joist_program block;
  joist_program_init(&block);
  joist_value_id *const ids = malloc((reads + 1) * sizeof *ids);
  void **const parts = malloc((reads + 1) * sizeof *parts);
  uint32_t space[JOIST_RANK_MAX];
  for (int d = 0; d < rank; d++) space[reversed ? rank - 1 - d : d] = extents[d];
  for (uint32_t k = 0; k < reads; k++) {
    const int8_t *map;
    const joist_value_id v = joist_block_plan_read(plan, k, &map);
    const struct joist_value *const value = &w->program->values[v];
    const int own = value->shape.rank;
    struct joist_shape shape = {.rank = own};
    uint32_t from[JOIST_RANK_MAX];
    for (int d = 0; d < own; d++) {
      const int dim = map[d];
      from[d] = dim < 0 ? 0 : start[dim];
      shape.extent[reversed ? own - 1 - d : d] = dim < 0 ? value->shape.extent[d] : extents[dim];
    }
    ids[k] = add_input(&block, value->type.dtype, own, shape.extent);
    parts[k] = malloc(bytes_of(&block, ids[k]) + 1);
    take_block(&value->shape, w->inputs[value->input], joist_dtype_size(value->type.dtype), from,
               &shape, reversed, parts[k]);
  }
  joist_value_id result = 0;
  struct joist_error error;
  CHECK_INT(joist_block_plan_append(plan, space, reversed, ids, &block, &result, &error), JOIST_OK);
  add_output(&block, result);
  CHECK_INT(block.values[result].type.dtype, w->result->type.dtype);
  const size_t size = joist_dtype_size(w->result->type.dtype), bytes = bytes_of(&block, result);
  void *const got = malloc(bytes + 1), *const wanted = malloc(bytes + 1);
  run_program(&block, (const void *const *)parts, &got);
  take_block(&w->result->shape, w->output, size, start, &block.values[result].shape, reversed,
             wanted);
  CHECK(memcmp(got, wanted, bytes) == 0);
  for (int d = 0; d < rank; d++) CHECK_INT(block.values[result].shape.extent[d], space[d]);
  free(got);
  free(wanted);
  for (uint32_t k = 0; k < reads; k++) free(parts[k]);
  free(parts);
  free(ids);
  joist_program_clear(&block);
}

static void check_blocks(const struct whole *w, joist_value_id output, bool reversed) {
  const struct joist_shape *const shape = &w->result->shape;
  const bool parts = false;
  const struct joist_block_space space = {.rank = shape->rank, .parts = &parts};
  uint32_t start[JOIST_RANK_MAX] = {0}, extents[JOIST_RANK_MAX];
  const uint32_t *const chunk = chunks[output];
  struct joist_block_plan *plan = NULL;
  struct joist_error error;
  CHECK_INT(joist_block_plan_make(w->program, &space, &plan, &error), JOIST_OK);
  for (int d = 0; d < shape->rank;) {
    for (d = 0; d < shape->rank; d++)
      extents[d] = start[d] + chunk[d] > shape->extent[d] ? shape->extent[d] - start[d] : chunk[d];
    check_block(w, plan, reversed, start, extents);
    for (d = 0; d < shape->rank && (start[d] += chunk[d]) >= shape->extent[d]; d++) start[d] = 0;
  }
  joist_block_plan_free(plan);
}

static void test_random(void) {
  for (int n = 0; n < PROGRAMS; n++) {
    struct joist_program program;
    const joist_value_id output = make_program(&program);
    if (program.instruction_count == 0 || program.values[output].shape.rank == 0) {
      joist_program_clear(&program);
      continue;
    }
    add_output(&program, output);
    void *inputs[8] = {NULL};
    for (joist_value_id v = 0; v < program.value_count; v++) {
      const uint32_t input = program.values[v].input;
      if (input == JOIST_NO_INPUT) continue;
      inputs[input] = malloc(bytes_of(&program, v) + 1);
      fill(program.values[v].type.dtype, count_of(&program, v), FILL_SMALL, inputs[input]);
    }
    struct whole w = {&program, inputs, malloc(bytes_of(&program, output) + 1),
                      &program.values[output]};
    run_program(&program, (const void *const *)inputs, &w.output);
    for (int reversed = 0; reversed < 2; reversed++) check_blocks(&w, output, reversed != 0);
    free(w.output);
    for (int k = 0; k < 8; k++) free(inputs[k]);
    joist_program_clear(&program);
  }
}

/* ---- chunks of results, by hand ---- */

static bool chunks_of(joist_op op, const struct joist_attributes *attributes,
                      const struct joist_shape *x, const uint32_t *own,
                      const struct joist_shape *result, struct joist_blocks *blocks) {
  const struct joist_blocked blocked = {op, attributes, 1, &x, &own, result};
  return joist_blocks_of(&blocked, blocks);
}

static void test_chunks(void) {
  const struct joist_shape x = {3, {6, 1, 8}}, reduced = {2, {1, 8}}, kept = {3, {1, 1, 8}};
  const struct joist_shape flat = {2, {6, 8}}, other = {2, {8, 6}}, wide = {3, {6, 5, 8}};
  const uint32_t own[] = {4, 1, 3};
  struct joist_blocks b;
  struct joist_attributes a = with_dims(no_attributes, 1);
  CHECK(chunks_of(JOIST_OP_REDUCE_SUM, &a, &x, own, &reduced, &b) && b.parts);
  CHECK(b.chunks[0] == 1 && b.chunks[1] == 3);
  a = with(a, JOIST_ATTRIBUTE_DROP, 0);
  CHECK(chunks_of(JOIST_OP_REDUCE_SUM, &a, &x, own, &kept, &b) && b.parts);
  CHECK(b.chunks[0] == 1 && b.chunks[1] == 1 && b.chunks[2] == 3);
  a = with_shape(no_attributes, &flat);
  CHECK(chunks_of(JOIST_OP_RESHAPE, &a, &x, own, &flat, &b) && !b.parts);
  CHECK(b.chunks[0] == 4 && b.chunks[1] == 3);
  a = with_shape(no_attributes, &other);
  CHECK(!chunks_of(JOIST_OP_RESHAPE, &a, &x, own, &other, &b));
  a = with_shape(no_attributes, &wide);
  CHECK(chunks_of(JOIST_OP_BROADCAST, &a, &x, own, &wide, &b));
  CHECK(b.chunks[0] == 4 && b.chunks[1] == 5 && b.chunks[2] == 3);
  a = with(no_attributes, JOIST_ATTRIBUTE_DIM, 2);
  CHECK(chunks_of(JOIST_OP_CUMSUM, &a, &x, own, &x, &b));
  CHECK(b.chunks[0] == 4 && b.chunks[1] == 1 && b.chunks[2] == 8);
  CHECK(!chunks_of(JOIST_OP_CUMSUM, &no_attributes, &x, own, &x, &b)); /* of all elements */
  /* A product is of sums of 6 terms, 4 at a time; of one block, where that has all terms. */
  const struct joist_shape lhs = {2, {5, 6}}, rhs = {2, {6, 7}}, product = {2, {5, 7}};
  const struct joist_shape *const both[] = {&lhs, &rhs};
  const uint32_t narrow[] = {2, 4}, high[] = {6, 3};
  const uint32_t *const in_parts[] = {narrow, NULL}, *const at_once[] = {NULL, high};
  struct joist_blocked blocked = {JOIST_OP_MATMUL, &no_attributes, 2, both, in_parts, &product};
  CHECK(joist_blocks_of(&blocked, &b) && b.parts && b.terms == 6 && b.step == 4);
  CHECK(b.chunks[0] == 2 && b.chunks[1] == 7);
  blocked.chunks = at_once;
  CHECK(joist_blocks_of(&blocked, &b) && !b.parts && b.chunks[0] == 5 && b.chunks[1] == 3);
}

/* What has no blocks is refused. */
static void test_refused(void) {
  struct joist_program program;
  struct joist_block_plan *plan = NULL;
  struct joist_error error;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 1, (uint32_t[]){4});
  const bool parts = false;
  const struct joist_block_space space = {.rank = 1, .parts = &parts};
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, x, x));
  CHECK_INT(joist_block_plan_make(&program, &space, &plan, &error), JOIST_ERROR_VALUE);
  CHECK(error.code == JOIST_E_NO_BLOCKS && plan == NULL);
  joist_program_clear(&program);
}

/* ---- stages, by hand ---- */

/* x - sums of its columns, then times the sum of those: sums are parts of blocks, what follows from
 * them alone is in memory, and the rest is computed in the blocks of x. */
static void test_stages(void) {
  struct joist_program program, own;
  struct joist_error error;
  joist_program_init(&program);
  const uint32_t own_chunks[] = {4, 3};
  const joist_value_id x = add_input(&program, JOIST_I32, 2, (uint32_t[]){6, 8});
  joist_value_id sums = 0, total = 0;
  struct joist_attributes a = with(with_dims(no_attributes, 1), JOIST_ATTRIBUTE_DROP, 0);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_REDUCE_SUM, &x, 1, &a, &sums));
  a = with_dims(no_attributes, 3);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_REDUCE_SUM, &sums, 1, &a, &total));
  const joist_value_id distance = add_simple(&program, JOIST_OP_SUB, x, sums);
  const joist_value_id y = add_simple(&program, JOIST_OP_MUL, distance, total);
  add_output(&program, y);
  const struct joist_block_source source = {.chunks = own_chunks, .of = JOIST_NO_INPUT};
  bool known[8] = {false};
  const struct joist_block_program run = {&program, &source, own_chunks, known};
  const joist_block_role roles[] = {JOIST_BLOCKS_FOLD, JOIST_BLOCKS_NONE, JOIST_BLOCKS_EACH};
  const joist_value_id values[] = {sums, total, y};
  for (int k = 0; k < 3; k++) {
    struct joist_block_round round;
    joist_value_id inputs[8] = {0};
    CHECK_INT(joist_block_round_make(&run, &round, &error), JOIST_OK);
    CHECK_INT(round.count, 1);
    CHECK_INT(round.last, k == 2);
    CHECK_INT(round.stages[0].role, roles[k]);
    CHECK_INT(round.stages[0].first, values[k]);
    CHECK_INT(round.next[values[k]], JOIST_NO_INPUT);
    CHECK_INT(round.stages[0].rank, k == 1 ? 0 : 2);
    CHECK_INT(round.stages[0].inner, k == 0);
    if (k != 1) CHECK(memcmp(round.stages[0].chunks, own_chunks, sizeof own_chunks) == 0);
    joist_program_init(&own);
    CHECK_INT(joist_block_stage_program(&run, &round, &round.stages[0], &own, inputs, &error),
              JOIST_OK);
    CHECK_INT(own.input_count, k == 2 ? 3 : 1);
    CHECK_INT(own.instruction_count, k == 2 ? 2 : 1);
    CHECK_INT(inputs[0], k == 1 ? sums : x);
    known[values[k]] = true;
    joist_program_clear(&own);
    joist_block_round_free(&round);
  }
  joist_program_clear(&program);
}

int main(void) {
  use_rules();
  CHECK(joist_kernels_select("generic"));
  test_chunks();
  test_refused();
  test_stages();
  test_random();
  return check_report("block_plan");
}
