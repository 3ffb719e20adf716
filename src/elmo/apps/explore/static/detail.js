// The chosen use: its sentence, its label, how like it the others are in each layer, and the nearest words of the text.

import { lineChart, meansOf, meansTable } from "./chart.js";
import { around, element, placeOf, sentenceOf } from "./elements.js";
import { mark, UNKNOWN } from "./marks.js";
import { ask, Refused } from "./source.js";

export class Detail {
  // `on`: label(uses, text), compare(use, other), nearby(use), choose(use).
  constructor(on) {
    this.on = on;
    this.content = element("div", { class: "stack" });
    this.node = element("section", { class: "card", "aria-labelledby": "detail-title" }, element("h2", { id: "detail-title" }, "The chosen use"), this.content);
  }

  show(scene) {
    const { data, chosen, likeness, groups, layers, layer, language } = scene;
    this.scene = scene;
    if (chosen < 0 || !likeness) {
      this.content.replaceChildren(
        element("p", { class: "hint" }, "Click a dot, or a word in the table. Then you see here how like it the other uses are, layer by layer."),
      );
      return;
    }
    const use = data.uses[chosen];
    const group = groups.of[chosen];
    const name = group === UNKNOWN ? "" : groups.names[group];
    const where = [name ? element("span", { class: "tag" }, mark(group), name) : null, placeOf(use) ? element("span", { class: "hint" }, placeOf(use)) : null];
    const lines = data.uses.map((_, other) => ({ values: likeness.map((one) => one[other]), group: groups.of[other], use: other })).filter((line) => line.use !== chosen);
    const means = meansOf(groups, likeness, chosen);
    const spoken = means.map((one) => `${one.name}: ${one.values.map((value) => value.toFixed(2)).join(", ")}`).join("; ");
    const [most, least] = extremes(likeness[layer], chosen);
    this.content.replaceChildren(
      element("p", { class: "sentence", lang: language || null, dir: "auto" }, sentenceOf(use)),
      element("p", { class: "row" }, where),
      element(
        "figure",
        {},
        element("figcaption", {}, "Cosine with each other use, by layer; thick: the mean of a group"),
        lineChart(layers, layer, lines, means, `Cosines with the chosen use by layer. Means: ${spoken}`),
        element("details", {}, element("summary", {}, "As a table"), meansTable(layers, means)),
      ),
      element(
        "div",
        { class: "row" },
        most >= 0 ? element("button", { type: "button", onclick: () => this.on.compare(chosen, most) }, "Why? Beside the most alike") : null,
        least >= 0 && least !== most ? element("button", { type: "button", onclick: () => this.on.compare(chosen, least) }, "Beside the least alike") : null,
      ),
      (this.near = element("div", { class: "near" })),
    );
    this.showNear(chosen, layer);
  }

  async showNear(chosen, layer) {
    const { request, layers } = this.scene;
    const place = this.near;
    place.replaceChildren(element("h3", {}, `Nearest words in the text (${layers[layer]})`), element("p", { class: "hint" }, "Looking …"));
    let found;
    try {
      found = await ask("neighbors", { ...request, use: chosen });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (place === this.near) place.lastChild.textContent = error.message;
      return;
    }
    if (place !== this.near || this.scene.chosen !== chosen || this.scene.layer !== layer) return;
    place.lastChild.replaceWith(nearList(found.layers[layer].slice(0, 6), this.scene.language));
    place.append(searchedNote(found));
  }

  point(use) {
    for (const line of this.content.querySelectorAll(".thin")) line.classList.toggle("pointed", Number(line.dataset.use) === use);
  }
}

export function searchedNote(found) {
  if (found.searched >= found.sentences) return "";
  return element("p", { class: "hint" }, `Looked for in ${found.searched.toLocaleString("en")} of ${found.sentences.toLocaleString("en")} sentences, evenly taken.`);
}

export function nearList(near, language) {
  if (!near.length) return element("p", { class: "hint" }, "No other sentence to look in.");
  return element(
    "ol",
    { class: "nearlist" },
    near.map((one) =>
      element(
        "li",
        {},
        element("span", { class: "num" }, one.similarity.toFixed(2)),
        element("span", { lang: language || null }, ...marked(one)),
      ),
    ),
  );
}

function marked(use) {
  const [before, word, after] = around(use);
  return [before, element("b", {}, word), after];
}

function extremes(likeness, chosen) {
  let [most, least] = [-1, -1];
  likeness.forEach((value, use) => {
    if (use === chosen) return;
    if (most < 0 || value > likeness[most]) most = use;
    if (least < 0 || value < likeness[least]) least = use;
  });
  return [most, least];
}
