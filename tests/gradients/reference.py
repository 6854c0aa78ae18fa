"""Gradients by JAX: python reference.py programs.txt results.txt

The first file has programs: a line "P dtype", a line "I name extents values" for each input (values
in column-major order, as hexadecimal floats), lines "S statement" of Python, and "E". The second gets
a line for each input of each program: the values of the gradient of `out`, or "error".
"""
import sys

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np

jax.config.update("jax_enable_x64", True)
# XLA on CPUs otherwise multiplies matrices in less than their precision on some machines.
jax.config.update("jax_default_matmul_precision", "highest")


def solve_triangle(a, b, lower, transpose):
    return jax.scipy.linalg.solve_triangular(a, b, trans=int(transpose), lower=lower)


def sum_weighed(x):
    """Column-major, with the weights that programs.R has."""
    flat = jnp.ravel(x, order="F")
    weights = jnp.asarray(np.cos(np.arange(1, flat.size + 1) * 1.3) + 0.2, flat.dtype)
    return jnp.sum(flat * weights)


def gradients(dtype, inputs, statements):
    names = list(inputs)
    code = compile("\n".join(statements), "program", "exec")

    def value(*arguments):
        scope = dict(zip(names, arguments), jnp=jnp, jax=jax, special=special,
                     sum_weighed=sum_weighed, solve_triangle=solve_triangle)
        exec(code, scope)
        return scope["out"]

    return jax.grad(value, tuple(range(len(names))))(*inputs.values())


def main(programs, results):
    with open(programs) as lines, open(results, "w") as out:
        for line in lines:
            key, _, rest = line.rstrip("\n").partition(" ")
            if key == "P":
                dtype, inputs, statements = np.dtype(rest), {}, []
            elif key == "I":
                name, extents, *values = rest.split(" ")
                extents = [int(n) for n in extents.split(",") if n]
                values = [float.fromhex(v) for v in values]
                inputs[name] = jnp.asarray(np.array(values, dtype).reshape(extents, order="F"))
            elif key == "S":
                statements.append(rest)
            elif key == "E":
                try:
                    for gradient in gradients(dtype, inputs, statements):
                        flat = np.ravel(np.asarray(gradient, np.float64), order="F")
                        out.write(" ".join(float(v).hex() for v in flat) + "\n")
                except Exception as error:  # the script says which program it was
                    print(error, file=sys.stderr)
                    out.write("error\n" * len(inputs))


main(*sys.argv[1:])
