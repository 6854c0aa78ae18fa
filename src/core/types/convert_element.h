/* The conversion of one element: STORE_<kind>(ID, T, load_<dtype>(x)) is x as dtype ID of type T.
 * The loops of convert.inc include it, and so does generated source text. JOIST_VECTORIZE_FILE
 * comes before it, so that its functions are compiled as the loops around them. */
#ifndef JOIST_CORE_TYPES_CONVERT_ELEMENT_H
#define JOIST_CORE_TYPES_CONVERT_ELEMENT_H

#include "core/types/dtypes.h"

#include "core/types/narrow.h"
#include "core/types/saturate.h"

/* Loads an element as the number it is computed with: narrow floats as f32, c64 made of them. */
#define X(ID, KIND, T, FACTS, A, B) \
  static inline T load_##ID(T x) { return x; }
JOIST_DTYPES_BOOL(X, , )
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
JOIST_DTYPES_FLOAT(X, , )
JOIST_DTYPES_COMPLEX(X, , )
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) \
  static inline float load_##ID(T x) { return narrow_##ID##_to_f32(x); }
JOIST_DTYPES_NARROW(X, , )
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X

#define LOAD_HALVES(ID, PART)                                                                \
  static inline joist_c64 load_##ID(uint32_t x) {                                            \
    const float parts[2] = {load_##PART(narrow_half(x, 0)), load_##PART(narrow_half(x, 1))}; \
    joist_c64 value;                                                                         \
    memcpy(&value, parts, sizeof value);                                                     \
    return value;                                                                            \
  }
LOAD_HALVES(C32, F16)
LOAD_HALVES(BC32, BF16)

/* An integer of the type of its storage, as one of the dtype. */
#define X(ID, KIND, T, FACTS, A, B) \
  static inline T wrapped_##ID(T x) { return x; }
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) \
  static inline T wrapped_##ID(T x) { return narrow_wrapped_##ID(x); }
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X

/* A float of each type that is loaded. "small" are bool and the integers of 16 bits or fewer. */
#define X(ID, KIND, T, FACTS, A, B)                         \
  static inline T ID##_of_f32(float v) { return (T)v; }     \
  static inline T ID##_of_f64(double v) { return (T)v; }    \
  static inline T ID##_of_small(int v) { return (T)v; }     \
  static inline T ID##_of_i32(int32_t v) { return (T)v; }   \
  static inline T ID##_of_ui32(uint32_t v) { return (T)v; } \
  static inline T ID##_of_i64(int64_t v) { return (T)v; }   \
  static inline T ID##_of_ui64(uint64_t v) { return (T)v; }
JOIST_DTYPES_FLOAT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B)                                             \
  static inline T ID##_of_f32(float v) { return narrow_f32_to_##ID(v); }        \
  static inline T ID##_of_f64(double v) { return narrow_f64_to_##ID(v); }       \
  static inline T ID##_of_small(int v) { return narrow_f32_to_##ID((float)v); } \
  static inline T ID##_of_i32(int32_t v) { return narrow_i32_to_##ID(v); }      \
  static inline T ID##_of_ui32(uint32_t v) { return narrow_ui32_to_##ID(v); }   \
  static inline T ID##_of_i64(int64_t v) { return narrow_i64_to_##ID(v); }      \
  static inline T ID##_of_ui64(uint64_t v) { return narrow_ui64_to_##ID(v); }
JOIST_DTYPES_NARROW(X, , )
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X

#define REAL(v) _Generic((v), joist_c64 : (float)(v), joist_c128 : (double)(v), default : (v))
#define STORE_BOOL(ID, T, v) ((T)((v) != 0))
#define STORE_INT(ID, T, v)                       \
  _Generic(REAL(v), float                         \
           : float_to_##ID((float)(v)), double    \
           : double_to_##ID((double)(v)), default \
           : wrapped_##ID((T)(v)))
#define STORE_UINT STORE_INT
#define IMAG(v)                                 \
  _Generic((v), joist_c64                       \
           : cimagf((joist_c64)(v)), joist_c128 \
           : cimag((joist_c128)(v)), default : 0.0F)
#define STORE_HALVES(PART, v) \
  narrow_halves(STORE_FLOAT(PART, uint16_t, (v)), STORE_FLOAT(PART, uint16_t, IMAG(v)))
#define STORE_COMPLEX(ID, T, v) STORE_##ID(T, v)
#define STORE_C64(T, v) ((T)(v))
#define STORE_C128(T, v) ((T)(v))
#define STORE_C32(T, v) STORE_HALVES(F16, v)
#define STORE_BC32(T, v) STORE_HALVES(BF16, v)
#define STORE_FLOAT(ID, T, v)                     \
  _Generic(REAL(v), float                         \
           : ID##_of_f32((float)(v)), double      \
           : ID##_of_f64((double)(v)), int32_t    \
           : ID##_of_i32((int32_t)(v)), uint32_t  \
           : ID##_of_ui32((uint32_t)(v)), int64_t \
           : ID##_of_i64((int64_t)(v)), uint64_t  \
           : ID##_of_ui64((uint64_t)(v)), default \
           : ID##_of_small((int)(v)))

#endif
