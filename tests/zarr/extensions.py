"""Writes Zarr arrays of ml_dtypes with TensorStore for extensions.R, and reads those it wrote."""

import sys

import ml_dtypes
import numpy
import tensorstore

NAMES = ["int2", "int4", "bfloat16", "float4_e2m1fn", "float8_e3m4", "float8_e4m3b11fnuz",
         "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
BITS = {"int2": 2, "int4": 4, "float4_e2m1fn": 4, "bfloat16": 8}
FOLDER = sys.argv[2]


def array_of(name):
    """Codes in C order."""
    size = 2 if name == "bfloat16" else 1
    codes = numpy.arange(256 * size) % 2 ** BITS.get(name, 8)
    return codes.astype(numpy.uint8).view(getattr(ml_dtypes, name)).reshape(16, 16)


def store(path):
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}


def write():
    for name in NAMES:
        for codecs in ("plain", "gzip"):
            array = array_of(name)
            chain = [{"name": "bytes", "configuration": {"endian": "little"}}]
            if codecs == "gzip":
                chain.append({"name": "gzip", "configuration": {"level": 1}})
            made = tensorstore.open(
                {**store(f"{FOLDER}/{name}-{codecs}"), "metadata": {
                    "shape": [17, 16], "data_type": name, "codecs": chain, "fill_value": 1,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 7]}}}},
                create=True).result()
            made[:16, :] = array


def check():
    failed = 0
    for name in NAMES:
        for order in "CF":
            read = tensorstore.open(store(f"{FOLDER}/{name}-{order}-joist"), open=True).result()
            array = numpy.asarray(read.read().result())
            low = 2 ** BITS.get(name, 8) - 1
            got = numpy.ascontiguousarray(array[:16]).view(numpy.uint8) & low
            want = array_of(name).view(numpy.uint8)
            one = float(array[16, 0]) == 1
            if array.dtype != want.dtype and str(array.dtype) != name or not one or \
                    not numpy.array_equal(got, want):
                print("differs:", name, order)
                failed += 1
    print(f"TensorStore: {2 * len(NAMES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit({"write": write, "check": check}[sys.argv[1]]())
