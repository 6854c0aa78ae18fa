/* Threads, instruction set and build facts, and when the library may be unloaded. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr() */
#endif
#include "r/session.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/pool.h"
#include "core/base/threads.h"
#include "core/device.h"
#include "core/kernels/kernels.h"
#include "r/device_payload.h"
#include "r/error_text.h"
#include "r/payload.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

SEXP joist_r_threads(SEXP threads) {
  if (threads != R_NilValue) {
    const double n = joist_r_number(threads);
    if (!(n >= 1) || !R_FINITE(n) || n != floor(n))
      joist_r_stop(JOIST_ERROR_VALUE, "`threads` must be a whole number of at least 1");
    joist_threads_set(n < INT_MAX ? (int)n : INT_MAX);
  }
  return Rf_ScalarInteger(joist_threads_get());
}

SEXP joist_r_instruction_set(SEXP name) {
  if (name != R_NilValue && !joist_kernels_select(joist_r_string(name, "name")))
    joist_r_stop(JOIST_ERROR_VALUE, "this processor or build has no instruction set \"%s\"",
                 joist_r_string(name, "name"));
  return Rf_mkString(joist_kernels_name());
}

SEXP joist_r_build(void) {
  static const char *names[] = {"openmp", "threads", "thread_limit", "instruction_set",
                                "nvcc",   "cuda",    "driver",       ""};
  SEXP facts = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(facts, 0, Rf_ScalarLogical(joist_threads_have_openmp()));
  SET_VECTOR_ELT(facts, 1, Rf_ScalarInteger(joist_threads_get()));
  SET_VECTOR_ELT(facts, 2, Rf_ScalarInteger(joist_threads_limit()));
  SET_VECTOR_ELT(facts, 3, Rf_mkString(joist_kernels_name()));
  SET_VECTOR_ELT(facts, 4, Rf_ScalarLogical(JOIST_NVCC_FOUND));
  SET_VECTOR_ELT(facts, 5, Rf_ScalarLogical(JOIST_CUDA_BUILT));
  SET_VECTOR_ELT(facts, 6, Rf_ScalarLogical(joist_device_has_driver()));
  UNPROTECT(1);
  return facts;
}

/* Bytes in use, kept and the bound on what is kept; sets the bound if one is given. */
SEXP joist_r_memory(SEXP limit) {
  if (limit != R_NilValue) {
    const double bytes = joist_r_number(limit);
    if (!(bytes >= 0))
      joist_r_stop(JOIST_ERROR_VALUE, "`limit` must be a number of bytes of at least 0");
    joist_pool_set_limit(bytes < (double)SIZE_MAX / 2 ? (size_t)bytes : SIZE_MAX / 2);
  }
  joist_r_free_payloads();
  const struct joist_pool_figures figures = joist_pool_figures();
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 3));
  REAL(out)[0] = (double)figures.used;
  REAL(out)[1] = (double)figures.kept;
  REAL(out)[2] = (double)figures.limit;
  UNPROTECT(1);
  return out;
}

SEXP joist_r_trim_memory(void) {
  joist_r_free_payloads();
  return Rf_ScalarReal((double)joist_device_trim());
}

SEXP joist_r_device_names(void) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)joist_device_count()));
  for (R_xlen_t k = 0; k < XLENGTH(names); k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_device_at((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

SEXP joist_r_devices_in_use(void) {
  R_xlen_t n = 0;
  while (joist_device_in_use((size_t)n) != NULL) n++;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t k = 0; k < n; k++)
    SET_STRING_ELT(names, k, Rf_mkChar(joist_device_in_use((size_t)k)->name));
  UNPROTECT(1);
  return names;
}

/* A GPU that was asked for is never replaced by the CPU: the error says what is missing. */
static _Noreturn void not_ready(const char *name, const struct joist_device *device,
                                const struct joist_error *why) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const size_t n = joist_device_diagnose(rows);
  char text[JOIST_R_ERROR_TEXT_SIZE], message[JOIST_R_ERROR_TEXT_SIZE] = "";
  if (device != NULL) joist_r_error_text(why, message);
  size_t used = (size_t)snprintf(text, sizeof text, "the device \"%s\" cannot be used%s%.400s",
                                 name, device == NULL ? "" : ": ", device == NULL ? "" : message);
  for (size_t k = 0; k < n && used < sizeof text; k++)
    if (!rows[k].found && (device == NULL || strcmp(rows[k].detail, message) != 0))
      used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s: %s", rows[k].item,
                               rows[k].detail);
  joist_r_stop(JOIST_ERROR_DEVICE, "%s", text);
}

SEXP joist_r_device(SEXP name) {
  const bool is_string =
      TYPEOF(name) == STRSXP && XLENGTH(name) == 1 && STRING_ELT(name, 0) != NA_STRING;
  const char *const text = is_string ? Rf_translateCharUTF8(STRING_ELT(name, 0)) : "";
  if (!is_string)
    joist_r_stop(JOIST_ERROR_DEVICE, "a device is given by its name, one string such as \"cpu\"");
  const struct joist_device *const device = joist_device_find(text);
  struct joist_error error;
  if (device != NULL && device->ready(device, &error) == JOIST_OK)
    return joist_r_device_object(device->name);
  if (device != NULL || strncmp(text, "cuda", 4) == 0) not_ready(text, device, &error);
  char known[256] = "";
  for (size_t k = 0, used = 0; k < joist_device_count() && used < sizeof known; k++)
    used += (size_t)snprintf(known + used, sizeof known - used, k == 0 ? "%s" : ", %s",
                             joist_device_at(k)->name);
  joist_r_stop(JOIST_ERROR_DEVICE,
               "there is no device \"%s\" in this build of joist; the devices are: %s", text,
               known);
}

/* ---- unloading ---- */

static bool has_finalizers = false;

void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit) {
  has_finalizers = true;
  R_RegisterCFinalizerEx(pointer, finalize, at_exit ? TRUE : FALSE);
}

/* R unloads a library that it is asked to unload, and later calls what frees a payload or ends an
 * external pointer. Opened once more, the library stays where it is. */
void joist_r_unload(void) {
  joist_r_collect(true);
  if (!has_finalizers && joist_pool_figures().used == 0) return;
#ifndef _WIN32
  Dl_info info;
  if (dladdr(&has_finalizers, &info) != 0 && info.dli_fname != NULL)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL);
#endif
}
