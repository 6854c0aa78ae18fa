"""Rule-set files of systems that were asked once, cell by cell: written from the tables in
tests/living/2026, and compared with them.

    python3 measured.py --write numba pandas     writes inst/promotion/<id>.csv
    python3 measured.py --check                  prints the cells of all files that differ
    python3 measured.py --cells                  prints all cells: id, operation, lhs, rhs, result

A table has the columns operation, lhs, rhs, result, and what came of a = 3 and b = 2 (bool: true);
its first line has the versions. An operand `lit:1` is a literal, a result `-` a refusal.
"""
import csv
import lzma
import os
import re
import sys

from rules_file import BINARY, HERE, NUMBERS, PLAIN, Rules, differences, of_numbers, write

TABLES = os.path.join(HERE, "2026")

# What a table calls the operations of rule sets. Of several, the first that it has.
OPERATIONS = {
    "common": ["+"], "subtract": ["-"], "multiply": ["*"], "divide": ["/"], "power": ["**"],
    "integer_divide": ["//"], "modulo": ["%"],
    "combine": ["where", "coalesce"],
    "maximum": ["max2", "maximum", "greatest", "max_element_wise"],
    "bitwise": ["&"],
    "inexact": ["sqrt"], "mean": ["mean"], "sum": ["sum"], "prod": ["prod", "product"],
    "cumsum": ["cumsum", "cumulative_sum"],
}
LITERALS = {"b*": "lit:True", "i*": "lit:1", "f*": "lit:1.5", "c*": "lit:1j"}

# The types of joist by their names in pandas, Arrow and SQL.
NAMES = {"boolean": "bool", "bool[pyarrow]": "bool", "halffloat[pyarrow]": "f16",
         "float[pyarrow]": "f32", "double[pyarrow]": "f64",
         "Float32": "f32", "Float64": "f64", "smallint": "i16", "integer": "i32", "bigint": "i64",
         "real": "f32", "double precision": "f64"}
for size in (8, 16, 32, 64):
    NAMES.update({f"Int{size}": f"i{size}", f"UInt{size}": f"ui{size}",
                  f"int{size}[pyarrow]": f"i{size}", f"uint{size}[pyarrow]": f"ui{size}"})

# id: table, prefix of its operations, literals, source, and what differs from the above.
WIDE = ("bool", "i64", "f64", "c128")
SYSTEMS = {
    "numba": ("numba", "a:", WIDE, "operators and functions of arrays in functions that Numba "
              "compiles", {}),
    "numba_scalar": ("numba", "s:", WIDE, "operators and functions of scalars in functions that "
                     "Numba compiles", {}),
    "numexpr": ("numexpr", "", ("bool", "i32", "f64", "c128"), "numexpr.evaluate() of operators, "
                "where() and functions", {}),
    "pandas": ("pandas", "np:", WIDE, "operators and methods of Series with dtypes of NumPy", {}),
    "pandas_nullable": ("pandas", "nul:", WIDE, "operators and methods of Series with nullable "
                        "dtypes", {}),
    "pandas_arrow": ("pandas", "pa:", WIDE, "operators and methods of Series with dtypes of Arrow",
                     {}),
    "datafusion": ("datafusion", "", WIDE, "operators, coalesce(), greatest(), sum() and others in "
                   "SQL of DataFusion", {}),
    "taichi": ("taichi", "", ("bool", "i32", "f32", "c64"), "types of expressions in kernels of "
               "Taichi", {}),
    "halide": ("halide", "", ("bool", "i32", "f32", "c64"), "types of expressions of Halide's "
               "Python bindings", {}),
    "blosc2": ("blosc2", "", WIDE, "lazy expressions of Blosc2", {}),
    "clickhouse": ("clickhouse", "", WIDE, "toTypeName() of operators, if(), greatest(), sum() and "
                   "others in ClickHouse", {"decides": "unsigned literal"}),
    "pytensor": ("pytensor", "", WIDE, "static types of operators and functions of PyTensor's "
                 "vectors", {"decides": "signed literal"}),
    "postgresql": ("postgresql", "", ("bool", "i32", "f64", "c128"), "pg_typeof() of operators, "
                   "coalesce(), greatest(), sum() and others", {}),
    "onnxscript": ("ndonnx", "os:", WIDE, "functions of onnxscript's opset 21, called with arrays of "
                   "NumPy", {}),
    "ndonnx": ("ndonnx", "ndx:", WIDE, "operators and functions of ndonnx arrays", {}),
    "onnx": ("onnx", "chk:", WIDE, "shape and type inference of ONNX operators", {}),
    "openvino": ("openvino", "node:", WIDE, "element types of OpenVINO's operators", {}),
    "awkward": ("awkward", "", WIDE, "operators and functions of Awkward Array", {}),
    "sparse": ("sparse", "", WIDE, "operators and functions of sparse arrays", {}),
    "dask": ("dask", "", WIDE, "operators and functions of Dask arrays", {}),
    "sqlite": ("sqlite", "", WIDE, "storage classes of operators, coalesce(), max(), sum() and "
               "others in SQLite; columns declared as BOOLEAN, integers, FLOAT and DOUBLE", {}),
}
# Other names of results; declared types that a system stores as something else (SQLite keeps f16 as
# a number of any kind, and ui64 beyond 2^63 as a real); operations whose type is that of the value.
OWN_NAMES = {"sqlite": {"integer": "i64", "real": "f64"}}
NOT_STORED = {"sqlite": ["f16", "ui64"]}
BY_VALUE = {"sqlite": ["combine", "maximum"]}


def table(name):
    """The first line of a table, and its cells: a dict from (operation, lhs, rhs) to results."""
    with lzma.open(os.path.join(TABLES, name + ".csv.xz"), "rt", newline="") as file:
        version = file.readline()[2:].split(";")[0].strip()
        rows = [row for row in csv.reader(file) if row[0] != "operation"]
    return version, {(row[0], row[1], row[2]): row[3] for row in rows}


def node_name(result, system):
    result = OWN_NAMES.get(system, NAMES).get(result, result)
    # No spaces, quotes and commas, and no more than 23 bytes.
    if result == "-" or result in NUMBERS:
        return result
    return re.sub(r"\W+", "_", result).strip("_")[:23]


def rules_of(name):
    file, prefix, literals, source, other = SYSTEMS[name]
    version, answers = table(file)
    answers = {(o[len(prefix):], lhs, rhs): r for (o, lhs, rhs), r in answers.items()
               if o.startswith(prefix)}
    present = {o for o, _, _ in answers}
    asked = {ours: next(t for t in theirs if t in present)
             for ours, theirs in OPERATIONS.items()
             if any(t in present for t in theirs) and ours not in BY_VALUE.get(name, [])}
    nodes = [n for n in PLAIN if any(lhs == n for _, lhs, _ in answers)
             and n not in NOT_STORED.get(name, [])] + NUMBERS
    cells = {}
    for ours, theirs in asked.items():
        for lhs in nodes:
            pair = ours in BINARY
            if not pair:
                if lhs not in NUMBERS:
                    cells[ours, lhs, ""] = node_name(answers.get((theirs, lhs, ""), "-"), name)
                continue
            for rhs in nodes:
                left, right = LITERALS.get(lhs, lhs), LITERALS.get(rhs, rhs)
                if lhs in NUMBERS and rhs in NUMBERS:
                    result = of_numbers(ours, lhs, rhs)
                else:
                    result = answers.get((theirs, left, right))
                    if result is None:  # not asked: the other order, or as `+`
                        result = answers.get((theirs, right, left))
                    if result is None:
                        result = cells.get(("common", lhs, rhs), "-")
                cells[ours, lhs, rhs] = node_name(result, name)
    if not any(r in PLAIN[13:] for r in cells.values()):  # no complex numbers
        cells = {c: r for c, r in cells.items() if "c*" not in c[1:]}
    return Rules(source, version, literals, cells, **other)


def print_cells():
    lines = csv.writer(sys.stdout, lineterminator="\n")
    for name, (file, prefix, *_) in SYSTEMS.items():
        for (operation, lhs, rhs), result in table(file)[1].items():
            if operation.startswith(prefix) and not {lhs, rhs} & set(NOT_STORED.get(name, [])):
                lines.writerow([name, operation[len(prefix):], lhs, rhs, node_name(result, name)])


def main(arguments):
    if arguments == ["--cells"]:
        print_cells()
        return 0
    if not arguments or arguments[0] not in ("--write", "--check"):
        print(__doc__)
        return 2
    failed = 0
    for name in arguments[1:] or SYSTEMS:
        rules = rules_of(name)
        if arguments[0] == "--write":
            write(name, rules)
            print(f"{name}: {len(rules.cells)} cells written")
            continue
        lines = differences(name, rules)
        failed += len(lines)
        print("".join(f"{name}: {line}\n" for line in lines), end="")
        print(f"{name}: {len(rules.cells)} cells, {len(lines)} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
