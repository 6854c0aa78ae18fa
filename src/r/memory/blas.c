/* Finds the routines of R's BLAS and LAPACK. The BLAS that R is linked with may be the reference
 * implementation, which our own kernels are many times faster than: it then multiplies only
 * on request. An optimized BLAS is recognized by the functions that it adds to the standard. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr() */
#endif
#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include "r/memory/blas.h"

#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#include <string.h>

#include "core/ops/linalg/blas.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif

/* A library that has `symbol`. Those with both functions let others set their threads. */
static const struct vendor {
  const char *name, *symbol, *set_threads, *get_threads;
} vendors[] = {
    {"OpenBLAS", "openblas_get_config", "openblas_set_num_threads", "openblas_get_num_threads"},
    {"MKL", "MKL_Set_Num_Threads_Local", "MKL_Set_Num_Threads_Local", NULL},
    {"FlexiBLAS", "flexiblas_current_backend", "flexiblas_set_num_threads",
     "flexiblas_get_num_threads"},
    {"BLIS", "bli_info_get_version_str", NULL, NULL},
    {"NVPL", "nvpl_blas_get_version", NULL, NULL},
    {"Arm Performance Libraries", "armpl_set_num_threads", NULL, NULL},
    {"Accelerate", "BLASSetThreading", NULL, NULL},
    {"ATLAS", "ATL_buildinfo", NULL, NULL},
};

static joist_blas_gemm *found[JOIST_DTYPE_COUNT];
static const struct vendor *vendor; /* NULL: the reference implementation, or unknown */
static union {
  void *object; /* what dlsym() gives */
  void (*set)(int);
  int (*set_local)(int);
  int (*get)(void);
  joist_blas_gemm *gemm;
} set_threads, get_threads;

/* ---- symbols of the library that dgemm() is in ---- */

#ifdef _WIN32
static void *open_blas(void) { return NULL; }
static void *symbol_of(void *library, const char *name) {
  (void)library;
  (void)name;
  return NULL;
}
#else
static void *open_blas(void) {
  union {
    joist_blas_gemm *function;
    const void *object;
  } dgemm = {.function = (joist_blas_gemm *)&F77_NAME(dgemm)};
  Dl_info info;
  if (dladdr(dgemm.object, &info) == 0 || info.dli_fname == NULL) return NULL;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL); /* it is loaded: a look-up only */
}
static void *symbol_of(void *library, const char *name) { return dlsym(library, name); }
#endif

/* ---- threads ---- */

static int set_local_threads(int threads) { return set_threads.set_local(threads); }

static int set_all_threads(int threads) {
  const int before = get_threads.get();
  if (threads != before) set_threads.set(threads);
  return before;
}

static void find_thread_setting(void *library) {
  if (vendor == NULL || vendor->set_threads == NULL) return;
  set_threads.object = symbol_of(library, vendor->set_threads);
  if (set_threads.object == NULL) return;
  if (vendor->get_threads == NULL) {
    joist_blas.set_threads = set_local_threads;
    return;
  }
  get_threads.object = symbol_of(library, vendor->get_threads);
  if (get_threads.object != NULL) joist_blas.set_threads = set_all_threads;
}

/* ---- the tables ---- */

static joist_blas_gemm *gemm_named(void *library, const char *name) {
  union {
    void *object;
    joist_blas_gemm *function;
  } symbol = {.object = symbol_of(library, name)};
  return symbol.function;
}

static void use_blas(bool use) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) joist_blas.gemm[d] = use ? found[d] : NULL;
}

static void fill_lapack(void) {
  joist_lapack.potrf[0] = (joist_lapack_potrf *)&F77_NAME(dpotrf);
  joist_lapack.potrf[1] = (joist_lapack_potrf *)&F77_NAME(zpotrf);
  joist_lapack.getrf[0] = (joist_lapack_getrf *)&F77_NAME(dgetrf);
  joist_lapack.getrf[1] = (joist_lapack_getrf *)&F77_NAME(zgetrf);
  joist_lapack.getrs[0] = (joist_lapack_getrs *)&F77_NAME(dgetrs);
  joist_lapack.getrs[1] = (joist_lapack_getrs *)&F77_NAME(zgetrs);
  joist_lapack.gecon[0] = (joist_lapack_gecon *)&F77_NAME(dgecon);
  joist_lapack.gecon[1] = (joist_lapack_gecon *)&F77_NAME(zgecon);
  joist_lapack.trtrs[0] = (joist_lapack_trtrs *)&F77_NAME(dtrtrs);
  joist_lapack.trtrs[1] = (joist_lapack_trtrs *)&F77_NAME(ztrtrs);
  joist_lapack.geqrf[0] = (joist_lapack_geqrf *)&F77_NAME(dgeqrf);
  joist_lapack.geqrf[1] = (joist_lapack_geqrf *)&F77_NAME(zgeqrf);
  joist_lapack.orgqr[0] = (joist_lapack_orgqr *)&F77_NAME(dorgqr);
  joist_lapack.orgqr[1] = (joist_lapack_orgqr *)&F77_NAME(zungqr);
  joist_lapack.gesdd = (joist_lapack_gesdd *)&F77_NAME(dgesdd);
  joist_lapack.zgesdd = (joist_lapack_zgesdd *)&F77_NAME(zgesdd);
  joist_lapack.syevr = (joist_lapack_syevr *)&F77_NAME(dsyevr);
  joist_lapack.zheev = (joist_lapack_zheev *)&F77_NAME(zheev);
  joist_lapack.dgeev = (joist_lapack_dgeev *)&F77_NAME(dgeev);
  joist_lapack.zgeev = (joist_lapack_zgeev *)&F77_NAME(zgeev);
}

void joist_r_blas_init(void) {
  found[JOIST_F64] = (joist_blas_gemm *)&F77_NAME(dgemm);
  found[JOIST_C128] = (joist_blas_gemm *)&F77_NAME(zgemm);
  fill_lapack();
  void *const library = open_blas();
  if (library == NULL) return;
  found[JOIST_F32] = gemm_named(library, "sgemm_");
  found[JOIST_C64] = gemm_named(library, "cgemm_");
  for (size_t v = 0; v < sizeof vendors / sizeof *vendors && vendor == NULL; v++)
    if (symbol_of(library, vendors[v].symbol) != NULL) vendor = &vendors[v];
  find_thread_setting(library);
  use_blas(vendor != NULL);
}

SEXP joist_r_blas(SEXP choice) {
  if (choice != R_NilValue) {
    const char *const text = joist_r_string(choice, "choice");
    if (strcmp(text, "auto") != 0 && strcmp(text, "blas") != 0 && strcmp(text, "joist") != 0)
      joist_r_stop(JOIST_ERROR_VALUE,
                   "matrix products are computed by \"auto\", \"blas\" or \"joist\"");
    use_blas(strcmp(text, "blas") == 0 || (strcmp(text, "auto") == 0 && vendor != NULL));
  }
  if (joist_blas.gemm[JOIST_F64] == NULL) return Rf_mkString("joist");
  return Rf_mkString(vendor != NULL ? vendor->name : "BLAS");
}
