/* Reading indices. */
#include "r/arrays/index.h"

#include <R_ext/Altrep.h>
#include <string.h>

#include "core/ops/move/mask.h"
#include "core/types/convert.h"
#include "r/base/conditions.h"
#include "r/call/transfer.h"
#include "r/memory/run.h"
#include "r/tensor/rules.h"

static _Noreturn void not_an_index(const char *what) {
  joist_r_stop(JOIST_ERROR_VALUE, "a tensor must be indexed by numbers or logicals, not by %s",
               what);
}

static const char *name_of_kind(SEXP object) {
  SEXP class = Rf_getAttrib(object, R_ClassSymbol);
  if (TYPEOF(class) == STRSXP && XLENGTH(class) > 0) return CHAR(STRING_ELT(class, 0));
  if (TYPEOF(object) == STRSXP) return Rf_isMatrix(object) ? "a matrix of names" : "names";
  return Rf_type2char(TYPEOF(object));
}

void joist_r_list_mask(const uint8_t *mask, size_t extent, struct joist_index *index) {
  const struct joist_run run = joist_r_run();
  size_t *const before = (size_t *)R_alloc(joist_mask_blocks(extent) + 1, (int)sizeof(size_t));
  struct joist_error error;
  const joist_status status = joist_mask_count(mask, extent, before, &run, &error);
  joist_r_raise_if(status, &error);
  const size_t count = before[joist_mask_blocks(extent)];
  size_t first = 0;
  while (first < extent && !(mask[first] & 1)) first++;
  size_t end = extent;
  while (end > first && !(mask[end - 1] & 1)) end--;
  if (end - first == count) { /* as x[-1] has it */
    *index = (struct joist_index){
        .kind = JOIST_INDEX_RANGE, .count = count, .start = (int64_t)first, .step = 1};
    return;
  }
  int64_t *const positions = (int64_t *)R_alloc(count + 1, (int)sizeof *positions);
  joist_mask_positions(mask, extent, positions);
  *index = joist_index_of(positions, count);
}

static uint8_t *bytes(size_t n) { return (uint8_t *)R_alloc(n + 1, 1); }

/* Raises the error of an index, unless it is an NA that may be there. */
static bool is_missing(joist_status status, const struct joist_error *error,
                       struct joist_r_index *index) {
  if (status == JOIST_OK) return false;
  if (index->missing == NULL || error->code != JOIST_E_INDEX_NA) joist_r_raise(status, error);
  *index->missing = true;
  return true;
}

static void read_numbers(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                         int dim, struct joist_r_index *index) {
  joist_index_need need;
  struct joist_error error;
  const joist_status status =
      joist_index_scan(kind, vector, n, extent, dim, &index->positions, &need, &error);
  if (is_missing(status, &error, index)) return;
  if (need == JOIST_INDEX_ZEROS) {
    const size_t count = index->positions.count;
    int64_t *const positions = (int64_t *)R_alloc(count + 1, (int)sizeof *positions);
    joist_index_nonzero(&index->positions, n, positions);
    index->positions = joist_index_of(positions, count);
  } else if (need == JOIST_INDEX_EXCLUDE) {
    uint8_t *const mask = bytes(extent);
    joist_index_exclude(&index->positions, n, extent, mask);
    joist_r_list_mask(mask, extent, &index->positions);
  }
}

/* Reads 1:n and the like, which R keeps as length, first entry and step (+1 or -1) until the
 * entries are asked for. These numbers are checked against the length and entries of the vector. */
static bool read_compact(SEXP x, size_t extent, struct joist_r_index *index) {
  if (!ALTREP(x) || XLENGTH(x) < 2 || DATAPTR_OR_NULL(x) != NULL) return false;
  SEXP sequence = R_altrep_data1(x);
  if (TYPEOF(sequence) != REALSXP || XLENGTH(sequence) != 3) return false;
  const bool whole = TYPEOF(x) == INTSXP;
  const R_xlen_t n = XLENGTH(x);
  const double length = REAL(sequence)[0], from = REAL(sequence)[1], step = REAL(sequence)[2];
  const double first = whole ? INTEGER_ELT(x, 0) : REAL_ELT(x, 0);
  const double second = whole ? INTEGER_ELT(x, 1) : REAL_ELT(x, 1);
  const double last = whole ? INTEGER_ELT(x, n - 1) : REAL_ELT(x, n - 1);
  const double most = (double)extent;
  if (length != (double)n || from != first || second - first != step || (step != 1 && step != -1) ||
      last - first != step * ((double)n - 1))
    return false;
  if (!(first >= 1 && last >= 1 && first <= most && last <= most) ||
      first != (double)(int64_t)first)
    return false;
  index->positions = (struct joist_index){.kind = JOIST_INDEX_RANGE,
                                          .count = (size_t)n,
                                          .start = (int64_t)first - 1,
                                          .step = (int64_t)step};
  return true;
}

static void read_logical(const int32_t *logical, size_t n, size_t extent, int dim,
                         struct joist_r_index *index) {
  uint8_t *const mask = bytes(extent);
  struct joist_error error;
  const joist_status status = joist_index_logical(logical, n, extent, dim, mask, &error);
  if (is_missing(status, &error, index)) return;
  index->mask = mask;
}

/* A bool tensor: its own bytes where there is one for every position. */
static void read_mask(const struct joist_r_value *value, size_t extent, int dim,
                      struct joist_r_index *index) {
  const uint8_t *const own = value->data;
  if (value->count == extent) {
    index->mask = own;
    return;
  }
  struct joist_error error;
  if (value->count > extent)
    joist_r_raise(
        joist_index_out_of_range((double)value->count, value->count - 1, extent, dim, &error),
        &error);
  uint8_t *const mask = bytes(extent);
  for (size_t k = 0; k < extent; k++) mask[k] = value->count == 0 ? 0 : own[k % value->count];
  index->mask = mask;
}

static void read_tensor(SEXP object, size_t extent, int dim, struct joist_r_index *index) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), object, &value);
  joist_r_fetch_briefly(&value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  if (value.form == JOIST_R_TRACED) {
    index->traced = object;
    return;
  }
  if (joist_r_has_missing(&value) && value.form == JOIST_R_CONCRETE) {
    const uint8_t *const first = memchr(value.mask, 1, value.count);
    struct joist_error error;
    const joist_status status = JOIST_FAIL(&error, JOIST_E_INDEX_NA, .dim = dim,
                                           .position = (size_t)(first - value.mask) + 1);
    if (is_missing(status, &error, index)) return;
  }
  if (value.form == JOIST_R_ABSTRACT)
    joist_r_stop(JOIST_ERROR_VALUE, "an nv_aval() has no values and cannot be an index");
  joist_dtype read = JOIST_I64;
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
      read_mask(&value, extent, dim, index);
      return;
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      if (dtype == JOIST_I32) read = JOIST_I32;
      break;
    case JOIST_KIND_FLOAT:
      read = JOIST_F64;
      break;
    case JOIST_KIND_COMPLEX:
      not_an_index("complex numbers");
  }
  const void *data = value.data;
  if (dtype != read) {
    void *const converted = R_alloc(value.count + 1, 8);
    joist_convert_find(dtype, read)(value.count, value.data, converted);
    data = converted;
  }
  const joist_index_kind kind = read == JOIST_I32   ? JOIST_INDEX_I32
                                : read == JOIST_F64 ? JOIST_INDEX_F64
                                                    : JOIST_INDEX_I64;
  read_numbers(kind, data, value.count, extent, dim, index);
}

void joist_r_read_index(SEXP object, size_t extent, int dim, bool listed, bool *missing,
                        struct joist_r_index *index) {
  *index = (struct joist_r_index){.positions = joist_index_all(extent), .missing = missing};
  if (object == R_NilValue) return;
  if (Rf_inherits(object, "nv_tensor")) {
    read_tensor(object, extent, dim, index);
  } else if (Rf_isObject(object) && !Rf_inherits(object, "AsIs") && !Rf_inherits(object, "table")) {
    if (TYPEOF(object) != REALSXP || !Rf_inherits(object, "integer64"))
      not_an_index(name_of_kind(object));
    read_numbers(JOIST_INDEX_I64, REAL(object), (size_t)XLENGTH(object), extent, dim, index);
  } else {
    const size_t n = (size_t)Rf_xlength(object);
    switch (TYPEOF(object)) {
      case LGLSXP:
        read_logical(LOGICAL(object), n, extent, dim, index);
        break;
      case INTSXP:
        if (!read_compact(object, extent, index))
          read_numbers(JOIST_INDEX_I32, INTEGER(object), n, extent, dim, index);
        break;
      case REALSXP:
        if (!read_compact(object, extent, index))
          read_numbers(JOIST_INDEX_F64, REAL(object), n, extent, dim, index);
        break;
      default:
        not_an_index(name_of_kind(object));
    }
  }
  if (!listed || index->mask == NULL) return;
  joist_r_list_mask(index->mask, extent, &index->positions);
  index->mask = NULL;
}

SEXP joist_r_empty_indices(SEXP call, SEXP n) {
  const int count = Rf_asInteger(n);
  if (TYPEOF(call) != LANGSXP || count < 0)
    joist_r_stop(JOIST_ERROR_VALUE, "a call and the number of its indices are needed");
  SEXP empty = PROTECT(Rf_allocVector(LGLSXP, count));
  int found = 0;
  bool dots = false;
  if (count > 0) memset(LOGICAL(empty), 0, (size_t)count * sizeof(int));
  for (SEXP argument = CDDR(call); argument != R_NilValue; argument = CDR(argument)) {
    const char *const name = TAG(argument) == R_NilValue ? "" : CHAR(PRINTNAME(TAG(argument)));
    if (strcmp(name, "drop") == 0 || strcmp(name, "value") == 0 || strcmp(name, "exact") == 0)
      continue;
    dots |= CAR(argument) == R_DotsSymbol;
    if (found < count) LOGICAL(empty)[found] = CAR(argument) == R_MissingArg;
    found++;
  }
  if ((dots || found != count) && count > 0) memset(LOGICAL(empty), 0, (size_t)count * sizeof(int));
  UNPROTECT(1);
  return empty;
}
