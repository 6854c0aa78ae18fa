/* The ALTREP classes of tensors without elements. The first datum is the trace, or R_NilValue. The
 * second is the note, or a list of the note, the mask of missing values and the buffer that R was
 * given. */
#include "r/tensor/unknown.h"

#include <stdlib.h>
#include <string.h>

#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/poison.h"
#include "r/base/vector.h"
#include "r/tensor/moved.h"
/* Behind R's other headers, which it does not include. */
#include <R_ext/Altrep.h>

enum { NOTE, MASK, BUFFER, PARTS };
enum { COUNT, TYPE, HAS_MISSING, STATE }; /* of a saved vector */

struct note {
  double count;
  int number;
};

static R_altrep_class_t logical_class, integer_class, real_class, complex_class;

static R_altrep_class_t class_of(SEXPTYPE type) {
  return type == LGLSXP    ? logical_class
         : type == INTSXP  ? integer_class
         : type == CPLXSXP ? complex_class
                           : real_class;
}

static bool is_own(SEXP x) { return R_altrep_inherits(x, class_of((SEXPTYPE)TYPEOF(x))); }

static bool is_vector(SEXP x) {
  return TYPEOF(x) == LGLSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP || TYPEOF(x) == CPLXSXP;
}

/* The vector that R put a wrapper around; R_NilValue for other objects. */
static SEXP unwrapped(SEXP x) {
  while (ALTREP(x) && is_vector(x)) {
    if (is_own(x)) return x;
    x = R_altrep_data1(x);
  }
  return R_NilValue;
}

/* ---- data ---- */

static SEXP part_of(SEXP x, int part) {
  SEXP kept = R_altrep_data2(x);
  if (TYPEOF(kept) == VECSXP) return VECTOR_ELT(kept, part);
  return part == NOTE ? kept : R_NilValue;
}

static struct note read_note(SEXP x) {
  struct note note;
  memcpy(&note, RAW_RO(part_of(x, NOTE)), sizeof note);
  return note;
}

static SEXP make_note(struct note note) {
  SEXP made = Rf_allocVector(RAWSXP, (R_xlen_t)sizeof note);
  memcpy(RAW(made), &note, sizeof note);
  return made;
}

/* In a list of its own: copies share the one before. */
static void set_part(SEXP x, int part, SEXP what) {
  PROTECT(what);
  SEXP made = PROTECT(Rf_allocVector(VECSXP, PARTS));
  for (int k = 0; k < PARTS; k++) SET_VECTOR_ELT(made, k, k == part ? what : part_of(x, k));
  R_set_altrep_data2(x, made);
  UNPROTECT(2);
}

/* ---- methods ---- */

static R_xlen_t length(SEXP x) { return (R_xlen_t)read_note(x).count; }

_Noreturn void joist_r_unknown_refuse(SEXP x) {
  struct joist_r_unknown unknown;
  if (!joist_r_unknown_read(x, &unknown) || unknown.trace == R_NilValue)
    joist_r_stop(JOIST_ERROR_VALUE, "an nv_aval() has a dtype and a shape, but no values");
  if (joist_r_poison(x)) joist_r_poison_check();
  joist_r_stop(JOIST_ERROR_VALUE,
               "the values of a tensor are not known while jit() traces a function; this one "
               "belongs to a trace that has ended");
}

static int whole_element(SEXP x, R_xlen_t k) {
  (void)k;
  joist_r_unknown_refuse(x);
}
static double real_element(SEXP x, R_xlen_t k) {
  (void)k;
  joist_r_unknown_refuse(x);
}
static Rcomplex complex_element(SEXP x, R_xlen_t k) {
  (void)k;
  joist_r_unknown_refuse(x);
}
static SEXP coerce(SEXP x, int type) {
  (void)type;
  joist_r_unknown_refuse(x);
}
static SEXP subset(SEXP x, SEXP index, SEXP call) {
  (void)index, (void)call;
  joist_r_unknown_refuse(x);
}
static SEXP state(SEXP x) {
  if (R_altrep_data1(x) != R_NilValue) joist_r_unknown_refuse(x);
  SEXP saved = Rf_allocVector(REALSXP, STATE);
  REAL(saved)[COUNT] = read_note(x).count;
  REAL(saved)[TYPE] = TYPEOF(x);
  REAL(saved)[HAS_MISSING] = part_of(x, MASK) != R_NilValue;
  return saved;
}

/* Vectors up to this size are filled with NA, in R's memory. */
static const double most_filled = 268435456;

static void fill(SEXP values) {
  const R_xlen_t n = XLENGTH(values);
  switch (TYPEOF(values)) {
    case REALSXP:
      for (R_xlen_t k = 0; k < n; k++) REAL(values)[k] = NA_REAL;
      break;
    case CPLXSXP:
      for (R_xlen_t k = 0; k < n; k++) COMPLEX(values)[k] = (Rcomplex){.r = NA_REAL, .i = NA_REAL};
      break;
    case LGLSXP:
      for (R_xlen_t k = 0; k < n; k++) LOGICAL(values)[k] = NA_LOGICAL;
      break;
    default:
      for (R_xlen_t k = 0; k < n; k++) INTEGER(values)[k] = NA_INTEGER;
  }
}

static void free_buffer(SEXP pointer) {
  free(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

/* Larger ones are zeros, for which the operating system uses no memory while they are only read. */
static SEXP large_buffer(SEXP x, size_t bytes) {
  SEXP pointer = PROTECT(joist_r_owner(free_buffer));
  void *const zeros = calloc(bytes, 1);
  if (zeros == NULL) Rf_error("cannot allocate vector of size %.1f Gb", (double)bytes / 1073741824);
  R_SetExternalPtrAddr(pointer, zeros);
  set_part(x, BUFFER, pointer);
  UNPROTECT(1);
  return pointer;
}

/* Raises no error except where R itself does, when memory is exhausted. */
static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  if (R_altrep_data1(x) != R_NilValue) (void)joist_r_poison(x);
  const SEXPTYPE type = (SEXPTYPE)TYPEOF(x);
  SEXP buffer = part_of(x, BUFFER);
  if (buffer == R_NilValue) {
    const size_t unit = type == LGLSXP ? sizeof(int) : joist_r_element_size(type);
    const double bytes = read_note(x).count * (double)unit;
    if (bytes > most_filled) {
      buffer = large_buffer(x, (size_t)bytes);
    } else {
      buffer = PROTECT(Rf_allocVector(type, length(x)));
      fill(buffer);
      set_part(x, BUFFER, buffer);
      UNPROTECT(1);
    }
  }
  if (TYPEOF(buffer) == EXTPTRSXP) return R_ExternalPtrAddr(buffer);
  return type == LGLSXP ? (void *)LOGICAL(buffer) : joist_r_elements(buffer);
}

static const void *data_or_null(SEXP x) {
  (void)x;
  return NULL;
}

static SEXP duplicate(SEXP x, Rboolean deep) {
  (void)deep;
  return R_new_altrep(class_of((SEXPTYPE)TYPEOF(x)), R_altrep_data1(x), R_altrep_data2(x));
}

static SEXP from_state(SEXP class, SEXP saved) {
  (void)class;
  const bool fits = TYPEOF(saved) == REALSXP && XLENGTH(saved) == STATE && REAL(saved)[COUNT] >= 0;
  const SEXPTYPE type = fits ? (SEXPTYPE)REAL(saved)[TYPE] : NILSXP;
  if (type != LGLSXP && type != INTSXP && type != REALSXP && type != CPLXSXP)
    joist_r_stop(JOIST_ERROR_VALUE, "this nv_aval is damaged; make a new one with nv_aval()");
  SEXP made = PROTECT(joist_r_unknown(R_NilValue, 0, type, REAL(saved)[COUNT]));
  if (REAL(saved)[HAS_MISSING] != 0)
    joist_r_unknown_set_missing(made, PROTECT(Rf_ScalarLogical(TRUE)));
  UNPROTECT(REAL(saved)[HAS_MISSING] != 0 ? 2 : 1);
  return made;
}

static Rboolean inspect(SEXP x, int pre, int deep, int pvec,
                        void (*inspect_subtree)(SEXP, int, int, int)) {
  (void)x, (void)pre, (void)deep, (void)pvec, (void)inspect_subtree;
  Rprintf(" joist tensor without elements\n");
  return TRUE;
}

static void set_methods(R_altrep_class_t class) {
  R_set_altrep_Length_method(class, length);
  R_set_altrep_Duplicate_method(class, duplicate);
  R_set_altrep_Coerce_method(class, coerce);
  R_set_altrep_Serialized_state_method(class, state);
  R_set_altrep_Unserialize_method(class, from_state);
  R_set_altrep_Inspect_method(class, inspect);
  R_set_altvec_Dataptr_method(class, data);
  R_set_altvec_Dataptr_or_null_method(class, data_or_null);
  R_set_altvec_Extract_subset_method(class, subset);
}

/* They belong to no library, like those of view.c. */
void joist_r_unknown_init(void) {
  logical_class = R_make_altlogical_class("unknown_logical", "joist", NULL);
  integer_class = R_make_altinteger_class("unknown_integer", "joist", NULL);
  real_class = R_make_altreal_class("unknown_real", "joist", NULL);
  complex_class = R_make_altcomplex_class("unknown_complex", "joist", NULL);
  const R_altrep_class_t classes[] = {logical_class, integer_class, real_class, complex_class};
  for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) set_methods(classes[k]);
  R_set_altlogical_Elt_method(logical_class, whole_element);
  R_set_altinteger_Elt_method(integer_class, whole_element);
  R_set_altreal_Elt_method(real_class, real_element);
  R_set_altcomplex_Elt_method(complex_class, complex_element);
}

/* ---- what joist does with them ---- */

SEXP joist_r_unknown(SEXP trace, int number, SEXPTYPE type, double count) {
  SEXP note = PROTECT(make_note((struct note){count, number}));
  SEXP made = R_new_altrep(class_of(type), trace, note);
  UNPROTECT(1);
  return made;
}

bool joist_r_unknown_read(SEXP x, struct joist_r_unknown *unknown) {
  x = unwrapped(x);
  if (x == R_NilValue) return false;
  *unknown = (struct joist_r_unknown){R_altrep_data1(x), read_note(x).number, part_of(x, MASK),
                                      part_of(x, NOTE)};
  return true;
}

bool joist_r_is_unknown(SEXP x) { return unwrapped(x) != R_NilValue; }

void joist_r_unknown_set_missing(SEXP x, SEXP missing) {
  x = unwrapped(x);
  if (x != R_NilValue) set_part(x, MASK, missing);
}

void joist_r_unknown_renew(SEXP x) {
  x = unwrapped(x);
  if (x == R_NilValue) return;
  set_part(x, NOTE, PROTECT(make_note(read_note(x))));
  UNPROTECT(1);
}

bool joist_r_same_value(const struct joist_r_unknown *a, const struct joist_r_unknown *b) {
  if (a->trace != b->trace || a->trace == R_NilValue) return a->trace == b->trace;
  if (a->number < 0 || b->number < 0) return a->number == b->number;
  return joist_r_moved(a->trace, (joist_value_id)a->number) ==
         joist_r_moved(b->trace, (joist_value_id)b->number);
}
