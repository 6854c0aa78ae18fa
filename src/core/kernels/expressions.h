/* What the expressions of ops.def are written in, for one element of type T, the C type of a dtype.
 * The loops of kernels include it, and so does the source text that is generated for programs: both
 * give the same bits. JOIST_VECTORIZE_FILE comes before it. */
#ifndef JOIST_CORE_KERNELS_EXPRESSIONS_H
#define JOIST_CORE_KERNELS_EXPRESSIONS_H

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/base/target.h"
#include "core/base/vectorize.h"
#include "core/types/dtypes.h"

#include "core/kernels/element.h"
#include "core/kernels/fast_divide.h"
#include "core/kernels/half_turns.h"
#include "core/kernels/inverse_f64.h"
#include "core/kernels/large_angle.h"
#include "core/kernels/math_f32.h"
#include "core/kernels/math_f64.h"
#include "core/kernels/special_f32.h"
#include "core/kernels/special_f64.h"
#include "core/kernels/wraps.h"
#define VECTORIZE JOIST_VECTORIZE_LOOP

/* Arithmetic modulo 2^n without undefined behaviour or promotion to int. */
#define MODULAR(x) \
  _Generic((x), int64_t : (uint64_t)(x), uint64_t : (uint64_t)(x), default : (uint32_t)(x))
/* The same bits, unsigned, in the same width. */
#define OWN_BITS(x)                  \
  _Generic((x), int8_t               \
           : (uint8_t)(x), int16_t   \
           : (uint16_t)(x), int32_t  \
           : (uint32_t)(x), uint8_t  \
           : (uint8_t)(x), uint16_t  \
           : (uint16_t)(x), uint32_t \
           : (uint32_t)(x), default  \
           : (uint64_t)(x))
/* In the width of the operand, so that a vector has as many lanes as it can. */
#define COUNT_BITS(a)                \
  _Generic((a), int8_t               \
           : count_bits_8, uint8_t   \
           : count_bits_8, int16_t   \
           : count_bits_16, uint16_t \
           : count_bits_16, int32_t  \
           : count_bits_32, uint32_t \
           : count_bits_32, default  \
           : count_bits)(OWN_BITS(a))
static inline uint8_t count_bits_8(uint8_t x) {
  const uint8_t pairs = (uint8_t)(x - ((x >> 1) & 0x55));
  const uint8_t fours = (uint8_t)((pairs & 0x33) + ((pairs >> 2) & 0x33));
  return (fours + (fours >> 4)) & 0x0f;
}
static inline uint16_t count_bits_16(uint16_t x) {
  const uint16_t pairs = (uint16_t)(x - ((x >> 1) & 0x5555));
  const uint16_t fours = (uint16_t)((pairs & 0x3333) + ((pairs >> 2) & 0x3333));
  const uint16_t bytes = (fours + (fours >> 4)) & 0x0f0f;
  return (bytes + (bytes >> 8)) & 0x1f;
}
static inline uint32_t count_bits_32(uint32_t x) {
  const uint32_t pairs = x - ((x >> 1) & 0x55555555);
  const uint32_t fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333);
  const uint32_t bytes = (fours + (fours >> 4)) & 0x0f0f0f0f;
  /* With a product, which gcc 12 knows as a count of bits, it is wrong on s390x without vectors. */
  const uint32_t halves = bytes + (bytes >> 8);
  return (halves + (halves >> 16)) & 0x3f;
}
/* -1 for a negative number, else 0 */
#define SIGN_MASK(a) ((a) >> (8 * sizeof(a) - 1))
#define SHIFTS_OUT(a, b) (OWN_BITS(b) >= (unsigned)(8 * sizeof(a)))
/* What the WRAPS lines are written in. */
#define SUM_OF(a, b) ((T)(MODULAR(a) + MODULAR(b)))
#define DIFFERENCE_OF(a, b) ((T)(MODULAR(a) - MODULAR(b)))
#define ABSOLUTE_OF(a) ((T)((MODULAR(a) ^ MODULAR(SIGN_MASK(a))) - MODULAR(SIGN_MASK(a))))
#define IS_LEAST(a) ((a < 0) & ((T)(0 - MODULAR(a)) < 0))
#define BY_INTEGER(FUNCTION)           \
  _Generic((T)0, int8_t                \
           : FUNCTION##_i8, int16_t    \
           : FUNCTION##_i16, int32_t   \
           : FUNCTION##_i32, int64_t   \
           : FUNCTION##_i64, uint8_t   \
           : FUNCTION##_ui8, uint16_t  \
           : FUNCTION##_ui16, uint32_t \
           : FUNCTION##_ui32, default  \
           : FUNCTION##_ui64)
#define PRODUCT_WRAPS(a, b) BY_INTEGER(product_wraps)(a, b)
#define PRODUCT_MAY_WRAP(a, b) BY_INTEGER(product_may_wrap)(a, b)
#define PRODUCT_HOLDS(bits) BY_INTEGER(product_holds)(bits)
#define POWER_WRAPS(a, b) BY_INTEGER(power_wraps)(a, b)
#define POWER_MAY_WRAP(a, b) BY_INTEGER(power_may_wrap)(a, b)
#define SHIFT_WRAPS(a, b) (SHIFTS_OUT(a, b) ? a != 0 : (T)((T)(MODULAR(a) << (b)) >> (b)) != a)
#define MATH(name) _Generic((T)0, float : name##f, default : name)
/* Divisions of up to 32 bits are vector code; 64 bits are element.h's. */
#define NARROW_INT(a, b, I16, I32, I64) \
  _Generic((T)0, int8_t : I16, int16_t : I16, int32_t : I32, default : I64)(a, b)
#define NARROW_UINT(a, b, UI16, UI32, UI64) \
  _Generic((T)0, uint8_t : UI16, uint16_t : UI16, uint32_t : UI32, default : UI64)(a, b)
#define quotient_int(a, b) NARROW_INT(a, b, quotient_i16, quotient_i32, quotient_int)
#define floor_div_int(a, b) NARROW_INT(a, b, floor_div_i16, floor_div_i32, floor_div_int)
#define mod_int(a, b) NARROW_INT(a, b, mod_i16, mod_i32, mod_int)
#define remainder_int(a, b) NARROW_INT(a, b, remainder_i16, remainder_i32, remainder_int)
#define divide_uint(a, b) NARROW_UINT(a, b, quotient_ui16, quotient_ui32, divide_uint)
#define remainder_uint(a, b) NARROW_UINT(a, b, remainder_ui16, remainder_ui32, remainder_uint)
/* Our own, which is vector code and much faster than the C library. */
#define FAST(name) _Generic((T)0, float : fast_##name, default : f64_##name)
#define LOGISTIC(a) FAST(logistic)(a)
#define FAST_POW(a, b) FAST(pow)(a, b)
#define QUICK_POWER(a, b) _Generic((T)0, float : quick_powerf, default : quick_power)(a, b)
#define POWER(a, b) \
  (QUICK_EXPONENT(b) ? QUICK_POWER(a, b) : _Generic((T)0, float : powf, default : power)(a, b))
#define TRIG_LARGE(a) !(a <= TRIG_MOST && a >= -TRIG_MOST)
#define TRIG_MOST (sizeof(T) == sizeof(float) ? (T)TRIG_LIMIT : (T)TRIG_LIMIT_F64)
#define POW_SPECIAL(a, b) \
  ((b != 2) & (QUICK_EXPONENT(b) | !((a > 0) & (a - a == 0) & (b - b == 0))))
#define COMPLEX_MATH(name) _Generic((T)0, joist_c64 : name##f, default : name)
#define REAL_PART(z) COMPLEX_MATH(creal)(z)
#define IMAG_PART(z) COMPLEX_MATH(cimag)(z)
/* Of a complex number's parts. */
#define FAST_PARTS(name) _Generic((T)0, joist_c64 : fast_##name, default : f64_##name)
#define MODULUS(z) FAST_PARTS(hypot)(REAL_PART(z), IMAG_PART(z))
#define ANGLE(z) FAST_PARTS(atan2)(IMAG_PART(z), REAL_PART(z))
#define IS_INF(x) ((x) == (x) && (x) - (x) != 0)
/* Python's and NumPy's definition: exact remainder, quotient consistent with it. */
#define FLOOR_MOD(a, b) _Generic((T)0, float : floor_modf, default : floor_mod)(a, b)
#define FLOOR_DIV(a, b) _Generic((T)0, float : floor_divf, default : floor_div)(a, b)
#define MIN_FLOAT(a, b) _Generic((T)0, float : min_floatf, default : min_float)(a, b)
#define MAX_FLOAT(a, b) _Generic((T)0, float : max_floatf, default : max_float)(a, b)
#define CLAMP_FLOAT(low, x, high) \
  _Generic((T)0, float : clamp_floatf, default : clamp_float)(low, x, high)
#define POWER_COMPLEX(a, b) _Generic((T)0, joist_c64 : power_c64, default : power_c128)(a, b)

/* Small whole exponents by multiplication, as R does: exact where the product is. */
#define COMPLEX_POWER(NAME, TYPE, POW)                 \
  static inline TYPE NAME(TYPE a, TYPE b) {            \
    typedef TYPE T;                                    \
    if (b == 0) return 1;                              \
    if (b == 1) return a;                              \
    if (b == 2) return a * a;                          \
    return a == 0 && REAL_PART(b) > 0 ? 0 : POW(a, b); \
  }
COMPLEX_POWER(power_c64, joist_c64, cpowf)
COMPLEX_POWER(power_c128, joist_c128, cpow)

/* A complex number of two parts: products with 1i are not exact where a part is infinite. */
#define COMPLEX_PARTS(NAME, TYPE, REAL)           \
  static inline TYPE NAME(double re, double im) { \
    const REAL parts[2] = {(REAL)re, (REAL)im};   \
    TYPE z;                                       \
    memcpy(&z, parts, sizeof z);                  \
    return z;                                     \
  }
COMPLEX_PARTS(complex_c64, joist_c64, float)
COMPLEX_PARTS(complex_c128, joist_c128, double)
#define COMPLEX_OF(re, im) _Generic((T)0, joist_c64 : complex_c64, default : complex_c128)(re, im)

static inline joist_c128 times_real(joist_c128 z, double factor) {
  return complex_c128(creal(z) * factor, cimag(z) * factor);
}
static inline joist_c128 expm1_c128(joist_c128 z) {
  double re, im;
  if (!(fabs(creal(z)) < 1) || cimag(z) - cimag(z) != 0) return cexp(z) - 1;
  expm1_parts(creal(z), cimag(z), &re, &im);
  return complex_c128(re, im);
}
static inline joist_c128 log1p_c128(joist_c128 z) {
  double re, im;
  if (!(fabs(creal(z)) < 0.5 && fabs(cimag(z)) < 0.5)) {
    return clog(complex_c128(1 + creal(z), cimag(z)));
  }
  log1p_parts(creal(z), cimag(z), &re, &im);
  return complex_c128(re, im);
}
#define LOG_TIMES(z, factor) (T) times_real(clog(z), factor)
#define EXPM1_COMPLEX(z) (T) expm1_c128(z)
#define LOG1P_COMPLEX(z) (T) log1p_c128(z)

#define RESULT_SAME(T) T
#define RESULT_BOOL(T) uint8_t
/* Only for complex T. */
#define RESULT_REAL(T) RESULT_REAL_##T
#define RESULT_REAL_joist_c64 float
#define RESULT_REAL_joist_c128 double

#endif
