/* Running operations on whole arrays. */
#include "core/cpu/execute.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/tally.h"
#include "core/cpu/exact.h"
#include "core/cpu/watch.h"
#include "core/program/watch.h"
#include "core/types/changed.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/loss.h"

/* Elements of a conversion, a strip of them per task; with a tally, those that change are counted.
 */
struct conversion {
  joist_convert_kernel *kernel;
  joist_dtype from, to;
  bool only_beyond; /* of an ambiguous float */
  const struct joist_program *program;
  uint32_t instruction;
  struct joist_tally *tally;
  size_t n, from_size, to_size;
  const char *in;
  char *out;
};

enum { STRIP = 1 << 16 };

static void convert_strip(const void *context, size_t strip, size_t worker) {
  (void)worker;
  const struct conversion *const c = context;
  const struct joist_part part = joist_strip_of(c->n, STRIP, strip);
  const char *const in = c->in + part.first * c->from_size;
  c->kernel(part.n, in, c->out + part.first * c->to_size);
  if (c->tally != NULL)
    joist_watch_converted(c->program, c->instruction, part.n, in, c->from, c->to, c->only_beyond,
                          NULL, part.first, c->tally);
}

/* Arrays with an entry per operand of a call. */
struct operands {
  const struct joist_value **value;
  const void **in;
  void **made;
};

/* Whether elements of an operand that its conversion changes are counted. */
static bool is_watched(const struct joist_instruction *i, const struct joist_value *value,
                       joist_dtype wanted) {
  return ((i->watch & JOIST_WATCH_LOSS) && joist_conversion_counts(value->type, wanted)) ||
         ((i->watch & JOIST_WATCH_RANGE) &&
          joist_conversion_loss(value->type.dtype, wanted).losses != JOIST_LOSS_NONE);
}

/* Operand k as `wanted`, in memory of its own. */
static joist_status convert(const struct joist_program *program, const struct joist_instruction *i,
                            const struct operands *operands, uint32_t k, joist_dtype wanted,
                            const struct joist_run *run, struct joist_error *error) {
  const struct joist_value *const value = operands->value[k];
  const joist_dtype own = value->type.dtype;
  const size_t count = joist_value_count(value);
  const size_t bytes = count * joist_dtype_size(wanted) + 1;
  operands->made[k] = joist_scratch_allocate(bytes);
  if (operands->made[k] == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  const struct conversion conversion = {.kernel = joist_convert_find(own, wanted),
                                        .from = own,
                                        .to = wanted,
                                        .only_beyond = joist_is_ambiguous_float(value->type),
                                        .program = program,
                                        .instruction = (uint32_t)(i - program->instructions),
                                        .tally = is_watched(i, value, wanted) ? run->tally : NULL,
                                        .n = count,
                                        .from_size = joist_dtype_size(own),
                                        .to_size = joist_dtype_size(wanted),
                                        .in = operands->in[k],
                                        .out = operands->made[k]};
  operands->in[k] = operands->made[k];
  return joist_tasks_run(run, joist_divide_up(count, STRIP), STRIP, convert_strip, &conversion,
                         error);
}

static joist_status run_on(const struct joist_program *program,
                           const struct joist_instruction *instruction, void *const *arrays,
                           const struct operands *operands, const struct joist_run *run,
                           struct joist_error *error) {
  const bool as_they_are = joist_op_class(instruction->op) == JOIST_CLASS_ACCUMULATE;
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < instruction->operand_count; k++) {
    operands->value[k] = &program->values[instruction->operand[k]];
    operands->in[k] = arrays[instruction->operand[k]];
    const joist_dtype wanted = joist_signature_operand(&instruction->signature, k);
    const joist_dtype own = operands->value[k]->type.dtype;
    if (status != JOIST_OK || own == wanted || as_they_are) continue;
    const void *const in = operands->in[k];
    status = convert(program, instruction, operands, k, wanted, run, error);
    if (status == JOIST_OK && (instruction->watch & JOIST_WATCH_SATURATE))
      joist_saturate_changed(joist_value_count(operands->value[k]), in, own, wanted,
                             operands->made[k]);
  }
  void *out[JOIST_RESULTS_MAX];
  bool fits = false;
  for (uint32_t k = 0; k < instruction->result_count; k++) out[k] = arrays[instruction->result + k];
  const struct joist_call call = {.instruction = instruction,
                                  .operand = operands->value,
                                  .result = &program->values[instruction->result],
                                  .in = operands->in,
                                  .out = out,
                                  .run = run,
                                  .fits = instruction->watch != 0 ? &fits : NULL};
  if (status == JOIST_OK) status = joist_operation(instruction->op)->run(&call, error);
  if (status == JOIST_OK && instruction->watch != 0 && !fits)
    status = joist_exact_check(program, (uint32_t)(instruction - program->instructions), arrays,
                               run, error);
  for (uint32_t k = 0; k < instruction->operand_count; k++) joist_scratch_free(operands->made[k]);
  return status;
}

joist_status joist_execute(const struct joist_program *program,
                           const struct joist_instruction *instruction, void *const *arrays,
                           const struct joist_run *run, struct joist_error *error) {
  enum { FEW = 4 };
  const size_t n = instruction->operand_count;
  const struct joist_value *values[FEW];
  const void *in[FEW];
  void *made[FEW] = {NULL};
  struct operands operands = {values, in, made};
  if (n <= FEW) return run_on(program, instruction, arrays, &operands, run, error);
  void **const block = calloc(3 * n, sizeof *block);
  if (block == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  operands = (struct operands){(const struct joist_value **)(void *)block,
                               (const void **)(block + n), block + 2 * n};
  const joist_status status = run_on(program, instruction, arrays, &operands, run, error);
  free(block);
  return status;
}
