"""Systems whose rules are published as text: each function states them and makes the cells.

RULES maps ids to functions that return Rules. SECOND_OPINION maps ids to functions that ask a
compiler or library, where there is one, and return cells to compare with."""
import csv
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from rules_file import (
    HERE, NUMBERS, PLAIN, NotInstalled, Rules, of_numbers, with_literals,
)

SIGNED = PLAIN[1:5]
UNSIGNED = PLAIN[5:9]
INTEGERS = SIGNED + UNSIGNED
FLOATS = "f16 bf16 f32 f64".split()
COMPLEX = "c64 c128".split()
FLOAT8 = "f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ".split()


def bits(integer):
    return 1 if integer == "bool" else int(integer.lstrip("ui"))


def tabulate(nodes, binary, unary):
    """Cells of functions that return a node, or None where the operation is undefined."""
    cells = {}
    for operation, function in binary.items():
        for lhs in nodes:
            for rhs in nodes:
                cells[operation, lhs, rhs] = function(lhs, rhs) or "-"
    for operation, function in unary.items():
        for node in nodes:
            cells[operation, node, ""] = function(node) or "-"
    return cells


# ---- Julia

def julia():
    """promote_type(): bool gives way, integers give way to floats, and complex numbers have parts
    of the promoted type. The wider integer wins, and of two of one width the unsigned one."""
    nodes = [node for node in PLAIN if node != "bf16"]
    real = {"c64": "f32", "c128": "f64"}
    with_parts = {"f64": "c128"}

    def promote(lhs, rhs):
        if "bool" in (lhs, rhs):
            return rhs if lhs == "bool" else lhs
        if lhs in COMPLEX or rhs in COMPLEX:
            return with_parts.get(promote(real.get(lhs, lhs), real.get(rhs, rhs)), "c64")
        if lhs in FLOATS or rhs in FLOATS:
            return max((n for n in (lhs, rhs) if n in FLOATS), key=FLOATS.index)
        return max((lhs, rhs), key=lambda n: (bits(n), n in UNSIGNED))

    def add(lhs, rhs):
        return "i64" if lhs == rhs == "bool" else promote(lhs, rhs)

    def divide(lhs, rhs):
        common = promote(lhs, rhs)
        return common if common in FLOATS + COMPLEX else "f64"

    # Repeated multiplication: a whole exponent leaves the type of the base.
    def power(lhs, rhs):
        return lhs if rhs == "bool" or rhs in INTEGERS else promote(lhs, rhs)

    # Of integers, as wide as the wider one and signed as the dividend.
    def remainder(lhs, rhs):
        if lhs in COMPLEX or rhs in COMPLEX:
            return None
        if lhs not in INTEGERS or rhs not in INTEGERS:
            return promote(lhs, rhs)
        return ("ui" if lhs in UNSIGNED else "i") + str(max(bits(lhs), bits(rhs)))

    def ordered(lhs, rhs):
        return None if lhs in COMPLEX or rhs in COMPLEX else promote(lhs, rhs)

    def of_bits(lhs, rhs):
        common = promote(lhs, rhs)
        return None if common in FLOATS + COMPLEX else common

    def accumulated(node):
        if node in UNSIGNED:
            return "ui64"
        return node if node in FLOATS + COMPLEX else "i64"

    def inexact(node):
        return node if node in FLOATS + COMPLEX else "f64"

    literals = "bool", "i64", "f64", "c128"
    cells = tabulate(nodes, {
        "common": promote, "add": add, "divide": divide, "power": power,
        "integer_divide": remainder, "modulo": remainder, "combine": promote,
        "assign": lambda lhs, rhs: lhs, "maximum": ordered, "bitwise": of_bits,
    }, {
        "inexact": inexact, "mean": inexact, "sum": accumulated,
        "prod": lambda node: node if node == "bool" else accumulated(node), "cumsum": accumulated,
    })
    return Rules(
        "promote_type() and operators: base/promotion.jl, int.jl, float.jl, complex.jl, reduce.jl",
        "Julia 1.11", literals, with_literals(cells, literals))


def ask_julia():
    """JOIST_JULIA may name another command than julia."""
    command = shlex.split(os.environ.get("JOIST_JULIA", "julia"))
    if shutil.which(command[0]) is None:
        raise NotInstalled(command[0])
    with open(os.path.join(HERE, "systems.jl")) as program:
        run = subprocess.run(command + ["--startup-file=no", "-e", program.read()],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                             text=True)
    return {(o, lhs, rhs): result for o, lhs, rhs, result in csv.reader(run.stdout.splitlines())}


# ---- Triton

TRITON_NODES = ["bool"] + INTEGERS + FLOATS + FLOAT8


def triton():
    """TritonSemantic.computation_type_impl(): a number gives way to tensors of its kind or a higher
    one (bool, integer, float). Integers promote as in C, but without promotion to int."""
    nodes = TRITON_NODES + NUMBERS[:3]
    as_tensor = {"b*": "bool", "i*": "i32", "f*": "f32"}

    def kind(node):
        node = as_tensor.get(node, node)
        return 0 if node == "bool" else 1 if node in INTEGERS else 2

    def settled(lhs, rhs):
        """The operands without numbers."""
        if lhs in as_tensor and kind(lhs) <= kind(rhs):
            return rhs, rhs
        if rhs in as_tensor and kind(rhs) <= kind(lhs):
            return lhs, lhs
        return as_tensor.get(lhs, lhs), as_tensor.get(rhs, rhs)

    def is_signed(node):
        return node in SIGNED

    def integers(lhs, rhs):
        if is_signed(lhs) == is_signed(rhs):
            return max((lhs, rhs), key=bits)
        unsigned, signed = (rhs, lhs) if is_signed(lhs) else (lhs, rhs)
        return unsigned if bits(unsigned) >= bits(signed) else signed

    def join(lhs, rhs):
        if kind(lhs) < 2 and kind(rhs) < 2:
            return integers(lhs, rhs)
        for wide in ("f64", "f32", "f16"):
            if wide in (lhs, rhs):
                return wide
        if "bf16" in (lhs, rhs):
            return "bf16" if lhs == rhs else "f32"
        if lhs in FLOAT8 and rhs in FLOAT8:
            return lhs if lhs == rhs else "f16"
        return None

    # Quotients and remainders of floats need f32 at least; integers must agree in sign.
    def join_of_quotient(lhs, rhs):
        if kind(lhs) == 2 or kind(rhs) == 2:
            return "f64" if "f64" in (lhs, rhs) else "f32"
        return integers(lhs, rhs) if is_signed(lhs) == is_signed(rhs) else None

    def of_tensors(function):
        def call(lhs, rhs):
            if lhs in as_tensor and rhs in as_tensor:
                return None
            return function(*settled(lhs, rhs))

        return call

    def divide(lhs, rhs):
        common = join_of_quotient(lhs, rhs)
        return common and (common if kind(common) == 2 else "f32")

    def integer_divide(lhs, rhs):
        return None if kind(lhs) == 2 or kind(rhs) == 2 else join_of_quotient(lhs, rhs)

    def of_bits(lhs, rhs):
        return integers(lhs, rhs) if kind(lhs) < 2 and kind(rhs) < 2 else None

    def accumulated(node):
        if node in INTEGERS + ["bool"] and bits(node) < 32:
            return "i32" if is_signed(node) else "ui32"
        return node

    binary = {
        "common": join, "divide": divide, "integer_divide": integer_divide,
        "modulo": join_of_quotient, "combine": join, "maximum": join, "bitwise": of_bits,
    }
    cells = tabulate(nodes, {k: of_tensors(f) for k, f in binary.items()}, {})
    for operation, lhs, rhs in list(cells):
        if lhs in as_tensor and rhs in as_tensor:  # constants of the kernel, which Python computes
            cells[operation, lhs, rhs] = of_numbers(operation, lhs, rhs)
    cells.update(tabulate(TRITON_NODES, {}, {
        "inexact": lambda node: node if node in ("f32", "f64") else None, "sum": accumulated,
        "cumsum": accumulated,
    }))
    return Rules(
        "TritonSemantic.computation_type_impl(), python/triton/language/semantic.py",
        "Triton 3.9.0", ("bool", "i32", "f32", "c64"), cells)


def ask_triton():
    """Triton's own functions, by its interpreter, which needs no GPU."""
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        import triton.language as tl
        from triton.runtime.interpreter import interpreter_semantic as semantic
    except ImportError:
        raise NotInstalled("triton") from None
    theirs = {
        "bool": tl.int1, "f16": tl.float16, "bf16": tl.bfloat16, "f32": tl.float32,
        "f64": tl.float64, "f8E4M3FN": tl.float8e4nv, "f8E5M2": tl.float8e5,
        "f8E4M3FNUZ": tl.float8e4b8, "f8E5M2FNUZ": tl.float8e5b16,
    }
    for node in INTEGERS:
        theirs[node] = getattr(tl, node.replace("ui", "uint") if "u" in node else "int" + node[1:])
    ours = {dtype: node for node, dtype in theirs.items()}
    numbers = {"b*": True, "i*": 1, "f*": 1.5}

    def computation(div_or_mod):
        def call(lhs, rhs):
            def operand(node):
                return (semantic.to_tensor_type(numbers[node]), True) if node in numbers else (
                    theirs[node], False)

            return semantic.computation_type_impl(*operand(lhs), *operand(rhs), div_or_mod)

        return call

    # Values of f8 cannot be computed with here: these cells are asked by computation() alone.
    def value(node):
        return numbers[node] if node in numbers else semantic.full([2], 1, theirs[node])

    def of_values(function):
        return lambda lhs, rhs: function(value(lhs), value(rhs)).dtype

    where = semantic.full([2], 1, tl.int1)
    functions = {
        "common": computation(False), "add": of_values(lambda x, y: semantic.add(x, y, False)),
        "divide": of_values(semantic.truediv), "integer_divide": of_values(semantic.floordiv),
        "modulo": computation(True),
        "combine": of_values(lambda x, y: semantic.where(where, x, y)),
        "maximum": of_values(lambda x, y: tl.maximum(x, y, _semantic=semantic)),
        "bitwise": of_values(semantic.and_),
    }
    cells = {}
    for operation, function in functions.items():
        nodes = TRITON_NODES if operation in ("common", "modulo") else TRITON_NODES[:-len(FLOAT8)]
        for lhs in nodes + NUMBERS[:3]:
            for rhs in nodes + NUMBERS[:3]:
                if lhs in numbers and rhs in numbers:
                    continue
                try:
                    cells[operation, lhs, rhs] = ours[function(lhs, rhs)]
                except Exception as error:
                    # NumPy, which the interpreter computes with, refuses some pairs itself.
                    if not isinstance(error, ValueError) and "ufunc" not in str(error):
                        cells[operation, lhs, rhs] = "-"
    return cells


# ---- C

C_TYPES = {
    "bool": "_Bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "ui8": "uint8_t", "ui16": "uint16_t", "ui32": "uint32_t", "ui64": "uint64_t",
    "f16": "_Float16", "bf16": "__bf16", "f32": "float", "f64": "double",
    "c64": "float _Complex", "c128": "double _Complex",
}


def c():
    """The usual arithmetic conversions where int has 32 bits and long 64. C23 leaves _Float16 with
    a float that holds other values, such as __bf16, undefined; GCC and Clang make it _Float16."""
    real = {"c64": "f32", "c128": "f64"}

    def promoted(node):
        return "i32" if node == "bool" or node in INTEGERS and bits(node) < 32 else node

    def convert(lhs, rhs):
        if lhs in COMPLEX or rhs in COMPLEX:
            parts = convert(real.get(lhs, lhs), real.get(rhs, rhs))
            return "c128" if parts == "f64" else "c64"
        floats = {n for n in (lhs, rhs) if n in FLOATS}
        if floats == {"f16", "bf16"}:
            return "f16"
        if floats:
            return max(floats, key=FLOATS.index)
        return max((promoted(n) for n in (lhs, rhs)), key=lambda n: (bits(n), n in UNSIGNED))

    def of_integers(lhs, rhs):
        common = convert(lhs, rhs)
        return common if common in INTEGERS else None

    def ordered(lhs, rhs):
        return None if lhs in COMPLEX or rhs in COMPLEX else convert(lhs, rhs)

    # Functions of tgmath.h: integers count as double. There are none of 16-bit floats alone.
    def argument(node):
        return "f64" if node == "bool" or node in INTEGERS else node

    def power(lhs, rhs):
        common = convert(argument(lhs), argument(rhs))
        return None if common in ("f16", "bf16") else common

    def inexact(node):
        return None if node in ("f16", "bf16") else argument(node)

    literals = "bool", "i32", "f64", "c128"
    cells = tabulate(PLAIN, {
        "common": convert, "divide": convert, "power": power, "integer_divide": convert,
        "modulo": of_integers, "combine": convert, "assign": lambda lhs, rhs: lhs,
        "maximum": ordered, "bitwise": of_integers,
    }, {"inexact": inexact})
    return Rules(
        "usual arithmetic conversions (C11 6.3.1.8) with _Float16 (C23) and __bf16 (GCC), int of 32"
        " and long of 64 bits; pow() and sqrt() of tgmath.h",
        "C11", literals, with_literals(cells, literals))


def ask_c():
    """The compiler, by _Generic; the cells of types that it lacks are left out. JOIST_CC may name
    another one than gcc."""
    command = shlex.split(os.environ.get("JOIST_CC", "gcc"))
    if shutil.which(command[0]) is None:
        raise NotInstalled(command[0])
    binary = {
        "common": "x + y", "divide": "x / y", "power": "pow(x, y)", "modulo": "x % y",
        "combine": "1 ? x : y", "assign": "x = y", "maximum": "x > y ? x : y", "bitwise": "x & y",
    }

    with tempfile.TemporaryDirectory() as folder:
        def compile(name, text, *options):
            source = os.path.join(folder, name + ".c")
            with open(source, "w") as file:
                file.write(text)
            return subprocess.run([*command, "-std=c11", *options, source], text=True,
                                  env={**os.environ, "LC_ALL": "C"}, stderr=subprocess.PIPE)

        def lines_with_errors(run):
            return {int(n) for n in re.findall(r"\.c:(\d+):\d+: error", run.stderr)}

        def works(node):
            run = compile("type", f"{C_TYPES[node]} f({C_TYPES[node]} x) {{ return x + x; }}\n",
                          "-fsyntax-only", "-include", "stdint.h")
            return run.returncode == 0

        types = {node: name for node, name in C_TYPES.items() if works(node)}
        cells = [(o, lhs, rhs, e) for o, e in binary.items() for lhs in types for rhs in types]
        cells += [("inexact", lhs, "", "sqrt(x)") for lhs in types]
        head = "".join(f"#include <{name}.h>\n" for name in ("stdint", "stdio", "tgmath"))
        choices = "".join(f', {name}: "{node}"' for node, name in types.items())
        head += f"#define NODE(E) _Generic((E){choices})\n"

        def body(cell):
            _, lhs, rhs, expression = cell
            return (f"{{ {types[lhs]} x = 1; {types[rhs or lhs]} y = 1; (void)x; (void)y; "
                    f"puts(NODE({expression})); }}\n")

        program = head + "int main(void) {\n" + "".join(map(body, cells)) + "}\n"
        first = program[:program.index("{ _Bool x")].count("\n") + 1
        wrong = lines_with_errors(compile("all", program, "-fsyntax-only", "-fmax-errors=0"
                                          if "clang" not in command[0] else "-ferror-limit=0"))
        right = [cell for k, cell in enumerate(cells) if first + k not in wrong]
        binary_file = os.path.join(folder, "all")
        run = compile("some", head + "int main(void) {\n" + "".join(map(body, right)) + "}\n",
                      "-o", binary_file, "-lm")
        if run.returncode != 0:
            raise RuntimeError(run.stderr)
        names = subprocess.run([binary_file], stdout=subprocess.PIPE, text=True, check=True)
        found = {cell: "-" for cell in cells}
        found.update(zip(right, names.stdout.split()))
        return {cell[:3]: node for cell, node in found.items()}


# ---- anvl

def anvl_2026_09():
    """common_dtype(): floats by width alone, so that f16 with bf16 is f16; two integers at one that
    holds the values of both, an error for ui64 with a signed one. An R value takes the dtype it
    meets within its category or below, and counts as its default dtype otherwise."""
    nodes = ["bool"] + INTEGERS + FLOATS
    defaults = {"b*": "bool", "i*": "i32", "f*": "f32"}
    width = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}

    def category(node):
        return 0 if node == "bool" else 1 if node in INTEGERS else 2

    def known(lhs, rhs):
        if lhs == rhs:
            return lhs
        if category(lhs) != category(rhs):
            return max((lhs, rhs), key=category)
        if category(lhs) == 2:
            return f"f{max(width[lhs], width[rhs])}"
        if (lhs in SIGNED) == (rhs in SIGNED):
            return max((lhs, rhs), key=bits)
        signed, unsigned = (lhs, rhs) if lhs in SIGNED else (rhs, lhs)
        if bits(unsigned) < bits(signed):
            return signed
        return None if unsigned == "ui64" else f"i{2 * bits(unsigned)}"

    def common(lhs, rhs):
        if (lhs in defaults) == (rhs in defaults):
            return known(defaults.get(lhs, lhs), defaults.get(rhs, rhs))
        value, dtype = (lhs, rhs) if lhs in defaults else (rhs, lhs)
        default = defaults[value]
        return dtype if category(dtype) >= category(default) else default

    def of_numbers_only(lhs, rhs):
        """Operations of numeric dtypes refuse bool once the operands are promoted."""
        found = common(lhs, rhs)
        return None if found == "bool" else found

    def of_bits(lhs, rhs):
        found = common(lhs, rhs)
        return None if found in FLOATS else found

    def assign(lhs, rhs):
        """What is assigned must promote to the array's dtype."""
        dtype = defaults.get(lhs, lhs)
        return dtype if common(dtype, rhs) == dtype else None

    def accumulated(node):
        return "i32" if node == "bool" else node

    def inexact(node):
        return None if node == "bool" else mean(node)

    def mean(node):
        return node if node in FLOATS else "f32"

    cells = tabulate(nodes + NUMBERS[:3], {
        "common": common, "divide": of_numbers_only, "power": of_numbers_only,
        "integer_divide": of_numbers_only, "modulo": of_numbers_only, "combine": common,
        "assign": assign, "maximum": common, "bitwise": of_bits,
    }, {})
    cells.update(tabulate(nodes, {}, {
        "inexact": inexact, "mean": mean, "sum": accumulated, "prod": accumulated,
        "cumsum": accumulated,
    }))
    return Rules(
        "common_dtype() and nv_*() functions, default_dtypes of the backend pjrt: R/promotion-rules.R and"
        " R/api.R of r-xla/anvl",
        "anvl 0.4.0.9000, September 2026", ("bool", "i32", "f32", "c64"),
        cells)


RULES = {"julia": julia, "triton": triton, "c": c, "anvl_2026_09": anvl_2026_09}
SECOND_OPINION = {"julia": ask_julia, "triton": ask_triton, "c": ask_c}
