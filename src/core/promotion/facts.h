/* What living libraries do besides joining dtypes: which float integers become, and in which dtype
 * sums end. Read from the libraries themselves, in the versions that builtin_rules.c names. */
#ifndef JOIST_CORE_PROMOTION_FACTS_H
#define JOIST_CORE_PROMOTION_FACTS_H

#include "core/promotion/rule_set.h"

/* Which results of an ambiguous operand are ambiguous, too. */
typedef enum { JOIST_GUESSES_END, JOIST_GUESSES_STAY, JOIST_GUESSED_FLOATS_STAY } joist_guesses;

struct joist_library {
  bool has_guesses; /* arrays can be of a weak type */
  uint16_t lacks;   /* bit d: has no dtype d */
  struct {
    joist_guesses guesses;
    /* By dtype, for bool and integers; JOIST_NODE_NONE where it is an error. Floats stay. */
    uint8_t result[JOIST_F16];
  } fact[JOIST_FACT_COUNT];
};

extern const struct joist_library joist_library_jax, joist_library_jax_x32, joist_library_jax_lax,
    joist_library_numpy, joist_library_torch, joist_library_array_api_2024;

/* Fills the facts of a rule set. */
void joist_library_apply(const struct joist_library *library, struct joist_rules *rules);

#endif
