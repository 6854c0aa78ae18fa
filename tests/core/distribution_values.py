"""Writes distribution_values.def to standard output: values of the functions in
src/core/ops/distributions/, which mpmath computes with 40 digits."""

import random

import mpmath
from mpmath import mp, mpf

mp.dps = 40
random.seed(2)


def integral(log_density, low, x, high, width):
    """From x outward to `low` or `high`, in pieces of the width."""
    end, step = (low, -width) if low is not None else (high, width)
    points = [x]
    while len(points) < 40 and (points[-1] + step - end) * step < 0:
        points.append(points[-1] + step)
    if len(points) < 40:
        points.append(end)
    top = log_density(x)
    area = mpmath.quad(lambda t: mpmath.exp(log_density(t) - top), points)
    return top + mpmath.log(abs(area))


def log_gamma_share(a, x, lower):
    def log_density(t):
        return (a - 1) * mpmath.log(t) - t if t > 0 else mpf("-inf")

    if a < 30:
        ends = (0, x) if lower else (x, mpmath.inf)
        return mpmath.log(mpmath.gammainc(a, *ends, regularized=True))
    width = 2 * mpmath.sqrt(a)
    low, high = (mpf(0), None) if lower else (None, x * 100 + 1000)
    return integral(log_density, low, x, high, width) - mpmath.loggamma(a)


def average(value, log_density, low, x, high, width):
    """Of value(t) between x and the end."""
    top = log_density(x)

    def weighed(t):
        weight = mpmath.exp(log_density(t) - top)
        return weight * value(t) if weight > 0 else mpf(0)

    end, step = (low, -width) if low is not None else (high, width)
    points = [x]
    while len(points) < 40 and (points[-1] + step - end) * step < 0:
        points.append(points[-1] + step)
    if len(points) < 40:
        points.append(end)
    return mpmath.quad(weighed, points)


def gamma_slope(a, x, lower):
    if a < 30:
        return mpmath.diff(lambda s: log_gamma_share(s, x, lower), a)
    ends = (mpf(0), x, None) if lower else (None, x, x * 100 + 1000)
    given = [lambda t: (a - 1) * mpmath.log(t) - t if t > 0 else mpf("-inf"), *ends,
             2 * mpmath.sqrt(a)]
    return average(mpmath.log, *given) / average(lambda t: mpf(1), *given) - mpmath.digamma(a)


def beta_slopes(a, b, x, lower):
    if min(a, b) < 30:
        share = lambda s, t: log_beta_share(s, t, x, lower)  # noqa: E731
        with mp.workdps(120):  # the upper share is a difference there
            return mpmath.diff(share, (a, b), (1, 0)), mpmath.diff(share, (a, b), (0, 1))
    ends = (mpf(0), x, None) if lower else (None, x, mpf(1))
    inside = lambda t: (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log1p(-t)  # noqa: E731
    given = [lambda t: inside(t) if 0 < t < 1 else mpf("-inf"), *ends,
             2 * mpmath.sqrt(a * b / (a + b) ** 3)]
    all, both = average(lambda t: mpf(1), *given), mpmath.digamma(a + b)
    return (average(mpmath.log, *given) / all + both - mpmath.digamma(a),
            average(lambda t: mpmath.log1p(-t), *given) / all + both - mpmath.digamma(b))


def log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def log_beta_share(a, b, x, lower):
    def log_density(t):
        inside = 0 < t < 1
        return (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log1p(-t) if inside else mpf("-inf")

    if min(a, b) < 30:
        ends = (0, x) if lower else (x, 1)
        return mpmath.log(mpmath.betainc(a, b, *ends, regularized=True))
    width = 2 * mpmath.sqrt(a * b / (a + b) ** 3)
    low, high = (mpf(0), None) if lower else (None, mpf(1))
    return integral(log_density, low, x, high, width) - log_beta(a, b)


def log_poisson(x, m):
    return x * mpmath.log(m) - m - mpmath.loggamma(x + 1)


def log_binomial(a, b, x):
    both = mpmath.loggamma(a + b + 1) - mpmath.loggamma(a + 1) - mpmath.loggamma(b + 1)
    return both + a * mpmath.log(x) + b * mpmath.log1p(-x)


def line(name, numbers, value):
    numbers = [float(n).hex() for n in numbers] + ["0"] * (4 - len(numbers))
    return f"VALUE({name}, {', '.join(numbers)}, {float(value).hex()})"


def slopes(name, numbers, values):
    numbers = [float(n).hex() for n in numbers + values] + ["0"] * (5 - len(numbers + values))
    return f"SLOPES({name}, {', '.join(numbers)})"


print("/* Written by distribution_values.py: VALUE(function, operands, logarithm),")
print(" * SLOPES(function, operands, slopes by the shapes) */")
SHAPES = [0.01, 0.3, 1, 2.5, 17, 150, 299.5, 301, 4000, 1e5]
FAR = [-12, -4, -1, -0.3, 0, 0.3, 1, 4, 12]


def gamma_points():
    for a in SHAPES:
        for k in FAR:
            yield a, k, max(float(a + k * a**0.5), 0.001 * a * 2.0**k)


def beta_points():
    for a in SHAPES:
        for b in random.sample(SHAPES, 4):
            middle, spread = a / (a + b), (a * b / (a + b) ** 3) ** 0.5
            for k in random.sample(FAR, 3):
                x = min(max(middle + k * spread, middle / 1000), 1 - (1 - middle) / 1024)
                yield a, b, x, x < middle


for a, k, x in gamma_points():
    lower = x < a if a >= 1 else x < 0.3 * a
    value = log_gamma_share(mpf(a), mpf(x), lower)
    print(line("GAMMA_LOWER" if lower else "GAMMA_UPPER", [a, x], value))
# What is all but 1 keeps the digits of what it lacks.
for a, x in [(1e-10, 0.5), (1e-10, 3), (1e-3, 1e-20)]:
    print(line("GAMMA_UPPER", [a, x], log_gamma_share(mpf(a), mpf(x), False)))
for a, b, x in [(1e-10, 3, 0.1), (1e-10, 3, 0.6), (1e-3, 500, 1e-20), (0.2, 1e-9, 0.7)]:
    print(line("BETA_UPPER", [a, b, x], log_beta_share(mpf(a), mpf(b), mpf(x), False)))
for a, b, x, lower in beta_points():
    value = log_beta_share(mpf(a), mpf(b), mpf(x), lower)
    print(line("BETA_LOWER" if lower else "BETA_UPPER", [a, b, x], value))
for a in SHAPES + [1e10, 1e15]:
    for b in random.sample(SHAPES + [1e10], 3):
        print(line("LOG_BETA", [a, b], log_beta(mpf(a), mpf(b))))
        print(line("POISSON", [a, b], log_poisson(mpf(a), mpf(b))))
        x = random.uniform(0, 1) * a / (a + b)
        print(line("BINOMIAL", [a, b, x], log_binomial(mpf(a), mpf(b), mpf(x))))
for a, k, x in gamma_points():
    for lower in (False, True) if abs(k) < 1 else (k < 0,):
        by = gamma_slope(mpf(a), mpf(x), lower)
        print(slopes("GAMMA_LOWER" if lower else "GAMMA_UPPER", [a, x, 0], [by]))
for a, b, x, lower in beta_points():
    by = beta_slopes(mpf(a), mpf(b), mpf(x), lower)
    print(slopes("BETA_LOWER" if lower else "BETA_UPPER", [a, b, x], list(by)))
