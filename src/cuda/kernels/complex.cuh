/* Complex numbers for device code: C's operators, and its functions in double precision.
 *
 * Products and quotients as ISO C Annex G wants them. The inverse functions after W. Kahan,
 * "Branch cuts for complex elementary functions" (1987). c64 is computed in double and
 * rounded. */
#ifndef JOIST_CUDA_COMPLEX_CUH
#define JOIST_CUDA_COMPLEX_CUH

#include <math.h>

#include "core/base/target.h"
#include "core/kernels/element.h"

#define JOIST_LN2 0.69314718055994530942
#define JOIST_PI_2 1.57079632679489661923

JOIST_DEVICE static inline bool is_inf(double x) { return x == x && x - x != 0; }
JOIST_DEVICE static inline bool is_finite(double x) { return x - x == 0; }

template <class R>
struct alignas(2 * sizeof(R)) joist_complex {
  R re, im;
  joist_complex() = default;
  JOIST_DEVICE joist_complex(R real, R imaginary = 0) : re(real), im(imaginary) {}

  JOIST_DEVICE friend joist_complex operator-(joist_complex a) {
    return joist_complex(-a.re, -a.im);
  }
  JOIST_DEVICE friend joist_complex operator+(joist_complex a, joist_complex b) {
    return joist_complex(a.re + b.re, a.im + b.im);
  }
  JOIST_DEVICE friend joist_complex operator-(joist_complex a, joist_complex b) {
    return joist_complex(a.re - b.re, a.im - b.im);
  }
  JOIST_DEVICE friend joist_complex operator*(joist_complex a, joist_complex b) {
    const R ac = a.re * b.re, bd = a.im * b.im, ad = a.re * b.im, bc = a.im * b.re;
    const R re = ac - bd, im = ad + bc;
    if (re == re || im == im) return joist_complex(re, im);
    return recovered_product(a, b, ac, bd, ad, bc, joist_complex(re, im));
  }
  JOIST_DEVICE friend joist_complex operator/(joist_complex a, R b) {
    return joist_complex(a.re / b, a.im / b);
  }
  JOIST_DEVICE friend joist_complex operator/(joist_complex a, joist_complex b) {
    return quotient(a, b);
  }
  JOIST_DEVICE friend bool operator==(joist_complex a, joist_complex b) {
    return a.re == b.re && a.im == b.im;
  }
  JOIST_DEVICE friend bool operator!=(joist_complex a, joist_complex b) { return !(a == b); }

  /* 1 with the sign of x where x is infinite, else 0 with it. */
  JOIST_DEVICE static R boxed(R x) { return (R)copysign(is_inf((double)x) ? 1.0 : 0.0, (double)x); }
  JOIST_DEVICE static R no_nan(R x) { return x == x ? x : (R)copysign(0.0, (double)x); }

  /* Annex G: an infinity times anything but 0 is an infinity. */
  JOIST_DEVICE static joist_complex recovered_product(joist_complex a, joist_complex b, R ac, R bd,
                                                      R ad, R bc, joist_complex made) {
    bool recalculate = false;
    if (is_inf(a.re) || is_inf(a.im)) {
      a = joist_complex(boxed(a.re), boxed(a.im));
      b = joist_complex(no_nan(b.re), no_nan(b.im));
      recalculate = true;
    }
    if (is_inf(b.re) || is_inf(b.im)) {
      b = joist_complex(boxed(b.re), boxed(b.im));
      a = joist_complex(no_nan(a.re), no_nan(a.im));
      recalculate = true;
    }
    if (!recalculate && (is_inf(ac) || is_inf(bd) || is_inf(ad) || is_inf(bc))) {
      a = joist_complex(no_nan(a.re), no_nan(a.im));
      b = joist_complex(no_nan(b.re), no_nan(b.im));
      recalculate = true;
    }
    if (!recalculate) return made;
    const R infinite = (R)INFINITY;
    return joist_complex(infinite * (a.re * b.re - a.im * b.im),
                         infinite * (a.re * b.im + a.im * b.re));
  }

  /* The larger part of the denominator is scaled to be near 1, by a power of two. */
  JOIST_DEVICE static joist_complex quotient(joist_complex a, joist_complex b) {
    const double c = b.re, d = b.im, larger = fmax(fabs(c), fabs(d));
    const int scale = is_finite(larger) && larger != 0 ? -ilogb(larger) : 0;
    const double p = scalbn(c, scale), q = scalbn(d, scale), denominator = p * p + q * q;
    double re = scalbn(((double)a.re * p + (double)a.im * q) / denominator, scale);
    double im = scalbn(((double)a.im * p - (double)a.re * q) / denominator, scale);
    if (re != re && im != im) {
      const bool a_nan = a.re != a.re && a.im != a.im;
      if (denominator == 0 && !a_nan) {
        re = copysign((double)INFINITY, c) * a.re;
        im = copysign((double)INFINITY, c) * a.im;
      } else if ((is_inf(a.re) || is_inf(a.im)) && is_finite(c) && is_finite(d)) {
        const double x = boxed(a.re), y = boxed(a.im);
        re = (double)INFINITY * (x * c + y * d);
        im = (double)INFINITY * (y * c - x * d);
      } else if (is_inf(larger) && is_finite(a.re) && is_finite(a.im)) {
        const double x = copysign(is_inf(c) ? 1.0 : 0.0, c), y = copysign(is_inf(d) ? 1.0 : 0.0, d);
        re = 0.0 * (a.re * x + a.im * y);
        im = 0.0 * (a.im * x - a.re * y);
      }
    }
    return joist_complex((R)re, (R)im);
  }
};

typedef joist_complex<float> joist_c64;
typedef joist_complex<double> joist_c128;

#define CFUNCTION JOIST_COMPLEX_FUNCTION joist_c128

CFUNCTION complex_exp(joist_c128 z) {
  if (z.im == 0) return joist_c128(exp(z.re), z.im);
  if (z.re == -(double)INFINITY && !is_finite(z.im)) return joist_c128(0, 0);
  /* In two halves, since the exponential may overflow where the products do not. */
  const double half = exp(z.re / 2), c = cos(z.im), s = sin(z.im);
  return joist_c128(half * c * half, half * s * half);
}

CFUNCTION complex_log(joist_c128 z) {
  const double x = fabs(z.re), y = fabs(z.im);
  const double large = x > y ? x : y, small = x > y ? y : x;
  double re;
  if (large > 0.5 && large < 2)
    re = 0.5 * log1p((large - 1) * (large + 1) + small * small);
  else if (large > 1e300 && is_finite(large))
    re = log(hypot(x / 2, y / 2)) + JOIST_LN2;
  else
    re = log(hypot(x, y));
  return joist_c128(re, atan2(z.im, z.re));
}

CFUNCTION complex_sqrt(joist_c128 z) {
  if (z.re == 0 && z.im == 0) return joist_c128(0, z.im);
  if (is_inf(z.im)) return joist_c128((double)INFINITY, z.im);
  if (is_inf(z.re) && z.im == z.im)
    return z.re > 0 ? joist_c128(z.re, copysign(0.0, z.im))
                    : joist_c128(0, copysign((double)INFINITY, z.im));
  double x = z.re, y = z.im, scale = 1;
  const double large = fmax(fabs(x), fabs(y));
  if (large > 0x1p1000) {
    x *= 0x1p-4, y *= 0x1p-4, scale = 4;
  } else if (large < 0x1p-900) {
    x *= 0x1p200, y *= 0x1p200, scale = 0x1p-100;
  }
  const double t = sqrt((fabs(x) + hypot(x, y)) / 2), other = fabs(y) / (2 * t);
  if (x >= 0 || x != x) return joist_c128(scale * t, copysign(scale * other, z.im));
  return joist_c128(scale * other, copysign(scale * t, z.im));
}

CFUNCTION complex_sinh(joist_c128 z) {
  if (z.im == 0) return joist_c128(sinh(z.re), z.im);
  if (z.re == 0) return joist_c128(z.re, sin(z.im));
  if (fabs(z.re) < 700) return joist_c128(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im));
  const joist_c128 e = complex_exp(joist_c128(fabs(z.re) - JOIST_LN2, z.im));
  return joist_c128(copysign(1.0, z.re) * e.re, e.im);
}

CFUNCTION complex_cosh(joist_c128 z) {
  if (z.im == 0) return joist_c128(cosh(z.re), copysign(1.0, z.re) * z.im);
  if (z.re == 0) return joist_c128(cos(z.im), z.re * copysign(1.0, z.im));
  if (fabs(z.re) < 700) return joist_c128(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im));
  const joist_c128 e = complex_exp(joist_c128(fabs(z.re) - JOIST_LN2, z.im));
  return joist_c128(e.re, copysign(1.0, z.re) * e.im);
}

CFUNCTION complex_tanh(joist_c128 z) {
  if (z.im == 0) return joist_c128(tanh(z.re), z.im);
  if (fabs(z.re) > 22) {
    const double rest = 4 * exp(-2 * fabs(z.re)) * sin(z.im) * cos(z.im);
    return joist_c128(copysign(1.0, z.re), rest == rest ? rest : 0.0);
  }
  const double t = tan(z.im), beta = 1 + t * t, s = sinh(z.re), rho = sqrt(1 + s * s);
  if (is_inf(t)) return joist_c128(rho / s, 1 / t);
  return joist_c128(beta * rho * s / (1 + beta * s * s), t / (1 + beta * s * s));
}

CFUNCTION complex_asin(joist_c128 z) {
  const joist_c128 minus = complex_sqrt(joist_c128(1 - z.re, -z.im));
  const joist_c128 plus = complex_sqrt(joist_c128(1 + z.re, z.im));
  return joist_c128(atan2(z.re, minus.re * plus.re - minus.im * plus.im),
                    asinh(minus.re * plus.im - minus.im * plus.re));
}

CFUNCTION complex_acos(joist_c128 z) {
  const joist_c128 minus = complex_sqrt(joist_c128(1 - z.re, -z.im));
  const joist_c128 plus = complex_sqrt(joist_c128(1 + z.re, z.im));
  return joist_c128(2 * atan2(minus.re, plus.re), asinh(plus.re * minus.im - plus.im * minus.re));
}

CFUNCTION complex_acosh(joist_c128 z) {
  const joist_c128 minus = complex_sqrt(joist_c128(z.re - 1, z.im));
  const joist_c128 plus = complex_sqrt(joist_c128(z.re + 1, z.im));
  return joist_c128(asinh(minus.re * plus.re + minus.im * plus.im), 2 * atan2(minus.im, plus.re));
}

CFUNCTION complex_atanh(joist_c128 z) {
  const double x = fabs(z.re), y = z.im, large = fmax(x, fabs(y));
  double re, im;
  if (large > 1e150) {
    const double p = x / large, q = y / large;
    re = is_inf(large) ? 0.0 : p / (p * p + q * q) / large;
    im = copysign(JOIST_PI_2, y);
  } else {
    re = log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4;
    im = atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2;
  }
  return joist_c128(copysign(re, z.re), im);
}

/* Turned by a quarter: sin(z) = -i sinh(iz) and so on. */
#define TURNED(NAME, FROM)                                        \
  CFUNCTION complex_##NAME(joist_c128 z) {                        \
    const joist_c128 w = complex_##FROM(joist_c128(-z.im, z.re)); \
    return joist_c128(w.im, -w.re);                               \
  }
TURNED(sin, sinh)
TURNED(tan, tanh)
TURNED(atan, atanh)
TURNED(asinh, asin)
#undef TURNED
CFUNCTION complex_cos(joist_c128 z) { return complex_cosh(joist_c128(-z.im, z.re)); }

CFUNCTION complex_pow(joist_c128 a, joist_c128 b) { return complex_exp(b * complex_log(a)); }

CFUNCTION complex_expm1(joist_c128 z) {
  double re, im;
  if (!(fabs(z.re) < 1) || !is_finite(z.im)) return complex_exp(z) - joist_c128(1);
  expm1_parts(z.re, z.im, &re, &im);
  return joist_c128(re, im);
}

CFUNCTION complex_log1p(joist_c128 z) {
  double re, im;
  if (!(fabs(z.re) < 0.5 && fabs(z.im) < 0.5)) return complex_log(joist_c128(1 + z.re, z.im));
  log1p_parts(z.re, z.im, &re, &im);
  return joist_c128(re, im);
}

template <class R>
JOIST_DEVICE static inline joist_complex<R> times_real(joist_complex<R> z, double factor) {
  return joist_complex<R>((R)(z.re * factor), (R)(z.im * factor));
}
#undef CFUNCTION

/* C's names, for both dtypes. */
#define EACH_FUNCTION(X) \
  X(exp)                 \
  X(expm1)               \
  X(log)                 \
  X(log1p)               \
  X(sqrt)                \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)
#define X(NAME)                                                                                   \
  JOIST_DEVICE static inline joist_c128 joist_c##NAME(joist_c128 z) { return complex_##NAME(z); } \
  JOIST_DEVICE static inline joist_c64 joist_c##NAME(joist_c64 z) {                               \
    const joist_c128 wide = complex_##NAME(joist_c128((double)z.re, (double)z.im));               \
    return joist_c64((float)wide.re, (float)wide.im);                                             \
  }
EACH_FUNCTION(X)
#undef X
#undef EACH_FUNCTION

template <class R>
JOIST_DEVICE static inline R joist_creal(joist_complex<R> z) {
  return z.re;
}
template <class R>
JOIST_DEVICE static inline R joist_cimag(joist_complex<R> z) {
  return z.im;
}
template <class R>
JOIST_DEVICE static inline joist_complex<R> joist_conj(joist_complex<R> z) {
  return joist_complex<R>(z.re, -z.im);
}
template <class R>
JOIST_DEVICE static inline R joist_cabs(joist_complex<R> z) {
  return (R)hypot((double)z.re, (double)z.im);
}
template <class R>
JOIST_DEVICE static inline R joist_carg(joist_complex<R> z) {
  return (R)atan2((double)z.im, (double)z.re);
}

#endif
