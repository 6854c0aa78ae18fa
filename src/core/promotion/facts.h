/* What living libraries do besides joining dtypes: which float integers become, and in which dtype
 * sums end. Read from the libraries themselves, in the versions that builtin_rules.c names. */
#ifndef JOIST_CORE_PROMOTION_FACTS_H
#define JOIST_CORE_PROMOTION_FACTS_H

#include "core/promotion/rule_set.h"

/* Which results of an ambiguous operand are ambiguous, too. */
typedef enum { JOIST_GUESSES_END, JOIST_GUESSES_STAY, JOIST_GUESSED_FLOATS_STAY } joist_guesses;

/* What becomes of integers of fewer than 8 bits, a row per fact and a column per number of bits. */
enum { JOIST_SMALL_SIZES = 3, JOIST_SMALL_SAME = JOIST_DTYPE_COUNT };
struct joist_small_integers {
  /* Of 1, 2 and 4 bits; JOIST_SMALL_SAME for the dtype itself, JOIST_NODE_NONE for an error. */
  uint8_t result[JOIST_FACT_COUNT][JOIST_SMALL_SIZES];
};

struct joist_library {
  bool has_guesses;                         /* arrays can be of a weak type */
  joist_dtype_set dtypes;                   /* of the library */
  const struct joist_small_integers *small; /* NULL if it lacks them */
  struct {
    joist_guesses guesses;
    /* By dtype, for bool and integers; JOIST_NODE_NONE where it is an error. Floats stay. */
    uint8_t result[JOIST_DTYPE_COUNT];
  } fact[JOIST_FACT_COUNT];
};

extern const struct joist_library joist_library_jax, joist_library_jax_x32, joist_library_jax_lax,
    joist_library_numpy, joist_library_ml_dtypes, joist_library_torch, joist_library_array_api_2024;

/* Fills the facts of a rule set. */
void joist_library_apply(const struct joist_library *library, struct joist_rules *rules);

#endif
