"""JAX's Jacobians and Hessians: python3 matrices.py programs.txt numbers.bin

Programs as in reference.py, whose last line returns a list of what nothing uses. The answers are
doubles: the Jacobian of all elements of that list, then the Hessian of the sum of their squares, by
all elements of the operands, by rows, in f64.
"""
import os
import sys

# Its last line runs it. Recorded answers are kept by its bytes, so that it has no other end.
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")
with open(path) as file:
    source = file.read()
exec(source[:source.rindex("main()")])


def split(x, like):
    at = 0
    for operand in like:
        part = x[at:at + operand.size]
        at += operand.size
        yield jnp.transpose(part.reshape(operand.shape[::-1]))


with open(sys.argv[2], "wb") as out:
    for _, operands, body in read(sys.argv[1]):
        (f,) = functions(body, len(operands), False)

        def flat(x):
            return jnp.concatenate([jnp.ravel(v, order="F") for v in f(*split(x, operands))])

        x = jnp.concatenate([jnp.ravel(jnp.asarray(v, jnp.float64), order="F") for v in operands])
        hessian = jax.hessian(lambda x: jnp.sum(flat(x) ** 2))
        for matrix in jax.jit(lambda x: (jax.jacrev(flat)(x), hessian(x)))(x):
            out.write(np.asarray(matrix, np.float64).tobytes())
        jax.clear_caches()
