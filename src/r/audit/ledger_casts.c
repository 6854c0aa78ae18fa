/* What was recorded, under other rules: inference and the search for casts. */
#include "r/audit/ledger_casts.h"

#include "core/audit/casts.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/tensor/rules.h"

/* The types of values that no event made, as they were under other rules where that is known. */
static struct joist_type *given_types(const struct joist_ledger *ledger, SEXP other) {
  struct joist_type *const types =
      (struct joist_type *)R_alloc(ledger->value_count + 1, (int)sizeof *types);
  for (uint32_t v = 0; v < ledger->value_count; v++) types[v] = ledger->values[v].type;
  if (other == R_NilValue) return types;
  const struct joist_ledger *const there = joist_r_ledger_of(other);
  for (uint32_t e = 0; e < ledger->event_count && e < there->event_count; e++) {
    const struct joist_ledger_event *const here = &ledger->events[e], *const its =
                                                                          &there->events[e];
    if (here->op != its->op || here->operand_count != its->operand_count) break;
    for (uint32_t k = 0; k < here->operand_count; k++) {
      const uint32_t value = here->operand[k].value;
      if (value == JOIST_LEDGER_NONE || its->operand[k].value == JOIST_LEDGER_NONE) continue;
      if (ledger->values[value].event == JOIST_LEDGER_NONE &&
          there->values[its->operand[k].value].event == JOIST_LEDGER_NONE)
        types[value] = its->operand[k].operand.type;
    }
  }
  return types;
}

SEXP joist_r_ledger_infer(SEXP ledger, SEXP other, SEXP rules, SEXP follow) {
  const struct joist_ledger *const own = joist_r_ledger_of(ledger);
  struct joist_type *const types = given_types(own, other);
  joist_dtype *const result = (joist_dtype *)R_alloc(own->event_count + 1, (int)sizeof *result);
  struct joist_error error;
  const joist_status status = joist_ledger_infer(
      own, joist_r_rules(rules), NULL, 0, joist_r_flag(follow, "follow"), types, result, &error);
  joist_r_raise_if(status, &error);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, own->event_count));
  for (uint32_t e = 0; e < own->event_count; e++)
    SET_STRING_ELT(
        out, e, result[e] == JOIST_DTYPE_NONE ? NA_STRING : Rf_mkChar(joist_dtype_name(result[e])));
  UNPROTECT(1);
  return out;
}

/* ---- casts ---- */

static SEXP casts_table(const struct joist_casts *casts) {
  static const char *const kinds[] = {"argument", "operand", "result"};
  static const char *columns[] = {"kind",  "at",     "operand", "dtype",
                                  "found", "fewest", "failed",  ""};
  const R_xlen_t n = (R_xlen_t)casts->count;
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, columns));
  for (int c = 0; c < 4; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(c % 3 == 0 ? STRSXP : INTSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_cast *const cast = &casts->cast[k];
    SET_STRING_ELT(VECTOR_ELT(table, 0), k, Rf_mkChar(kinds[cast->kind]));
    INTEGER(VECTOR_ELT(table, 1))[k] = (int)cast->at + 1;
    INTEGER(VECTOR_ELT(table, 2))[k] = (int)cast->operand + 1;
    SET_STRING_ELT(VECTOR_ELT(table, 3), k, Rf_mkChar(joist_dtype_name(cast->dtype)));
  }
  SET_VECTOR_ELT(table, 4, Rf_ScalarLogical(casts->found));
  SET_VECTOR_ELT(table, 5, Rf_ScalarLogical(casts->fewest));
  SET_VECTOR_ELT(table, 6, Rf_ScalarInteger(casts->found ? NA_INTEGER : (int)casts->failed + 1));
  UNPROTECT(1);
  return table;
}

/* Logicals or integers as the search reads them. */
static SEXP column(SEXP list, int k, SEXPTYPE type) {
  if (TYPEOF(list) != VECSXP || XLENGTH(list) != 3 || (SEXPTYPE)TYPEOF(VECTOR_ELT(list, k)) != type)
    joist_r_stop(JOIST_ERROR_VALUE, "what may be cast must be a list of three vectors");
  return VECTOR_ELT(list, k);
}

static const bool *flags(SEXP x) {
  const R_xlen_t n = XLENGTH(x);
  bool *const out = (bool *)R_alloc((size_t)n + 1, (int)sizeof *out);
  for (R_xlen_t k = 0; k < n; k++) out[k] = LOGICAL(x)[k] == TRUE;
  return out;
}

static void check_castable(const struct joist_ledger *ledger, SEXP castable) {
  R_xlen_t sites = 0, arguments = 0;
  for (uint32_t e = 0; e < ledger->event_count; e++)
    if ((R_xlen_t)ledger->events[e].site >= sites) sites = (R_xlen_t)ledger->events[e].site + 1;
  for (uint32_t v = 0; v < ledger->value_count; v++) {
    const uint32_t argument = ledger->values[v].argument;
    if (argument != JOIST_LEDGER_NONE && (R_xlen_t)argument >= arguments)
      arguments = (R_xlen_t)argument + 1;
  }
  if (XLENGTH(column(castable, 0, LGLSXP)) < arguments ||
      XLENGTH(column(castable, 1, INTSXP)) < sites || XLENGTH(column(castable, 2, LGLSXP)) < sites)
    joist_r_stop(JOIST_ERROR_VALUE, "there must be an element for each argument and site");
}

SEXP joist_r_ledger_casts(SEXP ledger, SEXP other, SEXP rules, SEXP castable, SEXP effort) {
  const struct joist_ledger *const own = joist_r_ledger_of(ledger);
  check_castable(own, castable);
  struct joist_type *const types = given_types(own, other);
  const struct joist_castable may = {
      .argument = flags(VECTOR_ELT(castable, 0)),
      .operand = (const uint32_t *)(const void *)INTEGER(VECTOR_ELT(castable, 1)),
      .result = flags(VECTOR_ELT(castable, 2))};
  struct joist_casts *const casts = (struct joist_casts *)R_alloc(1, (int)sizeof *casts);
  struct joist_error error;
  const double tries = joist_r_number(effort);
  if (!(tries >= 0 && tries <= INT32_MAX))
    joist_r_stop(JOIST_ERROR_VALUE, "`effort` must be a number of tries");
  const joist_status status =
      joist_find_casts(own, joist_r_rules(rules), &may, types, (size_t)tries, casts, &error);
  joist_r_raise_if(status, &error);
  return casts_table(casts);
}
