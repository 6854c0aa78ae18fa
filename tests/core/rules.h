/* rules.h: the built-in rule sets, for tests that run anywhere in the repository, and rule sets of
 * a test's own. */
#ifndef JOIST_TESTS_RULES_H
#define JOIST_TESTS_RULES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/promotion/builtin_rules.h"
#include "core/promotion/rules_text.h"

/* Looks for inst/promotion in the working folder and in those above it. */
static inline void use_rules(void) {
  char folder[64] = "inst/promotion";
  for (int above = 0; above < 8; above++) {
    if (joist_rules_init(folder, NULL) == JOIST_OK) return;
    memmove(folder + 3, folder, strlen(folder) + 1);
    memcpy(folder, "../", 3);
  }
  fprintf(stderr, "no inst/promotion: run the tests in a folder of the repository\n");
  exit(2);
}

/* Makes rules of edges. */
static inline joist_status rules_from_edges(struct joist_rules *rules, const char *id,
                                            const char *const *from, const char *const *to,
                                            size_t count, struct joist_error *error) {
  const size_t size = strlen(id) + 80 * (count + 1);
  char *const text = malloc(size);
  if (text == NULL) exit(2);
  size_t used = (size_t)snprintf(text, size, "# id: %s\n", id);
  for (size_t e = 0; e < count; e++)
    used += (size_t)snprintf(text + used, size - used, "edge,%s,%s,\n", from[e], to[e]);
  const joist_status status = joist_rules_read(rules, text, used, error);
  free(text);
  return status;
}

/* Whether operations have tables of their own besides the common dtype. */
static inline bool has_own_tables(const struct joist_rules *rules) {
  bool has = false;
  for (int pair = 0; pair < JOIST_PAIR_COUNT; pair++)
    has |= pair != JOIST_PAIR_COMMON && rules->has_pairs[pair];
  return has;
}

/* Whether n entries of a table are numbers below `limit`, or NONE where that is allowed. */
static inline bool entries_below(const uint8_t *entries, size_t n, int limit, bool may_lack) {
  bool fine = true;
  for (size_t k = 0; k < n; k++)
    fine &= entries[k] < limit || (may_lack && entries[k] == JOIST_NODE_NONE);
  return fine;
}

/* Whether everything that is looked up by what a rule set says is there. */
static inline bool rules_are_sound(const struct joist_rules *rules) {
  const int end = rules->node_end;
  bool fine = end >= JOIST_NODE_OWN && end <= JOIST_NODE_MAX && rules->published_count > 0;
  for (int node = 0; node < end; node++)
    fine &= entries_below(rules->result[node], (size_t)end, end, true) &&
            memchr(rules->names[node], '\0', JOIST_NODE_NAME_SIZE) != NULL;
  for (int k = 0; k < rules->used_count; k++)
    fine &= rules->used[k].lhs < end && rules->used[k].rhs < end &&
            entries_below(&rules->used[k].result, 1, end, true);
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++)
    fine &= (int)joist_dtype_category((joist_dtype)rules->literal[c]) == c;
  return fine && entries_below(rules->published, rules->published_count, end, false) &&
         entries_below(rules->edges[0], 2 * (size_t)rules->edge_count, end, false) &&
         entries_below(rules->pairs[0][0], sizeof rules->pairs, end, true) &&
         entries_below(rules->facts[0], sizeof rules->facts, end, true);
}

#endif
