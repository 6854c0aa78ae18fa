/* The fewest casts with which recorded operations give under one rule set the dtypes that they
 * gave under another. */
#ifndef JOIST_CORE_AUDIT_CASTS_H
#define JOIST_CORE_AUDIT_CASTS_H

#include "core/audit/ledger.h"

typedef enum {
  JOIST_CAST_ARGUMENT, /* an argument, before anything else */
  JOIST_CAST_OPERAND,  /* operand k of what is written at a site */
  JOIST_CAST_RESULT    /* what is written at a site */
} joist_cast_kind;

struct joist_cast {
  joist_cast_kind kind;
  uint32_t at;      /* the argument or the site */
  uint32_t operand; /* OPERAND: which one */
  joist_dtype dtype;
};

enum { JOIST_CASTS_MAX = 64 };

/* What may be cast, where it can be written in code. */
struct joist_castable {
  const bool *argument;    /* of each argument */
  const uint32_t *operand; /* of each site: bit k for operand k */
  const bool *result;      /* of each site */
};

/* Under other rules: the type of each value that no event made, and of each R value its default
 * dtype. */
struct joist_casts {
  struct joist_cast cast[JOIST_CASTS_MAX];
  size_t count;
  bool found;      /* with these, all calls give the dtypes wanted */
  bool fewest;     /* no fewer do */
  uint32_t failed; /* not found: the event that no cast makes right */
};

/* Infers the events again under `rules`. `types` has the types of values that no event made, and
 * gets the casts of all others; result[e] gets the dtype of what event e gives before it is cast,
 * or JOIST_DTYPE_NONE where it is undefined. Goes on to the end: after an undefined event with the
 * types that were recorded, and after every event unless they are to `follow`. */
joist_status joist_ledger_infer(const struct joist_ledger *ledger, const struct joist_rules *rules,
                                const struct joist_cast *casts, size_t count, bool follow,
                                struct joist_type *types, joist_dtype *result,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* Finds casts with which each call gives, under `rules`, the dtype that was recorded. `types` as
 * above; its other elements are overwritten. Looks for a set that a greedy search finds, then for
 * smaller ones as long as `effort` inferences of the whole ledger last. */
joist_status joist_find_casts(const struct joist_ledger *ledger, const struct joist_rules *rules,
                              const struct joist_castable *castable, struct joist_type *types,
                              size_t effort, struct joist_casts *casts,
                              struct joist_error *error) JOIST_MUST_CHECK;

#endif
