"use strict";
// Looks answers up and shows them; computes no type.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const text = (k) => (k < 0 ? null : data.texts[k]);
  const nodes = data.nodes.map(text);
  const kinds = new Map(nodes.map((node, k) => [node, data.kinds[k]]));
  const byId = (id) => document.getElementById(id);
  const state = { set: 0, other: -1, left: 0, right: 0 };

  function element(name, content, className) {
    const made = document.createElement(name);
    if (content !== undefined && content !== null) made.textContent = content;
    if (className) made.className = className;
    return made;
  }

  const kindOf = (cell) => (cell === "-" || cell === null ? "none" : kinds.get(cell) || "own");
  const isGuess = (cell) => /[?*]$/.test(cell || "");
  const classOf = (cell) => kindOf(cell) + (isGuess(cell) ? " guess" : "");

  const ownNodes = () => data.sets[state.set].nodes.map(text);

  // The cell of two nodes, by name, under a rule set; null where it does not know one of them.
  function cellOf(set, left, right) {
    const row = nodes.indexOf(left), column = nodes.indexOf(right);
    return text(data.sets[set].table[row * nodes.length + column]);
  }

  function pairOf(left, right) {
    const [headline, top, wayLeft, wayRight, ...parts] = data.sets[state.set].pairs[left][right];
    return { headline: text(headline), top: text(top), ways: [text(wayLeft), text(wayRight)],
             parts: parts.map(text) };
  }

  function fill(select, names, chosen) {
    select.replaceChildren(...names.map((name, k) => {
      const option = element("option", name);
      option.value = k;
      return option;
    }));
    select.value = chosen;
  }

  function showSet() {
    const set = data.sets[state.set];
    fill(byId("left"), ownNodes(), state.left);
    fill(byId("right"), ownNodes(), state.right);
    byId("source").textContent = "Source of the rules: " + set.source + ".";
    drawLattice();
    drawTable();
  }

  function showPair() {
    const names = ownNodes(), left = names[state.left], right = names[state.right];
    const pair = pairOf(state.left, state.right);
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
    showOther(left, right);
    lightLattice(pair, left, right);
    lightTable();
    const parts = [data.sets[state.set].id, left, right];
    if (state.other >= 0) parts.push(data.sets[state.other].id);
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
    const names = ownNodes(), table = byId("table");
    const corner = element("th"), first = element("tr");
    first.append(corner, ...names.map((name) => {
      const head = element("th", name);
      head.scope = "col";
      return head;
    }));
    const rows = names.map((left, i) => {
      const row = element("tr"), head = element("th", left);
      head.scope = "row";
      row.append(head);
      names.forEach((right, j) => {
        const cell = cellOf(state.set, left, right);
        const made = element("td", cell === "-" ? "\u2013" : cell, classOf(cell));
        made.setAttribute("role", "gridcell");
        made.dataset.row = i;
        made.dataset.column = j;
        if (state.other >= 0) {
          const theirs = cellOf(state.other, left, right);
          if (theirs !== cell) {
            made.classList.add("differs");
            made.title = theirs === null ? "not known there" : "there: " + theirs;
          }
        }
        row.append(made);
      });
      return row;
    });
    const head = element("thead"), body = element("tbody");
    head.append(first);
    body.append(...rows);
    table.replaceChildren(head, body);
    const differ = table.querySelectorAll("td.differs").length;
    byId("table-note").textContent = state.other < 0
      ? "The left type is the row. Click a cell, or move by the arrow keys."
      : `${differ} of ${names.length ** 2} cells differ from those of ` +
        `${data.sets[state.other].id}; they are marked.`;
  }

  const cellAt = (i, j) =>
    byId("table").querySelector(`td[data-row="${i}"][data-column="${j}"]`);

  function lightTable() {
    for (const cell of byId("table").querySelectorAll("td")) {
      cell.tabIndex = -1;
      cell.setAttribute("aria-selected", "false");
    }
    const chosen = cellAt(state.left, state.right);
    chosen.tabIndex = 0;
    chosen.setAttribute("aria-selected", "true");
    for (const head of byId("table").querySelectorAll("th")) head.classList.remove("lit");
    // Into view sideways; the page itself stays where it is.
    const frame = byId("table").parentElement, head = chosen.parentElement.cells[0].offsetWidth;
    if (chosen.offsetLeft < frame.scrollLeft + head) frame.scrollLeft = chosen.offsetLeft - head;
    const end = chosen.offsetLeft + chosen.offsetWidth - frame.clientWidth;
    if (end > frame.scrollLeft) frame.scrollLeft = end;
    byId("table").rows[0].cells[state.right + 1].classList.add("lit");
    byId("table").rows[state.left + 1].cells[0].classList.add("lit");
  }

  // ---- what the user does ----

  function choosePair(left, right, focus) {
    state.left = left;
    state.right = right;
    showPair();
    if (focus) cellAt(left, right).focus();
  }

  // The types stay, where the other rules have them.
  function chooseSet(set) {
    const before = ownNodes(), left = before[state.left], right = before[state.right];
    state.set = set;
    state.left = Math.max(0, ownNodes().indexOf(left));
    state.right = Math.max(0, ownNodes().indexOf(right));
    showSet();
    showPair();
  }

  byId("rules").addEventListener("change", (event) => chooseSet(Number(event.target.value)));
  byId("left").addEventListener("change", (e) => choosePair(Number(e.target.value), state.right));
  byId("right").addEventListener("change", (e) => choosePair(state.left, Number(e.target.value)));
  byId("swap").addEventListener("click", () => choosePair(state.right, state.left));
  byId("other").addEventListener("change", (event) => {
    state.other = Number(event.target.value);
    drawTable();
    showPair();
  });
  byId("choice").addEventListener("submit", (event) => event.preventDefault());
  byId("table").addEventListener("click", (event) => {
    const cell = event.target.closest("td");
    if (cell) choosePair(Number(cell.dataset.row), Number(cell.dataset.column), true);
  });
  byId("table").addEventListener("keydown", (event) => {
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
    const names = ownNodes(), find = (name, other) => {
      const at = names.indexOf(name);
      return at >= 0 ? at : Math.max(0, names.indexOf(other));
    };
    state.left = find(asked[1], "i8");
    state.right = find(asked[2], "ui8");
    state.other = ids.indexOf(asked[3]);
    fill(byId("rules"), ids, state.set);
    fill(byId("other"), ids, state.other);
    const none = element("option", "nothing");
    none.value = -1;
    byId("other").prepend(none);
    byId("other").value = state.other;
    showSet();
    showPair();
  }
  begin();
})();
