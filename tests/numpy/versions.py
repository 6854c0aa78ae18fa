"""Dtypes of expressions: python3 versions.py expressions.txt results.txt

A line of the first file is a Python expression; the same line of the second is the dtype of its
value, or "error" where NumPy refuses it or makes a Python number infinite, because its dtype cannot
hold it: joist refuses that, too.
"""
import sys
import warnings

import numpy as np


def vector(values, dtype):
    return np.array(values, dtype)


def scalar(value, dtype):
    return np.array(value, dtype)


with open(sys.argv[1]) as lines, open(sys.argv[2], "w") as results:
    for line in lines:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                value = eval(line, {"np": np, "vector": vector, "scalar": scalar})
                dtype = np.asarray(value).dtype.name
            except (TypeError, OverflowError):
                dtype = "error"
        if any("overflow encountered in cast" in str(warning.message) for warning in seen):
            dtype = "error"
        print(dtype, file=results)
