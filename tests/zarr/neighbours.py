"""Dask and xarray on the stores of neighbours.R: writes some, checks those that joist wrote."""

import sys

import dask.array as da
import numpy as np
import xarray as xr
import zarr
from zarr.codecs import GzipCodec

FOLDER = sys.argv[2]
WEATHER = np.arange(7 * 5 * 3, dtype="float32").reshape(7, 5, 3) / 4
COUNTS = np.arange(40, dtype="int16").reshape(8, 5)


def write():
    target = zarr.create_array(
        f"{FOLDER}/dask.zarr", shape=(8, 5), chunks=(3, 2), dtype="int16", compressors=None
    )
    da.store(da.from_array(COUNTS, chunks=(3, 2)) * 2, target)
    data = xr.Dataset(
        {"weather": (("time", "y", "x"), WEATHER, {"units": "K"})},
        coords={"time": np.arange(7), "x": [10.0, 20.0, 30.0]},
        attrs={"title": "made"},
    )
    data.to_zarr(
        f"{FOLDER}/xarray.zarr", zarr_format=3, consolidated=False,
        encoding={
            "weather": {"chunks": (4, 5, 2), "compressors": [GzipCodec()]},
            "time": {"compressors": None},
            "x": {"compressors": None},
        },
    )


def check():
    x = da.from_zarr(f"{FOLDER}/joist.zarr", component="weather")
    assert x.shape == (7, 5, 3) and x.dtype == "float32", x
    assert x.chunks == ((3, 3, 1), (5,), (2, 1)), x.chunks
    assert np.array_equal(x.compute(), WEATHER)
    assert np.allclose(x.mean(axis=0).compute(), WEATHER.mean(axis=0))
    computed = da.from_zarr(f"{FOLDER}/computed.zarr")
    assert np.array_equal(computed.compute(), WEATHER * 2 + 1)
    data = xr.open_zarr(f"{FOLDER}/joist.zarr", zarr_format=3, consolidated=False)
    assert dict(data.sizes) == {"time": 7, "y": 5, "x": 3}, data.sizes
    assert data.weather.dims == ("time", "y", "x")
    assert data.weather.attrs["units"] == "K" and data.attrs["title"] == "made", data.attrs
    assert np.array_equal(data.weather.sel(x=20.0).values, WEATHER[:, :, 1])
    assert np.array_equal(data.weather.isel(time=6).mean("x").values, WEATHER[6].mean(axis=1))


{"write": write, "check": check}[sys.argv[1]]()
