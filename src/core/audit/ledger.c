/* Recording what operations did with dtypes. */
#include "core/audit/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/types/error.h"

void joist_ledger_init(struct joist_ledger *ledger) { memset(ledger, 0, sizeof *ledger); }

void joist_ledger_clear(struct joist_ledger *ledger) {
  free(ledger->values);
  free(ledger->events);
  free(ledger->calls);
  joist_arena_clear(&ledger->arena);
  joist_ledger_init(ledger);
}

static joist_status add_value(struct joist_ledger *ledger, struct joist_type type, uint32_t event,
                              uint32_t *value, struct joist_error *error) {
  void *const values = joist_array_grown(ledger->values, sizeof *ledger->values,
                                         ledger->value_count, &ledger->value_capacity);
  if (values == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  ledger->values = values;
  *value = ledger->value_count++;
  ledger->values[*value] = (struct joist_ledger_value){type, event, JOIST_LEDGER_NONE};
  return JOIST_OK;
}

joist_status joist_ledger_add_value(struct joist_ledger *ledger, struct joist_type type,
                                    uint32_t *value, struct joist_error *error) {
  return add_value(ledger, type, JOIST_LEDGER_NONE, value, error);
}

/* Comparisons are exact where they compare whole numbers or R values. */
static bool compares(joist_op op) {
  const joist_class class = joist_op_class(op);
  return class == JOIST_CLASS_COMPARE || class == JOIST_CLASS_POSITION;
}

static bool whole(const struct joist_operand *operand) {
  return joist_dtype_category(operand->type.dtype) <= JOIST_CATEGORY_INTEGER;
}

/* What promotion did to operand k of an event. */
static void judge(const struct joist_ledger_event *event, size_t k,
                  const struct joist_ledger_source *source, bool exact) {
  struct joist_ledger_operand *const operand = &event->operand[k];
  if (!joist_operand_promoted(event->op, k, event->operand_count, &event->signature)) return;
  operand->taken = source->value == JOIST_LEDGER_NONE
                       ? joist_signature_operand(&event->signature, k)
                       : event->signature.promoted.dtype;
  if (source->value != JOIST_LEDGER_NONE) {
    if (operand->operand.type.dtype != operand->taken)
      operand->changes = joist_operand_changes(event->op, &operand->operand, k,
                                               event->operand_count, &event->signature);
    if (exact) operand->changes &= ~(unsigned)JOIST_CHANGE_LOSSY;
  } else if (!exact) {
    operand->misfit = !joist_import_fits(source->host, source->data, source->count, operand->taken);
    if (joist_literal_changes(source->host, source->data, source->count, operand->taken))
      operand->changes = JOIST_CHANGE_LITERAL;
  }
}

joist_status joist_ledger_add(struct joist_ledger *ledger, struct joist_ledger_event *event,
                              const struct joist_ledger_source *sources, size_t count,
                              const struct joist_attributes *attributes,
                              const struct joist_inference *inference, struct joist_error *error) {
  void *const events = joist_array_grown(ledger->events, sizeof *ledger->events,
                                         ledger->event_count, &ledger->event_capacity);
  if (events == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  ledger->events = events;
  void *const calls = joist_array_grown(ledger->calls, sizeof *ledger->calls, ledger->call_count,
                                        &ledger->call_capacity);
  if (calls == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  ledger->calls = calls;
  event->operand = joist_arena_allocate(&ledger->arena, (count + 1) * sizeof *event->operand);
  if (event->operand == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  event->operand_count = (uint32_t)count;
  event->result_count = joist_operation(event->op)->results;
  event->requested = joist_attribute_type(attributes);
  event->signature = inference->signature;
  event->shape = inference->shape[0];
  event->bytes = 0;
  bool all_whole = compares(event->op);
  for (size_t k = 0; k < count; k++) all_whole &= whole(&sources[k].argument->operand);
  for (size_t k = 0; k < count; k++) {
    struct joist_ledger_operand *const operand = &event->operand[k];
    const bool literal = sources[k].value == JOIST_LEDGER_NONE;
    *operand = (struct joist_ledger_operand){.value = sources[k].value,
                                             .operand = sources[k].argument->operand,
                                             .taken = sources[k].argument->operand.type.dtype};
    judge(event, k, &sources[k], all_whole || (literal && compares(event->op)));
  }
  for (uint32_t r = 0; r < event->result_count; r++) {
    uint32_t made = 0;
    const joist_status status =
        add_value(ledger, event->signature.result[r], ledger->event_count, &made, error);
    if (status != JOIST_OK) return status;
    if (r == 0) event->result = made;
    size_t elements = 0;
    (void)joist_shape_count(&inference->shape[r], &elements);
    event->bytes += elements * joist_dtype_size(event->signature.result[r].dtype);
  }
  event->last = true;
  if (event->call < ledger->call_count)
    ledger->events[ledger->calls[event->call]].last = false;
  else
    ledger->call_count++;
  ledger->calls[event->call] = ledger->event_count;
  ledger->events[ledger->event_count++] = *event;
  return JOIST_OK;
}

void joist_ledger_forget(struct joist_ledger *ledger, uint32_t mark) {
  if (mark < ledger->event_count) ledger->event_count = mark;
}

bool joist_ledger_became_known(const struct joist_ledger_event *event, size_t k) {
  const struct joist_ledger_operand *const operand = &event->operand[k];
  return operand->value != JOIST_LEDGER_NONE && operand->operand.type.ambiguous &&
         !event->signature.promoted.ambiguous && !compares(event->op) &&
         joist_operand_promoted(event->op, k, event->operand_count, &event->signature);
}
