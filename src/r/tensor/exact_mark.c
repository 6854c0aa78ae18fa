#include "r/tensor/exact_mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "r/base/altrep.h"
#include "r/base/conditions.h"
#include "r/base/tensor_fields.h"
#include "r/base/vector.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"

/* The first datum is the payload, the second `plain` or, once there is more to keep, this list. */
enum { PLAIN, MASK, TEXTS, PARTS };
enum { TOGETHER = 128, DIGITS = 21 }; /* numbers per string; characters of one, with a space */

static R_altrep_class_t mark_class;

/* The last one read from a file, which still lacks its payload: in a list. */
static SEXP last_read = NULL;

static bool is_exact(SEXP mark) { return ALTREP(mark) && R_altrep_inherits(mark, mark_class); }

static SEXP part_of(SEXP mark, int part) {
  SEXP kept = R_altrep_data2(mark);
  if (TYPEOF(kept) == VECSXP) return VECTOR_ELT(kept, part);
  return part == PLAIN ? kept : R_NilValue;
}

/* ---- the integers that R cannot see ---- */

/* The elements of a tensor in R's memory. */
struct elements {
  joist_dtype dtype;
  const char *data;
  const uint8_t *mask;
  size_t n;
};

static void *here(SEXP payload, size_t bytes) {
  if (TYPEOF(payload) != EXTPTRSXP) return joist_r_elements(payload);
  void *const copy = R_alloc(bytes + 1, 1);
  return joist_r_try_download(payload, bytes, copy) ? copy : NULL;
}

/* No elements if they cannot be read any more. */
static struct elements elements_of(SEXP mark) {
  SEXP payload = R_altrep_data1(mark), mask = part_of(mark, MASK);
  const char *const name = CHAR(STRING_ELT(part_of(mark, PLAIN), 0));
  const joist_dtype dtype = name[0] == 'u' ? JOIST_UI64 : name[1] == '3' ? JOIST_I32 : JOIST_I64;
  struct elements found = {dtype, NULL, NULL, 0};
  if (payload == R_NilValue || joist_r_map_is_gone(payload)) return found;
  const size_t size = joist_dtype_size(found.dtype);
  const size_t bytes =
      TYPEOF(payload) == EXTPTRSXP
          ? joist_r_remote_size(payload)
          : (size_t)XLENGTH(payload) * joist_r_element_size((SEXPTYPE)TYPEOF(payload));
  found.data = here(payload, bytes);
  if (mask != R_NilValue) found.mask = here(mask, bytes / size);
  if (found.data != NULL && (mask == R_NilValue || found.mask != NULL)) found.n = bytes / size;
  return found;
}

/* The next element from `k` on that is not missing and that R sees as NA; n if there is none. */
static size_t next_unseen(const struct elements *e, size_t k) {
  const size_t size = joist_dtype_size(e->dtype);
  while (k < e->n) {
    if (e->dtype == JOIST_I32)
      while (k < e->n && ((const int32_t *)e->data)[k] != INT32_MIN) k++;
    else
      k += joist_first_inexact(e->dtype, e->n - k, e->data + k * size);
    if (k >= e->n || e->mask == NULL || !e->mask[k]) break;
    k++;
  }
  return k;
}

static size_t count_unseen(const struct elements *e) {
  size_t count = 0;
  for (size_t k = next_unseen(e, 0); k < e->n; k = next_unseen(e, k + 1)) count++;
  return count;
}

static SEXP texts_of(SEXP mark) {
  if (part_of(mark, TEXTS) != R_NilValue) return part_of(mark, TEXTS);
  const void *const vmax = vmaxget();
  const struct elements e = elements_of(mark);
  const size_t count = count_unseen(&e), size = joist_dtype_size(e.dtype);
  SEXP texts = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)(1 + (count + TOGETHER - 1) / TOGETHER)));
  SET_STRING_ELT(texts, 0, STRING_ELT(part_of(mark, PLAIN), 0));
  char line[TOGETHER * DIGITS + 64];
  size_t used = 0, done = 0;
  for (size_t k = next_unseen(&e, 0); k < e.n; k = next_unseen(&e, k + 1)) {
    if (used > 0) line[used++] = ' ';
    used += e.dtype == JOIST_I32 ? (size_t)snprintf(line + used, DIGITS, "%zu", k + 1)
                                 : joist_format_element(e.dtype, e.data + k * size, 0, line + used);
    if (++done % TOGETHER != 0 && done < count) continue;
    SET_STRING_ELT(texts, (R_xlen_t)(1 + (done - 1) / TOGETHER), Rf_mkCharLen(line, (int)used));
    used = 0;
  }
  joist_r_altrep_keep(mark, PARTS, PLAIN, TEXTS, texts);
  UNPROTECT(1);
  vmaxset(vmax);
  return texts;
}

/* ---- methods ---- */

static R_xlen_t length(SEXP mark) {
  if (part_of(mark, TEXTS) != R_NilValue) return XLENGTH(part_of(mark, TEXTS));
  const void *const vmax = vmaxget();
  const struct elements e = elements_of(mark);
  const size_t count = count_unseen(&e);
  vmaxset(vmax);
  return (R_xlen_t)(1 + (count + TOGETHER - 1) / TOGETHER);
}

static SEXP element(SEXP mark, R_xlen_t k) {
  return STRING_ELT(k == 0 ? part_of(mark, PLAIN) : texts_of(mark), k);
}

static void *data(SEXP mark, Rboolean writable) {
  (void)writable;
  return (void *)STRING_PTR_RO(texts_of(mark));
}

static const void *data_or_null(SEXP mark) {
  SEXP texts = part_of(mark, TEXTS);
  return texts == R_NilValue ? NULL : STRING_PTR_RO(texts);
}

/* It is never written to. */
static SEXP duplicate(SEXP mark, Rboolean deep) {
  (void)deep;
  return mark;
}

/* R's present format of files has the elements of the tensor. */
static SEXP state(SEXP mark) { return part_of(mark, PLAIN); }

static SEXP from_state(SEXP class, SEXP plain) {
  (void)class;
  if (TYPEOF(plain) != STRSXP || XLENGTH(plain) != 1)
    joist_r_stop(JOIST_ERROR_VALUE, "the saved dtype of a tensor is damaged");
  SEXP mark = R_new_altrep(mark_class, R_NilValue, plain);
  SET_VECTOR_ELT(last_read, 0, mark);
  return mark;
}

void joist_r_exact_mark_init(void) {
  mark_class = R_make_altstring_class("tensor_dtype", "joist", NULL);
  R_set_altrep_Length_method(mark_class, length);
  R_set_altrep_Duplicate_method(mark_class, duplicate);
  R_set_altrep_Serialized_state_method(mark_class, state);
  R_set_altrep_Unserialize_method(mark_class, from_state);
  R_set_altvec_Dataptr_method(mark_class, data);
  R_set_altvec_Dataptr_or_null_method(mark_class, data_or_null);
  R_set_altstring_Elt_method(mark_class, element);
  last_read = Rf_allocVector(VECSXP, 1);
  R_PreserveObject(last_read);
}

/* ---- what tensors do with it ---- */

bool joist_r_has_exact_mark(joist_dtype dtype) {
  return dtype == JOIST_I32 || dtype == JOIST_I64 || dtype == JOIST_UI64;
}

SEXP joist_r_exact_mark(SEXP plain, SEXP payload) {
  return R_new_altrep(mark_class, payload, plain);
}

SEXP joist_r_plain_mark(SEXP mark) { return is_exact(mark) ? part_of(mark, PLAIN) : mark; }

static SEXP mark_of(SEXP x) {
  struct joist_r_marks marks;
  joist_r_read_marks(x, &marks);
  return marks.dtype;
}

static void attach(SEXP mark, SEXP payload, SEXP mask) {
  SEXP plain = PROTECT(part_of(mark, PLAIN));
  R_set_altrep_data1(mark, payload);
  R_set_altrep_data2(mark, plain);
  UNPROTECT(1);
  if (mask != R_NilValue) joist_r_altrep_keep(mark, PARTS, PLAIN, MASK, mask);
}

void joist_r_renew_mark(SEXP x, SEXP payload, SEXP mask) {
  SEXP mark = mark_of(x);
  if (!is_exact(mark)) return;
  PROTECT(payload);
  PROTECT(mask);
  if (MAYBE_SHARED(mark)) {
    mark = PROTECT(joist_r_exact_mark(part_of(mark, PLAIN), payload));
    attach(mark, payload, mask);
    Rf_setAttrib(x, joist_r_dtype_symbol(), mark);
    UNPROTECT(1);
  } else {
    attach(mark, payload, mask);
  }
  UNPROTECT(2);
}

bool joist_r_is_sole_owner(SEXP x, SEXP payload) {
  if (!MAYBE_SHARED(payload)) return true;
  SEXP mark = mark_of(x);
  if (!is_exact(mark) || MAYBE_SHARED(mark) || R_altrep_data1(mark) != payload) return false;
  R_set_altrep_data1(mark, R_NilValue);
  if (!MAYBE_SHARED(payload)) return true;
  R_set_altrep_data1(mark, payload);
  return false;
}

void joist_r_adopt_mark(SEXP payload, SEXP mask) {
  SEXP mark = VECTOR_ELT(last_read, 0);
  if (mark == R_NilValue) return;
  SET_VECTOR_ELT(last_read, 0, R_NilValue);
  attach(mark, payload, mask);
}

/* ---- ordinary vectors ---- */

void joist_r_refuse_lost(joist_host host, const void *values, size_t n) {
  struct joist_error error;
  if (host == JOIST_HOST_DOUBLE) joist_r_raise_if(joist_check_lost(n, values, &error), &error);
}

/* False if not all positions that the attribute has are of NA. */
static bool restore_smallest(SEXP mark, const int *values, size_t n, int32_t *elements,
                             uint8_t *mask) {
  for (R_xlen_t part = 1; part < XLENGTH(mark); part++)
    for (const char *rest = CHAR(STRING_ELT(mark, part)); *rest != '\0';) {
      char *end;
      const unsigned long long position = strtoull(rest, &end, 10);
      if (end == rest || position < 1 || position > n || values[position - 1] != NA_INTEGER)
        return false;
      elements[position - 1] = INT32_MIN;
      mask[position - 1] = 0;
      rest = end;
    }
  return true;
}

/* False if the integers of the attribute are not those of these values. */
static bool restore(SEXP mark, joist_dtype dtype, const double *values, size_t n, void *elements,
                    uint8_t *mask) {
  const size_t size = joist_dtype_size(dtype);
  const char *rest = "";
  R_xlen_t next = 1;
  for (size_t k = 0; k < n; k++) {
    if (!joist_is_lost(&values[k])) continue;
    if (*rest == '\0' && next < XLENGTH(mark)) rest = CHAR(STRING_ELT(mark, next++));
    char text[DIGITS + 1] = {'\0'};
    const size_t digits = strcspn(rest, " ");
    if (digits == 0 || digits > DIGITS) return false;
    memcpy(text, rest, digits);
    rest += digits + (rest[digits] == ' ');
    uint64_t bits;
    struct joist_error error;
    if (joist_parse_integer(text, k + 1, dtype, &bits, &error) != JOIST_OK ||
        !joist_was_lost(&values[k], bits))
      return false;
    memcpy((char *)elements + k * size, &bits, size);
    mask[k] = 0;
  }
  return *rest == '\0' && next == XLENGTH(mark);
}

void joist_r_restore_exact(SEXP mark, joist_dtype dtype, const void *values, size_t n,
                           void *elements, uint8_t *mask) {
  const bool computed = is_exact(mark); /* from a tensor that had the attribute */
  if (dtype == JOIST_I32) {
    if (!computed && !restore_smallest(mark, values, n, elements, mask))
      joist_r_stop(JOIST_ERROR_VALUE,
                   "the `dtype` attribute of this tensor says where -2147483648 "
                   "is, but not all of these elements are NA");
    return;
  }
  if (restore(mark, dtype, values, n, elements, mask)) return;
  joist_r_refuse_lost(JOIST_HOST_DOUBLE, values, n);
  if (!computed)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the integers beyond 2^53 in the `dtype` attribute of this tensor have lost their "
                 "places, as by dput(); make a tensor of text, as in "
                 "nv_tensor(\"9007199254740993\", \"i64\")");
}
