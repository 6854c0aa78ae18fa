/* Columns of data frames, as R's vectors and back. vctrs asks for each of many groups. */
#include "r/arrays/column.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/types/dtypes.h"
#include "r/arrays/tensor_create.h"
#include "r/arrays/tensor_export.h"
#include "r/base/vector.h"
#include "r/call/transfer.h"
#include "r/memory/payload.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/mask.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"
#include "r/tensor/tensor.h"

static bool is_wide(joist_dtype dtype) { return dtype == JOIST_I64 || dtype == JOIST_UI64; }

static bool has_mark(SEXP x, const char *name) {
  return Rf_getAttrib(x, Rf_install(name)) != R_NilValue;
}

/* A number from 1 on of the dtype of two columns, ambiguous or not; 0 if they differ in it, or
 * either is not a tensor of rank 0 or 1 or is marked. */
SEXP joist_r_column_kind(SEXP x, SEXP y) {
  int kind = 0;
  SEXP columns[] = {x, y};
  for (int k = 0; k < 2; k++) {
    struct joist_type type;
    struct joist_shape shape;
    if (!joist_r_describe(columns[k], &type, &shape) || shape.rank > 1 ||
        has_mark(columns[k], "found") || has_mark(columns[k], "beyond"))
      return Rf_ScalarInteger(0);
    const int own = 1 + 2 * (int)type.dtype + (type.ambiguous ? 1 : 0);
    if (k == 1 && own != kind) return Rf_ScalarInteger(0);
    kind = own;
  }
  return Rf_ScalarInteger(kind);
}

/* R's numbers that hold every value of the dtype. Of 64-bit integers they are complex: the bits,
 * and `imaginary`, or NA where a value is missing. NULL for a tensor without elements. */
SEXP joist_r_column_values(SEXP x, SEXP imaginary) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  if (value.form != JOIST_R_CONCRETE && value.form != JOIST_R_REMOTE) return R_NilValue;
  const joist_dtype dtype = value.argument.operand.type.dtype;
  if (!is_wide(dtype)) {
    /* R's integers do not hold -2^31. */
    SEXP as = PROTECT(dtype == JOIST_I32 ? Rf_mkString("double") : R_NilValue);
    SEXP lossy = PROTECT(Rf_ScalarLogical(dtype == JOIST_I32));
    SEXP values = joist_r_as_array(x, as, lossy, PROTECT(Rf_ScalarReal(R_PosInf)));
    UNPROTECT(3);
    return values;
  }
  PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, value.count) : x);
  SEXP values = PROTECT(Rf_allocVector(CPLXSXP, (R_xlen_t)value.count));
  Rcomplex *const pairs = COMPLEX(values);
  const double part = Rf_asReal(imaginary);
  for (size_t k = 0; k < value.count; k++) {
    memcpy(&pairs[k].r, (const char *)value.data + k * sizeof pairs[k].r, sizeof pairs[k].r);
    pairs[k].i = value.mask != NULL && value.mask[k] ? NA_REAL : part;
  }
  UNPROTECT(2);
  return values;
}

/* The upper and lower 32 bits of 64-bit integers, which order and compare as these do. */
SEXP joist_r_column_halves(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, value.count) : x);
  const bool is_signed = value.argument.operand.type.dtype == JOIST_I64;
  SEXP halves = PROTECT(Rf_allocVector(VECSXP, 2));
  for (R_xlen_t k = 0; k < 2; k++)
    SET_VECTOR_ELT(halves, k, Rf_allocVector(REALSXP, (R_xlen_t)value.count));
  double *const high = REAL(VECTOR_ELT(halves, 0)), *const low = REAL(VECTOR_ELT(halves, 1));
  for (size_t k = 0; k < value.count; k++) {
    uint64_t bits;
    memcpy(&bits, (const char *)value.data + k * sizeof bits, sizeof bits);
    const uint32_t top = (uint32_t)(bits >> 32);
    const bool missing = value.mask != NULL && value.mask[k];
    high[k] = missing ? NA_REAL : is_signed ? (double)(int32_t)top : (double)top;
    low[k] = missing ? NA_REAL : (double)(uint32_t)bits;
  }
  UNPROTECT(2);
  return halves;
}

/* The tensor of values as joist_r_column_values() gives them; NULL if some may not fit the dtype.
 */
SEXP joist_r_column_restored(SEXP values, SEXP to) {
  if (has_mark(to, "found") || has_mark(to, "beyond")) return R_NilValue;
  struct joist_r_value model;
  joist_r_read_missing(joist_r_rules(R_NilValue), to, &model);
  const struct joist_type type = model.argument.operand.type;
  const R_xlen_t n = Rf_xlength(values);
  if (n > UINT32_MAX) return R_NilValue;
  if (!is_wide(type.dtype) || TYPEOF(values) != CPLXSXP) {
    SEXP dtype = joist_r_dtype_object(type.dtype);
    SEXP shape = PROTECT(Rf_ScalarReal((double)n));
    SEXP ambiguous = PROTECT(Rf_ScalarLogical(type.ambiguous));
    SEXP tensor =
        joist_r_make(values, dtype, shape, ambiguous, PROTECT(Rf_mkString("missing")), R_NilValue);
    UNPROTECT(3);
    return tensor;
  }
  const Rcomplex *const pairs = COMPLEX_RO(values);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, (size_t)n));
  SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, (size_t)n));
  char *const elements = joist_r_elements(payload);
  uint8_t *const missing = joist_r_elements(mask);
  for (R_xlen_t k = 0; k < n; k++) {
    if (pairs[k].i == 1) {
      UNPROTECT(2);
      return R_NilValue;
    }
    missing[k] = isnan(pairs[k].i) != 0;
    if (missing[k])
      memset(elements + (size_t)k * sizeof pairs[k].r, 0, sizeof pairs[k].r);
    else
      memcpy(elements + (size_t)k * sizeof pairs[k].r, &pairs[k].r, sizeof pairs[k].r);
  }
  const struct joist_shape shape = {.rank = 1, .extent = {(uint32_t)n}};
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, &shape));
  if (memchr(missing, 1, (size_t)n) != NULL) joist_r_set_mask(tensor, mask);
  SEXP names = PROTECT(Rf_getAttrib(values, R_NamesSymbol));
  if (names != R_NilValue) Rf_setAttrib(tensor, R_NamesSymbol, names);
  UNPROTECT(4);
  return tensor;
}
