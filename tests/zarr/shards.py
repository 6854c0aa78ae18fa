"""Writes random sharded arrays with zarr-python or TensorStore for shards.R, and reads those it
wrote."""

import json
import os
import sys

import numpy as np

try:
    import tensorstore
except ImportError:
    tensorstore = None
    import zarr

FOLDER, COUNT = sys.argv[2], int(sys.argv[3])
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]
NAME = "tensorstore" if tensorstore else f"zarr{zarr.__version__}"


def bytes_codec(rng, dtype):
    how = {"endian": str(rng.choice(["little", "big"]))}
    return {"name": "bytes", "configuration": {} if np.dtype(dtype).itemsize == 1 else how}


def chain(rng, dtype, chunks, level):
    """Random codecs: up to `level` shards within each other."""
    codecs = []
    if rng.random() < 0.3 and len(chunks) > 1:
        order = [int(d) for d in rng.permutation(len(chunks))]
        codecs.append({"name": "transpose", "configuration": {"order": order}})
        chunks = [chunks[d] for d in order]
    if level > 0 and rng.random() < (1 if level == 2 else 0.2):
        inner = [int(rng.choice([d for d in range(1, n + 1) if n % d == 0])) for n in chunks]
        sums = [{"name": "crc32c"}] if rng.random() < 0.8 else []
        codecs.append({"name": "sharding_indexed", "configuration": {
            "chunk_shape": inner, "codecs": chain(rng, dtype, inner, level - 1),
            "index_codecs": [bytes_codec(rng, "int64"), *sums],
            "index_location": str(rng.choice(["start", "end"]))}})
        if rng.random() < 0.8:
            return codecs
    else:
        codecs.append(bytes_codec(rng, dtype))
    more = [
        {"name": "gzip", "configuration": {"level": 5}}, {"name": "crc32c"},
        {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
        {"name": "blosc", "configuration": {
            "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0,
            "typesize": np.dtype(dtype).itemsize}}]
    have = os.environ.get("JOIST_ZARR_CODECS", "").split(",")
    more = [codec for codec in more if codec["name"] in have]
    for k in rng.choice(len(more), rng.integers(0, 3), replace=False):
        codecs.append(more[k])
    return codecs


def opened(path):
    if tensorstore:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
        return tensorstore.open(spec, open=True).result()
    return zarr.open_array(path, mode="r+")


def content(path):
    array = opened(path)
    return np.asarray(array.read().result() if tensorstore else array[...])


def as_bytes(array):
    """In the order of joist: the first extent the fastest, little-endian."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return np.asfortranarray(little).tobytes(order="F")


def random_part(rng, shape):
    ends = [sorted(int(n) for n in rng.integers(0, extent + 1, 2)) for extent in shape]
    return tuple(slice(low, high) for low, high in ends)


def write():
    refused = {}
    for k in range(COUNT):
        rng = np.random.default_rng([k, len(NAME)])
        dtype = str(rng.choice(DTYPES))
        rank = int(rng.integers(1, 4))
        shape = [int(n) for n in rng.integers(1, 13, rank)]
        chunks = [int(rng.choice([2, 4, 6, 8])) for _ in shape]
        path = f"{FOLDER}/{NAME}-{k}"
        os.makedirs(path)
        fill = {"b": True, "c": [1.5, "NaN"], "f": "NaN"}.get(np.dtype(dtype).kind, 3)
        metadata = {
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": dtype,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill, "attributes": {}, "codecs": chain(rng, dtype, chunks, 2)}
        with open(f"{path}/zarr.json", "w") as file:
            json.dump(metadata, file)
        # Neither library has all that the format allows.
        try:
            array = opened(path)
            for _ in range(2):
                part = random_part(rng, shape)
                data = rng.integers(0, 100, [s.stop - s.start for s in part])
                if dtype == "bool":
                    data = data % 2
                array[part] = data.astype(dtype)
            with open(f"{path}.bytes", "wb") as file:
                file.write(as_bytes(content(path)))
        except Exception as error:
            refused[str(error).split(chr(10))[0][:90]] = json.dumps(metadata["codecs"])
            os.remove(f"{path}/zarr.json")
            continue
    if os.environ.get("JOIST_ZARR_REFUSED"):
        for error, codecs in refused.items():
            print("refused:", NAME, error, codecs)


def check():
    counts = [0, 0]
    for line in open(f"{FOLDER}/written-{NAME}.txt"):
        path = f"{FOLDER}/{line.strip()}"
        with open(f"{path}.bytes", "rb") as file:
            same = as_bytes(content(path)) == file.read()
        if not same:
            print("differs:", path)
        counts[0 if same else 1] += 1
    print(f"{NAME}: {counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit({"write": write, "check": check}[sys.argv[1]]())
