"""Random expressions of 3 to 8 operations, and the dtype that a system gives each.

    python3 trees.py ID [COUNT] [SEED]      prints lines R EXPRESSION;DTYPE

trees.R evaluates the expressions under the rule set ID. In them, x_i8 is a tensor of one dimension,
s_i8 one of rank 0. A dtype is "-" where the system refuses. Exit status 77 if the system is not
installed. The systems are those of systems.py and of measured_trees.py.
"""
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import measured_trees
import systems
import systems_text
from rules_file import HERE, NUMBERS, WEAK, NotInstalled

R_BINARY = {
    "add": "({} + {})", "divide": "({} / {})", "power": "({}^{})", "integer_divide": "({} %/% {})",
    "modulo": "({} %% {})", "combine": "nv_ifelse(yes, {}, {})", "maximum": "nv_max({}, {})",
    "bitwise": "nv_bitwise_and({}, {})",
}
R_UNARY = {"inexact": "nv_sqrt({})", "sum": "sum({})", "mean": "mean({})", "prod": "prod({})"}
R_NUMBERS = {"b*": "TRUE", "i*": "1L", "f*": "1", "c*": "1i"}


class System:
    """What systems.py tells ask() about a library."""

    number_first = True

    def __init__(self, nodes, binary, unary, value, name, rank_zero=None, **_):
        self.nodes, self.value, self.name, self.rank_zero = nodes, value, name, rank_zero
        self.functions = {**unary, **binary}
        if "add" not in binary:
            self.functions["add"] = binary["common"]
        self.binary = [o for o in R_BINARY if o in self.functions]
        self.unary = [o for o in R_UNARY if o in self.functions]

    def of(self, tree):
        if tree[0] == "number" or tree[0] == "tensor":
            return self.value(tree[1])
        if tree[0] == "scalar":
            return self.rank_zero(tree[1])
        return self.functions[tree[0]](*map(self.of, tree[1:]))

    def answers(self, trees):
        return [systems.answer(lambda tree: self.name(self.of(tree)), tree) for tree in trees]


class Script(System):
    """A system that is asked by a program: `text` is its own form of each operation, and run()
    gives the answers to expressions."""

    def __init__(self, nodes, text, leaf, run, scalar=None):
        unary = {o: t.format for o, t in text.items() if o in R_UNARY}
        binary = {o: t.format for o, t in text.items() if o in R_BINARY}
        super().__init__(nodes, {"common": None, **binary}, unary, leaf, str, scalar)
        self.run = run

    def answers(self, trees):
        return self.run([self.of(tree) for tree in trees])


class Random:
    def __init__(self, system, seed):
        self.system, self.draw = system, random.Random(seed)

    def leaf(self, number):
        numbers = [n for n in self.system.nodes if n in NUMBERS]
        known = [n for n in self.system.nodes if n not in NUMBERS + WEAK]
        node = self.draw.choice(known)
        if number and numbers and self.draw.random() < 0.35:
            return "number", self.draw.choice(numbers)
        zero = self.system.rank_zero is not None and self.draw.random() < 0.3
        return "scalar" if zero else "tensor", node

    def tree(self, operations, number=False):
        """R and Python compute with two numbers alone, so no operation has two."""
        if operations == 0:
            return self.leaf(number)
        if self.system.unary and self.draw.random() < 0.2:
            return self.draw.choice(self.system.unary), self.tree(operations - 1)
        # Sums and quotients are refused least.
        often = self.draw.random() < 0.5
        operation = self.draw.choice(["add", "divide"] if often else self.system.binary)
        left = self.draw.randrange(operations)
        first = self.tree(left, self.system.number_first)
        second = self.tree(operations - 1 - left, first[0] != "number")
        return operation, first, second


def in_r(tree):
    if tree[0] == "number":
        return R_NUMBERS[tree[1]]
    if tree[0] in ("tensor", "scalar"):
        return f"{'x' if tree[0] == 'tensor' else 's'}_{tree[1]}"
    return {**R_BINARY, **R_UNARY}[tree[0]].format(*map(in_r, tree[1:]))


def asked_by_library(name):
    found = []

    def ask(*arguments, **options):
        found.append(System(*arguments, **options))
        return {}

    systems.ask = ask
    systems.SYSTEMS[name]()
    system = found[0]
    if name == "duckdb":  # aggregates do not mix with columns
        system.unary = ["inexact"]
    if name == "polars":
        # Branches that are not taken are not checked. Polars forgets the dtype of a literal with a
        # column in what follows: f16 / (1.5 / f32) is Float32, its root Float64.
        system.binary.remove("combine")
        system.unary = ["inexact"]
        system.number_first = False
    return system


# ---- systems that are asked by a script

def first_part(name, end):
    with open(os.path.join(HERE, name)) as file:
        text = file.read()
    return text[:text.index(end)]


def lines_of(command, text, suffix):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(text)
        file.flush()
        try:
            run = subprocess.run([*command, file.name], stdout=subprocess.PIPE, text=True, check=True)
        except FileNotFoundError:
            raise NotInstalled(command[0]) from None
    return run.stdout.split()


def octave():
    head = first_part("systems.m", "function x = assigned") + 'warning("off", "all");\n'

    def run(expressions):
        text = head + "".join(
            f"try\n  puts([node_of({e}), \"\\n\"]);\ncatch\n  puts(\"-\\n\");\nend_try_catch\n"
            for e in expressions)
        return lines_of(["octave-cli", "--norc", "--quiet"], text, ".m")

    text = {
        "add": "({} + {})", "divide": "({} ./ {})", "power": "({} .^ {})", "maximum": "max({}, {})",
        "modulo": "mod({}, {})", "integer_divide": "idivide({}, {})", "inexact": "sqrt({})",
        "sum": "sum({})", "mean": "mean({})", "prod": "prod({})",
    }
    # Complex results without imaginary parts are real.
    nodes = "bool i8 i16 i32 i64 ui8 ui16 ui32 ui64 f32 f64 b* f*".split()
    numbers = {"b*": "true", "f*": "1"}
    return Script(nodes, text, lambda node: numbers.get(node, f"operand(\"{node}\", 2)"), run,
                  lambda node: f"operand(\"{node}\", 1)")


def base_r():
    def run(expressions):
        text = (
            "suppressWarnings(suppressMessages(library(bit64)))\n"
            "node <- function(code) cat(tryCatch({\n  x <- suppressWarnings(code)\n"
            "  if (is.integer64(x)) \"i64\" else c(logical = \"bool\", integer = \"i32\",\n"
            "    double = \"f64\", complex = \"c128\")[[typeof(x)]]\n"
            "}, error = function(e) \"-\"), \"\\n\")\n"
        ) + "".join(f"node({e})\n" for e in expressions)
        return lines_of(["Rscript", "--vanilla"], text, ".R")

    leaves = {
        "bool": "c(TRUE)", "i32": "c(1L)", "f64": "c(1)", "c128": "complex(real = 1, imaginary = 1)",
    }
    text = {
        "add": "({} + {})", "divide": "({} / {})", "power": "({}^{})", "inexact": "sqrt({})",
        "integer_divide": "({} %/% {})", "modulo": "({} %% {})", "sum": "sum({})",
        "mean": "mean({})", "prod": "prod({})",
    }
    return Script(list(leaves) + NUMBERS, text, lambda n: leaves.get(n) or R_NUMBERS[n], run)


def c():
    types = {n: t for n, t in systems_text.C_TYPES.items() if n not in ("f16", "bf16")}
    head = "".join(f"#include <{name}.h>\n" for name in ("stdint", "stdio", "tgmath"))
    choices = "".join(f', {t}: "{n}"' for n, t in types.items())
    head += f"#define NODE(E) _Generic((E){choices})\nint main(void) {{\n"
    head += "".join(f"{t} x_{n} = 1; (void)x_{n};\n" for n, t in types.items())

    def run(expressions):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a")

            def compile(expressions, *options):
                with open(source, "w") as file:
                    file.write(head + "".join(f"puts(NODE({e}));\n" for e in expressions) + "}\n")
                return subprocess.run(["gcc", "-std=c11", "-w", source, *options], text=True,
                                      env={**os.environ, "LC_ALL": "C"}, stderr=subprocess.PIPE)

            try:
                found = compile(expressions, "-fsyntax-only", "-fmax-errors=0").stderr
            except FileNotFoundError:
                raise NotInstalled("gcc") from None
            first = head.count("\n") + 1
            wrong = {int(n) - first for n in re.findall(r"a\.c:(\d+):\d+: error", found)}
            compile([e for k, e in enumerate(expressions) if k not in wrong], "-o", program, "-lm")
            names = iter(subprocess.run([program], stdout=subprocess.PIPE, text=True,
                                        check=True).stdout.split())
            return ["-" if k in wrong else next(names) for k in range(len(expressions))]

    text = {
        "add": "({} + {})", "divide": "({} / {})", "power": "pow({}, {})", "modulo": "({} % {})",
        "maximum": "({0} > {1} ? {0} : {1})", "bitwise": "({} & {})", "inexact": "sqrt({})",
    }
    numbers = {"b*": "(_Bool)1", "i*": "1", "f*": "1.5", "c*": "(double _Complex)1"}
    return Script(list(types) + NUMBERS, text, lambda n: numbers.get(n, "x_" + n), run)


SCRIPTS = {"octave": octave, "base_r": base_r, "c": c}
SCRIPTS.update({name: lambda make=make: System(*make())
                for name, make in measured_trees.SYSTEMS.items()})


def main(arguments):
    name = arguments[0]
    count = int(arguments[1]) if len(arguments) > 1 else 20
    seed = int(arguments[2]) if len(arguments) > 2 else 1
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # TensorFlow prints warnings
            system = SCRIPTS[name]() if name in SCRIPTS else asked_by_library(name)
            draws = Random(system, seed)
            # Four in five are not refused, if that many can be found.
            trees = [draws.tree(draws.draw.randint(3, 8)) for _ in range(20 * count)]
            found = list(zip(trees, system.answers(trees)))
    except (NotInstalled, ModuleNotFoundError) as error:
        print(f"{name}: not installed: {error}", file=sys.stderr)
        return systems.MISSING
    given = [pair for pair in found if pair[1] != "-"][:count - count // 5]
    refused = [pair for pair in found if pair[1] == "-"][:count - len(given)]
    for tree, dtype in given + refused:
        print(f"{in_r(tree)};{dtype}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
