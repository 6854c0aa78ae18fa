/* Vectors in mapped files. The first part of their data is the external pointer of the file, which
 * may have several of them, the second says where in the file they are; it becomes a list of that
 * and a vector of NA when R reads elements of a file that was truncated. */
#include "r/memory/mapped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/check.h"
#include "r/base/altrep.h"
#include "r/base/conditions.h"
#include "r/base/vector.h"
#include "r/base/view_losses.h"
#include "r/memory/open_file.h"

struct place {
  uint64_t from, bytes;
  R_xlen_t length;
  bool touched; /* may differ from the file */
  bool shared;  /* sent to other processes by path */
};

static struct place *place_of(SEXP x) {
  SEXP where = R_altrep_data2(x);
  return (struct place *)RAW(TYPEOF(where) == VECSXP ? VECTOR_ELT(where, 0) : where);
}

static struct joist_r_file *file_of(SEXP x) {
  struct joist_r_file *const open = joist_r_file_of(R_altrep_data1(x));
  if (open == NULL) Rf_error("the file of this vector was closed: a finalizer read it too late");
  return open;
}

static const char *shown_path(SEXP pointer) { return joist_r_path_text(joist_r_path_of(pointer)); }

/* ---- methods ---- */

static R_xlen_t length(SEXP x) { return place_of(x)->length; }

/* Reading what a truncated file had would end the process. A file is closed only where a finalizer
 * kept a vector that was garbage for later. */
static bool is_gone(SEXP x) {
  const struct joist_r_file *const open = joist_r_file_of(R_altrep_data1(x));
  return open == NULL || !joist_file_is_whole(&open->file);
}

static joist_dtype dtype_of_type(SEXPTYPE type) {
  return type == INTSXP    ? JOIST_I32
         : type == REALSXP ? JOIST_F64
         : type == CPLXSXP ? JOIST_C128
                           : JOIST_UI8;
}

/* What R reads of a vector whose file was truncated: an error would jump out of DATAPTR() and leave
 * the garbage collector disabled. */
static SEXP missing_values(SEXP x) {
  SEXP where = R_altrep_data2(x);
  if (TYPEOF(where) == VECSXP) return VECTOR_ELT(where, 1);
  const SEXPTYPE type = (SEXPTYPE)TYPEOF(x);
  const R_xlen_t n = place_of(x)->length;
  SEXP both = PROTECT(Rf_allocVector(VECSXP, 2)), values = Rf_allocVector(type, n);
  SET_VECTOR_ELT(both, 0, where);
  SET_VECTOR_ELT(both, 1, values);
  for (R_xlen_t k = 0; k < n; k++) {
    if (type == INTSXP) INTEGER(values)[k] = NA_INTEGER;
    if (type == REALSXP) REAL(values)[k] = NA_REAL;
    if (type == CPLXSXP) COMPLEX(values)[k] = (Rcomplex){.r = NA_REAL, .i = NA_REAL};
    if (type == RAWSXP) RAW(values)[k] = 0; /* only joist reads these, after joist_r_map_check() */
  }
  R_set_altrep_data2(x, both);
  joist_r_view_lose(dtype_of_type(type), (size_t)n, JOIST_R_FILE_GONE);
  UNPROTECT(1);
  return values;
}

static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  if (is_gone(x)) return joist_r_elements(missing_values(x));
  return (char *)file_of(x)->memory + place_of(x)->from;
}

static const void *data_or_null(SEXP x) { return data(x, FALSE); }

/* ---- saving ---- */

/* Where a shared vector is found again: path, place, and what tells that the file is the same. */
enum { PATH, TYPE, FROM, BYTES, SIZE, MODIFIED, SAMPLE, STATE };

static SEXP number_text(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  return Rf_mkChar(text);
}

static SEXP place_text(SEXP x) {
  const struct place *const place = place_of(x);
  const struct joist_file *const file = &file_of(x)->file;
  uint64_t sample;
  const int code = joist_file_sample(file, place->from, place->bytes, &sample);
  if (code != 0)
    joist_r_stop(JOIST_ERROR_VALUE, "cannot read file \"%s\": %s", shown_path(R_altrep_data1(x)),
                 joist_file_message(code));
  SEXP state = PROTECT(Rf_allocVector(STRSXP, STATE));
  SET_STRING_ELT(state, PATH, STRING_ELT(joist_r_path_of(R_altrep_data1(x)), 0));
  SET_STRING_ELT(state, TYPE, number_text((uint64_t)TYPEOF(x)));
  SET_STRING_ELT(state, FROM, number_text(place->from));
  SET_STRING_ELT(state, BYTES, number_text(place->bytes));
  SET_STRING_ELT(state, SIZE, number_text(file->size));
  SET_STRING_ELT(state, MODIFIED, number_text((uint64_t)file->modified));
  SET_STRING_ELT(state, SAMPLE, number_text(sample));
  UNPROTECT(1);
  return state;
}

/* The elements of others are sent. */
static SEXP state_of(SEXP x) { return place_of(x)->shared ? place_text(x) : NULL; }

static bool read_number(SEXP state, int k, uint64_t *number) {
  const char *const text = CHAR(STRING_ELT(state, k));
  char *end;
  *number = strtoull(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static SEXP new_vector(SEXP pointer, SEXPTYPE type, uint64_t from, size_t n, bool shared);

/* What is read may have been written by anybody. */
static SEXP from_state(SEXP class, SEXP state) {
  (void)class;
  uint64_t number[STATE] = {0}, sample;
  bool valid = TYPEOF(state) == STRSXP && XLENGTH(state) == STATE;
  for (int k = TYPE; k < STATE && valid; k++) valid = read_number(state, k, &number[k]);
  const size_t each =
      valid && number[TYPE] < 256 ? joist_r_element_size((SEXPTYPE)number[TYPE]) : 0;
  if (each == 0 || number[BYTES] == 0 || number[BYTES] % each != 0 || number[FROM] % each != 0 ||
      number[BYTES] > number[SIZE] || number[FROM] > number[SIZE] - number[BYTES])
    joist_r_stop(JOIST_ERROR_VALUE, "the saved place of a shared tensor is damaged");
  SEXP path = PROTECT(Rf_ScalarString(STRING_ELT(state, PATH)));
  SEXP pointer = PROTECT(joist_r_open_file(path));
  if (pointer == R_NilValue) joist_r_no_file(path);
  const struct joist_file *const file = &joist_r_file_of(pointer)->file;
  const bool same = file->size == number[SIZE] && (uint64_t)file->modified == number[MODIFIED];
  if (!same || joist_file_sample(file, number[FROM], number[BYTES], &sample) != 0 ||
      sample != number[SAMPLE])
    joist_r_stop(JOIST_ERROR_VALUE,
                 "file \"%s\" is not the one that a tensor was shared from: it has changed since",
                 shown_path(pointer));
  SEXP made = new_vector(pointer, (SEXPTYPE)number[TYPE], number[FROM],
                         (size_t)(number[BYTES] / each), true);
  if (made == R_NilValue)
    joist_r_stop(JOIST_ERROR_VALUE, "file \"%s\" cannot be mapped", shown_path(pointer));
  UNPROTECT(2);
  return made;
}

/* ---- classes ---- */

static struct joist_r_altrep family;

void joist_r_map_init(void) {
  family = joist_r_altrep("mapped", length, data, data_or_null);
  for (int k = 0; k < JOIST_R_ALTREP_TYPES; k++) {
    R_set_altrep_Serialized_state_method(family.classes[k], state_of);
    R_set_altrep_Unserialize_method(family.classes[k], from_state);
  }
}

bool joist_r_map_is_gone(SEXP payload) {
  return joist_r_altrep_has(&family, payload) && is_gone(payload);
}

void joist_r_map_check(SEXP payload) {
  if (joist_r_map_is_gone(payload))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "file \"%s\" has become shorter since it was mapped: its elements are gone",
                 shown_path(R_altrep_data1(payload)));
}

bool joist_r_is_mapped(SEXP payload) { return joist_r_altrep_has(&family, payload); }

void joist_r_map_touch(SEXP payload) {
  if (joist_r_altrep_has(&family, payload)) place_of(payload)->touched = true;
}

/* ---- making them ---- */

static SEXP new_vector(SEXP pointer, SEXPTYPE type, uint64_t from, size_t n, bool shared) {
  struct joist_r_file *const open = joist_r_file_of(pointer);
  if (open->memory == NULL && joist_file_map(&open->file, &open->memory) != 0) return R_NilValue;
  SEXP where = PROTECT(Rf_allocVector(RAWSXP, sizeof(struct place)));
  const struct place place = {.from = from,
                              .bytes = n * joist_r_element_size(type),
                              .length = (R_xlen_t)n,
                              .shared = shared};
  memcpy(RAW(where), &place, sizeof place);
  SEXP made = R_new_altrep(joist_r_altrep_class(&family, type), pointer, where);
  if (shared) MARK_NOT_MUTABLE(made);
  UNPROTECT(1);
  return made;
}

SEXP joist_r_map(SEXP pointer, SEXPTYPE type, uint64_t from, size_t n) {
  return new_vector(pointer, type, from, n, false);
}

/* The path must still lead to the file, and the elements must be those of the file. */
static SEXP open_again(SEXP payload) {
  const struct joist_file *const old = &file_of(payload)->file;
  const struct place *const place = place_of(payload);
  SEXP path = joist_r_path_of(R_altrep_data1(payload));
  SEXP pointer = PROTECT(joist_r_open_file(path));
  if (pointer == R_NilValue) joist_r_no_file(path);
  const struct joist_file *const new = &joist_r_file_of(pointer)->file;
  bool same = old->size == new->size && old->modified == new->modified &&
              old->device == new->device && old->number == new->number;
  if (!same)
    joist_r_stop(JOIST_ERROR_VALUE, "file \"%s\" has changed since it was mapped",
                 shown_path(pointer));
  joist_r_map_check(payload);
  const void *const elements = data(payload, FALSE);
  if (place->touched &&
      (joist_file_compare(new, place->from, elements, (size_t)place->bytes, &same) != 0 || !same))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the tensor was changed since it was mapped: save it to a file of its own first");
  UNPROTECT(1);
  return pointer;
}

SEXP joist_r_map_share(SEXP payload) {
  const struct place place = *place_of(payload);
  if (place.shared) return payload;
  SEXP pointer = PROTECT(open_again(payload));
  SEXP shared =
      new_vector(pointer, (SEXPTYPE)TYPEOF(payload), place.from, (size_t)place.length, true);
  UNPROTECT(1);
  if (shared == R_NilValue) joist_r_stop(JOIST_ERROR_VALUE, "the file cannot be mapped again");
  return shared;
}

SEXP joist_r_map_place(SEXP payload) {
  return place_of(payload)->touched ? R_NilValue : place_text(payload);
}
