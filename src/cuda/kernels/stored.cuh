/* The elements of each dtype in arrays: what they are read as, and made of. */
#ifndef JOIST_CUDA_STORED_CUH
#define JOIST_CUDA_STORED_CUH

#include "cuda/kernels/loops.cuh"

#define X(ID, KIND, TYPE, FACTS, A, B)                                      \
  struct element_##ID {                                                     \
    typedef TYPE stored;                                                    \
    JOIST_DEVICE static inline auto read(stored x) { return from_##ID(x); } \
    template <class V>                                                      \
    JOIST_DEVICE static inline stored made(V value) {                       \
      return to_##ID(value);                                                \
    }                                                                       \
  };
JOIST_DTYPES(X, , )
#undef X

/* Whether an element, or each part of a complex number, has 64 bits. */
template <class T>
JOIST_DEVICE constexpr bool has_wide_parts() {
  return sizeof(typename real_of<T>::type) == 8;
}

/* bool and signed integers are written as the unsigned ones of their size. */
JOIST_DEVICE static inline uint32_t unsigned_like(uint32_t dtype) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B)                \
  case JOIST_##ID:                                 \
    return sizeof(T) == 1   ? (uint32_t)JOIST_UI8  \
           : sizeof(T) == 2 ? (uint32_t)JOIST_UI16 \
           : sizeof(T) == 4 ? (uint32_t)JOIST_UI32 \
                            : (uint32_t)JOIST_UI64;
    JOIST_DTYPES_BOOL(X, , )
    JOIST_DTYPES_INT(X, , )
#undef X
  }
  return dtype;
}

#endif
