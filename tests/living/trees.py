"""Random expressions of 3 to 8 operations, and the dtype and value that a system gives each.

    python3 trees.py ID [COUNT] [SEED]      prints lines R EXPRESSION;DTYPE;VALUE

trees.R evaluates the expressions under the rule set ID. In them, x("i8", "127") is a tensor of one
dimension, s() one of rank 0. A dtype is "-" where the system refuses, and "!" where it refuses the
values, but not ones in their place. The systems of measured_trees.py are asked about values at the
ends of each width, those of systems.py about ones, and no values. Exit status 77 if the system is
not installed.
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
# Remainders that have the sign of the dividend.
TRUNCATED = {"datafusion", "clickhouse", "sqlite", "duckdb", "postgresql"}
R_UNARY = {"inexact": "nv_sqrt({})", "sum": "sum({})", "mean": "mean({})", "prod": "prod({})"}
R_NUMBERS = {"b*": "TRUE", "i*": "1L", "f*": "1", "c*": "1i"}


class System:
    """What systems.py tells ask() about a library."""

    number_first = True
    mixed = True  # False where most operations take operands of one dtype only
    edges = staticmethod(lambda node: [1 + 0j if node[0] == "c" else 1])

    def __init__(self, nodes, binary, unary, value, name, rank_zero=None, **_):
        self.nodes, self.name = nodes, name
        self.rank_zero = rank_zero and (lambda node, _: rank_zero(node))
        self.leaf = lambda node, _: value(node)
        self.functions = {**unary, **binary}
        if "add" not in binary:
            self.functions["add"] = binary["common"]
        self.binary = [o for o in R_BINARY if o in self.functions]
        self.unary = [o for o in R_UNARY if o in self.functions]

    def of(self, tree):
        if tree[0] == "number" or tree[0] == "tensor":
            return self.leaf(*tree[1:])
        if tree[0] == "scalar":
            return self.rank_zero(*tree[1:])
        return self.functions[tree[0]](*map(self.of, tree[1:]))

    def answers(self, trees):
        for tree in trees:
            yield systems.answer(lambda tree: self.name(self.of(tree)) + ";", tree)


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


class Measured(System):
    """A system of measured_trees.py, asked about values, too."""

    edges = staticmethod(measured_trees.edges)

    def __init__(self, nodes, binary, unary, leaf, name, element, ask=lambda result: result,
                 number_first=True, rank_zero=None, mixed=True):
        super().__init__(nodes, binary, unary, None, name)
        self.number_first, self.rank_zero, self.mixed = number_first, rank_zero, mixed
        self.leaf, self.element, self.ask = leaf, element, ask

    def answers(self, trees):
        def asked(tree):
            found = self.ask(self.of(tree))
            return f"{self.name(found)};{text_of(self.element(found))}"

        for tree in trees:
            found = systems.answer(asked, tree)
            if found == "-" and any(systems.answer(asked, with_values(tree, [k])) != "-" or
                                    systems.answer(asked, with_values(tree, [0, k])) != "-"
                                    for k in (0, 1, 2)):
                found = "!"
            yield found


def with_values(tree, which):
    """The same expression of other values: the tensors take turns."""
    if tree[0] in ("number", "tensor", "scalar"):
        values = measured_trees.edges(tree[1])
        which.append(which.pop(0))
        return (*tree[:2], values[which[-1] % len(values)])
    return (tree[0], *[with_values(part, which) for part in tree[1:]])


def text_of(value):
    """A value in R's words."""
    if isinstance(value, complex):
        return f"{value.real!r} {value.imag!r}"
    return str(value).replace("True", "1").replace("False", "0")


class Random:
    def __init__(self, system, seed):
        self.system, self.draw = system, random.Random(seed)
        self.all = self.known = [n for n in system.nodes if n not in NUMBERS + WEAK]

    def trees(self, count):
        for _ in range(count):
            if not self.system.mixed:
                self.known = [self.draw.choice(self.all)] if self.draw.random() < 0.9 else self.all
            yield self.tree(self.draw.randint(3, 8))

    def leaf(self, number):
        numbers = [n for n in self.system.nodes if n in NUMBERS]
        node = self.draw.choice(self.known)
        zero = self.system.rank_zero is not None and self.draw.random() < 0.3
        kind = "scalar" if zero else "tensor"
        if number and numbers and self.draw.random() < 0.35:
            kind, node = "number", self.draw.choice(numbers)
        return kind, node, self.draw.choice(self.system.edges(node))

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
    if tree[0] in ("number", "tensor", "scalar"):
        kind, node, value = tree
        text = str(value) + "L" * (node == "i*")
        if "c" in node:
            text = f"{value.real}{value.imag:+}i"
        elif node in ("bool", "b*"):
            text = str(bool(value)).upper()
        elif "i64" in node:
            text = f'"{value}"'
        return f"({text})" if kind == "number" else f'{"s" if kind == "scalar" else "x"}("{node}", {text})'
    return {**R_BINARY, **R_UNARY}[tree[0]].format(*map(in_r, tree[1:]))


def asked_by_library(name):
    found = []

    def ask(*arguments, **options):
        found.append(System(*arguments, **options))
        return {}

    systems.ask = ask
    systems.SYSTEMS[name]()
    system = found[0]
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
SCRIPTS.update({name: lambda make=make: Measured(*make())
                for name, make in measured_trees.SYSTEMS.items()})


def ask_from(first, name, count, seed):
    """Prints the answers to the expressions from number `first` on."""
    out = sys.stdout
    try:
        with contextlib.redirect_stdout(sys.stderr):  # TensorFlow prints warnings
            system = SCRIPTS[name]() if name in SCRIPTS else asked_by_library(name)
            trees = list(Random(system, seed).trees(20 * count))[first:]
            for tree, found in zip(trees, system.answers(trees)):
                print(f"{in_r(tree)};{found}", file=out, flush=True)
    except (NotInstalled, ModuleNotFoundError) as error:
        print(f"{name}: not installed: {error}", file=sys.stderr)
        return systems.MISSING
    except BrokenPipeError:
        os.close(1)
    return 0


def main(arguments):
    name = arguments[0]
    count = int(arguments[1]) if len(arguments) > 1 else 20
    seed = int(arguments[2]) if len(arguments) > 2 else 1
    warnings.simplefilter("ignore")
    if name in TRUNCATED:
        R_BINARY["modulo"] = "nv_remainder({}, {})"
    if len(arguments) > 3:
        return ask_from(int(arguments[3]), name, count, seed)
    # Four in five are not refused, if that many can be found. An expression that ends the process
    # is left out.
    given, refused, first, status = [], [], 0, -1
    while status < 0:
        asked = subprocess.Popen([sys.executable, __file__, name, str(count), str(seed), str(first)],
                                 stdout=subprocess.PIPE, text=True)
        for line in asked.stdout:
            if ";" not in line:  # Taichi prints its version
                continue
            (refused if line.split(";")[1][0] in "-!" else given).append(line)
            first += 1
            if len(given) >= count - count // 5 and len(given) + len(refused) >= count:
                break
        else:
            status = asked.wait()
            first += 1
            continue
        asked.stdout.close()
        asked.wait()
        status = 0
    given = given[:max(count - count // 5, count - len(refused))]
    print("".join(given + refused[:count - len(given)]), end="")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
