/* Blocks of chunked tensors. */
#include "r/trace/blocks.h"

#include "core/plan/block_plan.h"
#include "core/program/blocks.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/tensor/rules.h"
#include "r/trace/attributes.h"
#include "r/trace/trace.h"

/* ---- how an operation makes blocks ---- */

static const uint32_t *extents_of(SEXP x, int rank) {
  if (x == R_NilValue) return NULL;
  if (TYPEOF(x) != INTSXP || XLENGTH(x) != rank)
    joist_r_stop(JOIST_ERROR_SHAPE, "chunks must have an extent for each dimension");
  return (const uint32_t *)INTEGER(x);
}

static SEXP integers_of(const uint32_t *from, int n) {
  SEXP made = Rf_allocVector(INTSXP, n);
  for (int k = 0; k < n; k++) INTEGER(made)[k] = (int)from[k];
  return made;
}

/* Bits as numbers from 1 on. */
static SEXP dims_of_mask(uint32_t mask) {
  uint32_t dims[JOIST_RANK_MAX];
  int count = 0;
  for (int d = 0; d < JOIST_RANK_MAX; d++)
    if (mask >> d & 1) dims[count++] = (uint32_t)d + 1;
  return integers_of(dims, count);
}

SEXP joist_r_blocks(SEXP name, SEXP shapes, SEXP chunks, SEXP attributes, SEXP result) {
  static const char *fields[] = {"role", "chunks", "parts", "dims", "drop", "terms", "step", ""};
  const joist_op op = joist_op_parse(joist_r_string(name, "op"));
  if (op == JOIST_OP_COUNT || TYPEOF(shapes) != VECSXP || TYPEOF(chunks) != VECSXP ||
      XLENGTH(shapes) != XLENGTH(chunks) || XLENGTH(shapes) == 0)
    joist_r_stop(JOIST_ERROR_VALUE, "blocks are those of an operation on operands");
  const size_t n = (size_t)XLENGTH(shapes);
  struct joist_shape *const read = (struct joist_shape *)R_alloc(n, (int)sizeof *read), whole;
  const struct joist_shape **const own = (const struct joist_shape **)R_alloc(n, (int)sizeof *own);
  const uint32_t **const chunk = (const uint32_t **)R_alloc(n, (int)sizeof *chunk);
  for (size_t k = 0; k < n; k++) {
    joist_r_shape(VECTOR_ELT(shapes, (R_xlen_t)k), &read[k]);
    own[k] = &read[k];
    chunk[k] = extents_of(VECTOR_ELT(chunks, (R_xlen_t)k), read[k].rank);
  }
  joist_r_shape(result, &whole);
  const struct joist_attributes given = joist_r_attributes(op, attributes, own[0]);
  const struct joist_blocked blocked = {op, &given, n, own, chunk, &whole};
  struct joist_blocks blocks;
  if (!joist_blocks_of(&blocked, &blocks)) JOIST_R_FAIL(JOIST_E_NO_BLOCKS, .op = joist_op_name(op));
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  const joist_block_role role = joist_op_block_role(op);
  const bool drop = role == JOIST_BLOCKS_FOLD && joist_attribute_flag(&given, JOIST_ATTRIBUTE_DROP);
  SET_VECTOR_ELT(out, 0, Rf_mkString(joist_block_role_name(role)));
  SET_VECTOR_ELT(out, 1, integers_of(blocks.chunks, whole.rank));
  SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(blocks.parts));
  SET_VECTOR_ELT(out, 3, dims_of_mask(joist_attribute_mask(&given)));
  SET_VECTOR_ELT(out, 4, Rf_ScalarLogical(drop));
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger((int)blocks.terms));
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger((int)blocks.step));
  UNPROTECT(1);
  return out;
}

/* ---- the plan of a program ---- */

static SEXP plan_tag(void) { return Rf_install("joist_block_plan"); }

static void finalize(SEXP pointer) {
  joist_block_plan_free(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

/* A traced tensor that is a value of `trace`, or of any trace if that is NULL. */
static struct joist_r_value read_traced(SEXP x, SEXP trace) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  if (value.form != JOIST_R_TRACED || value.leaf || (trace != NULL && value.payload != trace))
    joist_r_stop(JOIST_ERROR_VALUE, "a program over blocks is made of the tensors of one trace");
  return value;
}

static void read_map(SEXP map, int rank, int space, int8_t read[JOIST_RANK_MAX]) {
  if (TYPEOF(map) != INTSXP || XLENGTH(map) != rank)
    joist_r_stop(JOIST_ERROR_SHAPE, "a map must have a number for each dimension");
  for (int d = 0; d < rank; d++) {
    if (INTEGER(map)[d] < 0 || INTEGER(map)[d] > space)
      joist_r_stop(JOIST_ERROR_SHAPE, "a map must have dimensions of its space");
    read[d] = (int8_t)(INTEGER(map)[d] - 1);
  }
}

/* The source of what a plan reads by number `k`, and its map. */
static struct joist_r_source source_of(SEXP trace, const struct joist_block_plan *plan, uint32_t k,
                                       const int8_t **map) {
  const struct joist_r_trace *const own = joist_r_trace_of(trace);
  return own->sources[own->program.values[joist_block_plan_read(plan, k, map)].input];
}

SEXP joist_r_block_plan(SEXP outputs, SEXP maps, SEXP rank) {
  const double dims = joist_r_number(rank);
  if (TYPEOF(outputs) != VECSXP || TYPEOF(maps) != VECSXP || XLENGTH(outputs) == 0 ||
      XLENGTH(outputs) != XLENGTH(maps) || !(dims >= 0 && dims <= JOIST_RANK_MAX))
    joist_r_stop(JOIST_ERROR_VALUE, "a plan of blocks needs outputs with their maps");
  const uint32_t count = (uint32_t)XLENGTH(outputs);
  struct joist_block_output *const read =
      (struct joist_block_output *)R_alloc(count, (int)sizeof *read);
  SEXP trace = NULL;
  for (uint32_t k = 0; k < count; k++) {
    const struct joist_r_value value = read_traced(VECTOR_ELT(outputs, k), trace);
    trace = value.payload;
    read[k].value = value.argument.value;
    read_map(VECTOR_ELT(maps, k), value.argument.shape.rank, (int)dims, read[k].map);
  }
  SEXP pointer = PROTECT(joist_r_owner(finalize));
  R_SetExternalPtrTag(pointer, plan_tag());
  struct joist_block_plan *plan = NULL;
  struct joist_error error;
  const joist_status status = joist_block_plan_make(&joist_r_trace_of(trace)->program, read, count,
                                                    (int)dims, &plan, &error);
  R_SetExternalPtrAddr(pointer, plan);
  joist_r_raise_if(status, &error);
  R_SetExternalPtrProtected(pointer, trace);
  const uint32_t reads = joist_block_plan_reads(plan);
  SEXP numbers = PROTECT(Rf_allocVector(INTSXP, reads));
  SEXP read_maps = PROTECT(Rf_allocVector(VECSXP, reads));
  R_xlen_t leaves = 0;
  for (uint32_t k = 0; k < reads; k++) {
    const int8_t *map;
    const struct joist_r_source source = source_of(trace, plan, k, &map);
    if (source.kind != JOIST_R_FROM_LEAF) continue;
    const int own = joist_r_trace_of(trace)->program.values[source.value].shape.rank;
    SEXP made = Rf_allocVector(INTSXP, own);
    SET_VECTOR_ELT(read_maps, leaves, made);
    for (int d = 0; d < own; d++) INTEGER(made)[d] = map[d] + 1;
    INTEGER(numbers)[leaves++] = (int)source.index + 1;
  }
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(out, 0, pointer);
  SET_VECTOR_ELT(out, 1, Rf_xlengthgets(numbers, leaves));
  SET_VECTOR_ELT(out, 2, Rf_xlengthgets(read_maps, leaves));
  UNPROTECT(4);
  return out;
}

/* ---- the program of a block ---- */

/* A constant of one trace as a value of another. */
static joist_value_id constant_in(SEXP target, SEXP trace, struct joist_r_source source) {
  const struct joist_value value = joist_r_trace_of(trace)->program.values[source.value];
  SEXP payload =
      VECTOR_ELT(VECTOR_ELT(R_ExternalPtrProtected(trace), JOIST_R_CONSTANTS), source.index);
  SEXP tensor = PROTECT(joist_r_tensor(payload, value.type, &value.shape));
  SEXP traced = PROTECT(joist_r_trace_constant(target, tensor));
  const joist_value_id id = read_traced(traced, target).argument.value;
  UNPROTECT(2);
  return id;
}

SEXP joist_r_block_append(SEXP pointer, SEXP extents, SEXP reversed, SEXP leaves) {
  /* Somebody else's external pointer is not one of ours. */
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == plan_tag();
  const struct joist_block_plan *const plan = own ? R_ExternalPtrAddr(pointer) : NULL;
  if (plan == NULL || TYPEOF(leaves) != VECSXP || XLENGTH(leaves) == 0)
    joist_r_stop(JOIST_ERROR_VALUE, "a block needs a plan and what it reads");
  SEXP trace = R_ExternalPtrProtected(pointer), target = NULL;
  const uint32_t count = joist_block_plan_reads(plan);
  joist_value_id *const reads = (joist_value_id *)R_alloc(count + (size_t)1, (int)sizeof *reads);
  R_xlen_t used = 0;
  for (uint32_t k = 0; k < count; k++) {
    const int8_t *map;
    if (source_of(trace, plan, k, &map).kind != JOIST_R_FROM_LEAF) continue;
    if (used == XLENGTH(leaves))
      joist_r_stop(JOIST_ERROR_VALUE, "this block reads more leaves than it was given");
    const struct joist_r_value value = read_traced(VECTOR_ELT(leaves, used++), target);
    target = value.payload;
    reads[k] = value.argument.value;
  }
  if (target == NULL) target = read_traced(VECTOR_ELT(leaves, 0), NULL).payload;
  joist_r_check_open(target);
  for (uint32_t k = 0; k < count; k++) {
    const int8_t *map;
    const struct joist_r_source source = source_of(trace, plan, k, &map);
    if (source.kind != JOIST_R_FROM_LEAF) reads[k] = constant_in(target, trace, source);
  }
  const bool turned = joist_r_flag(reversed, "reversed");
  struct joist_shape block = {.rank = 0};
  joist_r_shape(extents, &block);
  const uint32_t made = joist_block_plan_outputs(plan);
  joist_value_id *const outputs = (joist_value_id *)R_alloc(made + (size_t)1, (int)sizeof *outputs);
  struct joist_error error;
  joist_r_raise_if(joist_block_plan_append(plan, block.extent, turned, reads,
                                           &joist_r_trace_of(target)->program, outputs, &error),
                   &error);
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, made));
  for (uint32_t k = 0; k < made; k++)
    SET_VECTOR_ELT(tensors, k, joist_r_trace_tensor(target, outputs[k]));
  UNPROTECT(1);
  return tensors;
}
