"""The Python half of round_trips.R: writes files by NumPy, ml_dtypes and safetensors, and compares
those that joist wrote with what they should be, bit by bit.

    python round_trips.py write FOLDER
    python round_trips.py compare FOLDER
"""

import itertools
import os
import sys

import ml_dtypes
import numpy
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

BFLOAT16 = numpy.dtype(ml_dtypes.bfloat16)
DTYPES = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "ui8": "u1", "ui16": "u2",
    "ui32": "u4", "ui64": "u8", "f16": "f2", "bf16": BFLOAT16, "f32": "f4", "f64": "f8",
    "c64": "c8", "c128": "c16",
}
SHAPES = [(), (7,), (3, 5), (2, 3, 4), (3, 1, 2, 5), (2, 3, 2, 1, 3), (2, 1, 3, 2, 2, 2),
          (0,), (3, 0, 2)]


def array_of(name, shape):
    """Every kind of bits, by a rule that round_trips.R knows too."""
    dtype = numpy.dtype(DTYPES[name])
    count = int(numpy.prod(shape, dtype=int))
    if name == "bool":
        return (numpy.arange(count) % 3 == 0).reshape(shape)
    data = (numpy.arange(count * dtype.itemsize, dtype=numpy.int64) * 197 + 91) % 256
    return data.astype(numpy.uint8).view(dtype).reshape(shape)


def cases():
    for name, k in itertools.product(DTYPES, range(len(SHAPES))):
        for big, fortran in itertools.product((False, True), (False, True)):
            if not (big and name == "bf16"):
                yield name, k, big, fortran


def stem(folder, name, k, big, fortran):
    return os.path.join(folder, f"{name}-{k}-{'big' if big else 'little'}-{'F' if fortran else 'C'}")


def write(folder):
    for name, k, big, fortran in cases():
        array = array_of(name, SHAPES[k])
        if big:
            array = array.astype(array.dtype.newbyteorder(">"))
        array = numpy.asfortranarray(array) if fortran and array.ndim > 0 else array
        with open(stem(folder, name, k, big, fortran) + ".npy", "wb") as file:
            numpy.lib.format.write_array(file, array, version=(1 + k % 3, 0))
    everything = {f"{name}-{k}": array_of(name, SHAPES[k])
                  for name, k in itertools.product(DTYPES, range(len(SHAPES)))}
    numpy.savez(os.path.join(folder, "plain.npz"), **everything)
    numpy.savez_compressed(os.path.join(folder, "compressed.npz"), **everything)
    known = {key: array for key, array in everything.items() if not key.startswith("c128")}
    save_file(known, os.path.join(folder, "theirs.safetensors"), {"key": "\u00e9\n\"\\"})


def same(array, want):
    return (array.shape == want.shape and array.dtype.newbyteorder("=") == want.dtype and
            numpy.ascontiguousarray(array.astype(want.dtype)).tobytes() == want.tobytes())


def compare(folder):
    failed = passed = 0

    def check(ok, what):
        nonlocal failed, passed
        passed += ok
        failed += not ok
        if not ok:
            print("differs:", what)

    def typed(array, name):
        return array.view(BFLOAT16) if name == "bf16" else array

    for name, k, big, fortran in cases():
        path = stem(folder, name, k, big, fortran) + "-joist.npy"
        array = typed(numpy.load(path), name)
        check(same(array, array_of(name, SHAPES[k])), path)
        order = array.dtype.byteorder
        check(array.dtype.itemsize == 1 or name == "bf16" or (order == ">") == big, path)
        if min(array.shape, default=0) > 1 and array.ndim > 1:
            check(array.flags.f_contiguous == fortran, path)
    for kind in ("plain", "compressed"):
        with numpy.load(os.path.join(folder, f"joist-{kind}.npz")) as archive:
            for name, k in itertools.product(DTYPES, range(len(SHAPES))):
                check(same(typed(archive[f"{name}-{k}"], name), array_of(name, SHAPES[k])), kind)
    path = os.path.join(folder, "joist.safetensors")
    tensors = load_file(path)
    for key, array in tensors.items():
        name, k = key.split("-")
        check(same(array, array_of(name, SHAPES[int(k)])), key)
    check(len(tensors) == (len(DTYPES) - 1) * len(SHAPES), "all tensors")
    with safe_open(path, "numpy") as file:
        check(file.metadata() == {"key": "\u00e9\n\"\\"}, "metadata")
    print(f"NumPy {numpy.__version__}: {passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit({"write": write, "compare": compare}[sys.argv[1]](sys.argv[2]))
