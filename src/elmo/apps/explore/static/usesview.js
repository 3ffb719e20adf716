// The view of a word's uses: map, legend, chosen use and concordance, which show one scene together.

import { Concordance } from "./concordance.js";
import { Detail } from "./detail.js";
import { count, element, joined, say } from "./elements.js";
import { grouped, groupings, Labels } from "./groups.js";
import { Legend } from "./legend.js";
import { WordMap } from "./map.js";
import { ask, isSaved, Refused } from "./source.js";
import { change, state } from "./state.js";

export class UsesView {
  constructor(start, texts) {
    this.start = start;
    this.texts = texts;
    const choose = (use) => change({ use: use === state.use ? -1 : use });
    const point = (use) => this.point(use);
    const mark = (uses) => this.mark(uses);
    const label = (uses, text) => this.label(uses, text);
    this.map = new WordMap({ choose, point, mark });
    this.concordance = new Concordance({ choose, point, sort: (sort) => change({ sort }), language: start.language });
    this.detail = new Detail({ compare: (use, other) => this.compare(use, other) });
    this.legend = new Legend({ label, mark });
    this.title = element("h2", { id: "map-title" });
    this.caption = element("p", { class: "hint" });
    this.message = element("p", { class: "problem", role: "alert", hidden: true });
    this.grouping = element("select", { id: "grouping", onchange: (event) => change({ group: event.target.value }) });
    this.clusters = element("select", { id: "clusters", "aria-label": "How many clusters", onchange: (event) => change({ clusters: Number(event.target.value) }) });
    this.centred = element("input", { type: "checkbox", id: "centred", onchange: (event) => change({ centred: event.target.checked }) });
    this.form = this.makeForm();
    this.slider = this.makeSlider();
    this.panels = element(
      "div",
      { class: "panels" },
      element("section", { class: "card mapcard", "aria-labelledby": "map-title" }, element("div", { class: "cardhead" }, this.title, this.caption), this.slider, this.map.node, this.options(), this.legend.node),
      this.detail.node,
      this.concordance.node,
    );
    this.node = element("div", { class: "view" }, this.form, this.message, this.panels);
  }

  makeForm() {
    this.input = element("input", { id: "word", list: "words", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "200" });
    this.list = element("datalist", { id: "words" });
    this.cased = element("input", { type: "checkbox", onchange: (event) => change({ case: event.target.checked, use: -1 }) });
    this.examples = element("div", { class: "chips", role: "group", "aria-label": "Examples" });
    const submit = (event) => {
      event.preventDefault();
      const word = this.input.value.trim();
      if (word) change({ word, use: 0, sort: "like" });
    };
    return element(
      "form",
      { class: "bar", onsubmit: submit },
      element("label", { for: "word" }, "Uses of the word"),
      element("span", { class: "row" }, this.input, this.list, element("button", { type: "submit", class: "main" }, "Show")),
      isSaved ? null : element("label", { class: "check" }, this.cased, "ignore case"),
      this.examples,
    );
  }

  makeSlider() {
    const top = this.start.layers.length - 1;
    this.range = element("input", { type: "range", id: "layer", min: "0", max: String(top), step: "0.01" });
    this.range.addEventListener("input", () => {
      this.describeRange(Number(this.range.value));
      this.map.move(Number(this.range.value), { glide: false });
    });
    this.range.addEventListener("change", () => this.goToLayer(Math.round(Number(this.range.value))));
    this.range.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.goToLayer(Math.min(top, Math.max(0, this.layer + step)));
    });
    this.ticks = element("div", { class: "ticks" }, this.start.layers.map((name, layer) => element("button", { type: "button", class: "plain", onclick: () => this.goToLayer(layer) }, name)));
    this.play = element("button", { type: "button", class: "play", onclick: () => this.walkLayers() }, "▶ Walk through the layers");
    return element("div", { class: "slider" }, element("label", { for: "layer" }, "Layer"), element("div", { class: "rail" }, this.range, this.ticks), this.play);
  }

  options() {
    return element(
      "div",
      { class: "row options" },
      element("span", { class: "pair" }, element("label", { for: "grouping" }, "Marks show"), this.grouping, this.clusters),
      element("label", { class: "check", title: "Subtract the mean vector of the text: vectors of all words have much in common" }, this.centred, "centred cosines"),
    );
  }

  get layer() {
    return Math.min(state.layer < 0 ? this.start.layers.length - 1 : state.layer, this.start.layers.length - 1);
  }

  get request() {
    const { word, text, most } = state;
    return isSaved ? { word } : { word, text, most, ignore_case: state.case };
  }

  describeRange(level) {
    const layer = Math.round(level);
    this.range.setAttribute("aria-valuetext", this.start.layers[layer]);
    [...this.ticks.children].forEach((tick, n) => tick.setAttribute("aria-pressed", String(n === layer)));
  }

  goToLayer(layer) {
    if (layer === this.layer) this.moveTo(layer);
    change({ layer: layer === this.start.layers.length - 1 ? -1 : layer }, { step: false });
  }

  moveTo(layer, options) {
    this.range.value = String(layer);
    this.describeRange(layer);
    return this.map.move(layer, options);
  }

  async walkLayers() {
    this.play.disabled = true;
    this.goToLayer(0);
    for (let layer = 0; layer < this.start.layers.length; layer += 1) {
      this.goToLayer(layer);
      await new Promise((done) => setTimeout(done, 1700));
    }
    this.play.disabled = false;
  }

  // Everything that a change of the address asks for; `changed` has the names of what changed.
  async update(changed) {
    if (["word", "text", "case", "most", "view"].some((name) => changed.has(name)) || !this.data) {
      if (!(await this.load())) return;
      changed = new Set(["use", "layer", "group", "clusters", "sort", "new"]);
    }
    if (changed.has("centred")) this.centred.checked = state.centred;
    const glide = changed.has("layer") && !changed.has("new");
    if (changed.has("layer")) this.moveTo(this.layer, { glide });
    const wanted = (this.turn = {});
    this.node.setAttribute("aria-busy", "true");
    try {
      const { layer, request } = this;
      const clusterings = this.kind === "clusters" ? (await ask("clusters", { ...request, layer })).clusterings : [];
      const chosen = state.use < this.data.uses.length ? state.use : -1;
      const likeness = chosen < 0 ? null : (await ask("likeness", { ...request, use: chosen, centred: state.centred })).cosines;
      if (wanted !== this.turn) return;
      Object.assign(this, { clusterings, likeness, chosen });
      this.refuse("");
      this.showScene({ keepPage: !["new", "sort", "use"].some((name) => changed.has(name)) });
      if (changed.has("layer")) this.tellLayer();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.refuse(error.message);
    } finally {
      if (wanted === this.turn) this.node.removeAttribute("aria-busy");
    }
  }

  async load() {
    const text = this.texts.find(state.text);
    this.showExamples(text);
    const word = state.word || text.examples[0] || "";
    this.input.value = word;
    this.cased.checked = state.case;
    this.centred.checked = state.centred;
    if (!word) return this.refuse("Type a word of the text.");
    if (word !== state.word) change({ word, use: 0 }, { step: false, tell: false });
    this.node.setAttribute("aria-busy", "true");
    try {
      await this.texts.ensure(state.text);
      const { request } = this;
      const data = await ask("uses", request);
      if (JSON.stringify(request) !== JSON.stringify(this.request)) return false; // another word was asked for meanwhile
      this.data = data;
      this.labels = new Labels(`${this.start.model}|${state.text || this.start.source}|${word}`);
      this.map.show(data, this.layer);
      this.marked = new Set();
      this.panels.hidden = false;
      this.refuse("");
      this.loadWords();
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.data = null;
      this.panels.hidden = true;
      return this.refuse(error.message);
    } finally {
      this.node.removeAttribute("aria-busy");
    }
  }

  async loadWords() {
    if (this.listed === state.text) return;
    this.listed = state.text;
    const { words } = await ask("words", isSaved ? {} : { text: state.text }).catch(() => ({ words: [] }));
    this.list.replaceChildren(...words.map(([word, uses]) => element("option", { value: word, label: count(uses, "use") })));
  }

  refuse(message) {
    this.message.textContent = message;
    this.message.hidden = !message;
    return false;
  }

  showExamples(text) {
    const chip = (word) => element("button", { type: "button", "aria-pressed": String(word === (state.word || text.examples[0])), lang: this.start.language || null, onclick: () => change({ word, use: 0, sort: "like" }) }, word);
    this.examples.replaceChildren(element("span", { class: "hint" }, "Examples:"), ...text.examples.map(chip));
  }

  get kind() {
    const known = groupings(this.data.uses, this.labels).map(([kind]) => kind);
    return known.includes(state.group) ? state.group : known[0];
  }

  showScene({ keepPage = true } = {}) {
    const { data, labels, layer, likeness, chosen, kind } = this;
    this.clustering = this.clusterings.find((one) => one.count === state.clusters) ?? best(this.clusterings);
    const groups = grouped(kind, data.uses, labels, this.clustering);
    const { sort } = state;
    const { layers, language } = this.start;
    const scene = { data, groups, labels, likeness, chosen, layer, layers, language, sort, kind, marked: this.marked, clustering: this.clustering, request: this.request };
    this.scene = scene;
    this.title.textContent = `“${data.word}”`;
    const explained = `the picture shows ${Math.round(data.explained[layer] * 100)} % of the differences`;
    this.caption.textContent = `${count(data.found, "use")} · ${explained}`;
    document.title = `${data.word} · elmo explore`;
    this.showOptions();
    this.map.dress(groups);
    this.map.highlight({ chosen, marked: this.marked });
    this.legend.show(scene);
    this.detail.show(scene);
    this.concordance.show(scene, { keepPage });
  }

  showOptions() {
    const kinds = groupings(this.data.uses, this.labels);
    this.grouping.replaceChildren(...kinds.map(([kind, name]) => element("option", { value: kind, selected: kind === this.kind }, name)));
    this.clusters.hidden = this.kind !== "clusters" || !this.clusterings.length;
    const fit = best(this.clusterings);
    this.clusters.replaceChildren(
      element("option", { value: "0", selected: state.clusters === 0 }, `best (${fit?.count ?? 0})`),
      ...this.clusterings.map((one) => element("option", { value: String(one.count), selected: state.clusters === one.count }, `${one.count} clusters`)),
    );
  }

  tellLayer() {
    say(`${this.start.layers[this.layer]}. ${this.map.note.textContent || this.caption.textContent}`);
  }

  point(use) {
    if (use === this.pointed || !this.data) return;
    this.pointed = use;
    this.map.highlight({ pointed: use });
    this.concordance.highlight({ pointed: use, chosen: this.chosen, marked: this.marked });
    this.detail.point(use);
  }

  mark(uses) {
    this.marked = uses;
    this.scene = { ...this.scene, marked: uses };
    this.map.highlight({ marked: uses });
    this.legend.show(this.scene);
    this.concordance.highlight({ pointed: this.pointed, chosen: this.chosen, marked: uses });
    say(uses.size ? `${count(uses.size, "use")} marked` : "nothing marked");
  }

  label(numbers, text) {
    this.labels.give(numbers.map((use) => this.data.uses[use]), text);
    if (this.kind === "sense" || this.kind === "none" || this.kind === "file") change({ group: "labels" });
    this.marked = new Set();
    this.showScene();
    say(text ? `${count(numbers.length, "use")} labelled ${text}` : "label taken away");
  }

  compare(use, other) {
    const sentence = (one) => joined(this.data.uses[one].tokens);
    change({ view: "compare", a: sentence(use), b: sentence(other) });
  }

  // `c`: the chosen use beside a marked one, or beside the one under the pointer.
  compareMarked() {
    const others = [...this.marked].filter((use) => use !== this.chosen);
    const [first, second] = this.chosen >= 0 ? [this.chosen, others[0] ?? this.pointed] : others;
    if (first >= 0 && second >= 0) this.compare(first, second);
    else say("Choose one use and mark another with the space bar, then press c.");
  }
}

function best(clusterings) {
  return [...clusterings].sort((a, b) => b.silhouette - a.silhouette)[0] ?? null;
}
