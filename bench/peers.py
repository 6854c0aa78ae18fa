"""The Python side of the benchmark: times one expression at a time when asked to.

Connects to the R process that runs the benchmark and answers its requests, one line of
tab-separated fields each, with one line. bench/joist.R makes the same operands and keeps
the same clock rules, so that the two sides can take turns. Requests:

  operands  N  SPEC...           "f32:-10:10" per operand, or "f32:-10:10:4000x5000" with
                                 R's extents; they are called a, b, c
  build     PEER  EXPRESSION     compiles and warms up; answers the result's dtype
  time      PEER  SAMPLES  GOAL  seconds per call, of SAMPLES runs of at least GOAL seconds
  values    PEER                 up to 1000 evenly spaced values of the result
  peak      PEER                 bytes that one call adds to the largest resident size
  forget                         drops operands and results
"""

import gc
import math
import sys
import timeit

from serve import limit_threads, serve

port, threads = int(sys.argv[1]), int(sys.argv[2])
limit_threads(threads)

import numpy as np  # noqa: E402

versions = {"numpy": np.__version__}
try:
    import files
except ImportError:
    files = None
try:
    import numexpr
    numexpr.set_num_threads(threads)
    versions["numexpr"] = numexpr.__version__
except ImportError:
    numexpr = None
try:
    import jax
    import jax.numpy as jnp
    import learn
    jax.config.update("jax_enable_x64", True)
    versions["jax"] = jax.__version__
except ImportError:
    jax = None
try:
    import torch
    torch.set_num_threads(threads)
    versions["torch"] = torch.__version__
except ImportError:
    torch = None

DTYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
          "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
          "f16": "float16", "f32": "float32", "f64": "float64",
          "c64": "complex64", "c128": "complex128"}
NAMES = {name: code for code, name in DTYPES.items()}
PERIOD = 1000003  # a prime; operands repeat after so many elements


def pattern(position, n):
    """Numbers in [0, 1) that are the same in R: products stay below 2**53."""
    i = np.arange(min(n, PERIOD), dtype=np.float64)
    return (i * 7919 + 104729 * position) % PERIOD / PERIOD


def make_operand(spec, position, n):
    code, low, high, *extents = spec.split(":")
    if extents:  # column-major: the same elements lie side by side
        extents = [int(x) for x in extents[0].split("x")][::-1]
        n = math.prod(extents)
    low, high = float(low), float(high)
    if code.startswith("ui"):
        low = max(low, 0.0)
    values = low + (high - low) * pattern(position, n)
    if code == "bool":
        values = pattern(position, n) < 0.5
    elif code.startswith(("i", "ui")):
        values = np.floor(values)
    elif code.startswith("c"):
        values = values + 1j * (low + (high - low) * pattern(position + 10, n))
    values = np.resize(values.astype(DTYPES[code]), n)
    return values.reshape(extents) if extents else values


class Session:
    def __init__(self):
        self.cache, self.arrays, self.calls = {}, {}, {}

    def operands(self, n, *specs):
        n = int(float(n))
        keys = [(spec, position, n) for position, spec in enumerate(specs, 1)]
        self.calls = {}
        self.cache = {key: value for key, value in self.cache.items() if key[2] == n}
        for key in keys:
            if key not in self.cache:
                self.cache[key] = make_operand(*key)
        self.arrays = dict(zip("abc", (self.cache[key] for key in keys)))
        return "ok"

    def forget(self):
        self.cache, self.arrays, self.calls = {}, {}, {}
        gc.collect()
        return "ok"

    def build(self, peer, expression):
        """Each peer gets its fastest form: NumPy and PyTorch plain calls, JAX a compiled
        function whose result is waited for, numexpr its cached evaluator."""
        names = dict(self.arrays)
        if peer == "numpy":
            names = {**vars(np), **(vars(files) if files else {}), **names}
            statement = expression
        elif peer == "numexpr":
            names["evaluate"] = numexpr.evaluate
            operands = ", ".join(f"{key!r}: {key}" for key in self.arrays)
            statement = f"evaluate({expression!r}, {{{operands}}})"
        elif peer == "jax":
            arguments = ", ".join(names)
            names = {key: jnp.asarray(value) for key, value in names.items()}
            names["f"] = jax.jit(eval(f"lambda {arguments}: {expression}",
                                      {**vars(jnp), **vars(learn), "erf": jax.lax.erf}))
            names["wait"] = jax.block_until_ready
            statement = f"wait(f({arguments}))"
        elif peer == "torch":
            names = {**vars(torch), **{key: torch.from_numpy(x) for key, x in names.items()}}
            statement = expression
        else:
            raise ValueError(f"no peer {peer}")
        run = eval(f"lambda: {statement}", names)
        result = run()  # compiles
        self.calls[peer] = (timeit.Timer(statement, globals=names), run)
        result_dtype = str(getattr(result, "dtype", type(result).__name__)).replace("torch.", "")
        return NAMES.get(result_dtype, result_dtype)

    def time(self, peer, samples, goal):
        timer, _ = self.calls[peer]
        once = timer.timeit(1)  # also the warm-up of this turn
        count = 1
        while once * count < float(goal):
            count = max(2 * count, int(float(goal) / max(once, 1e-9)))
            once = timer.timeit(count) / count
        return " ".join(repr(timer.timeit(count) / count) for _ in range(int(samples)))

    def values(self, peer):
        result = np.asarray(self.calls[peer][1]())
        flat = result.ravel() if result.shape else result.reshape(1)
        n = flat.size
        at = np.arange(min(n, 1000)) * (n - 1) // max(min(n, 1000) - 1, 1)
        picked = flat[at]
        if np.iscomplexobj(picked):
            picked = np.concatenate([picked.real, picked.imag])
        return " ".join(repr(float(x)) for x in picked)

    def peak(self, peer):
        _, run = self.calls[peer]
        gc.collect()
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")  # the largest resident size starts anew from the present one
        before = status_bytes("VmRSS")
        result = run()
        after = status_bytes("VmHWM")
        del result
        return str(after - before)


def status_bytes(field):
    with open("/proc/self/status") as f:
        return next(1024 * int(line.split()[1]) for line in f if line.startswith(field + ":"))


if __name__ == "__main__":
    np.seterr(all="ignore")
    serve(Session(), port, " ".join(f"{k}={v}" for k, v in versions.items()))
