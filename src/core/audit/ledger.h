/* Ledgers: what the operations of a run did with dtypes, one event each, in the order in which they
 * ran. A program merges what computes the same and reads literals in the dtype they end in; a
 * ledger keeps both as they were, so that the same operations can be inferred again under other
 * rules. Owns its arrays (joist_ledger_clear frees them), knows no elements. */
#ifndef JOIST_CORE_AUDIT_LEDGER_H
#define JOIST_CORE_AUDIT_LEDGER_H

#include "core/base/arena.h"
#include "core/program/program.h"
#include "core/promotion/change.h"

#define JOIST_LEDGER_NONE UINT32_MAX /* no value, no event */

/* A tensor that an operation read or made, or an argument. */
struct joist_ledger_value {
  struct joist_type type;
  uint32_t event;    /* that made it, or JOIST_LEDGER_NONE */
  uint32_t argument; /* which argument it is, or JOIST_LEDGER_NONE */
};

struct joist_ledger_operand {
  uint32_t value;               /* JOIST_LEDGER_NONE for a bare R value */
  struct joist_operand operand; /* as it was before promotion */
  joist_dtype taken;            /* that promotion converted it to; its own where none did */
  unsigned changes;             /* joist_change, or'ed */
  bool misfit;                  /* a bare R value that `taken` cannot hold */
};

struct joist_ledger_event {
  joist_op op;
  uint32_t site, call;         /* where it was written, and which run of that place, from 0 */
  bool pinned;                 /* it ran under its own rules: no others apply */
  struct joist_type requested; /* attribute DTYPE */
  uint32_t operand_count, result_count;
  struct joist_ledger_operand *operand;
  uint32_t result; /* the first value; the others follow it */
  struct joist_signature signature;
  struct joist_shape shape; /* of the first result */
  size_t bytes;             /* of all results */
  bool last;                /* of its call: its results are what the call gives */
};

struct joist_ledger {
  struct joist_ledger_value *values;
  struct joist_ledger_event *events;
  uint32_t *calls; /* the last event of each call */
  uint32_t value_count, event_count, call_count;
  uint32_t value_capacity, event_capacity, call_capacity;
  struct joist_arena arena; /* operands */
};

/* An operand to record. */
struct joist_ledger_source {
  const struct joist_argument *argument;
  uint32_t value; /* JOIST_LEDGER_NONE for a bare R value, of which the following holds: */
  joist_host host;
  const void *data;
  size_t count;
};

void joist_ledger_init(struct joist_ledger *ledger);
void joist_ledger_clear(struct joist_ledger *ledger);

/* A tensor that no event made. */
joist_status joist_ledger_add_value(struct joist_ledger *ledger, struct joist_type type,
                                    uint32_t *value, struct joist_error *error) JOIST_MUST_CHECK;

/* The event of an operation that was inferred; `event` needs op, site, call and pinned. A call is
 * the number of one there was, or the next one. */
joist_status joist_ledger_add(struct joist_ledger *ledger, struct joist_ledger_event *event,
                              const struct joist_ledger_source *sources, size_t count,
                              const struct joist_attributes *attributes,
                              const struct joist_inference *inference,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* Forgets the events from number `mark` on. */
void joist_ledger_forget(struct joist_ledger *ledger, uint32_t mark);

/* Whether operand k is an ambiguous tensor that became known here. */
bool joist_ledger_became_known(const struct joist_ledger_event *event, size_t k);

#endif
