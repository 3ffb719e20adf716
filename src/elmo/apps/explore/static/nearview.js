// Any word in any sentence, also a made-up one: the words of the text that are nearest to it, layer by layer.

import { nearList } from "./detail.js";
import { count, element } from "./elements.js";
import { ask, isSaved, Refused } from "./source.js";
import { change, state } from "./state.js";

export class NearView {
  constructor(start, texts) {
    this.start = start;
    this.texts = texts;
    this.input = element("textarea", { id: "sentence", rows: "2", maxlength: "2000" });
    this.words = element("div", { class: "words", role: "group", "aria-label": "The word to look for" });
    this.message = element("p", { class: "problem", role: "alert", hidden: true });
    this.told = element("p", { class: "hint" });
    this.result = element("div", { class: "panels three" });
    const chips = start.made_up.map(([word, sentence]) => element("button", { type: "button", onclick: () => this.show(sentence, word) }, word));
    const submit = (event) => {
      event.preventDefault();
      change({ sentence: this.input.value.trim(), place: -1 });
    };
    const form = element(
      "form",
      { class: "bar", onsubmit: submit },
      element("div", { class: "field grow" }, element("label", { for: "sentence" }, "A sentence, with a word that you make up"), this.input),
      element("button", { type: "submit", class: "main" }, "Look"),
      element("div", { class: "chips", role: "group", "aria-label": "Examples" }, element("span", { class: "hint" }, "Made-up words:"), chips),
    );
    this.node = element("div", { class: "view" }, form, this.message, this.words, this.told, this.result);
  }

  async show(sentence, word) {
    const { tokens } = await ask("tokens", { sentence });
    change({ sentence, place: tokens.indexOf(word) });
  }

  async update() {
    document.title = "A made-up word · elmo explore";
    if (!state.sentence) {
      const [word, sentence] = this.start.made_up[0];
      return this.show(sentence, word);
    }
    this.input.value = state.sentence;
    const wanted = (this.turn = {});
    this.message.hidden = true;
    this.node.setAttribute("aria-busy", "true");
    try {
      await this.texts.ensure(state.text);
      const { tokens } = await ask("tokens", { sentence: state.sentence });
      if (wanted !== this.turn) return undefined;
      const place = state.place >= 0 && state.place < tokens.length ? state.place : longest(tokens);
      this.showWords(tokens, place);
      const wish = { sentence: state.sentence, place };
      const found = await ask("near", isSaved ? wish : { ...wish, text: state.text });
      if (wanted === this.turn) this.showFound(found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.message.textContent = error.message;
      this.message.hidden = false;
      this.result.replaceChildren();
    } finally {
      this.node.removeAttribute("aria-busy");
    }
    return undefined;
  }

  showWords(tokens, place) {
    this.words.lang = this.start.language;
    this.words.replaceChildren(
      ...tokens.map((token, n) => element("button", { type: "button", class: "token", "aria-pressed": String(n === place), onclick: () => change({ place: n }) }, token)),
    );
  }

  showFound(found) {
    const word = found.tokens[found.place];
    const known = found.known ? `“${word}” is used in the text itself.` : `“${word}” is not in the text: the model reads its letters, and the words around it.`;
    const titles = this.start.layers.map((name, layer) => (layer === 0 ? "By its letters alone" : layer === this.start.layers.length - 1 ? "By letters and sentence, at the top" : "By letters and sentence"));
    this.told.replaceChildren(`${known} Nearest are, among ${count(found.searched, "sentence")}:`);
    this.result.replaceChildren(
      ...found.layers.map((near, layer) => element("section", { class: "card" }, element("h2", {}, this.start.layers[layer]), element("p", { class: "hint" }, titles[layer]), nearList(near, this.start.language))),
    );
  }
}

function longest(tokens) {
  return tokens.reduce((best, token, n) => (token.length > tokens[best].length ? n : best), 0);
}
