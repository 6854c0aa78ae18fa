/* Reads environments without running what is in them: a promise gives its code. */
#include "r/trace/world.h"

#include <Rversion.h>
#include <stdbool.h>
#include <string.h>

enum { ROOM = 16 };
enum { NAMES, VALUES, ATTRIBUTES, FORCED, PARTS };

static SEXP called(const char *name, SEXP argument) {
  SEXP call = PROTECT(Rf_lang2(Rf_install(name), argument));
  SEXP value = Rf_eval(call, R_BaseEnv);
  UNPROTECT(1);
  return value;
}

/* ---- what an environment has ---- */

/* Whether R's methods package keeps its tables under a name. */
static bool is_of_methods(const char *name) {
  static const char *const starts[] = {".__C__", ".__T__",   ".AllMTable", ".MTable",
                                       ".Sig",   ".Generic", ".Methods",   ".refClassDef"};
  for (size_t k = 0; name[0] == '.' && k < sizeof starts / sizeof *starts; k++)
    if (strncmp(name, starts[k], strlen(starts[k])) == 0) return true;
  return false;
}

/* The symbols of variables, but for active ones and `...`, as arguments of a call. */
static SEXP symbols_of(SEXP environment) {
  SEXP names = PROTECT(R_lsInternal3(environment, TRUE, FALSE)), call = R_NilValue;
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(call, &at);
  for (R_xlen_t k = XLENGTH(names); k-- > 0;) {
    SEXP symbol = Rf_installChar(STRING_ELT(names, k));
    if (symbol != R_DotsSymbol && !is_of_methods(CHAR(PRINTNAME(symbol))) &&
        !R_BindingIsActive(symbol, environment))
      REPROTECT(call = Rf_lcons(symbol, call), at);
  }
  UNPROTECT(2);
  return call;
}

/* substitute() leaves names alone that belong to the global environment, where nothing is a promise
 * unless a package makes it one. */
static SEXP global_values(SEXP symbols) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, Rf_xlength(symbols)));
  R_xlen_t count = 0;
  for (SEXP cell = symbols; cell != R_NilValue; cell = CDR(cell))
    SET_STRING_ELT(names, count++, PRINTNAME(CAR(cell)));
  SEXP get = PROTECT(Rf_lang3(Rf_install("mget"), names, R_GlobalEnv));
  SEXP found = PROTECT(Rf_eval(get, R_BaseEnv)), values = PROTECT(Rf_shallow_duplicate(symbols));
  count = 0;
  for (SEXP cell = values; cell != R_NilValue; cell = CDR(cell))
    SETCAR(cell, VECTOR_ELT(found, count++));
  UNPROTECT(4);
  return values;
}

static SEXP substituted(SEXP symbols, SEXP environment) {
  if (symbols == R_NilValue) return symbols;
  if (environment == R_GlobalEnv) return global_values(symbols);
  SEXP list = PROTECT(Rf_lcons(Rf_install("list"), symbols));
  SEXP call = PROTECT(Rf_lang3(Rf_install("substitute"), list, environment));
  SEXP values = CDR(Rf_eval(call, R_BaseEnv));
  UNPROTECT(2);
  return values;
}

/* Whether a value may be the code of a promise; joist's own promises call a function. */
static bool may_be_promised(SEXP value) {
  if (TYPEOF(value) == SYMSXP) return value != R_MissingArg;
  return TYPEOF(value) == LANGSXP && TYPEOF(CAR(value)) != CLOSXP;
}

/* The values of variables that may be promises, computed where that has not happened; NULL where
 * that fails, and for all others. */
static SEXP forced_values(SEXP environment, SEXP names, SEXP values) {
  SEXP forced = PROTECT(Rf_allocVector(VECSXP, XLENGTH(values)));
  for (R_xlen_t k = 0; k < XLENGTH(values); k++) {
    int failed = 0;
    if (!may_be_promised(VECTOR_ELT(values, k))) continue;
    SEXP value = R_tryEvalSilent(Rf_installChar(STRING_ELT(names, k)), environment, &failed);
    if (!failed) SET_VECTOR_ELT(forced, k, PROTECT(Rf_list1(value)));
    if (!failed) UNPROTECT(1);
  }
  UNPROTECT(1);
  return forced;
}

/* Whether code calls primitive functions alone, and assigns nothing. */
static bool is_harmless(SEXP code) {
  if (TYPEOF(code) != LANGSXP) return true;
  R_CheckStack();
  SEXP head = CAR(code);
  if (TYPEOF(head) != SYMSXP) return false;
  const char *const name = CHAR(PRINTNAME(head));
  if (strcmp(name, "<-") == 0 || strcmp(name, "=") == 0 || strcmp(name, "<<-") == 0) return false;
  if (!R_existsVarInFrame(R_BaseEnv, head)) return false;
  if (!Rf_isPrimitive(Rf_eval(head, R_BaseEnv))) return false;
  for (SEXP part = CDR(code); part != R_NilValue; part = CDR(part))
    if (!is_harmless(CAR(part))) return false;
  return true;
}

SEXP joist_r_world_unsure(SEXP looked) {
  for (R_xlen_t k = 0; k < XLENGTH(looked); k++) {
    SEXP parts = VECTOR_ELT(looked, k), forced = VECTOR_ELT(parts, FORCED);
    for (R_xlen_t v = 0; v < Rf_xlength(forced); v++) {
      if (VECTOR_ELT(forced, v) == R_NilValue) continue;
      if (!is_harmless(VECTOR_ELT(VECTOR_ELT(parts, VALUES), v))) return Rf_ScalarLogical(true);
    }
  }
  return Rf_ScalarLogical(false);
}

static SEXP look(SEXP environment) {
  SEXP symbols = PROTECT(symbols_of(environment));
  SEXP cells = PROTECT(substituted(symbols, environment));
  const R_xlen_t count = Rf_xlength(symbols);
  SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
  SEXP values = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++, symbols = CDR(symbols), cells = CDR(cells)) {
    SET_STRING_ELT(names, k, PRINTNAME(CAR(symbols)));
    SET_VECTOR_ELT(values, k, CAR(cells));
  }
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, PARTS));
  SET_VECTOR_ELT(parts, NAMES, names);
  SET_VECTOR_ELT(parts, VALUES, values);
  SET_VECTOR_ELT(parts, ATTRIBUTES, called("attributes", environment));
  UNPROTECT(5);
  return parts;
}

static bool is_among(SEXP environment, SEXP list, R_xlen_t count) {
  for (R_xlen_t k = count; k-- > 0;)
    if (VECTOR_ELT(list, k) == environment) return true;
  return false;
}

SEXP joist_r_world_look(SEXP environments, SEXP forced, SEXP lazy) {
  const R_xlen_t count = XLENGTH(environments);
  SEXP all = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++) SET_VECTOR_ELT(all, k, look(VECTOR_ELT(environments, k)));
  for (R_xlen_t k = 0; k < Rf_asInteger(forced); k++) {
    SEXP environment = VECTOR_ELT(environments, k), parts = VECTOR_ELT(all, k);
    if (is_among(environment, lazy, XLENGTH(lazy))) continue;
    SET_VECTOR_ELT(parts, FORCED,
                   forced_values(environment, VECTOR_ELT(parts, NAMES), VECTOR_ELT(parts, VALUES)));
  }
  UNPROTECT(1);
  return all;
}

/* ---- what has changed ---- */

static bool same_elements(SEXP x, SEXP y) {
  if (Rf_xlength(x) != Rf_xlength(y)) return false;
  for (R_xlen_t k = 0; k < Rf_xlength(x); k++)
    if (VECTOR_ELT(x, k) != VECTOR_ELT(y, k)) return false;
  return true;
}

/* The place of a name, which is usually the same in both. */
static R_xlen_t place_of(SEXP names, SEXP name, R_xlen_t guess) {
  const R_xlen_t count = XLENGTH(names);
  if (guess < count && STRING_ELT(names, guess) == name) return guess;
  for (R_xlen_t k = 0; k < count; k++)
    if (STRING_ELT(names, k) == name) return k;
  return -1;
}

/* Adds the names in `one` whose value is another one in `other`, or, if `missing`, which are not
 * there. */
static R_xlen_t add_changed(SEXP found, R_xlen_t used, SEXP one, SEXP other, bool missing) {
  SEXP names = VECTOR_ELT(one, NAMES);
  for (R_xlen_t k = 0; k < XLENGTH(names); k++) {
    const R_xlen_t at = place_of(VECTOR_ELT(other, NAMES), STRING_ELT(names, k), k);
    const bool differs = at < 0 || (!missing && VECTOR_ELT(VECTOR_ELT(one, VALUES), k) !=
                                                    VECTOR_ELT(VECTOR_ELT(other, VALUES), at));
    if (differs) SET_STRING_ELT(found, used++, STRING_ELT(names, k));
  }
  return used;
}

static SEXP changes(SEXP before, SEXP after) {
  const R_xlen_t room = XLENGTH(VECTOR_ELT(before, NAMES)) + XLENGTH(VECTOR_ELT(after, NAMES)) + 1;
  if (same_elements(VECTOR_ELT(before, VALUES), VECTOR_ELT(after, VALUES)) &&
      same_elements(VECTOR_ELT(before, ATTRIBUTES), VECTOR_ELT(after, ATTRIBUTES)))
    return R_NilValue;
  SEXP found = PROTECT(Rf_allocVector(STRSXP, room));
  R_xlen_t used = add_changed(found, 0, before, after, false);
  used = add_changed(found, used, after, before, true);
  if (!same_elements(VECTOR_ELT(before, ATTRIBUTES), VECTOR_ELT(after, ATTRIBUTES)))
    SET_STRING_ELT(found, used++, R_BlankString);
  found = Rf_xlengthgets(found, used);
  UNPROTECT(1);
  return found;
}

SEXP joist_r_world_changes(SEXP before, SEXP after) {
  const R_xlen_t count = XLENGTH(before);
  SEXP all = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++)
    SET_VECTOR_ELT(all, k, changes(VECTOR_ELT(before, k), VECTOR_ELT(after, k)));
  UNPROTECT(1);
  return all;
}

/* ---- what can be reached ---- */

struct walk {
  SEXP found, packages, known;
  PROTECT_INDEX at;
  R_xlen_t used;
};

/* Whether an environment is of R or of a package whose state is its own. */
static bool is_left_alone(const struct walk *walk, SEXP environment) {
  if (environment == R_EmptyEnv || environment == R_BaseEnv || R_IsPackageEnv(environment))
    return true;
  if (!R_IsNamespaceEnv(environment)) return false;
  SEXP spec = R_NamespaceEnvSpec(environment);
  for (R_xlen_t k = 0; k < XLENGTH(walk->packages); k++)
    if (XLENGTH(spec) > 0 && STRING_ELT(walk->packages, k) == STRING_ELT(spec, 0)) return true;
  return false;
}

static SEXP around(SEXP environment) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ParentEnv(environment);
#else
  return ENCLOS(environment);
#endif
}

static SEXP home_of(SEXP closure) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_ClosureEnv(closure);
#else
  return CLOENV(closure);
#endif
}

SEXP joist_r_world_own(SEXP home, SEXP functions, SEXP frames, SEXP callers) {
  const R_xlen_t count = XLENGTH(frames);
  SEXP own = PROTECT(Rf_allocVector(LGLSXP, count));
  SEXP inside = PROTECT(Rf_allocVector(VECSXP, count));
  for (R_xlen_t k = 0; k < count; k++) {
    SEXP function = VECTOR_ELT(functions, k);
    const int caller = INTEGER(callers)[k];
    bool is_own = false;
    if (TYPEOF(function) == CLOSXP) {
      SEXP around = home_of(function);
      is_own = around == home || is_among(around, inside, k) ||
               (around == R_BaseNamespace && caller >= 0 && caller < k && LOGICAL(own)[caller]);
    }
    LOGICAL(own)[k] = is_own;
    if (is_own) SET_VECTOR_ELT(inside, k, VECTOR_ELT(frames, k));
  }
  UNPROTECT(2);
  return own;
}

/* Adds an environment and those around it. One right within a package is the package's. */
static void add_environment(struct walk *walk, SEXP environment) {
  while (!is_left_alone(walk, environment) && !is_among(environment, walk->found, walk->used) &&
         !is_among(environment, walk->known, XLENGTH(walk->known))) {
    SEXP next = around(environment);
    if (R_IsNamespaceEnv(next) && next != R_BaseNamespace && is_left_alone(walk, next)) return;
    /* What a function is traced with has no variables of the user. */
    if (!R_existsVarInFrame(environment, Rf_install(".joist_if"))) {
      if (walk->used == XLENGTH(walk->found))
        REPROTECT(walk->found = Rf_xlengthgets(walk->found, 2 * walk->used), walk->at);
      SET_VECTOR_ELT(walk->found, walk->used++, environment);
    }
    environment = next;
  }
}

/* The value of a variable whose use joist notes: its code is a call of a function with an
 * environment that has it. */
static SEXP noted_value(SEXP code) {
  if (TYPEOF(CAR(code)) != CLOSXP || TYPEOF(CDR(code)) != LISTSXP) return R_NilValue;
  SEXP cell = CADR(code), symbol = Rf_install("value");
  const bool is_cell = TYPEOF(cell) == ENVSXP && R_existsVarInFrame(cell, symbol);
  return is_cell ? Rf_eval(symbol, cell) : R_NilValue;
}

static void visit(struct walk *walk, SEXP x) {
  R_CheckStack();
  switch (TYPEOF(x)) {
    case LANGSXP:
      visit(walk, PROTECT(noted_value(x)));
      UNPROTECT(1);
      break;
    case ENVSXP:
      add_environment(walk, x);
      break;
    case CLOSXP:
      add_environment(walk, home_of(x));
      break;
    case VECSXP:
      for (R_xlen_t k = 0; k < XLENGTH(x); k++) visit(walk, VECTOR_ELT(x, k));
      break;
    default:
      break;
  }
  /* Objects of S4 and reference classes, and models, have environments in their attributes. */
  if (Rf_isObject(x) && TYPEOF(x) != ENVSXP && !Rf_inherits(x, "nv_tensor")) {
    SEXP attributes = PROTECT(called("attributes", x));
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++) {
      SEXP attribute = VECTOR_ELT(attributes, k);
      if (TYPEOF(attribute) == ENVSXP || TYPEOF(attribute) == CLOSXP || TYPEOF(attribute) == VECSXP)
        visit(walk, attribute);
    }
    UNPROTECT(1);
  }
}

SEXP joist_r_world(SEXP roots, SEXP packages, SEXP known) {
  struct walk walk = {.found = Rf_allocVector(VECSXP, ROOM), .packages = packages, .known = known};
  PROTECT_WITH_INDEX(walk.found, &walk.at);
  visit(&walk, roots);
  for (R_xlen_t k = 0; k < walk.used; k++) {
    SEXP parts = PROTECT(look(VECTOR_ELT(walk.found, k)));
    visit(&walk, VECTOR_ELT(parts, VALUES));
    UNPROTECT(1);
  }
  SEXP found = Rf_xlengthgets(walk.found, walk.used);
  UNPROTECT(1);
  return found;
}
