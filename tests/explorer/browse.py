"""Uses the page of promotion_explorer() in headless Chromium as a reader does, by mouse and by
keys, and compares what it shows with tables that R wrote. Speaks the DevTools protocol over a pipe,
so that nothing but Python and Chromium is needed.

    python3 browse.py FOLDER    explorer.html and RULES.csv are in it; pictures go there, too
"""
import base64
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SETS = ["anvil", "jax", "numpy"]
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
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  return rows;
})()"""
SELECTED = """(() => {
  const cells = [...document.querySelectorAll('td[aria-selected="true"]')];
  return cells.map((c) => [c.parentElement.cells[0].textContent,
                           document.getElementById('table').rows[0].cells[c.cellIndex].textContent,
                           c.textContent, c === document.activeElement]);
})()"""
CHOSEN = """['left', 'right'].map((id) =>
  document.getElementById(id).selectedOptions[0].text)"""
HEADLINE = "document.getElementById('headline').textContent"


def read_table(folder, rules):
    with open(folder / f"{rules}.csv", newline="") as file:
        rows = list(csv.reader(file))
    columns = rows[0][1:]
    return {(row[0], column): cell for row in rows[1:] for column, cell in zip(columns, row[1:])}


def shown(cell):
    return "\u2013" if cell == "-" else cell


def check_tables(browser, tables):
    for rules in SETS:
        browser.choose("other", "nothing")
        browser.choose("rules", rules)
        head, *rows = browser.run(TABLE)
        got = {(row[0], column): cell for row in rows for column, cell in zip(head[1:], row[1:])}
        want = tables[rules]
        check_same(set(got) >= set(want), True, f"{rules}: the pairs of the table")
        for pair, cell in want.items():
            check_same(got.get(pair), shown(cell), f"{rules}: {pair}")
        for other in SETS:
            if other == rules:
                continue
            browser.choose("other", other)
            marked = browser.run("""[...document.querySelectorAll('td.differs')].map((c) =>
              c.parentElement.cells[0].textContent + ' ' +
              document.getElementById('table').rows[0].cells[c.cellIndex].textContent)""")
            for pair, cell in want.items():
                if pair in tables[other]:
                    differs = cell != tables[other][pair]
                    check_same(" ".join(pair) in marked, differs, f"{rules} or {other}: {pair}")


def check_pairs(browser, tables):
    """Every pair of JAX: headline, ways and the lit parts of the lattice."""
    browser.choose("rules", "jax")
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
    check_same(len(answers), len(tables["jax"]), "pairs of JAX")
    for a in answers:
        join = tables["jax"][(a["left"], a["right"])]
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
    nodes = list(dict.fromkeys(pair[0] for pair in tables["jax"]))
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
        check_same(browser.run(SELECTED), [[*pair, shown(tables["jax"][pair]), True]], key)
        headline = browser.run(HEADLINE)
        check(headline.startswith(f"{pair[0]} with {pair[1]} "), f"{headline} after {key}")
    # One stop for the table; from the top, Tab goes from control to control.
    stops = browser.run("document.querySelectorAll('td[tabindex=\"0\"]').length")
    check_same(stops, 1, "tab stops in the table")
    browser.run("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    browser.open(browser.run("location.href"))
    stops = []
    for _ in range(6):
        browser.key("Tab", 9)
        stops.append(browser.run("document.activeElement.id || document.activeElement.tagName"))
        outline = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        check(outline != "none", f"{stops[-1]} shows that it has the focus")
    check_same(stops, ["rules", "left", "swap", "right", "other", "TD"], "order of tab stops")
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
  for (const e of document.querySelectorAll('h1,h2,p,dt,dd,label,select,button,th,td')) {
    if (e.textContent.trim() === '' || e.classList.contains('none')) continue;
    const a = light(getComputedStyle(e).color), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const words = [e.tagName, e.className, e.textContent].join(' ');
    if (ratio < least) [least, where] = [ratio, words];
  }
  return [least, where];
})()"""


def check_looks(browser, folder, address):
    for rules, scheme, width, height in [("anvil/i16/f32?/jax", "light", 1200, 1500),
                                         ("jax/i8/ui8/numpy", "dark", 1200, 1500),
                                         ("jax/i8/ui8/numpy", "light", 360, 1500),
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
    tables = {rules: read_table(folder, rules) for rules in SETS}
    address = (folder / "explorer.html").as_uri()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(address)
            check_tables(browser, tables)
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
