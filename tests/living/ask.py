"""What a library answers: python3 ask.py LIBRARY answers.csv

LIBRARY is numpy, jax, jax_x32, jax_strict, jax_strict_x32, array_api_strict or torch. A line of the file is a cell and the
dtype that the library gives it, by joist's names: "-" where it refuses, "?" behind a weak type of
JAX. The first line has the library's version. Operands are dtypes (of arrays of rank 1; "()" for
rank 0), and i*, f*, c* and b* for a Python number.

Exit status 77: there is no such library here.
"""
import os
import sys
import warnings

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "narrow"))
from ml_names import ML_NAMES

library = sys.argv[1]
if library in ("jax", "jax_strict"):
    os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

PYTHON = {"b*": True, "i*": 1, "f*": 1.5, "c*": 1j}
NAMES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128",
}
# Of these, and of NumPy's bfloat16, which is ml_dtypes', only common dtypes and some functions are
# asked.
SMALL_NAMES = {ml: own for own, ml in ML_NAMES.items()}
HALVES = {"complex32": "c32", "bcomplex32": "bc32"}  # results, not asked
SMALL_FUNCTIONS = "sqrt sum cumsum mean".split()
BINARY = (
    "add sub mul div floor_div mod pow min max atan2 eq lt and bitwise_and shift_left"
    " shift_right where concat matmul"
).split()
UNARY = (
    "negate abs sign floor ceil trunc round invert conj real imag is_nan"
    " sqrt exp log sin tanh log1p sum prod cumsum cumprod mean var std median max min all any"
    " sort matmul_self"
).split()


def common_functions(xp, get):
    """Those that all namespaces have by the same names, but for what `get` says otherwise."""
    def named(*names):
        for name in names:
            if hasattr(xp, name):
                return getattr(xp, name)
        return None

    binary = {
        "add": named("add"), "sub": named("subtract"), "mul": named("multiply"),
        "div": named("divide"), "floor_div": named("floor_divide"), "mod": named("remainder"),
        "pow": named("pow", "power"), "min": named("minimum"), "max": named("maximum"),
        "atan2": named("atan2", "arctan2"), "eq": named("equal", "eq"), "lt": named("less"),
        "and": named("logical_and"), "bitwise_and": named("bitwise_and"),
        "shift_left": named("bitwise_left_shift", "left_shift"),
        "shift_right": named("bitwise_right_shift", "right_shift"),
        "concat": None, "matmul": named("matmul"),
    }
    unary = {
        "negate": named("negative"), "abs": named("abs"), "sign": named("sign"),
        "floor": named("floor"), "ceil": named("ceil"), "trunc": named("trunc"),
        "round": named("round"), "invert": named("bitwise_invert", "bitwise_not", "invert"),
        "conj": named("conj"), "real": named("real"), "imag": named("imag"),
        "is_nan": named("isnan"), "sqrt": named("sqrt"), "exp": named("exp"),
        "log": named("log"), "sin": named("sin"), "tanh": named("tanh"),
        "log1p": named("log1p"), "sum": named("sum"), "prod": named("prod"),
        "cumsum": named("cumsum", "cumulative_sum"),
        "cumprod": named("cumprod", "cumulative_prod"), "mean": named("mean"),
        "var": named("var"), "std": named("std"), "median": named("median"),
        "max": named("max"), "min": named("min"), "all": named("all"), "any": named("any"),
        "sort": named("sort"), "matmul_self": lambda x: xp.matmul(x, x),
    }
    concat = named("concat", "concatenate")
    binary["concat"] = lambda x, y: concat([x, y])
    where = named("where")
    binary["where"] = lambda x, y: where(get([True], "bool"), x, y)
    constructors = {
        "zeros": lambda: xp.zeros(2), "ones": lambda: xp.ones(2), "eye": lambda: xp.eye(2),
        "full b*": lambda: xp.full((2,), True), "full i*": lambda: xp.full((2,), 1),
        "full f*": lambda: xp.full((2,), 1.5), "full c*": lambda: xp.full((2,), 1j),
        "array b*": lambda: xp.asarray([True]), "array i*": lambda: xp.asarray([1]),
        "array f*": lambda: xp.asarray([1.5]), "array c*": lambda: xp.asarray([1j]),
        "arange": lambda: xp.arange(3),
    }
    return binary, unary, constructors


weak = False  # has it dtypes that give way to others?
ranks = False  # do ranks or values count?
only_arrays = ()  # operations that take no Python numbers
small = {}  # an operand for each small dtype that the library has
only_common = library.startswith("jax_strict")
if library == "numpy":
    import numpy as xp
    version = xp.__version__
    names = {short: name for name, short in NAMES.items() if short != "bf16"}
    # Which Python numbers have no dtype of their own is asked below.
    ranks = version.startswith("1.")
    make = lambda values, name: xp.array(values, names[name])
    result_type = lambda x, y: xp.result_type(x, y)
    binary, unary, constructors = common_functions(xp, make)
    random = xp.random.default_rng(1)
    if not ranks:
        try:
            import ml_dtypes
            small = {
                short: xp.array([1], getattr(ml_dtypes, name))
                for name, short in {**SMALL_NAMES, "bfloat16": "bf16"}.items()
            }
        except ImportError:
            pass
    constructors["runif"] = lambda: random.random(2)
    constructors["rnorm"] = lambda: random.standard_normal(2)
    constructors["randint"] = lambda: random.integers(0, 5, 2)
elif library in ("jax", "jax_x32", "jax_strict", "jax_strict_x32"):
    import jax
    import jax.numpy as xp
    version = jax.__version__
    if only_common:
        jax.config.update("jax_numpy_dtype_promotion", "strict")
    weak = True
    names = {
        short: name for name, short in NAMES.items()
        if not library.endswith("_x32") or short not in ("i64", "ui64", "f64", "c128")
    }
    make = lambda values, name: xp.array(values, names[name])
    result_type = xp.result_type
    small = {short: xp.dtype(name) for name, short in SMALL_NAMES.items()}
    binary, unary, constructors = common_functions(xp, make)
    # Nothing is compiled or run: JAX gives the dtype of a result without it.
    traced = lambda f: lambda *operands: jax.eval_shape(
        lambda *arrays: f(*[a if o is None else o for a, o in zip(arrays, unused(operands))]),
        *[None if isinstance(o, (bool, int, float, complex)) else o for o in operands])
    unused = lambda operands: [
        o if isinstance(o, (bool, int, float, complex)) else None for o in operands]
    binary = {name: f and traced(f) for name, f in binary.items()}
    unary = {name: f and traced(f) for name, f in unary.items()}
    key = jax.random.key(1)
    constructors["runif"] = lambda: jax.random.uniform(key, (2,))
    constructors["rnorm"] = lambda: jax.random.normal(key, (2,))
    constructors["randint"] = lambda: jax.random.randint(key, (2,), 0, 5)
elif library == "array_api_strict":
    import array_api_strict as xp
    version = xp.__version__
    names = {short: name for name, short in NAMES.items() if short not in ("bf16", "f16")}
    make = lambda values, name: xp.asarray(values, dtype=getattr(xp, names[name]))
    result_type = xp.result_type
    binary, unary, constructors = common_functions(xp, make)
elif library == "torch":
    try:
        import torch as xp
    except (ImportError, OSError) as reason:
        print(str(reason).splitlines()[0])
        sys.exit(77)
    version = xp.__version__.partition("+")[0]
    ranks = True
    names = {short: name for name, short in NAMES.items()}
    make = lambda values, name: xp.tensor(values, dtype=getattr(xp, names[name]))
    result_type = xp.result_type
    binary, unary, constructors = common_functions(xp, make)
    along = lambda f: lambda x: f(x, 0)
    unary["cumsum"], unary["cumprod"] = along(xp.cumsum), along(xp.cumprod)
    unary["sort"] = lambda x: xp.sort(x)[0]
    only_arrays = ("min", "max", "atan2", "and")
    # torch's functions refuse a number where its operators take one.
    import operator
    for name, f in {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
        "floor_div": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
        "eq": operator.eq, "lt": operator.lt, "bitwise_and": operator.and_,
        "shift_left": operator.lshift, "shift_right": operator.rshift,
    }.items():
        binary[name] = f
    constructors["runif"] = lambda: xp.rand(2)
    constructors["rnorm"] = lambda: xp.randn(2)
    constructors["randint"] = lambda: xp.randint(0, 5, (2,))
else:
    sys.exit(f"unknown library {library}")


def operand(name):
    if name in PYTHON:
        return PYTHON[name]
    if name in small:
        return small[name]
    return make(1, name[:-2]) if name.endswith("()") else make([1], name)


# A dtype is enough where nothing is computed.
def array_of(name):
    is_dtype = name in small and library.startswith("jax")
    return jax.ShapeDtypeStruct((1,), small[name]) if is_dtype else operand(name)


def type_text(result):
    dtype = getattr(result, "dtype", result)
    name = str(dtype).replace("torch.", "").replace("array_api_strict.", "")
    if name not in {**NAMES, **SMALL_NAMES, **HALVES}:
        name = getattr(dtype, "name", getattr(dtype, "__name__", name))
    known = name == "bool" or not (weak and getattr(result, "weak_type", False))
    return {**NAMES, **SMALL_NAMES, **HALVES}.get(name, name) + ("" if known else "?")


def asked(f, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = f(*arguments)
        except (TypeError, ValueError, RuntimeError, NotImplementedError, AttributeError):
            return "-"
    return "-" if result is NotImplemented else type_text(result)


nodes = list(names)
scalars = list(PYTHON)
operands = nodes + ([node + "()" for node in nodes] if ranks else []) + list(small) + scalars
with open(sys.argv[2], "w") as answers:
    print("version," + version, file=answers)
    for x in operands:
        for y in operands:
            if x in scalars and y in scalars:
                continue
            print(f"common {x} {y}," + asked(result_type, operand(x), operand(y)), file=answers)
            if only_common or x in small or y in small:
                continue
            for name in BINARY:
                # Rows of numbers, and products of vectors, have no numbers in them.
                if name in ("concat", "matmul") and not (x in nodes and y in nodes):
                    continue
                if name in only_arrays and (x in scalars or y in scalars):
                    continue
                if ranks and name != "add" and (x.endswith("()") or y.endswith("()")):
                    continue
                if binary[name] is not None:
                    print(f"{name} {x} {y}," + asked(binary[name], operand(x), operand(y)),
                          file=answers)
    for x in [] if only_common else nodes + list(small):
        for name in SMALL_FUNCTIONS if x in small else UNARY:
            if unary[name] is not None:
                print(f"{name} {x}," + asked(unary[name], array_of(x)), file=answers)
    for name, f in ({} if only_common else constructors).items():
        answer = asked(f)
        print(f"{name}," + answer.rstrip("?"), file=answers)
