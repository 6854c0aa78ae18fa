/* Common dtypes of R values, tensors and dtypes. */
#include "r/audit/promotion.h"

#include <stdio.h>
#include <string.h>

#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"

/* list(dtype =, ambiguous =), one shared object for each of the few there are. */
static SEXP type_list(struct joist_type type) {
  static SEXP lists[JOIST_TYPE_COUNT];
  SEXP *list = &lists[(int)type.dtype + (type.ambiguous ? JOIST_DTYPE_COUNT : 0)];
  if (*list == NULL) {
    static const char *names[] = {"dtype", "ambiguous", ""};
    SEXP made = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(made, 0, joist_r_dtype_object(type.dtype));
    SET_VECTOR_ELT(made, 1, Rf_ScalarLogical(type.ambiguous));
    MARK_NOT_MUTABLE(made);
    R_PreserveObject(made);
    UNPROTECT(1);
    *list = made;
  }
  return *list;
}

static SEXP common(const struct joist_rules *rules, const struct joist_operand *operands,
                   size_t count) {
  struct joist_type result;
  struct joist_error error;
  const joist_status status =
      joist_common_type(rules, JOIST_PAIR_COMMON, operands, count, &result, &error);
  joist_r_raise_if(status, &error);
  return type_list(result);
}

SEXP joist_r_common_dtype(SEXP lhs, SEXP rhs, SEXP lhs_ambiguous, SEXP rhs_ambiguous, SEXP rules) {
  const struct joist_rules *set = joist_r_rules(rules);
  const struct joist_type left = {joist_r_dtype(lhs), joist_r_flag(lhs_ambiguous, "lhs_ambiguous")};
  const struct joist_type right = {joist_r_dtype(rhs),
                                   joist_r_flag(rhs_ambiguous, "rhs_ambiguous")};
  struct joist_type result;
  if (set->function == NULL && joist_promote(set, left, right, &result)) return type_list(result);
  /* The same question to the function that words the answer; tensors of equal rank
   * follow the table under every policy. */
  const struct joist_operand operands[] = {{.type = left, .rank = 1}, {.type = right, .rank = 1}};
  return common(set, operands, 2);
}

bool joist_r_dtype_operand(SEXP x, struct joist_operand *operand) {
  *operand = (struct joist_operand){.rank = 1};
  if (Rf_inherits(x, "joist_dtype")) {
    operand->type.dtype = joist_r_dtype(x);
    return true;
  }
  if (TYPEOF(x) != STRSXP || Rf_isObject(x)) return false;
  if (XLENGTH(x) != 1 || STRING_ELT(x, 0) == NA_STRING)
    joist_r_stop(JOIST_ERROR_DTYPE,
                 "a character operand must be the name of a dtype, a single string");
  char name[JOIST_NODE_NAME_SIZE];
  const char *text = Rf_translateCharUTF8(STRING_ELT(x, 0));
  snprintf(name, sizeof name, "%s", text);
  const size_t length = strlen(name);
  operand->type.ambiguous = length > 0 && name[length - 1] == '?';
  if (operand->type.ambiguous) name[length - 1] = '\0';
  operand->type.dtype = joist_dtype_parse(name, JOIST_STYLE_ANVIL);
  if (operand->type.dtype == JOIST_DTYPE_NONE)
    joist_r_stop(JOIST_ERROR_DTYPE, "'%s' is not the name of a dtype", text);
  return true;
}

SEXP joist_r_result_dtype(SEXP operands, SEXP rules) {
  const struct joist_rules *set = joist_r_rules(rules);
  const R_xlen_t count = XLENGTH(operands);
  if (count == 0)
    joist_r_stop(JOIST_ERROR_VALUE, "result_dtype() needs at least one tensor, dtype or R value");
  struct joist_operand *all =
      (struct joist_operand *)(void *)R_alloc((size_t)count, sizeof(struct joist_operand));
  for (R_xlen_t i = 0; i < count; i++) {
    SEXP x = VECTOR_ELT(operands, i);
    if (joist_r_dtype_operand(x, &all[i])) continue;
    joist_r_operand(x, &all[i]);
    /* What a bare R value is, and its default, depend on the rules that are asked. */
    if (TYPEOF(x) == LGLSXP && !Rf_isObject(x)) all[i].literal = joist_rules_tell_truths(set);
    if (all[i].literal && all[i].type.ambiguous)
      all[i].type.dtype = (joist_dtype)set->literal[joist_dtype_category(all[i].type.dtype)];
  }
  return common(set, all, (size_t)count);
}
