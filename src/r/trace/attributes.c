/* Attributes of operations, from R values. */
#include "r/trace/attributes.h"

#include <math.h>
#include <string.h>

#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/tensor/delayed.h"
#include "r/tensor/dtypes.h"

static int64_t *room_for(size_t n) { return (int64_t *)R_alloc(n + 1, (int)sizeof(int64_t)); }

/* Compares CHARSXPs, of which R keeps one per string. JOIST_ATTRIBUTE_COUNT: not an attribute. */
static joist_attribute_name parse(SEXP text) {
  static SEXP names = NULL;
  if (names == NULL) {
    SEXP made = PROTECT(Rf_allocVector(STRSXP, JOIST_ATTRIBUTE_COUNT));
    for (int k = 0; k < JOIST_ATTRIBUTE_COUNT; k++)
      SET_STRING_ELT(made, k, Rf_mkChar(joist_attribute_text((joist_attribute_name)k)));
    R_PreserveObject(made);
    UNPROTECT(1);
    names = made;
  }
  const SEXP *const known = STRING_PTR_RO(names);
  int k = 0;
  while (k < JOIST_ATTRIBUTE_COUNT && known[k] != text) k++;
  return (joist_attribute_name)k;
}

/* The names of the dims of an operand, R_NilValue for none. */
static SEXP dim_names(SEXP operand) {
  if (joist_r_is_delayed(operand)) return Rf_getAttrib(operand, Rf_install("dimension_names"));
  SEXP list = Rf_getAttrib(operand, R_DimNamesSymbol);
  return list == R_NilValue ? R_NilValue : Rf_getAttrib(list, R_NamesSymbol);
}

SEXP joist_r_dims_by_name(SEXP dims, SEXP operand, SEXP argument) {
  if (TYPEOF(dims) != STRSXP) return dims;
  if (TYPEOF(operand) == S4SXP && !joist_r_is_delayed(operand))
    joist_r_stop(JOIST_ERROR_SHAPE,
                 "the names of dimensions are not known while a function is "
                 "traced; give their numbers");
  SEXP names = PROTECT(dim_names(operand));
  const R_xlen_t n = XLENGTH(dims), known = names == R_NilValue ? 0 : XLENGTH(names);
  SEXP numbers = PROTECT(Rf_allocVector(INTSXP, n));
  for (R_xlen_t k = 0; k < n; k++) {
    const char *const wanted = Rf_translateCharUTF8(STRING_ELT(dims, k));
    int found = 0, times = 0;
    for (R_xlen_t d = 0; d < known; d++)
      if (strcmp(Rf_translateCharUTF8(STRING_ELT(names, d)), wanted) == 0) {
        found = (int)d + 1;
        times++;
      }
    if (times != 1)
      joist_r_stop(JOIST_ERROR_SHAPE, "`%s`: %s named \"%s\"; see names(dimnames(x))",
                   joist_r_string(argument, "argument"),
                   times == 0 ? "no dimension is" : "several dimensions are", wanted);
    INTEGER(numbers)[k] = found;
  }
  UNPROTECT(2);
  return numbers;
}

SEXP joist_r_attributes_by_number(SEXP attributes, SEXP operand) {
  SEXP names = Rf_getAttrib(attributes, R_NamesSymbol), read = attributes;
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(read, &at);
  const R_xlen_t n = names == R_NilValue ? 0 : XLENGTH(attributes);
  for (R_xlen_t k = 0; k < n; k++) {
    SEXP value = VECTOR_ELT(attributes, k);
    if (TYPEOF(value) != STRSXP) continue;
    const joist_attribute_name name = parse(STRING_ELT(names, k));
    if (name != JOIST_ATTRIBUTE_DIM && name != JOIST_ATTRIBUTE_DIMS &&
        name != JOIST_ATTRIBUTE_PERMUTATION)
      continue;
    if (read == attributes) REPROTECT(read = Rf_shallow_duplicate(attributes), at);
    SEXP argument = PROTECT(Rf_ScalarString(STRING_ELT(names, k)));
    SET_VECTOR_ELT(read, k, joist_r_dims_by_name(value, operand, argument));
    UNPROTECT(1);
  }
  UNPROTECT(1);
  return read;
}

static const char *name_of(joist_attribute_name name) { return joist_attribute_text(name); }

/* Numbers that have to be whole, less `base`. */
static void set_numbers(struct joist_attributes *attributes, joist_attribute_name name, SEXP x,
                        int base) {
  const bool numbers = (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP) && !Rf_isObject(x);
  if (!numbers)
    joist_r_stop(JOIST_ERROR_SHAPE, "`%s` must be whole numbers, not %s", name_of(name),
                 Rf_type2char(TYPEOF(x)));
  const size_t n = (size_t)XLENGTH(x);
  int64_t *const list = room_for(n);
  for (size_t k = 0; k < n; k++) {
    const double number = TYPEOF(x) == REALSXP          ? REAL(x)[k]
                          : INTEGER(x)[k] == NA_INTEGER ? R_NaN
                                                        : INTEGER(x)[k];
    if (!(fabs(number) <= 2147483648.0) || number != floor(number))
      joist_r_stop(JOIST_ERROR_SHAPE, "`%s` must be whole numbers", name_of(name));
    list[k] = (int64_t)number - base;
  }
  joist_attributes_set_list(attributes, name, list, n);
}

void joist_r_set_dims(struct joist_attributes *attributes, SEXP dims, int rank) {
  int64_t *const list = room_for(JOIST_RANK_MAX);
  bool named[JOIST_RANK_MAX] = {false};
  R_xlen_t negative = 0;
  if (dims != R_NilValue &&
      ((TYPEOF(dims) != INTSXP && TYPEOF(dims) != REALSXP) || Rf_isObject(dims)))
    joist_r_stop(JOIST_ERROR_SHAPE, "`dims` must be whole numbers, not %s",
                 Rf_type2char(TYPEOF(dims)));
  const R_xlen_t n = dims == R_NilValue ? 0 : XLENGTH(dims);
  for (R_xlen_t k = 0; k < n; k++) {
    const bool missing = TYPEOF(dims) == INTSXP && INTEGER(dims)[k] == NA_INTEGER;
    const double d = TYPEOF(dims) == REALSXP ? REAL(dims)[k] : missing ? 0 : INTEGER(dims)[k];
    if (!(fabs(d) >= 1 && fabs(d) <= rank) || d != floor(d))
      JOIST_R_FAIL(JOIST_E_NO_DIMENSION, .number = {d}, .shape = {{.rank = rank}});
    const int at = (int)fabs(d) - 1;
    if (named[at]) joist_r_stop(JOIST_ERROR_SHAPE, "`dims` has dimension %d twice", at + 1);
    named[at] = true;
    negative += d < 0;
  }
  if (negative > 0 && negative < n)
    joist_r_stop(JOIST_ERROR_SHAPE, "`dims` must be all positive or all negative");
  const bool left_out = negative > 0 || dims == R_NilValue;
  size_t count = 0;
  for (int d = 0; d < rank; d++)
    if (named[d] != left_out) list[count++] = d;
  joist_attributes_set_list(attributes, JOIST_ATTRIBUTE_DIMS, list, count);
}

/* A dim of the first operand; without operands, of the shape that is asked for. */
static void set_dim(struct joist_attributes *attributes, SEXP x, const struct joist_shape *shape) {
  const double number = joist_r_number(x);
  const bool whole = number >= 1 && number <= JOIST_RANK_MAX && number == floor(number);
  const int dim = shape != NULL ? joist_r_dim(x, shape) : whole ? (int)number - 1 : -1;
  joist_attributes_set(attributes, JOIST_ATTRIBUTE_DIM, dim);
}

static void set_shape(struct joist_attributes *attributes, SEXP x) {
  struct joist_shape shape;
  joist_r_shape(x, &shape);
  joist_attributes_set_shape(attributes, &shape, room_for(JOIST_RANK_MAX));
}

static void set_one(struct joist_attributes *attributes, joist_attribute_name name, SEXP x) {
  const double number = joist_r_number(x);
  if (!(fabs(number) <= INT_MAX) || number != floor(number))
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be a whole number", name_of(name));
  joist_attributes_set(attributes, name, (int64_t)number);
}

static void set_number(struct joist_attributes *attributes, joist_attribute_name name, SEXP x) {
  const double number = joist_r_number(x);
  if (!R_FINITE(number))
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be a finite number", name_of(name));
  joist_attributes_set_number(attributes, name, number);
}

static void set(struct joist_attributes *attributes, joist_attribute_name name, SEXP x,
                const struct joist_shape *shape) {
  switch (joist_attribute_kind_of(name)) {
    case JOIST_ATTRIBUTE_IS_DIM:
      set_dim(attributes, x, shape);
      return;
    case JOIST_ATTRIBUTE_IS_DIMS:
      if (name == JOIST_ATTRIBUTE_DIMS)
        joist_r_set_dims(attributes, x, shape->rank);
      else
        set_numbers(attributes, name, x, 1);
      return;
    case JOIST_ATTRIBUTE_IS_POSITIONS:
      set_numbers(attributes, name, x, 1);
      return;
    case JOIST_ATTRIBUTE_IS_COUNTS:
      set_numbers(attributes, name, x, 0);
      return;
    case JOIST_ATTRIBUTE_IS_COUNT:
      set_one(attributes, name, x);
      return;
    case JOIST_ATTRIBUTE_IS_FLAG:
      joist_attributes_set(attributes, name, joist_r_flag(x, name_of(name)));
      return;
    case JOIST_ATTRIBUTE_IS_EXTENTS:
      set_shape(attributes, x);
      return;
    case JOIST_ATTRIBUTE_IS_NUMBER:
      set_number(attributes, name, x);
      return;
    case JOIST_ATTRIBUTE_IS_DTYPE: /* with its flag, which is another element of the list */
      return;
  }
}

struct joist_attributes joist_r_attributes(joist_op op, SEXP list,
                                           const struct joist_shape *shape) {
  struct joist_attributes attributes = {.count = 0};
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  const R_xlen_t n = names == R_NilValue ? 0 : XLENGTH(names);
  SEXP ambiguous = NULL, dtype = R_NilValue;
  for (R_xlen_t k = 0; k < n; k++) {
    SEXP text = STRING_ELT(names, k), value = VECTOR_ELT(list, k);
    const joist_attribute_name name = parse(text);
    const bool unknown = name == JOIST_ATTRIBUTE_COUNT;
    if (unknown && strcmp(CHAR(text), "ambiguous") == 0) {
      ambiguous = value;
      continue;
    }
    const bool optional = name == JOIST_ATTRIBUTE_DIM || name == JOIST_ATTRIBUTE_DTYPE;
    if (value == R_NilValue && optional) continue;
    if (name == JOIST_ATTRIBUTE_COUNT || (joist_operation(op)->attributes >> name & 1) == 0)
      joist_r_stop(JOIST_ERROR_VALUE, "nv_%s() has no attribute `%s`", joist_op_name(op),
                   CHAR(text));
    if (name == JOIST_ATTRIBUTE_DTYPE)
      dtype = value;
    else if (joist_attributes_find(&attributes, name) == NULL)
      set(&attributes, name, value, shape);
  }
  const bool is_ambiguous = ambiguous != NULL && joist_r_flag(ambiguous, "ambiguous");
  if (dtype != R_NilValue)
    joist_attributes_set_type(&attributes, (struct joist_type){joist_r_dtype(dtype), is_ambiguous});
  return attributes;
}
