/* The ALTREP class. The first datum is a recipe, a list, or R_NilValue once someone has written to
 * the names; the second has the names themselves, once they were asked for. */
#include "r/tensor/name_references.h"

#include <string.h>

#include "r/base/poison.h"
#include "r/tensor/unknown.h"

/* Behind R's other headers, which it does not include. */
#include <R_ext/Altrep.h>

enum { HEAD, FROM, MORE, PARTS }; /* of a recipe */
typedef enum { ARGUMENT, RANGE, AT, GATHERED, JOINED, UNDECIDED } kind;
/* The head, as bytes. An argument: its number and dim, in `start` and `step`, its names in FROM and
 * whether they were asked for in MORE. A range and positions: the names in FROM. Joined names: a
 * list in FROM. Positions or counts are in MORE: of gathered names a traced tensor or, when the
 * trace has ended, the number of an output; of undecided names the condition. */
struct head {
  kind kind;
  int64_t start, step;
  R_xlen_t count;
};

static R_altrep_class_t class;

/* The object itself, or the one that R put a wrapper around; R_NilValue for other objects. */
static SEXP own(SEXP names) {
  while (ALTREP(names) && TYPEOF(names) == STRSXP) {
    if (R_altrep_inherits(names, class)) return names;
    names = R_altrep_data1(names);
  }
  return R_NilValue;
}

/* R_NilValue for ordinary names. */
static SEXP recipe_of(SEXP names) {
  names = own(names);
  return names == R_NilValue ? R_NilValue : R_altrep_data1(names);
}

bool joist_r_are_references(SEXP names) { return recipe_of(names) != R_NilValue; }

static SEXP make(struct head head, SEXP from, SEXP more) {
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)sizeof head));
  memcpy(RAW(bytes), &head, sizeof head);
  SEXP recipe = PROTECT(Rf_allocVector(VECSXP, PARTS));
  SET_VECTOR_ELT(recipe, HEAD, bytes);
  SET_VECTOR_ELT(recipe, FROM, from);
  SET_VECTOR_ELT(recipe, MORE, more);
  SEXP made = R_new_altrep(class, recipe, R_NilValue);
  UNPROTECT(2);
  return made;
}

static struct head head_of(SEXP recipe) {
  struct head head;
  memcpy(&head, RAW_RO(VECTOR_ELT(recipe, HEAD)), sizeof head);
  return head;
}

/* ---- selections of ordinary names ---- */

static SEXP element(SEXP names, double position) {
  if (position != position) return NA_STRING;
  return position >= 1 && position <= (double)XLENGTH(names)
             ? STRING_ELT(names, (R_xlen_t)position - 1)
             : R_BlankString;
}

static SEXP plain_range(SEXP names, const struct head *head) {
  SEXP made = PROTECT(Rf_allocVector(STRSXP, head->count));
  for (R_xlen_t k = 0; k < head->count; k++)
    SET_STRING_ELT(made, k, STRING_ELT(names, (R_xlen_t)(head->start + k * head->step)));
  UNPROTECT(1);
  return made;
}

static SEXP plain_at(SEXP names, SEXP positions) {
  const R_xlen_t n = XLENGTH(positions);
  SEXP made = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++) SET_STRING_ELT(made, k, element(names, REAL(positions)[k]));
  UNPROTECT(1);
  return made;
}

static SEXP plain_joined(SEXP parts, SEXP counts) {
  R_xlen_t n = 0, at = 0;
  for (R_xlen_t k = 0; k < XLENGTH(counts); k++) n += (R_xlen_t)REAL(counts)[k];
  SEXP made = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < XLENGTH(parts); k++) {
    SEXP part = VECTOR_ELT(parts, k);
    for (R_xlen_t j = 0; part != R_NilValue && j < XLENGTH(part); j++)
      SET_STRING_ELT(made, at + j, STRING_ELT(part, j));
    at += (R_xlen_t)REAL(counts)[k];
  }
  UNPROTECT(1);
  return made;
}

/* ---- resolving ---- */

static SEXP resolve(SEXP names, const struct joist_r_name_sources *sources);

static SEXP resolve_joined(SEXP recipe, const struct joist_r_name_sources *sources) {
  SEXP from = VECTOR_ELT(recipe, FROM);
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, XLENGTH(from)));
  for (R_xlen_t k = 0; k < XLENGTH(from); k++)
    SET_VECTOR_ELT(parts, k, resolve(VECTOR_ELT(from, k), sources));
  SEXP made = plain_joined(parts, VECTOR_ELT(recipe, MORE));
  UNPROTECT(1);
  return made;
}

static SEXP resolve(SEXP names, const struct joist_r_name_sources *sources) {
  R_CheckStack();
  SEXP recipe = recipe_of(names);
  if (recipe == R_NilValue) return names;
  const struct head head = head_of(recipe);
  if (head.kind == ARGUMENT)
    return sources->along((uint32_t)head.start, (int)head.step, sources->context);
  if (head.kind == JOINED) return resolve_joined(recipe, sources);
  SEXP from = PROTECT(resolve(VECTOR_ELT(recipe, FROM), sources)), at = VECTOR_ELT(recipe, MORE);
  if (head.kind == GATHERED) at = sources->positions(Rf_asInteger(at), sources->context);
  PROTECT(at);
  SEXP made = head.kind == RANGE ? plain_range(from, &head) : plain_at(from, at);
  UNPROTECT(2);
  return made;
}

SEXP joist_r_resolve_names(SEXP names, const struct joist_r_name_sources *sources) {
  if (TYPEOF(names) != VECSXP) return resolve(names, sources);
  bool any = false;
  for (R_xlen_t d = 0; d < XLENGTH(names); d++) any |= joist_r_are_references(VECTOR_ELT(names, d));
  if (!any) return names;
  SEXP list = PROTECT(Rf_shallow_duplicate(names));
  for (R_xlen_t d = 0; d < XLENGTH(list); d++)
    SET_VECTOR_ELT(list, d, resolve(VECTOR_ELT(list, d), sources));
  UNPROTECT(1);
  return list;
}

void joist_r_output_positions(SEXP names, int (*output)(SEXP index, void *context), void *context) {
  R_CheckStack();
  if (TYPEOF(names) == VECSXP) {
    for (R_xlen_t d = 0; d < XLENGTH(names); d++)
      joist_r_output_positions(VECTOR_ELT(names, d), output, context);
    return;
  }
  SEXP recipe = recipe_of(names);
  if (recipe == R_NilValue) return;
  const struct head head = head_of(recipe);
  if (head.kind == ARGUMENT) return;
  joist_r_output_positions(VECTOR_ELT(recipe, FROM), output, context);
  SEXP index = VECTOR_ELT(recipe, MORE);
  if (head.kind == GATHERED && joist_r_is_unknown(index))
    SET_VECTOR_ELT(recipe, MORE, Rf_ScalarInteger(output(index, context)));
}

/* ---- methods ---- */

/* The names of the arguments at hand, which are a part of the key from now on. */
static SEXP own_names(SEXP names);

static SEXP own_names_of(SEXP recipe) {
  const struct head head = head_of(recipe);
  SEXP from = VECTOR_ELT(recipe, FROM), more = VECTOR_ELT(recipe, MORE);
  if (head.kind == ARGUMENT) {
    LOGICAL(more)[0] = TRUE;
    return own_names(from);
  }
  if (head.kind == GATHERED) {
    /* R's pointers are asked for where no error may be raised. */
    (void)joist_r_poison(more);
    return Rf_allocVector(STRSXP, head.count);
  }
  if (head.kind == UNDECIDED) {
    joist_r_poison_by(more);
    return Rf_allocVector(STRSXP, head.count);
  }
  if (head.kind != JOINED) {
    from = PROTECT(own_names(from));
    SEXP made = head.kind == RANGE ? plain_range(from, &head) : plain_at(from, more);
    UNPROTECT(1);
    return made;
  }
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, XLENGTH(from)));
  for (R_xlen_t k = 0; k < XLENGTH(from); k++)
    SET_VECTOR_ELT(parts, k, own_names(VECTOR_ELT(from, k)));
  SEXP made = plain_joined(parts, more);
  UNPROTECT(1);
  return made;
}

static SEXP own_names(SEXP names) {
  SEXP x = own(names);
  if (x == R_NilValue) return names;
  if (R_altrep_data2(x) == R_NilValue) {
    SEXP made = PROTECT(own_names_of(R_altrep_data1(x)));
    R_set_altrep_data2(x, made);
    UNPROTECT(1);
  }
  return R_altrep_data2(x);
}

SEXP joist_r_plain_names(SEXP names) {
  SEXP plain = own_names(names);
  joist_r_poison_check();
  return plain;
}

static R_xlen_t length(SEXP x) {
  SEXP recipe = R_altrep_data1(x);
  return recipe == R_NilValue ? XLENGTH(R_altrep_data2(x)) : head_of(recipe).count;
}

static SEXP string_element(SEXP x, R_xlen_t k) {
  SEXP element = STRING_ELT(own_names(x), k);
  joist_r_poison_check();
  return element;
}

/* What is written to is a constant. */
static void set_element(SEXP x, R_xlen_t k, SEXP value) {
  if (R_altrep_data1(x) != R_NilValue) {
    PROTECT(value);
    SEXP own = PROTECT(Rf_shallow_duplicate(own_names(x)));
    R_set_altrep_data2(x, own);
    R_set_altrep_data1(x, R_NilValue);
    UNPROTECT(2);
  }
  SET_STRING_ELT(R_altrep_data2(x), k, value);
}

static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  return (void *)(uintptr_t)STRING_PTR_RO(own_names(x));
}

static const void *data_or_null(SEXP x) {
  (void)x;
  return NULL;
}

static SEXP duplicate(SEXP x, Rboolean deep) {
  (void)deep;
  if (R_altrep_data1(x) == R_NilValue) return Rf_shallow_duplicate(R_altrep_data2(x));
  return R_new_altrep(class, R_altrep_data1(x), R_NilValue);
}

void joist_r_name_references_init(void) {
  class = R_make_altstring_class("name_references", "joist", NULL);
  R_set_altrep_Length_method(class, length);
  R_set_altrep_Duplicate_method(class, duplicate);
  R_set_altvec_Dataptr_method(class, data);
  R_set_altvec_Dataptr_or_null_method(class, data_or_null);
  R_set_altstring_Elt_method(class, string_element);
  R_set_altstring_Set_elt_method(class, set_element);
}

/* ---- making them ---- */

SEXP joist_r_names_of_argument(uint32_t leaf, int d, SEXP names, SEXP asked) {
  return make((struct head){ARGUMENT, leaf, d, XLENGTH(names)}, names, asked);
}

SEXP joist_r_names_range(SEXP names, int64_t start, int64_t step, size_t count) {
  if (start == 0 && step == 1 && (size_t)XLENGTH(names) == count) return names;
  const struct head head = {RANGE, start, step, (R_xlen_t)count};
  return joist_r_are_references(names) ? make(head, names, R_NilValue) : plain_range(names, &head);
}

SEXP joist_r_names_at(SEXP names, SEXP positions) {
  const struct head head = {AT, 0, 0, XLENGTH(positions)};
  return joist_r_are_references(names) ? make(head, names, positions) : plain_at(names, positions);
}

SEXP joist_r_names_gathered(SEXP names, SEXP index, size_t count) {
  return make((struct head){GATHERED, 0, 0, (R_xlen_t)count}, names, index);
}

SEXP joist_r_names_joined(SEXP parts, SEXP counts) {
  bool any = false;
  double n = 0;
  for (R_xlen_t k = 0; k < XLENGTH(parts); k++) any |= joist_r_are_references(VECTOR_ELT(parts, k));
  for (R_xlen_t k = 0; k < XLENGTH(counts); k++) n += REAL(counts)[k];
  return any ? make((struct head){JOINED, 0, 0, (R_xlen_t)n}, parts, counts)
             : plain_joined(parts, counts);
}

SEXP joist_r_names_undecided(SEXP condition, R_xlen_t count) {
  return make((struct head){UNDECIDED, 0, 0, count}, R_NilValue, condition);
}

SEXP joist_r_undecided_by(SEXP names) {
  R_CheckStack();
  SEXP recipe = TYPEOF(names) == VECSXP ? names : recipe_of(names), found = R_NilValue;
  if (recipe != names && recipe != R_NilValue) {
    const struct head head = head_of(recipe);
    if (head.kind == UNDECIDED) return VECTOR_ELT(recipe, MORE);
    if (head.kind == ARGUMENT) return R_NilValue;
    names = VECTOR_ELT(recipe, FROM);
    if (TYPEOF(names) != VECSXP) return joist_r_undecided_by(names);
  }
  for (R_xlen_t k = 0; TYPEOF(names) == VECSXP && k < XLENGTH(names) && found == R_NilValue; k++)
    found = joist_r_undecided_by(VECTOR_ELT(names, k));
  return found;
}

/* ---- comparing ---- */

static bool same_recipe(SEXP x, SEXP y) {
  if (x == y) return true;
  const struct head a = head_of(x), b = head_of(y);
  if (a.kind != b.kind || a.start != b.start || a.step != b.step || a.count != b.count)
    return false;
  SEXP from = VECTOR_ELT(x, FROM), other = VECTOR_ELT(y, FROM);
  SEXP more = VECTOR_ELT(x, MORE), also = VECTOR_ELT(y, MORE);
  if (a.kind == ARGUMENT || a.kind == UNDECIDED) return more == also;
  struct joist_r_unknown at, there;
  if (a.kind == GATHERED && joist_r_unknown_read(more, &at) && joist_r_unknown_read(also, &there))
    return joist_r_same_names(from, other) && joist_r_same_value(&at, &there);
  return joist_r_same_names(from, other) && joist_r_same_names(more, also);
}

bool joist_r_same_names(SEXP x, SEXP y) {
  enum { AS_IDENTICAL = 16 }; /* the flags that identical() has */
  R_CheckStack();
  if (x == y) return true;
  SEXP a = recipe_of(x), b = recipe_of(y);
  if (a != R_NilValue && b != R_NilValue) return same_recipe(a, b);
  if (a != R_NilValue || b != R_NilValue) return false;
  if (TYPEOF(x) != VECSXP || TYPEOF(y) != VECSXP) return R_compute_identical(x, y, AS_IDENTICAL);
  if (XLENGTH(x) != XLENGTH(y) ||
      !R_compute_identical(Rf_getAttrib(x, R_NamesSymbol), Rf_getAttrib(y, R_NamesSymbol),
                           AS_IDENTICAL))
    return false;
  for (R_xlen_t k = 0; k < XLENGTH(x); k++)
    if (!joist_r_same_names(VECTOR_ELT(x, k), VECTOR_ELT(y, k))) return false;
  return true;
}
