/* How a source file asks for vector loops. The only place with pragmas of optimization.
 *
 * R compiles packages at -O2, where gcc vectorises timidly. Flags of single files would have to be
 * in rules of src/Makevars, by configure, which knows the compiler: R CMD check lists flags that
 * begin with -f as not portable, and R puts its own -O2 after PKG_CFLAGS. So a file of
 * kernels starts with
 *   #include "core/base/vectorize.h"
 *   JOIST_VECTORIZE_FILE
 * and puts JOIST_VECTORIZE_LOOP before a loop whose iterations are independent. Functions of other
 * options are not inlined, so headers with inline functions are included after it. clang
 * vectorises fully at -O2 and needs neither. */
#ifndef JOIST_CORE_BASE_VECTORIZE_H
#define JOIST_CORE_BASE_VECTORIZE_H

#if defined(__GNUC__) && !defined(__clang__)
/* Trapping math would keep gcc from turning comparisons into selects; results are
 * the same without it, only exception flags may differ. Contraction to fused
 * multiply-add would make bits depend on the instruction set; gcc 12's vectorizer of
 * straight-line code contracts complex products even when told not to. */
#define JOIST_OPTIMIZE(options) _Pragma(#options)
#define JOIST_VECTORIZE_FILE                                                                \
  JOIST_OPTIMIZE(GCC optimize("O3", "no-trapping-math", "no-math-errno", "fp-contract=off", \
                              "no-tree-slp-vectorize"))
/* Of -O3, what makes vector code: loops that are simple run as fast, and compile to two thirds. */
#define JOIST_VECTORIZE_FILE_COMPACT                                                  \
  JOIST_OPTIMIZE(GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic",      \
                              "no-trapping-math", "no-math-errno", "fp-contract=off", \
                              "no-tree-slp-vectorize"))
/* With fused multiply-adds, where their bits are allowed. */
#define JOIST_VECTORIZE_FILE_FUSED \
  JOIST_OPTIMIZE(GCC optimize("O3", "no-trapping-math", "no-math-errno", "fp-contract=fast"))
#define JOIST_VECTORIZE_FILE_FUSED_COMPACT                                       \
  JOIST_OPTIMIZE(GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", \
                              "no-trapping-math", "no-math-errno", "fp-contract=fast"))
/* Around functions of vector types, whose loops are unrolled. */
#define JOIST_UNROLL_BEGIN \
  _Pragma("GCC push_options") JOIST_OPTIMIZE(GCC optimize("O3", "unroll-loops"))
#define JOIST_UNROLL_END _Pragma("GCC pop_options")
#define JOIST_VECTORIZE_LOOP _Pragma("GCC ivdep")
#define JOIST_UNROLL_LOOP _Pragma("GCC unroll 8") /* whole, if there are so many iterations */
/* Of few iterations, which would be unrolled before they are vectorised, and then are not. */
#define JOIST_ROLLED_LOOP _Pragma("GCC unroll 1")
#else
#ifdef __clang__
#define JOIST_VECTORIZE_FILE _Pragma("STDC FP_CONTRACT OFF")
#define JOIST_VECTORIZE_FILE_COMPACT JOIST_VECTORIZE_FILE
#define JOIST_VECTORIZE_FILE_FUSED _Pragma("STDC FP_CONTRACT ON")
#define JOIST_VECTORIZE_FILE_FUSED_COMPACT JOIST_VECTORIZE_FILE_FUSED
#else
#define JOIST_VECTORIZE_FILE
#define JOIST_VECTORIZE_FILE_COMPACT
#define JOIST_VECTORIZE_FILE_FUSED
#define JOIST_VECTORIZE_FILE_FUSED_COMPACT
#endif
#define JOIST_UNROLL_BEGIN
#define JOIST_UNROLL_END
#define JOIST_VECTORIZE_LOOP
#define JOIST_UNROLL_LOOP
#define JOIST_ROLLED_LOOP
#endif

#if defined(__GNUC__) || defined(__clang__)
/* gcc decides whether sqrt() may set errno before it reads the pragma, clang has none. */
extern float sqrtf(float) __attribute__((const));
extern double sqrt(double) __attribute__((const));
#endif

/* A hint that the memory, which need not be there, is read soon. */
#if defined(__GNUC__) || defined(__clang__)
#define JOIST_PREFETCH(address) __builtin_prefetch(address)
#else
#define JOIST_PREFETCH(address) ((void)(address))
#endif

#endif
