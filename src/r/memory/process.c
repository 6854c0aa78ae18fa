/* Threads, instruction set, build facts and memory, and when the library may be unloaded. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr() */
#endif
#include "r/memory/process.h"

#include <limits.h>
#include <math.h>

#include "core/base/pool.h"
#include "core/base/threads.h"
#include "core/cpu/native_compile.h"
#include "core/device.h"
#include "core/kernels/half_tables.h"
#include "core/kernels/kernels.h"
#include "core/ops/signal/fft.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/memory/payload.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

SEXP joist_r_threads(SEXP threads) {
  if (threads != R_NilValue) {
    const double n = joist_r_number(threads);
    if (!(n >= 1) || !R_FINITE(n) || n != floor(n))
      joist_r_stop(JOIST_ERROR_VALUE, "`threads` must be a whole number, 1 or more");
    joist_threads_set(n < INT_MAX ? (int)n : INT_MAX);
  }
  return Rf_ScalarInteger(joist_threads_get());
}

SEXP joist_r_instruction_set(SEXP name) {
  if (name != R_NilValue && !joist_kernels_select(joist_r_string(name, "name")))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the instruction set \"%s\" is not available on this processor or in this build",
                 joist_r_string(name, "name"));
  return Rf_mkString(joist_kernels_name());
}

/* The operations that a device has no kernel for; none of a device that is not built. */
static SEXP on_cpu(const struct joist_device *device) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, JOIST_OP_COUNT));
  R_xlen_t n = 0;
  for (int op = 0; device != NULL && op < JOIST_OP_COUNT; op++)
    if (!device->runs(device, (joist_op)op))
      SET_STRING_ELT(names, n++, Rf_mkChar(joist_op_name((joist_op)op)));
  names = Rf_xlengthgets(names, n);
  UNPROTECT(1);
  return names;
}

SEXP joist_r_build(void) {
  static const char *names[] = {"openmp",          "threads", "thread_limit",
                                "instruction_set", "nvcc",    "cuda",
                                "driver",          "on_cpu",  ""};
  SEXP facts = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(facts, 0, Rf_ScalarLogical(joist_threads_have_openmp()));
  SET_VECTOR_ELT(facts, 1, Rf_ScalarInteger(joist_threads_get()));
  SET_VECTOR_ELT(facts, 2, Rf_ScalarInteger(joist_threads_limit()));
  SET_VECTOR_ELT(facts, 3, Rf_mkString(joist_kernels_name()));
  SET_VECTOR_ELT(facts, 4, Rf_ScalarLogical(JOIST_NVCC_FOUND));
  SET_VECTOR_ELT(facts, 5, Rf_ScalarLogical(JOIST_CUDA_BUILT));
  SET_VECTOR_ELT(facts, 6, Rf_ScalarLogical(joist_device_has_driver()));
  SET_VECTOR_ELT(facts, 7, on_cpu(joist_device_find("cuda")));
  UNPROTECT(1);
  return facts;
}

/* Bytes in use, kept and the bound on what is kept; sets the bound if one is given. */
SEXP joist_r_memory(SEXP limit) {
  if (limit != R_NilValue) {
    const double bytes = joist_r_number(limit);
    if (!(bytes >= 0))
      joist_r_stop(JOIST_ERROR_VALUE, "`limit` must be a number of bytes, 0 or more");
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
  joist_fft_forget();
  return Rf_ScalarReal((double)joist_device_trim());
}

/* R unloads a library when dyn.unload() asks for it, as pkgload does, and later calls the
 * finalizers that the library has registered. R has no function that removes finalizers, and a
 * library cannot refuse. So if objects are left, the library is opened once more: its code stays
 * where it is. */
void joist_r_unload(void) {
  joist_r_collect(true);
  joist_native_stop();
  joist_half_tables_forget();
  joist_fft_forget();
  if (!joist_r_has_finalizers() && joist_pool_figures().used == 0) return;
#ifndef _WIN32
  static const char here = 0;
  Dl_info info;
  if (dladdr(&here, &info) != 0 && info.dli_fname != NULL)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL);
#endif
}
