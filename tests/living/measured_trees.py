"""Systems of measured.py that can be asked random expressions; see trees.py."""
import operator

import systems
from rules_file import NUMBERS, PLAIN, NotInstalled
from systems import PYTHON, THEIRS, dtype_name

OPERATORS = {
    "common": operator.add, "divide": operator.truediv, "power": operator.pow,
    "integer_divide": operator.floordiv, "modulo": operator.mod, "bitwise": operator.and_,
}
WITHOUT_BF16 = [n for n in PLAIN if n != "bf16"]
WITHOUT_HALVES = [n for n in WITHOUT_BF16 if n != "f16"]
REAL = [n for n in WITHOUT_HALVES if not n.startswith("c")]


def library(name):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        raise NotInstalled(name) from None


def one(node):
    return library("numpy").ones(2, THEIRS[node])


def of_arrays(make, nodes, functions, name=dtype_name, numbers=NUMBERS):
    """Arrays of a library that have Python's operators. `functions` are the others."""
    binary = {**OPERATORS, **{k: f for k, f in functions.items() if k in ("maximum", "combine")}}
    unary = {k: f for k, f in functions.items() if k not in binary}
    return nodes + numbers, binary, unary, lambda n: PYTHON[n] if n in PYTHON else make(n), name


def methods(np):
    return {"inexact": np.sqrt, "sum": lambda x: x.sum(), "mean": lambda x: x.mean(),
            "prod": lambda x: x.prod()}


def dask():
    np, da = library("numpy"), library("dask.array")
    yes = da.from_array(np.array([True, False]))
    return of_arrays(lambda n: da.from_array(one(n)), WITHOUT_BF16, {
        **methods(np), "maximum": np.maximum, "combine": lambda x, y: da.where(yes, x, y)})


def sparse():
    np, sp = library("numpy"), library("sparse")
    yes = sp.COO.from_numpy(np.array([True, False]))
    return of_arrays(lambda n: sp.COO.from_numpy(one(n)), WITHOUT_BF16, {
        "inexact": np.sqrt, "maximum": np.maximum, "combine": lambda x, y: sp.where(yes, x, y)})


def awkward():
    np, ak = library("numpy"), library("awkward")
    return of_arrays(lambda n: ak.Array(one(n)), WITHOUT_BF16,
                     {"inexact": np.sqrt, "maximum": np.maximum},
                     lambda x: dtype_name(ak.to_numpy(x)))


def blosc2():
    np, b2 = library("numpy"), library("blosc2")
    # An expression has a dtype even if it cannot be computed.
    return of_arrays(lambda n: b2.asarray(one(n)), WITHOUT_BF16, {"inexact": b2.sqrt},
                     lambda x: dtype_name(x.compute()))


def pandas(dtype, nodes, numbers=NUMBERS):
    np, pd = library("numpy"), library("pandas")
    system = of_arrays(lambda n: pd.Series([1, 1], dtype=dtype(n)), nodes, {"inexact": np.sqrt},
                       numbers=numbers)
    del system[1]["bitwise"]  # of floats an error, but bool if all elements are NaN
    return system


def pandas_numpy():
    return pandas(lambda n: THEIRS[n], WITHOUT_BF16)


def pandas_nullable():
    names = {n: THEIRS[n].capitalize().replace("Uint", "UInt") for n in REAL}
    names["bool"] = "boolean"
    ours = {theirs: n for n, theirs in names.items()}
    system = pandas(names.get, REAL, NUMBERS[:3])
    return (*system[:-1], lambda x: ours.get(str(x.dtype), str(x.dtype)))


def numexpr():
    ne = library("numexpr")
    nodes = ["bool", "i32", "i64", "f32", "f64", "c128"]
    values = {"x_" + n: one(n) for n in nodes}
    numbers = {"b*": "True", "i*": "1", "f*": "1.5", "c*": "1j"}
    # Neither `**`, as joist has no powers of bool, nor `&`, which 1 & x does not reach.
    text = {"common": "({} + {})", "divide": "({} / {})", "modulo": "({} % {})",
            "combine": "where(x_bool, {}, {})"}
    return (nodes + NUMBERS[:3], {k: t.format for k, t in text.items()},
            {"inexact": "sqrt({})".format}, lambda n: numbers.get(n, "x_" + n),
            lambda e: dtype_name(ne.evaluate(e, values)))


def pytensor():
    pt = library("pytensor.tensor")
    return of_arrays(lambda n: pt.vector(dtype=THEIRS[n]), WITHOUT_BF16, {
        "inexact": pt.sqrt, "maximum": pt.maximum, "sum": pt.sum, "mean": pt.mean, "prod": pt.prod,
        "combine": lambda x, y: pt.switch(pt.vector(dtype="bool"), x, y)})


def numba():
    np, nb = library("numpy"), library("numba")
    values = {"x_" + n: one(n) for n in WITHOUT_HALVES}
    values["yes"] = np.array([True, False])
    numbers = {"b*": "True", "i*": "1", "f*": "1.5", "c*": "1j"}
    text = {"common": "({} + {})", "divide": "({} / {})", "power": "({} ** {})",
            "integer_divide": "({} // {})", "modulo": "({} % {})", "bitwise": "({} & {})",
            "maximum": "np.maximum({}, {})"}

    def name(expression):
        used = [v for v in values if v in expression]
        scope = {"np": np}
        exec(f"def f({', '.join(used)}): return {expression}", scope)
        types = tuple(nb.typeof(values[v]) for v in used)
        compiled = nb.njit(scope["f"])
        compiled.compile(types)
        result = compiled.overloads[types].signature.return_type
        return dtype_name(str(getattr(result, "dtype", result)))

    return (WITHOUT_HALVES + NUMBERS, {k: t.format for k, t in text.items()},
            {"inexact": "np.sqrt({})".format}, lambda n: numbers.get(n, "x_" + n), name)


def ndonnx():
    nx = library("ndonnx")
    return of_arrays(lambda n: nx.asarray(one(n)), REAL, {
        "inexact": nx.sqrt, "sum": nx.sum, "mean": nx.mean, "prod": nx.prod,
        "combine": lambda x, y: nx.where(nx.asarray(one("bool")), x, y)},
        lambda x: dtype_name(str(x.dtype)), NUMBERS[:3])


def sql(query, types, text, ours, numbers):
    """Columns of a query engine: `query` gives the name of the type of an expression."""
    def name(expression):
        found = query(expression)
        return ours.get(found, found)

    return (list(types) + list(numbers), {k: t.format for k, t in text.items()}, {},
            lambda n: numbers.get(n, "x_" + n), name)


def datafusion():
    df, pa = library("datafusion"), library("pyarrow")
    names = {n: getattr(pa, "bool_" if n == "bool" else THEIRS[n])() for n in REAL}
    columns = {"x_" + n: pa.array([1, 1]).cast(t) for n, t in names.items()}
    context = df.SessionContext()
    context.from_arrow(pa.table(columns), name="t")
    ours = {str(t): n for n, t in names.items()}

    def query(expression):
        found = context.sql(f"SELECT {expression} AS e FROM t").schema().field("e").type
        return str(found)

    return sql(query, names, {"common": "({} + {})", "divide": "({} / {})", "modulo": "({} % {})",
                              "combine": "coalesce({}, {})"}, ours,
               {"b*": "true", "i*": "1", "f*": "1.5"})


def clickhouse():
    db = library("chdb.session")
    session = db.Session()
    names = {n: THEIRS[n].capitalize().replace("Uint", "UInt") for n in REAL}
    names["bool"] = "Bool"
    columns = ", ".join(f"materialize(to{t}(1)) AS x_{n}" for n, t in names.items())

    def query(expression):
        text = f"SELECT toTypeName({expression}) FROM (SELECT {columns})"
        return str(session.query(text, "TabSeparated")).strip()

    text = {"common": "({} + {})", "divide": "({} / {})", "integer_divide": "intDiv({}, {})",
            "modulo": "({} % {})", "maximum": "greatest({}, {})", "bitwise": "bitAnd({}, {})",
            "combine": "if(x_bool, {}, {})"}
    return sql(query, names, text, {t: n for n, t in names.items()}, {"b*": "true", "i*": "1"})


SYSTEMS = {
    "dask": dask, "sparse": sparse, "awkward": awkward, "blosc2": blosc2, "pandas": pandas_numpy,
    "pandas_nullable": pandas_nullable, "numexpr": numexpr, "pytensor": pytensor, "numba": numba,
    "ndonnx": ndonnx, "datafusion": datafusion, "clickhouse": clickhouse,
}
