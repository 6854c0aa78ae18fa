/* Walks R code, from left to right. How deeply calls may be nested is up to R's stack. */
#include "r/trace/code.h"

#include <stdbool.h>

enum { ROOM = 16 };

/* ---- the functions that calls name ---- */

/* In the order of `names`, in which all from QUOTING on quote. */
enum word {
  ASSIGN,
  EQUALS,
  SUPER,
  FOR,
  WHILE,
  REPEAT,
  FUNCTION,
  BREAK,
  NEXT,
  RETURN,
  IF,
  BRACE,
  LOCAL,
  QUOTING,
  OTHER
};

static const char *const names[] = {
    "<-",         "=",      "<<-",     "for",     "while",   "repeat",  "function", "break",
    "next",       "return", "if",      "{",       "local",   "quote",   "bquote",   "substitute",
    "expression", "~",      "on.exit", "missing", "library", "require", "::",       ":::"};

enum { COUNT = sizeof names / sizeof *names };

static SEXP strings[COUNT];

/* Names of symbols are never freed, and R has one string for all equal ones in ASCII. */
void joist_r_code_init(void) {
  for (size_t k = 0; k < COUNT; k++) strings[k] = PRINTNAME(Rf_install(names[k]));
}

/* The name of the function of a call; empty for a computed function. */
static SEXP called_name(SEXP call) {
  SEXP head = CAR(call);
  if (TYPEOF(head) == SYMSXP) return PRINTNAME(head);
  return TYPEOF(head) == STRSXP && XLENGTH(head) > 0 ? STRING_ELT(head, 0) : R_BlankString;
}

static enum word word_of(SEXP call) {
  SEXP name = called_name(call);
  for (size_t k = 0; k < COUNT; k++)
    if (strings[k] == name) {
      /* With another argument it is the environment to evaluate in. */
      if (k == LOCAL && Rf_length(call) != 2) return OTHER;
      return k < QUOTING ? (enum word)k : QUOTING;
    }
  return OTHER;
}

SEXP joist_r_code_quotes(SEXP code) {
  return Rf_ScalarLogical(TYPEOF(code) == LANGSXP && word_of(code) == QUOTING);
}

/* ---- names that were found ---- */

struct found {
  SEXP strings;
  PROTECT_INDEX at;
  R_xlen_t used;
};

static void add(struct found *found, SEXP string) {
  if (found->used == XLENGTH(found->strings))
    REPROTECT(found->strings = Rf_xlengthgets(found->strings, 2 * found->used), found->at);
  SET_STRING_ELT(found->strings, found->used++, string);
}

/* Adds a variable: a symbol or strings. */
static void add_variable(struct found *found, SEXP variable) {
  if (TYPEOF(variable) == SYMSXP) add(found, PRINTNAME(variable));
  for (R_xlen_t k = 0; TYPEOF(variable) == STRSXP && k < XLENGTH(variable); k++)
    add(found, STRING_ELT(variable, k));
}

/* Adds the variable that an assignment to `target`, such as x[1]$y, changes. */
static void add_target(struct found *found, SEXP target) {
  while (TYPEOF(target) == LANGSXP) target = CADR(target);
  add_variable(found, target);
}

typedef void collector(struct found *found, SEXP code);

static SEXP collected(collector *collect, SEXP code) {
  struct found found = {.strings = Rf_allocVector(STRSXP, ROOM)};
  PROTECT_WITH_INDEX(found.strings, &found.at);
  collect(&found, code);
  SEXP strings = Rf_xlengthgets(found.strings, found.used);
  UNPROTECT(1);
  return strings;
}

/* ---- calls that are evaluated ---- */

/* Of a function or a call of local(), which have variables of their own. */
static SEXP body_of(SEXP code) { return word_of(code) == LOCAL ? CADR(code) : CADDR(code); }

typedef void visitor(struct found *found, SEXP call, enum word word);

/* Visits each call that R evaluates in the frame of the function, or, if `functions`, also in those
 * of the functions written in it. */
static void walk(struct found *found, SEXP code, bool functions, visitor *visit) {
  if (TYPEOF(code) != LANGSXP) return;
  R_CheckStack();
  const enum word word = word_of(code);
  if (word == QUOTING) return;
  if (word == FUNCTION || word == LOCAL) {
    if (functions) walk(found, body_of(code), functions, visit);
    return;
  }
  visit(found, code, word);
  for (SEXP part = code; part != R_NilValue; part = CDR(part))
    walk(found, CAR(part), functions, visit);
}

static bool is_assignment(SEXP call, enum word word) {
  return (word == ASSIGN || word == EQUALS) && Rf_length(call) == 3;
}

static void visit_assignment(struct found *found, SEXP call, enum word word) {
  if (word == FOR) add_variable(found, CADR(call));
  if (is_assignment(call, word)) add_target(found, CADR(call));
}

static void visit_super(struct found *found, SEXP call, enum word word) {
  if (word == SUPER && Rf_length(call) == 3) add_target(found, CADR(call));
}

static void collect_inner(struct found *found, SEXP code) {
  if (TYPEOF(code) != LANGSXP) return;
  R_CheckStack();
  const enum word word = word_of(code);
  if (word == FUNCTION || word == LOCAL) walk(found, body_of(code), true, visit_super);
  for (SEXP part = code; part != R_NilValue; part = CDR(part)) collect_inner(found, CAR(part));
}

static void collect_direct(struct found *found, SEXP code) {
  walk(found, code, false, visit_assignment);
}

static void collect_assigned(struct found *found, SEXP code) {
  collect_direct(found, code);
  collect_inner(found, code);
}

SEXP joist_r_code_assigned(SEXP code, SEXP inner) {
  return collected(Rf_asLogical(inner) == TRUE ? collect_assigned : collect_direct, code);
}

static bool is_function(SEXP code) { return TYPEOF(code) == LANGSXP && word_of(code) == FUNCTION; }

static void visit_literal(struct found *found, SEXP call, enum word word) {
  if (is_assignment(call, word) && is_function(CADDR(call))) add_variable(found, CADR(call));
}

static void visit_other(struct found *found, SEXP call, enum word word) {
  if (word == FOR || (is_assignment(call, word) && !is_function(CADDR(call))))
    add_variable(found, CADR(call));
}

static void collect_literal(struct found *found, SEXP code) {
  walk(found, code, false, visit_literal);
}

static void collect_other(struct found *found, SEXP code) { walk(found, code, false, visit_other); }

SEXP joist_r_code_whole(SEXP code, SEXP literal) {
  return collected(Rf_asLogical(literal) == TRUE ? collect_literal : collect_other, code);
}

static void visit_called(struct found *found, SEXP call, enum word word) {
  (void)word;
  add(found, called_name(call));
}

static void collect_called(struct found *found, SEXP code) {
  walk(found, code, true, visit_called);
}

SEXP joist_r_code_called(SEXP code) { return collected(collect_called, code); }

/* ---- all code ---- */

/* Also of the defaults of functions, which are a list of pairs. */
static void collect_reads(struct found *found, SEXP code) {
  if (TYPEOF(code) == SYMSXP && code != R_MissingArg) add(found, PRINTNAME(code));
  if (TYPEOF(code) != LANGSXP && TYPEOF(code) != LISTSXP) return;
  R_CheckStack();
  SEXP skipped = R_NilValue;
  if (TYPEOF(code) == LANGSXP) {
    const enum word word = word_of(code);
    const bool assigns = word <= SUPER && Rf_length(code) == 3;
    if (assigns && TYPEOF(CADR(code)) != LANGSXP) code = CDDR(code);
    if (word == FOR) skipped = CDR(code);
  }
  for (SEXP part = code; part != R_NilValue; part = CDR(part))
    if (part != skipped) collect_reads(found, CAR(part));
}

SEXP joist_r_code_reads(SEXP code) { return collected(collect_reads, code); }

static void collect_strings(struct found *found, SEXP code) {
  if (TYPEOF(code) == STRSXP && XLENGTH(code) == 1) {
    SEXP string = STRING_ELT(code, 0);
    if (string != NA_STRING && string != R_BlankString) add(found, string);
  }
  if (TYPEOF(code) != LANGSXP) return;
  R_CheckStack();
  for (SEXP part = code; part != R_NilValue; part = CDR(part)) collect_strings(found, CAR(part));
}

SEXP joist_r_code_strings(SEXP code) { return collected(collect_strings, code); }

/* ---- leaving ---- */

static void escapes_of(struct found *found, SEXP code, bool looping) {
  if (TYPEOF(code) != LANGSXP) return;
  R_CheckStack();
  const enum word word = word_of(code);
  if (word == FUNCTION || word == LOCAL || word == QUOTING) return;
  if (word == BREAK || word == NEXT) {
    if (!looping) add(found, called_name(code));
    return;
  }
  if (word == RETURN) add(found, called_name(code));
  looping |= word == FOR || word == WHILE || word == REPEAT;
  for (SEXP part = CDR(code); part != R_NilValue; part = CDR(part))
    escapes_of(found, CAR(part), looping);
}

static void collect_escapes(struct found *found, SEXP code) { escapes_of(found, code, false); }

SEXP joist_r_code_escapes(SEXP code) { return collected(collect_escapes, code); }

static bool always_escapes(SEXP code) {
  if (TYPEOF(code) != LANGSXP) return false;
  R_CheckStack();
  switch (word_of(code)) {
    case BREAK:
    case NEXT:
    case RETURN:
      return true;
    case BRACE:
      for (SEXP part = CDR(code); part != R_NilValue; part = CDR(part))
        if (always_escapes(CAR(part))) return true;
      return false;
    case IF:
      return Rf_length(code) == 4 && always_escapes(CADDR(code)) && always_escapes(CADDDR(code));
    default:
      return false;
  }
}

SEXP joist_r_code_always_escapes(SEXP code) { return Rf_ScalarLogical(always_escapes(code)); }

/* ---- running ---- */

SEXP joist_r_code_run(SEXP code, SEXP frame) { return Rf_eval(code, frame); }

/* The fields of a part, and those kinds of parts that R does not have to look at. */
enum part_field { PART_KIND, PART_CODE, PART_YES, PART_NO };
enum part_kind { PART_PLAIN, PART_BREAK, PART_NEXT, PART_RETURN, PART_IF };

/* `more`, and the elements of `parts` from number `from` on. */
static SEXP joined(SEXP more, SEXP parts, R_xlen_t from) {
  const R_xlen_t first = XLENGTH(more), count = XLENGTH(parts) - from;
  if (count <= 0) return more;
  SEXP both = PROTECT(Rf_allocVector(VECSXP, first + count));
  for (R_xlen_t k = 0; k < first; k++) SET_VECTOR_ELT(both, k, VECTOR_ELT(more, k));
  for (R_xlen_t k = 0; k < count; k++) SET_VECTOR_ELT(both, first + k, VECTOR_ELT(parts, from + k));
  UNPROTECT(1);
  return both;
}

static bool is_flag(SEXP x) {
  return TYPEOF(x) == LGLSXP && !Rf_isObject(x) && XLENGTH(x) == 1 &&
         LOGICAL_ELT(x, 0) != NA_LOGICAL;
}

SEXP joist_r_code_parts(SEXP parts, SEXP frame) {
  PROTECT_INDEX at_parts, at_value;
  SEXP value = R_NilValue, condition = R_NilValue;
  PROTECT_WITH_INDEX(parts, &at_parts);
  PROTECT_WITH_INDEX(value, &at_value);
  int kind = PART_PLAIN;
  R_xlen_t k = 0;
  while (k < XLENGTH(parts)) {
    SEXP part = VECTOR_ELT(parts, k);
    kind = Rf_asInteger(VECTOR_ELT(part, PART_KIND));
    if (kind > PART_IF) break;
    value = Rf_eval(VECTOR_ELT(part, PART_CODE), frame);
    REPROTECT(value, at_value);
    if (kind == PART_IF) {
      if (!is_flag(value)) {
        condition = value;
        break;
      }
      parts = joined(VECTOR_ELT(part, LOGICAL_ELT(value, 0) ? PART_YES : PART_NO), parts, k + 1);
      REPROTECT(parts, at_parts);
      REPROTECT(value = R_NilValue, at_value);
      kind = PART_PLAIN;
      k = 0;
      continue;
    }
    k++;
    if (kind > PART_PLAIN) break;
  }
  SEXP ended = PROTECT(Rf_allocVector(VECSXP, 4));
  SET_VECTOR_ELT(ended, 0, Rf_ScalarInteger(kind));
  SET_VECTOR_ELT(ended, 1, value);
  SET_VECTOR_ELT(ended, 2, condition);
  if (kind >= PART_IF) SET_VECTOR_ELT(ended, 3, joined(Rf_allocVector(VECSXP, 0), parts, k));
  UNPROTECT(3);
  return ended;
}
