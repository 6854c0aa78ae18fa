/* The policy in force, and making one of what a user asks for. */
#include "r/base/policy.h"

#include <string.h>

#include "core/program/program.h"
#include "core/promotion/change.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"

enum { LEVELS_OF, PLACES_OF, PARTS };
enum { WARNED, REFUSED, SATURATED, KINDS_NAMED, KINDS_KEPT, LEVEL_COUNT };

static int kind_of(const char *name) {
  for (int kind = 0; kind < JOIST_CHANGE_COUNT; kind++)
    if (strcmp(name, joist_change_name((joist_change_index)kind)) == 0) return kind;
  joist_r_stop(JOIST_ERROR_VALUE,
               "`on`: unknown kind '%s'; the kinds are widening, int_to_float, lossy, literal, "
               "overflow and loss",
               name);
}

SEXP joist_r_make_policy(SEXP on, SEXP keep) {
  const R_xlen_t n = TYPEOF(on) == STRSXP ? XLENGTH(on) : -1;
  SEXP names = Rf_getAttrib(on, R_NamesSymbol);
  if (n < 0 || (n > 0 && names == R_NilValue))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`on` must be a named character vector, such as c(widening = \"error\")");
  int levels[LEVEL_COUNT] = {0};
  for (R_xlen_t k = 0; k < n; k++) {
    const int kind = 1 << kind_of(Rf_translateCharUTF8(STRING_ELT(names, k)));
    const char *const level =
        STRING_ELT(on, k) == NA_STRING ? "NA" : Rf_translateCharUTF8(STRING_ELT(on, k));
    if (levels[KINDS_NAMED] & kind)
      joist_r_stop(JOIST_ERROR_VALUE, "`on` names '%s' twice", CHAR(STRING_ELT(names, k)));
    levels[KINDS_NAMED] |= kind;
    if (strcmp(level, "warn") == 0)
      levels[WARNED] |= kind;
    else if (strcmp(level, "error") == 0)
      levels[REFUSED] |= kind;
    else if (strcmp(level, "saturate") == 0 && kind == JOIST_CHANGE_OVERFLOW)
      levels[SATURATED] |= kind;
    else if (strcmp(level, "ok") != 0)
      joist_r_stop(JOIST_ERROR_VALUE,
                   "`on`: '%s' must be \"ok\", \"warn\"%s or \"error\"%s, not '%s'",
                   CHAR(STRING_ELT(names, k)), kind == JOIST_CHANGE_OVERFLOW ? "," : "",
                   kind == JOIST_CHANGE_OVERFLOW ? " or \"saturate\"" : "", level);
  }
  levels[KINDS_KEPT] =
      (joist_r_flag(keep, "keep") ? -1 : JOIST_CHANGES_OF_VALUES) & ~levels[KINDS_NAMED];
  SEXP made = PROTECT(Rf_allocVector(INTSXP, LEVEL_COUNT));
  memcpy(INTEGER(made), levels, sizeof levels);
  UNPROTECT(1);
  return made;
}

static struct joist_r_policy read_policy(SEXP policy) {
  const bool listed = TYPEOF(policy) == VECSXP && XLENGTH(policy) == PARTS;
  SEXP levels = listed ? VECTOR_ELT(policy, LEVELS_OF) : R_NilValue;
  if (TYPEOF(levels) != INTSXP || XLENGTH(levels) != LEVEL_COUNT ||
      TYPEOF(VECTOR_ELT(policy, PLACES_OF)) != ENVSXP)
    joist_r_stop(JOIST_ERROR_VALUE, "this is not what `on` was made into");
  const struct joist_r_policy now = joist_r_session()->asked;
  const int kept = INTEGER(levels)[KINDS_KEPT];
  return (struct joist_r_policy){(uint8_t)(INTEGER(levels)[WARNED] | (now.warned & kept)),
                                 (uint8_t)(INTEGER(levels)[REFUSED] | (now.refused & kept)),
                                 (uint8_t)(INTEGER(levels)[SATURATED] | (now.saturated & kept)),
                                 (uint8_t)(INTEGER(levels)[KINDS_NAMED] | (now.named & kept))};
}

struct joist_r_policy joist_r_policy(SEXP policy) {
  return policy == R_NilValue ? joist_r_session()->asked : read_policy(policy);
}

void joist_r_put_policy(SEXP policy, struct joist_r_session *session) {
  const bool none = TYPEOF(policy) == LGLSXP && XLENGTH(policy) == 1 && LOGICAL(policy)[0] == 0;
  session->policy = none ? R_NilValue : policy;
  session->asked =
      none ? (struct joist_r_policy){.warned = JOIST_CHANGES_OF_VALUES} : read_policy(policy);
  session->strict =
      ((session->asked.warned | session->asked.refused) & ~JOIST_CHANGES_OF_VALUES) != 0;
}

SEXP joist_r_policy_places(SEXP policy) {
  if (policy == R_NilValue) policy = joist_r_session()->policy;
  return policy == R_NilValue ? R_NilValue : VECTOR_ELT(policy, PLACES_OF);
}

uint8_t joist_r_watched(const struct joist_rules *rules) {
  const struct joist_r_policy policy = joist_r_session()->asked;
  const uint8_t told = policy.warned | policy.refused;
  const bool by_rules =
      rules->beyond == JOIST_BEYOND_SATURATE && !(policy.named & JOIST_CHANGE_OVERFLOW);
  uint8_t watch = 0;
  if (by_rules || (policy.saturated & JOIST_CHANGE_OVERFLOW))
    watch |= JOIST_WATCH_SATURATE;
  else if (told & JOIST_CHANGE_OVERFLOW)
    watch |= JOIST_WATCH_OVERFLOW;
  if (told & JOIST_CHANGE_LOSS) watch |= JOIST_WATCH_LOSS;
  return watch;
}
