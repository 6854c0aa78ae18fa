"""Writes Zarr stores with zarr-python for round_trips.R, and checks those that it wrote."""

import os
import sys

import numpy as np
import zarr

FOLDER = sys.argv[2]
HAVE = os.environ.get("JOIST_ZARR_CODECS", "").split(",")
VERSION = int(zarr.__version__.split(".")[0])
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]
SHAPES = {"scalar": (), "vector": (11,), "matrix": (7, 5), "cube": (4, 3, 5), "none": (0, 3)}
CHUNKS = {"scalar": (), "vector": (4,), "matrix": (3, 5), "cube": (2, 2, 3), "none": (2, 2)}


def array_of(dtype, shape):
    """Elements whose bytes are ((k * 197 + 91) % 256), in C order; bools every third."""
    n = int(np.prod(shape))
    if dtype == "bool":
        return (np.arange(n) % 3 == 0).reshape(shape)
    size = np.dtype(dtype).itemsize
    data = ((np.arange(n * size) * 197 + 91) % 256).astype(np.uint8).tobytes()
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)


def settings():
    """Name, and what the array is made with."""
    if VERSION == 3:
        from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

        more = {
            "zstd": [ZstdCodec(level=3, checksum=True)],
            "blosc": [BloscCodec(cname="zstd", shuffle="bitshuffle")],
        }
        for endian in ("little", "big"):
            for order in ("C", "F"):
                for name, codecs in {
                    "plain": [],
                    "gzip": [GzipCodec(level=5)],
                    "sum": [GzipCodec(level=1), Crc32cCodec()],
                    **{name: more[name] for name in more if name in HAVE},
                }.items():
                    yield f"{endian}-{order}-{name}", (endian, order, codecs)
    else:
        from numcodecs import Blosc, GZip, Zlib, Zstd

        more = {"zstd": Zstd(3), "blosc": Blosc("lz4", shuffle=Blosc.SHUFFLE)}
        for endian in ("little", "big"):
            for order in ("C", "F"):
                plain = {"plain": None, "gzip": GZip(5), "zlib": Zlib(5)}
                for name, codec in {**plain, **{k: v for k, v in more.items() if k in HAVE}}.items():
                    yield f"{endian}-{order}-{name}", (endian, order, codec)


def create(path, dtype, kind, setting):
    endian, order, codec = setting
    shape, chunks = SHAPES[kind], CHUNKS[kind]
    if VERSION == 2:
        code = np.dtype(dtype).newbyteorder("<" if endian == "little" else ">")
        return zarr.open_array(
            path, mode="w", shape=shape, chunks=chunks, dtype=code, order=order, compressor=codec,
            zarr_version=2, fill_value=0,
        )
    from zarr.codecs import BytesCodec, TransposeCodec

    filters = []
    if order == "F" and len(shape) > 1:
        filters = [TransposeCodec(order=tuple(reversed(range(len(shape)))))]
    return zarr.create_array(
        path, shape=shape, chunks=chunks, dtype=dtype, filters=filters, compressors=codec,
        serializer=BytesCodec(endian=endian), fill_value=0, overwrite=True,
    )


def write():
    for dtype in DTYPES:
        for kind in SHAPES:
            for name, setting in settings():
                array = create(f"{FOLDER}/{VERSION}-{dtype}-{kind}-{name}", dtype, kind, setting)
                array[...] = array_of(dtype, SHAPES[kind])


def check():
    wrong = 0
    for line in open(f"{FOLDER}/written.txt"):
        name, dtype, kind = line.split()
        array = zarr.open_array(f"{FOLDER}/{name}", mode="r")
        want = array_of(dtype, SHAPES[kind])
        got = np.asarray(array[...])
        same = got.shape == want.shape and np.dtype(dtype) == got.dtype.newbyteorder("=")
        if not same or got.astype(got.dtype.newbyteorder("<")).tobytes() != want.tobytes():
            print("differs:", name)
            wrong += 1
    sys.exit(1 if wrong else 0)


{"write": write, "check": check}[sys.argv[1]]()
