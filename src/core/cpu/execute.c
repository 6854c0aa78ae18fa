/* Running operations on whole arrays. */
#include "core/cpu/execute.h"

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/types/convert.h"

struct functions {
  joist_array_shape *shape;
  joist_array_run *run;
};

static const struct functions functions[JOIST_OP_COUNT] = {
#define ARRAY(ID, NAME, ARITY, CLASS, DEFINED, FUNCTION) \
  [JOIST_OP_##ID] = {joist_##FUNCTION##_shape, joist_##FUNCTION##_run},
#include "core/program/ops.def"
};

joist_status joist_array_shape_of(joist_op op, const struct joist_shape *const *shapes,
                                  const struct joist_attributes *attributes,
                                  struct joist_shape *result, struct joist_error *error) {
  return functions[op].shape(shapes, attributes, result, error);
}

/* Elements of a conversion, a chunk of them per task. */
struct conversion {
  joist_convert_kernel *kernel;
  size_t n, from_size, to_size;
  const char *in;
  char *out;
};

enum { CHUNK = 1 << 16 };

static void convert_chunk(const void *context, size_t chunk) {
  const struct conversion *const c = context;
  const size_t first = chunk * CHUNK, length = c->n - first < CHUNK ? c->n - first : CHUNK;
  c->kernel(length, c->in + first * c->from_size, c->out + first * c->to_size);
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
    const size_t count = joist_value_count(v);
    converted[k] = joist_scratch_allocate(count * joist_dtype_size(wanted) + 1);
    if (converted[k] == NULL) {
      status = joist_fail(error, JOIST_ERROR_MEMORY,
                          "out of memory: a converted operand of nv_%s()", joist_op_name(op));
      break;
    }
    const struct conversion conversion = {.kernel = joist_convert_find(own, wanted),
                                          .n = count,
                                          .from_size = joist_dtype_size(own),
                                          .to_size = joist_dtype_size(wanted),
                                          .in = call.in[k],
                                          .out = converted[k]};
    status = joist_tasks_run(run, count / CHUNK + (count % CHUNK != 0), CHUNK, convert_chunk,
                             &conversion, error);
    call.in[k] = converted[k];
  }
  if (status == JOIST_OK) status = functions[op].run(&call, error);
  for (int k = 0; k < arity; k++) joist_scratch_free(converted[k]);
  return status;
}
