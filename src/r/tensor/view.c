/* The ALTREP classes of tensors. The first datum is the payload. The second is the note of the
 * dtype, or a list once there is more to keep: the note, the view, a payload or a view that was
 * replaced and that pointers may still refer to, the mask of missing values, a payload of bools,
 * and how many of the values that R sees are NA as its type lacks them. */
#include "r/tensor/view.h"

#include <limits.h>
#include <string.h>

#include "core/device.h"
#include "core/types/host.h"
#include "r/base/altrep.h"
#include "r/base/conditions.h"
#include "r/base/tensor_fields.h"
#include "r/base/vector.h"
#include "r/base/view_losses.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/exact_mark.h"
#include "r/tensor/view_values.h"

enum { NOTE, VALUES, REPLACED, MASK, LOST, PARTS }; /* of the list */
enum { DTYPE, FLAGS, NOTE_SIZE };                   /* of the note, in bytes */
/* Flags: a caller may write through a pointer to the values; the payload was searched for elements
 * that R's type cannot represent; R sees a converted vector even if the payload is of its type, as
 * some of its elements are missing, or -2^31; all values were compared with the payload since a
 * caller got a writable pointer. */
enum { EXPOSED = 1, SEARCHED = 2, CONVERTED = 4, COMPARED = 8, FLAG_SETS = 16 };
enum { BLOCK = 512 }; /* elements that are compared at once */

/* Whether the payload itself is the vector that R sees. */
static bool shows_payload(joist_dtype dtype) {
  return joist_r_payload_type(dtype) == joist_r_view_type(dtype);
}

/* ---- classes ---- */

static R_altrep_class_t logical_class, integer_class, real_class, complex_class;

static R_altrep_class_t class_of(SEXPTYPE type) {
  return type == LGLSXP    ? logical_class
         : type == INTSXP  ? integer_class
         : type == CPLXSXP ? complex_class
                           : real_class;
}

bool joist_r_view_is(SEXP x) {
  return ALTREP(x) && R_altrep_inherits(x, class_of((SEXPTYPE)TYPEOF(x)));
}

/* One for each dtype and set of flags. */
static SEXP notes[JOIST_DTYPE_COUNT][FLAG_SETS];

static void make_notes(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (int flags = 0; flags < FLAG_SETS; flags++) {
      SEXP note = PROTECT(Rf_allocVector(RAWSXP, NOTE_SIZE));
      RAW(note)[DTYPE] = (Rbyte)d;
      RAW(note)[FLAGS] = (Rbyte)flags;
      MARK_NOT_MUTABLE(note);
      R_PreserveObject(note);
      UNPROTECT(1);
      notes[d][flags] = note;
    }
}

/* ---- data ---- */

static SEXP note_of(SEXP x) {
  SEXP kept = R_altrep_data2(x);
  return TYPEOF(kept) == VECSXP ? VECTOR_ELT(kept, NOTE) : kept;
}

static joist_dtype dtype_of(SEXP x) { return (joist_dtype)RAW_RO(note_of(x))[DTYPE]; }
static bool has_flag(SEXP x, int flag) { return (RAW_RO(note_of(x))[FLAGS] & flag) != 0; }
static bool is_exposed(SEXP x) { return has_flag(x, EXPOSED); }

static void set_flags(SEXP x, int flags) {
  SEXP note = notes[dtype_of(x)][flags], kept = R_altrep_data2(x);
  if (TYPEOF(kept) == VECSXP)
    SET_VECTOR_ELT(kept, NOTE, note);
  else
    R_set_altrep_data2(x, note);
}

static void set_flag(SEXP x, int flag) { set_flags(x, RAW_RO(note_of(x))[FLAGS] | flag); }
static void clear_flag(SEXP x, int flag) { set_flags(x, RAW_RO(note_of(x))[FLAGS] & ~flag); }

static SEXP kept_part(SEXP x, int part) {
  SEXP kept = R_altrep_data2(x);
  return TYPEOF(kept) == VECSXP ? VECTOR_ELT(kept, part) : R_NilValue;
}

/* The view, or R_NilValue if it has not been asked for. */
static SEXP values_of(SEXP x) { return kept_part(x, VALUES); }

static void keep(SEXP x, int part, SEXP what) { joist_r_altrep_keep(x, PARTS, NOTE, part, what); }

static R_xlen_t length(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  const joist_dtype dtype = dtype_of(x);
  if (TYPEOF(payload) == EXTPTRSXP)
    return (R_xlen_t)(joist_r_remote_size(payload) / joist_dtype_size(dtype));
  const R_xlen_t n = XLENGTH(payload);
  return TYPEOF(payload) == RAWSXP ? n / (R_xlen_t)joist_dtype_size(dtype) : n;
}

/* ---- converting ---- */

/* Writes values, for a caller outside: warns of those that R's type cannot represent. */
static size_t show(joist_dtype dtype, const void *elements, const uint8_t *mask, size_t n,
                   void *out, const struct joist_run *run) {
  const size_t missing = joist_r_convert_values(dtype, elements, mask, n, out, run);
  if (missing > 0) joist_r_view_lose(dtype, missing, JOIST_R_UNREPRESENTABLE);
  return missing;
}

static void keep_lost(SEXP x, size_t count) {
  if (count > 0)
    keep(x, LOST, Rf_ScalarReal((double)count));
  else if (kept_part(x, LOST) != R_NilValue)
    keep(x, LOST, R_NilValue);
}

/* A caller reads values that another one has read before. */
static void read_again(SEXP x) {
  SEXP lost = kept_part(x, LOST);
  if (lost != R_NilValue)
    joist_r_view_lose_again(dtype_of(x), (size_t)REAL_RO(lost)[0], JOIST_R_UNREPRESENTABLE);
}

/* The same of n of them, from `start` on. */
static void read_part_again(SEXP x, R_xlen_t start, const void *values, size_t n) {
  if (kept_part(x, LOST) == R_NilValue) return;
  SEXP mask = kept_part(x, MASK);
  const uint8_t *const gone = TYPEOF(mask) == RAWSXP ? RAW_RO(mask) + start : NULL;
  size_t count = 0;
  for (size_t k = 0; k < n; k++)
    count += TYPEOF(x) == INTSXP ? ((const int *)values)[k] == NA_INTEGER && !(gone && gone[k])
                                 : joist_is_lost((const double *)values + k);
  if (count > 0) joist_r_view_lose(dtype_of(x), count, JOIST_R_UNREPRESENTABLE);
}

static void *elements_of(SEXP values) {
  return TYPEOF(values) == LGLSXP ? (void *)LOGICAL(values) : joist_r_elements(values);
}

/* A payload if it is in R's memory, a copy of one on a device, R_NilValue if its elements cannot be
 * read: those of a file that was truncated, or of a device that failed. */
static SEXP copied_here(SEXP payload, joist_dtype dtype, size_t n, joist_r_reason *reason) {
  *reason = JOIST_R_FILE_GONE;
  if (TYPEOF(payload) != EXTPTRSXP) return joist_r_map_is_gone(payload) ? R_NilValue : payload;
  *reason = JOIST_R_DEVICE_GONE;
  const size_t size = joist_dtype_size(dtype);
  const SEXPTYPE type = joist_r_payload_type(dtype);
  SEXP copy = PROTECT(Rf_allocVector(type, (R_xlen_t)(type == RAWSXP ? n * size : n)));
  const bool copied = joist_r_try_download(payload, n * size, joist_r_elements(copy));
  UNPROTECT(1);
  return copied ? copy : R_NilValue;
}

static SEXP payload_here(SEXP x, joist_r_reason *reason) {
  return copied_here(R_altrep_data1(x), dtype_of(x), (size_t)length(x), reason);
}

/* The mask in R's memory; R_NilValue if there is none, or if it cannot be read, and then the
 * elements cannot be either. */
static SEXP mask_here(SEXP x) {
  joist_r_reason reason;
  SEXP mask = kept_part(x, MASK);
  return mask == R_NilValue ? mask : copied_here(mask, JOIST_BOOL, (size_t)length(x), &reason);
}

static const uint8_t *bytes_of(SEXP mask) { return mask == R_NilValue ? NULL : RAW_RO(mask); }

/* The view, which is made and kept: in the memory of the one before, which a caller may still
 * have. */
static SEXP made_values(SEXP x) {
  SEXP values = values_of(x);
  if (values != R_NilValue) return values;
  const joist_dtype dtype = dtype_of(x);
  const SEXPTYPE type = joist_r_view_type(dtype);
  const size_t n = (size_t)length(x);
  joist_r_reason reason;
  SEXP payload = PROTECT(payload_here(x, &reason)), mask = PROTECT(mask_here(x));
  values = kept_part(x, REPLACED);
  if (shows_payload(dtype) || (SEXPTYPE)TYPEOF(values) != type || XLENGTH(values) != (R_xlen_t)n)
    values = Rf_allocVector(type, (R_xlen_t)n);
  PROTECT(values);
  char *const out = elements_of(values);
  if (payload == R_NilValue) {
    for (size_t k = 0; k < n; k++) joist_r_set_missing(type, out + k * joist_r_value_size(type));
    joist_r_view_lose(dtype, n, reason);
  } else {
    struct joist_run run = joist_r_run();
    run.poll = NULL; /* an interrupt would jump */
    keep_lost(x, show(dtype, joist_r_elements(payload), bytes_of(mask), n, out, &run));
  }
  keep(x, VALUES, values);
  UNPROTECT(3);
  return values;
}

/* ---- methods ---- */

/* Whether the payload is in the memory of this process. */
static bool is_readable(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  return TYPEOF(payload) != EXTPTRSXP && !joist_r_map_is_gone(payload);
}

/* Whether R sees the payload itself. */
static bool is_direct(SEXP x) {
  return shows_payload(dtype_of(x)) && !has_flag(x, CONVERTED) && is_readable(x);
}

/* How many elements are -2^31, which R's integers have for their NA. */
static size_t count_smallest(SEXP x) {
  if (dtype_of(x) != JOIST_I32) return 0;
  SEXP payload = R_altrep_data1(x);
  return joist_missing_count(JOIST_HOST_INTEGER, INTEGER_RO(payload), (size_t)XLENGTH(payload),
                             NULL);
}

/* The same of n of them, for a method that makes no objects. */
static void note_among(SEXP x, const void *values, size_t n) {
  if (dtype_of(x) != JOIST_I32 || is_exposed(x)) return;
  const size_t count = joist_missing_count(JOIST_HOST_INTEGER, values, n, NULL);
  if (count > 0) joist_r_view_lose(JOIST_I32, count, JOIST_R_UNREPRESENTABLE);
}

static void note_smallest(SEXP x) {
  if (dtype_of(x) != JOIST_I32) return;
  if (!has_flag(x, SEARCHED)) keep_lost(x, count_smallest(x));
  set_flag(x, SEARCHED);
  read_again(x);
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
  if (is_direct(x) && !is_exposed(x)) {
    if (writable && count_smallest(x) > 0)
      set_flag(x, CONVERTED);
    else
      note_smallest(x);
  }
  const bool direct = is_direct(x);
  if (direct && writable && !is_exposed(x)) {
    joist_r_renew_mark(x, R_NilValue, R_NilValue); /* NA that callers write is not -2^31 */
    own_payload(x);
  }
  SEXP values = direct ? R_altrep_data1(x) : made_values(x);
  if (!direct) read_again(x);
  if (writable) {
    set_flag(x, EXPOSED);
    clear_flag(x, COMPARED);
  }
  return elements_of(values);
}

static const void *data_or_null(SEXP x) {
  if (is_direct(x)) {
    const void *const direct = DATAPTR_OR_NULL(R_altrep_data1(x));
    if (has_flag(x, SEARCHED))
      read_again(x);
    else if (direct != NULL)
      note_among(x, direct, (size_t)length(x));
    return direct;
  }
  SEXP values = values_of(x);
  if (values == R_NilValue) return NULL;
  read_again(x);
  return elements_of(values);
}

/* One value. */
static void value_at(SEXP x, R_xlen_t k, void *out) {
  SEXP values = values_of(x), payload = R_altrep_data1(x);
  if (values == R_NilValue && !is_readable(x)) values = made_values(x);
  if (values != R_NilValue) {
    const size_t size = joist_r_value_size((SEXPTYPE)TYPEOF(values));
    memcpy(out, (const char *)elements_of(values) + (size_t)k * size, size);
    read_part_again(x, k, out, 1);
    return;
  }
  const joist_dtype dtype = dtype_of(x);
  const char *const elements = joist_r_elements(payload);
  const uint8_t *const mask = bytes_of(kept_part(x, MASK));
  if (mask != NULL && mask[k])
    joist_r_set_missing((SEXPTYPE)TYPEOF(x), out);
  else if (dtype == JOIST_F32)
    *(double *)out = ((const float *)elements)[k];
  else if (dtype == JOIST_BOOL)
    *(int *)out = elements[k] != 0;
  else
    (void)show(dtype, elements + (size_t)k * joist_dtype_size(dtype), NULL, 1, out, NULL);
}

static int logical_element(SEXP x, R_xlen_t k) {
  int value = NA_LOGICAL;
  value_at(x, k, &value);
  return value;
}

static int integer_element(SEXP x, R_xlen_t k) {
  if (!is_direct(x)) return logical_element(x, k);
  const int value = INTEGER_ELT(R_altrep_data1(x), k);
  if (value == NA_INTEGER) note_among(x, &value, 1);
  return value;
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
  const R_xlen_t all = length(x);
  if (start < 0 || start >= all || n <= 0) return 0;
  const R_xlen_t count = n < all - start ? n : all - start;
  SEXP values = values_of(x), payload = R_altrep_data1(x);
  const joist_dtype dtype = dtype_of(x);
  const bool direct = is_direct(x);
  if (!direct && values == R_NilValue && !is_readable(x)) values = made_values(x);
  if (direct || values != R_NilValue) {
    const size_t size = joist_r_value_size((SEXPTYPE)TYPEOF(x));
    const char *const from = elements_of(direct ? payload : values);
    memcpy(out, from + (size_t)start * size, (size_t)count * size);
    direct ? note_among(x, out, (size_t)count) : read_part_again(x, start, out, (size_t)count);
  } else {
    const char *const elements = joist_r_elements(payload);
    const uint8_t *const mask = bytes_of(kept_part(x, MASK));
    (void)show(dtype, elements + (size_t)start * joist_dtype_size(dtype),
               mask == NULL ? NULL : mask + start, (size_t)count, out, NULL);
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

/* For more than a few elements R would ask for each: converted at once, they are read from there.
 */
static SEXP subset(SEXP x, SEXP index, SEXP call) {
  (void)call;
  if (!is_direct(x) && XLENGTH(index) > length(x) / 8) (void)made_values(x);
  return NULL;
}

/* ---- what callers wrote ---- */

typedef enum { SAME, CHANGED, MISFIT, UNREADABLE } outcome;

/* Finds what callers have written to the values of x since. `now` is a payload in R's memory with
 * it, if that fits the dtype, and `missing` its mask, or R_NilValue; `error` says what does not. */
static outcome read_written(SEXP x, SEXP *now, SEXP *missing, struct joist_error *error) {
  joist_r_reason reason;
  SEXP payload = PROTECT(payload_here(x, &reason)), merged = payload;
  SEXP mask = PROTECT(mask_here(x)), marked = mask;
  PROTECT_INDEX mark;
  PROTECT_WITH_INDEX(marked, &mark);
  SEXP values = is_exposed(x) && !is_direct(x) ? values_of(x) : R_NilValue;
  const joist_dtype dtype = dtype_of(x);
  const size_t each = joist_r_value_size(joist_r_view_type(dtype)), size = joist_dtype_size(dtype);
  const size_t n = values == R_NilValue || payload == R_NilValue ? 0 : (size_t)length(x);
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(merged, &at);
  Rcomplex shown[BLOCK];
  size_t misfit = 0;
  for (size_t start = 0; start < n && misfit == 0; start += BLOCK) {
    const size_t count = n - start < BLOCK ? n - start : BLOCK;
    const char *const block = (const char *)elements_of(values) + start * each;
    (void)joist_r_convert_values(dtype, (const char *)joist_r_elements(payload) + start * size,
                                 mask == R_NilValue ? NULL : RAW_RO(mask) + start, count, shown,
                                 NULL);
    if (memcmp(block, shown, count * each) == 0) continue;
    if (merged == payload) {
      REPROTECT(merged = Rf_allocVector((SEXPTYPE)TYPEOF(payload), XLENGTH(payload)), at);
      memcpy(joist_r_elements(merged), joist_r_elements(payload), n * size);
      REPROTECT(marked = Rf_allocVector(RAWSXP, (R_xlen_t)n), mark);
      if (mask != R_NilValue)
        memcpy(RAW(marked), RAW_RO(mask), n);
      else
        memset(RAW(marked), 0, n);
    }
    misfit = joist_r_merge_values(dtype, block, (const char *)shown, count,
                                  (char *)joist_r_elements(merged) + start * size,
                                  RAW(marked) + start, error);
    if (misfit > 0) error->position = start + misfit;
  }
  *now = merged;
  *missing = marked != R_NilValue && memchr(RAW_RO(marked), 1, (size_t)XLENGTH(marked)) == NULL
                 ? R_NilValue
                 : marked;
  UNPROTECT(4);
  return payload == R_NilValue ? UNREADABLE
         : misfit > 0          ? MISFIT
         : merged == payload   ? SAME
                               : CHANGED;
}

/* The mask of the NA that callers have written to a payload that R sees directly; R_NilValue if
 * there is none. It stays the same one while it agrees. */
static SEXP written_mask(SEXP x) {
  SEXP payload = R_altrep_data1(x), before = kept_part(x, MASK);
  const joist_host host = joist_r_view_host(dtype_of(x));
  const size_t n = (size_t)XLENGTH(payload);
  if (joist_missing_count(host, joist_r_elements(payload), n, NULL) == 0) return R_NilValue;
  SEXP mask = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)n));
  joist_missing_mask(host, joist_r_elements(payload), n, RAW(mask));
  const bool same = before != R_NilValue && memcmp(RAW_RO(before), RAW_RO(mask), n) == 0;
  if (!same) keep(x, MASK, mask);
  UNPROTECT(1);
  return same ? before : mask;
}

/* R makes an ordinary vector where this returns NULL: the plain form, with the same attributes. */
static SEXP duplicate(SEXP x, Rboolean deep) {
  (void)deep;
  const joist_dtype dtype = dtype_of(x);
  struct joist_error error;
  SEXP payload = R_altrep_data1(x), mask = kept_part(x, MASK), now, missing;
  if (is_exposed(x) && is_direct(x)) {
    PROTECT(mask = written_mask(x));
    payload = Rf_duplicate(payload);
    UNPROTECT(1);
  } else if (is_exposed(x)) {
    const outcome found = read_written(x, &now, &missing, &error);
    if (found == MISFIT) return NULL;
    if (found == CHANGED) payload = now, mask = missing;
  }
  PROTECT(payload);
  PROTECT(mask);
  SEXP copy = PROTECT(joist_r_view(payload, dtype));
  if (mask != R_NilValue) joist_r_view_set_mask(copy, mask);
  UNPROTECT(3);
  return copy;
}

/* ---- saving ---- */

/* The elements, the name of the dtype, and the mask if there is one. R saves the values, as the
 * plain form, where this returns NULL: those that do not fit the dtype. An error if the elements
 * cannot be read; the collector is enabled here. */
static SEXP state(SEXP x) {
  struct joist_error error;
  SEXP payload, mask;
  joist_r_map_check(R_altrep_data1(x));
  const outcome found = read_written(x, &payload, &mask, &error);
  if (found == MISFIT) return NULL;
  if (found == UNREADABLE)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "the elements of this tensor cannot be copied from its device");
  PROTECT(payload);
  if (is_exposed(x) && is_direct(x)) mask = written_mask(x);
  PROTECT(mask);
  SEXP saved = PROTECT(Rf_allocVector(VECSXP, mask == R_NilValue ? 2 : 3));
  SET_VECTOR_ELT(saved, 0, payload);
  SET_VECTOR_ELT(saved, 1, Rf_mkString(joist_dtype_name(dtype_of(x))));
  if (mask != R_NilValue) SET_VECTOR_ELT(saved, 2, mask);
  UNPROTECT(3);
  return saved;
}

/* Whether n elements are ones that the dtype has: not every byte is a bool. */
static bool are_valid(joist_dtype dtype, SEXP payload) {
  if (TYPEOF(payload) != RAWSXP) return true;
  struct joist_error error;
  const size_t n = (size_t)XLENGTH(payload) / joist_dtype_size(dtype);
  return joist_check_elements(dtype, RAW(payload), n, &error) == JOIST_OK;
}

/* Whether it is the mask of so many elements, of which some are missing. */
static bool is_valid_mask(SEXP mask, R_xlen_t n) {
  return TYPEOF(mask) == RAWSXP && XLENGTH(mask) == n && !joist_r_has_attributes(mask) &&
         are_valid(JOIST_BOOL, mask) && n > 0 && memchr(RAW_RO(mask), 1, (size_t)n) != NULL;
}

static SEXP from_state(SEXP class, SEXP saved) {
  (void)class;
  if (TYPEOF(saved) == VECSXP && (XLENGTH(saved) == 2 || XLENGTH(saved) == 3)) {
    SEXP payload = VECTOR_ELT(saved, 0), name = VECTOR_ELT(saved, 1);
    const bool named = TYPEOF(name) == STRSXP && XLENGTH(name) == 1;
    const joist_dtype dtype =
        named ? joist_dtype_parse(CHAR(STRING_ELT(name, 0)), JOIST_STYLE_ANVIL) : JOIST_DTYPE_NONE;
    if (dtype != JOIST_DTYPE_NONE && (SEXPTYPE)TYPEOF(payload) == joist_r_payload_type(dtype) &&
        !joist_r_has_attributes(payload) &&
        (TYPEOF(payload) != RAWSXP || XLENGTH(payload) % (R_xlen_t)joist_dtype_size(dtype) == 0) &&
        are_valid(dtype, payload)) {
      /* R counts references: the list must not be one, or the first assignment would copy. */
      PROTECT(payload);
      SET_VECTOR_ELT(saved, 0, R_NilValue);
      SEXP x = PROTECT(joist_r_view(payload, dtype));
      const bool masked = XLENGTH(saved) == 3;
      const bool valid = !masked || is_valid_mask(VECTOR_ELT(saved, 2), length(x));
      if (masked && valid) {
        SEXP mask = PROTECT(VECTOR_ELT(saved, 2));
        SET_VECTOR_ELT(saved, 2, R_NilValue);
        joist_r_view_set_mask(x, mask);
        UNPROTECT(1);
      }
      if (joist_r_has_exact_mark(dtype)) joist_r_adopt_mark(payload, kept_part(x, MASK));
      UNPROTECT(2);
      if (valid) return x;
    }
  }
  joist_r_stop(JOIST_ERROR_VALUE, "the saved elements of a tensor are damaged");
}

static Rboolean inspect(SEXP x, int pre, int deep, int pvec,
                        void (*inspect_subtree)(SEXP, int, int, int)) {
  (void)pre, (void)deep, (void)pvec, (void)inspect_subtree;
  Rprintf(" joist %s @%llx%s%s\n", joist_dtype_name(dtype_of(x)),
          (unsigned long long)(uintptr_t)R_altrep_data1(x),
          values_of(x) == R_NilValue ? "" : ", converted", is_exposed(x) ? ", writable" : "");
  return TRUE;
}

/* They belong to no library, as R's own classes do: R takes the methods of a library that it
 * unloads from the vectors that are left, and those of joist keep it mapped (joist_r_unload()). */
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

/* Takes what callers wrote. The payload stays the same one while it agrees, since this may be one
 * of several reads whose pointers are in use. */
static void update_payload(SEXP x) {
  SEXP payload = R_altrep_data1(x);
  struct joist_error error;
  SEXP now, mask;
  const outcome found = read_written(x, &now, &mask, &error);
  if (found == MISFIT) joist_r_raise(joist_error_status(error.code), &error);
  if (found != CHANGED) return; /* what cannot be read is found so by the caller */
  PROTECT(now);
  PROTECT(mask);
  if (TYPEOF(payload) == EXTPTRSXP) {
    const struct joist_device *const device = joist_r_remote_device(payload);
    const size_t n = (size_t)length(x);
    now = joist_r_upload(device, dtype_of(x), n, joist_r_elements(now));
    PROTECT(now);
    if (mask != R_NilValue) mask = joist_r_upload(device, JOIST_BOOL, n, RAW(mask));
    UNPROTECT(1);
  }
  PROTECT(now);
  PROTECT(mask);
  keep(x, REPLACED, payload);
  R_set_altrep_data1(x, now);
  keep_lost(x, 0); /* the NA that are left were warned about */
  joist_r_view_set_mask(x, mask);
  joist_r_renew_mark(x, now, mask);
  UNPROTECT(4);
}

bool joist_r_view_read(SEXP x, struct joist_r_viewed *viewed) {
  if (!ALTREP(x)) return false;
  if (!joist_r_view_is(x)) {
    x = unwrapped(x);
    if (x == R_NilValue) return false;
  }
  const bool exposed = is_exposed(x);
  if (exposed && !is_direct(x)) update_payload(x);
  joist_r_map_check(R_altrep_data1(x));
  SEXP mask = exposed && is_direct(x) ? written_mask(x) : kept_part(x, MASK);
  if (exposed) set_flag(x, COMPARED);
  *viewed = (struct joist_r_viewed){R_altrep_data1(x), mask, dtype_of(x), exposed};
  return true;
}

void joist_r_view_set_mask(SEXP x, SEXP mask) {
  if (mask == R_NilValue && kept_part(x, MASK) == R_NilValue) return;
  keep(x, MASK, mask);
  if (mask != R_NilValue)
    set_flag(x, CONVERTED);
  else if (!is_exposed(x)) /* its values are where a caller may write */
    clear_flag(x, CONVERTED);
  if (joist_r_has_exact_mark(dtype_of(x))) joist_r_renew_mark(x, R_altrep_data1(x), mask);
}

bool joist_r_view_peek(SEXP x, struct joist_r_viewed *viewed, const void **values) {
  x = ALTREP(x) ? unwrapped(x) : R_NilValue;
  if (x == R_NilValue || !has_flag(x, COMPARED) || !is_readable(x)) return false;
  const bool direct = is_direct(x);
  *viewed = (struct joist_r_viewed){R_altrep_data1(x), direct ? R_NilValue : kept_part(x, MASK),
                                    dtype_of(x), true};
  *values = direct ? NULL : elements_of(values_of(x));
  return true;
}

const void *joist_r_view_values(SEXP x) {
  x = ALTREP(x) ? unwrapped(x) : R_NilValue;
  return x == R_NilValue ? NULL : elements_of(is_direct(x) ? R_altrep_data1(x) : made_values(x));
}

bool joist_r_view_exposed(SEXP x) {
  x = unwrapped(x);
  return x == R_NilValue || is_exposed(x);
}

/* The view is kept for callers that have a pointer to it. */
void joist_r_view_changed(SEXP x) {
  SEXP values = values_of(x);
  if (joist_r_has_exact_mark(dtype_of(x)))
    joist_r_renew_mark(x, R_altrep_data1(x), kept_part(x, MASK));
  if (is_exposed(x)) return;
  if (values != R_NilValue) {
    keep(x, REPLACED, values);
    keep(x, VALUES, R_NilValue);
  }
  keep_lost(x, 0);
  if (has_flag(x, SEARCHED)) clear_flag(x, SEARCHED);
}

void joist_r_view_empty(SEXP x) {
  static SEXP none[JOIST_DTYPE_COUNT];
  const joist_dtype dtype = dtype_of(x);
  if (none[dtype] == NULL) {
    SEXP made = Rf_allocVector(joist_r_payload_type(dtype), 0);
    R_PreserveObject(made);
    none[dtype] = made;
  }
  R_set_altrep_data1(x, none[dtype]);
  R_set_altrep_data2(x, notes[dtype][0]);
}
