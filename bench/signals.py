"""The peers of bench/signals.R."""

import os
import time

import cv2
import jax
import numpy as np
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.signal
from jax import numpy as jnp

_threads = int(os.environ["OMP_NUM_THREADS"])
cv2.setNumThreads(_threads)
_random = np.random.default_rng(1)


def _complex(*shape):
    return (_random.normal(size=shape) + 1j * _random.normal(size=shape)).astype("complex64")


def _floats(*shape):
    return _random.normal(size=shape).astype("float32")


_photo = _random.integers(0, 256, (3000, 4000), dtype="uint8")
_long, _prime, _rows, _plane = _complex(2**20), _complex(99991), _complex(1000, 1000), _floats(512, 512)
_batch, _kernel = _floats(32, 32, 32, 32), _floats(64, 32, 3, 3)
_small, _right = _floats(10000, 5, 5), _floats(10000, 5, 1)
_square = _random.normal(size=(500, 500))


def _conv(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), [(1, 1), (1, 1)])


def _jax(f, *arguments):
    compiled = jax.jit(f)
    held = [jnp.asarray(a) for a in arguments]
    return lambda: jax.block_until_ready(compiled(*held))


def _fft(x):
    return {"scipy": lambda: scipy.fft.fft(x, workers=_threads), "jax": _jax(jnp.fft.fft, x)}


peer_cases = {
    "fft_1048576": _fft(_long),
    "fft_99991": _fft(_prime),
    "fft_rows_1000x1000": _fft(_rows),
    "fft_plane_512": {"scipy": lambda: scipy.fft.fft2(_plane, workers=_threads),
                      "jax": _jax(jnp.fft.fft2, _plane)},
    "conv": {"jax": _jax(_conv, _batch, _kernel)},
    "conv_slopes": {"jax": _jax(jax.grad(lambda x, k: jnp.sum(_conv(x, k)**2), (0, 1)),
                                _batch, _kernel)},
    "box_blur": {"opencv": lambda: cv2.blur(_photo, (3, 3)),
                 "scipy": lambda: scipy.ndimage.uniform_filter(_photo, 3)},
    "median_3": {"opencv": lambda: cv2.medianBlur(_photo, 3),
                 "scipy": lambda: scipy.ndimage.median_filter(_photo, 3)},
    "cubic": {"opencv": lambda: cv2.resize(_photo, (2000, 1500), interpolation=cv2.INTER_CUBIC),
              "scipy": lambda: scipy.ndimage.zoom(_photo, 0.5, order=3)},
    "solve_5": {"jax": _jax(jnp.linalg.solve, _small, _right)},
    "inverse_5": {"jax": _jax(jnp.linalg.inv, _small)},
    "eig_500": {},
}


def peer_time(name, peer):
    f = peer_cases[name][peer]
    f()
    start, busy, turns = time.perf_counter(), time.process_time(), 0
    while True:
        f()
        turns += 1
        passed = time.perf_counter() - start
        if passed > 0.05:
            return 1000 * passed / turns, 1000 * (time.process_time() - busy) / turns
