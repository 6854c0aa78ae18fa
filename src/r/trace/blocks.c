/* Blocks of chunked tensors. */
#include "r/trace/blocks.h"

#include "core/plan/block_plan.h"
#include "core/plan/block_schedule.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/policy.h"
#include "r/tensor/rules.h"
#include "r/trace/chunked.h"
#include "r/trace/recorded.h"
#include "r/trace/trace.h"

/* ---- stages ---- */

/* Adds what leaves are combined from; gives the number of the value that each is combined from. */
static joist_value_id *add_parts(const struct joist_r_chunked *chunked) {
  const struct joist_program *const program = chunked->program;
  for (uint32_t k = 0; k < program->input_count; k++) {
    SEXP of = joist_r_list_element(VECTOR_ELT(joist_r_chunked_leaves(chunked), k), "of");
    if (of != R_NilValue) (void)joist_r_chunked_add(chunked, of);
  }
  const uint32_t count = program->input_count;
  joist_value_id *const values = (joist_value_id *)R_alloc(count, (int)sizeof *values);
  for (uint32_t k = 0; k < count; k++) {
    SEXP of = joist_r_list_element(VECTOR_ELT(joist_r_chunked_leaves(chunked), k), "of");
    values[k] = of == R_NilValue ? JOIST_NO_INPUT : joist_r_chunked_add(chunked, of);
  }
  return values;
}

static uint32_t mask_of_dims(SEXP dims) {
  uint32_t mask = 0;
  for (R_xlen_t k = 0; TYPEOF(dims) == INTSXP && k < XLENGTH(dims); k++)
    if (INTEGER(dims)[k] >= 1 && INTEGER(dims)[k] <= JOIST_RANK_MAX)
      mask |= UINT32_C(1) << (INTEGER(dims)[k] - 1);
  return mask;
}

static const struct joist_block_source *sources_of(const struct joist_r_chunked *chunked) {
  const joist_value_id *const of = add_parts(chunked);
  const struct joist_program *const program = chunked->program;
  struct joist_block_source *const sources =
      (struct joist_block_source *)R_alloc(program->input_count, (int)sizeof *sources);
  for (joist_value_id v = 0; v < program->value_count; v++) {
    const uint32_t input = program->values[v].input;
    if (input == JOIST_NO_INPUT) continue;
    SEXP leaf = VECTOR_ELT(joist_r_chunked_leaves(chunked), input);
    sources[input] =
        (struct joist_block_source){.chunks = joist_r_chunks(leaf, program->values[v].shape.rank),
                                    .of = of[input],
                                    .folded = mask_of_dims(joist_r_list_element(leaf, "folded"))};
    if (of[input] != JOIST_NO_INPUT)
      sources[input].drop = joist_r_flag(joist_r_list_element(leaf, "drop"), "drop");
  }
  return sources;
}

static const bool *known_values(const struct joist_program *program, SEXP known) {
  bool *const flags = (bool *)R_alloc(program->value_count, (int)sizeof *flags);
  for (joist_value_id v = 0; v < program->value_count; v++) flags[v] = false;
  for (R_xlen_t k = 0; TYPEOF(known) == INTSXP && k < XLENGTH(known); k++)
    if (INTEGER(known)[k] >= 1 && (uint32_t)INTEGER(known)[k] <= program->value_count)
      flags[INTEGER(known)[k] - 1] = true;
  return flags;
}

/* Numbers, from 1 on, of the dims that have the bit `set` in a mask. */
static SEXP dims_of_mask(uint32_t mask, int rank, bool set) {
  uint32_t dims[JOIST_RANK_MAX];
  int count = 0;
  for (int d = 0; d < rank; d++)
    if ((mask >> d & 1) == set) dims[count++] = (uint32_t)d + 1;
  return joist_r_integers(dims, count);
}

/* The operation that combines a value, or the leaf that says how. */
static SEXP last_of(const struct joist_r_chunked *chunked, const struct joist_value *value) {
  static const char *fields[] = {"op", "drop", ""};
  if (value->input != JOIST_NO_INPUT)
    return VECTOR_ELT(joist_r_chunked_leaves(chunked), value->input);
  const struct joist_instruction *const i = &chunked->program->instructions[value->instruction];
  const bool folds = joist_op_block_role(i->op) == JOIST_BLOCKS_FOLD;
  SEXP last = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(last, 0, Rf_mkString(joist_op_name(i->op)));
  SET_VECTOR_ELT(
      last, 1,
      Rf_ScalarLogical(folds && joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_DROP)));
  UNPROTECT(1);
  return last;
}

/* The text of a stage's program, and its inputs. */
static void write_program(const struct joist_r_chunked *chunked,
                          const struct joist_block_program *run,
                          const struct joist_block_round *round,
                          const struct joist_block_stage *stage, SEXP out) {
  struct joist_r_chunked own = joist_r_chunked_begin();
  PROTECT(own.owner);
  joist_value_id *const ids =
      (joist_value_id *)R_alloc(run->program->value_count, (int)sizeof *ids);
  struct joist_error error;
  joist_r_raise_if(joist_block_stage_program(run, round, stage, own.program, ids, &error), &error);
  SET_VECTOR_ELT(out, 3, joist_r_program_string(own.program));
  SEXP inputs = Rf_allocVector(VECSXP, own.program->input_count);
  SET_VECTOR_ELT(out, 4, inputs);
  for (uint32_t k = 0; k < own.program->input_count; k++) {
    const uint32_t input = run->program->values[ids[k]].input;
    SET_VECTOR_ELT(inputs, k,
                   input == JOIST_NO_INPUT || run->known[ids[k]]
                       ? Rf_ScalarInteger((int)ids[k] + 1)
                       : VECTOR_ELT(joist_r_chunked_leaves(chunked), input));
  }
  UNPROTECT(1);
}

static SEXP stage_of(const struct joist_r_chunked *chunked, const struct joist_block_program *run,
                     const struct joist_block_round *round, const struct joist_block_stage *stage) {
  static const char *fields[] = {"role",  "values",  "types",  "program", "inputs", "lasts",
                                 "parts", "extents", "chunks", "inner",   "outer",  ""};
  R_xlen_t count = 0;
  for (joist_value_id v = stage->first; v != JOIST_NO_INPUT; v = round->next[v]) count++;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_mkString(joist_block_role_name(stage->role)));
  SEXP values = Rf_allocVector(INTSXP, count);
  SET_VECTOR_ELT(out, 1, values);
  SEXP types = Rf_allocVector(VECSXP, count);
  SET_VECTOR_ELT(out, 2, types);
  write_program(chunked, run, round, stage, out);
  const bool combined = stage->role != JOIST_BLOCKS_EACH;
  SEXP lasts = combined ? Rf_allocVector(VECSXP, count) : R_NilValue;
  SET_VECTOR_ELT(out, 5, lasts);
  SEXP parts = Rf_allocVector(LGLSXP, count);
  SET_VECTOR_ELT(out, 6, parts);
  R_xlen_t k = 0;
  for (joist_value_id v = stage->first; v != JOIST_NO_INPUT; v = round->next[v], k++) {
    const struct joist_value made = run->program->values[v];
    INTEGER(values)[k] = (int)v + 1;
    SET_VECTOR_ELT(types, k, joist_r_aval(made.type, &made.shape));
    if (combined) SET_VECTOR_ELT(lasts, k, last_of(chunked, &made));
    LOGICAL(parts)
    [k] = combined && stage->role != JOIST_BLOCKS_NONE && made.input == JOIST_NO_INPUT;
  }
  SET_VECTOR_ELT(out, 7, joist_r_integers(stage->extents, stage->rank));
  SET_VECTOR_ELT(out, 8, joist_r_integers(stage->chunks, stage->rank));
  SET_VECTOR_ELT(out, 9, dims_of_mask(stage->inner, stage->rank, true));
  SET_VECTOR_ELT(out, 10, dims_of_mask(stage->inner, stage->rank, false));
  UNPROTECT(1);
  return out;
}

static void free_round(SEXP pointer) {
  struct joist_block_round *const round = R_ExternalPtrAddr(pointer);
  if (round != NULL) joist_block_round_free(round);
  R_ClearExternalPtr(pointer);
}

SEXP joist_r_block_round(SEXP x, SEXP known) {
  static const char *fields[] = {"last", "stages", ""};
  const struct joist_r_chunked chunked = joist_r_chunked_begin();
  PROTECT(chunked.owner);
  const joist_value_id output = joist_r_chunked_add(&chunked, x);
  struct joist_error error;
  joist_r_raise_if(joist_program_add_output(chunked.program, output, &error), &error);
  const int rank = chunked.program->values[output].shape.rank;
  struct joist_block_program run = {.sources = sources_of(&chunked)};
  run.program = chunked.program;
  run.chunks = joist_r_chunks(x, rank);
  run.known = known_values(chunked.program, known);
  SEXP owner = PROTECT(joist_r_owner(free_round));
  struct joist_block_round *const round = (struct joist_block_round *)R_alloc(1, sizeof *round);
  joist_r_raise_if(joist_block_round_make(&run, round, &error), &error);
  R_SetExternalPtrAddr(owner, round);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_ScalarLogical(round->last));
  SEXP stages = Rf_allocVector(VECSXP, round->count);
  SET_VECTOR_ELT(out, 1, stages);
  for (uint32_t k = 0; k < round->count; k++)
    SET_VECTOR_ELT(stages, k, stage_of(&chunked, &run, round, &round->stages[k]));
  free_round(owner);
  UNPROTECT(3);
  return out;
}

/* ---- the plan of a stage ---- */

static SEXP plan_tag(void) { return Rf_install("joist_block_plan"); }

static void finalize(SEXP pointer) {
  joist_block_plan_free(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

SEXP joist_r_block_plan(SEXP text, SEXP parts, SEXP rank) {
  const double dims = joist_r_number(rank);
  struct joist_program *program;
  SEXP owner = PROTECT(joist_r_program_owner(text, &program));
  if (TYPEOF(parts) != LGLSXP || XLENGTH(parts) != (R_xlen_t)program->output_count ||
      !(dims >= 0 && dims <= JOIST_RANK_MAX))
    joist_r_stop(JOIST_ERROR_VALUE, "a plan of blocks needs outputs and a space");
  bool *const combined = (bool *)R_alloc(program->output_count + (size_t)1, (int)sizeof *combined);
  for (uint32_t k = 0; k < program->output_count; k++) combined[k] = LOGICAL(parts)[k];
  const struct joist_block_space space = {(int)dims, combined,
                                          joist_r_watched(joist_r_rules(R_NilValue))};
  SEXP pointer = PROTECT(joist_r_owner(finalize));
  R_SetExternalPtrTag(pointer, plan_tag());
  R_SetExternalPtrProtected(pointer, owner);
  struct joist_block_plan *plan = NULL;
  struct joist_error error;
  const joist_status status = joist_block_plan_make(program, &space, &plan, &error);
  R_SetExternalPtrAddr(pointer, plan);
  joist_r_raise_if(status, &error);
  const uint32_t reads = joist_block_plan_reads(plan);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
  SEXP numbers = Rf_allocVector(INTSXP, reads);
  SET_VECTOR_ELT(out, 0, pointer);
  SET_VECTOR_ELT(out, 1, numbers);
  SEXP maps = Rf_allocVector(VECSXP, reads);
  SET_VECTOR_ELT(out, 2, maps);
  for (uint32_t k = 0; k < reads; k++) {
    const int8_t *map;
    const struct joist_value *const value = &program->values[joist_block_plan_read(plan, k, &map)];
    SEXP made = Rf_allocVector(INTSXP, value->shape.rank);
    SET_VECTOR_ELT(maps, k, made);
    for (int d = 0; d < value->shape.rank; d++) INTEGER(made)[d] = map[d] + 1;
    INTEGER(numbers)[k] = (int)value->input + 1;
  }
  UNPROTECT(3);
  return out;
}

/* ---- the program of a block ---- */

SEXP joist_r_block_append(SEXP pointer, SEXP extents, SEXP reversed, SEXP reads) {
  /* Somebody else's external pointer is not one of ours. */
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == plan_tag();
  const struct joist_block_plan *const plan = own ? R_ExternalPtrAddr(pointer) : NULL;
  const uint32_t count = plan == NULL ? 0 : joist_block_plan_reads(plan);
  if (plan == NULL || TYPEOF(reads) != VECSXP || XLENGTH(reads) != (R_xlen_t)count)
    joist_r_stop(JOIST_ERROR_VALUE, "a block needs a plan and what it reads");
  struct joist_r_value *const values =
      (struct joist_r_value *)R_alloc(count + (size_t)1, (int)sizeof *values);
  joist_value_id *const ids = (joist_value_id *)R_alloc(count + (size_t)1, (int)sizeof *ids);
  SEXP trace = NULL;
  for (uint32_t k = 0; k < count; k++) {
    joist_r_read_any(joist_r_rules(R_NilValue), VECTOR_ELT(reads, k), &values[k]);
    if (values[k].form == JOIST_R_TRACED) trace = values[k].payload;
  }
  if (trace == NULL) joist_r_stop(JOIST_ERROR_VALUE, "a block is part of a trace");
  joist_r_check_open(trace);
  for (uint32_t k = 0; k < count; k++)
    ids[k] = joist_r_trace_number(trace, &values[k], values[k].argument.operand.type);
  const bool turned = joist_r_flag(reversed, "reversed");
  struct joist_shape block = {.rank = 0};
  joist_r_shape(extents, &block);
  struct joist_program *const program = &joist_r_trace_of(trace)->program;
  struct joist_program *whole;
  whole = R_ExternalPtrAddr(R_ExternalPtrProtected(pointer));
  const uint32_t made = whole->output_count;
  joist_value_id *const outputs = (joist_value_id *)R_alloc(made + (size_t)1, (int)sizeof *outputs);
  struct joist_error error;
  joist_r_raise_if(
      joist_block_plan_append(plan, block.extent, turned, ids, program, outputs, &error), &error);
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, made));
  for (uint32_t k = 0; k < made; k++)
    SET_VECTOR_ELT(tensors, k, joist_r_trace_tensor(trace, outputs[k]));
  UNPROTECT(1);
  return tensors;
}
