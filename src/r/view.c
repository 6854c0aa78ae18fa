/* The ALTREP classes of tensors. The first datum is the payload. The second is the note of the
 * dtype, or a list once there is more to keep: the note, the view, and a payload that was replaced
 * and that pointers may still refer to. */
#include "r/view.h"

#include <limits.h>
#include <string.h>

#include "core/device.h"
#include "core/types/host.h"
#include "r/conditions.h"
#include "r/device_payload.h"
#include "r/mapped.h"
#include "r/payload.h"
#include "r/run.h"
#include "r/tensor_fields.h"
#include "r/vector.h"
/* Behind R's other headers, which it does not include. */
#include <R_ext/Altrep.h>

enum { NOTE, VALUES, REPLACED, PARTS }; /* of the list */
enum { DTYPE, EXPOSED, NOTE_SIZE };     /* of the note, in bytes */
enum { REGION = 512 };                  /* elements that are converted at once */

/* ---- what R sees ---- */

joist_host joist_r_view_host(joist_dtype dtype) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
      return JOIST_HOST_LOGICAL;
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      return joist_dtype_max_int(dtype) <= INT32_MAX ? JOIST_HOST_INTEGER : JOIST_HOST_DOUBLE;
    case JOIST_KIND_FLOAT:
      return JOIST_HOST_DOUBLE;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_HOST_COMPLEX;
}

SEXPTYPE joist_r_view_type(joist_dtype dtype) {
  switch (joist_r_view_host(dtype)) {
    case JOIST_HOST_LOGICAL:
      return LGLSXP;
    case JOIST_HOST_INTEGER:
      return INTSXP;
    case JOIST_HOST_COMPLEX:
      return CPLXSXP;
    default:
      return REALSXP;
  }
}

/* Whether the payload itself is the vector that R sees. */
static bool shows_payload(joist_dtype dtype) {
  return joist_r_payload_type(dtype) == joist_r_view_type(dtype);
}

/* ---- classes ---- */

static R_altrep_class_t logical_class, integer_class, real_class, complex_class;

static R_altrep_class_t class_of(SEXPTYPE type) {
  return type == LGLSXP   ? logical_class
         : type == INTSXP ? integer_class
         : type == CPLXSXP ? complex_class
                           : real_class;
}

bool joist_r_view_is(SEXP x) {
  return ALTREP(x) && R_altrep_inherits(x, class_of((SEXPTYPE)TYPEOF(x)));
}

/* One for each dtype, without and with a writable pointer in the hands of a caller. */
static SEXP notes[JOIST_DTYPE_COUNT][2];

static void make_notes(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int exposed = 0; exposed < 2; exposed++) {
      SEXP note = PROTECT(Rf_allocVector(RAWSXP, NOTE_SIZE));
      RAW(note)[DTYPE] = (Rbyte)d;
      RAW(note)[EXPOSED] = (Rbyte)exposed;
      MARK_NOT_MUTABLE(note);
      R_PreserveObject(note);
      UNPROTECT(1);
      notes[d][exposed] = note;
    }
}

/* ---- data ---- */

static SEXP note_of(SEXP x) {
  SEXP kept = R_altrep_data2(x);
  return TYPEOF(kept) == VECSXP ? VECTOR_ELT(kept, NOTE) : kept;
}

static joist_dtype dtype_of(SEXP x) { return (joist_dtype)RAW_RO(note_of(x))[DTYPE]; }
static bool is_exposed(SEXP x) { return RAW_RO(note_of(x))[EXPOSED] != 0; }

static void set_exposed(SEXP x) {
  SEXP note = notes[dtype_of(x)][1], kept = R_altrep_data2(x);
  if (TYPEOF(kept) == VECSXP)
    SET_VECTOR_ELT(kept, NOTE, note);
  else
    R_set_altrep_data2(x, note);
}

/* The view, or R_NilValue if nobody has asked for one. */
static SEXP values_of(SEXP x) {
  SEXP kept = R_altrep_data2(x);
  return TYPEOF(kept) == VECSXP ? VECTOR_ELT(kept, VALUES) : R_NilValue;
}

static void keep(SEXP x, int part, SEXP what) {
  SEXP kept = R_altrep_data2(x);
  if (TYPEOF(kept) != VECSXP) {
    PROTECT(what);
    SEXP made = PROTECT(Rf_allocVector(VECSXP, PARTS));
    SET_VECTOR_ELT(made, NOTE, kept);
    R_set_altrep_data2(x, made);
    UNPROTECT(2);
    kept = made;
  }
  SET_VECTOR_ELT(kept, part, what);
}

static R_xlen_t length(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  const joist_dtype dtype = dtype_of(x);
  if (TYPEOF(payload) == EXTPTRSXP)
    return (R_xlen_t)(joist_r_remote_size(payload) / joist_dtype_size(dtype));
  const R_xlen_t n = XLENGTH(payload);
  return TYPEOF(payload) == RAWSXP ? n / (R_xlen_t)joist_dtype_size(dtype) : n;
}

/* ---- converting ---- */

/* What the next entry into joist warns about. */
static struct {
  size_t count;
  joist_dtype dtype;
} lost;

static void set_missing(SEXPTYPE type, void *out) {
  if (type == INTSXP || type == LGLSXP) *(int *)out = NA_INTEGER;
  if (type == REALSXP) *(double *)out = NA_REAL;
  if (type == CPLXSXP) *(Rcomplex *)out = (Rcomplex){.r = NA_REAL, .i = NA_REAL};
}

static size_t value_size(SEXPTYPE type) {
  return type == LGLSXP ? sizeof(int) : joist_r_element_size(type);
}

/* Values of n elements; NA for those that R's type cannot represent. */
static void show(joist_dtype dtype, const void *elements, size_t n, void *out,
                 const struct joist_run *run) {
  const SEXPTYPE type = joist_r_view_type(dtype);
  const joist_host host = joist_r_view_host(dtype);
  struct joist_error error;
  if (joist_export(dtype, elements, n, host, false, out, run, &error) == JOIST_OK) return;
  for (size_t k = 0; k < n; k++) {
    const char *const element = (const char *)elements + k * joist_dtype_size(dtype);
    void *const value = (char *)out + k * value_size(type);
    if (joist_export(dtype, element, 1, host, false, value, NULL, &error) == JOIST_OK) continue;
    set_missing(type, value);
    lost.count++;
    lost.dtype = dtype;
  }
}

static void *elements_of(SEXP values) {
  return TYPEOF(values) == LGLSXP ? (void *)LOGICAL(values) : joist_r_elements(values);
}

/* The payload of a tensor on a device, copied here; NA if that fails. */
static void show_remote(SEXP x, size_t n, void *out) {
  const joist_dtype dtype = dtype_of(x);
  SEXP copy = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(n * joist_dtype_size(dtype))));
  if (joist_r_try_download(R_altrep_data1(x), (size_t)XLENGTH(copy), RAW(copy))) {
    show(dtype, RAW(copy), n, out, NULL);
  } else {
    const SEXPTYPE type = joist_r_view_type(dtype);
    for (size_t k = 0; k < n; k++) set_missing(type, (char *)out + k * value_size(type));
    lost.count += n;
    lost.dtype = dtype;
  }
  UNPROTECT(1);
}

/* The view, which is made and kept. */
static SEXP made_values(SEXP x) {
  SEXP values = values_of(x);
  if (values != R_NilValue) return values;
  const joist_dtype dtype = dtype_of(x);
  const size_t n = (size_t)length(x);
  values = PROTECT(Rf_allocVector(joist_r_view_type(dtype), (R_xlen_t)n));
  SEXP payload = R_altrep_data1(x);
  struct joist_run run = joist_r_run();
  run.poll = NULL; /* an interrupt would jump */
  if (TYPEOF(payload) == EXTPTRSXP)
    show_remote(x, n, elements_of(values));
  else
    show(dtype, joist_r_elements(payload), n, elements_of(values), &run);
  keep(x, VALUES, values);
  UNPROTECT(1);
  return values;
}

/* ---- methods ---- */

/* Whether R sees the payload itself, which then is in its memory. */
static bool is_direct(SEXP x) {
  return shows_payload(dtype_of(x)) && TYPEOF(R_altrep_data1(x)) != EXTPTRSXP;
}

/* R's integers have no -2^31: it is their NA. */
static void note_smallest(SEXP x) {
  if (dtype_of(x) != JOIST_I32) return;
  const int *const elements = INTEGER_RO(R_altrep_data1(x));
  const R_xlen_t n = XLENGTH(R_altrep_data1(x));
  size_t count = 0;
  for (R_xlen_t k = 0; k < n; k++) count += elements[k] == INT_MIN;
  if (count == 0) return;
  lost.count += count;
  lost.dtype = JOIST_I32;
}

/* A payload that only this vector has. The one before stays, as callers may have pointers to it. */
static void own_payload(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  if (!MAYBE_SHARED(payload)) {
    joist_r_map_touch(payload);
    return;
  }
  SEXP own = PROTECT(Rf_allocVector((SEXPTYPE)TYPEOF(payload), XLENGTH(payload)));
  const size_t size = joist_r_element_size((SEXPTYPE)TYPEOF(payload));
  if (XLENGTH(payload) > 0)
    memcpy(joist_r_elements(own), joist_r_elements(payload), (size_t)XLENGTH(payload) * size);
  keep(x, REPLACED, payload);
  R_set_altrep_data1(x, own);
  UNPROTECT(1);
}

static void *data(SEXP x, Rboolean writable) {
  if (is_direct(x)) {
    if (!is_exposed(x)) note_smallest(x);
    if (writable && !is_exposed(x)) {
      own_payload(x);
      set_exposed(x);
    }
    return joist_r_elements(R_altrep_data1(x));
  }
  SEXP values = made_values(x);
  if (writable && !is_exposed(x)) set_exposed(x);
  return elements_of(values);
}

static const void *data_or_null(SEXP x) {
  if (is_direct(x)) return DATAPTR_OR_NULL(R_altrep_data1(x));
  SEXP values = values_of(x);
  return values == R_NilValue ? NULL : elements_of(values);
}

/* One value. */
static void value_at(SEXP x, R_xlen_t k, void *out) {
  SEXP values = values_of(x), payload = R_altrep_data1(x);
  if (values == R_NilValue && TYPEOF(payload) == EXTPTRSXP) values = made_values(x);
  if (values != R_NilValue) {
    const size_t size = value_size((SEXPTYPE)TYPEOF(values));
    memcpy(out, (const char *)elements_of(values) + (size_t)k * size, size);
    return;
  }
  const joist_dtype dtype = dtype_of(x);
  const char *const elements = joist_r_elements(payload);
  if (dtype == JOIST_F32)
    *(double *)out = ((const float *)elements)[k];
  else if (dtype == JOIST_BOOL)
    *(int *)out = elements[k] != 0;
  else
    show(dtype, elements + (size_t)k * joist_dtype_size(dtype), 1, out, NULL);
}

static int logical_element(SEXP x, R_xlen_t k) {
  int value = NA_LOGICAL;
  value_at(x, k, &value);
  return value;
}

static int integer_element(SEXP x, R_xlen_t k) {
  if (is_direct(x)) return INTEGER_ELT(R_altrep_data1(x), k);
  return logical_element(x, k);
}

static double real_element(SEXP x, R_xlen_t k) {
  if (is_direct(x)) return REAL_ELT(R_altrep_data1(x), k);
  double value = NA_REAL;
  value_at(x, k, &value);
  return value;
}

static Rcomplex complex_element(SEXP x, R_xlen_t k) {
  if (is_direct(x)) return COMPLEX_ELT(R_altrep_data1(x), k);
  Rcomplex value = {.r = NA_REAL, .i = NA_REAL};
  value_at(x, k, &value);
  return value;
}

static R_xlen_t region(SEXP x, R_xlen_t start, R_xlen_t n, void *out) {
  const R_xlen_t all = length(x), count = n < all - start ? n : all - start;
  SEXP values = values_of(x), payload = R_altrep_data1(x);
  if (values == R_NilValue && TYPEOF(payload) == EXTPTRSXP) values = made_values(x);
  const joist_dtype dtype = dtype_of(x);
  const bool direct = is_direct(x);
  if (count <= 0) return 0;
  if (direct || values != R_NilValue) {
    const size_t size = value_size((SEXPTYPE)TYPEOF(x));
    const char *const from = elements_of(direct ? payload : values);
    memcpy(out, from + (size_t)start * size, (size_t)count * size);
  } else {
    const char *const elements = joist_r_elements(payload);
    show(dtype, elements + (size_t)start * joist_dtype_size(dtype), (size_t)count, out, NULL);
  }
  return count;
}

static R_xlen_t whole_region(SEXP x, R_xlen_t start, R_xlen_t n, int *out) {
  return region(x, start, n, out);
}
static R_xlen_t real_region(SEXP x, R_xlen_t start, R_xlen_t n, double *out) {
  return region(x, start, n, out);
}
static R_xlen_t complex_region(SEXP x, R_xlen_t start, R_xlen_t n, Rcomplex *out) {
  return region(x, start, n, out);
}

/* For more than a few elements R would ask for each: converted at once, they are read from there. */
static SEXP subset(SEXP x, SEXP index, SEXP call) {
  (void)call;
  if (!is_direct(x) && XLENGTH(index) > length(x) / 8) (void)made_values(x);
  return NULL;
}

/* The elements that a caller may have written to, in the dtype; false if they do not fit. */
static bool written(SEXP x, void *out, struct joist_error *error) {
  SEXP values = values_of(x);
  struct joist_run run = joist_r_run();
  run.poll = NULL;
  return joist_import(joist_r_view_host(dtype_of(x)), elements_of(values), (size_t)XLENGTH(values),
                      dtype_of(x), JOIST_NA_ERROR, out, &run, error) == JOIST_OK;
}

/* A payload with what a caller wrote; R_NilValue if that does not fit. */
static SEXP written_payload(SEXP x) {
  if (is_direct(x)) return Rf_duplicate(R_altrep_data1(x));
  SEXP payload = R_altrep_data1(x);
  if (TYPEOF(payload) == EXTPTRSXP) return R_NilValue;
  SEXP own = PROTECT(Rf_allocVector((SEXPTYPE)TYPEOF(payload), XLENGTH(payload)));
  struct joist_error error;
  const bool fits = written(x, joist_r_elements(own), &error);
  UNPROTECT(1);
  return fits ? own : R_NilValue;
}

/* R makes an ordinary vector where this returns NULL: the plain form, with the same attributes. */
static SEXP duplicate(SEXP x, Rboolean deep) {
  (void)deep;
  if (!is_exposed(x)) return joist_r_view(R_altrep_data1(x), dtype_of(x));
  SEXP payload = PROTECT(written_payload(x));
  SEXP copy = payload == R_NilValue ? NULL : joist_r_view(payload, dtype_of(x));
  UNPROTECT(1);
  return copy;
}

/* ---- saving ---- */

/* The elements and the name of the dtype. R saves the values, as the plain form, where this returns
 * NULL: those of a device, and those that do not fit the dtype. */
static SEXP state(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  if (TYPEOF(payload) == EXTPTRSXP) return NULL;
  if (is_exposed(x)) payload = written_payload(x);
  if (payload == R_NilValue) return NULL;
  PROTECT(payload);
  SEXP saved = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(saved, 0, payload);
  SET_VECTOR_ELT(saved, 1, Rf_mkString(joist_dtype_name(dtype_of(x))));
  UNPROTECT(2);
  return saved;
}

static SEXP from_state(SEXP class, SEXP saved) {
  (void)class;
  if (TYPEOF(saved) == VECSXP && XLENGTH(saved) == 2) {
    SEXP payload = VECTOR_ELT(saved, 0), name = VECTOR_ELT(saved, 1);
    const bool named = TYPEOF(name) == STRSXP && XLENGTH(name) == 1;
    const joist_dtype dtype = named ? joist_dtype_parse(CHAR(STRING_ELT(name, 0)), JOIST_STYLE_ANVIL)
                                    : JOIST_DTYPE_NONE;
    if (dtype != JOIST_DTYPE_NONE && (SEXPTYPE)TYPEOF(payload) == joist_r_payload_type(dtype) &&
        !joist_r_has_attributes(payload) &&
        (TYPEOF(payload) != RAWSXP || XLENGTH(payload) % (R_xlen_t)joist_dtype_size(dtype) == 0))
      return joist_r_view(payload, dtype);
  }
  Rf_error("the saved elements of a tensor are damaged");
}

static Rboolean inspect(SEXP x, int pre, int deep, int pvec,
                        void (*inspect_subtree)(SEXP, int, int, int)) {
  (void)pre, (void)deep, (void)pvec, (void)inspect_subtree;
  Rprintf(" joist %s%s%s\n", joist_dtype_name(dtype_of(x)),
          values_of(x) == R_NilValue ? "" : ", converted",
          is_exposed(x) ? ", writable" : "");
  return TRUE;
}

/* They belong to no library, as R's own classes do: R takes the methods of a library that it unloads
 * from the vectors that are left, and those of joist keep it mapped (joist_r_unload()). */
static void set_methods(R_altrep_class_t class) {
  R_set_altrep_Length_method(class, length);
  R_set_altrep_Duplicate_method(class, duplicate);
  R_set_altrep_Serialized_state_method(class, state);
  R_set_altrep_Unserialize_method(class, from_state);
  R_set_altrep_Inspect_method(class, inspect);
  R_set_altvec_Dataptr_method(class, data);
  R_set_altvec_Dataptr_or_null_method(class, data_or_null);
  R_set_altvec_Extract_subset_method(class, subset);
}

void joist_r_view_init(void) {
  make_notes();
  logical_class = R_make_altlogical_class("tensor_logical", "joist", NULL);
  integer_class = R_make_altinteger_class("tensor_integer", "joist", NULL);
  real_class = R_make_altreal_class("tensor_real", "joist", NULL);
  complex_class = R_make_altcomplex_class("tensor_complex", "joist", NULL);
  const R_altrep_class_t classes[] = {logical_class, integer_class, real_class, complex_class};
  for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) set_methods(classes[k]);
  R_set_altlogical_Elt_method(logical_class, logical_element);
  R_set_altlogical_Get_region_method(logical_class, whole_region);
  R_set_altinteger_Elt_method(integer_class, integer_element);
  R_set_altinteger_Get_region_method(integer_class, whole_region);
  R_set_altreal_Elt_method(real_class, real_element);
  R_set_altreal_Get_region_method(real_class, real_region);
  R_set_altcomplex_Elt_method(complex_class, complex_element);
  R_set_altcomplex_Get_region_method(complex_class, complex_region);
}

/* ---- what joist does with them ---- */

SEXP joist_r_view(SEXP payload, joist_dtype dtype) {
  return R_new_altrep(class_of(joist_r_view_type(dtype)), payload, notes[dtype][0]);
}

/* The vector that R put a wrapper around, as it does for new attributes of a long one. */
static SEXP unwrapped(SEXP x) {
  while (ALTREP(x) && !joist_r_view_is(x)) {
    x = R_altrep_data1(x);
    if (TYPEOF(x) != LGLSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP && TYPEOF(x) != CPLXSXP)
      return R_NilValue;
  }
  return ALTREP(x) ? x : R_NilValue;
}

/* What a caller wrote. The payload stays the same one while it agrees, since this may be one of
 * several reads whose pointers are in use. */
static void update_payload(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  const void *const vmax = vmaxget();
  const size_t bytes = (size_t)length(x) * joist_dtype_size(dtype_of(x));
  void *const now = R_alloc(bytes + 1, 1);
  struct joist_error error;
  if (!written(x, now, &error)) joist_r_raise(JOIST_ERROR_VALUE, &error);
  if (TYPEOF(payload) == EXTPTRSXP) {
    SEXP own = PROTECT(joist_r_upload(joist_r_remote_device(payload), dtype_of(x),
                                      (size_t)length(x), now));
    R_set_altrep_data1(x, own);
    UNPROTECT(1);
  } else if (memcmp(joist_r_elements(payload), now, bytes) != 0) {
    SEXP own = PROTECT(Rf_allocVector((SEXPTYPE)TYPEOF(payload), XLENGTH(payload)));
    memcpy(joist_r_elements(own), now, bytes);
    keep(x, REPLACED, payload);
    R_set_altrep_data1(x, own);
    UNPROTECT(1);
  }
  vmaxset(vmax);
}

bool joist_r_view_read(SEXP x, struct joist_r_viewed *viewed) {
  if (!ALTREP(x)) return false;
  if (!joist_r_view_is(x)) {
    x = unwrapped(x);
    if (x == R_NilValue) return false;
  }
  const bool exposed = is_exposed(x);
  if (exposed && !is_direct(x)) update_payload(x);
  *viewed = (struct joist_r_viewed){R_altrep_data1(x), dtype_of(x), exposed};
  return true;
}

bool joist_r_view_exposed(SEXP x) {
  x = unwrapped(x);
  return x == R_NilValue || is_exposed(x);
}

void joist_r_view_changed(SEXP x) {
  if (TYPEOF(R_altrep_data2(x)) == VECSXP && !is_exposed(x))
    R_set_altrep_data2(x, notes[dtype_of(x)][0]);
}

void joist_r_view_warn(void) {
  if (lost.count == 0) return;
  const size_t count = lost.count;
  const joist_dtype dtype = lost.dtype;
  lost.count = 0;
  SEXP number = PROTECT(Rf_ScalarReal((double)count));
  SEXP name = PROTECT(Rf_mkString(joist_dtype_name(dtype)));
  joist_r_eval(PROTECT(Rf_lang3(Rf_install("warn_of_view"), number, name)));
  UNPROTECT(3);
}
