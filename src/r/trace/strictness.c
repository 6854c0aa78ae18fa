/* Implicit promotion, as far as somebody wants to know of it. */
#include "r/trace/strictness.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/promotion/builtin_rules.h"
#include "r/base/conditions.h"
#include "r/base/source.h"
#include "r/tensor/dtypes.h"

/* What happened at a place. */
struct finding {
  const char *op; /* of the function that the user called */
  size_t count;
  const struct joist_r_value *values;
  const unsigned *changes; /* per value */
  const joist_dtype *taken;
  struct joist_type result;
};

static SEXP type_name(struct joist_type type) {
  char name[32];
  snprintf(name, sizeof name, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
  return Rf_mkChar(name);
}

static SEXP kind_names(unsigned changes) {
  R_xlen_t count = 0;
  for (int kind = 0; kind < JOIST_CHANGE_COUNT; kind++) count += changes >> kind & 1;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
  for (int kind = 0; kind < JOIST_CHANGE_COUNT; kind++)
    if (changes >> kind & 1)
      SET_STRING_ELT(names, XLENGTH(names) - count--,
                     Rf_mkChar(joist_change_name((joist_change_index)kind)));
  UNPROTECT(1);
  return names;
}

/* Calls implicit_promotion() of R/tensor-conditions.R with what is known of the kinds in `named`.
 */
static void tell(const struct finding *finding, unsigned named, bool refused) {
  enum { KIND, OPERANDS, RESULT, OP, FILE_NAME, REFERENCE, KINDS, TAKEN, REFUSES };
  static const char *fields[] = {"kind",      "operands", "result", "op",      "file",
                                 "reference", "kinds",    "taken",  "refused", ""};
  const R_xlen_t n = (R_xlen_t)finding->count;
  SEXP facts = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(facts, OPERANDS, Rf_allocVector(STRSXP, n));
  SET_VECTOR_ELT(facts, KINDS, Rf_allocVector(VECSXP, n));
  SET_VECTOR_ELT(facts, TAKEN, Rf_allocVector(STRSXP, n));
  unsigned all = 0;
  for (R_xlen_t k = 0; k < n; k++) {
    all |= finding->changes[k] & named;
    SET_STRING_ELT(VECTOR_ELT(facts, OPERANDS), k,
                   type_name(finding->values[k].argument.operand.type));
    SET_VECTOR_ELT(VECTOR_ELT(facts, KINDS), k, kind_names(finding->changes[k] & named));
    SET_STRING_ELT(VECTOR_ELT(facts, TAKEN), k, Rf_mkChar(joist_dtype_name(finding->taken[k])));
  }
  SEXP reference = PROTECT(joist_r_source_reference());
  SET_VECTOR_ELT(facts, KIND, kind_names(all));
  SET_VECTOR_ELT(facts, RESULT, Rf_ScalarString(PROTECT(type_name(finding->result))));
  SET_VECTOR_ELT(facts, OP, Rf_mkString(finding->op));
  SET_VECTOR_ELT(facts, REFERENCE, reference);
  if (reference != R_NilValue)
    SET_VECTOR_ELT(facts, FILE_NAME, Rf_mkString(joist_r_source_file(reference)));
  SET_VECTOR_ELT(facts, REFUSES, Rf_ScalarLogical(refused));
  joist_r_eval(PROTECT(
      Rf_lang3(Rf_install("implicit_promotion"), facts, joist_r_policy_places(R_NilValue))));
  UNPROTECT(4);
}

/* An error where a kind is refused, or else a warning. */
static void judge(const struct finding *finding, unsigned changes) {
  const struct joist_r_policy policy = joist_r_policy(R_NilValue);
  if (changes & policy.refused)
    tell(finding, policy.refused, true);
  else if (changes & policy.warned)
    tell(finding, policy.warned, false);
}

bool joist_r_names_literal(struct joist_r_policy policy, const struct joist_r_value *value,
                           joist_dtype dtype) {
  return ((policy.warned | policy.refused) & JOIST_CHANGE_LITERAL) &&
         value->form == JOIST_R_LITERAL && value->argument.operand.literal &&
         joist_literal_changes(value->host, joist_r_present(value), value->count, dtype);
}

void joist_r_judge(joist_op op, const struct joist_r_value *values, size_t n,
                   const struct joist_signature *signature) {
  const void *const vmax = vmaxget();
  unsigned *const changes = (unsigned *)R_alloc(n + 1, (int)sizeof *changes);
  joist_dtype *const taken = (joist_dtype *)R_alloc(n + 1, (int)sizeof *taken);
  const struct joist_r_policy policy = joist_r_policy(R_NilValue);
  const bool decided = signature->promoted.dtype != JOIST_DTYPE_NONE;
  unsigned all = 0;
  for (size_t k = 0; k < n; k++) {
    const struct joist_operand *const operand = &values[k].argument.operand;
    taken[k] = decided && !operand->literal ? signature->promoted.dtype
                                            : joist_signature_operand(signature, k);
    changes[k] = joist_operand_changes(op, operand, k, n, signature);
    if (joist_r_names_literal(policy, &values[k], taken[k])) changes[k] |= JOIST_CHANGE_LITERAL;
    all |= changes[k];
  }
  const struct finding finding = {joist_op_name(op), n,     values,
                                  changes,           taken, signature->result[0]};
  judge(&finding, all);
  vmaxset(vmax);
}

void joist_r_judge_default(const struct joist_r_value *value, joist_dtype dtype) {
  const unsigned change = JOIST_CHANGE_LITERAL;
  if (!joist_r_names_literal(joist_r_policy(R_NilValue), value, dtype)) return;
  const struct finding finding = {"tensor", 1, value, &change, &dtype, {dtype, false}};
  judge(&finding, change);
}

SEXP joist_r_judge_met(SEXP x, SEXP dtype) {
  if (!joist_r_session()->strict) return R_NilValue;
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  joist_r_judge_default(&value, joist_r_dtype(dtype));
  return R_NilValue;
}

/* Whether a double uses nearly all of its digits beyond 2^53, where not all whole numbers are
 * doubles: so do most of those that were rounded when R read them, unlike 2^60 or 1e16. */
static bool may_be_rounded(double x) {
  enum { DIGITS = 48 };
  int exponent;
  const double size = fabs(x);
  if (!(size > 0x1p53 && size <= 0x1p64)) return false;
  const double digits = ldexp(frexp(size, &exponent), DIGITS);
  return digits != floor(digits);
}

static bool is_rounded_to_f32(double x) {
  const double size = fabs(x);
  return size > 0x1p24 && size <= 0x1p53 && (double)(float)size != size;
}

static bool asks_for_losses(struct joist_r_policy policy) {
  return ((policy.warned | policy.refused) & JOIST_CHANGE_LOSS) != 0;
}

/* Tells of element k of an R vector, which `number` shows. */
static void tell_of_rounding(SEXP number, size_t k, joist_dtype dtype) {
  const bool refused = (joist_r_policy(R_NilValue).refused & JOIST_CHANGE_LOSS) != 0;
  PROTECT(number);
  SEXP position = PROTECT(Rf_ScalarReal((double)k + 1));
  SEXP name = PROTECT(Rf_mkString(joist_dtype_name(dtype)));
  SEXP refuses = PROTECT(Rf_ScalarLogical(refused));
  joist_r_eval(PROTECT(Rf_lang5(Rf_install("tell_of_rounding"), number, position, name, refuses)));
  UNPROTECT(5);
}

void joist_r_judge_doubles(const struct joist_r_value *value, joist_dtype dtype, bool by_default) {
  const bool wide = dtype == JOIST_I64 || dtype == JOIST_UI64;
  const bool narrow = by_default && (dtype == JOIST_F32 || dtype == JOIST_C64);
  const bool paired = value->host == JOIST_HOST_COMPLEX;
  if (value->form != JOIST_R_LITERAL || !(value->host == JOIST_HOST_DOUBLE || paired) ||
      !(wide || narrow) || !asks_for_losses(joist_r_policy(R_NilValue)))
    return;
  const double *const numbers = value->data;
  const size_t parts = paired ? 2 : 1;
  for (size_t k = 0; k < value->count * parts; k++) {
    if (!(wide ? may_be_rounded(numbers[k]) : is_rounded_to_f32(numbers[k]))) continue;
    tell_of_rounding(Rf_ScalarReal(numbers[k]), k / parts, dtype);
    return;
  }
}

void joist_r_judge_integers(const struct joist_r_value *value, joist_dtype dtype) {
  if (value->form != JOIST_R_LITERAL || value->host != JOIST_HOST_INTEGER64 ||
      !asks_for_losses(joist_r_policy(R_NilValue)))
    return;
  const int64_t *const numbers = (const int64_t *)joist_r_present(value);
  for (size_t k = 0; k < value->count; k++) {
    if (!joist_literal_changes(value->host, &numbers[k], 1, dtype)) continue;
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, numbers[k]);
    tell_of_rounding(Rf_mkString(text), k, dtype);
    return;
  }
}
