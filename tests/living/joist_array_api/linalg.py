"""Linear algebra: joist's matrices are the standard's, transposed."""
import math
from typing import NamedTuple

from .array import Array, call
from .dims import dim_of, dims_of
from .process import process


class SlogdetResult(NamedTuple):
    sign: object
    logabsdet: object


class EigResult(NamedTuple):
    eigenvalues: object
    eigenvectors: object


class EighResult(NamedTuple):
    eigenvalues: object
    eigenvectors: object


class QRResult(NamedTuple):
    Q: object
    R: object


class SVDResult(NamedTuple):
    U: object
    S: object
    Vh: object


def field(name, part):
    return Array(*process.keep(f"{name}${part}"))


def held(code):
    """The name of an R list, which the caller lets go of."""
    process.count += 1
    name = f"t{process.count}"
    process.run(f"{name} <- {code}; NULL")
    return name


def parts(code, names):
    name = held(code)
    result = [field(name, part) for part in names]
    process.dropped.append(name)
    return result


def matmul(x1, x2, /):
    return call("matrix_product", x1, x2)


def matrix_transpose(x, /):
    return x.mT


def tensordot(x1, x2, /, *, axes=2):
    if isinstance(axes, int):
        axes = (range(x1.ndim - axes, x1.ndim), range(axes))
    dims = [[dim_of(a, x.ndim) for a in pair] for x, pair in zip((x1, x2), axes)]
    code = "list({}, {})".format(*("c(" + ", ".join(f"{d}L" for d in some) + ")"
                                   for some in dims[::-1]))
    return call("nv_dot", x2, x1, contracting_dims=code)


def vecdot(x1, x2, /, *, axis=-1):
    dim = -axis if axis < 0 else dim_of(axis, max(x1.ndim, x2.ndim))
    return call("vector_product", x1, x2, dim)


def cholesky(x, /, *, upper=False):
    return call("nv_chol", x, lower=bool(upper))


def cross(x1, x2, /, *, axis=-1):
    rank = max(x1.ndim, x2.ndim)
    return call("cross_product", x1, x2, axis % rank)


def det(x, /):
    return call("nv_det", x)


def slogdet(x, /):
    sign, modulus = parts(f"nv_determinant({x.name})", ("sign", "modulus"))
    return SlogdetResult(sign, modulus)


def diagonal(x, /, *, offset=0):
    return call("diagonals", x, offset)


def trace(x, /, *, offset=0, dtype=None):
    return call("trace_of", x, offset, dtype)


def eig(x, /):
    values, vectors = parts(f"nv_eig(transposed({x.name}))", ("values", "vectors"))
    return EigResult(values, vectors.mT)


def eigvals(x, /):
    return call("nv_eigvals", x)


def eigh(x, /):
    return EighResult(*parts(f"eigen_ascending({x.name})", ("values", "vectors")))


def eigvalsh(x, /):
    return eigh(x).eigenvalues


def inv(x, /):
    return call("inverted", x)


def matrix_power(x, n, /):
    return call("power_of", x, n)


def outer(x1, x2, /):
    return call("nv_outer", x2, x1)


def qr(x, /, *, mode="reduced"):
    full = "TRUE" if mode == "complete" else "FALSE"
    q, r = parts(f"nv_qr(transposed({x.name}), {full})", ("Q", "R"))
    return QRResult(q.mT, r.mT)


def solve(x1, x2, /):
    return call("solution", x1, x2)


def svd(x, /, *, full_matrices=True):
    # The transposed matrix's left vectors are the right ones, transposed once more.
    full = "TRUE" if full_matrices else "FALSE"
    u, d, v = parts(f"nv_svd({x.name}, {full})", ("u", "d", "v"))
    return SVDResult(call("conjugate", v.mT), d, u)


def svdvals(x, /):
    return svd(x, full_matrices=False).S


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    return call("norm_of", x, dims_of(axis, x.ndim), not keepdims, float(ord))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    name = {math.inf: "Inf", -math.inf: "-Inf"}.get(ord, ord)
    return call("matrix_norm", x, f'"{name}"', not keepdims)


def matrix_rank(x, /, *, rtol=None):
    return call("rank_of", x, rtol)


def pinv(x, /, *, rtol=None):
    return call("pseudo_inverse", x, rtol)
