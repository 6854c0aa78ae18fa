"""Rule-set files: the format of inst/promotion/<id>.csv, and what its rows have in common for all
systems. systems.py and systems_text.py make them."""
import csv
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "..", "..", "inst", "promotion")

PLAIN = "bool i8 i16 i32 i64 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 c64 c128".split()
NARROW = (
    "int1 i2 i4 uint1 ui2 ui4 f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3B11FNUZ f8E4M3FN"
    " f8E4M3FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU"
).split()
# Weak dtypes that are not those of numbers.
WEAK = "i64? f64?".split()
NUMBERS = "b* i* f* c*".split()
ORDER = PLAIN + NARROW + WEAK + NUMBERS

# In the order of the files. Those of one operand have no right-hand side.
BINARY = (
    "common add subtract multiply divide power integer_divide modulo combine assign maximum bitwise rank_zero"
).split()
UNARY = "inexact mean sum prod cumsum".split()


class NotInstalled(Exception):
    pass


@dataclass
class Rules:
    """A rule-set file. cells: a dict from (operation, lhs, rhs) to the result."""

    source: str
    version: str
    literals: tuple
    cells: dict
    decides: str = "type"
    overflow: str = "wrap"
    other: dict = field(default_factory=dict)  # further lines of the header

    def header(self, name):
        nodes = {node for _, lhs, rhs in self.cells for node in (lhs, rhs)}
        return {
            "id": name, "source": self.source, "version": self.version,
            "literals": ", ".join(self.literals), "decides by": self.decides,
            "overflow": self.overflow, **self.other,
            "order": ", ".join(n for n in ORDER if n in nodes),
        }

    def rows(self):
        def place(cell):
            operation, lhs, rhs = cell
            return (BINARY + UNARY).index(operation), ORDER.index(lhs), rhs and ORDER.index(rhs) + 1

        return [
            (*cell, self.cells[cell]) for cell in sorted(self.cells, key=place)
            if general(self.cells, cell) != self.cells[cell]
        ]


def general(cells, cell):
    """The result that an operation has without a row: of a rank-0 operand, `-` and `*` that of
    add, else the common dtype. Divisions list all rows."""
    operation, lhs, rhs = cell
    if not rhs or operation in ("common", "divide"):
        return None
    common = cells.get(("common", lhs, rhs), "-")
    return cells.get(("add", lhs, rhs), common) if operation in ("rank_zero", "subtract", "multiply") else common


def path_of(name):
    return os.path.join(FILES, name + ".csv")


def write(name, rules):
    os.makedirs(FILES, exist_ok=True)
    # The address of the source is written by hand.
    url = read(name)[0].get("url") if os.path.exists(path_of(name)) else None
    with open(path_of(name), "w", newline="") as file:
        file.write("# promotion rules of joist\n")
        for key, value in rules.header(name).items():
            file.write(f"# {key}: {value}\n")
            if key == "version" and url:
                file.write(f"# url: {url}\n")
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["operation", "lhs", "rhs", "result"])
        lines.writerows(rules.rows())


def read(name):
    """The header and the rows of a file."""
    with open(path_of(name), newline="") as file:
        lines = file.read().splitlines()
    comments = [line[2:] for line in lines if line.startswith("# ")]
    header = dict(line.split(": ", 1) for line in comments if ": " in line)
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return header, {(r["operation"], r["lhs"], r["rhs"]): r["result"] for r in rows}


def differences(name, rules):
    """One line for each difference between a file and what the system says now."""
    header, rows = read(name)
    now = {(operation, lhs, rhs): result for operation, lhs, rhs, result in rules.rows()}
    lines = [
        f"{key}: {header.get(key)} in the file, now {value}"
        for key, value in rules.header(name).items() if header.get(key) != value
    ]
    for cell in sorted(set(rows) | set(now)):
        ours, theirs = rows.get(cell, "no row"), now.get(cell, "no row")
        if ours != theirs:
            lines.append(f"{' '.join(cell).strip()}: {ours} in the file, now {theirs}")
    return lines


def unequal(cells, asked):
    """One line for each answer that the cells do not give."""
    lines = []
    for cell, theirs in asked.items():
        ours = cells.get(cell, general(cells, cell))
        if ours != theirs:
            lines.append(f"{' '.join(cell).strip()}: {ours} by the rule, {theirs} when asked")
    return lines


def of_numbers(operation, lhs, rhs):
    """Two numbers give a number, by Python's arithmetic: a library gets to see the result only."""
    kind = max(NUMBERS.index(lhs), NUMBERS.index(rhs))
    if operation == "divide":
        kind = max(kind, 2)
    refused = {"bitwise": 2, "integer_divide": 3, "modulo": 3, "maximum": 3}
    return "-" if kind >= refused.get(operation, 4) else NUMBERS[kind]


def with_literals(cells, literals):
    """Adds the rows of R numbers, which are plain values of the literals' dtypes."""
    dtype = dict(zip(NUMBERS, literals))
    nodes = list(dict.fromkeys(lhs for _, lhs, _ in cells))
    operations = list(dict.fromkeys(operation for operation, _, rhs in cells if rhs))
    for operation in operations:
        for lhs in nodes + NUMBERS:
            for rhs in nodes + NUMBERS:
                cells[operation, lhs, rhs] = cells.get(
                    (operation, dtype.get(lhs, lhs), dtype.get(rhs, rhs)), "-")
    return cells
