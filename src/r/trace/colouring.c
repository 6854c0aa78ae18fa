/* Colours of the columns of sparse matrices. */
#include "r/trace/colouring.h"

#include "core/program/colouring.h"

static bool *flags_of(SEXP given) {
  const R_xlen_t n = XLENGTH(given);
  bool *const flags = (bool *)R_alloc((size_t)n + 1, sizeof *flags);
  for (R_xlen_t k = 0; k < n; k++) flags[k] = LOGICAL(given)[k] != 0;
  return flags;
}

SEXP joist_r_colour_columns(SEXP start, SEXP row, SEXP row_start, SEXP column, SEXP alone,
                            SEXP skip) {
  const struct joist_columns columns = {(size_t)XLENGTH(start) - 1, INTEGER(start), INTEGER(row)};
  const struct joist_columns rows = {(size_t)XLENGTH(row_start) - 1, INTEGER(row_start),
                                     INTEGER(column)};
  int32_t *const room = (int32_t *)R_alloc(columns.count + 1, sizeof *room);
  SEXP colours = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)columns.count));
  (void)joist_colour_columns(&columns, &rows, flags_of(alone), flags_of(skip), INTEGER(colours),
                             room);
  for (size_t j = 0; j < columns.count; j++) INTEGER(colours)[j]++;
  UNPROTECT(1);
  return colours;
}
