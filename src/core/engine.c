/* Running a plan on the CPU: tiles, threads, sinks. */
#include "core/array.h"
#include "core/plan.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  BLOCK = 1 << 24, /* elements between two calls of poll */
  CHUNKS_PER_THREAD = 16,
  STACK_BYTES = 8192, /* arenas up to this size live on the stack */
  ALIGNMENT = 64
};

/* What every thread of a group's loop sees. */
struct loop {
  const struct joist_plan *plan;
  const struct joist_group *group;
  void *const *arrays;  /* per value */
  char *const *partial; /* per sink: one element per tile */
};

static void splat(size_t n, size_t size, void *slot) {
  char *const out = slot;
  if (size == 1) {
    memset(out, *out, n);
    return;
  }
  size_t filled = 1;
  while (filled < n) {
    const size_t more = filled < n - filled ? filled : n - filled;
    memcpy(out + filled * size, out, more * size);
    filled += more;
  }
}

/* Elements first .. first + n - 1 of the group's index space, taken from an operand
 * whose extents of 1 are repeated. */
static void gather(const struct joist_shape *space, const struct joist_shape *shape, size_t size,
                   size_t first, size_t n, const char *in, char *out) {
  size_t index[JOIST_RANK_MAX], stride[JOIST_RANK_MAX], product = 1, at = 0;
  for (int d = 0; d < space->rank; d++) {
    const bool repeated = shape->rank == 0 || shape->extent[d] == 1;
    stride[d] = repeated ? 0 : product;
    if (!repeated) product *= shape->extent[d];
    index[d] = first % space->extent[d];
    first /= space->extent[d];
    at += index[d] * stride[d];
  }
  while (n > 0) {
    size_t run = space->extent[0] - index[0];
    if (run > n) run = n;
    memcpy(out, in + at * size, (stride[0] == 0 ? 1 : run) * size);
    if (stride[0] == 0) splat(run, size, out);
    out += run * size;
    n -= run;
    index[0] += run;
    at += run * stride[0];
    for (int d = 0; index[d] == space->extent[d] && d + 1 < space->rank; d++) {
      at -= index[d] * stride[d];
      index[d] = 0;
      index[d + 1]++;
      at += stride[d + 1];
    }
  }
}

static char *address(const struct loop *loop, struct joist_ref ref, size_t first, char *arena) {
  if (ref.array) return (char *)loop->arrays[ref.index] + first * ref.size;
  return arena + loop->plan->slot_offset[ref.index] * loop->group->tile;
}

/* Fills the slots of scalar operands, once per arena. */
static void fill_splats(const struct loop *loop, char *arena) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  const size_t n = loop->group->count < loop->group->tile ? loop->group->count : loop->group->tile;
  for (uint32_t s = 0; s < loop->group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    if (step->kind != JOIST_STEP_SPLAT) continue;
    char *const out = address(loop, step->out, 0, arena);
    _Alignas(16) char value[JOIST_ELEMENT_MAX];
    const void *in = loop->arrays[step->in[0].index];
    if (step->convert[0] != NULL) {
      step->convert[0](1, in, value);
      in = value;
    }
    if (step->convert[1] != NULL)
      step->convert[1](1, in, out);
    else
      memcpy(out, in, step->out.size);
    splat(n, step->out.size, out);
  }
}

/* Runs one tile. Returns SIZE_MAX, or the index of the first element that fails, and then
 * the instruction in `*failed`. */
static size_t run_tile(const struct loop *loop, size_t tile, char *arena, uint32_t *failed) {
  const struct joist_group *const group = loop->group;
  const struct joist_step *const steps = loop->plan->steps + group->first_step;
  const size_t first = tile * group->tile;
  const size_t n = group->count - first < group->tile ? group->count - first : group->tile;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    if (step->kind == JOIST_STEP_SPLAT) continue;
    char *const out = address(loop, step->out, first, arena);
    const void *in[JOIST_REFS_MAX] = {NULL};
    for (uint32_t k = 0; k < step->operand_count; k++)
      in[k] = address(loop, step->in[k], first, arena);
    switch (step->kind) {
      case JOIST_STEP_KERNEL: {
        const size_t done = step->kernel(n, in, out);
        if (done < n) {
          *failed = step->instruction;
          return first + done;
        }
        break;
      }
      case JOIST_STEP_CONVERT:
        step->convert[0](n, in[0], out);
        break;
      case JOIST_STEP_COPY:
        memcpy(out, in[0], n * step->out.size);
        break;
      case JOIST_STEP_GATHER:
        gather(&group->shape, &loop->plan->program->values[step->in[0].index].shape, step->out.size,
               first, n, loop->arrays[step->in[0].index], out);
        break;
      case JOIST_STEP_FOLD:
        step->fold(n, in[0], loop->partial[step->sink] + tile * step->out.size);
        break;
      case JOIST_STEP_SPLAT:
        break;
    }
  }
  return SIZE_MAX;
}

joist_status joist_value_error(const struct joist_program *program, uint32_t instruction,
                               size_t position, struct joist_error *error) {
  const joist_op op = program->instructions[instruction].op;
  return joist_fail(error, JOIST_ERROR_VALUE, "%s at position %zu in nv_%s()",
                    op == JOIST_OP_POW ? "integer to a negative power" : "integer division by zero",
                    position + 1, joist_op_name(op));
}

/* Where the first element failed, and which instruction. */
struct failure {
  size_t position;
  uint32_t instruction;
};

/* Tiles begin .. end - 1, one after the other, until one fails. */
static struct failure run_range(const struct loop *loop, size_t begin, size_t end, char *arena) {
  struct failure failure = {SIZE_MAX, 0};
  for (size_t tile = begin; tile < end && failure.position == SIZE_MAX; tile++)
    failure.position = run_tile(loop, tile, arena, &failure.instruction);
  return failure;
}

/* The same, shared among threads in chunks that they take as they get to them, so that
 * a thread that has to wait for a processor does not hold up the rest. Chunks are taken
 * in order, so everything before the first failure has run. A team of one would still
 * cost OpenMP a rendezvous. */
static struct failure run_block(const struct loop *loop, size_t begin, size_t length, char *arenas,
                                size_t stride, int threads) {
#ifdef _OPENMP
  if (threads > 1) {
    struct failure first = {SIZE_MAX, 0};
    const size_t parts = (size_t)threads * CHUNKS_PER_THREAD;
    const size_t chunk = length / parts == 0 ? 1 : length / parts;
    const size_t chunks = (length + chunk - 1) / chunk;
#pragma omp parallel num_threads(threads)
    {
      char *const arena = arenas + (size_t)omp_get_thread_num() * stride;
#pragma omp for schedule(dynamic, 1) nowait
      for (size_t k = 0; k < chunks; k++) {
        const size_t from = k * chunk, to = from + chunk < length ? from + chunk : length;
        const struct failure failure = run_range(loop, begin + from, begin + to, arena);
        if (failure.position == SIZE_MAX) continue;
#pragma omp critical(joist_first_failure)
        if (failure.position < first.position) first = failure;
      }
    }
    return first;
  }
#endif
  (void)stride;
  (void)threads;
  return run_range(loop, begin, begin + length, arenas);
}

/* All tiles of a group. `arenas` has one part of `stride` bytes per thread. */
static joist_status run_tiles(const struct loop *loop, char *arenas, size_t stride, int threads,
                              const struct joist_run *run, struct joist_error *error) {
  const struct joist_group *const group = loop->group;
  const size_t tiles = (group->count + group->tile - 1) / group->tile;
  const size_t block = (BLOCK + group->tile - 1) / group->tile;
  for (int t = 0; t < threads; t++) fill_splats(loop, arenas + (size_t)t * stride);
  for (size_t begin = 0; begin < tiles; begin += block) {
    const size_t length = tiles - begin < block ? tiles - begin : block;
    if (begin > 0 && run->poll != NULL && run->poll(run->context))
      return joist_fail(error, JOIST_INTERRUPTED, "interrupted");
    const struct failure failure = run_block(loop, begin, length, arenas, stride, threads);
    if (failure.position != SIZE_MAX)
      return joist_value_error(loop->plan->program, failure.instruction, failure.position, error);
  }
  return JOIST_OK;
}

/* Combines the partial results of the sinks, in a tree over the tiles. */
static joist_status finish_sinks(const struct loop *loop, size_t tiles, struct joist_error *error) {
  const struct joist_step *const steps = loop->plan->steps + loop->group->first_step;
  for (uint32_t s = 0; s < loop->group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    if (step->kind != JOIST_STEP_FOLD) continue;
    const struct joist_instruction *const i = &loop->plan->program->instructions[step->instruction];
    char *const partial = loop->partial[step->sink];
    if (tiles > 0)
      step->fold(tiles, partial, partial);
    else if (!joist_identity(joist_op_combine(i->op), i->signature.operand[0], partial))
      return joist_fail(error, JOIST_ERROR_VALUE, "nv_%s() of no elements has no value",
                        joist_op_name(i->op));
    joist_reduction_finish(loop->plan->program, i, 1, partial, loop->arrays[i->result]);
  }
  return JOIST_OK;
}

static joist_status run_elementwise(const struct joist_plan *plan, const struct joist_group *group,
                                    void *const *arrays, const struct joist_run *run,
                                    struct joist_error *error) {
  const size_t tiles = group->count == 0 ? 0 : (group->count + group->tile - 1) / group->tile;
  if (tiles == 0 && group->sink_count == 0) return JOIST_OK;
  int threads = run->threads;
  const size_t from = run->parallel_from > 0 ? run->parallel_from : JOIST_PARALLEL_FROM;
  if (group->count * group->work < from) threads = 1;
  if ((size_t)threads > tiles) threads = tiles == 0 ? 1 : (int)tiles;

  const size_t stride = (group->arena_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  const size_t partial_bytes = (tiles + 1) * JOIST_ELEMENT_MAX;
  const size_t sinks = group->sink_count;
  const size_t total =
      stride * (size_t)threads + sinks * (partial_bytes + sizeof(char *)) + ALIGNMENT;
  _Alignas(64) char stack[STACK_BYTES];
  char *const block = total <= STACK_BYTES ? stack : malloc(total);
  if (block == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes of scratch", total);
  char *const arenas = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  char *const sums = arenas + stride * (size_t)threads;
  char **const partial = (char **)(void *)(sums + sinks * partial_bytes);
  for (size_t k = 0; k < sinks; k++) partial[k] = sums + k * partial_bytes;

  const struct loop loop = {plan, group, arrays, partial};
  joist_status status = JOIST_OK;
  if (tiles > 0) status = run_tiles(&loop, arenas, stride, threads, run, error);
  if (status == JOIST_OK) status = finish_sinks(&loop, tiles, error);
  if (block != stack) free(block);
  return status;
}

static size_t bytes_of(const struct joist_program *program, joist_value_id value) {
  size_t count = 0;
  (void)joist_shape_count(&program->values[value].shape, &count);
  return count * joist_dtype_size(program->values[value].type.dtype);
}

joist_status joist_group_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_run *run,
                             struct joist_error *error) {
  if (group->kind == JOIST_GROUP_ELEMENTWISE)
    return run_elementwise(plan, group, arrays, run, error);
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  if (group->kind == JOIST_GROUP_REDUCE)
    return joist_reduce_dims(plan->program, i, arrays[i->operand[0]], arrays[i->result], run,
                             error);
  return joist_array_execute(plan->program, i, arrays, run, error);
}

joist_status joist_plan_run(const struct joist_plan *plan, const void *const *inputs,
                            void *const *outputs, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  enum { FEW = 16 };
  void *few[FEW];
  void **const arrays =
      program->value_count <= FEW ? few : malloc(program->value_count * sizeof *arrays);
  if (arrays == NULL) return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory");
  for (uint32_t v = 0; v < program->value_count; v++) {
    /* Inputs are only read: the pointer loses its const to share the table. */
    union {
      const void *read;
      void *write;
    } pointer = {NULL};
    if (program->values[v].input != JOIST_NO_INPUT) pointer.read = inputs[program->values[v].input];
    arrays[v] = pointer.write;
  }
  /* A value that is several outputs, or an input, is computed once and copied. */
  for (uint32_t k = 0; k < program->output_count; k++)
    if (arrays[program->outputs[k]] == NULL) arrays[program->outputs[k]] = outputs[k];
  joist_status status = JOIST_OK;
  uint32_t allocated = 0;
  for (; allocated < program->value_count && status == JOIST_OK; allocated++) {
    if (!plan->materialized[allocated] || arrays[allocated] != NULL) continue;
    const size_t bytes = bytes_of(program, allocated);
    arrays[allocated] = malloc(bytes == 0 ? 1 : bytes);
    if (arrays[allocated] == NULL)
      status =
          joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes for a temporary", bytes);
  }
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++)
    status = joist_group_run(plan, &plan->groups[g], arrays, run, error);
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++) {
    const joist_value_id v = program->outputs[k];
    const size_t bytes = bytes_of(program, v);
    if (arrays[v] != outputs[k] && bytes > 0) memcpy(outputs[k], arrays[v], bytes);
  }
  /* What is left after taking away inputs and outputs was allocated here. */
  for (uint32_t k = 0; k < program->output_count; k++) {
    const joist_value_id v = program->outputs[k];
    if (program->values[v].input == JOIST_NO_INPUT) arrays[v] = NULL;
  }
  for (uint32_t v = 0; v < allocated; v++)
    if (program->values[v].input == JOIST_NO_INPUT && plan->materialized[v]) free(arrays[v]);
  if (arrays != few) free(arrays);
  return status;
}
