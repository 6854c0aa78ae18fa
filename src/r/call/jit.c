/* Calling compiled programs: the signature of the arguments, the cache, running.
 *
 * The cache is an external pointer that owns a struct cache; the compiled programs and
 * static arguments are in the list it protects, two elements per entry. */
#include "r/call/jit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/promotion/builtin_rules.h"
#include "core/promotion/change.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/vector.h"
#include "r/call/execute.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/native.h"
#include "r/tensor/mask.h"
#include "r/tensor/name_references.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/same.h"
#include "r/tensor/unknown.h"
#include "r/trace/strictness.h"
#include "r/trace/trace.h"
#include "r/trace/trace_names.h"

struct entry {
  unsigned char *key;
  size_t length;
  uint64_t hash, used;
};

struct cache {
  uint32_t capacity, count;
  int native; /* a joist_native_policy, -1 for that of the session */
  uint64_t clock;
  struct entry *entries;
};

static void finalize(SEXP pointer) {
  struct cache *const cache = R_ExternalPtrAddr(pointer);
  if (cache == NULL) return;
  R_ClearExternalPtr(pointer);
  for (uint32_t k = 0; k < cache->count; k++) free(cache->entries[k].key);
  free(cache->entries);
  free(cache);
}

/* The tag holds the capacity and the policy, so that a cache restored from a file starts empty. */
static struct cache *cache_of(SEXP pointer) {
  SEXP tag = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrTag(pointer) : R_NilValue;
  if (TYPEOF(tag) != INTSXP || XLENGTH(tag) > 2 || XLENGTH(tag) < 1 || INTEGER(tag)[0] < 1 ||
      !Rf_inherits(tag, "joist_cache"))
    joist_r_stop(JOIST_ERROR_VALUE, "this is not the cache of a jitted function");
  struct cache *cache = R_ExternalPtrAddr(pointer);
  if (cache != NULL) return cache;
  const uint32_t capacity = (uint32_t)INTEGER(tag)[0];
  R_SetExternalPtrProtected(pointer, Rf_allocVector(VECSXP, 2 * (R_xlen_t)capacity));
  joist_r_finalize_with(pointer, finalize, true);
  cache = calloc(1, sizeof *cache);
  struct entry *const entries = calloc(capacity, sizeof *entries);
  if (cache == NULL || entries == NULL) {
    free(cache);
    free(entries);
    JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  }
  cache->capacity = capacity;
  cache->native = XLENGTH(tag) > 1 ? INTEGER(tag)[1] : -1; /* that of version 0.1.0 has none */
  cache->entries = entries;
  R_SetExternalPtrAddr(pointer, cache);
  return cache;
}

SEXP joist_r_jit_state(SEXP capacity, SEXP native) {
  const double given = joist_r_number(capacity);
  if (!(given >= 1 && given <= INT_MAX) || given != floor(given))
    joist_r_stop(JOIST_ERROR_VALUE, "`cache_size` must be a whole number, 1 or more");
  const int n = (int)given;
  const int policy = native == R_NilValue ? -1 : (int)joist_r_native_policy_of(native);
  SEXP tag = PROTECT(Rf_allocVector(INTSXP, 2));
  INTEGER(tag)[0] = n;
  INTEGER(tag)[1] = policy;
  Rf_setAttrib(tag, R_ClassSymbol, Rf_mkString("joist_cache"));
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, tag, R_NilValue));
  cache_of(pointer);
  UNPROTECT(2);
  return pointer;
}

/* ---- the signature of a call ---- */

enum { KEY_ON_STACK = 1024, LEAVES_ON_STACK = 32 };

/* An argument that is not a list, and the elements of a tensor on its device. */
struct leaf {
  SEXP object;
  const struct joist_device *device;
  const void *elements;
  const uint8_t *mask; /* where it is missing, or NULL */
  SEXP names;
};

struct signature {
  unsigned char *key;
  size_t length, capacity;
  struct leaf *leaves; /* in the order of the arguments */
  uint32_t leaf_count, leaf_capacity;
  bool traced, abstract;
  unsigned char key_on_stack[KEY_ON_STACK];
  struct leaf leaves_on_stack[LEAVES_ON_STACK];
};

static void append(struct signature *signature, const void *bytes, size_t n) {
  if (signature->length + n > signature->capacity) {
    const size_t larger = (signature->length + n) * 2;
    unsigned char *const moved = (unsigned char *)R_alloc(larger, 1);
    memcpy(moved, signature->key, signature->length);
    signature->key = moved;
    signature->capacity = larger;
  }
  memcpy(signature->key + signature->length, bytes, n);
  signature->length += n;
}

static void append_byte(struct signature *signature, unsigned char byte) {
  append(signature, &byte, 1);
}

static void append_leaf(struct signature *signature, const struct joist_r_value *value) {
  if (signature->leaf_count == signature->leaf_capacity) {
    struct leaf *const moved =
        (struct leaf *)R_alloc(2 * (size_t)signature->leaf_capacity, (int)sizeof *moved);
    memcpy(moved, signature->leaves, signature->leaf_count * sizeof *moved);
    signature->leaves = moved;
    signature->leaf_capacity *= 2;
  }
  const bool remote = value->form == JOIST_R_REMOTE;
  const struct joist_device *const device =
      remote ? joist_r_remote_device(value->payload) : joist_device_at(0);
  signature->leaves[signature->leaf_count++] =
      (struct leaf){value->object, device, value->data, value->mask, value->names};
}

/* The name of element k, empty where there is none. */
static void append_name(struct signature *signature, SEXP names, R_xlen_t k) {
  const char *const name = names == R_NilValue ? "" : CHAR(STRING_ELT(names, k));
  append(signature, name, strlen(name) + 1);
}

/* Which dims have names, and the labels of dims. */
static void append_presence(struct signature *signature, SEXP names) {
  append_byte(signature, names != R_NilValue);
  if (TYPEOF(names) != VECSXP) return;
  SEXP labels = Rf_getAttrib(names, R_NamesSymbol);
  for (R_xlen_t d = 0; d < XLENGTH(names); d++) {
    append_byte(signature, VECTOR_ELT(names, d) != R_NilValue);
    append_name(signature, labels, d);
  }
}

static void append_argument(struct signature *signature, const struct joist_rules *rules, SEXP x) {
  R_CheckStack();
  if (x == R_NilValue) {
    append_byte(signature, 'N');
    return;
  }
  if (joist_r_is_structure(x)) {
    const R_xlen_t n = XLENGTH(x);
    SEXP names = Rf_getAttrib(x, R_NamesSymbol);
    append_byte(signature, Rf_isObject(x) ? 'Q' : names == R_NilValue ? 'L' : 'M');
    append(signature, &n, sizeof n);
    for (R_xlen_t k = 0; k < n; k++) {
      append_name(signature, names, k);
      append_argument(signature, rules, VECTOR_ELT(x, k));
    }
    return;
  }
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  signature->traced |= value.form == JOIST_R_TRACED;
  signature->abstract |= value.form == JOIST_R_ABSTRACT;
  const bool literal = value.form == JOIST_R_LITERAL;
  const struct joist_type type = value.argument.operand.type;
  const struct joist_shape *const shape = &value.argument.shape;
  append_byte(signature, literal ? (unsigned char)('0' + value.host) : 'T');
  append_byte(signature, joist_r_has_missing(&value));
  append_byte(signature, (unsigned char)(type.dtype * 2 + type.ambiguous));
  append_byte(signature, (unsigned char)shape->rank);
  append(signature, shape->extent, (size_t)shape->rank * sizeof *shape->extent);
  append_presence(signature, value.names);
  if (literal && joist_r_by_value(rules)) {
    append(signature, value.data, value.count * joist_host_size(value.host));
  }
  append_leaf(signature, &value);
}

static uint64_t hash_bytes(const unsigned char *bytes, size_t n) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (size_t k = 0; k < n; k++) hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
  return hash;
}

static void make_signature(struct signature *signature, SEXP arguments, SEXP dynamic,
                           const struct joist_rules *rules, struct joist_r_policy policy) {
  joist_r_check_arguments(arguments, dynamic);
  signature->key = signature->key_on_stack;
  signature->capacity = KEY_ON_STACK;
  signature->leaves = signature->leaves_on_stack;
  signature->leaf_capacity = LEAVES_ON_STACK;
  signature->length = signature->leaf_count = 0;
  signature->traced = signature->abstract = false;
  /* A rule set that stays is its address, another its content. */
  const bool stays = joist_r_rules_stay(rules);
  append_byte(signature, stays);
  append(signature, stays ? (const void *)&rules : rules, stays ? sizeof rules : sizeof *rules);
  append_byte(signature, policy.warned);
  append_byte(signature, policy.refused);
  append_byte(signature, policy.saturated);
  append_byte(signature, policy.named);
  SEXP names = Rf_getAttrib(arguments, R_NamesSymbol);
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++) {
    append_name(signature, names, k);
    if (joist_r_is_dynamic(dynamic, k))
      append_argument(signature, rules, VECTOR_ELT(arguments, k));
    else
      append_byte(signature, 'S');
  }
}

/* Whether the static arguments are those of a cache entry. */
static bool same_statics(SEXP arguments, SEXP dynamic, SEXP statics) {
  R_xlen_t at = 0;
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++)
    if (!joist_r_is_dynamic(dynamic, k) &&
        !joist_r_same(VECTOR_ELT(arguments, k), VECTOR_ELT(statics, at++)))
      return false;
  return true;
}

/* ---- running ---- */

static void check_device(const struct joist_device *device, const struct joist_device *own) {
  if (own != device)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "a jitted function that runs on %s was given a tensor on %s; move it with nv_to()",
                 device->name, own->name);
}

/* The address of the elements of a payload, which must be on the device. */
static const void *elements_on(const struct joist_device *device, SEXP payload) {
  const bool remote = joist_r_is_remote(payload);
  check_device(device, remote ? joist_r_remote_device(payload) : joist_device_at(0));
  if (remote) return joist_r_remote_memory(payload);
  joist_r_map_check(payload);
  return joist_r_elements(payload);
}

/* A constant of the program: R's own are copied to a device once. */
static const void *constant_on(const struct joist_device *device, SEXP compiled,
                               const struct joist_value *value, uint32_t index) {
  SEXP kept = R_ExternalPtrProtected(compiled);
  SEXP payload = VECTOR_ELT(VECTOR_ELT(kept, JOIST_R_CONSTANTS), index);
  if (device->host || joist_r_is_remote(payload)) return elements_on(device, payload);
  SEXP uploaded = VECTOR_ELT(kept, JOIST_R_UPLOADED);
  if ((uint32_t)XLENGTH(uploaded) <= index) {
    uploaded = Rf_xlengthgets(uploaded, XLENGTH(VECTOR_ELT(kept, JOIST_R_CONSTANTS)));
    SET_VECTOR_ELT(kept, JOIST_R_UPLOADED, uploaded);
  }
  SEXP there = VECTOR_ELT(uploaded, index);
  if (there == R_NilValue || joist_r_remote_device(there) != device) {
    const size_t count = joist_value_count(value);
    there = joist_r_upload(device, value->type.dtype, count, joist_r_elements(payload));
    SET_VECTOR_ELT(uploaded, index, there);
  }
  return joist_r_remote_memory(there);
}

/* Whether an R number is beyond the range of f32, to which results of R numbers may be rounded. */
static bool is_beyond_default(const struct joist_r_value *value) {
  const double most = joist_dtype_max_float(JOIST_F32);
  const double *const numbers = value->data;
  bool beyond = false;
  if (value->host != JOIST_HOST_DOUBLE) return false;
  for (size_t k = 0; k < value->count; k++)
    beyond |= fabs(numbers[k]) > most && numbers[k] - numbers[k] == 0;
  return beyond;
}

/* Whether it is a number that becomes 0, which comparisons tell from 0. */
static bool vanishes(const struct joist_r_value *value, joist_dtype dtype) {
  return value->count == 1 && value->host == JOIST_HOST_DOUBLE &&
         joist_number_vanishes(*(const double *)value->data, dtype);
}

/* Elements for every input of the program, on the device that it runs on; what had to be
 * copied there goes into `owned`, a list; `here` is that of struct joist_run. False when a bare R
 * value does not fit the dtype that the trace read it in: the R function itself then says so, or,
 * in a comparison, compares it exactly. */
static bool gather_inputs(SEXP compiled, const struct signature *signature,
                          const struct joist_device *device, SEXP owned, const void **inputs,
                          bool *here) {
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const struct joist_rules *const rules = joist_rules_at(0); /* only dtypes of literals differ */
  for (uint32_t input = 0; input < trace->program.input_count; input++) {
    const struct joist_r_source source = trace->sources[input];
    if (source.kind == JOIST_R_FROM_CONSTANT) {
      inputs[input] =
          constant_on(device, compiled, &trace->program.values[source.value], source.index);
      continue;
    }
    if (source.kind == JOIST_R_FROM_LEAF) {
      const struct leaf *const leaf = &signature->leaves[source.index];
      check_device(device, leaf->device);
      inputs[input] = leaf->elements;
      continue;
    }
    if (source.kind == JOIST_R_FROM_MASK) {
      const struct leaf *const leaf = &signature->leaves[source.index];
      inputs[input] = leaf->mask;
      if (leaf->device == device) continue;
      /* Of a bare R value. */
      const size_t n = joist_value_count(&trace->program.values[source.value]);
      SEXP payload = joist_r_upload(device, JOIST_BOOL, n, leaf->mask);
      SET_VECTOR_ELT(owned, input, payload);
      inputs[input] = joist_r_remote_memory(payload);
      continue;
    }
    struct joist_r_value value;
    joist_r_read_missing(rules, signature->leaves[source.index].object, &value);
    if (trace->exact_capacity > 0 && source.dtype == JOIST_F64 && is_beyond_default(&value))
      return false;
    joist_r_judge_integers(&value, source.dtype);
    void *const read = R_alloc(value.count + 1, (int)joist_dtype_size(source.dtype));
    struct joist_error error;
    const joist_status status = joist_r_import(&value, source.dtype, read, &error);
    if (status == JOIST_INTERRUPTED) joist_r_raise(status, &error);
    if (status != JOIST_OK || vanishes(&value, source.dtype)) return false;
    inputs[input] = read;
    here[input] = !device->host && value.count == 1;
    if (device->host || here[input]) continue;
    SEXP payload = joist_r_upload(device, source.dtype, value.count, read);
    SET_VECTOR_ELT(owned, input, payload);
    inputs[input] = joist_r_remote_memory(payload);
  }
  return true;
}

/* Whether a bare R value is another one in the dtype that the trace read it in, and the policy
 * names that: the R function itself then says where. */
static bool names_literals(SEXP compiled, const struct signature *signature,
                           struct joist_r_policy policy) {
  if (!((policy.warned | policy.refused) & JOIST_CHANGE_LITERAL)) return false;
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  for (uint32_t input = 0; input < trace->program.input_count; input++) {
    const struct joist_r_source source = trace->sources[input];
    if (source.kind != JOIST_R_FROM_LITERAL) continue;
    struct joist_r_value value;
    joist_r_read_missing(joist_rules_at(0), signature->leaves[source.index].object, &value);
    if (joist_r_names_literal(policy, &value, source.dtype)) return true;
  }
  return false;
}

/* The device of the first tensor among the arguments, or else the constants, or of which only the
 * mask is read: the CPU if there is none. */
static const struct joist_device *device_of_call(SEXP compiled, const struct signature *signature) {
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  SEXP constants = VECTOR_ELT(R_ExternalPtrProtected(compiled), JOIST_R_CONSTANTS);
  for (uint32_t k = 0; k < trace->program.input_count; k++) {
    const struct joist_r_source source = trace->sources[k];
    if (source.kind != JOIST_R_FROM_LEAF) continue;
    return signature->leaves[source.index].device;
  }
  for (uint32_t k = 0; k < trace->constant_count; k++)
    if (joist_r_is_remote(VECTOR_ELT(constants, k)))
      return joist_r_remote_device(VECTOR_ELT(constants, k));
  for (uint32_t k = 0; k < trace->program.input_count; k++)
    if (trace->sources[k].kind == JOIST_R_FROM_MASK)
      return signature->leaves[trace->sources[k].index].device;
  return joist_device_at(0);
}

/* ---- names ---- */

static SEXP names_of_leaf(uint32_t leaf, const void *signature) {
  return ((const struct signature *)signature)->leaves[leaf].names;
}

/* What set_output_names() is called with. */
struct named_call {
  SEXP compiled, outputs;
  const struct signature *signature;
};

static SEXP found_along(uint32_t leaf, int d, const void *call) {
  SEXP names = names_of_leaf(leaf, ((const struct named_call *)call)->signature);
  return TYPEOF(names) == VECSXP ? VECTOR_ELT(names, d) : names;
}

static SEXP found_positions(int output, const void *call) {
  struct joist_r_value value;
  SEXP index = VECTOR_ELT(((const struct named_call *)call)->outputs, output);
  joist_r_read_missing(joist_rules_at(0), index, &value);
  SEXP positions = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)value.count));
  struct joist_error error;
  if (value.form == JOIST_R_CONCRETE)
    joist_r_raise_if(joist_export(value.argument.operand.type.dtype, value.data, value.count,
                                  JOIST_HOST_DOUBLE, true, REAL(positions), NULL, &error),
                     &error);
  else
    memset(REAL(positions), 0, value.count * sizeof(double));
  joist_r_mask_positions(positions, value.mask);
  UNPROTECT(1);
  return positions;
}

/* Names are not part of a signature, unless the function has asked for them: each call finds those
 * of its results. */
static void set_output_names(const struct joist_r_execution *run, const void *context) {
  struct named_call call = *(const struct named_call *)context;
  SEXP all = VECTOR_ELT(R_ExternalPtrProtected(call.compiled), JOIST_R_OUTPUT_NAMES);
  const struct joist_program *const program = &joist_r_trace_of(call.compiled)->program;
  call.outputs = run->outputs;
  const struct joist_r_name_sources sources = {found_along, found_positions, &call};
  for (uint32_t k = 0; all != R_NilValue && k < program->output_count && k < XLENGTH(all); k++) {
    SEXP names = PROTECT(joist_r_resolve_names(VECTOR_ELT(all, k), &sources));
    joist_r_set_names(VECTOR_ELT(run->outputs, k), names,
                      program->values[program->outputs[k]].shape.rank);
    UNPROTECT(1);
  }
}

/* The output that stands at a leaf of the template, with its mask if it has one. */
static SEXP output_of(SEXP leaf, void *outputs) {
  SEXP tensor = VECTOR_ELT((SEXP)outputs, INTEGER(leaf)[0]);
  if (LENGTH(leaf) == 1) return tensor;
  SEXP mask = VECTOR_ELT((SEXP)outputs, INTEGER(leaf)[1]);
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), mask, &value);
  if (value.form == JOIST_R_ABSTRACT)
    joist_r_unknown_set_missing(tensor, PROTECT(Rf_ScalarLogical(TRUE)));
  else
    joist_r_set_mask(tensor, PROTECT(value.payload));
  UNPROTECT(1);
  return tensor;
}

static SEXP abstract_outputs(const struct joist_program *program) {
  SEXP outputs = PROTECT(Rf_allocVector(VECSXP, program->output_count));
  for (uint32_t k = 0; k < program->output_count; k++) {
    const struct joist_value *const value = &program->values[program->outputs[k]];
    SET_VECTOR_ELT(outputs, k, joist_r_aval(value->type, &value->shape));
  }
  UNPROTECT(1);
  return outputs;
}

/* The outputs as tensors; the answer of joist_r_jit_call() where an R value does not fit. */
static SEXP run_outputs(SEXP compiled, const struct signature *signature, SEXP policy,
                        const struct joist_device *device, int native) {
  struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  const uint32_t n = trace->program.input_count;
  const void **const inputs = (const void **)R_alloc(n + 1, sizeof *inputs);
  bool *const here = (bool *)R_alloc(n + 1, sizeof *here);
  memset(here, 0, (n + 1) * sizeof *here);
  if (device == NULL) device = device_of_call(compiled, signature);
  SEXP owned = PROTECT(device->host ? R_NilValue : Rf_allocVector(VECSXP, n));
  if (!gather_inputs(compiled, signature, device, owned, inputs, here)) {
    UNPROTECT(1);
    return R_NilValue;
  }
  SEXP outputs = PROTECT(Rf_allocVector(VECSXP, trace->program.output_count));
  const struct named_call named = {compiled, R_NilValue, signature};
  struct joist_r_execution run = {
      .device = device,
      .program = &trace->program,
      .plan = trace->plan,
      .inputs = inputs,
      .run = joist_r_run(),
      .watched = trace->watched,
      .found = &trace->found,
      .outputs = outputs,
      .tensors = trace->program.output_count,
      .finish = set_output_names,
      .context = &named,
      .lines = VECTOR_ELT(R_ExternalPtrProtected(compiled), JOIST_R_LINES),
      .policy = policy};
  run.run.here = here;
  if (native >= 0) run.run.native = (joist_native_policy)native;
  joist_r_execute(&run);
  UNPROTECT(2);
  return outputs;
}

/* Instead of a result, which is never logical; functions that version 0.1.0 saved test for them. */
static SEXP not_compiled(void) { return Rf_ScalarLogical(TRUE); }
static SEXP declined(void) { return Rf_ScalarLogical(FALSE); } /* run the R function itself */

static SEXP run_compiled(SEXP compiled, const struct signature *signature, SEXP policy,
                         const struct joist_device *device, int native) {
  SEXP outputs = signature->abstract ? abstract_outputs(&joist_r_trace_of(compiled)->program)
                                     : run_outputs(compiled, signature, policy, device, native);
  if (outputs == R_NilValue) return declined();
  PROTECT(outputs);
  SEXP filled = joist_r_map_leaves(VECTOR_ELT(R_ExternalPtrProtected(compiled), JOIST_R_TEMPLATE),
                                   output_of, outputs);
  UNPROTECT(1);
  return filled;
}

static SEXP run_or_decline(SEXP compiled, const struct signature *signature, SEXP asked,
                           SEXP device, int native) {
  const struct joist_device *const wanted =
      device == R_NilValue ? NULL : joist_device_find(joist_r_string(device, "device"));
  return names_literals(compiled, signature, joist_r_policy(asked))
             ? declined()
             : run_compiled(compiled, signature, asked, wanted, native);
}

static SEXP call_kept(SEXP state, SEXP arguments, SEXP dynamic, SEXP rules, SEXP policy,
                      SEXP device) {
  struct cache *const cache = cache_of(state);
  const void *const vmax = vmaxget();
  struct signature signature;
  const struct joist_r_policy judged = joist_r_policy(policy);
  make_signature(&signature, arguments, dynamic, joist_r_rules(rules), judged);
  /* A recording is of the operations of the function itself. */
  if (signature.traced || joist_r_recording()) return declined();
  const uint64_t hash = hash_bytes(signature.key, signature.length);
  SEXP kept = R_ExternalPtrProtected(state);
  for (uint32_t k = 0; k < cache->count; k++) {
    struct entry *const entry = &cache->entries[k];
    if (entry->hash != hash || entry->length != signature.length ||
        memcmp(entry->key, signature.key, signature.length) != 0 ||
        !same_statics(arguments, dynamic, VECTOR_ELT(kept, 2 * (R_xlen_t)k + 1)) ||
        !joist_r_fits_names(VECTOR_ELT(kept, 2 * (R_xlen_t)k), names_of_leaf, &signature))
      continue;
    entry->used = ++cache->clock;
    SEXP compiled = PROTECT(VECTOR_ELT(kept, 2 * (R_xlen_t)k));
    SEXP result = run_or_decline(compiled, &signature, policy, device, cache->native);
    UNPROTECT(1);
    vmaxset(vmax);
    return result;
  }
  return not_compiled();
}

static bool is_among(SEXP name, SEXP names) {
  for (R_xlen_t k = 0; k < XLENGTH(names); k++)
    if (strcmp(Rf_translateCharUTF8(name), Rf_translateCharUTF8(STRING_ELT(names, k))) == 0)
      return true;
  return false;
}

/* Flags of the arguments that are not among the names `fixed`; NULL if one that is has contents,
 * which R looks at. */
static SEXP dynamic_of(SEXP arguments, SEXP fixed) {
  SEXP names = Rf_getAttrib(arguments, R_NamesSymbol);
  SEXP flags = PROTECT(Rf_allocVector(LGLSXP, XLENGTH(arguments)));
  bool plain = true;
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++) {
    const bool is_static = names != R_NilValue && is_among(STRING_ELT(names, k), fixed);
    LOGICAL(flags)[k] = !is_static;
    const SEXPTYPE type = TYPEOF(VECTOR_ELT(arguments, k));
    plain &= !is_static || (type != VECSXP && type != LISTSXP && type != ENVSXP);
  }
  UNPROTECT(1);
  return plain ? flags : NULL;
}

SEXP joist_r_jit_call(SEXP state, SEXP arguments, SEXP dynamic, SEXP rules, SEXP policy,
                      SEXP device) {
  if (TYPEOF(dynamic) == STRSXP)
    dynamic = XLENGTH(dynamic) == 0 ? R_NilValue : dynamic_of(arguments, dynamic);
  if (dynamic == NULL) return not_compiled();
  PROTECT(dynamic);
  SEXP result = call_kept(state, arguments, dynamic, rules, policy, device);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_jit_kept(SEXP state, SEXP arguments) {
  if (state == R_NilValue || joist_r_session()->asked.refused != 0) return declined();
  return joist_r_jit_call(state, arguments, R_NilValue, R_NilValue, R_NilValue, R_NilValue);
}

static bool can_run(SEXP x) {
  struct joist_r_unknown unknown;
  return Rf_inherits(x, "nv_tensor") && !Rf_inherits(x, "nv_chunked") &&
         !(joist_r_unknown_read(x, &unknown) && unknown.trace != R_NilValue);
}

SEXP joist_r_can_fuse(SEXP x) {
  if (joist_r_session()->strict || joist_r_recording()) return Rf_ScalarLogical(false);
  if (TYPEOF(x) != VECSXP) return Rf_ScalarLogical(can_run(x));
  for (R_xlen_t k = 0; k < XLENGTH(x); k++)
    if (!can_run(VECTOR_ELT(x, k))) return Rf_ScalarLogical(false);
  return Rf_ScalarLogical(true);
}

/* Whatever has this signature can be the program's input: each leaf has the form, dtype and
 * shape that the program reads. */
static bool fits(SEXP compiled, const struct signature *signature) {
  const struct joist_r_trace *const trace = joist_r_trace_of(compiled);
  if (trace->plan == NULL || trace->leaf_count != signature->leaf_count) return false;
  for (uint32_t input = 0; input < trace->program.input_count; input++) {
    const struct joist_r_source source = trace->sources[input];
    const struct joist_value *const wanted = &trace->program.values[source.value];
    if (source.kind == JOIST_R_FROM_CONSTANT) continue;
    struct joist_r_value value;
    joist_r_read_missing(joist_rules_at(0), signature->leaves[source.index].object, &value);
    if (source.kind == JOIST_R_FROM_MASK) {
      if (!joist_r_has_missing(&value) || value.count != joist_value_count(wanted)) return false;
      continue;
    }
    const bool literal = value.form == JOIST_R_LITERAL;
    if (literal != (source.kind == JOIST_R_FROM_LITERAL) ||
        (!literal && value.argument.operand.type.dtype != wanted->type.dtype) ||
        (literal ? value.count != joist_value_count(wanted)
                 : !joist_shape_equal(&value.argument.shape, &wanted->shape)))
      return false;
  }
  return true;
}

SEXP joist_r_jit_store(SEXP state, SEXP compiled, SEXP arguments, SEXP dynamic, SEXP rules,
                       SEXP policy) {
  return joist_r_jit_run(state, compiled, arguments, dynamic, rules, policy, R_NilValue);
}

SEXP joist_r_jit_run(SEXP state, SEXP compiled, SEXP arguments, SEXP dynamic, SEXP rules,
                     SEXP policy, SEXP device) {
  struct cache *const cache = cache_of(state);
  const void *const vmax = vmaxget();
  struct signature signature;
  const struct joist_r_policy judged = joist_r_policy(policy);
  make_signature(&signature, arguments, dynamic, joist_r_rules(rules), judged);
  if (!fits(compiled, &signature))
    joist_r_stop(JOIST_ERROR_VALUE, "a traced tensor of this function is damaged");
  R_xlen_t static_count = 0;
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++) static_count += !joist_r_is_dynamic(dynamic, k);
  SEXP statics = PROTECT(Rf_allocVector(VECSXP, static_count));
  for (R_xlen_t k = 0, at = 0; k < XLENGTH(arguments); k++)
    if (!joist_r_is_dynamic(dynamic, k)) SET_VECTOR_ELT(statics, at++, VECTOR_ELT(arguments, k));
  unsigned char *const key = malloc(signature.length);
  if (key == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  memcpy(key, signature.key, signature.length);
  uint32_t place = cache->count;
  if (place == cache->capacity) {
    place = 0; /* the least recently used */
    for (uint32_t k = 1; k < cache->count; k++)
      if (cache->entries[k].used < cache->entries[place].used) place = k;
    free(cache->entries[place].key);
  } else {
    cache->count++;
  }
  cache->entries[place] =
      (struct entry){key, signature.length, hash_bytes(key, signature.length), ++cache->clock};
  SEXP kept = R_ExternalPtrProtected(state);
  SET_VECTOR_ELT(kept, 2 * (R_xlen_t)place, compiled);
  SET_VECTOR_ELT(kept, 2 * (R_xlen_t)place + 1, statics);
  SEXP result = signature.traced || joist_r_recording()
                    ? declined()
                    : run_or_decline(compiled, &signature, policy, device, cache->native);
  UNPROTECT(1);
  vmaxset(vmax);
  return result;
}

/* The compiled programs, the most recently used first. */
SEXP joist_r_jit_programs(SEXP state) {
  const struct cache *const cache = cache_of(state);
  SEXP kept = R_ExternalPtrProtected(state);
  SEXP programs = PROTECT(Rf_allocVector(VECSXP, cache->count));
  for (uint32_t k = 0; k < cache->count; k++) {
    uint32_t rank = 0;
    for (uint32_t j = 0; j < cache->count; j++)
      rank += cache->entries[j].used > cache->entries[k].used;
    SET_VECTOR_ELT(programs, rank, VECTOR_ELT(kept, 2 * (R_xlen_t)k));
  }
  UNPROTECT(1);
  return programs;
}
