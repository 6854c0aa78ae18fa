#!/bin/sh
# Expected: `transpose` before `sharding_indexed` is a chain of codecs like another one: the shard holds
# the chunks of the transposed array, as the specification has it.
# Found: TensorStore opens such an array, and fails when it writes or reads some of its chunks, with
# "Invalid key", if the order of the dims is not its own inverse, such as [1, 2, 0], and the dims have
# different numbers of chunks: the places of chunks are those of the inverse order.
# Where it matters: R/chunked-zarr_shards.R. joist decodes such a shard as a whole, as zarr-python does.
# tensorstore 0.1.84, numpy 2.4.6, 29 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q tensorstore==0.1.84 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys
import numpy as np
import tensorstore

bytes_codec = {"name": "bytes", "configuration": {"endian": "little"}}
shards = {"name": "sharding_indexed", "configuration": {
    "chunk_shape": [2, 2, 4], "codecs": [bytes_codec],
    "index_codecs": [bytes_codec, {"name": "crc32c"}]}}


def made(first, shape):
    array = tensorstore.open({
        "driver": "zarr3", "kvstore": {"driver": "file", "path": f"{sys.argv[1]}/{len(first)}"},
        "metadata": {
            "shape": shape, "data_type": "int16", "codecs": [*first, shards],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}}},
    }, create=True).result()
    wanted = np.arange(64, dtype="i2").reshape(shape)
    try:
        array[...] = wanted
        return "right" if np.array_equal(array.read().result(), wanted) else "wrong"
    except ValueError as error:
        return str(error).split(" [source")[0]


plain = made([], [2, 4, 8])
turned = made([{"name": "transpose", "configuration": {"order": [1, 2, 0]}}], [8, 2, 4])
print("tensorstore 0.1.84")
print("shards:", plain)
print("shards of a transposed array:", turned)
sys.exit(0 if plain == "right" and turned.startswith("Invalid key") else 1)
PYTHON
