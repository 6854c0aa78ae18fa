"""Writes special_values.def to standard output: values of the error and gamma functions, which
mpmath computes with 60 digits and as many more as the argument has before its decimal point."""

import math
import random

import mpmath
from mpmath import mp, mpf

mp.dps = 60
random.seed(1)
STEP = math.ulp


def lgamma(x):
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.loggamma(x).real


FUNCTIONS = {
    "erf": (mpmath.erf, [(-1, 1), (0.9, 3), (-6, -1)], [1, 3, 5.9, 6, 30, 0.5, -0.25]),
    "erfc": (mpmath.erfc, [(-1, 1), (0.4, 3), (3, 26), (26, 27.3), (-6, 0)],
             [0.46875, 0.5, 1, 5.5, 10.0546875, 26.5, 27.2265625, 27.25, -5.75, -30]),
    "lgamma": (lgamma,
               [(0, 0.5), (0.5, 1.5), (1.5, 2.5), (2.5, 4), (4, 200), (-4, 0), (-30, -4)],
               [0.5, 2.5, 3, 171.5, 1e5, 1e17, 2.0**60, 2.0**61, 1e30, 1e300, 2.5595e305, -0.5,
                -1.5, -2.5, -170.5, -1000000.5, -(2.0**51) - 0.5, -(2.0**52) + 0.5, -1e-20,
                -1e-310]),
    "gamma": (mpmath.gamma,
              [(0, 1), (1, 3), (3, 20), (20, 171.6), (-3, 0), (-20, -3), (-170, -20),
               (-184, -170)],
              [0.5, 1.5, 2.5, 5.75, 34.5, 100.5, 171.5, 171.624376, 6e-309, -6e-309, 1e-308,
               1e-300, -1e-300, 2.0**-60, -0.5, -1.5, -100.5, -170.5, -177.5, -183.5]),
    "digamma": (mpmath.digamma,
                [(0, 0.5), (0.5, 1.4), (1.4, 1.55), (1.46, 1.463), (1.46163, 1.46164),
                 (1.55, 2.5), (2.5, 4), (4, 200), (-4, 0), (-30, -4)],
                [0.5, 1, 1.25, 2, 2.5, 3, 1000, 1e10, 2.0**53, 1e300, 1e-300, -1e-300, -0.5, -1.25,
                 -1000.25, -(2.0**51) - 0.5, -(2.0**52) + 0.5]),
}
TINY = [5e-324, -5e-324, 1e-310, 1e-300, -1e-30, 1e-20, 1e-17, 1e-16, 1e-9, -1e-5]


def steps_around(x, steps=(1, 5, 2**20, 2**27 + 1, 3**20)):
    return [x + side * n * STEP(x) for n in steps for side in (-1, 1)]


def zeros(f, brackets):
    found = [float(mpmath.findroot(f, b, solver="anderson")) for b in brackets]
    return [y for z in found for y in (math.nextafter(z, 9), z, z - 2**20 * STEP(z))]


def points(name, f, ranges, chosen):
    x = [random.uniform(a, b) for a, b in ranges for _ in range(8)]
    x += [short(random.uniform(a, b)) for a, b in ranges for _ in range(5)]
    x += chosen + (TINY if name in ("erf", "erfc") else [])
    if name in ("erf", "erfc"):
        x += steps_around(1.0) + steps_around(0.46875)
    else:
        x += [y for whole in (1, 2, 2.5, -1, -2, -20) for y in steps_around(float(whole))]
        x += [float(n) for n in range(3, 24)] if name == "gamma" else []
    if name == "lgamma":
        x += [5e-324, 1e-310]
        x += zeros(f, [(-2.5, -2.4), (-2.8, -2.7), (-3.2, -3.1), (-3.99, -3.9), (-4.1, -4.01)])
    if name == "digamma":
        x += zeros(f, [(1.4, 1.5), (-0.6, -0.4), (-1.6, -1.5), (-2.7, -2.5), (-9.8, -9.6)])
    return sorted({float(value) for value in x})


def short(x):
    """A float (f32) near x"""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(fraction * 2**24), exponent - 24)


def line(name, f, x):
    with mp.workdps(60 + int(abs(math.log10(abs(x))))):
        exact = f(mpf(x))
        rounded = float(exact)
        rest = float((exact - mpf(rounded)) / mpf(STEP(rounded)))
    return f"VALUE({name.upper()}, {x.hex()}, {rounded.hex()}, {rest:.6f})"


print("/* Written by special_values.py: VALUE(function, x, value, rest), the exact value being the")
print(" * double `value` and `rest` units of its last place. */")
for name, (f, ranges, chosen) in FUNCTIONS.items():
    for x in points(name, f, ranges, chosen):
        print(line(name, f, x))
