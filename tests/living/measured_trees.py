"""Systems of measured.py that can be asked random expressions and what they give; see trees.py."""
import ast
import atexit
import importlib.util
import operator
import os
import re
import shutil
import subprocess
import tempfile

import systems
from rules_file import NUMBERS, PLAIN, NotInstalled
from systems import THEIRS, dtype_name

OPERATORS = {
    "common": operator.add, "divide": operator.truediv, "power": operator.pow,
    "integer_divide": operator.floordiv, "modulo": operator.mod, "bitwise": operator.and_,
}
TEXT = {"common": "({} + {})", "divide": "({} / {})", "power": "({} ** {})",
        "integer_divide": "({} // {})", "modulo": "({} % {})", "bitwise": "({} & {})"}
WITHOUT_BF16 = [n for n in PLAIN if n != "bf16"]
WITHOUT_HALVES = [n for n in WITHOUT_BF16 if n != "f16"]
REAL = [n for n in WITHOUT_HALVES if not n.startswith("c")]


def edges(node):
    """Values of a dtype, or of numbers as operands: small ones, and those at the ends of a width."""
    if node in ("bool", "b*"):
        return [True, False]
    if node == "i*":
        ends = [e + by for bits in (7, 8, 15, 16, 31) for e in (2**bits,) for by in (-1, 0)]
        return [1, 0, 2, 3, 7] + [e for e in ends if e < 2**31] + [-1, -128, -129, -32769, 1 - 2**31]
    if "i" in node:
        bits, signed = int(node.strip("ui")), node[0] == "i"
        low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
        return [1, 2, 3, 7, 100, low, low + 1, high - 1, high] + [0, -1] * signed
    if node[0] == "c":
        return [1 + 2j, -1.5 - 0.5j, 0.5 + 0.25j]
    large = {"f16": [2048.0, 65504.0], "bf16": [256.0], "f32": [16777216.0, 3e38]}
    return [1.5, 0.1, 2.0, -2.5, 0.0, 3.0] + large.get(node, [2.0**53, 1e300])


def library(name):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        raise NotInstalled(name) from None


def one(node, value):
    return library("numpy").array([value], THEIRS[node])


def element(result):
    """The value of a result of one element."""
    np = library("numpy")
    value = np.asarray(result).ravel()[0]
    return value.item() if isinstance(value, np.generic) else value


def of_arrays(make, nodes, functions, name=dtype_name, numbers=NUMBERS, element=element):
    """Arrays of a library that have Python's operators. `functions` are the others."""
    binary = {**OPERATORS, **{k: f for k, f in functions.items() if k in ("maximum", "combine")}}
    unary = {k: f for k, f in functions.items() if k not in binary}
    return (nodes + numbers, binary, unary, lambda n, v: v if n in NUMBERS else make(n, v), name,
            element)


def of_text(nodes, text, ask, leaf=None):
    """A system that is asked by text: ask() gives the dtype and the value of an expression."""
    def literal(node, value):
        if node in NUMBERS:
            return f"({value})" if str(value)[0] == "-" else str(value)
        return f"x_{node}_{edges(node).index(value)}"

    unary = {k: t.format for k, t in text.items() if k in ("inexact", "sum", "mean", "prod")}
    binary = {k: t.format for k, t in text.items() if k not in unary}
    return nodes, binary, unary, leaf or literal, lambda found: found[0], lambda found: found[1], ask


def columns(nodes, make):
    """A variable or column for each value of each dtype, by its name."""
    return {f"x_{n}_{k}": make(n, v) for n in nodes for k, v in enumerate(edges(n))}


def names_in(expression):
    return sorted(set(re.findall(r"\bx_\w+", expression)))


def methods(np):
    return {"inexact": np.sqrt, "sum": lambda x: x.sum(), "mean": lambda x: x.mean(),
            "prod": lambda x: x.prod()}


def dask():
    np, da = library("numpy"), library("dask.array")
    yes = da.from_array(np.array([True]))
    return of_arrays(lambda n, v: da.from_array(one(n, v)), WITHOUT_BF16, {
        **methods(np), "maximum": np.maximum, "combine": lambda x, y: da.where(yes, x, y)})


def sparse():
    np, sp = library("numpy"), library("sparse")
    yes = sp.COO.from_numpy(np.array([True]))
    return of_arrays(lambda n, v: sp.COO.from_numpy(one(n, v)), WITHOUT_BF16, {
        "inexact": np.sqrt, "maximum": np.maximum, "combine": lambda x, y: sp.where(yes, x, y)},
        element=lambda x: element(x.todense()))


def awkward():
    np, ak = library("numpy"), library("awkward")
    return of_arrays(lambda n, v: ak.Array(one(n, v)), WITHOUT_BF16,
                     {"inexact": np.sqrt, "maximum": np.maximum},
                     lambda x: dtype_name(ak.to_numpy(x)))


def blosc2():
    b2 = library("blosc2")
    # An expression has a dtype even if it cannot be computed.
    return of_arrays(lambda n, v: b2.asarray(one(n, v)), WITHOUT_BF16, {"inexact": b2.sqrt},
                     lambda x: dtype_name(x.compute()), element=lambda x: element(x.compute()[:]))


def pandas(dtype, nodes, numbers=NUMBERS, name=dtype_name):
    np, pd = library("numpy"), library("pandas")

    def first(x):
        value = x.iloc[0]
        return value.item() if isinstance(value, np.generic) else value

    system = of_arrays(lambda n, v: pd.Series([v], dtype=dtype(n)), nodes, {"inexact": np.sqrt},
                       name, numbers, first)
    del system[1]["bitwise"]  # of floats an error, but bool if all elements are NaN
    return system


def pandas_numpy():
    return pandas(lambda n: THEIRS[n], WITHOUT_BF16)


def own_names(names, nodes):
    ours = {theirs: n for n, theirs in names.items()}
    return pandas(names.get, nodes, NUMBERS[:3], lambda x: ours.get(str(x.dtype), str(x.dtype)))


def pandas_nullable():
    names = {n: THEIRS[n].capitalize().replace("Uint", "UInt") for n in REAL}
    return own_names({**names, "bool": "boolean"}, REAL)


def pandas_arrow():
    names = {n: THEIRS[n] + "[pyarrow]" for n in REAL}
    return own_names({**names, "f16": "halffloat[pyarrow]", "f32": "float[pyarrow]",
                      "f64": "double[pyarrow]"}, REAL)


def numexpr():
    ne = library("numexpr")
    nodes = ["bool", "i32", "i64", "f32", "f64", "c128"]
    values = columns(nodes, one)
    # Neither `**`, as joist has no powers of bool, nor `&`, which 1 & x does not reach.
    text = {**{k: TEXT[k] for k in ("common", "divide", "modulo")},
            "combine": "where(x_bool_0, {}, {})", "inexact": "sqrt({})"}

    def ask(expression):
        found = ne.evaluate(expression, values)
        return dtype_name(found), element(found)

    return of_text(nodes + NUMBERS[:3], text, ask)


def pytensor():
    pt = library("pytensor.tensor")
    # Rewriting takes wrapped sums and quotients of 0 for others; see findings/.
    mode = library("pytensor.compile.mode").Mode("py", None)
    return of_arrays(lambda n, v: pt.as_tensor(one(n, v)), WITHOUT_BF16, {
        "inexact": pt.sqrt, "maximum": pt.maximum, "sum": pt.sum, "mean": pt.mean, "prod": pt.prod,
        "combine": lambda x, y: pt.switch(pt.as_tensor(one("bool", True)), x, y)},
        element=lambda x: element(x.eval(mode=mode)))


class Steps(ast.NodeTransformer):
    """Assigns each operation's result to a name: what has none, Numba computes as scalars."""

    def __init__(self):
        self.lines = []

    def step(self, node):
        self.generic_visit(node)
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {ast.unparse(node)}")
        return ast.Name(name, ast.Load())

    visit_BinOp = visit_Call = step


def numba(make=one):
    np, nb = library("numpy"), library("numba")
    values = columns(WITHOUT_HALVES, make)
    text = {**TEXT, "maximum": "np.maximum({}, {})", "inexact": "np.sqrt({})"}

    def ask(expression):
        used = names_in(expression)
        scope = {"np": np}
        steps = Steps()
        steps.visit(ast.parse(expression))
        body = "; ".join([*steps.lines, f"return t{len(steps.lines) - 1}"])
        exec(f"def f({', '.join(used)}): {body}", scope)
        compiled = nb.njit(scope["f"], error_model="numpy")
        found = compiled(*(values[v] for v in used))
        result = compiled.overloads[tuple(nb.typeof(values[v]) for v in used)].signature.return_type
        return dtype_name(str(getattr(result, "dtype", result))), element(found)

    return of_text(WITHOUT_HALVES + NUMBERS, text, ask)


def numba_scalar():
    system = numba(lambda n, v: one(n, v)[0])
    del system[1]["maximum"]  # its rules have none
    return system


def ndonnx():
    nx = library("ndonnx")
    return of_arrays(lambda n, v: nx.asarray(one(n, v)), REAL, {
        "inexact": nx.sqrt, "sum": nx.sum, "mean": nx.mean, "prod": nx.prod,
        "combine": lambda x, y: nx.where(nx.asarray(one("bool", True)), x, y)},
        lambda x: dtype_name(str(x.dtype)), NUMBERS[:3], lambda x: element(x.unwrap_numpy()))


def sql(names, text, ask, literals):
    """Columns of a query engine: `ask` gives the name of the type of an expression, and the value."""
    ours = {theirs: n for n, theirs in names.items()}

    def named(expression):
        found, value = ask(expression)
        return ours.get(found, found), value

    return of_text(list(names) + literals, {**{k: TEXT[k] for k in TEXT if k != "power"}, **text},
                   named)


def datafusion():
    df, pa = library("datafusion"), library("pyarrow")
    names = {n: getattr(pa, "bool_" if n == "bool" else THEIRS[n])() for n in REAL}
    context = df.SessionContext()
    context.from_arrow(pa.table(columns(names, lambda n, v: pa.array([v], names[n]))), name="t")

    def ask(expression):
        found = context.sql(f"SELECT {expression} AS e FROM t").to_arrow_table()["e"]
        return str(found.type), found[0].as_py()

    text = {"combine": "coalesce({}, {})"}
    system = sql({n: str(t) for n, t in names.items()}, text, ask, NUMBERS[:3])
    for operation in ("integer_divide", "bitwise"):
        del system[1][operation]
    return system


def clickhouse():
    db = library("chdb.session")
    session = db.Session()
    names = {n: THEIRS[n].capitalize().replace("Uint", "UInt") for n in REAL}
    names["bool"] = "Bool"
    made = columns(names, lambda n, v: f"materialize(to{names[n]}('{str(v).lower()}'))")

    def ask(expression):
        used = ", ".join(f"{made[x]} AS {x}" for x in names_in(expression))
        query = f"SELECT toTypeName({expression}), {expression} FROM (SELECT {used or '1'})"
        return str(session.query(query, "TabSeparated")).rstrip("\n").split("\t")

    text = {"integer_divide": "intDiv({}, {})", "maximum": "greatest({}, {})",
            "bitwise": "bitAnd({}, {})", "combine": "if(x_bool_0, {}, {})"}
    return sql(names, text, ask, NUMBERS[:2])


def sqlite():
    connection = library("sqlite3").connect(":memory:")
    nodes = [n for n in REAL if n != "ui64"]
    types = {"bool": "BOOLEAN", "f32": "FLOAT", "f64": "DOUBLE"}
    made = columns(nodes, lambda n, v: v)
    connection.execute("CREATE TABLE t (" + ", ".join(
        f"{x} {types.get(x.split('_')[1], 'INTEGER')}" for x in made) + ")")
    connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(made))})", list(made.values()))

    def ask(expression):
        query = f"SELECT typeof({expression}), {expression} FROM t"
        found = connection.execute(query).fetchone()
        if found[1] is None:
            raise ArithmeticError  # a quotient by zero
        return found

    system = sql({"i64": "integer", "f64": "real"}, {}, ask, [])
    del system[1]["integer_divide"]
    return (nodes + NUMBERS[:3], *system[1:])


def duckdb():
    connection = library("duckdb").connect()
    names = dict(zip(REAL, "BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER "
                           "UBIGINT FLOAT DOUBLE".split()))
    made = columns(names, lambda n, v: f"'{v}'::{names[n]}")
    connection.execute("CREATE TABLE t AS SELECT " + ", ".join(
        f"{text} AS {x}" for x, text in made.items()))

    def ask(expression):
        expression = re.sub(r"(?<=[ (])[0-9.e+]*\.[0-9.e+]*", r"\g<0>e0", expression)
        found = connection.execute(f"SELECT typeof({expression}), {expression} FROM t").fetchone()
        if found[1] is None:
            raise ArithmeticError  # a remainder by zero
        return found

    text = {"power": "pow({}, {})", "combine": "coalesce({}, {})", "maximum": "greatest({}, {})",
            "inexact": "sqrt({})"}
    return sql(names, text, ask, NUMBERS[:3])


def polars():
    pl = library("polars")
    names = {n: pl.Boolean if n == "bool" else getattr(pl, THEIRS[n].title().replace("Ui", "UI"))
             for n in REAL}
    frame = pl.DataFrame(columns(names, lambda n, v: pl.Series([v], dtype=names[n])))
    ours = {str(t): n for n, t in names.items()}

    def ask(expression):
        found = frame.select(expression.alias("x"))["x"]
        return ours.get(str(found.dtype), str(found.dtype)), found[0]

    def leaf(node, value):
        return pl.lit(value) if node in NUMBERS else pl.col(f"x_{node}_{edges(node).index(value)}")

    binary = {**OPERATORS, "maximum": pl.max_horizontal}
    return (REAL + NUMBERS[:3], binary, {"inexact": lambda x: x.sqrt()}, leaf,
            lambda found: found[0], lambda found: found[1], ask)


def arrow():
    pa, pc = library("pyarrow"), library("pyarrow.compute")
    names = {n: pa.bool_() if n == "bool" else getattr(pa, THEIRS[n])() for n in REAL}
    ours = {str(t): n for n, t in names.items()}
    binary = {"common": pc.add, "divide": pc.divide, "power": pc.power, "combine": pc.coalesce,
              "maximum": pc.max_element_wise, "bitwise": pc.bit_wise_and}
    unary = {"inexact": pc.sqrt, "mean": pc.mean, "sum": pc.sum, "prod": pc.product}
    return (REAL + NUMBERS[:3], binary, unary,
            lambda n, v: v if n in NUMBERS else pa.array([v], names[n]),
            lambda x: ours.get(str(x.type), str(x.type)),
            lambda x: (x[0] if hasattr(x, "__len__") else x).as_py())


def postgresql():
    """A server of its own, which only this process reaches; root starts it as user postgres."""
    own = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    if own:
        shutil.chown(folder, "postgres")

    def run(program, *options):
        subprocess.run([program, "-D", folder + "/data", *options], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, **own)

    try:
        run("initdb", "-A", "trust", "-U", "postgres")
        run("pg_ctl", "-w", "-o", f"-k {folder} -h ''", "start")
    except FileNotFoundError as error:
        raise NotInstalled(error.filename) from None
    atexit.register(run, "pg_ctl", "-m", "immediate", "stop")
    psql = subprocess.Popen(
        ["psql", "-XAtq", "-F", " ", "-h", folder, "-U", "postgres"], text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def query(text):
        psql.stdin.write(text + ";\n\\echo\n")
        psql.stdin.flush()
        return list(iter(lambda: psql.stdout.readline().rstrip("\n"), ""))

    names = {"bool": "boolean", "i16": "smallint", "i32": "integer", "i64": "bigint", "f32": "real",
             "f64": "double precision"}
    made = columns(names, lambda n, v: f"'{v}'::{names[n]}")
    query("CREATE TABLE t AS SELECT " + ", ".join(f"{text} AS {x}" for x, text in made.items()))

    def ask(expression):
        [found] = query(f"SELECT ({expression})::text, pg_typeof({expression}) FROM t")
        value, found = found.split(" ", 1)
        return found, {"true": "1", "false": "0", "Infinity": "inf"}.get(value, value)

    text = {"power": "({} ^ {})", "combine": "coalesce({}, {})", "maximum": "greatest({}, {})",
            "inexact": "sqrt({})"}
    system = sql(names, text, ask, NUMBERS[:3])
    del system[1]["integer_divide"]
    return system


def taichi():
    ti = library("taichi")
    ti.init(arch=ti.cpu, offline_cache=False, log_level=ti.ERROR, cpu_max_num_threads=1)
    names = {n: "u1" if n == "bool" else n.replace("ui", "u") for n in WITHOUT_BF16[:-2]}
    ours = {theirs: n for n, theirs in names.items()}
    values = columns(names, lambda n, v: (n, v))
    noted, whole, real = [], ti.field(ti.i64, ()), ti.field(ti.f64, ())
    file = tempfile.NamedTemporaryFile("w", suffix=".py")  # kernels are read from files
    atexit.register(file.close)

    def note(x):
        noted.append(x.ptr.get_rvalue_type().to_string())
        return True

    def ask(expression):
        used = names_in(expression)
        # The code of these, and that of max(), may end the process: they have a type only.
        runs = not re.search(r"//|%|\*\*", expression)
        file.seek(0)
        file.truncate()
        file.write(
            "import taichi as ti\ndef made(note, whole, real):\n    @ti.kernel\n    def f("
            + ", ".join(f"{x}: ti.{names[values[x][0]]}" for x in used) + f"):\n        x = {expression}"
            f"\n        if ti.static(note(x)) and {runs}:\n            whole[None] = ti.cast(x, ti.i64)\n"
            "            real[None] = ti.cast(x, ti.f64)\n    return f\n")
        file.flush()
        spec = importlib.util.spec_from_file_location(f"kernel_{len(noted)}", file.name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.made(note, whole, real)(*(values[x][1] for x in used))
        dtype = ours[noted[-1]]
        if not runs:
            return dtype, ""
        if dtype[0] == "f":
            return dtype, real[None]
        return dtype, whole[None] % 2**64 if dtype == "ui64" else whole[None]

    text = {**TEXT, "inexact": "ti.sqrt({})"}
    return of_text(list(names) + NUMBERS[:3], text, ask)


def openvino():
    np, ov = library("numpy"), library("openvino")
    op, core = library("openvino.opset15"), ov.Core()
    nodes, values = PLAIN[:13], {}
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}

    def leaf(node, value):
        if node in NUMBERS:
            return value
        dtype = {"bool": "boolean"}.get(node, node.replace("ui", "u"))
        made = op.parameter([1], getattr(ov.Type, dtype))
        values[made.get_friendly_name()] = ov.Tensor(one(node, value))
        return made

    def ask(result):
        found, left = set(), [result]
        while left:
            node = left.pop()
            found |= {node} if node.get_type_name() == "Parameter" else set()
            left += [source.get_node() for source in node.input_values()]
        model = ov.Model([result], list(found))
        run = core.compile_model(model, "CPU", options)
        return dtype_name(result.get_element_type().to_dtype()), element(run(
            [values[p.get_friendly_name()] for p in found])[0])

    def reduced(function):
        return lambda x: function(x, np.array([0]), keep_dims=True)

    functions = {"common": op.add, "divide": op.divide, "power": op.power, "modulo": op.floor_mod,
                 "maximum": op.maximum, "bitwise": op.bitwise_and,
                 "combine": lambda x, y: op.select(op.constant([True]), x, y)}
    return (nodes + NUMBERS[:3], functions,
            {"inexact": op.sqrt, "sum": reduced(op.reduce_sum), "mean": reduced(op.reduce_mean),
             "prod": reduced(op.reduce_prod)},
            leaf, lambda found: found[0], lambda found: found[1], ask, True, None, False)


def onnxscript():
    op = library("onnxscript").opset21
    # Results are tensors, which numbers follow in dtype; see findings/onnxscript_numbers.sh.
    functions = {k: lambda x, y, of=of: of(x, y).value for k, of in (
        ("common", op.Add), ("divide", op.Div), ("power", op.Pow))}
    return (WITHOUT_BF16[:-2] + NUMBERS[:3], functions, {},
            lambda n, v: v if n in NUMBERS else one(n, v), dtype_name, element,
            lambda result: result, True, None, False)


def of_tensors(make, nodes, functions, element, mixed=True):
    """Those that may have rank 0."""
    return (*of_arrays(lambda n, v: make([v], THEIRS[n]), nodes, functions, element=element),
            lambda result: result, True, lambda n, v: make(v, THEIRS[n]), mixed)


def numpy():
    np = library("numpy")
    return of_tensors(np.array, WITHOUT_BF16, {
        **methods(np), "maximum": np.maximum, "combine": lambda x, y: np.where([True], x, y)}, element)


def jax():
    jnp = library("jax.numpy")
    library("jax").config.update("jax_enable_x64", True)
    return of_tensors(jnp.array, PLAIN, {
        **methods(jnp), "maximum": jnp.maximum,
        "combine": lambda x, y: jnp.where(jnp.array([True]), x, y)},
        lambda x: x.ravel()[0].item())


def torch():
    torch = library("torch")
    torch.set_num_threads(1)
    yes = torch.tensor([True])
    return of_tensors(lambda v, dtype: torch.tensor(v, dtype=getattr(torch, dtype)), PLAIN, {
        **methods(torch), "maximum": torch.maximum, "combine": lambda x, y: torch.where(yes, x, y)},
        lambda x: x.item())


def tensorflow_2():
    tf, _ = systems.tensorflow()
    system = of_tensors(lambda v, dtype: tf.constant(v, getattr(tf, dtype)), PLAIN, {
        "inexact": tf.sqrt, "sum": tf.reduce_sum, "mean": tf.reduce_mean, "prod": tf.reduce_prod,
        "maximum": tf.maximum, "combine": lambda x, y: tf.where([True], x, y)},
        lambda x: x.numpy().ravel()[0].item(), False)
    system[1]["bitwise"] = tf.bitwise.bitwise_and
    return system


SYSTEMS = {
    "numpy": numpy, "jax": jax, "torch": torch, "tensorflow_2": tensorflow_2,
    "postgresql": postgresql, "taichi": taichi, "openvino": openvino, "onnxscript": onnxscript,
    "duckdb": duckdb, "polars": polars, "arrow": arrow,
    "dask": dask, "sparse": sparse, "awkward": awkward, "blosc2": blosc2, "pandas": pandas_numpy,
    "pandas_nullable": pandas_nullable, "pandas_arrow": pandas_arrow, "numexpr": numexpr,
    "pytensor": pytensor, "numba": numba, "numba_scalar": numba_scalar, "ndonnx": ndonnx,
    "datafusion": datafusion, "clickhouse": clickhouse, "sqlite": sqlite,
}
