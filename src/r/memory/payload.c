/* The R vectors that hold the elements of tensors, and when the unused ones are collected. */
#include "r/memory/payload.h"

#include "core/base/pool.h"
#include "r/base/conditions.h"
#include "r/base/keep_alive.h"
#include "r/memory/altrep_payload.h"

#if !JOIST_R_PAYLOADS_ARE_ALTREP
#include <R_ext/Rallocators.h>
#endif

/* ---- payloads that are used again ---- */

enum { RETIRED = 2, RETIRED_BYTES = 8 << 20 /* of each */ };

static SEXP retired(void) {
  static SEXP list = NULL;
  if (list == NULL) {
    list = Rf_allocVector(VECSXP, RETIRED);
    R_PreserveObject(list);
  }
  return list;
}

void joist_r_retire_payload(SEXP payload) {
  static int next = 0;
  const size_t size = joist_r_element_size((SEXPTYPE)TYPEOF(payload));
  const size_t bytes = (size_t)XLENGTH(payload) * size;
  if (bytes < JOIST_POOL_MIN || bytes > RETIRED_BYTES) return;
  PROTECT(payload);
  SET_VECTOR_ELT(retired(), next, payload);
  UNPROTECT(1);
  next = (next + 1) % RETIRED;
}

static SEXP retired_payload(SEXPTYPE type, R_xlen_t n) {
  SEXP list = retired();
  for (int k = 0; k < RETIRED; k++) {
    SEXP payload = VECTOR_ELT(list, k);
    if ((SEXPTYPE)TYPEOF(payload) != type || XLENGTH(payload) != n) continue;
    SET_VECTOR_ELT(list, k, R_NilValue);
    return payload;
  }
  return R_NilValue;
}

static void forget_retired(void) {
  for (int k = 0; k < RETIRED; k++) SET_VECTOR_ELT(retired(), k, R_NilValue);
}

/* ---- collecting ---- */

/* R's objects after the latest collection. */
static double objects = 0;

void joist_r_collect(bool full) {
  forget_retired();
  static SEXP calls[2] = {NULL, NULL};
  if (calls[full] == NULL) {
    SEXP flag = PROTECT(Rf_ScalarLogical(full));
    SEXP no = PROTECT(Rf_ScalarLogical(FALSE));
    SEXP call = PROTECT(Rf_lang4(Rf_install("gc"), no, no, flag));
    R_PreserveObject(call);
    UNPROTECT(3);
    calls[full] = call;
  }
#if JOIST_R_PAYLOADS_ARE_ALTREP
  SEXP figures = joist_r_altrep_payload_collect(calls[full]);
#else
  SEXP figures = Rf_eval(calls[full], R_BaseEnv);
#endif
  if (TYPEOF(figures) == REALSXP && XLENGTH(figures) > 0) objects = REAL(figures)[0];
}

void joist_r_free_payloads(void) {
  forget_retired();
  joist_r_release_returned();
#if JOIST_R_PAYLOADS_ARE_ALTREP
  joist_r_altrep_payload_free();
#endif
}

/* ---- when to collect ---- */

/* R does not count memory of the pool when it decides whether to collect, so unused payloads would
 * pile up. A minor collection runs when payloads have grown since the last one by the largest of
 * three sizes: ROOM_LEAST, an estimate of the bytes of R's objects, and PAYLOADS times the largest
 * payload since then; but by ROOM_MOST at most. Every twentieth minor collection of R visits more
 * objects and every hundredth visits all, so that their average time grows with the number of
 * objects. A full collection runs when the memory in use has grown by MAJOR bytes, or by half,
 * since the last one. With half of ROOM_LEAST, `x + x` of a million f32 took up to twice as long.
 */
enum {
  ROOM_LEAST = 64 << 20,
  ROOM_MOST = 256 << 20,
  MAJOR = 1 << 28,
  PAYLOADS = 4,
  OBJECT_BYTES = 56
};

static size_t room_for(size_t bytes) {
  const double taken = objects * OBJECT_BYTES, several = (double)bytes * PAYLOADS;
  const double room = taken > several ? taken : several;
  return room > ROOM_MOST ? ROOM_MOST : room < ROOM_LEAST ? ROOM_LEAST : (size_t)room;
}

static void make_room(size_t bytes) {
  static size_t used_after = 0, used_after_full = 0, largest = 0;
  const size_t used = joist_pool_figures().used;
  if (used < used_after) used_after = used;
  if (bytes > largest) largest = bytes; /* a mask is smaller than its elements */
  if (used - used_after + bytes <= room_for(largest)) return;
  joist_r_collect(false);
  largest = bytes;
  used_after = joist_pool_figures().used;
  const size_t grown = used_after_full > 2 * (size_t)MAJOR ? used_after_full / 2 : MAJOR;
  if (used_after <= used_after_full + grown) return;
  joist_r_collect(true);
  used_after = used_after_full = joist_pool_figures().used;
}

/* ---- allocating ---- */

#if JOIST_R_PAYLOADS_ARE_ALTREP

/* What R does where its own vectors find no memory. */
static SEXP allocate_large(SEXPTYPE type, size_t n, size_t bytes) {
  SEXP payload = joist_r_altrep_payload(type, n, bytes);
  if (payload != R_NilValue) return payload;
  joist_r_collect(true);
  payload = joist_r_altrep_payload(type, n, bytes);
  if (payload == R_NilValue) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  return payload;
}

#else

/* R puts a copy of the allocator and the vector's header in front of the elements;
 * starting this far into a block puts the elements on a multiple of 64 bytes. */
enum { PAYLOAD_OFFSET = 48 };

static void *allocate_payload(R_allocator_t *unused, size_t bytes) {
  (void)unused;
  char *const block = joist_pool_allocate(bytes + PAYLOAD_OFFSET);
  return block == NULL ? NULL : block + PAYLOAD_OFFSET;
}

static void free_payload(R_allocator_t *unused, void *memory) {
  (void)unused;
  joist_pool_free((char *)memory - PAYLOAD_OFFSET);
}

static SEXP allocate_large(SEXPTYPE type, size_t n, size_t bytes) {
  R_allocator_t allocator = {allocate_payload, free_payload, NULL, NULL};
  (void)bytes;
  return Rf_allocVector3(type, (R_xlen_t)n, &allocator);
}

#endif

static SEXP allocate_vector(SEXPTYPE type, size_t n, size_t bytes) {
  joist_r_release_returned();
  if (bytes < JOIST_POOL_MIN) return Rf_allocVector(type, (R_xlen_t)n);
  SEXP again = retired_payload(type, (R_xlen_t)n);
  if (again != R_NilValue) return again;
  make_room(bytes);
  return allocate_large(type, n, bytes);
}

SEXPTYPE joist_r_payload_type(joist_dtype dtype) {
  /* The dtypes whose elements are those of one of R's vectors; others are kept as bytes. */
  if (dtype == JOIST_I32) return INTSXP;
  if (dtype == JOIST_F64) return REALSXP;
  return dtype == JOIST_C128 ? CPLXSXP : RAWSXP;
}

SEXP joist_r_payload(joist_dtype dtype, size_t n) {
  const size_t bytes = n * joist_dtype_size(dtype);
  const SEXPTYPE type = joist_r_payload_type(dtype);
  return allocate_vector(type, type == RAWSXP ? bytes : n, bytes);
}
