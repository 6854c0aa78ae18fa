/* Running operations on whole arrays. */
#include "core/array.h"

#include "core/convert.h"
#include "core/plan.h"
#include "core/pool.h"

#ifdef _OPENMP
#include <omp.h>
#endif

struct functions {
  joist_array_shape *shape;
  joist_array_run *run;
};

static const struct functions functions[JOIST_OP_COUNT] = {
#define ARRAY(ID, NAME, ARITY, CLASS, DEFINED, FUNCTION) \
  [JOIST_OP_##ID] = {joist_##FUNCTION##_shape, joist_##FUNCTION##_run},
#include "core/ops.def"
};

joist_status joist_array_shape_of(joist_op op, const struct joist_shape *const *shapes,
                                  const struct joist_attributes *attributes,
                                  struct joist_shape *result, struct joist_error *error) {
  return functions[op].shape(shapes, attributes, result, error);
}

int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks) {
  const size_t from = run->parallel_from > 0 ? run->parallel_from : JOIST_PARALLEL_FROM;
  if (run->threads <= 1 || tasks <= 1 || work < from) return 1;
  return (size_t)run->threads < tasks ? run->threads : (int)tasks;
}

static void convert(joist_convert_kernel *kernel, size_t n, joist_dtype from, const char *in,
                    joist_dtype to, char *out, const struct joist_run *run) {
  enum { CHUNK = 1 << 16 };
  const size_t chunks = n / CHUNK + (n % CHUNK != 0);
  const int threads = joist_threads_for(run, n, chunks);
  (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (size_t k = 0; k < chunks; k++) {
    const size_t first = k * CHUNK, length = n - first < CHUNK ? n - first : CHUNK;
    kernel(length, in + first * joist_dtype_size(from), out + first * joist_dtype_size(to));
  }
}

joist_status joist_array_execute(const struct joist_program *program,
                                 const struct joist_instruction *instruction, void *const *arrays,
                                 const struct joist_run *run, struct joist_error *error) {
  const joist_op op = instruction->op;
  const int arity = joist_op_arity(op);
  struct joist_array_call call = {.instruction = instruction,
                                  .result = &program->values[instruction->result],
                                  .out = arrays[instruction->result],
                                  .run = run};
  void *converted[JOIST_ARITY_MAX] = {NULL};
  joist_status status = JOIST_OK;
  for (int k = 0; k < arity && status == JOIST_OK; k++) {
    const struct joist_value *const v = &program->values[instruction->operand[k]];
    const joist_dtype own = v->type.dtype, wanted = instruction->signature.operand[k];
    call.operand[k] = v;
    call.in[k] = arrays[instruction->operand[k]];
    if (own == wanted || joist_op_class(op) == JOIST_CLASS_ACCUMULATE) continue;
    size_t count = 0;
    (void)joist_shape_count(&v->shape, &count);
    converted[k] = joist_scratch_allocate(count * joist_dtype_size(wanted) + 1);
    if (converted[k] == NULL) {
      status = joist_fail(error, JOIST_ERROR_MEMORY,
                          "out of memory: a converted operand of nv_%s()", joist_op_name(op));
      break;
    }
    convert(joist_convert_find(own, wanted), count, own, call.in[k], wanted, converted[k], run);
    call.in[k] = converted[k];
  }
  if (status == JOIST_OK) status = functions[op].run(&call, error);
  for (int k = 0; k < arity; k++) joist_scratch_free(converted[k]);
  return status;
}
