// The search box and the table of contents of a page. Nothing is loaded from elsewhere: the site
// works from a folder, without a server and without a network.
(function () {
  "use strict";

  // pkgdown writes what it does not know as null or an empty list.
  function known(value) {
    return typeof value === "string" ? value : "";
  }

  // The name of the page and its title, the heading of the section, and the rest.
  function searchable(entry) {
    const path = known(entry.path);
    const page = known(entry.title);
    const heading = known(entry.what);
    const file = path.replace(/^.*\/|\.html$/g, "");
    return {
      path: path, page: page, where: known(entry.dir), heading: heading === page ? "" : heading,
      fields: [file + " " + page, heading, [known(entry.text), known(entry.code)].join(" ")]
        .map((text) => text.toLowerCase())
    };
  }

  // A hit has all words of the query: one in the page's title counts more than one in a heading,
  // that more than one in the text, and the beginning of a word more than its middle.
  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      const field = entry.fields.findIndex((text) => text.includes(word));
      if (field < 0) return 0;
      const at = entry.fields[field].indexOf(word);
      const begins = at === 0 || !/[a-z0-9]/.test(entry.fields[field][at - 1]);
      sum += [20, 6, 1][field] * (begins ? 2 : 1);
    }
    return entry.heading === "" ? sum + 5 : sum;
  }

  // The best 20, at most two of one page.
  function find(entries, query) {
    const words = query.toLowerCase().split(/[\s()]+/).filter(Boolean);
    if (words.length === 0) return [];
    const count = new Map();
    return entries
      .map((entry) => ({ entry: entry, points: score(entry, words) }))
      .filter((hit) => hit.points > 0)
      .sort((a, b) => b.points - a.points)
      .filter((hit) => {
        const seen = count.get(hit.entry.path) || 0;
        count.set(hit.entry.path, seen + 1);
        return seen < 2;
      })
      .slice(0, 20)
      .map((hit) => hit.entry);
  }

  function show(list, hits, query, root) {
    list.replaceChildren();
    if (query.trim() === "") return;
    if (hits.length === 0) {
      const none = document.createElement("p");
      none.textContent = "No page has all of these words.";
      list.append(none);
    }
    for (const hit of hits) {
      const link = document.createElement("a");
      link.href = root + hit.path.replace(/^\//, "");
      link.textContent = hit.page || hit.heading;
      const where = document.createElement("small");
      where.textContent = [hit.where, hit.page ? hit.heading : ""].filter(Boolean).join(": ");
      link.append(where);
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
  }

  function searchBox() {
    const box = document.getElementById("search-input");
    if (!box || !window.searchIndex) return;
    const root = box.dataset.searchIndex.replace(/search\.json$/, "");
    const entries = window.searchIndex.map(searchable).filter((entry) => entry.path);
    const list = document.createElement("ul");
    list.id = "search-hits";
    list.setAttribute("aria-label", "Pages found");
    box.after(list);
    let chosen = -1;
    box.setAttribute("aria-label", "Search the site");
    box.addEventListener("input", () => {
      chosen = -1;
      show(list, find(entries, box.value), box.value, root);
    });
    box.form.addEventListener("submit", (event) => event.preventDefault());
    box.addEventListener("keydown", (event) => {
      const links = list.querySelectorAll("a");
      if (event.key === "Escape") list.replaceChildren();
      if (event.key === "Enter" && links.length > 0) links[Math.max(chosen, 0)].click();
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      chosen = Math.min(Math.max(chosen + step, 0), links.length - 1);
      links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
      if (links[chosen]) links[chosen].scrollIntoView({ block: "nearest" });
    });
    document.addEventListener("click", (event) => {
      if (!box.form.contains(event.target)) list.replaceChildren();
    });
  }

  function contents() {
    const nav = document.getElementById("toc");
    if (!nav) return;
    const list = document.createElement("ul");
    for (const heading of document.querySelectorAll("main h2")) {
      const target = heading.id || (heading.parentElement && heading.parentElement.id);
      if (!target) continue;
      const link = document.createElement("a");
      link.href = "#" + target;
      link.textContent = heading.textContent.trim();
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    if (list.children.length < 2) nav.remove();
    else nav.append(list);
  }

  searchBox();
  contents();
})();
