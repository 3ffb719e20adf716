// Two sentences side by side: the cosine of each word of one with each of the other. A table that is its own picture.

import { lineChart } from "./chart.js";
import { element, say } from "./elements.js";
import { heat, shownScheme } from "./heat.js";
import { ask, isSaved, Refused } from "./source.js";
import { change, state } from "./state.js";

export class CompareView {
  constructor(start) {
    this.start = start;
    this.first = element("textarea", { id: "first", rows: "2", maxlength: "2000" });
    this.second = element("textarea", { id: "second", rows: "2", maxlength: "2000" });
    this.message = element("p", { class: "problem", role: "alert", hidden: true });
    this.centred = element("input", { type: "checkbox", onchange: (event) => change({ centred: event.target.checked }) });
    this.layers = element("div", { class: "segments", role: "group", "aria-label": "Layer" });
    this.grid = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Cosines of the words, a table" });
    this.pair = element("div", { class: "stack" });
    const chips = start.pairs.map(([a, b], n) => element("button", { type: "button", onclick: () => change({ a, b }) }, ["a word in two senses", "two words of one spelling", "who chases whom"][n] ?? `pair ${n + 1}`));
    const submit = (event) => {
      event.preventDefault();
      change({ a: this.first.value.trim(), b: this.second.value.trim() });
    };
    const form = element(
      "form",
      { class: "bar two", onsubmit: submit },
      element("div", { class: "field" }, element("label", { for: "first" }, "One sentence"), this.first),
      element("div", { class: "field" }, element("label", { for: "second" }, "Another"), this.second),
      element("span", { class: "row" }, element("button", { type: "submit", class: "main" }, "Compare"), element("label", { class: "check" }, this.centred, "centred cosines")),
      element("div", { class: "chips", role: "group", "aria-label": "Examples" }, element("span", { class: "hint" }, "Examples:"), chips),
    );
    const hint = element("p", { class: "hint" }, "Rows: the first sentence; columns: the second. The darker, the more alike; framed: each the other's nearest. Choose a cell to see it layer by layer.");
    this.panels = element(
      "div",
      { class: "panels compare" },
      element("section", { class: "card wide", "aria-labelledby": "heat-title" }, element("div", { class: "cardhead" }, element("h2", { id: "heat-title" }, "Word by word"), this.layers), hint, element("div", { class: "besides" }, this.grid, this.pair)),
    );
    this.node = element("div", { class: "view" }, form, this.message, this.panels);
  }

  get layer() {
    const top = this.start.layers.length - 1;
    return state.layer < 0 ? top : Math.min(state.layer, top);
  }

  goToLayer(layer) {
    change({ layer: layer === this.start.layers.length - 1 ? -1 : layer }, { step: false });
  }

  async update(changed) {
    if (!state.a || !state.b) {
      const [a, b] = this.start.pairs[0];
      change({ a: state.a || a, b: state.b || b }, { step: false, tell: false });
    }
    this.centred.checked = state.centred;
    if (["a", "b", "centred", "view"].some((name) => changed.has(name)) || !this.found) {
      [this.first.value, this.second.value] = [state.a, state.b];
      const wanted = (this.turn = {});
      try {
        const found = await ask("compare", { first: state.a, second: state.b, centred: state.centred });
        if (wanted !== this.turn) return;
        this.found = found;
        this.chosen = null;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.found = null;
        this.message.textContent = error.message + (isSaved ? " The examples below are here." : "");
      }
    }
    this.message.hidden = Boolean(this.found);
    this.panels.hidden = !this.found;
    if (this.found) this.render();
  }

  render() {
    const { first, second, cosines } = this.found;
    const { layer } = this;
    document.title = "Two sentences · elmo explore";
    this.layers.replaceChildren(...this.start.layers.map((name, n) => element("button", { type: "button", "aria-pressed": String(n === layer), onclick: () => this.goToLayer(n) }, name)));
    const scheme = shownScheme();
    const values = cosines[layer];
    const bestOfRow = values.map((row) => row.indexOf(Math.max(...row)));
    const bestOfColumn = second.map((_, column) => values.reduce((best, row, n) => (row[column] > values[best][column] ? n : best), 0));
    const cell = (row, column) => {
      const { back, ink } = heat(values[row][column], scheme);
      const mutual = bestOfRow[row] === column && bestOfColumn[column] === row;
      const button = element("button", { type: "button", tabindex: "-1", "data-cell": `${row} ${column}`, "aria-pressed": "false", onclick: () => this.choose(row, column) }, figure(values[row][column]));
      button.style.setProperty("background", back);
      button.style.setProperty("color", ink);
      return element("td", { class: mutual ? "mutual" : null }, button);
    };
    const language = this.start.language || null;
    this.grid.replaceChildren(
      element(
        "table",
        { class: "heat", lang: language },
        element("caption", { class: "unseen" }, `Cosines in layer ${this.start.layers[layer]}`),
        element("thead", {}, element("tr", {}, element("td"), second.map((word) => element("th", { scope: "col" }, element("span", {}, word))))),
        element("tbody", {}, first.map((word, row) => element("tr", {}, element("th", { scope: "row" }, word), second.map((_, column) => cell(row, column))))),
      ),
    );
    this.grid.onkeydown = (event) => this.walk(event);
    const [row, column] = this.chosen ?? this.firstChoice();
    this.choose(row, column, { focus: false });
    say(`Layer ${this.start.layers[layer]}`);
  }

  // A word that both sentences have, the longest; or the best pair.
  firstChoice() {
    const { first, second } = this.found;
    const shared = first.map((word, row) => [word, row, second.indexOf(word)]).filter(([, , column]) => column >= 0);
    shared.sort((a, b) => b[0].length - a[0].length);
    return shared.length ? [shared[0][1], shared[0][2]] : [0, 0];
  }

  choose(row, column, { focus = true } = {}) {
    const { first, second, cosines } = this.found;
    this.chosen = [row, column];
    for (const button of this.grid.querySelectorAll("button")) {
      const own = button.dataset.cell === `${row} ${column}`;
      button.setAttribute("aria-pressed", String(own));
      button.tabIndex = own ? 0 : -1;
      if (own && focus) button.focus();
    }
    const values = cosines.map((layer) => layer[row][column]);
    const words = `“${first[row]}” and “${second[column]}”`;
    this.pair.replaceChildren(
      element("h3", {}, words),
      lineChart(this.start.layers, this.layer, [], [{ values, group: 0 }], `Cosine of ${words} by layer: ${values.map((value) => value.toFixed(2)).join(", ")}`),
      element("dl", { class: "values" }, this.start.layers.map((name, n) => [element("dt", {}, name), element("dd", {}, values[n].toFixed(3))])),
    );
  }

  walk(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || !this.chosen || event.target.tagName !== "BUTTON") return;
    event.preventDefault();
    const row = Math.min(this.found.first.length - 1, Math.max(0, this.chosen[0] + step[0]));
    const column = Math.min(this.found.second.length - 1, Math.max(0, this.chosen[1] + step[1]));
    this.choose(row, column);
  }
}

// A cosine in little room: .54, -.07, 1.0
function figure(value) {
  const shown = value.toFixed(2);
  if (shown === "1.00") return "1.0";
  return shown.replace(/^-0\.00$/, ".00").replace(/^(-?)0\./, "$1.");
}
