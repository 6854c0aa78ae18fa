"""Uses the page of promotion_explorer() in headless Chromium as a reader does, by mouse and by
keys, and compares what it shows with tables that R wrote. Speaks the DevTools protocol over a pipe,
so that nothing but Python and Chromium is needed.

    python3 browse.py FOLDER    explorer.html and tables.txt are in it; pictures go there, too
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

passed = failed = 0


def check(fine, words):
    global passed, failed
    if fine:
        passed += 1
    else:
        failed += 1
        if failed <= 20:
            print("FAILED:", words)


def check_same(got, want, words):
    check(got == want, f"{words}: want {want!r}, got {got!r}")


class Browser:
    """Chromium with one page. Messages end with a zero byte; fd 3 is read by it, 4 written."""

    def __init__(self, program, profile):
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def connect():
            # First out of the way of 3 and 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            while first in (3, 4) or second in (3, 4):
                first, second = os.dup(first), os.dup(second)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.count = 0
        self.rest = b""
        self.events = []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.ask(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address):
        self.events.clear()
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)
        while not self.run("document.readyState === 'complete' && "
                           "document.getElementById('headline') !== null && "
                           "document.getElementById('headline').textContent !== ''"):
            pass

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, name, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                     windowsVirtualKeyCode=code, nativeVirtualKeyCode=code)

    def click(self, selector):
        x, y = self.run(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{ block: 'center', inline: 'center' }});
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def choose(self, select, label):
        """What a browser does when an option is picked."""
        self.run(f"""(() => {{
            const select = document.getElementById({json.dumps(select)});
            select.value = [...select.options].find((o) => o.text === {json.dumps(label)}).value;
            select.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()""")

    def picture(self, path, width, height, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


KEYS = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
        "ArrowDown": 40, "PageUp": 33, "PageDown": 34}

TABLE = """(() => {
  const table = document.getElementById('table');
  const text = (cell) => cell.firstChild.textContent;
  const cells = [...table.querySelectorAll('td')];
  return { rows: [...table.rows].map((row) => [...row.cells].map(text)),
           labels: cells.map((cell) => cell.getAttribute('aria-label')),
           marked: cells.map((cell) => cell.classList.contains('differs')),
           below: cells.map((cell) => (cell.querySelector('small') || {}).textContent),
           note: document.getElementById('table-note').textContent };
})()"""
SELECTED = """(() => {
  const cells = [...document.querySelectorAll('td[aria-selected="true"]')];
  return cells.map((c) => [c.parentElement.cells[0].textContent,
                           document.getElementById('table').rows[0].cells[c.cellIndex].textContent,
                           c.firstChild.textContent, c === document.activeElement]);
})()"""
CHOSEN = """['left', 'right'].map((id) =>
  document.getElementById(id).selectedOptions[0].text)"""
HEADLINE = "document.getElementById('headline').textContent"


def read_tables(folder):
    """Cells by rules, operation, left and right node."""
    tables, nodes = {}, []
    with open(folder / "tables.txt", encoding="utf-8") as file:
        for line in file:
            rules, operation, left, cells = line.rstrip("\n").split("\t")
            cells = cells.split(" ")
            if operation == "":
                nodes = cells
                continue
            table = tables.setdefault(rules, {}).setdefault(operation, {})
            for right, cell in zip(nodes, cells):
                table[left, right] = cell
    return tables


def shown(cell):
    return "\u2013" if cell == "-" else cell


def offered(browser, select):
    return browser.run(f"""[...document.getElementById('{select}').options].map((o) => o.value)""")


def check_table(browser, want, words):
    """The table on view, cell by cell; returns what was read and how many cells were compared."""
    read = browser.run(TABLE)
    head, *rows = read["rows"]
    labels, compared = iter(read["labels"]), 0
    for row in rows:
        for column, cell in zip(head[1:], row[1:]):
            label = next(labels)
            if (row[0], column) not in want:
                continue  # a guess of R's numbers
            cell_wanted = want[row[0], column]
            check_same(cell, shown(cell_wanted), f"{words}: {row[0]}, {column}")
            says = "undefined" if cell_wanted == "-" else cell_wanted
            check(label.startswith(f"{row[0]} with {column}: {says}"), f"{words}: label {label}")
            compared += 1
    return read, compared


def select_operation(browser, operation):
    browser.run(f"""(() => {{
        const select = document.getElementById('operation');
        select.value = {json.dumps(operation)};
        select.dispatchEvent(new Event('change', {{ bubbles: true }}));
    }})()""")


def show_more(browser, yes):
    browser.run(f"""(() => {{
        const box = document.getElementById('more');
        if (box.checked !== {json.dumps(yes)}) box.click();
    }})()""")


def check_tables(browser, tables):
    """Every rule set, every operation, every cell, with dtypes that documents leave out and
    without."""
    for rules, by_operation in tables.items():
        browser.choose("other", "nothing")
        browser.choose("rules", rules)
        operations = offered(browser, "operation")
        for operation, want in by_operation.items():
            if operation not in operations:
                same_as = by_operation["add" if "add" in operations else "common"]
                check_same(want, same_as, f"{rules} has no table of {operation}")
                continue
            select_operation(browser, operation)
            has_more = browser.run("!document.getElementById('more-label').hidden")
            few = 0
            if operation == "common" or not has_more:
                show_more(browser, False)
                few = check_table(browser, want, f"{rules}, {operation}")[1]
            if has_more:
                show_more(browser, True)
                more = check_table(browser, want, f"{rules}, {operation}, with more dtypes")[1]
                check(more > few, f"{rules}: more dtypes")
        # No dtype that meets anything is left out.
        have = set(browser.run("[...document.getElementById('left').options].map((o) => o.text)"))
        want = by_operation["common"]
        missing = {pair[0] for pair, cell in want.items() if cell != "-"} - have
        check(all(name.endswith("?") for name in missing), f"{rules} lacks {missing}")


def check_differences(browser, tables):
    """Each rule set beside two others: marks, the other's answers, and the number."""
    ids = list(tables)
    for k, rules in enumerate(ids):
        for step, operation in ((1, "common"), (7, "divide")):
            other = ids[(k + step) % len(ids)]
            browser.choose("rules", rules)
            browser.choose("other", other)
            select_operation(browser, operation)
            ours, theirs = tables[rules][operation], tables[other][operation]
            read, _ = check_table(browser, ours, f"{rules} beside {other}")
            head, *rows = read["rows"]
            pairs = [(row[0], column) for row in rows for column in head[1:]]
            words = f"{operation} of {rules} beside {other}"
            known = {pair[0] for pair, cell in theirs.items() if cell != "-"}
            for pair, marked, below in zip(pairs, read["marked"], read["below"]):
                if pair not in ours or not known.issuperset(pair):
                    continue
                check_same(marked, ours[pair] != theirs[pair], f"{words}: {pair}")
                check_same(below, shown(theirs[pair]) if marked else None, f"{words}: {pair}")
            number = int(read["note"].split(" ")[0])
            check_same(number, sum(read["marked"]), f"{words}: the number")
    browser.choose("other", "nothing")


def check_all_rules(browser, tables):
    """The answers of all rule sets to one pair."""
    browser.choose("rules", "jax")
    for operation, left, right in [("common", "i8", "ui8"), ("common", "ui64", "i8"),
                                   ("divide", "i8", "i32"), ("common", "i64", "f32")]:
        select_operation(browser, operation)
        browser.choose("left", left)
        browser.choose("right", right)
        got = browser.run("""(() => {
          const all = {};
          let answer = '';
          for (const e of document.getElementById('all').children) {
            if (e.tagName === 'DT') answer = e.textContent;
            else for (const b of e.querySelectorAll('button')) all[b.textContent] = answer;
          }
          return all;
        })()""")
        check_same(set(got), set(tables), "all rule sets have an answer")
        for rules, by_operation in tables.items():
            if got[rules] == "not known":
                check_same(by_operation[operation][left, right], "-", f"{rules} knows no {left}")
            else:
                check_same(got[rules], shown(by_operation[operation][left, right]),
                           f"{rules} in the list of all: {left}, {right}, {operation}")
    browser.run("document.querySelector('#all button[data-set]:not([aria-current=true])').click()")
    chosen = browser.run("document.getElementById('rules').selectedOptions[0].text")
    current = browser.run("document.querySelector('#all button[aria-current=true]').textContent")
    check_same(current, chosen, "rules chosen from the list of all")


def check_sources(browser):
    """Each rule set says where it is from; links lead to the web and are safe."""
    for rules in browser.run("[...document.getElementById('rules').options].map((o) => o.text)"):
        browser.choose("rules", rules)
        link = browser.run("""(() => {
          const source = document.getElementById('parts').lastElementChild;
          const a = source.querySelector('a');
          return a === null ? null : [a.protocol, a.rel, a.textContent.length > 0];
        })()""")
        check_same(link, ["https:", "noopener noreferrer", True], f"link to the source of {rules}")


def check_pairs(browser, tables):
    """Every pair of JAX: headline, ways and the lit parts of the lattice."""
    browser.choose("rules", "jax")
    select_operation(browser, "common")
    show_more(browser, False)
    answers = browser.run("""(() => {
      const size = document.getElementById('left').options.length, all = [];
      for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) {
        document.querySelector(`td[data-row="${i}"][data-column="${j}"]`).click();
        const lit = (kind) => [...document.querySelectorAll('svg g.' + kind)]
          .map((g) => g.dataset.node);
        const select = (id) => document.getElementById(id).selectedOptions[0].text;
        all.push({ left: select('left'), right: select('right'),
          headline: document.getElementById('headline').textContent,
          ways: [...document.querySelectorAll('#ways dd')].map((d) => d.textContent),
          join: lit('join'), edges: [...document.querySelectorAll('svg line.way')]
            .map((l) => l.dataset.edge) });
      }
      return all;
    })()""")
    check_same(len(answers), 18 ** 2, "pairs of JAX")
    for a in answers:
        join = tables["jax"]["common"][(a["left"], a["right"])]
        words = f"{a['left']} with {a['right']}"
        check(a["headline"].startswith(f"{words} is "), a["headline"])
        check_same(a["join"], [join], f"join of {words}")
        ways = [way.split(" \u2192 ") for way in a["ways"]]
        check_same([way[0] for way in ways], [a["left"], a["right"]], f"ways of {words} begin")
        check_same([way[-1] for way in ways], [join, join], f"ways of {words} end")
        steps = {f"{x} {y}" for way in ways for x, y in zip(way, way[1:])}
        check_same(set(a["edges"]), steps, f"lit edges of {words}")


def check_mouse_and_keys(browser, tables):
    browser.choose("other", "numpy")
    browser.choose("rules", "jax")
    jax = tables["jax"]["common"]
    nodes = browser.run("[...document.getElementById('left').options].map((o) => o.text)")
    i, j = nodes.index("ui64"), nodes.index("i8")
    browser.click(f'td[data-row="{i}"][data-column="{j}"]')
    check_same(browser.run(SELECTED), [["ui64", "i8", "f*", True]], "clicked cell")
    check_same(browser.run(HEADLINE), "ui64 with i8 is f64?", "its headline")
    check_same(browser.run("document.getElementById('versus').textContent"), "Under numpy: f64.",
               "the other rules")
    last = len(nodes) - 1
    moves = [("ArrowRight", 0, 1), ("ArrowDown", 1, 0), ("ArrowLeft", 0, -1), ("ArrowUp", -1, 0),
             ("Home", 0, -last), ("ArrowLeft", 0, -1), ("End", 0, last), ("ArrowRight", 0, 1),
             ("PageDown", last, 0), ("ArrowDown", 1, 0), ("PageUp", -last, 0), ("ArrowUp", -1, 0)]
    for key, down, right in moves:
        browser.key(key, KEYS[key])
        i, j = min(last, max(0, i + down)), min(last, max(0, j + right))
        pair = (nodes[i], nodes[j])
        check_same(browser.run(SELECTED), [[*pair, shown(jax[pair]), True]], key)
        headline = browser.run(HEADLINE)
        check(headline.startswith(f"{pair[0]} with {pair[1]} "), f"{headline} after {key}")
    # One stop for the table; from the top, Tab goes from control to control.
    stops = browser.run("document.querySelectorAll('td[tabindex=\"0\"]').length")
    check_same(stops, 1, "tab stops in the table")
    browser.run("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    browser.open(browser.run("location.href"))
    stops = []
    for _ in range(8):
        browser.key("Tab", 9)
        stops.append(browser.run("document.activeElement.id || document.activeElement.tagName"))
        outline = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        check(outline != "none", f"{stops[-1]} shows that it has the focus")
    check_same(stops, ["rules", "operation", "left", "swap", "right", "other", "more", "A"],
               "order of tab stops")
    while stops[-1] not in ("TD", "BODY"):
        browser.key("Tab", 9)
        stops.append(browser.run("document.activeElement.id || document.activeElement.tagName"))
    check_same(stops[-1], "TD", "the table can be reached by Tab")
    browser.run("document.getElementById('left').focus()")
    before = browser.run("document.getElementById('left').selectedIndex")
    browser.key("ArrowDown", 40)
    chosen = browser.run("document.getElementById('left').selectedOptions[0].text")
    after = browser.run("document.getElementById('left').selectedIndex")
    check_same(after, before + 1, "select by key")
    check(browser.run(HEADLINE).startswith(chosen + " with "), "the answer follows the select")
    left, right = browser.run(CHOSEN)
    browser.click("#swap")
    check_same(browser.run(CHOSEN), [right, left], "swap")


CONTRAST = """(() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    const own = getComputedStyle(e).backgroundColor;
    return own === 'rgba(0, 0, 0, 0)' ? ground(e.parentElement) : own;
  };
  let least = 99, where = '';
  for (const e of document.querySelectorAll('h1,h2,p,dt,dd,a,small,label,select,button,th,td')) {
    if (e.textContent.trim() === '' || e.classList.contains('none')) continue;
    const a = light(getComputedStyle(e).color), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const words = [e.tagName, e.className, e.textContent].join(' ');
    if (ratio < least) [least, where] = [ratio, words];
  }
  return [least, where];
})()"""


def check_looks(browser, folder, address):
    for rules, scheme, width, height in [("anvil/i16/f32?/jax", "light", 1280, 1600),
                                         ("jax/i8/ui8/numpy/divide", "dark", 1280, 1600),
                                         ("jax/f8E4M3FN/ui8//common/more", "light", 1280, 1600),
                                         ("octave/i8/ui8", "light", 360, 1500),
                                         ("torch/i8/f16/numpy", "dark", 360, 1500)]:
        browser.open(f"{address}#{rules}")
        name = f"{rules.split('/')[0]}-{scheme}-{width}.png"
        browser.picture(folder / name, width, height, scheme)
        check(browser.run("document.scrollingElement.scrollWidth") <= width, f"{name}: no wider")
        least, where = browser.run(CONTRAST)
        check(least >= 4.5, f"{name}: contrast {least:.2f} of {where}")
        dark = sum(map(int, browser.run(
            "getComputedStyle(document.body).backgroundColor").strip("rgb()").split(","))) < 200
        check_same(dark, scheme == "dark", f"{name}: the ground is dark")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("note: no chromium")
        return 77
    tables = read_tables(folder)
    address = (folder / "explorer.html").as_uri()
    check((folder / "explorer.html").stat().st_size < 1.5e6, "the size of the page")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(address)
            check_tables(browser, tables)
            check_differences(browser, tables)
            check_all_rules(browser, tables)
            check_sources(browser)
            check_pairs(browser, tables)
            check_mouse_and_keys(browser, tables)
            errors = [e for e in browser.events if e.get("method") == "Runtime.exceptionThrown"]
            check_same(errors, [], "errors of the page")
            asked = [e["params"]["request"]["url"] for e in browser.events
                     if e.get("method") == "Network.requestWillBeSent"]
            own = ("file:", "about:", "data:")
            check(all(url.startswith(own) for url in asked), f"network: {asked}")
            check_looks(browser, folder, address)
        finally:
            browser.process.terminate()
            browser.process.wait()
    print(f"counts: {passed} {failed} 0")
    print(f"note: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
