/* Running a plan on a device, group by group: an elementwise group is one launch, and further ones
 * for the reductions that end it; an operation on whole arrays is run as operations.c says. */
#include "cuda/ops/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/tally.h"
#include "core/plan/storage.h"
#include "core/types/error.h"
#include "cuda/codegen/compile.h"
#include "cuda/codegen/generate.h"
#include "cuda/codegen/registers.h"
#include "cuda/ops/inline_scalars.h"
#include "cuda/ops/on_cpu.h"
#include "cuda/ops/operations.h"

/* ---- reductions ---- */

/* How many threads share the middle dim of a pass: a number that follows from the shape, so
 * that results have the same bits on every device. */
static uint64_t segments_of(uint64_t inner, uint64_t middle, uint64_t outer) {
  enum { ALONE = 64, PARALLEL = 1 << 17, LONG = 1024, NARROW = 16 };
  if (middle <= ALONE) return 1;
  /* Not where neighbours would read far apart. */
  if (inner * outer >= PARALLEL && middle <= LONG && inner >= NARROW) return 1;
  return (middle + ALONE - 1) / ALONE;
}

/* Reduces the middle dim of `in` into new memory, pass by pass. Frees `in` if `owned`. */
static joist_status reduce_middle(const struct running *r, joist_op combine, joist_dtype from,
                                  joist_dtype accumulator, uint64_t inner, uint64_t middle,
                                  uint64_t outer, const void *in, void **owned,
                                  struct joist_error *error) {
  joist_status status = JOIST_OK;
  do {
    struct joist_cuda_pass pass = {.inner = inner,
                                   .middle = middle,
                                   .outer = outer,
                                   .segments = segments_of(inner, middle, outer),
                                   .in = in,
                                   .op = (uint32_t)combine,
                                   .from = (uint32_t)from,
                                   .accumulator = (uint32_t)accumulator};
    const uint64_t results = inner * pass.segments * outer;
    status = allocate(r, results * joist_dtype_size(accumulator), &pass.out, error);
    if (status != JOIST_OK) break;
    struct joist_cuda_compiled *const compiled = joist_cuda_pass_of(
        r->state, combine, from, accumulator, (double)inner * (double)middle * (double)outer);
    status = compiled != NULL
                 ? joist_cuda_start_compiled(compiled, results, &pass, r->state->stream, error)
                 : start(r, JOIST_CUDA_REDUCE, results, &pass, error);
    joist_cuda_free(r->device, *owned);
    *owned = pass.out;
    in = pass.out;
    from = accumulator;
    middle = pass.segments;
  } while (status == JOIST_OK && middle > 1);
  return status;
}

static bool reduces(const struct joist_instruction *i, int d) { return (i->dims >> d & 1) != 0; }

/* From what the threads of a group left of a reduction, (inner, segments, outer) accumulated
 * values, to its result: joins the segments, reduces what is left of the dims, divides a mean
 * and converts. Frees `*owned`. */
static joist_status finish_reduction(const struct running *r, const struct joist_instruction *i,
                                     struct joist_fold_space space, uint64_t segments, void **owned,
                                     struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const joist_dtype accumulator = i->signature.operand[0];
  const joist_op combine = joist_op_combine(i->op);
  struct joist_shape shape = program->values[i->operand[0]].shape;
  joist_status status = JOIST_OK;
  double length = 1;
  for (int d = 0; d < shape.rank; d++) length *= reduces(i, d) ? shape.extent[d] : 1;
  if (segments > 1)
    status = reduce_middle(r, combine, accumulator, accumulator, space.inner, segments, space.outer,
                           *owned, owned, error);
  bool first = true; /* the first run of reduced dims is done */
  for (int d = 0; d < shape.rank && status == JOIST_OK; d++) {
    if (!reduces(i, d) || shape.extent[d] == 1) continue;
    uint64_t inner = 1, middle = 1, outer = 1;
    int end = d; /* extents of 1 between them do not keep dims apart */
    for (; end < shape.rank && (reduces(i, end) || shape.extent[end] == 1); end++) {
      middle *= shape.extent[end];
      shape.extent[end] = 1;
    }
    for (int e = 0; e < d; e++) inner *= shape.extent[e];
    for (int e = end; e < shape.rank; e++) outer *= shape.extent[e];
    if (!first)
      status = reduce_middle(r, combine, accumulator, accumulator, inner, middle, outer, *owned,
                             owned, error);
    first = false;
  }
  const struct joist_cuda_finish last = {.count = count_of(program, i->result),
                                         .length = i->op == JOIST_OP_REDUCE_MEAN ? length : 0,
                                         .in = *owned,
                                         .out = r->arrays[i->result],
                                         .from = (uint32_t)accumulator,
                                         .to = (uint32_t)i->signature.result[0].dtype};
  if (status == JOIST_OK) status = start(r, JOIST_CUDA_FINISH, last.count, &last, error);
  joist_cuda_free(r->device, *owned);
  *owned = NULL;
  return status;
}

/* ---- elementwise groups ---- */

/* What the threads of a group found to fail. */
static joist_status check_failure(const struct running *r, const struct joist_code *code,
                                  struct joist_error *error) {
  uint64_t found;
  const joist_status status = read_failure(r, &found, error);
  if (status != JOIST_OK || found == UINT64_MAX) return status;
  return joist_value_error(r->plan->program, code->instruction[found & 0xffff],
                           (size_t)(found >> 16), error);
}

/* The steps, where they do not fit into the parameter: device memory, to be freed. */
static joist_status place_steps(const struct running *r, const struct joist_code *code,
                                struct joist_cuda_group *group, void **owned,
                                struct joist_error *error) {
  const size_t words = code->array_count + code->gather_count * (code->rank + 1) + code->rank;
  const size_t bytes = code->step_count * sizeof *code->steps;
  *owned = NULL;
  if (words * 8 + bytes <= JOIST_CUDA_OWN_BYTES) {
    memcpy(group->own + words, code->steps, bytes);
    return JOIST_OK;
  }
  joist_status status = allocate(r, bytes, owned, error);
  if (status == JOIST_OK)
    status = joist_cuda_copy(r->device, *owned, code->steps, bytes, JOIST_COPY_TO_DEVICE, error);
  group->head.steps = *owned;
  return status;
}

static void fill_tables(const struct running *r, const struct joist_code *code,
                        void *const *partials, struct joist_cuda_group *group) {
  uint64_t *at = group->own;
  for (uint32_t k = 0; k < code->array_count; k++, at++) {
    const uint32_t array = code->array[k];
    const bool partial = array >= JOIST_CODE_PARTIAL;
    *at = (uint64_t)(uintptr_t)(partial ? partials[array - JOIST_CODE_PARTIAL] : r->arrays[array]);
    if (!partial)
      *at += (uint64_t)code->base[k] * joist_dtype_size(r->plan->program->values[array].type.dtype);
    if (!partial && is_given(r, array))
      memcpy(at, r->arrays[array], bytes_of(r->plan->program, array));
  }
  for (uint32_t g = 0; g < code->gather_count; g++) {
    for (uint32_t d = 0; d < code->rank; d++) *at++ = (uint64_t)code->stride[g][d];
    *at++ = (uint64_t)code->along[g];
  }
  for (uint32_t d = 0; d < code->rank; d++) *at++ = code->extent[d];
}

static joist_status launch(const struct running *r, const struct joist_code *code,
                           struct joist_cuda_group *group, struct joist_error *error) {
  void *steps = NULL;
  joist_status status = JOIST_OK;
  if (code->checked) status = clear_failure(r, error);
  if (status != JOIST_OK) return status;
  struct joist_cuda_compiled *const compiled =
      joist_cuda_kernel_of(r->state, code, (double)group->head.count * (double)code->step_count);
  const uint64_t width = compiled != NULL ? (uint64_t)joist_cuda_width(code) : 1;
  const uint64_t threads =
      group->head.threads > 0 ? group->head.threads : (group->head.count + width - 1) / width;
  if (compiled != NULL) {
    status = joist_cuda_start_compiled(compiled, threads, group, r->state->stream, error);
  } else {
    status = place_steps(r, code, group, &steps, error);
    if (status == JOIST_OK) status = start(r, JOIST_CUDA_INTERPRET, threads, group, error);
    joist_cuda_free(r->device, steps);
  }
  if (status == JOIST_OK && code->checked) status = check_failure(r, code, error);
  return status;
}

/* Threads that share the elements of a group with sinks: a number that follows from the
 * count alone, as their partial results are part of the order of a sum. */
static uint64_t fold_threads(uint64_t count) {
  enum { TURNS = 32 };
  const uint64_t turns = (count + JOIST_CUDA_LANES - 1) / JOIST_CUDA_LANES;
  return (turns + TURNS - 1) / TURNS;
}

/* How the threads share the elements of a group with sinks. */
static void share(struct joist_fold_space space, bool rows, struct joist_cuda_group *group) {
  group->head.inner = space.inner;
  group->head.middle = space.middle;
  group->head.segments = rows ? segments_of(space.inner, space.middle, space.outer) : 0;
  group->head.threads =
      rows ? space.inner * group->head.segments * space.outer : fold_threads(group->head.count);
}

/* Runs lowered code over `count` elements; sinks give partial results, which are reduced. */
static joist_status run_code(const struct running *r, const struct joist_code *code, uint64_t count,
                             struct joist_fold_space space, struct joist_error *error) {
  struct joist_cuda_group group;
  void *partials[JOIST_CUDA_SINKS] = {NULL};
  memset(&group.head, 0, sizeof group.head);
  group.head.count = count;
  group.head.failure = r->state->failure;
  group.head.step_count = code->step_count;
  group.head.array_count = code->array_count;
  group.head.gather_count = code->gather_count;
  group.head.rank = code->rank;
  if (code->sink_count > 0) share(space, code->rows, &group);
  joist_status status = JOIST_OK;
  for (uint32_t s = 0; s < code->step_count && status == JOIST_OK; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind == JOIST_CODE_FOLD)
      status = allocate(r, group.head.threads * joist_dtype_size((joist_dtype)step->from),
                        &partials[step->out], error);
  }
  if (status == JOIST_OK) {
    fill_tables(r, code, partials, &group);
    status = launch(r, code, &group, error);
  }
  for (uint32_t s = 0; s < code->step_count && status == JOIST_OK; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (step->kind == JOIST_CODE_FOLD)
      status = finish_reduction(r, &r->plan->program->instructions[code->instruction[s]], space,
                                code->rows ? group.head.segments : group.head.threads,
                                &partials[step->out], error);
  }
  for (int k = 0; k < JOIST_CUDA_SINKS; k++) joist_cuda_free(r->device, partials[k]);
  return status;
}

/* Groups that are too long have no kernel. */
static joist_status run_elementwise(const struct running *r, struct joist_error *error) {
  const struct joist_group *const group = r->group;
  if (group->count == 0) return group->sink_count == 0 ? JOIST_OK : joist_cuda_run_on_cpu(r, error);
  struct joist_code code;
  const struct joist_code_options options = {
      .given = r->given, .watches = !r->run->exact, .coarse = !r->run->exact};
  return joist_code_lower(r->plan, group, options, &code) && joist_cuda_fit(&code)
             ? run_code(r, &code, group->count, group->space, error)
             : joist_cuda_run_on_cpu(r, error);
}

/* ---- operations on whole arrays ---- */

/* Dtypes of up to a byte are moved by kernels, but those of other operations do not read them. */
static bool has_elements(const struct running *r, const struct joist_instruction *i) {
  const struct joist_value *const values = r->plan->program->values;
  const joist_class class = joist_op_class(i->op);
  const joist_dtype made = values[i->result].type.dtype;
  bool words = joist_dtype_is_word(made), same = true;
  for (uint32_t k = 0; k < i->operand_count; k++) {
    words &= joist_dtype_is_word(values[i->operand[k]].type.dtype);
    same &= values[i->operand[k]].type.dtype == made;
  }
  return words || class == JOIST_CLASS_LAYOUT || class == JOIST_CLASS_ASSIGN ||
         (i->op == JOIST_OP_CONCATENATE && same);
}

/* The CPU looks for what does not fit in results of operations on whole arrays. */
static joist_status run_array(const struct running *r, struct joist_error *error) {
  const struct joist_instruction *const i = &r->plan->program->instructions[r->group->instruction];
  if (i->watch != 0) return joist_cuda_run_on_cpu(r, error);
  const struct joist_cuda_operation *const operation = joist_cuda_operation(i->op);
  const bool can = operation->run != NULL && has_elements(r, i) &&
                   (operation->can == NULL || operation->can(r, i));
  return can ? operation->run(r, i, error) : joist_cuda_run_on_cpu(r, error);
}

/* ---- a whole plan ---- */

/* The flag that kernels set where a value that is watched does not fit. */
static joist_status clear_wrapped(const struct running *r, struct joist_error *error) {
  return joist_cuda_check(
      cudaMemsetAsync(r->state->failure + 1, 0, sizeof *r->state->failure, r->state->stream),
      "starting a kernel", error);
}

static joist_status read_wrapped(const struct running *r, struct joist_error *error) {
  struct joist_cuda_state *const state = r->state;
  cudaError_t result =
      cudaMemcpyAsync(state->failure_found + 1, state->failure + 1, sizeof *state->failure,
                      cudaMemcpyDeviceToHost, state->stream);
  if (result == cudaSuccess) result = cudaStreamSynchronize(state->stream);
  if (result == cudaSuccess && state->failure_found[1] != 0) joist_tally_suspect(r->run->tally);
  return joist_cuda_check(result, "running a program", error);
}

/* What runs meanwhile may use another device, as finalizers of its tensors do. */
static joist_status poll(const struct running *r, struct joist_error *error) {
  const joist_status status = joist_run_poll(r->run, error);
  if (status != JOIST_OK || r->run->poll == NULL) return status;
  struct joist_cuda_state *state;
  return joist_cuda_open(r->state->ordinal, &state, error);
}

joist_status joist_cuda_run(const struct joist_device *device, const struct joist_plan *plan,
                            const void *const *inputs, void *const *outputs,
                            const struct joist_run *run, struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  struct running r = {.device = device, .plan = plan, .run = run};
  joist_status status = joist_cuda_open(device->ordinal, &r.state, error);
  if (status != JOIST_OK) return status;
  enum { FEW = 16 };
  struct {
    void *arrays[FEW];
    bool given[FEW];
  } few = {{NULL}, {false}};
  const size_t n = program->value_count;
  void **const arrays = n <= FEW ? few.arrays : calloc(n, sizeof *arrays + sizeof(bool));
  if (arrays == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  bool *const given = n <= FEW ? few.given : (bool *)(arrays + n);
  void *scratch = NULL, *placed = NULL;
  if (plan->scratch_bytes > 0) status = allocate(&r, plan->scratch_bytes, &scratch, error);
  joist_plan_place(plan, inputs, outputs, scratch, arrays);
  r.arrays = arrays;
  if (run->here != NULL) {
    if (status == JOIST_OK) status = joist_cuda_place_given(&r, arrays, given, &placed, error);
    r.given = given;
  }
  const bool flags = run->tally != NULL && !run->exact;
  if (flags && status == JOIST_OK) status = clear_wrapped(&r, error);
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++) {
    if (g > 0) status = poll(&r, error);
    r.group = &plan->groups[g];
    if (status == JOIST_OK)
      status =
          r.group->kind == JOIST_GROUP_ARRAY ? run_array(&r, error) : run_elementwise(&r, error);
  }
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++) {
    const joist_value_id v = program->outputs[k];
    if (arrays[v] != outputs[k])
      status = copy_within(&r, outputs[k], arrays[v], bytes_of(program, v), error);
  }
  if (flags && status == JOIST_OK) status = read_wrapped(&r, error);
  joist_cuda_free(device, scratch);
  joist_cuda_free(device, placed);
  if (n > FEW) free(arrays);
  return status;
}
