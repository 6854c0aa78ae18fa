"""JAX's gradients: python3 reference.py programs.txt numbers.bin

A program is a line "program KIND OPERANDS LINES", a line of shape and numbers for each operand, and
lines of Python. The answers are doubles: of programs (KIND "first") the value and the gradients in
f64, then in f32; with KIND "second" then the same of a function of the gradients. Operations (KIND
"operation") are answered 20 at a time: all in f64, then all in f32.

Exit status 77: there is no JAX here.
"""
import math
import os
import statistics
import sys

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"
try:
    import jax
except ImportError as error:
    print(error)
    sys.exit(77)
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import jax.scipy.special as jsp
import numpy as np
from jax import lax


def M(x):
    return jnp.moveaxis(x, (0, 1), (-2, -1))


def U(x):
    return jnp.moveaxis(x, (-2, -1), (0, 1))


def T(x):
    return jnp.swapaxes(x, -1, -2)


def V(x):
    return jnp.moveaxis(x, -1, 0)


def ladder(x):
    n = x.shape[0]
    rungs = jnp.diag(2 + 2.0 * jnp.arange(1, n + 1)).astype(x.dtype)
    return jnp.sin(x) * 0.5 + rungs.reshape((n, n) + (1,) * (x.ndim - 2))


def weigh(x):
    x = jnp.ravel(x, order="F")
    weights = np.cos(np.arange(1, x.size + 1) * 1.3) + 0.2
    return jnp.sum(x * jnp.asarray(weights, x.dtype))


# In f64 JAX's gamma functions and normal quantile lose four to five bits, and their derivatives with
# them; log1p and atanh up to seven. These are those of Python's library, and for digamma, which it
# has not, Taylor's series around a whole number and the recurrence from 1 to there.
def by_python(f):
    each = np.vectorize(f, otypes=[np.float64])

    def call(x):
        def answer(x):
            return each(np.asarray(x, np.float64)).astype(x.dtype)

        if not isinstance(x, jax.core.Tracer):
            return jnp.asarray(answer(x))
        return jax.pure_callback(answer, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    return jax.custom_jvp(call)


@jax.custom_jvp
def digamma(x):
    whole = jnp.round(x)
    zeta = jsp.zeta(jnp.arange(2.0, 62.0), 1.0) * (-1.0) ** jnp.arange(60)
    terms = jnp.append(zeta[::-1], -np.euler_gamma).astype(x.dtype)
    steps = sum(jnp.where(k < whole, 1 / (x - k), 0) for k in range(1, 13))
    return jnp.polyval(terms, x - whole) + steps - jnp.where(whole < 1, 1 / x, 0)


log1p = by_python(math.log1p)
atanh = by_python(math.atanh)
gamma = by_python(math.gamma)
gammaln = by_python(math.lgamma)
ndtri = by_python(statistics.NormalDist().inv_cdf)
log1p.defjvps(lambda g, _, x: g / (1 + x))
atanh.defjvps(lambda g, _, x: g / ((1 - x) * (1 + x)))
digamma.defjvps(lambda g, _, x: g * jsp.polygamma(1, x))
gammaln.defjvps(lambda g, _, x: g * digamma(x))
gamma.defjvps(lambda g, y, x: g * y * digamma(x))
ndtri.defjvps(lambda g, y, x: g * jnp.sqrt(2 * jnp.pi).astype(x.dtype) * jnp.exp(y**2 / 2))


def betaln(a, b):
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def functions(body, count, second):
    names = ", ".join(f"x{k}" for k in range(1, count + 1))
    scope = dict(globals())
    exec(f"def f({names}):\n" + "\n".join("    " + line for line in body), scope)
    made = [scope["f"]]
    if second:
        grad = jax.grad(made[0], argnums=tuple(range(count)))
        made.append(lambda *x: sum(weigh(g) + weigh(g * g) for g in grad(*x)))
    return made


def read(path):
    with open(path) as file:
        lines = file.read().split("\n")
    at = 0
    while at < len(lines) and lines[at]:
        _, kind, count, length = lines[at].split()
        operands = []
        for line in lines[at + 1:at + 1 + int(count)]:
            extents, numbers = line.split(";")
            extents = tuple(int(n) for n in extents.split())
            numbers = np.array([float(x) for x in numbers.split()])
            operands.append(numbers.reshape(extents, order="F"))
        at += 1 + int(count)
        yield kind, operands, lines[at:at + int(length)]
        at += int(length)


def answer(fs, operands):
    grads = [jax.value_and_grad(f, argnums=tuple(range(len(x)))) for f, x in zip(fs, operands)]
    return [grad(*x) for grad, x in zip(grads, operands)]


def write(answers, operands, out):
    for (value, grads), x in zip(answers, operands):
        for operand, grad in zip(x, grads):
            assert grad.dtype == operand.dtype and grad.shape == operand.shape
        for part in (value, *grads):
            out.write(np.asarray(part, np.float64).ravel(order="F").tobytes())


# Operations are compiled together. Programs are not, as then what they have in common is compiled
# once.
def main():
    programs = list(read(sys.argv[1]))
    with open(sys.argv[2], "wb") as out:
        at = 0
        while at < len(programs):
            end = at + 1
            while programs[at][0] == "operation" and end < min(len(programs), at + 20):
                if programs[end][0] != "operation":
                    break
                end += 1
            kind = programs[at][0]
            operands = [x for _, x, _ in programs[at:end]]
            made = [functions(body, len(x), kind == "second") for _, x, body in programs[at:end]]
            for fs in zip(*made):
                for dtype in (jnp.float64, jnp.float32):
                    x = [[jnp.asarray(a, dtype) for a in each] for each in operands]
                    if kind == "operation":
                        given = jax.jit(lambda x, fs=fs: answer(fs, x))(x)
                    else:
                        given = answer(fs, x)
                    write(given, x, out)
            if kind == "operation":
                jax.clear_caches()
            at = end


main()
