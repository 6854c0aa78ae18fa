#include "r/trace/trace_names.h"

#include "core/promotion/builtin_rules.h"
#include "r/base/conditions.h"
#include "r/base/poison.h"
#include "r/tensor/name_references.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/trace/trace.h"

/* ---- while a function is traced ---- */

/* Sets an element of a list that the trace keeps, which grows as needed. */
static void keep(SEXP pointer, int list, uint32_t at, SEXP what) {
  SEXP kept = R_ExternalPtrProtected(pointer), all = VECTOR_ELT(kept, list);
  PROTECT(what);
  if (all == R_NilValue || XLENGTH(all) <= (R_xlen_t)at) {
    const R_xlen_t wanted = 2 * (R_xlen_t)at + 8;
    all = all == R_NilValue ? Rf_allocVector(VECSXP, wanted) : Rf_xlengthgets(all, wanted);
    SET_VECTOR_ELT(kept, list, all);
  }
  SET_VECTOR_ELT(all, (R_xlen_t)at, what);
  UNPROTECT(1);
}

static SEXP kept_at(SEXP pointer, int list, uint32_t at) {
  SEXP all = VECTOR_ELT(R_ExternalPtrProtected(pointer), list);
  return all == R_NilValue || XLENGTH(all) <= (R_xlen_t)at ? R_NilValue
                                                           : VECTOR_ELT(all, (R_xlen_t)at);
}

void joist_r_name_traced(SEXP tensor, SEXP names) {
  struct joist_r_unknown unknown;
  struct joist_type type;
  struct joist_shape shape;
  if (names == R_NilValue || !joist_r_unknown_read(tensor, &unknown) ||
      !joist_r_describe(tensor, &type, &shape))
    return;
  joist_r_set_names(tensor, names, shape.rank);
  if (unknown.number < 0 || unknown.trace == R_NilValue) return;
  const uint32_t number = (uint32_t)unknown.number;
  if (kept_at(unknown.trace, JOIST_R_VALUE_NAMES, number) == R_NilValue)
    keep(unknown.trace, JOIST_R_VALUE_NAMES, number, names);
}

SEXP joist_r_trace_names(SEXP pointer, joist_value_id value) {
  return kept_at(pointer, JOIST_R_VALUE_NAMES, value);
}

void joist_r_name_argument(SEXP tensor, uint32_t leaf, SEXP names) {
  struct joist_r_unknown unknown;
  if (names == R_NilValue || !joist_r_unknown_read(tensor, &unknown)) return;
  /* Not Rf_ScalarLogical(), whose objects R shares. */
  SEXP asked = PROTECT(Rf_allocVector(LGLSXP, 1)), note = PROTECT(Rf_allocVector(VECSXP, 2));
  LOGICAL(asked)[0] = FALSE;
  SET_VECTOR_ELT(note, 0, names);
  SET_VECTOR_ELT(note, 1, asked);
  keep(unknown.trace, JOIST_R_ARGUMENT_NAMES, leaf, note);
  SEXP references = R_NilValue;
  if (TYPEOF(names) == STRSXP) {
    references = joist_r_names_of_argument(leaf, 0, names, asked);
  } else {
    references = Rf_shallow_duplicate(names);
    PROTECT(references);
    for (R_xlen_t d = 0; d < XLENGTH(names); d++)
      if (VECTOR_ELT(names, d) != R_NilValue)
        SET_VECTOR_ELT(references, d,
                       joist_r_names_of_argument(leaf, (int)d, VECTOR_ELT(names, d), asked));
    UNPROTECT(1);
  }
  joist_r_name_traced(tensor, PROTECT(references));
  UNPROTECT(3);
}

/* ---- when it has been traced ---- */

/* The number of the output that a traced index becomes. */
static int add_index(SEXP index, void *pointer) {
  struct joist_r_value value;
  struct joist_r_trace *const trace = joist_r_trace_of((SEXP)pointer);
  joist_r_read_missing(joist_rules_at(0), index, &value);
  if (value.payload != (SEXP)pointer)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the names of a result depend on positions that are computed in a branch or loop; "
                 "leave the names out with unname()");
  struct joist_error error;
  const joist_value_id number =
      joist_r_trace_number((SEXP)pointer, &value, value.argument.operand.type);
  joist_r_raise_if(joist_program_add_output(&trace->program, number, &error), &error);
  return (int)trace->program.output_count - 1;
}

/* Raises the error of undecided names. */
static void check_decided(SEXP names) {
  SEXP condition = joist_r_undecided_by(names);
  if (condition == R_NilValue) return;
  joist_r_poison_by(condition);
  joist_r_poison_check();
}

void joist_r_note_output_names(SEXP pointer, uint32_t output, SEXP names) {
  if (names == R_NilValue) return;
  check_decided(names);
  keep(pointer, JOIST_R_OUTPUT_NAMES, output, names);
  joist_r_output_positions(names, add_index, pointer);
}

bool joist_r_fits_names(SEXP pointer, SEXP (*names)(uint32_t leaf, const void *context),
                        const void *context) {
  SEXP all = VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_ARGUMENT_NAMES);
  for (R_xlen_t k = 0; all != R_NilValue && k < XLENGTH(all); k++) {
    SEXP note = VECTOR_ELT(all, k);
    if (note != R_NilValue && LOGICAL(VECTOR_ELT(note, 1))[0] &&
        !joist_r_same_names(VECTOR_ELT(note, 0), names((uint32_t)k, context)))
      return false;
  }
  return true;
}

/* ---- .Call entry points ---- */

SEXP joist_r_named_like(SEXP x, SEXP like) {
  struct joist_r_value value;
  if (!joist_r_is_unknown(x)) return x;
  joist_r_read_missing(joist_r_rules(R_NilValue), like, &value);
  SEXP named = PROTECT(Rf_shallow_duplicate(x));
  struct joist_type type;
  struct joist_shape shape;
  if (joist_r_describe(x, &type, &shape) && joist_shape_equal(&shape, &value.argument.shape)) {
    if (value.names == R_NilValue)
      Rf_setAttrib(named, shape.rank == 1 ? R_NamesSymbol : R_DimNamesSymbol, R_NilValue);
    joist_r_name_traced(named, value.names);
  }
  UNPROTECT(1);
  return named;
}

static SEXP labels_of(SEXP x) {
  SEXP names = Rf_getAttrib(x, R_DimNamesSymbol);
  return names == R_NilValue ? Rf_getAttrib(x, R_NamesSymbol) : names;
}

SEXP joist_r_decided(SEXP x) {
  check_decided(labels_of(x));
  return x;
}

SEXP joist_r_are_undecided(SEXP x) {
  return Rf_ScalarLogical(joist_r_undecided_by(labels_of(x)) != R_NilValue);
}

SEXP joist_r_with_undecided(SEXP x, SEXP condition) {
  struct joist_type type;
  struct joist_shape shape;
  if (!joist_r_describe(x, &type, &shape) || shape.rank == 0) return x;
  SEXP named = PROTECT(Rf_shallow_duplicate(x));
  SEXP all = PROTECT(Rf_allocVector(VECSXP, shape.rank));
  for (int d = 0; d < shape.rank; d++)
    SET_VECTOR_ELT(all, d, joist_r_names_undecided(condition, (R_xlen_t)shape.extent[d]));
  joist_r_name_traced(named, shape.rank == 1 ? VECTOR_ELT(all, 0) : all);
  UNPROTECT(2);
  return named;
}
