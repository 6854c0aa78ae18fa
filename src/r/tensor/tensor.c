/* Makes tensors. */
#include "r/tensor/tensor.h"

#include <stdio.h>

#include "r/tensor/dtypes.h"
#include "r/tensor/exact_mark.h"
#include "r/tensor/unknown.h"
#include "r/tensor/view.h"

static SEXP preserved_strings(const char *const *strings, int n) {
  SEXP made = PROTECT(Rf_allocVector(STRSXP, n));
  for (int i = 0; i < n; i++) SET_STRING_ELT(made, i, Rf_mkChar(strings[i]));
  MARK_NOT_MUTABLE(made);
  R_PreserveObject(made);
  UNPROTECT(1);
  return made;
}

SEXP joist_r_class(joist_r_form form) {
  static SEXP concrete = NULL, abstract = NULL;
  if (concrete == NULL) {
    static const char *const plain[] = {"nv_tensor"};
    static const char *const aval[] = {"nv_aval", "nv_tensor"};
    abstract = preserved_strings(aval, 2);
    concrete = preserved_strings(plain, 1);
  }
  return form == JOIST_R_ABSTRACT ? abstract : concrete;
}

SEXP joist_r_shape_object(const struct joist_shape *shape) {
  SEXP extents = Rf_allocVector(INTSXP, shape->rank);
  for (int d = 0; d < shape->rank; d++) INTEGER(extents)[d] = (int)shape->extent[d];
  return extents;
}

/* ---- vectors ---- */

/* The dtype attribute of a type, and its string: R keeps one CHARSXP per string. */
struct mark {
  SEXP object, name;
};

static const struct mark *mark_of(struct joist_type type) {
  static struct mark marks[JOIST_DTYPE_COUNT][2];
  struct mark *const mark = &marks[type.dtype][type.ambiguous];
  if (mark->object == NULL) {
    char name[32];
    snprintf(name, sizeof name, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
    const char *const text = name;
    SEXP made = preserved_strings(&text, 1);
    *mark = (struct mark){made, STRING_ELT(made, 0)};
  }
  return mark;
}

struct joist_type joist_r_type_of_mark(SEXP mark) {
  const struct joist_type none = {JOIST_DTYPE_NONE, false};
  mark = joist_r_plain_mark(mark);
  if (TYPEOF(mark) != STRSXP || XLENGTH(mark) == 0) return none;
  static SEXP last_name = NULL;
  static struct joist_type last;
  SEXP name = STRING_ELT(mark, 0);
  if (name == last_name && XLENGTH(mark) == 1) return last;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int ambiguous = 0; ambiguous < 2; ambiguous++) {
      const struct joist_type type = {(joist_dtype)d, ambiguous != 0};
      if (mark_of(type)->name != name) continue;
      if (XLENGTH(mark) > 1) return joist_r_has_exact_mark(type.dtype) ? type : none;
      last_name = name; /* which mark_of() keeps */
      return last = type;
    }
  return none;
}

/* The attributes that tensors of a type have: of a scalar, of rank 1, and of a higher rank, the dim
 * last. Copying them is several times faster than setting them one by one. */
static SEXP pattern_of(struct joist_type type, int rank) {
  static SEXP patterns[JOIST_DTYPE_COUNT][2][3];
  const int form = rank < 2 ? rank : 2;
  SEXP *const pattern = &patterns[type.dtype][type.ambiguous][form];
  if (*pattern == NULL) {
    SEXP made = PROTECT(Rf_allocVector(VECSXP, 1));
    Rf_setAttrib(made, R_ClassSymbol, joist_r_class(JOIST_R_CONCRETE));
    Rf_setAttrib(made, joist_r_dtype_symbol(), mark_of(type)->object);
    if (form == 0) Rf_setAttrib(made, joist_r_rank_symbol(), PROTECT(Rf_ScalarInteger(0)));
    if (form == 2) Rf_setAttrib(made, R_DimSymbol, PROTECT(Rf_ScalarInteger(1)));
    R_PreserveObject(made);
    UNPROTECT(form == 1 ? 1 : 2);
    *pattern = made;
  }
  return *pattern;
}

/* Gives a vector, which is protected, the attributes of a tensor. */
static void set_pattern(SEXP x, struct joist_type type, const struct joist_shape *shape, SEXP dim) {
  SHALLOW_DUPLICATE_ATTRIB(x, pattern_of(type, shape->rank));
  if (shape->rank < 2) return;
  if (dim == R_NilValue) dim = joist_r_shape_object(shape);
  joist_r_set_last_mark(x, R_DimSymbol, PROTECT(dim));
  UNPROTECT(1);
}

SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, const struct joist_shape *shape,
                         SEXP dim) {
  SEXP tensor = PROTECT(joist_r_view(payload, type.dtype));
  set_pattern(tensor, type, shape, dim);
  if (joist_r_has_exact_mark(type.dtype)) {
    SEXP mark = PROTECT(joist_r_exact_mark(mark_of(type)->object, payload));
    Rf_setAttrib(tensor, joist_r_dtype_symbol(), mark);
    UNPROTECT(1);
  }
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape) {
  return joist_r_tensor_with(payload, type, shape, R_NilValue);
}

/* ---- tensors without elements ---- */

static SEXP without_elements(SEXP trace, int number, struct joist_type type,
                             const struct joist_shape *shape) {
  double count = 1; /* an abstract tensor may have more than memory holds */
  for (int d = 0; d < shape->rank; d++) count *= shape->extent[d];
  SEXP x = PROTECT(joist_r_unknown(trace, number, joist_r_view_type(type.dtype), count));
  set_pattern(x, type, shape, R_NilValue);
  UNPROTECT(1);
  return x;
}

SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape) {
  SEXP x = PROTECT(without_elements(R_NilValue, 0, type, shape));
  Rf_setAttrib(x, R_ClassSymbol, joist_r_class(JOIST_R_ABSTRACT));
  UNPROTECT(1);
  return x;
}

SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape) {
  /* A literal argument of a jitted function has no value until its dtype is known: its
   * number is that of the argument, negative. */
  return without_elements(trace, literal ? -(int)value - 1 : (int)value, type, shape);
}

SEXP joist_r_object(struct joist_type type, const struct joist_shape *shape) {
  SEXP made = PROTECT(Rf_asS4(PROTECT(Rf_allocS4Object()), FALSE, 0));
  Rf_setAttrib(made, R_ClassSymbol, joist_r_class(JOIST_R_CONCRETE));
  Rf_setAttrib(made, joist_r_dtype_symbol(), joist_r_dtype_object(type.dtype));
  Rf_setAttrib(made, joist_r_field_symbol(JOIST_R_SHAPE), PROTECT(joist_r_shape_object(shape)));
  if (type.ambiguous)
    Rf_setAttrib(made, joist_r_field_symbol(JOIST_R_AMBIGUOUS), PROTECT(Rf_ScalarLogical(TRUE)));
  UNPROTECT(type.ambiguous ? 4 : 3);
  return made;
}
