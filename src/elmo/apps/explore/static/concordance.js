// The concordance: each use in its line, the word in the middle, and how like the chosen use it is. The map as a table.

import { around, count, element, excerpt, placeOf } from "./elements.js";
import { mark, UNKNOWN } from "./marks.js";

const ROWS = 50; // of a page of the table
const RIGHT_TO_LEFT = /^(ar|fa|he|ps|sd|ug|ur|yi)\b/; // languages that are written so

const ORDERS = {
  like: ["Likeness", "most like the chosen use first"],
  left: ["Before", "by the words before, from the nearest on"],
  right: ["After", "by the words behind"],
  group: ["Group", "by group"],
  text: ["Place", "as in the text"],
};

export class Concordance {
  // `on`: choose(use), point(use or -1), sort(order), and the language of the text.
  constructor(on) {
    this.on = on;
    this.page = 0;
    this.numbers = false;
    this.summary = element("p", { class: "hint", id: "concordance-summary" });
    this.body = element("tbody");
    this.head = element("thead");
    this.table = element("table", { class: "kwic", dir: RIGHT_TO_LEFT.test(on.language) ? "rtl" : null, "aria-labelledby": "concordance-title", "aria-describedby": "concordance-summary" }, this.head, this.body);
    this.pages = element("div", { class: "pages" });
    const all = element("input", { type: "checkbox", onchange: (event) => this.showNumbers(event.target.checked) });
    this.node = element(
      "section",
      { class: "card wide", "aria-labelledby": "concordance-title" },
      element("div", { class: "cardhead" }, element("h2", { id: "concordance-title" }, "Concordance"), element("label", { class: "check" }, all, "all numbers")),
      this.summary,
      element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Concordance, a table" }, this.table),
      this.pages,
    );
    this.body.addEventListener("pointerover", (event) => this.on.point(this.useOf(event)));
    this.body.addEventListener("pointerleave", () => this.on.point(-1));
    this.body.addEventListener("focusin", (event) => this.on.point(this.useOf(event)));
    this.body.addEventListener("focusout", () => this.on.point(-1));
    this.body.addEventListener("click", (event) => {
      const use = this.useOf(event);
      if (use >= 0 && event.target.closest("input") === null && !getSelection().toString()) this.on.choose(use);
    });
    this.body.addEventListener("keydown", (event) => this.walk(event));
  }

  useOf(event) {
    const row = event.target.closest("tr");
    return row ? Number(row.dataset.use) : -1;
  }

  showNumbers(wanted) {
    this.numbers = wanted;
    this.render();
  }

  // `scene`: data, groups, labels, likeness ([layer][use] or null), layer, chosen, sort, marked, names of layers.
  show(scene, { keepPage = false } = {}) {
    this.scene = scene;
    this.order = this.sorted();
    if (!keepPage) this.page = 0;
    this.render();
  }

  sorted() {
    const { data, groups, likeness, layer, sort, chosen } = this.scene;
    const all = data.uses.map((_, use) => use);
    const left = (use) => data.uses[use].tokens.slice(0, data.uses[use].place).reverse().join(" ").toLowerCase();
    const right = (use) => data.uses[use].tokens.slice(data.uses[use].place + 1).join(" ").toLowerCase();
    const by = (key) => all.map((use) => [key(use), use]).sort(([a, m], [b, n]) => (a < b ? -1 : a > b ? 1 : m - n)).map(([, use]) => use);
    if (sort === "left") return by(left);
    if (sort === "right") return by(right);
    if (sort === "group") return by((use) => groups.of[use]);
    if (sort === "text" || !likeness) return all;
    return by((use) => (use === chosen ? -2 : -likeness[layer][use]));
  }

  render() {
    const { data, groups, likeness, chosen, sort, layers, layer } = this.scene;
    this.table.classList.toggle("numbers", this.numbers);
    const first = this.page * ROWS;
    const shown = this.order.slice(first, first + ROWS);
    const what = chosen < 0 ? "Choose a use, in this table or on the map, and the others are sorted by how like it they are." : `Sorted ${ORDERS[sort][1]}.`;
    const some = data.found > data.uses.length ? ` ${count(data.uses.length, "use")} of ${data.found.toLocaleString("en")} are shown, evenly taken.` : "";
    this.summary.textContent = what + some;
    const numbers = this.numbers ? [...layers.map((name) => ["num", name]), ["num", "x"], ["num", "y"]] : [];
    const button = (order) =>
      element("button", { type: "button", class: "sort", "aria-pressed": String(sort === order), title: `Sort ${ORDERS[order][1]}`, onclick: () => this.on.sort(order) }, ORDERS[order][0]);
    this.head.replaceChildren(
      element(
        "tr",
        {},
        element("th", { scope: "col", class: "like" }, button("like")),
        element("th", { scope: "col", class: "left" }, button("left")),
        element("th", { scope: "col", class: "word" }, "Word"),
        element("th", { scope: "col", class: "right" }, button("right")),
        element("th", { scope: "col", class: "group" }, button("group")),
        element("th", { scope: "col", class: "place" }, button("text")),
        numbers.map(([kind, name]) => element("th", { scope: "col", class: kind }, name)),
      ),
    );
    this.body.replaceChildren(...shown.map((use) => this.row(use, { data, groups, likeness, chosen, layer })));
    this.renderPages(shown.length);
  }

  row(use, { data, groups, likeness, chosen, layer }) {
    const own = data.uses[use];
    const like = likeness ? likeness[layer][use] : null;
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    if (like !== null) bar.style.setProperty("--share", `${Math.max(0, like) * 100}%`);
    const group = groups.of[use];
    const name = group === UNKNOWN ? "" : (groups.names[group] ?? "");
    const point = data.points[layer][use];
    const language = this.scene.language || null;
    const numbers = this.numbers ? [...data.points.map((_, at) => (likeness ? likeness[at][use].toFixed(3) : "–")), point[0].toFixed(3), point[1].toFixed(3)] : [];
    const [before, word, after] = around(own);
    return element(
      "tr",
      { "data-use": use, class: this.rowClass(use, chosen) },
      element("td", { class: "like" }, bar, element("span", {}, like === null ? "–" : like.toFixed(2))),
      element("td", { class: "left", lang: language }, element("bdi", {}, before)),
      element("td", { class: "word", lang: language }, element("button", { type: "button", "aria-pressed": String(use === chosen), "aria-label": `${word}: ${excerpt(own).join("")}` }, word)),
      element("td", { class: "right", lang: language }, element("bdi", {}, after)),
      element("td", { class: "group" }, name ? [mark(group), name] : ""),
      element("td", { class: "place" }, placeOf(own) || String(own.sentence + 1)),
      numbers.map((number) => element("td", { class: "num" }, number)),
    );
  }

  rowClass(use, chosen) {
    return `${use === chosen ? "chosen" : ""}${this.scene.marked.has(use) ? " marked" : ""}`;
  }

  renderPages(shown) {
    const pages = Math.ceil(this.order.length / ROWS);
    const go = (page) => {
      this.page = page;
      this.render();
      this.body.querySelector("button")?.focus();
    };
    const button = (text, page) => element("button", { type: "button", disabled: page < 0 || page >= pages, onclick: () => go(page) }, text);
    const first = this.page * ROWS;
    this.pages.replaceChildren(
      ...(pages > 1 ? [button("← Back", this.page - 1), element("span", {}, `${first + 1}–${first + shown} of ${this.order.length}`), button("Next →", this.page + 1)] : []),
    );
  }

  // Arrows go from row to row.
  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    next?.querySelector("button")?.focus();
  }

  highlight({ pointed, chosen, marked }) {
    this.scene = { ...this.scene, marked };
    for (const row of this.body.children) {
      const use = Number(row.dataset.use);
      row.className = `${this.rowClass(use, chosen)}${use === pointed ? " pointed" : ""}`;
    }
  }
}
