/* Every operation of ops.def and every conversion, for one element on the device.
 *
 * The expressions are those of ops.def; only the macros they call are other ones than the
 * CPU's, because C++ has overloads where C has _Generic. */
#ifndef JOIST_CUDA_ELEMENT_CUH
#define JOIST_CUDA_ELEMENT_CUH

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels/element.h"
#include "core/kernels/half_turns.h"
#include "core/kernels/inverse_f64.h"
#include "core/kernels/large_angle.h"
#include "core/kernels/math_f32.h"
#include "core/kernels/math_f64.h"
#include "core/kernels/special_f32.h"
#include "core/kernels/special_f64.h"
#include "core/kernels/wraps.h"
#include "core/types/dtypes.def"
#include "core/types/narrow.h"
#include "core/types/saturate.h"
#include "cuda/kernels/complex.cuh"

enum {
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC) JOIST_OP_##ID,
#define STEP(ID, NAME, CLASS, ATTRIBUTES) JOIST_OP_##ID,
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) JOIST_OP_##ID,
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) JOIST_OP_##ID,
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) JOIST_OP_##ID,
#include "core/program/ops.def"
};

enum {
#define X(ID, KIND, T, FACTS, A, B) JOIST_##ID,
  JOIST_DTYPES(X, , )
#undef X
      JOIST_DTYPE_COUNT
};

template <class T>
struct real_of {
  typedef T type;
};
template <class R>
struct real_of<joist_complex<R>> {
  typedef R type;
};

template <int BYTES>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  typedef uint8_t type;
};
template <>
struct unsigned_of<2> {
  typedef uint16_t type;
};
template <>
struct unsigned_of<4> {
  typedef uint32_t type;
};
template <>
struct unsigned_of<8> {
  typedef uint64_t type;
};

/* ---- the macros of ops.def ---- */

#define MODULAR(x) ((typename unsigned_of<(sizeof(x) < 4 ? 4 : (int)sizeof(x))>::type)(x))
#define OWN_BITS(x) ((typename unsigned_of<(int)sizeof(x)>::type)(x))
#define COUNT_BITS(a) count_bits((uint64_t)OWN_BITS(a))
#define SIGN_MASK(a) ((a) >> (8 * sizeof(a) - 1))
#define SHIFTS_OUT(a, b) (OWN_BITS(b) >= (unsigned)(8 * sizeof(a)))
#define SUM_OF(a, b) ((T)(MODULAR(a) + MODULAR(b)))
#define DIFFERENCE_OF(a, b) ((T)(MODULAR(a) - MODULAR(b)))
#define ABSOLUTE_OF(a) ((T)((MODULAR(a) ^ MODULAR(SIGN_MASK(a))) - MODULAR(SIGN_MASK(a))))
#define IS_LEAST(a) ((a < 0) & ((T)(0 - MODULAR(a)) < 0))
#define PRODUCT_WRAPS(a, b) product_wraps(a, b)
#define POWER_WRAPS(a, b) power_wraps(a, b)
#define SHIFT_WRAPS(a, b) (SHIFTS_OUT(a, b) ? a != 0 : (T)((T)(MODULAR(a) << (b)) >> (b)) != a)
#define MATH(name) real_##name
#define FAST(name) quick_##name
#define LOGISTIC(a) quick_logistic(a)
#define FAST_POW(a, b) quick_pow(a, b)
#define POWER(a, b) (QUICK_EXPONENT(b) ? real_quick_power(a, b) : real_power(a, b))
#define TRIG_LARGE(a) !(a <= TRIG_MOST && a >= -TRIG_MOST)
#define TRIG_MOST (sizeof(T) == sizeof(float) ? (T)TRIG_LIMIT : (T)TRIG_LIMIT_F64)
#define POW_SPECIAL(a, b) \
  ((b != 2) & (QUICK_EXPONENT(b) | !((a > 0) & (a - a == 0) & (b - b == 0))))
#define COMPLEX_MATH(name) joist_##name
#define REAL_PART(z) joist_creal(z)
#define IMAG_PART(z) joist_cimag(z)
#define MODULUS(z) joist_cabs(z)
#define ANGLE(z) joist_carg(z)
#define IS_INF(x) ((x) == (x) && (x) - (x) != 0)
#define FLOOR_MOD(a, b) real_floor_mod(a, b)
#define FLOOR_DIV(a, b) real_floor_div(a, b)
#define MIN_FLOAT(a, b) real_min(a, b)
#define MAX_FLOAT(a, b) real_max(a, b)
#define CLAMP_FLOAT(low, x, high) real_clamp(low, x, high)
#define POWER_COMPLEX(a, b) complex_power(a, b)
#define COMPLEX_OF(re, im) T(re, im)
#define LOG_TIMES(z, factor) log_times(z, factor)
#define EXPM1_COMPLEX(z) joist_cexpm1(z)
#define LOG1P_COMPLEX(z) joist_clog1p(z)

#define DEVICE JOIST_DEVICE static inline

#define WRAPPING(NAME, T)                                                   \
  DEVICE int product_wraps(T a, T b) { return product_wraps_##NAME(a, b); } \
  DEVICE int power_wraps(T a, T b) { return power_wraps_##NAME(a, b); }
WRAPPING(i8, int8_t)
WRAPPING(i16, int16_t)
WRAPPING(i32, int32_t)
WRAPPING(i64, int64_t)
WRAPPING(ui8, uint8_t)
WRAPPING(ui16, uint16_t)
WRAPPING(ui32, uint32_t)
WRAPPING(ui64, uint64_t)

/* C's function for each precision. */
#define BOTH1(NAME)                                        \
  DEVICE float real_##NAME(float x) { return NAME##f(x); } \
  DEVICE double real_##NAME(double x) { return NAME(x); }
#define BOTH2(NAME)                                                    \
  DEVICE float real_##NAME(float x, float y) { return NAME##f(x, y); } \
  DEVICE double real_##NAME(double x, double y) { return NAME(x, y); }
BOTH1(sqrt)
BOTH1(fabs)
BOTH1(floor)
BOTH1(ceil)
BOTH1(trunc)
BOTH1(rint)
BOTH2(fmod)
BOTH2(copysign)

/* Our own, with the bits they have on the CPU. */
#define QUICK(NAME)                                             \
  DEVICE float quick_##NAME(float x) { return fast_##NAME(x); } \
  DEVICE double quick_##NAME(double x) { return f64_##NAME(x); }
QUICK(rsqrt)
QUICK(cbrt)
QUICK(exp)
QUICK(expm1)
QUICK(log)
QUICK(log2)
QUICK(log10)
QUICK(log1p)
QUICK(logistic)
QUICK(sin)
QUICK(cos)
QUICK(tan)
QUICK(sinpi)
QUICK(cospi)
QUICK(tanpi)
QUICK(asin)
QUICK(acos)
QUICK(atan)
QUICK(sinh)
QUICK(cosh)
QUICK(tanh)
QUICK(asinh)
QUICK(acosh)
QUICK(atanh)
QUICK(erf)
QUICK(erfc)
QUICK(gamma)
QUICK(lgamma)
QUICK(digamma)
DEVICE float quick_atan2(float y, float x) { return fast_atan2(y, x); }
DEVICE double quick_atan2(double y, double x) { return f64_atan2(y, x); }
DEVICE float quick_pow(float x, float y) { return fast_pow(x, y); }
DEVICE double quick_pow(double x, double y) { return f64_pow(x, y); }
DEVICE float real_power(float x, float y) { return powf(x, y); }
DEVICE double real_power(double x, double y) { return power(x, y); }
DEVICE float real_quick_power(float x, float y) { return quick_powerf(x, y); }
DEVICE double real_quick_power(double x, double y) { return quick_power(x, y); }
DEVICE float real_floor_mod(float a, float b) { return floor_modf(a, b); }
DEVICE double real_floor_mod(double a, double b) { return floor_mod(a, b); }
DEVICE float real_floor_div(float a, float b) { return floor_divf(a, b); }
DEVICE double real_floor_div(double a, double b) { return floor_div(a, b); }
DEVICE float real_min(float a, float b) { return min_floatf(a, b); }
DEVICE double real_min(double a, double b) { return min_float(a, b); }
DEVICE float real_max(float a, float b) { return max_floatf(a, b); }
DEVICE double real_max(double a, double b) { return max_float(a, b); }
DEVICE float real_clamp(float low, float x, float high) { return clamp_floatf(low, x, high); }
DEVICE double real_clamp(double low, double x, double high) { return clamp_float(low, x, high); }

template <class R>
DEVICE joist_complex<R> complex_power(joist_complex<R> a, joist_complex<R> b) {
  if (b == 0) return joist_complex<R>(1);
  if (b == 1) return a;
  if (b == 2) return a * a;
  if (a == 0 && b.re > 0) return joist_complex<R>(0);
  const joist_c128 wide = complex_pow(joist_c128(a.re, a.im), joist_c128(b.re, b.im));
  return joist_complex<R>((R)wide.re, (R)wide.im);
}

/* ---- operations: op_ADD_INT<int8_t>(a, b); fails_MOD_INT<int8_t>(a, b) ---- */

#define DEFINE_1(OP, KIND, RESULT, E)         \
  template <class T>                          \
  DEVICE RESULT op_##OP##_##KIND(const T a) { \
    return (RESULT)(E);                       \
  }
#define DEFINE_2(OP, KIND, RESULT, E)                    \
  template <class T>                                     \
  DEVICE RESULT op_##OP##_##KIND(const T a, const T b) { \
    return (RESULT)(E);                                  \
  }
#define DEFINE_1_SAME(OP, KIND, E) DEFINE_1(OP, KIND, T, E)
#define DEFINE_1_BOOL(OP, KIND, E) DEFINE_1(OP, KIND, uint8_t, E)
#define DEFINE_1_REAL(OP, KIND, E) DEFINE_1(OP, KIND, typename real_of<T>::type, E)
#define DEFINE_2_SAME(OP, KIND, E) DEFINE_2(OP, KIND, T, E)
#define DEFINE_2_BOOL(OP, KIND, E) DEFINE_2(OP, KIND, uint8_t, E)
#define DEFINE_3_SAME(OP, KIND, E)                             \
  template <class T>                                           \
  DEVICE T op_##OP##_##KIND(const T a, const T b, const T c) { \
    return (T)(E);                                             \
  }
#define DEFINE_3_SELECT(OP, KIND, E)                                 \
  template <class T>                                                 \
  DEVICE T op_##OP##_##KIND(const uint8_t p, const T b, const T c) { \
    return E;                                                        \
  }
#define KERNEL(OP, KIND, OPERANDS, RESULT, E) DEFINE_##OPERANDS##_##RESULT(OP, KIND, E)
#define CHECKED(OP, KIND, FAILURE, E)                     \
  template <class T>                                      \
  DEVICE bool fails_##OP##_##KIND(const T a, const T b) { \
    (void)a;                                              \
    (void)b;                                              \
    return FAILURE;                                       \
  }                                                       \
  DEFINE_2_SAME(OP, KIND, E)
#define REPAIRED(OP, KIND, OPERANDS, E, CONDITION, REPAIR) \
  DEFINE_##OPERANDS##_SAME(OP, KIND, (CONDITION) ? (REPAIR) : (E))
#include "core/program/ops.def"

/* Whether a result does not fit; operations of one operand are given it twice. */
#define WRAPS(OP, KIND, OPERANDS, HOW, TEST, MAY, WRAP, BELOW) \
  template <class T>                                           \
  DEVICE bool wraps_##OP##_##KIND(const T a, const T b) {      \
    (void)b;                                                   \
    return WRAP;                                               \
  }
#include "core/program/ops.def"

/* ---- conversion: to_I8(from_F16(x)); the rules are those of core/types/convert.h ---- */

/* Loads an element as the number it is converted from: narrow floats as f32. */
#define X(ID, KIND, T, FACTS, A, B) \
  DEVICE T from_##ID(T x) { return x; }
JOIST_DTYPES_BOOL(X, , )
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
JOIST_DTYPES_FLOAT(X, , )
JOIST_DTYPES_COMPLEX(X, , )
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) \
  DEVICE float from_##ID(T x) { return narrow_##ID##_to_f32(x); }
JOIST_DTYPES_NARROW(X, , )
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X

#define FROM_HALVES(ID, PART)                                                         \
  DEVICE joist_c64 from_##ID(uint32_t x) {                                            \
    return joist_c64(from_##PART(narrow_half(x, 0)), from_##PART(narrow_half(x, 1))); \
  }
FROM_HALVES(C32, F16)
FROM_HALVES(BC32, BF16)

/* Complex to anything real keeps the real part. */
#define OF_COMPLEX(ID, T)                                 \
  DEVICE T to_##ID(joist_c64 v) { return to_##ID(v.re); } \
  DEVICE T to_##ID(joist_c128 v) { return to_##ID(v.re); }

template <class V>
DEVICE uint8_t to_BOOL(V v) {
  return v != 0;
}
#define TO_INTEGER(ID, T, WRAPPED)                         \
  template <class V>                                       \
  DEVICE T to_##ID(V v) {                                  \
    return WRAPPED((T)v);                                  \
  }                                                        \
  DEVICE T to_##ID(float v) { return float_to_##ID(v); }   \
  DEVICE T to_##ID(double v) { return double_to_##ID(v); } \
  OF_COMPLEX(ID, T)
#define X(ID, KIND, T, FACTS, A, B) TO_INTEGER(ID, T, )
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) TO_INTEGER(ID, T, narrow_wrapped_##ID)
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
#undef TO_INTEGER

/* To a narrow float, rounded once. */
#define X(ID, KIND, T, FACTS, A, B)                               \
  template <class V>                                              \
  DEVICE T to_##ID(V v) {                                         \
    return narrow_f32_to_##ID((float)v);                          \
  }                                                               \
  DEVICE T to_##ID(double v) { return narrow_f64_to_##ID(v); }    \
  DEVICE T to_##ID(int32_t v) { return narrow_i32_to_##ID(v); }   \
  DEVICE T to_##ID(uint32_t v) { return narrow_ui32_to_##ID(v); } \
  DEVICE T to_##ID(int64_t v) { return narrow_i64_to_##ID(v); }   \
  DEVICE T to_##ID(uint64_t v) { return narrow_ui64_to_##ID(v); } \
  OF_COMPLEX(ID, T)
JOIST_DTYPES_NARROW(X, , )
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X

template <class V>
DEVICE float to_F32(V v) {
  return (float)v;
}
OF_COMPLEX(F32, float)
template <class V>
DEVICE double to_F64(V v) {
  return (double)v;
}
OF_COMPLEX(F64, double)
template <class V>
DEVICE joist_c64 to_C64(V v) {
  return joist_c64((float)v);
}
DEVICE joist_c64 to_C64(joist_c64 v) { return v; }
DEVICE joist_c64 to_C64(joist_c128 v) { return joist_c64((float)v.re, (float)v.im); }
template <class V>
DEVICE joist_c128 to_C128(V v) {
  return joist_c128((double)v);
}
DEVICE joist_c128 to_C128(joist_c64 v) { return joist_c128((double)v.re, (double)v.im); }
DEVICE joist_c128 to_C128(joist_c128 v) { return v; }
#define TO_HALVES(ID, PART)                                                                        \
  template <class V>                                                                               \
  DEVICE uint32_t to_##ID(V v) {                                                                   \
    return narrow_halves(to_##PART(v), 0);                                                         \
  }                                                                                                \
  DEVICE uint32_t to_##ID(joist_c64 v) { return narrow_halves(to_##PART(v.re), to_##PART(v.im)); } \
  DEVICE uint32_t to_##ID(joist_c128 v) { return narrow_halves(to_##PART(v.re), to_##PART(v.im)); }
TO_HALVES(C32, F16)
TO_HALVES(BC32, BF16)
#undef OF_COMPLEX

/* Whether the magnitude of a number, or of a negative one its complement, has more digits. */
template <class T>
DEVICE bool is_large(T x, int digits) {
  typedef typename unsigned_of<(int)sizeof(T)>::type bits;
  const bits sign = (T)-1 < (T)1 ? (bits)(0 - ((bits)x >> (8 * sizeof(T) - 1))) : 0;
  return digits < (int)(8 * sizeof(T)) && (bits)((bits)x ^ sign) >> digits != 0;
}

#endif
