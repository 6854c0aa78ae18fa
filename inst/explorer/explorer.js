"use strict";
// Looks answers up and shows them; computes no type.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const names = data.names;
  const kinds = new Map(names.map((name, k) => [name, data.kinds[k]]));
  const letters = new Map([...data.letters].map((letter, k) => [letter, k]));
  const forms = new Map(data.operations.id.map((id, k) => [id, data.operations.form[k]]));
  for (const set of data.sets) {
    set.names = set.nodes.map((k) => names[k]);
    set.at = new Map(set.names.map((name, k) => [name, k]));
  }
  const byId = (id) => document.getElementById(id);
  const state = { set: 0, other: -1, operation: "common", more: false, left: 0, right: 0 };

  function element(name, content, className) {
    const made = document.createElement(name);
    if (content !== undefined && content !== null) made.textContent = content;
    if (className) made.className = className;
    return made;
  }

  const kindOf = (cell) => (cell === "-" || cell === null ? "none" : kinds.get(cell) || "own");
  const isGuess = (cell) => /[?*]$/.test(cell || "");
  const classOf = (cell) => kindOf(cell) + (isGuess(cell) ? " guess" : "");
  const shown = (cell) => (cell === "-" ? "\u2013" : cell);

  // The nodes of the table: that the document leaves out come last.
  function ownNodes() {
    const set = data.sets[state.set];
    return set.names.slice(0, set.own + (state.more ? set.more : 0));
  }

  // What has no table of its own is as `+`, and that as the common types.
  function tableOf(set, operation) {
    const tables = data.sets[set].tables;
    if (operation === "common") return tables.common;
    return tables[operation] || tables.add || tables.common;
  }

  // The cell of two nodes, by name, under a rule set; null where it does not know one of them.
  function cellOf(set, left, right, operation = state.operation) {
    const of = data.sets[set], row = of.at.get(left), column = of.at.get(right);
    if (row === undefined || column === undefined) return null;
    const letter = tableOf(set, operation)[row * of.names.length + column];
    return names[of.results[letters.get(letter)]];
  }

  // The explanation of the common type, its marks replaced by the names they stand for.
  function pairOf(left, right) {
    const set = data.sets[state.set], all = ownNodes(), size = set.own + set.more;
    const cell = cellOf(state.set, all[left], all[right], "common");
    const marks = { "\ue000": all[left], "\ue001": all[right], "\ue002": cell, "\ue003": set.id };
    const text = (k) =>
      k < 0 ? null : data.texts[k].replace(/[\ue000-\ue003]/g, (mark) => marks[mark]);
    const [headline, top, wayLeft, wayRight, ...parts] =
      data.entries[set.pairs[left * size + right]].map(text);
    return { headline, top, ways: [wayLeft, wayRight], parts };
  }

  function resultOf(pair, left, right) {
    const set = data.sets[state.set], cell = cellOf(state.set, left, right);
    const form = forms.get(state.operation), both = `${left} with ${right}`;
    if (state.operation === "common") return pair;
    const weak = ["i*", "f*", "c*"].indexOf(cell);
    const stands = weak < 0 ? "" : `, which stands for ${set.defaults[weak + 1]}?`;
    const lacks = cell !== "-" && kinds.get(cell) === "own" && !set.at.has(cell)
      ? ", a dtype that joist does not have" : "";
    const said = state.operation in set.tables ? "has results of its own"
      : "add" in set.tables ? "gives what x + y gives" : "gives the common types";
    return {
      headline: cell === "-" ? `${both} is undefined in ${form}`
        : `${both} is ${cell}${stands}${lacks} in ${form}`,
      top: null, ways: [null, null],
      parts: [...pair.parts.slice(0, 2), "Operation", `${form} ${said} here.`,
              "Table", `row ${left}, column ${right}: ${cell === "-" ? "undefined" : cell}.`],
    };
  }

  function fill(select, texts, values, chosen) {
    select.replaceChildren(...texts.map((name, k) => {
      const option = element("option", name);
      option.value = values[k];
      return option;
    }));
    select.value = chosen;
  }

  const numbers = (list) => list.map((_, k) => k);

  // Operations that one of the rule sets on view distinguishes.
  function fillOperations() {
    const has = (set) => (set < 0 ? [] : Object.keys(data.sets[set].tables));
    const known = new Set([...has(state.set), ...has(state.other)]);
    const ids = [...forms.keys()].filter((id) => known.has(id));
    if (!known.has(state.operation)) state.operation = "common";
    fill(byId("operation"), ids.map((id) => forms.get(id)), ids, state.operation);
  }

  function link(words, url) {
    if (url === null || !/^https:\/\//.test(url)) return document.createTextNode(words);
    const made = element("a", words);
    made.href = url;
    made.rel = "noopener noreferrer";
    return made;
  }

  function showSet() {
    const set = data.sets[state.set];
    fillOperations();
    byId("more-label").hidden = set.more === 0;
    byId("more").checked = state.more;
    fill(byId("left"), ownNodes(), numbers(ownNodes()), state.left);
    fill(byId("right"), ownNodes(), numbers(ownNodes()), state.right);
    byId("source").replaceChildren(
      "Source of the rules: ", link(set.source, set.url), set.version === null ? "." :
        `; read from ${set.version}.`);
    drawLattice();
    drawTable();
  }

  function showPair() {
    const set = data.sets[state.set], all = ownNodes();
    const left = all[state.left], right = all[state.right];
    const pair = resultOf(pairOf(state.left, state.right), left, right);
    byId("left").value = state.left;
    byId("right").value = state.right;
    byId("headline").textContent = pair.headline;
    byId("ways").replaceChildren();
    [left, right].forEach((name, k) => {
      if (pair.ways[k] === null) return;
      byId("ways").append(element("dt", name), element("dd", pair.ways[k]));
    });
    byId("parts").replaceChildren();
    for (let k = 0; k < pair.parts.length; k += 2)
      byId("parts").append(element("dt", pair.parts[k]), element("dd", pair.parts[k + 1]));
    const source = element("dd");
    source.append(link(set.source, set.url));
    if (set.version !== null) source.append(`; ${set.version}`);
    byId("parts").append(element("dt", "Source"), source);
    showOther(left, right);
    showAll(left, right);
    lightLattice(pair, left, right);
    lightTable();
    const parts = [set.id, left, right, state.other < 0 ? "" : data.sets[state.other].id,
                   state.operation === "common" ? "" : state.operation,
                   state.more ? "more" : ""];
    while (parts[parts.length - 1] === "") parts.pop();
    history.replaceState(null, "", "#" + parts.map(encodeURIComponent).join("/"));
  }

  function showOther(left, right) {
    const line = byId("versus");
    line.className = "";
    line.textContent = "";
    if (state.other < 0) return;
    const id = data.sets[state.other].id;
    const theirs = cellOf(state.other, left, right), ours = cellOf(state.set, left, right);
    if (theirs === null) line.textContent = id + " does not know these types.";
    else if (theirs === ours) line.textContent = "The same under " + id + ".";
    else {
      line.textContent = "Under " + id + ": " + (theirs === "-" ? "no common type" : theirs) + ".";
      line.className = "differs";
    }
  }

  // The answers of all rule sets, each with those that give it; most frequent first.
  function showAll(left, right) {
    const answers = new Map();
    data.sets.forEach((set, k) => {
      const cell = cellOf(k, left, right);
      const answer = cell === null ? "not known" : cell === "-" ? "undefined" : cell;
      answers.set(answer, [...(answers.get(answer) || []), k]);
    });
    const rank = ([answer, sets]) => (answer === "not known" ? 1000 : 0) - sets.length;
    const sorted = [...answers].sort((a, b) => rank(a) - rank(b));
    byId("all").replaceChildren();
    for (const [answer, sets] of sorted) {
      const label = answer === "undefined" ? "\u2013" : answer;
      const line = element("dd");
      for (const k of sets) {
        const button = element("button", data.sets[k].id);
        button.type = "button";
        button.dataset.set = k;
        button.setAttribute("aria-current", String(k === state.set));
        line.append(button, " ");
      }
      const term = element("dt", label, answer === "not known" ? "none" : classOf(answer));
      term.setAttribute("aria-label", answer);
      byId("all").append(term, line);
    }
    const form = state.operation === "common" ? "" : ` in ${forms.get(state.operation)}`;
    const different = sorted.filter(([answer]) => answer !== "not known").length;
    byId("all-note").textContent =
      `${left} with ${right} has ${different} ` +
      `${different === 1 ? "answer" : "different answers"} ` +
      `altogether${form}. Choose rules to look at them.`;
  }

  // ---- the lattice ----

  const SVG = "http://www.w3.org/2000/svg";
  const wide = 110, high = 36, boxWidth = 58, boxHeight = 24;

  function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    return made;
  }

  function drawLattice() {
    const lattice = data.sets[state.set].lattice, svg = byId("lattice");
    byId("lattice-section").hidden = lattice === null;
    svg.replaceChildren();
    if (lattice === null) return;
    const left = Math.min(...lattice.x), top = Math.max(...lattice.y);
    const width = (Math.max(...lattice.x) - left) * wide + boxWidth + 8;
    const height = (top - Math.min(...lattice.y)) * high + boxHeight + 8;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("style", `max-width:${width * 1.4}px`);
    const text = (k) => names[k];
    const place = new Map(lattice.nodes.map((node, k) => [node, {
      x: (lattice.x[k] - left) * wide + boxWidth / 2 + 4,
      y: (top - lattice.y[k]) * high + boxHeight / 2 + 4,
    }]));
    lattice.from.forEach((from, k) => {
      const a = place.get(from), b = place.get(lattice.to[k]);
      const line = shape("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y });
      line.dataset.edge = text(from) + " " + text(lattice.to[k]);
      svg.append(line);
    });
    lattice.nodes.forEach((node) => {
      const name = text(node), at = place.get(node), group = shape("g", {});
      group.dataset.node = name;
      group.append(shape("rect", { x: at.x - boxWidth / 2, y: at.y - boxHeight / 2,
                                   width: boxWidth, height: boxHeight, rx: 3 }));
      const label = shape("text", { x: at.x, y: at.y });
      label.textContent = name;
      group.append(label);
      svg.append(group);
    });
  }

  function lightLattice(pair, left, right) {
    const steps = new Set(), ends = [];
    for (const way of pair.ways) {
      if (way === null) continue;
      const path = way.split(" \u2192 ");
      ends.push(path[0]);
      for (let k = 1; k < path.length; k++) steps.add(path[k - 1] + " " + path[k]);
    }
    for (const line of byId("lattice").querySelectorAll("line"))
      line.setAttribute("class", steps.has(line.dataset.edge) ? "way" : "");
    for (const group of byId("lattice").querySelectorAll("g")) {
      const name = group.dataset.node;
      const lit = name === pair.top ? " join"
        : ends.includes(name) || name === left || name === right ? " operand" : "";
      group.setAttribute("class", classOf(name) + lit);
    }
    byId("lattice").setAttribute("aria-label", pair.ways.filter(Boolean).join("; ") || "Lattice");
  }

  // ---- the table ----

  function drawTable() {
    const all = ownNodes(), table = byId("table");
    const first = element("tr"), corner = element("th");
    corner.append(element("span", "x \\ y"));
    first.append(corner, ...all.map((name) => {
      const head = element("th", name);
      head.scope = "col";
      return head;
    }));
    let differ = 0, both = 0;
    const rows = all.map((left, i) => {
      const row = element("tr"), head = element("th", left);
      head.scope = "row";
      row.append(head);
      all.forEach((right, j) => {
        const cell = cellOf(state.set, left, right);
        const made = element("td", shown(cell), classOf(cell));
        let words = `${left} with ${right}: ${cell === "-" ? "undefined" : cell}`;
        made.setAttribute("role", "gridcell");
        made.dataset.row = i;
        made.dataset.column = j;
        if (state.other >= 0) {
          const theirs = cellOf(state.other, left, right);
          if (theirs !== null) both++;
          if (theirs !== null && theirs !== cell) {
            const there = theirs === "-" ? "undefined" : theirs;
            differ++;
            made.classList.add("differs");
            made.append(element("small", shown(theirs)));
            words += `; ${data.sets[state.other].id}: ${there}`;
            made.title = words;
          }
        }
        made.setAttribute("aria-label", words);
        row.append(made);
      });
      return row;
    });
    const head = element("thead"), body = element("tbody");
    head.append(first);
    body.append(...rows);
    table.replaceChildren(head, body);
    table.setAttribute("aria-rowcount", all.length + 1);
    table.setAttribute("aria-colcount", all.length + 1);
    const form = state.operation === "common" ? "" : `, ${forms.get(state.operation)}`;
    byId("table-title").textContent = `Table of ${data.sets[state.set].id}${form}`;
    byId("table-note").textContent = state.other < 0
      ? "The left type is the row. Click a cell, or move by the arrow keys."
      : `${differ} of ${both} cells that both have differ from those of ` +
        `${data.sets[state.other].id}; they are marked, its answer below.`;
  }

  const cellAt = (i, j) =>
    byId("table").querySelector(`td[data-row="${i}"][data-column="${j}"]`);

  function lightTable() {
    const former = byId("table").querySelectorAll("td[aria-selected='true'], td[tabindex='0']");
    for (const cell of former) {
      cell.tabIndex = -1;
      cell.setAttribute("aria-selected", "false");
    }
    const chosen = cellAt(state.left, state.right);
    chosen.tabIndex = 0;
    chosen.setAttribute("aria-selected", "true");
    for (const head of byId("table").querySelectorAll("th.lit")) head.classList.remove("lit");
    // Into view within the frame; the page itself stays where it is.
    const frame = byId("table").parentElement, row = chosen.parentElement;
    const aside = row.cells[0].offsetWidth, above = byId("table").rows[0].offsetHeight;
    const within = (at, size, least, now, room) =>
      at < now + least ? at - least : at + size > now + room ? at + size - room : now;
    frame.scrollLeft = within(
      chosen.offsetLeft, chosen.offsetWidth, aside, frame.scrollLeft, frame.clientWidth);
    frame.scrollTop = within(
      chosen.offsetTop, chosen.offsetHeight, above, frame.scrollTop, frame.clientHeight);
    byId("table").rows[0].cells[state.right + 1].classList.add("lit");
    row.cells[0].classList.add("lit");
  }

  // ---- what the user does ----

  function choosePair(left, right, focus) {
    state.left = left;
    state.right = right;
    showPair();
    if (focus) cellAt(left, right).focus({ preventScroll: true });
  }

  // The types stay, where the other rules have them.
  function change(what) {
    const before = ownNodes(), left = before[state.left], right = before[state.right];
    Object.assign(state, what);
    if (data.sets[state.set].more === 0) state.more = false;
    state.left = Math.max(0, ownNodes().indexOf(left));
    state.right = Math.max(0, ownNodes().indexOf(right));
    byId("rules").value = state.set;
    showSet();
    showPair();
  }

  const on = (id, event, action) => byId(id).addEventListener(event, action);
  on("rules", "change", (e) => change({ set: Number(e.target.value) }));
  on("other", "change", (e) => change({ other: Number(e.target.value) }));
  on("operation", "change", (e) => change({ operation: e.target.value }));
  on("more", "change", (e) => change({ more: e.target.checked }));
  on("left", "change", (e) => choosePair(Number(e.target.value), state.right));
  on("right", "change", (e) => choosePair(state.left, Number(e.target.value)));
  on("swap", "click", () => choosePair(state.right, state.left));
  on("choice", "submit", (e) => e.preventDefault());
  on("all", "click", (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    const set = button.dataset.set;
    change({ set: Number(set) });
    const again = byId("all").querySelector(`button[data-set="${set}"]`);
    if (again) again.focus({ preventScroll: true });
  });
  on("table", "click", (event) => {
    const cell = event.target.closest("td");
    if (cell) choosePair(Number(cell.dataset.row), Number(cell.dataset.column), true);
  });
  on("table", "keydown", (event) => {
    const last = ownNodes().length - 1;
    const clip = (k) => Math.min(last, Math.max(0, k));
    const moves = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -last], End: [0, last], PageUp: [-last, 0], PageDown: [last, 0],
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choosePair(clip(state.left + move[0]), clip(state.right + move[1]), true);
  });

  // ---- the beginning: what the address asks for, or an example ----

  function begin() {
    const asked = location.hash.slice(1).split("/").map(decodeURIComponent);
    const ids = data.sets.map((set) => set.id);
    state.set = Math.max(0, ids.indexOf(asked[0]));
    state.other = ids.indexOf(asked[3]);
    if (forms.has(asked[4])) state.operation = asked[4];
    state.more = asked[5] === "more" && data.sets[state.set].more > 0;
    const find = (name, other) => {
      const at = ownNodes().indexOf(name);
      return at >= 0 ? at : Math.max(0, ownNodes().indexOf(other));
    };
    state.left = find(asked[1], "i8");
    state.right = find(asked[2], "ui8");
    fill(byId("rules"), ids, numbers(ids), state.set);
    fill(byId("other"), ["nothing", ...ids], [-1, ...numbers(ids)], state.other);
    showSet();
    showPair();
  }
  begin();
})();
