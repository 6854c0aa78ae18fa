"""The Python side of bench/gpu.R: the same expressions in CuPy, PyTorch and JAX, whichever are
there, on the same GPU. Prints bytes moved per second. Needs a GPU."""

import sys
import time

n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 2**28


def seconds(call, wait, runs=7, calls=10):
    call()
    call()
    wait()
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def report(peer, name, size, call, wait):
    print(f"{peer:8s} {name:24s} {size * n / seconds(call, wait) / 1e9:8.0f} GB/s")


def chain(x, y, maximum, absolute):
    z = x * 2 + y
    z = z * z - x
    z = maximum(z, y) * 0.5 + x
    z = z * y + 1
    return absolute(z - x) * 3


def run(peer, x, y, i, copy, fused, wait):
    report(peer, "copy", 8, lambda: copy(x), wait)
    report(peer, "x + y, f32", 12, lambda: x + y, wait)
    report(peer, "i32 + f32", 12, lambda: i + x, wait)
    report(peer, "12 operations, fused", 12, lambda: fused(x, y), wait)
    report(peer, "sum, f32", 4, lambda: x.sum(), wait)


try:
    import cupy
    x, y = cupy.random.rand(2, n, dtype="f4")
    run("cupy", x, y, cupy.random.randint(0, 1000, n, dtype="i4"), lambda a: a.copy(),
        cupy.fuse(lambda a, b: chain(a, b, cupy.maximum, cupy.absolute)),
        cupy.cuda.Device().synchronize)
    del x, y
    cupy.get_default_memory_pool().free_all_blocks()
except ImportError:
    print("no cupy")

try:
    import torch
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    compiled = torch.compile(lambda a, b: chain(a, b, torch.maximum, torch.abs))
    run("torch", x, y, torch.randint(0, 1000, (n,), dtype=torch.int32, device="cuda"),
        lambda a: a.clone(), compiled, torch.cuda.synchronize)
    del x, y
    torch.cuda.empty_cache()
except ImportError:
    print("no torch")

try:
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.key(1), 3)
    x, y = jax.random.uniform(keys[0], (n,)), jax.random.uniform(keys[1], (n,))
    last = [x]

    def kept(function):
        compiled = jax.jit(function)

        def call(*arguments):
            last[0] = compiled(*arguments)
            return last[0]
        return call

    i = jax.random.randint(keys[2], (n,), 0, 1000, dtype="int32")
    add, total = kept(lambda a, b: a + b), kept(jnp.sum)
    wait = lambda: last[0].block_until_ready()  # noqa: E731
    report("jax", "copy", 8, lambda f=kept(jnp.copy): f(x), wait)
    report("jax", "x + y, f32", 12, lambda: add(x, y), wait)
    report("jax", "i32 + f32", 12, lambda: add(i, x), wait)
    report("jax", "12 operations, fused", 12,
           lambda f=kept(lambda a, b: chain(a, b, jnp.maximum, jnp.abs)): f(x, y), wait)
    report("jax", "sum, f32", 4, lambda: total(x), wait)
except ImportError:
    print("no jax")
