/* Traces: building a program from the operations of an R function.
 *
 * A trace is an external pointer that owns a struct trace (its finalizer frees it). The
 * protected value is a list: constants (payloads), the template of the result. */
#include "r/trace/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/bits.h"
#include "core/program/regions.h"
#include "core/program/watch.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/convert.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/poison.h"
#include "r/base/session.h"
#include "r/base/source.h"
#include "r/base/vector.h"
#include "r/memory/payload.h"
#include "r/tensor/mask.h"
#include "r/tensor/name_references.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/trace/trace_mask.h"
#include "r/trace/trace_names.h"

static void finalize(SEXP pointer) {
  struct joist_r_trace *const trace = R_ExternalPtrAddr(pointer);
  if (trace == NULL) return;
  R_ClearExternalPtr(pointer);
  joist_r_found_free(trace->found);
  joist_plan_free(trace->plan);
  joist_program_clear(&trace->program);
  free(trace->sources);
  joist_table_clear(&trace->known_sources);
  joist_table_clear(&trace->known_constants);
  free(trace->constant_bytes);
  free(trace->masks);
  free(trace->exact);
  free(trace->mixed);
  free(trace->moves.move);
  joist_text_free(&trace->text);
  free(trace);
}

struct joist_r_trace *joist_r_trace_of(SEXP pointer) {
  /* Somebody else's external pointer is not one of ours. */
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == joist_r_trace_tag();
  struct joist_r_trace *const trace = own ? R_ExternalPtrAddr(pointer) : NULL;
  if (trace == NULL)
    joist_r_stop(JOIST_ERROR_VALUE, "this traced tensor or program is lost: it cannot be saved");
  return trace;
}

SEXP joist_r_trace_parent(SEXP pointer) {
  return VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_PARENT);
}

static SEXP outermost(SEXP pointer) {
  while (joist_r_trace_parent(pointer) != R_NilValue) pointer = joist_r_trace_parent(pointer);
  return pointer;
}

bool joist_r_is_within(SEXP inner, SEXP pointer) {
  while (inner != pointer && inner != R_NilValue) inner = joist_r_trace_parent(inner);
  return inner == pointer;
}

SEXP joist_r_trace_tensor(SEXP pointer, joist_value_id value) {
  const struct joist_value made = joist_r_trace_of(pointer)->program.values[value];
  SEXP tensor = PROTECT(joist_r_traced(pointer, value, false, made.type, &made.shape));
  joist_r_set_names(tensor, joist_r_trace_names(pointer, value), made.shape.rank);
  UNPROTECT(1);
  return tensor;
}

/* ---- values by other numbers ---- */

SEXP joist_r_traced_number(SEXP x) {
  struct joist_r_unknown unknown;
  if (!joist_r_unknown_read(x, &unknown) || unknown.trace == R_NilValue) return R_NilValue;
  if (unknown.number < 0) return Rf_ScalarInteger(unknown.number);
  return Rf_ScalarInteger((int)joist_r_moved(unknown.trace, (joist_value_id)unknown.number));
}

SEXP joist_r_is_number(SEXP x) {
  struct joist_r_unknown unknown;
  return Rf_ScalarLogical(joist_r_unknown_read(x, &unknown) && unknown.trace != R_NilValue &&
                          unknown.number < 0);
}

SEXP joist_r_is_operand(SEXP x) {
  return Rf_ScalarLogical(joist_r_is_tensor(x) && !Rf_asLogical(joist_r_is_number(x)));
}

SEXP joist_r_is_traced(SEXP x) {
  struct joist_r_unknown unknown;
  return Rf_ScalarLogical(joist_r_unknown_read(x, &unknown) && unknown.trace != R_NilValue);
}

SEXP joist_r_has_elements(SEXP x) {
  return Rf_ScalarLogical(!joist_r_is_unknown(x) && !Rf_inherits(x, "nv_aval"));
}

SEXP joist_r_trace_replace(SEXP pointer, SEXP number) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  struct joist_program *const program = &trace->program;
  joist_r_check_open(pointer);
  const uint32_t earlier = (uint32_t)Rf_asInteger(number);
  if (earlier >= program->instruction_count) joist_r_stop(JOIST_ERROR_VALUE, "no such instruction");
  struct joist_r_moves *const moves = &trace->moves;
  void *const grown =
      joist_array_grown(moves->move, sizeof *moves->move, moves->count, &moves->capacity);
  if (grown == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  moves->move = grown;
  const struct joist_instruction old = program->instructions[earlier];
  bool done = false;
  struct joist_error error;
  if (!joist_has_effect(&old)) /* derivatives print nothing */
    joist_r_raise_if(joist_program_replace(program, earlier, &done, &error), &error);
  if (!done) return Rf_ScalarLogical(false);
  moves->move[moves->count++] =
      (struct joist_r_move){old.result, program->instructions[earlier].result, old.result_count};
  for (joist_value_id v = 0; v < trace->mask_capacity; v++) {
    if (trace->masks[v] == 0) continue;
    const joist_value_id now = joist_r_moved(pointer, v);
    const joist_value_id mask = joist_r_moved(pointer, trace->masks[v] - 1);
    joist_r_note_mask(trace, v, mask);
    if (now != v) joist_r_note_mask(trace, now, mask);
  }
  return Rf_ScalarLogical(true);
}

SEXP joist_r_push_trace(SEXP trace, SEXP in_body, SEXP frame) {
  struct joist_r_session next = *joist_r_session();
  if (trace != R_NilValue) (void)joist_r_trace_of(trace);
  next.trace = trace;
  next.in_body = trace != R_NilValue && joist_r_flag(in_body, "in_body");
  if (frame != R_NilValue) next.frame = Rf_asInteger(frame);
  joist_r_push_session(next);
  return R_NilValue;
}

/* ---- inputs ---- */

static bool grow_table(struct joist_table *table, uint32_t count) {
  bool grown;
  if (!joist_table_reserve(table, count, &grown)) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  return grown;
}

static bool same_source(const struct joist_r_trace *trace, uint32_t input,
                        struct joist_r_source source, const struct joist_shape *shape) {
  const struct joist_r_source *const known = &trace->sources[input];
  return known->kind == source.kind && known->index == source.index &&
         known->ambiguous == source.ambiguous && known->dtype == source.dtype &&
         joist_shape_equal(&trace->program.values[known->value].shape, shape);
}

static uint32_t *source_place(const struct joist_r_trace *trace, struct joist_r_source source,
                              const struct joist_shape *shape) {
  uint64_t at =
      joist_hash_word(joist_hash_word((uint64_t)source.kind, source.index), (uint64_t)source.dtype);
  for (;; at++) {
    uint32_t *const place = joist_table_place(&trace->known_sources, at);
    if (*place == 0 || same_source(trace, *place - 1, source, shape)) return place;
  }
}

/* The input that reads `source`; an equal one is used again. */
static joist_value_id input_of(struct joist_r_trace *trace, struct joist_r_source source,
                               struct joist_type type, const struct joist_shape *shape) {
  const uint32_t input = trace->program.input_count;
  source.ambiguous = type.ambiguous;
  const bool grown = grow_table(&trace->known_sources, input);
  for (uint32_t k = 0; grown && k < input; k++) {
    const struct joist_r_source known = trace->sources[k];
    *source_place(trace, known, &trace->program.values[known.value].shape) = k + 1;
  }
  uint32_t *const place = source_place(trace, source, shape);
  if (*place != 0) return trace->sources[*place - 1].value;
  struct joist_error error;
  void *const sources =
      joist_array_grown(trace->sources, sizeof *trace->sources, input, &trace->source_capacity);
  if (sources == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  trace->sources = sources;
  const joist_status status =
      joist_program_add_input(&trace->program, type, shape, &source.value, &error);
  joist_r_raise_if(status, &error);
  trace->sources[input] = source;
  *place = input + 1;
  return source.value;
}

/* Scalars are the same constant when they have the same bits, others when they are the same R
 * object. */
static bool same_constant(SEXP known, SEXP payload, size_t scalar_bytes) {
  if (known == payload) return true;
  return scalar_bytes > 0 && TYPEOF(known) == TYPEOF(payload) && TYPEOF(known) != EXTPTRSXP &&
         XLENGTH(known) == XLENGTH(payload) &&
         memcmp(joist_r_elements(known), joist_r_elements(payload), scalar_bytes) == 0;
}

static uint32_t *constant_place(const struct joist_r_trace *trace, SEXP constants, SEXP payload,
                                size_t scalar_bytes) {
  uint64_t at = joist_hash_word(0, scalar_bytes);
  if (scalar_bytes > 0) {
    uint64_t words[2] = {0, 0};
    memcpy(words, joist_r_elements(payload), scalar_bytes);
    at = joist_hash_word(joist_hash_word(at, words[0]), words[1]);
  } else {
    at = joist_hash_word(at, (uint64_t)(uintptr_t)payload);
  }
  for (;; at++) {
    uint32_t *const place = joist_table_place(&trace->known_constants, at);
    if (*place == 0 ||
        same_constant(VECTOR_ELT(constants, *place - 1), payload,
                      trace->constant_bytes[*place - 1] == scalar_bytes ? scalar_bytes : 0))
      return place;
  }
}

/* Constants with room for one more. An allocation may run a finalizer, and that may add to the same
 * trace: what there is, is read after it. */
static SEXP room_for_constant(SEXP pointer) {
  SEXP kept = R_ExternalPtrProtected(pointer);
  const struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  while (trace->constant_count == (uint32_t)XLENGTH(VECTOR_ELT(kept, JOIST_R_CONSTANTS))) {
    SEXP larger = PROTECT(Rf_allocVector(VECSXP, 2 * (R_xlen_t)trace->constant_count + 8));
    SEXP constants = VECTOR_ELT(kept, JOIST_R_CONSTANTS);
    if (XLENGTH(constants) < XLENGTH(larger)) {
      for (R_xlen_t k = 0; k < XLENGTH(constants); k++)
        SET_VECTOR_ELT(larger, k, VECTOR_ELT(constants, k));
      SET_VECTOR_ELT(kept, JOIST_R_CONSTANTS, larger);
    }
    UNPROTECT(1);
  }
  return VECTOR_ELT(kept, JOIST_R_CONSTANTS);
}

/* Appends a constant. The program reads it later, so it must not be changed in place meanwhile. */
static void add_constant(SEXP pointer, SEXP constants, SEXP payload, size_t scalar_bytes) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  const uint32_t index = trace->constant_count;
  if (index % 64 == 0) {
    void *const moved = realloc(trace->constant_bytes, 2 * (size_t)index + 64);
    if (moved == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
    trace->constant_bytes = moved;
  }
  SET_VECTOR_ELT(constants, index, payload);
  trace->constant_bytes[index] = (uint8_t)scalar_bytes;
  MARK_NOT_MUTABLE(payload);
  trace->constant_count++;
}

static joist_value_id constant_input(SEXP pointer, SEXP payload, struct joist_type type,
                                     const struct joist_shape *shape) {
  SEXP constants = room_for_constant(pointer);
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  const uint32_t count = trace->constant_count;
  const bool scalar = shape->rank == 0 && TYPEOF(payload) != EXTPTRSXP;
  const size_t bytes = scalar ? joist_dtype_size(type.dtype) : 0;
  const bool grown = grow_table(&trace->known_constants, count);
  for (uint32_t k = 0; grown && k < count; k++)
    *constant_place(trace, constants, VECTOR_ELT(constants, k), trace->constant_bytes[k]) = k + 1;
  uint32_t *const place = constant_place(trace, constants, payload, bytes);
  uint32_t index = *place - 1;
  if (*place == 0) {
    index = count;
    add_constant(pointer, constants, payload, bytes);
    *place = index + 1;
  }
  const joist_value_id made =
      input_of(trace, (struct joist_r_source){JOIST_R_FROM_CONSTANT, index, type.dtype, 0, false},
               type, shape);
  struct joist_value *const value = &trace->program.values[made];
  value->known = scalar && joist_dtype_kind(type.dtype) == JOIST_KIND_FLOAT;
  if (value->known)
    joist_convert_find(type.dtype, JOIST_F64)(1, joist_r_elements(payload), &value->number);
  return made;
}

/* An input of a body that stands for a value from outside. */
static joist_value_id captured(SEXP pointer, const struct joist_r_value *value,
                               struct joist_type type) {
  SEXP parent = joist_r_trace_parent(pointer);
  const joist_value_id outer = joist_r_trace_number(parent, value, type);
  const struct joist_value there = joist_r_trace_of(parent)->program.values[outer];
  return input_of(joist_r_trace_of(pointer),
                  (struct joist_r_source){JOIST_R_FROM_OUTSIDE, outer, there.type.dtype, 0, false},
                  there.type, &there.shape);
}

joist_value_id joist_r_trace_number(SEXP pointer, const struct joist_r_value *value,
                                    struct joist_type type) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  const struct joist_shape *const shape = &value->argument.shape;
  const bool own = value->form == JOIST_R_TRACED && value->payload == pointer;
  if (!own && joist_r_trace_parent(pointer) != R_NilValue) return captured(pointer, value, type);
  if (value->form == JOIST_R_TRACED) {
    const joist_value_id at = value->argument.value;
    bool known = at < (value->leaf ? trace->leaf_count : trace->program.value_count);
    if (known && !value->leaf)
      known = trace->program.values[at].type.dtype == value->argument.operand.type.dtype;
    if (known && !value->leaf && !joist_shape_equal(&trace->program.values[at].shape, shape))
      return joist_r_trace_reshaped(pointer, at, shape);
    if (!known) joist_r_stop(JOIST_ERROR_VALUE, "this traced tensor is damaged");
    if (!value->leaf) return at;
    return input_of(
        trace,
        (struct joist_r_source){JOIST_R_FROM_LITERAL, value->argument.value, type.dtype, 0, false},
        type, shape);
  }
  if (value->form == JOIST_R_CONCRETE || value->form == JOIST_R_REMOTE) {
    SEXP shared = PROTECT(joist_r_shared_payload(value));
    const joist_value_id number =
        constant_input(pointer, shared, value->argument.operand.type, shape);
    UNPROTECT(1);
    return number;
  }
  SEXP payload = PROTECT(joist_r_payload(type.dtype, value->count));
  struct joist_error error;
  void *const out = joist_r_elements(payload);
  const joist_status status = joist_r_import(value, type.dtype, out, &error);
  joist_r_raise_if(status, &error);
  const joist_value_id number = constant_input(pointer, payload, type, shape);
  UNPROTECT(1);
  return number;
}

void joist_r_check_open(SEXP pointer) {
  if (joist_r_trace_of(pointer)->closed)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this tensor belongs to a jit() trace that has ended; return it from the traced "
                 "function instead of keeping it elsewhere");
}

/* The mask of an R value among the arguments, in the shape that it is read in. */
static joist_value_id leaf_mask(const struct joist_r_value *value) {
  const struct joist_r_source mask = {JOIST_R_FROM_MASK, value->argument.value, JOIST_BOOL, 0,
                                      false};
  return input_of(joist_r_trace_of(value->payload), mask, joist_r_mask_type,
                  &value->argument.shape);
}

SEXP joist_r_trace_read(const struct joist_r_value *value, struct joist_type type,
                        const struct joist_shape *shape) {
  struct joist_r_value read = *value;
  joist_r_check_open(read.payload);
  read.argument.shape = *shape;
  SEXP tensor = PROTECT(joist_r_traced(
      read.payload, joist_r_trace_number(read.payload, &read, type), false, type, shape));
  if (joist_shape_equal(shape, &value->argument.shape)) joist_r_name_traced(tensor, value->names);
  if (joist_r_has_missing(value)) (void)joist_r_traced_with(tensor, read.payload, leaf_mask(&read));
  UNPROTECT(1);
  return tensor;
}

_Noreturn void joist_r_stop_two_traces(void) {
  joist_r_stop(JOIST_ERROR_VALUE, "tensors of two different jit() traces cannot be combined");
}

_Noreturn void joist_r_stop_abstract(void) {
  joist_r_stop(JOIST_ERROR_VALUE, "an nv_aval() cannot be combined with the tensors of a trace");
}

SEXP joist_r_trace_constant(SEXP pointer, SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  if (value.form == JOIST_R_TRACED && value.payload == pointer) return x;
  if (value.form != JOIST_R_TRACED) joist_r_needs_data(&value);
  joist_r_check_open(pointer);
  const struct joist_type type = value.argument.operand.type;
  if (value.form == JOIST_R_TRACED && !joist_r_is_within(pointer, value.payload))
    joist_r_stop_two_traces();
  joist_value_id mask;
  joist_r_trace_masks(pointer, &value, 1, &mask);
  SEXP traced = PROTECT(joist_r_traced(pointer, joist_r_trace_number(pointer, &value, type), false,
                                       type, &value.argument.shape));
  joist_r_name_traced(traced, value.names);
  traced = joist_r_traced_with(traced, pointer, mask);
  UNPROTECT(1);
  return traced;
}

SEXP joist_r_trace_known(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  if (value.form != JOIST_R_TRACED || value.leaf) return R_NilValue;
  SEXP pointer = value.payload;
  joist_value_id at = value.argument.value;
  for (;;) {
    const struct joist_r_trace *const trace = joist_r_trace_of(pointer);
    if (at >= trace->program.value_count) return R_NilValue;
    const uint32_t input = trace->program.values[at].input;
    if (input == JOIST_NO_INPUT) return R_NilValue;
    const struct joist_r_source source = trace->sources[input];
    if (source.kind == JOIST_R_FROM_OUTSIDE) {
      pointer = joist_r_trace_parent(pointer);
      at = joist_r_moved(pointer, source.index);
      continue;
    }
    const struct joist_value *const known = &trace->program.values[at];
    return known->known ? Rf_ScalarReal(known->number) : R_NilValue;
  }
}

SEXP joist_r_trace_mark(SEXP pointer, SEXP rule) {
  joist_r_check_open(pointer);
  pointer = outermost(pointer);
  SEXP cell = PROTECT(Rf_cons(rule, R_NilValue)), kept = R_ExternalPtrProtected(pointer);
  SETCDR(cell, VECTOR_ELT(kept, JOIST_R_RULES));
  SET_VECTOR_ELT(kept, JOIST_R_RULES, cell);
  UNPROTECT(1);
  return Rf_ScalarInteger(Rf_length(cell));
}

SEXP joist_r_trace_rule(SEXP pointer, SEXP mark) {
  joist_r_check_open(pointer);
  SEXP cells = VECTOR_ELT(R_ExternalPtrProtected(outermost(pointer)), JOIST_R_RULES);
  const int count = Rf_length(cells), number = Rf_asInteger(mark);
  return number < 1 || number > count ? R_NilValue : CAR(Rf_nthcdr(cells, count - number));
}

/* ---- lines of R code ---- */

/* To look for a line takes as long as to trace an operation twice: where so many in a row had none,
 * the function was defined without its source. */
enum { LINELESS = 256 };

uint32_t joist_r_trace_line(SEXP pointer) {
  pointer = outermost(pointer);
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  SEXP kept = R_ExternalPtrProtected(pointer);
  if (trace->lineless >= LINELESS) return JOIST_NO_SOURCE;
  SEXP reference = PROTECT(joist_r_source_reference());
  /* What R evaluated for it may have run a finalizer that added to the same trace. */
  SEXP lines = VECTOR_ELT(kept, JOIST_R_LINES);
  const uint32_t count = trace->line_count;
  uint32_t line = count;
  trace->lineless = reference == R_NilValue ? trace->lineless + 1 : 0;
  if (reference == R_NilValue) {
    line = JOIST_NO_SOURCE;
  } else if (count > 0 && joist_r_same_source(VECTOR_ELT(lines, count - 1), reference)) {
    line = count - 1;
  } else {
    if (count == (uint32_t)XLENGTH(lines)) {
      lines = Rf_xlengthgets(lines, 2 * XLENGTH(lines) + 8);
      SET_VECTOR_ELT(kept, JOIST_R_LINES, lines);
    }
    SET_VECTOR_ELT(lines, count, reference);
    trace->line_count++;
  }
  UNPROTECT(1);
  return line;
}

void joist_r_note_value(joist_value_id **table, uint32_t *capacity, joist_value_id value,
                        joist_value_id id) {
  if (value >= *capacity) {
    const uint32_t larger = 2 * value + 32;
    joist_value_id *const grown = realloc(*table, larger * sizeof *grown);
    if (grown == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
    for (uint32_t k = *capacity; k < larger; k++) grown[k] = 0;
    *table = grown;
    *capacity = larger;
  }
  (*table)[value] = id + 1;
}

/* ---- arguments and results ---- */

bool joist_r_is_structure(SEXP x) {
  return TYPEOF(x) == VECSXP &&
         (!Rf_isObject(x) || Rf_inherits(x, "nv_qr") || Rf_inherits(x, "nv_packed"));
}

SEXP joist_r_map_leaves(SEXP x, SEXP (*leaf)(SEXP x, void *context), void *context) {
  R_CheckStack(); /* lists of lists may be as deep as they like */
  if (x == R_NilValue) return x;
  if (!joist_r_is_structure(x)) return leaf(x, context);
  SEXP copy = PROTECT(Rf_shallow_duplicate(x)), names = Rf_getAttrib(x, R_NamesSymbol);
  if (joist_r_are_references(names)) {
    /* The names of a list are a value: that of the arguments at hand. */
    Rf_setAttrib(copy, R_NamesSymbol, PROTECT(joist_r_plain_names(names)));
    UNPROTECT(1);
  }
  for (R_xlen_t k = 0; k < XLENGTH(x); k++)
    SET_VECTOR_ELT(copy, k, joist_r_map_leaves(VECTOR_ELT(x, k), leaf, context));
  UNPROTECT(1);
  return copy;
}

/* What the leaves of arguments and results are read with. */
struct tracing {
  const struct joist_rules *rules;
  SEXP pointer;
};

/* The traced tensor that stands for a leaf of the arguments. */
static SEXP trace_argument(SEXP x, void *context) {
  const struct joist_rules *const rules = ((const struct tracing *)context)->rules;
  SEXP pointer = ((const struct tracing *)context)->pointer;
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  const uint32_t leaf = trace->leaf_count++;
  const struct joist_type type = value.argument.operand.type;
  /* Rules that look at the values of literals need them: they are part of the key. */
  if (value.form == JOIST_R_LITERAL && joist_r_by_value(rules)) return x;
  const bool literal = value.form == JOIST_R_LITERAL;
  const struct joist_shape *const shape = &value.argument.shape;
  const struct joist_r_source elements = {JOIST_R_FROM_LEAF, leaf, type.dtype, 0, false};
  const joist_value_id number = literal ? leaf : input_of(trace, elements, type, shape);
  SEXP traced = PROTECT(joist_r_traced(pointer, number, literal, type, shape));
  if (joist_r_has_missing(&value)) {
    const struct joist_r_source mask = {JOIST_R_FROM_MASK, leaf, JOIST_BOOL, 0, false};
    const joist_value_id at = input_of(trace, mask, joist_r_mask_type, shape);
    (void)joist_r_traced_with(traced, pointer, at);
  }
  joist_r_name_argument(traced, leaf, value.names);
  UNPROTECT(1);
  return traced;
}

void joist_r_check_arguments(SEXP arguments, SEXP dynamic) {
  const bool fits = dynamic == R_NilValue ||
                    (TYPEOF(dynamic) == LGLSXP && XLENGTH(arguments) == XLENGTH(dynamic));
  if (TYPEOF(arguments) != VECSXP || !fits)
    joist_r_stop(JOIST_ERROR_VALUE, "the arguments of a jitted function must be a list");
}

bool joist_r_is_dynamic(SEXP dynamic, R_xlen_t k) {
  return dynamic == R_NilValue || LOGICAL(dynamic)[k];
}

SEXP joist_r_trace_begin(SEXP arguments, SEXP dynamic, SEXP rules) {
  joist_r_check_arguments(arguments, dynamic);
  if (joist_r_session()->trace == R_NilValue) joist_r_poison_forget();
  /* The finalizer first, so that an allocation that fails leaks nothing. */
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, joist_r_trace_tag(), R_NilValue));
  joist_r_finalize_with(pointer, finalize, true);
  struct joist_r_trace *const trace = calloc(1, sizeof *trace);
  if (trace == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  joist_program_init(&trace->program);
  R_SetExternalPtrAddr(pointer, trace);
  SEXP kept = Rf_allocVector(VECSXP, JOIST_R_KEPT);
  R_SetExternalPtrProtected(pointer, kept);
  SET_VECTOR_ELT(kept, JOIST_R_CONSTANTS, Rf_allocVector(VECSXP, 4));
  SET_VECTOR_ELT(kept, JOIST_R_UPLOADED, Rf_allocVector(VECSXP, 0));
  SET_VECTOR_ELT(kept, JOIST_R_LINES, Rf_allocVector(VECSXP, 0));
  struct tracing tracing = {joist_r_rules(rules), pointer};
  SEXP traced = PROTECT(Rf_shallow_duplicate(arguments));
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++)
    if (joist_r_is_dynamic(dynamic, k))
      SET_VECTOR_ELT(traced, k,
                     joist_r_map_leaves(VECTOR_ELT(arguments, k), trace_argument, &tracing));
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(out, 0, pointer);
  SET_VECTOR_ELT(out, 1, traced);
  UNPROTECT(3);
  return out;
}

/* The numbers of the outputs that a leaf of the result becomes in the template: of its elements
 * and, if it has one, of its mask. */
static SEXP trace_result(SEXP x, void *context) {
  const struct joist_rules *const rules = ((const struct tracing *)context)->rules;
  SEXP pointer = ((const struct tracing *)context)->pointer;
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  if (value.form == JOIST_R_ABSTRACT)
    joist_r_stop(JOIST_ERROR_VALUE, "a jitted function cannot return an nv_aval()");
  if (value.form == JOIST_R_TRACED && value.payload != pointer)
    joist_r_stop(JOIST_ERROR_VALUE, "a tensor of another jit() trace cannot be returned");
  const joist_value_id number = joist_r_trace_number(pointer, &value, value.argument.operand.type);
  joist_value_id mask;
  joist_r_trace_masks(pointer, &value, 1, &mask);
  struct joist_error error;
  joist_status status = joist_program_add_output(&trace->program, number, &error);
  if (status == JOIST_OK && mask != JOIST_NO_MASK)
    status = joist_program_add_output(&trace->program, mask, &error);
  joist_r_raise_if(status, &error);
  const int count = (int)trace->program.output_count;
  SEXP leaf = PROTECT(Rf_allocVector(INTSXP, mask == JOIST_NO_MASK ? 1 : 2));
  for (int k = 0; k < LENGTH(leaf); k++) INTEGER(leaf)[k] = count - LENGTH(leaf) + k;
  joist_r_note_output_names(pointer, (uint32_t)INTEGER(leaf)[0], value.names);
  UNPROTECT(1);
  return leaf;
}

SEXP joist_r_trace_end(SEXP pointer, SEXP result, SEXP rules) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  joist_r_poison_end();
  if (trace->closed) joist_r_stop(JOIST_ERROR_VALUE, "this jit() trace has already ended");
  struct tracing tracing = {joist_r_rules(rules), pointer};
  SET_VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_TEMPLATE,
                 joist_r_map_leaves(result, trace_result, &tracing));
  SET_VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_RULES, R_NilValue);
  SET_VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_VALUE_NAMES, R_NilValue);
  trace->closed = true;
  struct joist_error error;
  joist_status status = joist_program_remove_aliases(&trace->program, &error);
  trace->watched = joist_program_watch(&trace->program) != 0;
  if (status == JOIST_OK) status = joist_plan_make(&trace->program, &trace->plan, &error);
  joist_r_raise_if(status, &error);
  return pointer;
}
