"""The Dask side of bench/chunked.R: makes the stores with zarr-python, times Dask on them."""

import sys
import time

import dask
import dask.array as da
import numpy as np
import zarr
from serve import serve
from zarr.codecs import ZstdCodec

port, threads = int(sys.argv[1]), int(sys.argv[2])
dask.config.set(scheduler="threads", num_workers=threads)

CASES = {
    "elementwise": lambda x: da.tanh(x) * 2 + x / (1 + abs(x)),
    "standardize": lambda x: (x - x.mean(axis=0)) / x.std(axis=0, ddof=1),
    "sum": lambda x: x.sum(),
    "column means": lambda x: x.mean(axis=0),
    "column sds": lambda x: x.std(axis=0, ddof=1),
    "largest of rows": lambda x: x.max(axis=1),
    "distance": lambda x: ((x - 1) ** 2).sum(),
    "gram": lambda x: x.T @ x,
}


def like(path, x):
    return zarr.create_array(
        path, shape=x.shape, chunks=x.chunksize, dtype=x.dtype, compressors=None, overwrite=True
    )


class Session:
    def make(self, path, rows, columns, chunk, codec):
        shape = (int(rows), int(columns))
        codecs = [ZstdCodec(level=3)] if codec == "zstd" else None
        x = zarr.create_array(
            path, shape=shape, chunks=(int(chunk), int(chunk)), dtype="float32", compressors=codecs,
            overwrite=True,
        )
        random = np.random.default_rng(1)
        for row in range(0, shape[0], int(chunk)):
            part = random.standard_normal((int(chunk), shape[1]), dtype="float32")
            x[row : row + int(chunk)] = np.round(part, 2)
        return "made"

    def time(self, path, case, target):
        x = da.from_zarr(path)
        start, worked = time.perf_counter(), time.process_time()
        result = CASES[case](x)
        if target:
            da.store(result, like(target, result), lock=False)
        else:
            self.result = result.compute()
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        if target:
            self.result = zarr.open_array(target)[...]
        return f"{seconds} {worked}"

    def values(self):
        flat = np.asarray(self.result, dtype="float64").ravel()
        at = np.linspace(0, len(flat) - 1, min(len(flat), 1000)).astype(int)
        return " ".join(repr(float(v)) for v in flat[at])


versions = f"dask={dask.__version__} zarr={zarr.__version__} numpy={np.__version__}"
serve(Session(), port, versions)
