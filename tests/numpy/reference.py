"""Runs the statements of a file with NumPy and writes what every one gave.

    python3 reference.py STATEMENTS RESULTS

A line of STATEMENTS is `name = expression`, or `program`, which forgets all names. A line of
RESULTS is dtype;shape;values in column-major order, or `error;` and the message.
"""
import sys
import warnings

import numpy as np

NAMES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "float16": "f16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128",
}


def full(text, dtype, shape):
    """An array of the numbers in `text`, column-major."""
    numbers = text.split()
    if dtype.startswith("c"):
        flat = [complex(float(re), float(im)) for re, im in zip(numbers[::2], numbers[1::2])]
    elif dtype.startswith("f"):
        flat = [float(number) for number in numbers]
    else:
        flat = [int(number) for number in numbers]
    names = {short: name for name, short in NAMES.items()}
    return np.array(flat, dtype=names[dtype]).reshape(shape, order="F")


def text_of(array):
    flat = array.flatten(order="F")
    kind = array.dtype.kind
    if kind == "c":
        return " ".join(f"{float(z.real).hex()} {float(z.imag).hex()}" for z in flat)
    if kind == "f":
        return " ".join(float(x).hex() for x in flat)
    return " ".join(str(int(x)) for x in flat)


def main(statements, results):
    names = {"np": np, "full": full}
    with open(statements) as source, open(results, "w") as out:
        for line in source:
            line = line.rstrip("\n")
            if line == "program":
                names = {"np": np, "full": full}
                continue
            name, expression = line.split(" = ", 1)
            try:
                value = np.asarray(eval(expression, names))
            except Exception as problem:
                out.write(f"error;{type(problem).__name__}: {problem}".replace("\n", " ") + "\n")
                continue
            names[name] = value
            shape = " ".join(str(extent) for extent in value.shape)
            out.write(f"{NAMES.get(value.dtype.name, value.dtype.name)};{shape};{text_of(value)}\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(sys.argv[1], sys.argv[2])
