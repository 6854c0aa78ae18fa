/* Payloads as alternative representations (ALTREP): the elements lie in a block of the pool,
 * behind a header that says how many they are. An external pointer to the block is all the vector
 * has; once it is finalized, the block is given back. R copies and saves such a vector as it does
 * any other, and what comes of that is one of R's own. */
#include "r/memory/altrep_payload.h"

#if JOIST_R_PAYLOADS_ARE_ALTREP
#include <string.h>

#include "core/base/pool.h"
#include "r/base/altrep.h"
#include "r/base/finalizers.h"
#include "r/base/vector.h"

struct block {
  R_xlen_t length;
  bool read; /* since the pointer was finalized */
};
/* Elements start on a multiple of this many bytes, as blocks do. */
enum { HEADER = JOIST_POOL_ALIGNMENT };
enum { POSITIONS = 256 }; /* of a subset that are read at once */
_Static_assert(sizeof(struct block) <= HEADER, "the elements start behind the header");

/* The block is gone only where a finalizer kept a vector that was garbage for later. */
static struct block *block_of(SEXP x) {
  struct block *const block = R_ExternalPtrAddr(R_altrep_data1(x));
  if (block == NULL) Rf_error("the memory of this vector was freed: a finalizer read it too late");
  block->read = true;
  return block;
}

static void *elements_of(SEXP x) { return (char *)block_of(x) + HEADER; }

/* ---- freeing ---- */

/* R finalizes what became garbage in the order opposite to that in which it was registered, so
 * that the pointer of a vector comes before an object that got the vector later, and whose
 * finalizer may read it. So a block is not freed at once but put on a list: external pointers,
 * each protecting the next, that begin with one of no block. Nothing is allocated for it, as R
 * may forget the finalizers that finalizers register. */
static SEXP retired = NULL;

static void finalize(SEXP pointer) {
  struct block *const block = R_ExternalPtrAddr(pointer);
  if (block == NULL) return; /* none could be allocated */
  block->read = false;
  R_SetExternalPtrProtected(pointer, R_ExternalPtrProtected(retired));
  R_SetExternalPtrProtected(retired, pointer);
}

/* Frees the blocks of the list that were not read since: the others may be in use again. */
void joist_r_altrep_payload_free(void) {
  SEXP pointer;
  while ((pointer = R_ExternalPtrProtected(retired)) != R_NilValue) {
    R_SetExternalPtrProtected(retired, R_ExternalPtrProtected(PROTECT(pointer)));
    R_SetExternalPtrProtected(pointer, R_NilValue);
    struct block *const block = R_ExternalPtrAddr(pointer);
    if (block->read) {
      joist_r_finalize_with(pointer, finalize, false);
    } else {
      R_ClearExternalPtr(pointer);
      joist_pool_free(block);
    }
    UNPROTECT(1);
  }
}

/* Whether the latest collection finalized anything: none does within a finalizer. */
static bool finalized;

static void note(SEXP unused) {
  (void)unused;
  finalized = true;
}

SEXP joist_r_altrep_payload_collect(SEXP call) {
  joist_r_owner(note);
  finalized = false;
  SEXP figures = PROTECT(Rf_eval(call, R_BaseEnv));
  if (finalized) joist_r_altrep_payload_free();
  UNPROTECT(1);
  return figures;
}

/* ---- methods ---- */

static R_xlen_t length(SEXP x) { return block_of(x)->length; }

static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  return elements_of(x);
}

static const void *data_or_null(SEXP x) { return elements_of(x); }

/* R would find each element by way of the pointer to them all, several times slower. */
static Rbyte raw_element(SEXP x, R_xlen_t k) { return ((const Rbyte *)elements_of(x))[k]; }
static int integer_element(SEXP x, R_xlen_t k) { return ((const int *)elements_of(x))[k]; }
static double real_element(SEXP x, R_xlen_t k) { return ((const double *)elements_of(x))[k]; }
static Rcomplex complex_element(SEXP x, R_xlen_t k) {
  return ((const Rcomplex *)elements_of(x))[k];
}

/* Copies elements of `size` bytes; false if one of the positions has none. */
static inline bool gather(size_t size, const char *from, R_xlen_t length, const double *positions,
                          R_xlen_t count, char *to) {
  for (R_xlen_t k = 0; k < count; k++) {
    if (!(positions[k] >= 1 && positions[k] < (double)length + 1)) return false;
    memcpy(to + (size_t)k * size, from + ((size_t)positions[k] - 1) * size, size);
  }
  return true;
}

static inline bool gather_whole(size_t size, const char *from, R_xlen_t length,
                                const int *positions, R_xlen_t count, char *to) {
  for (R_xlen_t k = 0; k < count; k++) {
    if (positions[k] < 1 || positions[k] > length) return false;
    memcpy(to + (size_t)k * size, from + ((size_t)positions[k] - 1) * size, size);
  }
  return true;
}

/* A known size makes a move of each copy. */
static bool gather_any(size_t size, const char *from, R_xlen_t length, const int *whole,
                       const double *positions, R_xlen_t count, char *to) {
  switch (size) {
    case 1:
      return whole != NULL ? gather_whole(1, from, length, whole, count, to)
                           : gather(1, from, length, positions, count, to);
    case 4:
      return whole != NULL ? gather_whole(4, from, length, whole, count, to)
                           : gather(4, from, length, positions, count, to);
    case 8:
      return whole != NULL ? gather_whole(8, from, length, whole, count, to)
                           : gather(8, from, length, positions, count, to);
    default:
      return whole != NULL ? gather_whole(16, from, length, whole, count, to)
                           : gather(16, from, length, positions, count, to);
  }
}

/* The positions of a vector that has no elements in memory, such as 1:n, a few at a time. */
static bool gather_parts(size_t size, const char *from, R_xlen_t length, SEXP index, char *to) {
  int whole[POSITIONS];
  double positions[POSITIONS];
  const bool is_whole = TYPEOF(index) == INTSXP;
  const R_xlen_t n = XLENGTH(index);
  for (R_xlen_t k = 0; k < n; k += POSITIONS) {
    const R_xlen_t count = n - k < POSITIONS ? n - k : POSITIONS;
    const R_xlen_t got = is_whole ? INTEGER_GET_REGION(index, k, count, whole)
                                  : REAL_GET_REGION(index, k, count, positions);
    if (got != count || !gather_any(size, from, length, is_whole ? whole : NULL, positions, count,
                                    to + (size_t)k * size))
      return false;
  }
  return true;
}

/* x[index], for which R would ask for each element; it does where some are missing. */
static SEXP subset(SEXP x, SEXP index, SEXP call) {
  (void)call;
  if (TYPEOF(index) != INTSXP && TYPEOF(index) != REALSXP) return NULL;
  const SEXPTYPE type = (SEXPTYPE)TYPEOF(x);
  const R_xlen_t n = XLENGTH(index);
  SEXP result = PROTECT(Rf_allocVector(type, n));
  char *const to = joist_r_elements(result);
  const void *const positions = DATAPTR_OR_NULL(index);
  const size_t size = joist_r_element_size(type);
  const bool complete =
      positions == NULL ? gather_parts(size, elements_of(x), length(x), index, to)
                        : gather_any(size, elements_of(x), length(x),
                                     TYPEOF(index) == INTSXP ? positions : NULL, positions, n, to);
  UNPROTECT(1);
  return complete ? result : NULL;
}

/* ---- classes ---- */

static struct joist_r_altrep family;

void joist_r_altrep_payload_init(void) {
  if (retired == NULL) {
    SEXP made = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_PreserveObject(made);
    UNPROTECT(1);
    retired = made;
  }
  family = joist_r_altrep("payload", length, data, data_or_null);
  for (int k = 0; k < JOIST_R_ALTREP_TYPES; k++)
    R_set_altvec_Extract_subset_method(family.classes[k], subset);
  R_set_altraw_Elt_method(joist_r_altrep_class(&family, RAWSXP), raw_element);
  R_set_altinteger_Elt_method(joist_r_altrep_class(&family, INTSXP), integer_element);
  R_set_altreal_Elt_method(joist_r_altrep_class(&family, REALSXP), real_element);
  R_set_altcomplex_Elt_method(joist_r_altrep_class(&family, CPLXSXP), complex_element);
}

/* ---- making one ---- */

SEXP joist_r_altrep_payload(SEXPTYPE type, size_t n, size_t bytes) {
  /* The finalizer first, so that an allocation that fails leaks nothing. */
  SEXP pointer = PROTECT(joist_r_owner(finalize));
  struct block *const block = joist_pool_allocate(bytes + HEADER);
  if (block == NULL) {
    UNPROTECT(1);
    return R_NilValue;
  }
  *block = (struct block){.length = (R_xlen_t)n};
  R_SetExternalPtrAddr(pointer, block);
  SEXP vector = R_new_altrep(joist_r_altrep_class(&family, type), pointer, R_NilValue);
  UNPROTECT(1);
  return vector;
}

#endif
