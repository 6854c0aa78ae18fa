"""The rule-set files in inst/promotion: written from the systems themselves, and compared with
them.

    python3 systems.py --write keras mlx     asks the libraries and writes inst/promotion/<id>.csv
    python3 systems.py --check keras         asks and prints the cells that differ from the file
    python3 systems.py --list                the ids, one a line

Each id is asked in a process of its own. Exit status: 1 if a cell differs, 77 if none differs but a
library is not installed. Octave and R are asked by systems.m and systems.R. systems_text.py states
the rules of systems that are published as text; where there is a compiler of theirs, --check asks
it, too.
"""
import csv
import importlib.metadata
import operator
import os
import re
import subprocess
import sys
import warnings

import systems_text
from rules_file import (
    BINARY, HERE, NARROW, NUMBERS, ORDER, PLAIN, UNARY, WEAK, NotInstalled, Rules, differences,
    of_numbers, unequal, with_literals, write,
)

MISSING = 77

# Python numbers as operands.
PYTHON = {"b*": True, "i*": 1, "f*": 1.5, "c*": 1j}

# NumPy's and ml_dtypes' names, which most libraries share.
NAMES = {
    "bool": "bool", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex32": "c32", "bcomplex32": "bc32", "complex64": "c64", "complex128": "c128",
    "int1": "int1", "uint1": "uint1",
    "float4_e2m1fn": "f4E2M1FN", "float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN",
    "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU",
}
NAMES.update({f"int{bits}": f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)})
NAMES.update({f"uint{bits}": f"ui{bits}" for bits in (2, 4, 8, 16, 32, 64)})
THEIRS = {ours: theirs for theirs, ours in NAMES.items()}


# ---- asking a library

def answer(function, *operands):
    """The name of the result's dtype, "-" where the library refuses."""
    try:
        return function(*operands)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of Polars is not an Exception
        return "-"


def ask(nodes, binary, unary, value, name, rank_zero=None, ask_about_numbers=False,
        weak_operands=(), guess=None):
    """Cells of all pairs of nodes. binary and unary map operations to functions of values, value
    makes an operand of a node and name the node of a result. rank_zero makes an operand of rank 0.
    Two numbers are left to Python unless ask_about_numbers. The functions of one operand are also
    asked about weak_operands. Where a library has arrays of weak dtypes, guess makes one of a
    number: two numbers and weak_operands are asked as such arrays."""
    cells = {}
    values = {node: value(node) for node in nodes}
    scalars = {node: rank_zero(node) for node in nodes
               if rank_zero and node not in NUMBERS + WEAK}
    functions = dict(binary)
    if rank_zero:
        functions["rank_zero"] = binary.get("add", binary["common"])
    for operation, function in functions.items():
        right = {**values, **scalars} if operation == "rank_zero" else values
        for lhs in nodes:
            for rhs in nodes:
                are_numbers = lhs in NUMBERS and rhs in NUMBERS
                if are_numbers and guess and "b*" not in (lhs, rhs):
                    cells[operation, lhs, rhs] = answer(
                        lambda x, y: name(function(x, y)), guess(lhs), guess(rhs))
                elif are_numbers and not ask_about_numbers:
                    cells[operation, lhs, rhs] = of_numbers(operation, lhs, rhs)
                else:
                    cells[operation, lhs, rhs] = answer(
                        lambda x, y: name(function(x, y)), values[lhs], right[rhs])
    for operation, function in unary.items():
        for node in nodes:
            if node not in NUMBERS or node in weak_operands:
                weak = guess if guess and node in NUMBERS else values.get
                cells[operation, node, ""] = answer(lambda x: name(function(x)), weak(node))
    return cells


def version_of(label, *packages):
    """The version of the first of the packages that is installed."""
    for package in packages:
        try:
            return f"{label} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            pass
    raise NotInstalled(packages[0])


def dtype_name(result):
    """The node of NumPy's name at the end of what a dtype prints."""
    text = str(getattr(result, "dtype", result))
    name = re.search(r"(\w+)\W*$", text).group(1)
    return NAMES.get(name, name)


def like_numpy(module, **others):
    """Operations by the names of NumPy, or of the array API. None drops one."""
    def named(*names):
        return next((getattr(module, n) for n in names if hasattr(module, n)), None)

    functions = {
        "common": named("add"), "divide": named("divide", "true_divide"),
        "power": named("power", "pow"), "integer_divide": named("floor_divide"),
        "modulo": named("remainder", "mod"), "maximum": named("maximum"),
        "bitwise": named("bitwise_and"), "inexact": named("sqrt"), "mean": named("mean"),
        "sum": named("sum"), "prod": named("prod"), "cumsum": named("cumsum", "cumulative_sum"),
    }
    functions.update(others)
    present = {k: f for k, f in functions.items() if f is not None}
    return ({k: f for k, f in present.items() if k in BINARY},
            {k: f for k, f in present.items() if k in UNARY})


# ---- TensorFlow

def tensorflow():
    version = version_of("TensorFlow", "tensorflow", "tensorflow-cpu")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.debugging.disable_traceback_filtering()  # errors take most of the time
    return tf, version


TF_NODES = PLAIN[:]
TF_NODES[1:1] = ["i4"]
TF_NODES[6:6] = ["ui4"]


def tf_tensor(tf, shape):
    def value(node):
        if node in PYTHON:
            return PYTHON[node]
        return tf.cast(tf.ones(shape, tf.int32), tf.as_dtype(THEIRS[node]))

    return value


OPERATORS = {
    "add": operator.add, "divide": operator.truediv, "power": operator.pow,
    "integer_divide": operator.floordiv, "modulo": operator.mod, "bitwise": operator.and_,
}


def tensorflow_2():
    tf, version = tensorflow()
    binary = {
        **OPERATORS, "maximum": tf.maximum, "bitwise": tf.bitwise.bitwise_and,
        "combine": lambda x, y: tf.where([True], x, y),
    }
    binary["common"] = binary.pop("add")
    unary = {
        "inexact": tf.sqrt, "mean": tf.reduce_mean, "sum": tf.reduce_sum, "prod": tf.reduce_prod,
        "cumsum": tf.cumsum,
    }
    return Rules(
        "operators of tf.Tensor, tf.where(), tf.maximum(), tf.reduce_sum(), tf.cumsum()", version,
        ("bool", "i32", "f32", "c128"),
        ask(TF_NODES + NUMBERS, binary, unary, tf_tensor(tf, [1]), dtype_name, tf_tensor(tf, [])))


def tf_numpy(mode, literals):
    tf, version = tensorflow()
    from tensorflow.python.framework import flexible_dtypes, weak_tensor

    np = tf.experimental.numpy
    legacy = mode in ("legacy", "prefer32")
    np.experimental_enable_numpy_behavior(
        prefer_float32=mode == "prefer32", dtype_conversion_mode="legacy" if legacy else mode)

    def name(result):
        if isinstance(result, str):
            return result
        weak = type(result).__name__.endswith("WeakTensor")
        return node_of(result, weak)

    numbers = {f"{dtype}?": node for node, dtype in zip(NUMBERS[1:], literals[1:])}

    def node_of(result, weak):
        node = dtype_name(result) + ("?" if weak else "")
        return numbers.get(node, node)

    # tnp.result_type() does not say whether a result is weak.
    def common(x, y):
        if legacy:
            both = tf.is_tensor(x) and tf.is_tensor(y)
            return dtype_name(np.result_type(x, y) if both else x + y)
        dtype, weak = flexible_dtypes.result_type(x, y)
        return node_of(dtype, weak)

    binary, unary = like_numpy(
        np, common=common, **OPERATORS, combine=lambda x, y: np.where([True], x, y))
    nodes, tensor, weak = TF_NODES + NUMBERS, tf_tensor(tf, [1]), {}
    if not legacy:
        # Weak tensors of other dtypes than those of numbers are results of some operations.
        nodes = TF_NODES + WEAK + NUMBERS

        def guess(node):
            dtype = dict(zip(NUMBERS, literals)).get(node, node.rstrip("?"))
            return weak_tensor.convert_to_weak_tensor_or_tensor(tensor(dtype), True)

        weak = {"guess": guess, "weak_operands": NUMBERS[1:]}

    def value(node):
        return guess(node) if node in WEAK else tensor(node)

    setting = "legacy with prefer_float32" if mode == "prefer32" else mode
    return Rules(
        f"tf.experimental.numpy with dtype_conversion_mode {setting}: result_type() and operators",
        version, literals,
        ask(nodes, binary, unary, value, name, tf_tensor(tf, []), **weak))


# ---- libraries with functions by NumPy's names

def keras():
    version = version_of("Keras", "keras")
    os.environ["KERAS_BACKEND"] = "numpy"
    import keras as library
    import ml_dtypes  # noqa: F401 (NumPy knows its dtypes by name then)

    ops = library.ops
    nodes = PLAIN + ["f8E4M3FN", "f8E5M2"] + NUMBERS

    def value(node):
        return PYTHON[node] if node in PYTHON else ops.ones([1], dtype=THEIRS[node])

    def kind(x):
        return type(x) if isinstance(x, (bool, int, float, complex)) else str(x.dtype)

    binary, unary = like_numpy(
        ops, common=lambda x, y: library.backend.result_type(kind(x), kind(y)), add=ops.add,
        modulo=ops.mod, combine=lambda x, y: ops.where(ops.ones([1], dtype="bool"), x, y))
    return Rules(
        "keras.backend.result_type(), keras.ops.add() and others, NumPy backend", version,
        ("bool", "i32", "f32", "c64"),
        ask(nodes, binary, unary, value, dtype_name,
            lambda node: ops.ones([], dtype=THEIRS[node]), ask_about_numbers=True))


def mlx():
    version = version_of("MLX", "mlx")
    import mlx.core as mx

    theirs = {**THEIRS, "bool": "bool_"}
    nodes = [node for node in PLAIN if node != "c128"] + NUMBERS

    def value(node, shape=(1,)):
        return PYTHON[node] if node in PYTHON else mx.ones(shape, dtype=getattr(mx, theirs[node]))

    binary, unary = like_numpy(mx, combine=lambda x, y: mx.where(mx.array([True]), x, y))
    return Rules(
        "mlx.core.add(), divide(), where(), sum() and others", version,
        ("bool", "i32", "f32", "c64"),
        ask(nodes, binary, unary, value, dtype_name, lambda node: value(node, ())))


def jax_default():
    version = version_of("JAX", "jax")
    os.environ["JAX_ENABLE_X64"] = "0"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_TRACEBACK_FILTERING"] = "off"  # errors take most of the time
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    from jax._src import dtypes

    def dtype(node):
        theirs = THEIRS[node]
        return getattr(jnp, theirs, None) or getattr(ml_dtypes, theirs, None) or np.dtype(theirs)

    # JAX makes arrays of 32-bit dtypes of 64-bit ones, and of bool of int1: result_type() is asked
    # about dtypes, the other functions about arrays.
    class Operand:
        def __init__(self, node):
            self.dtype = PYTHON[node] if node in PYTHON else dtype(node)
            self.is_number = node in PYTHON

    arrays = {}

    def array(x):
        if x.dtype not in arrays:
            arrays[x.dtype] = jnp.ones([1], x.dtype)
        return arrays[x.dtype]

    def result_type(*operands):
        values = [x.dtype if x.is_number else array(x) for x in operands]
        found, weak = dtypes.result_type(*values, return_weak_type_flag=True)
        return dtype_name(np.dtype(found)) + ("?" if weak else "")

    def traced(function):
        """Numbers are constants of the traced function, arrays its arguments."""
        def call(*operands):
            def of_arrays(*traced):
                traced = iter(traced)
                return function(*(x.dtype if x.is_number else next(traced) for x in operands))

            result = jax.eval_shape(of_arrays, *(array(x) for x in operands if not x.is_number))
            return dtype_name(result) + ("?" if result.weak_type else "")

        return call

    binary, unary = like_numpy(jnp, combine=lambda x, y: jnp.where(jnp.array([True]), x, y))
    binary = {operation: traced(function) for operation, function in binary.items()}
    binary["add"], binary["common"] = binary["common"], result_type
    unary = {operation: traced(function) for operation, function in unary.items()}
    return Rules(
        "jax.numpy.result_type(), add() and others, JAX_ENABLE_X64=0", version,
        ("bool", "i32", "f32", "c64"),
        ask(PLAIN + NARROW + NUMBERS, binary, unary, Operand, str, ask_about_numbers=True,
            weak_operands=("i*", "f*", "c*")),
        other={"extremes": "known", "guessed products": "default", "guessed quantiles": "default"})


def array_api_2025():
    version = version_of("array-api-strict", "array-api-strict")
    import array_api_strict as xp

    xp.set_array_api_strict_flags(api_version="2025.12")
    nodes = [node for node in PLAIN if node not in ("f16", "bf16")] + NUMBERS

    def value(node, shape=(1,)):
        return PYTHON[node] if node in PYTHON else xp.ones(shape, dtype=getattr(xp, THEIRS[node]))

    binary, unary = like_numpy(
        xp, common=xp.result_type, add=xp.add,
        combine=lambda x, y: xp.where(xp.asarray([True]), x, y))
    return Rules(
        "array_api_strict.result_type(), add() and others, standard 2025.12", version,
        ("bool", "i64", "f64", "c128"),
        ask(nodes, binary, unary, value, dtype_name, lambda node: value(node, ())))


# ---- libraries with names of their own

def tinygrad():
    version = version_of("tinygrad", "tinygrad")
    os.environ.setdefault("DEV", "PYTHON")
    from tinygrad import Tensor, dtypes
    from tinygrad.dtype import least_upper_dtype

    theirs = {
        "bool": dtypes.bool, "f16": dtypes.float16, "bf16": dtypes.bfloat16, "f32": dtypes.float32,
        "f64": dtypes.float64, "f8E4M3FN": dtypes.fp8e4m3, "f8E5M2": dtypes.fp8e5m2,
        "f8E4M3FNUZ": dtypes.fp8e4m3fnuz, "f8E5M2FNUZ": dtypes.fp8e5m2fnuz,
        "i*": dtypes.weakint, "f*": dtypes.weakfloat,
    }
    for node in PLAIN[1:9]:
        theirs[node] = getattr(dtypes, THEIRS[node])
    ours = {dtype: node for node, dtype in theirs.items()}
    nodes = [node for node in ORDER if node in theirs or node in ("b*", "c*")]

    def value(node, shape=(1,)):
        if node in PYTHON:
            return PYTHON[node]
        return Tensor.empty(*shape, dtype=theirs[node])

    def kind(x):
        return x.dtype if isinstance(x, Tensor) else dtypes.from_py(x)

    def method(name):
        def call(x, y):
            if isinstance(x, Tensor):
                return getattr(x, name)(y)
            if isinstance(y, Tensor):
                return getattr(y, name)(x, reverse=True)
            return getattr(Tensor(x), name)(y)

        return call

    binary = {
        "common": lambda x, y: least_upper_dtype(kind(x), kind(y)), "add": method("add"),
        "divide": method("div"), "power": method("pow"),
        "integer_divide": lambda x, y: x // y if tensor(x, y) else Tensor(x) // y,
        "modulo": lambda x, y: x % y if tensor(x, y) else Tensor(x) % y,
        "maximum": lambda x, y: x.maximum(y) if isinstance(x, Tensor) else (
            y.maximum(x) if isinstance(y, Tensor) else Tensor(x).maximum(y)),
        "bitwise": lambda x, y: x & y if tensor(x, y) else Tensor(x) & y,
        "combine": lambda x, y: Tensor([True]).where(x, y),
    }

    def tensor(x, y):
        return isinstance(x, Tensor) or isinstance(y, Tensor)

    unary = {
        "inexact": lambda x: of(x).sqrt(), "mean": lambda x: of(x).mean(),
        "sum": lambda x: of(x).sum(), "prod": lambda x: of(x).prod(),
        "cumsum": lambda x: of(x).reshape(-1).cumsum(),
    }

    def of(x):
        return x if isinstance(x, Tensor) else Tensor(x)

    return Rules(
        "tinygrad.dtype.least_upper_dtype() and methods of Tensor", version,
        ("bool", "i32", "f32", "c64"),
        ask(nodes, binary, unary, value, lambda r: ours[getattr(r, "dtype", r)],
            lambda node: value(node, ()), ask_about_numbers=True,
            weak_operands=("i*", "f*")))


def paddle():
    version = version_of("PaddlePaddle", "paddlepaddle")
    os.environ["GLOG_minloglevel"] = "3"
    import paddle as library

    nodes = PLAIN[:7] + ["f16", "bf16", "f32", "f64", "c64", "c128", "f8E4M3FN", "f8E5M2"]

    def value(node, shape=(1,)):
        if node in PYTHON:
            return PYTHON[node]
        return library.ones(shape, dtype="float32").astype(THEIRS[node])

    def asked(function):
        """The dtype of a result. CPUs lack kernels of 16-bit floats: where f32 has a kernel, the
        dtype of the missing one, which promotion chose, is the answer."""
        def call(*operands):
            try:
                return dtype_name(function(*operands))
            except RuntimeError as error:
                missing = re.search(
                    r"DataType `(float16|bfloat16)`.* following DataTypes: .*\bfloat32\b",
                    str(error))
                if missing is None:
                    raise
                return NAMES[missing.group(1)]

        return call

    # Other functions refuse more operands, for want of a kernel, and promote none differently.
    binary = {"common": operator.add, "divide": operator.truediv}
    unary = {
        "inexact": library.sqrt, "mean": library.mean, "sum": library.sum, "prod": library.prod,
        "cumsum": library.cumsum,
    }
    return Rules(
        "operators of paddle.Tensor, where uint16 is bfloat16, and paddle.sum(), mean() and others",
        version, ("bool", "i64", "f32", "c64"),
        ask(nodes + NUMBERS, {k: asked(f) for k, f in binary.items()},
            {k: asked(f) for k, f in unary.items()}, value, str, lambda node: value(node, ())))


def arrow():
    version = version_of("Apache Arrow", "pyarrow")
    import pyarrow as pa
    import pyarrow.compute as pc

    theirs = {**{node: THEIRS[node] for node in PLAIN[1:9]},
              "bool": "bool_", "f16": "float16", "f32": "float32", "f64": "float64"}
    ours = {str(getattr(pa, name)()): node for node, name in theirs.items()}

    def value(node):
        if node in PYTHON:
            return PYTHON[node]
        ones = pa.array([1.0 if node.startswith("f") else True if node == "bool" else 1])
        return ones.cast(getattr(pa, theirs[node])())

    binary = {
        "common": pc.add, "divide": pc.divide, "power": pc.power,
        "combine": pc.coalesce, "maximum": pc.max_element_wise, "bitwise": pc.bit_wise_and,
    }
    unary = {
        "inexact": pc.sqrt, "mean": pc.mean, "sum": pc.sum, "prod": pc.product,
        "cumsum": pc.cumulative_sum,
    }
    return Rules(
        "pyarrow.compute.add(), coalesce() and others", version, ("bool", "i64", "f64", "c128"),
        ask([n for n in PLAIN if n in theirs] + NUMBERS[:3], binary, unary, value,
            lambda r: ours[str(r.type)]))


def polars():
    version = version_of("Polars", "polars")
    import polars as pl

    theirs = {"bool": pl.Boolean, "f16": pl.Float16, "f32": pl.Float32, "f64": pl.Float64}
    for node in PLAIN[1:9]:
        theirs[node] = getattr(pl, THEIRS[node].title().replace("i", "I").replace("UI", "UI"))
    nodes = [n for n in PLAIN if n in theirs] + NUMBERS[:3]
    frame = pl.DataFrame({node: pl.Series([1]).cast(dtype) for node, dtype in theirs.items()})

    def operand(node):
        return pl.lit(PYTHON[node]) if node in PYTHON else pl.col(node)

    ours = {str(dtype): node for node, dtype in theirs.items()}

    def name(expression):
        dtype = str(frame.select(expression.alias("x")).dtypes[0])
        return ours.get(dtype, dtype)

    binary = {
        "common": lambda x, y: x + y, "divide": lambda x, y: x / y, "power": lambda x, y: x ** y,
        "integer_divide": lambda x, y: x // y, "modulo": lambda x, y: x % y,
        "combine": lambda x, y: pl.when(pl.lit(True)).then(x).otherwise(y),
        "maximum": pl.max_horizontal, "bitwise": lambda x, y: x & y,
    }
    unary = {
        "inexact": lambda x: x.sqrt(), "mean": lambda x: x.mean(), "sum": lambda x: x.sum(),
        "prod": lambda x: x.product(), "cumsum": lambda x: x.cum_sum(),
    }
    return Rules(
        "expressions of Polars: operators, when().then(), max_horizontal(), sum() and others",
        version, ("bool", "i32", "f64", "c128"),
        ask(nodes, binary, unary, operand, name),
        decides="smallest literal")


def duckdb():
    version = version_of("DuckDB", "duckdb")
    import duckdb as library

    theirs = {
        "bool": "BOOLEAN", "i8": "TINYINT", "i16": "SMALLINT", "i32": "INTEGER", "i64": "BIGINT",
        "ui8": "UTINYINT", "ui16": "USMALLINT", "ui32": "UINTEGER", "ui64": "UBIGINT",
        "f32": "FLOAT", "f64": "DOUBLE",
    }
    ours = {theirs: ours for ours, theirs in theirs.items()}
    literals = {"b*": "true", "i*": "1", "f*": "1.5e0"}
    connection = library.connect()
    connection.execute("create table t as select " + ", ".join(
        f"1::{name} as {node}" for node, name in theirs.items()))

    def name(expression):
        sql = f"select typeof({expression}) from t"
        dtype = connection.execute(sql).fetchone()[0]
        return ours.get(dtype, dtype)

    binary = {
        "common": "({} + {})", "divide": "({} / {})", "power": "pow({}, {})",
        "integer_divide": "({} // {})", "modulo": "({} % {})", "combine": "coalesce({}, {})",
        "maximum": "greatest({}, {})", "bitwise": "({} & {})",
    }
    unary = {
        "inexact": "sqrt({})", "mean": "avg({})", "sum": "sum({})", "prod": "product({})",
        "cumsum": "sum({}) over ()",
    }
    return Rules(
        "typeof() of operators, coalesce(), greatest(), sum() and others", version,
        ("bool", "i32", "f64", "c128"),
        ask(list(theirs) + NUMBERS[:3], {k: q.format for k, q in binary.items()},
            {k: q.format for k, q in unary.items()}, lambda node: literals.get(node, node), name),
        decides="fitting literal")


# ---- systems that are asked by a script of their own

def script(command, source, literals, overflow, numbers=None, **other):
    """Runs a script that prints its version and then operation,lhs,rhs,result. R numbers are values
    of the dtypes `numbers`, by default those of the literals."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    except FileNotFoundError:
        raise NotInstalled(command[0]) from None
    except subprocess.CalledProcessError as error:
        if error.returncode == MISSING:
            raise NotInstalled(command[0]) from None
        raise
    version, *lines = run.stdout.splitlines()
    cells = {}
    for operation, lhs, rhs, result in csv.reader(lines):
        cells[operation, lhs, rhs] = result
    return Rules(source, version, literals, with_literals(cells, numbers or literals),
                 overflow=overflow, other=other)


def octave():
    return script(
        ["octave-cli", "--norc", "--quiet", os.path.join(HERE, "systems.m")],
        "operators and functions of Octave", ("bool", "i32", "f64", "c128"), "saturate",
        numbers=("bool", "f64", "f64", "c128"),  # a whole number is a double there, too
        **{"whole quotients": "rounded", "mixed arithmetic": "double"})


def base_r():
    return script(
        ["Rscript", "--vanilla", os.path.join(HERE, "systems.R")],
        "operators and functions of base R and bit64", ("bool", "i32", "f64", "c128"), "wrap")


SYSTEMS = {
    "tf_numpy_all": lambda: tf_numpy("all", ("bool", "i32", "f32", "c128")),
    "tf_numpy_safe": lambda: tf_numpy("safe", ("bool", "i32", "f32", "c128")),
    "tf_numpy_legacy": lambda: tf_numpy("legacy", ("bool", "i64", "f64", "c128")),
    "tf_numpy_prefer32": lambda: tf_numpy("prefer32", ("bool", "i64", "f32", "c64")),
    "tensorflow_2": tensorflow_2, "keras": keras, "mlx": mlx, "tinygrad": tinygrad,
    "paddle": paddle, "octave": octave, "base_r": base_r, "arrow": arrow, "polars": polars,
    "duckdb": duckdb, "jax_default": jax_default, "array_api_2025": array_api_2025,
    **systems_text.RULES,
}


def run_one(action, name):
    warnings.simplefilter("ignore")
    try:
        rules = SYSTEMS[name]()
    except (NotInstalled, ModuleNotFoundError) as error:
        print(f"{name}: not installed: {error}")
        return MISSING
    if action == "--write":
        write(name, rules)
        print(f"{name}: {len(rules.cells)} cells written")
        return 0
    lines, status = differences(name, rules), 0
    if name in systems_text.SECOND_OPINION:
        try:
            asked = systems_text.SECOND_OPINION[name]()
            lines += unequal(rules.cells, asked)
            print(f"{name}: {len(asked)} answers")
        except NotInstalled as error:
            print(f"{name}: not installed: {error}")
            status = MISSING
    for line in lines:
        print(f"{name}: {line}")
    print(f"{name}: {len(rules.cells)} cells, {len(lines)} differences")
    return 1 if lines else status


def main(arguments):
    if arguments[:1] == ["--list"]:
        print("\n".join(SYSTEMS))
        return 0
    if len(arguments) < 2 or arguments[0] not in ("--write", "--check"):
        print(__doc__)
        return 2
    action, names = arguments[0], arguments[1:]
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}")
        return 2
    if len(names) == 1:
        return run_one(action, names[0])
    statuses = [
        subprocess.run([sys.executable, os.path.abspath(__file__), action, name]).returncode
        for name in names
    ]
    failed = [status for status in statuses if status not in (0, MISSING)]
    return failed[0] if failed else max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
