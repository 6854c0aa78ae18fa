"""Prints statistics of random integers, rounded once from exact fractions: the table
tests/testthat/saved/integer_statistics.tsv, which test-array-exact.R reads.

    python3 tests/numpy/integer_statistics.py SEED COUNT [doubles]

With `doubles`, covariances and correlations of 64-bit integers with doubles: the table
integer_double_moments.tsv.
"""

import math
import random
import sys
from fractions import Fraction

TYPES = {"i64": (-(2**63), 2**63 - 1), "ui64": (0, 2**64 - 1), "i32": (-(2**31), 2**31 - 1)}


def root(x):
    """The square root of a fraction, correctly rounded: whether it is exact is its last bit."""
    shift = max(0, 260 - (x.numerator.bit_length() - x.denominator.bit_length()))
    shift += shift % 2
    scaled = (x.numerator << shift) // x.denominator
    whole = math.isqrt(scaled)
    exact = whole * whole * x.denominator == x.numerator << shift
    return float(Fraction(2 * whole + (not exact), 2 << (shift // 2)))


def products(x, y):
    mean_x, mean_y = Fraction(sum(x), len(x)), Fraction(sum(y), len(y))
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))


def correlation(x, y):
    scale = products(x, x) * products(y, y)
    if scale == 0:
        return math.nan
    product = products(x, y)
    return math.copysign(root(product * product / scale), product)


def quantile(x, p):
    x = sorted(x)
    at = (len(x) - 1) * p
    low = int(at)
    return x[low] + (at - low) * (x[min(low + 1, len(x) - 1)] - x[low])


def column(least, most, n):
    width = 2 ** random.randrange(1, (most - least).bit_length() + 1)
    start = random.choice([least, most - width, random.randint(least, most), -width])
    start = max(least, min(start, most))
    return [random.randint(start, min(most, start + width)) for _ in range(n)]


def beside_doubles():
    print("dtype", "x", "y", "cov", "cor", sep="\t")
    for _ in range(int(sys.argv[2])):
        dtype = random.choice(["i64", "ui64"])
        n = random.choice([2, 3, 5, 10])
        x = column(*TYPES[dtype], n)
        scale = 10.0 ** random.randint(-20, 20)
        y = [random.gauss(random.choice([0, 1e6]) * scale, scale) for _ in range(n)]
        if random.random() < 0.3:
            y = [(value - x[0]) * scale + random.choice([0, scale / 1000]) for value in x]
        exact = [Fraction(value) for value in y]
        covariance = float(products(x, exact) / (n - 1))
        texts = " ".join(map(str, x)), " ".join(value.hex() for value in y)
        print(dtype, *texts, covariance.hex(), correlation(x, exact).hex(), sep="\t")


def main():
    random.seed(int(sys.argv[1]))
    if sys.argv[3:] == ["doubles"]:
        return beside_doubles()
    print("dtype", "x", "y", "mean", "median", "quantile", "var", "sd", "cov", "cor", sep="\t")
    for _ in range(int(sys.argv[2])):
        dtype = random.choice(list(TYPES))
        least, most = TYPES[dtype]
        n = random.choice([2, 2, 3, 3, 4, 5, 7, 10])
        x, y = column(least, most, n), column(least, most, n)
        if random.random() < 0.3:
            y = [min(most, max(least, value + random.randint(-3, 3))) for value in x]
        variance = products(x, x) / (n - 1)
        exact = [Fraction(sum(x), n), quantile(x, Fraction(1, 2)), quantile(x, Fraction(3, 8)), variance]
        numbers = [float(value) for value in exact] + [
            root(variance), float(products(x, y) / (n - 1)), correlation(x, y)]
        lists = (" ".join(map(str, values)) for values in (x, y))
        print(dtype, *lists, *(number.hex() for number in numbers), sep="\t")


main()
