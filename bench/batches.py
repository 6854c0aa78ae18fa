"""The Python side of bench/batches.R: the same functions in JAX, of arrays with the dims of R's
in reverse, so that both have the same bytes. Answers requests as bench/loops.py does; `build` gives
the seconds that tracing, compiling and the first call take together."""

import time

from loops import DTYPES, Session, jax, jnp, lax, np, port
from serve import serve


def gamma_fits(samples):
    def loss(p, y):
        a, b = jnp.exp(p[0]), jnp.exp(p[1])
        return -jnp.sum(a * jnp.log(b) - lax.lgamma(a) + (a - 1) * jnp.log(y) - b * y)

    def fit(y):
        def step(i, p):
            return p - jnp.linalg.solve(jax.hessian(loss)(p, y), jax.grad(loss)(p, y))

        return lax.fori_loop(0, 10, step, jnp.stack([jnp.zeros(()), -jnp.log(jnp.mean(y))]))

    return jax.vmap(fit)(samples)


def hmc_chains(start, draws, chances, precision):
    def log_density(q):
        return -0.5 * jnp.dot(q, precision @ q) - 0.05 * jnp.sum(q**4)

    slope = jax.grad(log_density)

    def leapfrog(i, state):
        q, p = state
        p = p + 0.05 * slope(q)
        q = q + 0.1 * p
        return q, p + 0.05 * slope(q)

    def energy(q, p):
        return log_density(q) - 0.5 * jnp.dot(p, p)

    def chain(start, draws, chances):
        def move(state, x):
            q, total = state
            p, u = x
            q2, p2 = lax.fori_loop(0, 10, leapfrog, (q, p))
            q = jnp.where(jnp.log(u) < energy(q2, p2) - energy(q, p), q2, q)
            return (q, total + q), None

        return lax.scan(move, (start, jnp.zeros_like(start)), (draws.T, chances))[0]

    return jax.vmap(chain)(start, draws, chances)


def solves(matrices, sides):
    return jax.vmap(jnp.linalg.solve)(matrices, sides)


def inverses(matrices):
    return jax.vmap(jnp.linalg.inv)(matrices)


def ensemble(first, second, x, y):
    def train(first, second):
        def loss(w):
            return jnp.mean((w[1] @ jnp.tanh(w[0] @ x) - y) ** 2)

        def step(i, w):
            return jax.tree.map(lambda w, g: w - jnp.float32(0.05) * g, w, jax.grad(loss)(w))

        return lax.fori_loop(0, 100, step, (first, second))

    return jax.vmap(train)(first, second)


class Batches(Session):
    def build(self, case, *operands):
        arrays = []
        for operand in operands:
            dtype, extents, file = operand.split(":", 2)
            extents = [int(x) for x in extents.split("x")][::-1]
            values = np.fromfile(file, "float64").reshape(extents)
            arrays.append(jnp.asarray(values.astype(DTYPES[dtype])))
        jax.clear_caches()
        start = time.perf_counter()
        compiled = jax.jit(globals()[case]).lower(*arrays).compile()
        self.run = lambda: jax.block_until_ready(compiled(*arrays))
        self.run()
        return repr(time.perf_counter() - start)

    def time(self, count):
        used = time.process_time()
        seconds = super().time(count)
        return f"{seconds} {(time.process_time() - used) / int(count)}"

    def save(self, file):
        leaves = jax.tree.leaves(self.run())
        np.concatenate([np.asarray(x, "float64").ravel() for x in leaves]).tofile(file)
        return "ok"


if __name__ == "__main__":
    serve(Batches(), port, f"jax={jax.__version__}")
