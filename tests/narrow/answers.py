# What ml_dtypes gives, as files of bytes that compare.R reads:
#
#   python answers.py FOLDER NUMBERS SEED
#
# For each dtype: the values of its codes in f64 (values), the codes of f32 and f64 numbers that are
# in f32.bin and f64.bin (of_f32, of_f64), and of all pairs of codes the results of operations, named
# after them. NaN and Inf come as NumPy has them.
import pathlib
import sys

import ml_dtypes
import numpy as np

from ml_names import ML_NAMES

folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
generator = np.random.default_rng(seed)
np.seterr(all="ignore")

floats = [name for name in ML_NAMES.values() if name.startswith("float")]
integers = [name for name in ML_NAMES.values() if not name.startswith("float")]


def save(name, array):
    np.ascontiguousarray(array).tofile(folder / name)


# Random bits; numbers near those of the dtypes, and all values half way between two of one dtype,
# with their neighbours.
def numbers():
    bits = generator.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    near = (generator.standard_normal(count) * 2.0 ** generator.integers(-20, 20, count))
    ties = []
    for name in floats:
        dtype = getattr(ml_dtypes, name)
        values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
        values = np.unique(values[np.isfinite(values)])
        ties.append((values[1:] + values[:-1]) / 2)
        step = values[-1] - values[-2]
        ties.append(np.array([values[-1] + step / 2, values[-1] + step, 2 * values[-1]]))
        ties.append(values)
    ties = np.unique(np.concatenate(ties))
    ties = np.concatenate([ties, -ties, [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]])
    single = ties.astype(np.float32)
    around = [single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
    f32 = np.concatenate([bits, near.astype(np.float32)] + around)
    wide = generator.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    around = [ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)]
    return f32, np.concatenate([wide, near] + around)


def codes(array):
    return array.view(np.uint8)


f32, f64 = numbers()
save("f32.bin", f32)
save("f64.bin", f64)
for name in floats + integers:
    dtype = getattr(ml_dtypes, name)
    bits = ml_dtypes.finfo(dtype).bits if name in floats else ml_dtypes.iinfo(dtype).bits
    every = np.arange(2**bits, dtype=np.uint8).view(dtype)
    left, right = np.repeat(every, 2**bits), np.tile(every, 2**bits)
    save(name + ".values", every.astype(np.float64))
    if name in floats:
        save(name + ".of_f32", codes(f32.astype(dtype)))
        save(name + ".of_f64", codes(f64.astype(dtype)))
    whole = np.arange(-300, 300)
    save(name + ".of_i64", codes(whole.astype(dtype)))
    results = {
        "add": left + right, "sub": left - right, "mul": left * right,
        "eq": left == right, "lt": left < right, "le": left <= right,
        "min": np.minimum(left, right) if name in floats else None,
        "max": np.maximum(left, right) if name in floats else None,
        "div": left / right if name in floats else None,
    }
    for operation, result in results.items():
        if result is not None:
            save(name + "." + operation, result.view(np.uint8))
