/* Recordings: operations as they arrive, and tensors told apart.
 *
 * A recording is an external pointer that owns a struct recording (its finalizer frees it). The
 * protected value is a list: what tells values apart, the function that knows places, and the
 * rules. */
#include "r/audit/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/session.h"
#include "r/base/tensor_fields.h"
#include "r/tensor/delayed.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/trace/trace.h"

/* A tensor is known by its payload, a traced one by its trace and number, an abstract one by a mark
 * that it gets here, as R copies objects; the type tells views of one payload apart. The list of
 * keys keeps them alive. */
struct known {
  SEXP key;
  joist_value_id number;
  uint32_t value;
};

struct recording {
  struct joist_ledger ledger;
  struct known *known;
  uint32_t known_count, known_capacity;
  struct joist_table table; /* of `known` */
};

enum { KEYS, SITE, RULES, KEPT };

bool joist_r_recording(void) { return joist_r_session()->recording != R_NilValue; }

static SEXP ledger_tag(void) { return Rf_install("joist_ledger"); }

static void finalize(SEXP pointer) {
  struct recording *const recording = R_ExternalPtrAddr(pointer);
  if (recording == NULL) return;
  R_ClearExternalPtr(pointer);
  joist_ledger_clear(&recording->ledger);
  free(recording->known);
  joist_table_clear(&recording->table);
  free(recording);
}

static struct recording *recording_of(SEXP pointer) {
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == ledger_tag();
  struct recording *const recording = own ? R_ExternalPtrAddr(pointer) : NULL;
  if (recording == NULL) joist_r_stop(JOIST_ERROR_VALUE, "this recording is lost");
  return recording;
}

const struct joist_ledger *joist_r_ledger_of(SEXP ledger) { return &recording_of(ledger)->ledger; }

SEXP joist_r_ledger_begin(SEXP site, SEXP rules) {
  if (TYPEOF(site) != CLOSXP) joist_r_stop(JOIST_ERROR_VALUE, "`site` must be a function");
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, ledger_tag(), R_NilValue));
  joist_r_finalize_with(pointer, finalize, true);
  struct recording *const recording = calloc(1, sizeof *recording);
  if (recording == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  R_SetExternalPtrAddr(pointer, recording);
  joist_ledger_init(&recording->ledger);
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, KEPT));
  R_SetExternalPtrProtected(pointer, kept);
  SET_VECTOR_ELT(kept, KEYS, Rf_allocVector(VECSXP, 16));
  SET_VECTOR_ELT(kept, SITE, site);
  SET_VECTOR_ELT(kept, RULES, rules);
  struct joist_r_session next = *joist_r_session();
  next.recording = pointer;
  joist_r_push_session(next);
  UNPROTECT(2);
  return pointer;
}

SEXP joist_r_ledger_pause(void) {
  struct joist_r_session next = *joist_r_session();
  next.recording = R_NilValue;
  joist_r_push_session(next);
  return R_NilValue;
}

/* ---- values ---- */

static struct joist_type type_of(const struct joist_r_value *value) {
  return value->argument.operand.type;
}

static SEXP key_of(const struct joist_r_value *value) {
  if (value->form != JOIST_R_ABSTRACT)
    return value->payload == R_NilValue ? value->object : value->payload;
  struct joist_r_unknown unknown;
  return joist_r_unknown_read(value->object, &unknown) ? unknown.note : value->object;
}

static uint64_t hash_of(SEXP key, joist_value_id number) {
  return joist_hash_word((uint64_t)(uintptr_t)key, number);
}

static uint32_t *place_of(const struct recording *recording, SEXP key, joist_value_id number,
                          const struct joist_type *type) {
  for (uint64_t at = hash_of(key, number);; at++) {
    uint32_t *const place = joist_table_place(&recording->table, at);
    if (*place == 0) return place;
    const struct known *const known = &recording->known[*place - 1];
    if (known->key != key || known->number != number) continue;
    const struct joist_type own = recording->ledger.values[known->value].type;
    if (own.dtype == type->dtype && own.ambiguous == type->ambiguous) return place;
  }
}

/* Room for one more known tensor, with half of the places free. */
static void grow(SEXP pointer) {
  struct recording *const recording = recording_of(pointer);
  if (recording->known_count < recording->known_capacity) return;
  const uint32_t capacity = recording->known_capacity == 0 ? 16 : 2 * recording->known_capacity;
  SEXP kept = R_ExternalPtrProtected(pointer), keys = PROTECT(Rf_allocVector(VECSXP, capacity));
  /* A finalizer that ran meanwhile may have recorded, too. */
  const bool grown = recording->known_count < recording->known_capacity;
  for (uint32_t k = 0; k < recording->known_count && !grown; k++)
    SET_VECTOR_ELT(keys, k, VECTOR_ELT(VECTOR_ELT(kept, KEYS), k));
  if (!grown) SET_VECTOR_ELT(kept, KEYS, keys);
  UNPROTECT(1);
  if (grown) return;
  struct known *const known = realloc(recording->known, capacity * sizeof *known);
  if (known == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  recording->known = known;
  bool moved;
  if (!joist_table_reserve(&recording->table, capacity - 1, &moved))
    JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  for (uint32_t k = 0; moved && k < recording->known_count; k++)
    *place_of(recording, known[k].key, known[k].number,
              &recording->ledger.values[known[k].value].type) = k + 1;
  recording->known_capacity = capacity;
}

/* Remembers that this tensor is `value`. */
static void remember(SEXP pointer, const struct joist_r_value *tensor, uint32_t value) {
  grow(pointer);
  struct recording *const recording = recording_of(pointer);
  SEXP key = key_of(tensor);
  const joist_value_id number = tensor->form == JOIST_R_TRACED ? tensor->argument.value : 0;
  const struct joist_type type = type_of(tensor);
  uint32_t *const place = place_of(recording, key, number, &type);
  if (*place != 0) {
    recording->known[*place - 1].value = value;
    return;
  }
  SET_VECTOR_ELT(VECTOR_ELT(R_ExternalPtrProtected(pointer), KEYS), recording->known_count, key);
  recording->known[recording->known_count] = (struct known){key, number, value};
  *place = ++recording->known_count;
}

/* JOIST_LEDGER_NONE for a tensor that has not been seen. */
static uint32_t seen(SEXP pointer, const struct joist_r_value *tensor) {
  const struct recording *const recording = recording_of(pointer);
  if (recording->known_count == 0) return JOIST_LEDGER_NONE;
  const struct joist_type type = type_of(tensor);
  const uint32_t *const place =
      place_of(recording, key_of(tensor),
               tensor->form == JOIST_R_TRACED ? tensor->argument.value : 0, &type);
  return *place == 0 ? JOIST_LEDGER_NONE : recording->known[*place - 1].value;
}

static uint32_t value_of(SEXP pointer, const struct joist_r_value *tensor) {
  uint32_t value = seen(pointer, tensor);
  if (value != JOIST_LEDGER_NONE) return value;
  struct joist_error error;
  const joist_status status =
      joist_ledger_add_value(&recording_of(pointer)->ledger, type_of(tensor), &value, &error);
  joist_r_raise_if(status, &error);
  remember(pointer, tensor, value);
  return value;
}

static void read_tensor(SEXP x, struct joist_r_value *value) {
  joist_r_read_operand(joist_r_rules(R_NilValue), x, value);
  if (value->form == JOIST_R_LITERAL) joist_r_stop(JOIST_ERROR_VALUE, "expected a tensor");
}

/* What the arguments of a recorded function are numbered with. */
struct numbering {
  SEXP ledger;
  uint32_t count;
};

static SEXP number_argument(SEXP x, void *context) {
  struct numbering *const numbering = context;
  struct joist_r_value value;
  if (!Rf_inherits(x, "nv_tensor")) return x;
  read_tensor(x, &value);
  if (value.form == JOIST_R_ABSTRACT) x = Rf_shallow_duplicate(x);
  PROTECT(x);
  if (value.form == JOIST_R_ABSTRACT) joist_r_unknown_renew(x);
  read_tensor(x, &value);
  const uint32_t known = value_of(numbering->ledger, &value);
  recording_of(numbering->ledger)->ledger.values[known].argument = numbering->count++;
  UNPROTECT(1);
  return x;
}

SEXP joist_r_ledger_arguments(SEXP ledger, SEXP arguments) {
  struct numbering numbering = {ledger, 0};
  return joist_r_map_leaves(arguments, number_argument, &numbering);
}

SEXP joist_r_ledger_argument_of(SEXP ledger, SEXP x) {
  struct joist_r_value value;
  read_tensor(x, &value);
  const uint32_t known = seen(ledger, &value);
  const uint32_t argument = known == JOIST_LEDGER_NONE
                                ? JOIST_LEDGER_NONE
                                : recording_of(ledger)->ledger.values[known].argument;
  return Rf_ScalarInteger(argument == JOIST_LEDGER_NONE ? 0 : (int)argument + 1);
}

void joist_r_record_same(SEXP x, SEXP copy) {
  if (!joist_r_recording()) return;
  SEXP ledger = joist_r_session()->recording;
  struct joist_r_value from, to;
  read_tensor(x, &from);
  read_tensor(copy, &to);
  remember(ledger, &to, value_of(ledger, &from));
}

/* ---- operations ---- */

/* Where the operation was written, and which call of that place it belongs to. */
static void locate(SEXP ledger, struct joist_ledger_event *event) {
  SEXP call = PROTECT(Rf_lang1(VECTOR_ELT(R_ExternalPtrProtected(ledger), SITE)));
  SEXP numbers = PROTECT(Rf_eval(call, R_BaseEnv));
  if (TYPEOF(numbers) != INTSXP || XLENGTH(numbers) != 2)
    joist_r_stop(JOIST_ERROR_VALUE, "`site` must give two numbers");
  event->site = (uint32_t)INTEGER(numbers)[0] - 1;
  event->call = (uint32_t)INTEGER(numbers)[1] - 1;
  UNPROTECT(2);
}

void joist_r_record(const struct joist_r_call *call, SEXP result) {
  const struct joist_r_value *const values = call->values;
  const size_t n = call->count;
  SEXP pointer = PROTECT(joist_r_session()->recording);
  const void *const vmax = vmaxget();
  struct joist_ledger_event event = {.op = call->op};
  locate(pointer, &event);
  const struct joist_rules *const own =
      joist_r_rules(VECTOR_ELT(R_ExternalPtrProtected(pointer), RULES));
  event.pinned = own != call->rules && memcmp(own, call->rules, sizeof *own) != 0;
  struct joist_ledger_source *const sources =
      (struct joist_ledger_source *)R_alloc(n + 1, (int)sizeof *sources);
  for (size_t k = 0; k < n; k++) {
    const bool literal = values[k].form == JOIST_R_LITERAL || values[k].leaf;
    sources[k] = (struct joist_ledger_source){
        .argument = &values[k].argument,
        .value = literal ? JOIST_LEDGER_NONE : value_of(pointer, &values[k]),
        .host = values[k].host,
        .data = values[k].form == JOIST_R_LITERAL ? joist_r_present(&values[k]) : values[k].data,
        .count = values[k].leaf ? 0 : values[k].count};
  }
  struct recording *const recording = recording_of(pointer);
  struct joist_error error;
  const joist_status status = joist_ledger_add(&recording->ledger, &event, sources, n,
                                               call->attributes, &call->inference, &error);
  joist_r_raise_if(status, &error);
  for (uint32_t r = 0; r < event.result_count; r++) {
    struct joist_r_value made;
    SEXP tensor = event.result_count == 1 ? result : VECTOR_ELT(result, (R_xlen_t)r);
    read_tensor(tensor, &made);
    remember(pointer, &made, event.result + r);
  }
  vmaxset(vmax);
  UNPROTECT(1);
}

uint32_t joist_r_recorded(void) {
  return joist_r_recording() ? recording_of(joist_r_session()->recording)->ledger.event_count : 0;
}

void joist_r_record_one(uint32_t mark, joist_op op, const SEXP *operands, size_t n, SEXP result) {
  enum { MOST = 2 };
  if (!joist_r_recording() || n > MOST) return;
  const struct joist_attributes none = {.count = 0};
  struct joist_r_value values[MOST], made;
  struct joist_operand types[MOST];
  struct joist_r_call call = {.assigns = false};
  call.rules = joist_r_rules(R_NilValue);
  call.op = op;
  call.values = values;
  call.count = n;
  call.attributes = &none;
  for (size_t k = 0; k < n; k++) {
    joist_r_read_missing(call.rules, operands[k], &values[k]);
    joist_r_read_range(&values[k]);
    types[k] = values[k].argument.operand;
  }
  read_tensor(result, &made);
  call.inference.shape[0] = made.argument.shape;
  struct joist_error error;
  const joist_status status =
      joist_infer(call.rules, op, types, n, &none, &call.inference.signature, &error);
  joist_r_raise_if(status, &error);
  joist_ledger_forget(&recording_of(joist_r_session()->recording)->ledger, mark);
  joist_r_record(&call, result);
}
