/* Records operations on chunked tensors. */
#include "r/call/delay.h"

#include "core/program/blocks.h"
#include "core/program/emit.h"
#include "core/program/watch.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/memory/payload.h"
#include "r/tensor/delayed.h"
#include "r/trace/chunked.h"

/* One element without dims, as R's operators repeat it. */
static joist_value_id as_scalar(const struct joist_r_chunked *program, joist_value_id value) {
  const struct joist_shape scalar = {.rank = 0};
  struct joist_attributes attributes = {.count = 0};
  int64_t room[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, &scalar, room);
  joist_value_id made;
  struct joist_error error;
  joist_r_raise_if(joist_program_emit(program->program, JOIST_OP_RESHAPE, &value, 1, &attributes,
                                      JOIST_NO_SOURCE, 0, &made, &error),
                   &error);
  return made;
}

/* The leaf of an operand in memory. R numbers are read exactly, in the dtype that is wanted. */
static joist_value_id leaf_of(const struct joist_r_chunked *program,
                              const struct joist_r_value *value, joist_dtype wanted) {
  static const char *fields[] = {"tensor", ""};
  const bool literal = value->form == JOIST_R_LITERAL;
  const struct joist_type type =
      literal ? (struct joist_type){wanted, false} : value->argument.operand.type;
  if (!literal) joist_r_needs_data(value);
  SEXP payload =
      PROTECT(literal ? joist_r_payload(wanted, value->count) : joist_r_shared_payload(value));
  struct joist_error error;
  if (literal)
    joist_r_raise_if(joist_r_import(value, wanted, joist_r_elements(payload), &error), &error);
  SEXP leaf = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(leaf, 0, joist_r_tensor(payload, type, &value->argument.shape));
  const joist_value_id made = joist_r_chunked_leaf(program, leaf, type, &value->argument.shape);
  UNPROTECT(2);
  return made;
}

/* Finds the blocks of the result; raises joist_value_error if it needs all elements. */
static void find_blocks(const struct joist_r_call *call, struct joist_blocks *blocks) {
  const size_t n = call->count;
  const struct joist_shape **const shapes =
      (const struct joist_shape **)R_alloc(n, (int)sizeof *shapes);
  const uint32_t **const chunks = (const uint32_t **)R_alloc(n, (int)sizeof *chunks);
  for (size_t k = 0; k < n; k++) {
    SEXP x = call->values[k].object;
    shapes[k] = &call->values[k].argument.shape;
    chunks[k] = joist_r_is_delayed(x) ? joist_r_chunks(x, shapes[k]->rank) : NULL;
  }
  const struct joist_blocked blocked = {call->op, &call->plain, n,
                                        shapes,   chunks,       &call->inference.shape[0]};
  if (!joist_blocks_of(&blocked, blocks))
    JOIST_R_FAIL(JOIST_E_NO_BLOCKS, .op = joist_op_name(call->op));
}

/* The operand whose program is continued. */
static size_t first_of(const struct joist_r_call *call) {
  size_t first = call->count;
  for (size_t k = call->count; k-- > 0;) {
    SEXP x = call->values[k].object;
    if (!joist_r_is_delayed(x)) continue;
    if (first == call->count || !joist_r_chunked_is_leaf(x) ||
        joist_r_chunked_is_leaf(call->values[first].object))
      first = k;
  }
  return first;
}

/* Whether results can wrap, and the policy in force allows it. */
static bool may_wrap(const struct joist_r_call *call) {
  const uint8_t wraps = JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE;
  if (joist_r_watched(call->rules) & wraps) return false;
  struct joist_argument *const arguments =
      (struct joist_argument *)R_alloc(call->count, (int)sizeof *arguments);
  for (size_t k = 0; k < call->count; k++) arguments[k] = call->values[k].argument;
  return joist_watch_of(call->op, arguments, call->count, &call->inference, &call->plain,
                        JOIST_WATCH_OVERFLOW) != 0;
}

SEXP joist_r_delay_call(const struct joist_r_call *call) {
  struct joist_blocks blocks;
  for (size_t k = 0; k < call->count; k++) joist_r_needs_present(&call->values[k]);
  find_blocks(call, &blocks);
  joist_value_id *const ids = (joist_value_id *)R_alloc(call->count, (int)sizeof *ids);
  const size_t first = first_of(call);
  const struct joist_r_chunked program =
      joist_r_chunked_continue(call->values[first].object, &ids[first]);
  PROTECT(program.owner);
  for (size_t k = 0; k < call->count; k++) {
    const struct joist_r_value *const value = &call->values[k];
    if (!joist_r_is_delayed(value->object)) {
      ids[k] = leaf_of(&program, value, joist_signature_operand(&call->inference.signature, k));
      continue;
    }
    if (k != first) ids[k] = joist_r_chunked_add(&program, value->object);
    if (program.program->values[ids[k]].shape.rank > value->argument.shape.rank)
      ids[k] = as_scalar(&program, ids[k]);
  }
  struct joist_instruction made =
      joist_instruction_of(call->op, &call->inference, ids, call->count, &call->plain, 0);
  /* That is up to the policy when it runs, unless results may wrap here. */
  made.watch = (uint8_t)((may_wrap(call) ? JOIST_WATCH_WRAPS : 0) |
                         (call->converts || call->assigns ? JOIST_WATCH_CONVERTS : 0));
  struct joist_error error;
  joist_r_raise_if(joist_program_add(program.program, &made, &call->inference, &error), &error);
  SEXP x = joist_r_chunked_tensor(&program, made.result, blocks.chunks);
  UNPROTECT(1);
  return x;
}
