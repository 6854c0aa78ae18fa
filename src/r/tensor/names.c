/* Follows names through operations. */
#include "r/tensor/names.h"

#include "core/types/host.h"
#include "r/tensor/mask.h"
#include "r/tensor/name_references.h"

SEXP joist_r_names_along(SEXP names, int rank, int d) {
  if (rank == 1) return TYPEOF(names) == STRSXP ? names : R_NilValue;
  return TYPEOF(names) == VECSXP && XLENGTH(names) == rank ? VECTOR_ELT(names, d) : R_NilValue;
}

/* The name of a dim, as in names(dimnames(x)); empty if it has none. */
static SEXP label_of(SEXP names, int rank, int d) {
  SEXP labels = rank >= 2 && names != R_NilValue ? Rf_getAttrib(names, R_NamesSymbol) : R_NilValue;
  return TYPEOF(labels) == STRSXP && XLENGTH(labels) > d ? STRING_ELT(labels, d) : R_BlankString;
}

/* ---- the dimnames of a result, while they are collected ---- */

SEXP joist_r_names_list(int rank) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, rank));
  Rf_setAttrib(list, R_NamesSymbol, PROTECT(Rf_allocVector(STRSXP, rank)));
  UNPROTECT(2);
  return list;
}

static void set_label(SEXP list, int k, SEXP label) {
  SET_STRING_ELT(Rf_getAttrib(list, R_NamesSymbol), k, label);
}

SEXP joist_r_names_in(SEXP list, int rank, bool dropped) {
  SEXP labels = Rf_getAttrib(list, R_NamesSymbol);
  bool any = false, labelled = false;
  for (int d = 0; d < rank; d++) {
    if (dropped && Rf_xlength(VECTOR_ELT(list, d)) == 0) SET_VECTOR_ELT(list, d, R_NilValue);
    any |= VECTOR_ELT(list, d) != R_NilValue;
    labelled |= STRING_ELT(labels, d) != R_BlankString;
  }
  if (rank == 1) return VECTOR_ELT(list, 0);
  if (!any && (dropped || !labelled)) return R_NilValue;
  if (!labelled) Rf_setAttrib(list, R_NamesSymbol, R_NilValue);
  return list;
}

/* R drops dimnames without any names, unless there is a vector of none among them, as there is when
 * no position of a dim is left. */
static bool is_blank(SEXP names) {
  if (TYPEOF(names) != VECSXP || Rf_getAttrib(names, R_NamesSymbol) != R_NilValue) return false;
  bool any = false;
  for (R_xlen_t d = 0; d < XLENGTH(names); d++) any |= VECTOR_ELT(names, d) != R_NilValue;
  return !any;
}

static SEXP kept_by_r(SEXP names) {
  if (!is_blank(names)) return names;
  SEXP kept = PROTECT(Rf_shallow_duplicate(names));
  SET_VECTOR_ELT(kept, 0, Rf_allocVector(STRSXP, 0));
  UNPROTECT(1);
  return kept;
}

void joist_r_set_names(SEXP tensor, SEXP names, int rank) {
  if (names == R_NilValue || rank == 0) return;
  if (rank == 1)
    Rf_setAttrib(tensor, R_NamesSymbol, names);
  else
    Rf_setAttrib(tensor, R_DimNamesSymbol, PROTECT(kept_by_r(names)));
  if (rank > 1) UNPROTECT(1);
}

/* ---- one dim ---- */

void joist_r_select_names(const struct joist_r_value *x, int d, const struct joist_index *positions,
                          SEXP list, int k) {
  enum { BLOCK = 256 };
  const int rank = x->argument.shape.rank;
  SEXP names = joist_r_names_along(x->names, rank, d);
  set_label(list, k, label_of(x->names, rank, d));
  if (names == R_NilValue) return;
  if (positions->kind == JOIST_INDEX_RANGE) {
    SET_VECTOR_ELT(list, k,
                   joist_r_names_range(names, positions->start, positions->step, positions->count));
    return;
  }
  const bool plain = !joist_r_are_references(names);
  SEXP made = PROTECT(Rf_allocVector(plain ? STRSXP : REALSXP, (R_xlen_t)positions->count));
  int64_t at[BLOCK];
  for (size_t from = 0; from < positions->count; from += BLOCK) {
    const size_t count = positions->count - from < BLOCK ? positions->count - from : BLOCK;
    joist_index_read(positions, from, count, at);
    for (size_t j = 0; j < count; j++)
      if (plain)
        SET_STRING_ELT(made, (R_xlen_t)(from + j), STRING_ELT(names, (R_xlen_t)at[j]));
      else
        REAL(made)[from + j] = (double)at[j] + 1;
  }
  SET_VECTOR_ELT(list, k, plain ? made : joist_r_names_at(names, made));
  UNPROTECT(1);
}

void joist_r_mask_positions(SEXP positions, const uint8_t *mask) {
  for (R_xlen_t k = 0; mask != NULL && k < XLENGTH(positions); k++)
    if (mask[k] != 0) REAL(positions)[k] = NA_REAL;
}

/* The positions in the second operand of a gather, if they are known. */
static SEXP gathered(SEXP names, const struct joist_r_named *index, size_t count) {
  size_t n = 0;
  if (!joist_shape_count(index->shape, &n) || n != count) return R_NilValue;
  if (index->index != R_NilValue) return joist_r_names_gathered(names, index->index, count);
  if (index->elements == NULL) return R_NilValue;
  SEXP at = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count)), made = R_NilValue;
  struct joist_error error;
  if (joist_export(index->dtype, index->elements, count, JOIST_HOST_DOUBLE, true, REAL(at), NULL,
                   &error) == JOIST_OK) {
    joist_r_mask_positions(at, index->mask);
    made = joist_r_names_at(names, at);
  }
  UNPROTECT(1);
  return made;
}

/* Those of all operands; empty ones for an operand without names. */
static SEXP joined(const struct joist_r_named *operands, size_t n, int rank, int d) {
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n)), made = R_NilValue;
  SEXP counts = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  bool any = false;
  for (size_t k = 0; k < n; k++) {
    const bool same = operands[k].shape->rank == rank;
    REAL(counts)[k] = same ? (double)operands[k].shape->extent[d] : 1;
    if (same) SET_VECTOR_ELT(parts, k, joist_r_names_along(operands[k].names, rank, d));
    any |= VECTOR_ELT(parts, k) != R_NilValue;
  }
  if (any) made = joist_r_names_joined(parts, counts);
  UNPROTECT(2);
  return made;
}

/* The first operand with names for this extent. */
static void set_from_each(const struct joist_r_named *operands, size_t n,
                          const struct joist_shape *result, int d, SEXP list) {
  const int rank = result->rank;
  for (size_t k = 0; k < n; k++) {
    const struct joist_shape *const shape = operands[k].shape;
    if (shape->rank != rank || shape->extent[d] != result->extent[d]) continue;
    SEXP names = joist_r_names_along(operands[k].names, rank, d);
    SEXP label = label_of(operands[k].names, rank, d);
    if (names == R_NilValue && label == R_BlankString) continue;
    SET_VECTOR_ELT(list, d, names);
    set_label(list, d, label);
    return;
  }
}

static void set_axis(const struct joist_r_named *operands, size_t n,
                     const struct joist_shape *result, const struct joist_axis *axis, int d,
                     SEXP list) {
  const struct joist_r_named *const from = &operands[axis->operand];
  const int rank = from->shape->rank;
  switch (axis->kind) {
    case JOIST_AXIS_NEW:
      return;
    case JOIST_AXIS_LABEL:
      set_label(list, d, label_of(from->names, rank, axis->dim));
      return;
    case JOIST_AXIS_EACH:
      set_from_each(operands, n, result, d, list);
      return;
    case JOIST_AXIS_JOINED:
      SET_VECTOR_ELT(list, d, joined(operands, n, result->rank, d));
      return;
    case JOIST_AXIS_RANGE:
    case JOIST_AXIS_SELECTED:
      break;
  }
  set_label(list, d, label_of(from->names, rank, axis->dim));
  SEXP names = joist_r_names_along(from->names, rank, axis->dim);
  if (names == R_NilValue) return;
  SET_VECTOR_ELT(list, d,
                 axis->kind == JOIST_AXIS_SELECTED
                     ? gathered(names, &operands[1], result->extent[d])
                     : joist_r_names_range(names, axis->start, axis->step, result->extent[d]));
}

/* ---- a result ---- */

SEXP joist_r_names_of(joist_op op, const struct joist_attributes *attributes,
                      const struct joist_r_named *operands, size_t n,
                      const struct joist_shape *result) {
  bool any = false;
  for (size_t k = 0; k < n; k++) any |= operands[k].names != R_NilValue;
  if (!any || result->rank == 0) return R_NilValue;
  struct joist_axis axes[JOIST_RANK_MAX];
  const void *const vmax = vmaxget();
  const struct joist_shape **const shapes =
      (const struct joist_shape **)R_alloc(n + 1, (int)sizeof *shapes);
  for (size_t k = 0; k < n; k++) shapes[k] = operands[k].shape;
  joist_op_axes(op, attributes, shapes, n, result, axes);
  vmaxset(vmax);
  bool elementwise = true;
  for (int d = 0; d < result->rank; d++) elementwise &= axes[d].kind == JOIST_AXIS_EACH;
  /* As in base R, all names are those of the first operand of this shape that has any. */
  for (size_t k = 0; elementwise && k < n; k++)
    if (operands[k].names != R_NilValue && joist_shape_equal(operands[k].shape, result))
      return operands[k].names;
  SEXP list = PROTECT(joist_r_names_list(result->rank));
  for (int d = 0; d < result->rank; d++) set_axis(operands, n, result, &axes[d], d, list);
  const bool dropped = op == JOIST_OP_SLICE && operands[0].shape->rank != result->rank;
  SEXP names = joist_r_names_in(list, result->rank, dropped);
  UNPROTECT(1);
  const bool blank =
      names == R_NilValue && operands[0].shape->rank == result->rank && is_blank(operands[0].names);
  return blank ? operands[0].names : names;
}

/* Those of c(a = 1) beside or as the one element of a vector. */
static SEXP names_of_one(const struct joist_r_value *value, const struct joist_shape *result) {
  const bool one = value->form == JOIST_R_LITERAL && value->argument.shape.rank == 0 &&
                   result->rank == 1 && result->extent[0] == 1;
  return one ? Rf_getAttrib(value->object, R_NamesSymbol) : R_NilValue;
}

SEXP joist_r_names_among(joist_op op, const struct joist_attributes *attributes,
                         const struct joist_r_value *values, size_t n,
                         const struct joist_shape *result) {
  bool any = false;
  for (size_t k = 0; k < n; k++)
    any |= values[k].names != R_NilValue || names_of_one(&values[k], result) != R_NilValue;
  if (!any) return R_NilValue;
  const void *const vmax = vmaxget();
  struct joist_r_named *const operands = (struct joist_r_named *)R_alloc(n, (int)sizeof *operands);
  for (size_t k = 0; k < n; k++) {
    SEXP one = names_of_one(&values[k], result);
    operands[k] = (struct joist_r_named){
        one != R_NilValue ? result : &values[k].argument.shape,
        one != R_NilValue ? one : values[k].names,
        values[k].argument.operand.type.dtype,
        values[k].form == JOIST_R_CONCRETE ? values[k].data : NULL,
        values[k].mask,
        values[k].form == JOIST_R_TRACED && !values[k].leaf ? values[k].object : R_NilValue};
  }
  SEXP names = joist_r_names_of(op, attributes, operands, n, result);
  vmaxset(vmax);
  return names;
}

/* ---- tensors ---- */

SEXP joist_r_same_payload(const struct joist_r_value *value, struct joist_type type,
                          const struct joist_shape *shape) {
  SEXP payload = PROTECT(joist_r_shared_payload(value));
  SEXP tensor =
      PROTECT(joist_r_tensor_with(payload, type, shape, joist_r_dim_among(shape, value, 1)));
  const struct joist_attributes none = {.count = 0};
  SEXP names = PROTECT(joist_r_names_among(JOIST_OP_RESHAPE, &none, value, 1, shape));
  joist_r_set_names(tensor, names, shape->rank);
  joist_r_copy_mask(tensor, value);
  UNPROTECT(3);
  return tensor;
}
