/* Tells of values that did not fit. */
#include "r/base/findings.h"

#include <stdio.h>

#include "core/program/program.h"
#include "core/program/watch.h"
#include "core/promotion/change.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/base/source.h"

SEXP joist_r_grouped_digits(SEXP number) {
  char digits[512], text[700]; /* of any double */
  const int n = snprintf(digits, sizeof digits, "%.0f", Rf_asReal(number));
  size_t end = 0;
  for (int k = 0; k < n; k++) {
    text[end++] = digits[k];
    if (digits[k] != '-' && k + 1 < n && (n - k - 1) % 3 == 0) text[end++] = ',';
  }
  text[end] = '\0';
  return Rf_mkString(text);
}

static SEXP reference_of(const struct joist_instruction *i, SEXP lines) {
  if (lines == R_NilValue) return joist_r_source_reference();
  return i->source < (uint32_t)XLENGTH(lines) ? VECTOR_ELT(lines, i->source) : R_NilValue;
}

static bool is_overflow(const struct joist_finding *finding) {
  const struct joist_program *const program = finding->program;
  return finding->kind != JOIST_FOUND_LOSS ||
         joist_conversion_overflows(program, &program->instructions[finding->instruction]);
}

static unsigned change_of(const struct joist_finding *finding) {
  return is_overflow(finding) ? JOIST_CHANGE_OVERFLOW : JOIST_CHANGE_LOSS;
}

/* Integers of R, which have NA where they do not fit. */
static bool is_refused(const struct joist_finding *finding) {
  const struct joist_program *const program = finding->program;
  return finding->kind == JOIST_FOUND_BEYOND ||
         (finding->kind == JOIST_FOUND_OVERFLOW &&
          (program->instructions[finding->instruction].watch & JOIST_WATCH_HOST) != 0);
}

/* Kinds of findings that any place has warned about, by operation: without one, R is not asked. */
static bool warned[JOIST_OP_COUNT][JOIST_FOUND_BEYOND + 1];

/* What functions of R/tensor-conditions.R read about a finding. */
static SEXP facts_of(const struct joist_finding *finding, bool refused, SEXP lines) {
  enum {
    KIND,
    OP,
    DTYPE,
    OPERANDS,
    COUNT,
    POSITION,
    FILE_NAME,
    REFERENCE,
    REFUSES,
    CONVERTS,
    BOUNDED,
    TRACED,
    BEYOND,
    HOST,
    INSTRUCTION
  };
  static const char *fields[] = {"kind",    "op",       "dtype",       "operands",
                                 "count",   "position", "file",        "reference",
                                 "refused", "converts", "bounded",     "traced",
                                 "beyond",  "host",     "instruction", ""};
  const struct joist_program *const program = finding->program;
  const struct joist_instruction *const i = &program->instructions[finding->instruction];
  const bool converted = finding->kind != JOIST_FOUND_OVERFLOW, alone = i->operand_count == 1;
  const joist_dtype made = converted && i->op == JOIST_OP_CONVERT ? i->signature.result[0].dtype
                           : converted && alone ? joist_signature_operand(&i->signature, 0)
                           : converted          ? i->signature.promoted.dtype
                                                : i->signature.result[0].dtype;
  SEXP facts = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(facts, KIND, Rf_mkString(is_overflow(finding) ? "overflow" : "loss"));
  SET_VECTOR_ELT(facts, OP, Rf_mkString(joist_op_name(i->op)));
  SET_VECTOR_ELT(facts, DTYPE, Rf_mkString(joist_dtype_name(made)));
  SET_VECTOR_ELT(facts, OPERANDS, Rf_allocVector(STRSXP, (R_xlen_t)i->operand_count));
  for (uint32_t k = 0; k < i->operand_count; k++)
    SET_STRING_ELT(VECTOR_ELT(facts, OPERANDS), (R_xlen_t)k,
                   Rf_mkChar(joist_dtype_name(program->values[i->operand[k]].type.dtype)));
  SET_VECTOR_ELT(facts, COUNT, Rf_ScalarReal((double)finding->count));
  SET_VECTOR_ELT(facts, POSITION, Rf_ScalarReal((double)finding->first + 1));
  SEXP reference = PROTECT(reference_of(i, lines));
  SET_VECTOR_ELT(facts, REFERENCE, reference);
  if (reference != R_NilValue)
    SET_VECTOR_ELT(facts, FILE_NAME, Rf_mkString(joist_r_source_file(reference)));
  SET_VECTOR_ELT(facts, REFUSES, Rf_ScalarLogical(refused));
  SET_VECTOR_ELT(facts, CONVERTS, Rf_ScalarLogical(converted));
  SET_VECTOR_ELT(facts, BOUNDED, Rf_ScalarLogical(i->signature.rounds_float));
  SET_VECTOR_ELT(facts, TRACED, Rf_ScalarLogical(lines != R_NilValue));
  SET_VECTOR_ELT(facts, BEYOND, Rf_ScalarLogical(finding->kind == JOIST_FOUND_BEYOND));
  SET_VECTOR_ELT(facts, HOST, Rf_ScalarLogical((i->watch & JOIST_WATCH_HOST) != 0));
  SET_VECTOR_ELT(facts, INSTRUCTION, Rf_ScalarInteger((int)finding->instruction));
  UNPROTECT(2);
  return facts;
}

/* What a function of R/tensor-conditions.R says about a list of facts; NULL about none. */
static SEXP ask(const char *function, SEXP found, SEXP places) {
  if (found == R_NilValue) return R_NilValue;
  PROTECT(found);
  SEXP list = PROTECT(Rf_PairToVectorList(found));
  SEXP answer = joist_r_eval(PROTECT(Rf_lang3(Rf_install(function), list, places)));
  UNPROTECT(3);
  return answer;
}

static bool *warned_of(const struct joist_finding *finding) {
  const struct joist_program *const program = finding->program;
  return &warned[program->instructions[finding->instruction].op][finding->kind];
}

void joist_r_tell_findings(const struct joist_tally *tally, SEXP lines, SEXP asked) {
  const struct joist_r_policy policy = joist_r_policy(asked);
  SEXP places = joist_r_policy_places(asked);
  for (int refused = 1; refused >= 0; refused--) {
    SEXP found = R_NilValue;
    for (size_t k = tally->count; k-- > 0;) {
      const unsigned change = change_of(&tally->found[k]);
      if (is_refused(&tally->found[k]) ? !refused
                                       : ((refused ? policy.refused : policy.warned) & change) == 0)
        continue;
      PROTECT(found);
      SEXP facts = PROTECT(facts_of(&tally->found[k], refused, lines));
      found = Rf_cons(facts, found);
      UNPROTECT(2);
      *warned_of(&tally->found[k]) = true;
    }
    (void)ask("changed_values", found, places);
  }
}

/* Adds what R is asked about a finding, if anything; false if it was not told. */
static bool may_be_told(const struct joist_finding *finding, const struct joist_r_policy *policy,
                        SEXP lines, SEXP *found) {
  if (is_refused(finding) || (policy->refused & change_of(finding))) return false;
  if (!(policy->warned & change_of(finding))) return true;
  if (!*warned_of(finding)) return false;
  PROTECT(*found);
  SEXP facts = PROTECT(facts_of(finding, false, lines));
  *found = Rf_cons(facts, *found);
  UNPROTECT(2);
  return true;
}

static bool were_told(const struct joist_program *program, const struct joist_r_policy *policy,
                      SEXP lines, SEXP places) {
  SEXP found = R_NilValue;
  bool told = true;
  for (uint32_t k = 0; k < program->instruction_count && told; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    struct joist_finding finding = {.program = program, .instruction = k};
    told = !(i->watch & (JOIST_WATCH_RANGE | JOIST_WATCH_HOST)) && !joist_mean_is_exact(program, i);
    if (told && (i->watch & JOIST_WATCH_OVERFLOW))
      told = may_be_told(&finding, policy, lines, &found);
    finding.kind = JOIST_FOUND_LOSS;
    if (told && (i->watch & JOIST_WATCH_LOSS)) told = may_be_told(&finding, policy, lines, &found);
  }
  if (!told || found == R_NilValue) return told;
  SEXP answers = ask("values_were_told", found, places);
  for (R_xlen_t k = 0; k < XLENGTH(answers) && told; k++) told = LOGICAL(answers)[k] == TRUE;
  return told;
}

bool joist_r_were_told(const struct joist_program *program, SEXP lines, SEXP asked) {
  enum { SHORT = 1 << 18 };
  size_t elements = 0;
  for (uint32_t v = 0; v < program->value_count; v++)
    elements += joist_value_count(&program->values[v]);
  if (elements < SHORT) return false;
  const struct joist_r_policy policy = joist_r_policy(asked);
  return were_told(program, &policy, lines, joist_r_policy_places(asked));
}

uint32_t joist_r_told_among(const struct joist_finding *findings, uint32_t count, SEXP lines,
                            SEXP asked) {
  const struct joist_r_policy policy = joist_r_policy(asked);
  uint32_t told = 0, open = 0;
  SEXP places = joist_r_policy_places(asked), found = R_NilValue;
  for (uint32_t k = count; k-- > 0;) {
    SEXP before = found;
    if (may_be_told(&findings[k], &policy, lines, &found))
      *(found == before ? &told : &open) |= UINT32_C(1) << k;
  }
  SEXP answers = ask("values_were_told", found, places);
  R_xlen_t next = 0;
  for (uint32_t k = 0; k < count; k++)
    if ((open >> k & 1) != 0 && LOGICAL(answers)[next++] == TRUE) told |= UINT32_C(1) << k;
  return told;
}
