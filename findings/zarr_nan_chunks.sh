#!/bin/sh
# Expected: a chunk is left out of a store only if its bytes are those of the fill value: zarr-python
# compares -0 with a fill value of 0 in this way.
# Found: with a fill value of NaN, zarr-python leaves out chunks of any NaN, and reads the NaN of the fill
# value instead: payloads are lost, such as the 1954 by which R tells NA from NaN. In a chunk with one
# number, the same payloads are kept. TensorStore keeps them in both.
# Where it matters: R/chunked-zarr.R. An array of NA that is written through zarr-python is one of NaN.
# zarr 3.1.6, tensorstore 0.1.84, numpy 2.4.6, 28 November 2026
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python" >/dev/null 2>&1 || exit 2
"$folder/python/bin/pip" install -q zarr==3.1.6 tensorstore==0.1.84 numpy==2.4.6 || exit 2
"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys
import numpy as np
import tensorstore
import zarr

folder = sys.argv[1]
print("zarr", zarr.__version__, "numpy", np.__version__)
na = np.array([0x7FF00000000007A2], "u8")  # R's NA
written = np.concatenate([np.repeat(na, 3), np.array([1], "f8").view("u8")]).view("f8")

array = zarr.create_array(
    folder + "/zarr", shape=(4,), chunks=(2,), dtype="f8", fill_value=np.nan, compressors=None)
array[:] = written
by_zarr = zarr.open_array(folder + "/zarr")[:].view("u8")
zeros = zarr.create_array(
    folder + "/zeros", shape=(2,), chunks=(2,), dtype="f8", fill_value=0.0, compressors=None)
zeros[:] = np.array([-0.0, -0.0])
minus = np.signbit(zarr.open_array(folder + "/zeros")[:])
spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": folder + "/tensorstore"}}
store = tensorstore.open(
    spec, create=True, dtype=tensorstore.float64, shape=[4], fill_value=np.nan,
    chunk_layout=tensorstore.ChunkLayout(chunk_shape=[2])).result()
store.write(written).result()
by_tensorstore = tensorstore.open(spec).result().read().result().view("u8")


def low(bits):
    return [int(b & 0xFFFF) for b in bits[:3]]


print("low 16 bits written to elements 1 to 3:", low(written.view("u8")))
print("read from zarr-python's store:", low(by_zarr), "and -0 beside a fill value of 0:", minus)
print("read from TensorStore's store:", low(by_tensorstore))
holds = (low(by_zarr) == [0, 0, 1954] and bool(minus.all())
         and low(by_tensorstore) == [1954, 1954, 1954])
print("zarr-python loses the payloads of a chunk that has only NaN." if holds
      else "This has changed.")
sys.exit(0 if holds else 1)
PYTHON
