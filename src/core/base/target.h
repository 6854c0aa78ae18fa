/* How a header says what its functions are compiled for. The same functions run in the
 * loops of the CPU's kernels and on a GPU, whose compiler is given other definitions. */
#ifndef JOIST_CORE_BASE_TARGET_H
#define JOIST_CORE_BASE_TARGET_H

#ifndef JOIST_DEVICE
#define JOIST_DEVICE
#endif

/* A call would keep its loop from becoming vector code. */
#ifndef JOIST_INLINE
#if defined(__GNUC__) || defined(__clang__)
#define JOIST_INLINE static inline __attribute__((always_inline))
#else
#define JOIST_INLINE static inline
#endif
#endif

#endif
