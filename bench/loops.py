"""The Python side of bench/loops.R: the same cases in JAX. Connects to the R process and answers
its requests, one line of tab-separated fields each, with one line:

  build  CASE  DTYPE:EXTENTS:FILE...   compiles the case; the files have the operands as doubles
  time   COUNT                         seconds per call, of COUNT calls
  save   FILE                          writes the results as doubles, in the order of R's elements
"""

import sys
import time

from serve import limit_threads, serve

port, threads = int(sys.argv[1]), int(sys.argv[2])
limit_threads(threads)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

jax.config.update("jax_enable_x64", True)


def logistic_map(x):
    return lax.fori_loop(0, 100000, lambda i, x: 3.56 * x * (1 - x), x)


def lorenz_slope(x, y, z):
    return 10 * (y - x), x * (28 - z) - y, x * y - (8 / 3) * z


def lorenz_scalars(x, y, z):
    h = 0.001

    def at(s, k, h):
        return lorenz_slope(*(a + h * b for a, b in zip(s, k)))

    def step(i, s):
        k1 = lorenz_slope(*s)
        k2 = at(s, k1, h / 2)
        k3 = at(s, k2, h / 2)
        k4 = at(s, k3, h)
        return tuple(a + (h / 6) * (b + 2 * c + 2 * d + e)
                     for a, b, c, d, e in zip(s, k1, k2, k3, k4))

    return lax.fori_loop(0, 20000, step, (x, y, z))


def lorenz_vector(s):
    h = 0.001

    def slope(s):
        return jnp.stack(lorenz_slope(s[0], s[1], s[2]))

    def step(i, s):
        k1 = slope(s)
        k2 = slope(s + (h / 2) * k1)
        k3 = slope(s + (h / 2) * k2)
        k4 = slope(s + h * k3)
        return s + (h / 6) * (k1 + 2 * k2 + 2 * k3 + k4)

    return lax.fori_loop(0, 20000, step, s)


def laplacian(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]


def heat_assigned(u):
    return lax.fori_loop(0, 500, lambda i, u: u.at[1:-1, 1:-1].add(0.2 * laplacian(u)), u)


def heat_padded(u):
    return lax.fori_loop(0, 500, lambda i, u: u + jnp.pad(0.2 * laplacian(u), 1), u)


def hmc(log_density, start, draws, chances, step):
    slope = jax.grad(lambda q: jnp.sum(log_density(q)))

    def leapfrog(i, state):
        q, p = state
        p = p + (step / 2) * slope(q)
        q = q + step * p
        return q, p + (step / 2) * slope(q)

    def energy(q, p):
        return log_density(q) - 0.5 * jnp.sum(p * p, axis=1)

    def move(state, x):
        q, total, accepted = state
        p, u = x
        q2, p2 = lax.fori_loop(0, 10, leapfrog, (q, p))
        accept = jnp.log(u) < energy(q2, p2) - energy(q, p)
        q = jnp.where(accept[:, None], q2, q)
        return (q, total + q, accepted + accept), None

    begin = start, jnp.zeros_like(start), jnp.zeros(start.shape[0])
    return lax.scan(move, begin, (draws, chances))[0]


def banana(start, draws, chances):
    def log_density(q):
        x, y = q[:, 0], q[:, 1]
        return -0.5 * x**2 - 2 * (y - x**2) ** 2

    return hmc(log_density, start, draws, chances, 0.1)


banana_4 = banana_64 = banana


def schools_64(start, draws, chances, y, sigma):
    def log_density(q):
        mu, log_tau, eta = q[:, 0], q[:, 1], q[:, 2:]
        tau = jnp.exp(log_tau)
        z = (y - (mu[:, None] + tau[:, None] * eta)) / sigma
        prior = -mu**2 / 50 - 0.5 * (tau / 5) ** 2 + log_tau
        return prior - 0.5 * jnp.sum(eta * eta, axis=1) - 0.5 * jnp.sum(z * z, axis=1)

    return hmc(log_density, start, draws, chances, 0.1)


def lstm(xs, w, u, b):
    none = jnp.zeros((xs.shape[1], u.shape[0]), "float32")

    def turn(weights, state, x):
        w, u, b = weights
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    def loss(weights):
        (h, c), _ = lax.scan(lambda state, x: turn(weights, state, x), (none, none), xs)
        return jnp.mean(h**2)

    return jax.value_and_grad(loss)((w, u, b))


def scan_gradient(w, s, xs):
    def loss(w, s):
        def turn(state, x):
            s, total = state
            s = jnp.tanh(w * s + x)
            return (s, total + s * s), None

        return lax.scan(turn, (s, jnp.zeros_like(s)), xs)[0][1]

    return jax.value_and_grad(loss, (0, 1))(w, s)


def black_scholes(spot, strike, years, volatility):
    rate = 0.03
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread

    def below(d):
        return 0.5 * (1 + lax.erf(d * 0.5**0.5))

    discounted = strike * jnp.exp(-rate * years)
    call = spot * below(d1) - discounted * below(d2)
    return call, call - spot + discounted


def sobel(image):
    n = image.shape[0]
    p = jnp.pad(image, 1)

    def at(i, j):
        return p[i:i + n, j:j + n]

    across = at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0)
    along = at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2)
    return jnp.sqrt(across**2 + along**2)


def resize(image):
    n = image.shape[0]
    at = np.clip((np.arange(2 * n) + 0.5) / 2 - 0.5, 0, n - 1)
    low = np.minimum(np.floor(at), n - 2).astype("int32")
    part = (at - low).astype("float32")
    rows = part[:, None]
    tall = image[low] * (1 - rows) + image[low + 1] * rows
    return tall[:, low] * (1 - part) + tall[:, low + 1] * part


def pad(image):
    return jnp.pad(image, 1)


def convolution(x, kernel):
    n, k = x.shape[0], kernel.shape[0]

    def outer(i, out):
        return lax.fori_loop(0, k, lambda j, out: out.at[i + j].add(x[i] * kernel[j]), out)

    return lax.fori_loop(0, n, outer, jnp.zeros(n + k - 1))


def viterbi(start, transition, emission, observed):
    seen = emission[observed - 1]

    def forward(best, seen):
        scores = best[:, None] + transition
        return jnp.max(scores, axis=0) + seen, jnp.argmax(scores, axis=0)

    last, back = lax.scan(forward, start + seen[0], seen[1:])
    final, path = lax.scan(lambda state, back: (back[state], state), jnp.argmax(last), back,
                           reverse=True)
    return jnp.max(last), final + 1, path + 1


DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32"}


class Session:
    def build(self, case, *operands):
        arrays = []
        for operand in operands:
            dtype, extents, file = operand.split(":", 2)
            extents = [int(x) for x in extents.split("x")] if extents else []
            values = np.fromfile(file, "float64").reshape(extents, order="F")
            arrays.append(jnp.asarray(np.array(values, DTYPES[dtype], order="C")))
        compiled = jax.jit(globals()[case]).lower(*arrays).compile()
        self.run = lambda: jax.block_until_ready(compiled(*arrays))
        self.run()
        return "ok"

    def time(self, count):
        start = time.perf_counter()
        for _ in range(int(count)):
            self.run()
        return repr((time.perf_counter() - start) / int(count))

    def save(self, file):
        leaves = jax.tree.leaves(self.run())
        np.concatenate([np.asarray(x, "float64").ravel(order="F") for x in leaves]).tofile(file)
        return "ok"


if __name__ == "__main__":
    serve(Session(), port, f"jax={jax.__version__}")
