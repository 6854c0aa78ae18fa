/* The class and the fields of a tensor without elements are its attributes, in the order of
 * joist_r_field_name unless someone changed it. Rf_getAttrib() would do for most of them, but marks
 * what it gives as shared, for good: a payload that was once read so could never again be assigned
 * to in place. R 4.6 has R_mapAttrib() for that, before it packages read the list of attributes
 * themselves. */
#include "r/base/tensor_fields.h"

#include <Rversion.h>

#ifndef JOIST_R_HAS_MAP
#define JOIST_R_HAS_MAP (R_VERSION >= R_Version(4, 6, 0))
#endif

SEXP joist_r_field_symbol(joist_r_field_name name) {
  static const char *const names[] = {"payload", "dtype", "shape", "ambiguous"};
  static SEXP symbols[sizeof names / sizeof *names];
  if (symbols[sizeof names / sizeof *names - 1] == NULL)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) symbols[k] = Rf_install(names[k]);
  return symbols[name];
}

SEXP joist_r_dtype_symbol(void) { return joist_r_field_symbol(JOIST_R_DTYPE); }

SEXP joist_r_rank_symbol(void) {
  static SEXP symbol = NULL;
  if (symbol == NULL) symbol = Rf_install("rank");
  return symbol;
}

static void put_mark(SEXP tag, SEXP value, struct joist_r_marks *marks) {
  if (tag == R_ClassSymbol)
    marks->class = value;
  else if (tag == R_DimSymbol)
    marks->dim = value;
  else if (tag == R_DimNamesSymbol)
    marks->dimnames = value;
  else if (tag == R_NamesSymbol)
    marks->names = value;
  else if (tag == joist_r_dtype_symbol())
    marks->dtype = value;
  else if (tag == joist_r_rank_symbol())
    marks->rank = value;
}

static struct joist_r_marks no_marks(void) {
  return (struct joist_r_marks){R_NilValue, R_NilValue, R_NilValue,
                                R_NilValue, R_NilValue, R_NilValue};
}

#if JOIST_R_HAS_MAP

static SEXP map_mark(SEXP tag, SEXP value, void *marks) {
  put_mark(tag, value, marks);
  return NULL;
}

void joist_r_read_marks(SEXP x, struct joist_r_marks *marks) {
  *marks = no_marks();
  R_mapAttrib(x, map_mark, marks);
}

void joist_r_set_last_mark(SEXP x, SEXP symbol, SEXP value) { Rf_setAttrib(x, symbol, value); }

/* ---- the functions that R calls with each attribute: they go on while they return NULL ---- */

static SEXP equal_tag(SEXP tag, SEXP value, void *wanted) {
  return tag == (SEXP)wanted ? value : NULL;
}

static SEXP put_field(SEXP tag, SEXP value, void *fields) {
  for (int k = JOIST_R_PAYLOAD; k <= JOIST_R_AMBIGUOUS; k++)
    if (tag == joist_r_field_symbol((joist_r_field_name)k)) ((SEXP *)fields)[k] = value;
  return NULL;
}

static SEXP class_or_nil(SEXP tag, SEXP value, void *unused) {
  (void)unused;
  return tag == R_ClassSymbol ? value : R_NilValue;
}

/* ---- and what is asked with them ---- */

SEXP joist_r_field(SEXP x, joist_r_field_name name) {
  SEXP found = R_mapAttrib(x, equal_tag, joist_r_field_symbol(name));
  return found == NULL ? R_NilValue : found;
}

void joist_r_read_fields(SEXP x, SEXP fields[JOIST_R_AMBIGUOUS + 1]) {
  for (int k = JOIST_R_PAYLOAD; k <= JOIST_R_AMBIGUOUS; k++) fields[k] = R_NilValue;
  R_mapAttrib(x, put_field, fields);
}

SEXP joist_r_first_class(SEXP x) {
  SEXP found = R_mapAttrib(x, class_or_nil, NULL);
  return found == NULL ? R_NilValue : found;
}

#else

void joist_r_read_marks(SEXP x, struct joist_r_marks *marks) {
  *marks = no_marks();
  for (SEXP cell = ATTRIB(x); TYPEOF(cell) == LISTSXP; cell = CDR(cell))
    put_mark(TAG(cell), CAR(cell), marks);
}

void joist_r_set_last_mark(SEXP x, SEXP symbol, SEXP value) {
  SEXP cell = ATTRIB(x);
  while (CDR(cell) != R_NilValue) cell = CDR(cell);
  if (TAG(cell) == symbol) SETCAR(cell, value);
}

static SEXP first_field(SEXP x) { return CDR(ATTRIB(x)); }

/* Attributes from a damaged file may end in a non-list that leads back to itself: stops there. */
static SEXP field_cell(SEXP x, joist_r_field_name name) {
  SEXP symbol = joist_r_field_symbol(name);
  SEXP cell = ATTRIB(x);
  while (TYPEOF(cell) == LISTSXP && TAG(cell) != symbol) cell = CDR(cell);
  return TYPEOF(cell) == LISTSXP ? cell : R_NilValue;
}

SEXP joist_r_field(SEXP x, joist_r_field_name name) { return CAR(field_cell(x, name)); }

/* In one walk where they are in order. */
void joist_r_read_fields(SEXP x, SEXP fields[JOIST_R_AMBIGUOUS + 1]) {
  SEXP cell = first_field(x);
  for (int k = JOIST_R_PAYLOAD; k <= JOIST_R_AMBIGUOUS; k++) {
    if (TAG(cell) == joist_r_field_symbol((joist_r_field_name)k)) {
      fields[k] = CAR(cell);
      cell = CDR(cell);
    } else {
      fields[k] = cell == R_NilValue ? cell : joist_r_field(x, (joist_r_field_name)k);
    }
  }
}

SEXP joist_r_first_class(SEXP x) {
  SEXP cell = ATTRIB(x);
  return TAG(cell) == R_ClassSymbol ? CAR(cell) : R_NilValue;
}

#endif

bool joist_r_has_attributes(SEXP x) {
#if R_VERSION >= R_Version(4, 5, 0)
  return ANY_ATTRIB(x) != 0;
#else
  return ATTRIB(x) != R_NilValue;
#endif
}
