// What trained task models answer to a text: names, tags, roles, chains and answers marked in it, labels with their odds.

import { element, say } from "./elements.js";
import { GROUPS } from "./marks.js";
import { predict, Refused } from "./source.js";
import { change, state } from "./state.js";

const STORY = "Anna Keller moved from Lisbon to Oslo in May. She works for the Red Cross, which sent her there.";
// What is asked of a kind of task: the names of its fields, examples of them, and how they are sent.
const FIELDS = {
  entailment: [["Premise", "Hypothesis"], ["Two dogs run across a wet meadow.", "Some animals are outside."], (a, b) => `${flat(a)}\t${flat(b)}`],
  questions: [["Text", "Question"], ["Otto Brandt drew the ferry in 1931. It carries forty cars.", "Who drew the ferry?"], (a, b) => ({ context: a, question: b })],
  classification: [["Text"], ["A warm and clever film with a wonderful cast."], (a) => flat(a)],
  other: [["Text"], [STORY], (a) => flat(a)],
};

function flat(text) {
  return text.replace(/[\t\r\n]+/g, " ");
}

export class AnswersView {
  constructor(start) {
    this.start = start;
    this.tasks = element("div", { class: "chips", role: "group", "aria-label": "Task" });
    this.first = element("textarea", { id: "input", rows: "3", maxlength: "20000" });
    this.second = element("textarea", { id: "other", rows: "3", maxlength: "2000" });
    this.names = [element("label", { for: "input" }), element("label", { for: "other" })];
    this.field = element("div", { class: "field grow" }, this.names[1], this.second);
    this.message = element("p", { class: "problem", role: "alert", hidden: true });
    this.result = element("section", { class: "card", "aria-label": "Answers" });
    const submit = (event) => {
      event.preventDefault();
      change({ input: this.first.value.trim(), other: this.second.value.trim() });
    };
    const form = element("form", { class: "bar", onsubmit: submit }, element("div", { class: "field grow" }, this.names[0], this.first), this.field, element("button", { type: "submit", class: "main" }, "Answer"));
    this.node = element("div", { class: "view" }, this.tasks, form, this.message, this.result);
  }

  async update(changed) {
    document.title = "Answers · elmo explore";
    const task = this.start.tasks.find(({ name }) => name === state.task) ?? this.start.tasks[0];
    const [names, examples, send] = FIELDS[task.kind] ?? FIELDS.other;
    const show = (name) => element("button", { type: "button", "aria-pressed": String(name === task.name), onclick: () => change({ task: name, input: "", other: "" }) }, name);
    this.tasks.replaceChildren(...this.start.tasks.map(({ name }) => show(name)));
    this.names.forEach((label, n) => (label.textContent = names[n] ?? ""));
    this.field.hidden = names.length === 1;
    this.first.value = state.input || examples[0];
    this.second.value = state.other || examples[1] || "";
    if (!["task", "input", "other", "view"].some((name) => changed.has(name)) && this.result.firstChild) return;
    const wanted = (this.turn = {});
    this.node.setAttribute("aria-busy", "true");
    try {
      const found = await predict(task.name, send(this.first.value, this.second.value));
      if (wanted !== this.turn) return;
      this.message.hidden = true;
      this.result.replaceChildren(...shown({ context: this.first.value, ...found }, this.start.language || null));
      say("answered");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.message.textContent = error.message;
      this.message.hidden = false;
      this.result.replaceChildren();
    } finally {
      this.result.hidden = !this.result.firstChild;
      this.node.removeAttribute("aria-busy");
    }
  }
}

// The answer of any task, by the shape that it has.
function shown(found, language) {
  if (found.chains) return chains(found, language);
  if (found.answers) return answers(found, language);
  if (found.probabilities) return odds(found);
  const sentences = found.sentences ?? [];
  if (sentences.some((one) => one.predicates)) return roles(found, sentences, language);
  if (sentences.some((one) => one.spans)) {
    const spans = sentences.flatMap((one) => one.spans);
    return [text(found.text, spans, numbered(spans), language), table(spans, "What was found")];
  }
  const tokens = sentences.flatMap((one) => one.tokens);
  return [tagged(found.text, tokens, language), table(tokens, "Each word")];
}

function chains(found, language) {
  const spans = found.chains.flatMap((chain, n) => chain.map((mention) => ({ ...mention, label: String(n + 1) })));
  const none = spans.length ? null : element("p", { class: "hint" }, "No two places of the text are the same thing to the model.");
  return [text(found.text, spans, numbered(spans), language), none, table(spans, "Who is who: the same number, the same thing")].filter(Boolean);
}

function answers(found, language) {
  const best = found.answers.slice(0, 1).map((one) => ({ ...one, label: "answer" }));
  return [text(found.context, best, numbered(best), language), table(found.answers, "Answers, likeliest first")];
}

function odds(found) {
  return [
    element("h2", {}, found.label ?? "No answer"),
    element(
      "ul",
      { class: "odds" },
      Object.entries(found.probabilities).map(([label, share]) => {
        const bar = element("span", { class: "oddsbar", "aria-hidden": "true" });
        bar.style.setProperty("--share", `${share * 100}%`);
        return element("li", {}, element("span", {}, label), bar, element("span", { class: "num" }, share.toFixed(3)));
      }),
    ),
  ];
}

function roles(found, sentences, language) {
  const letters = [...found.text];
  const parts = sentences.flatMap((sentence) =>
    sentence.predicates.map((predicate) => {
      const move = (one) => ({ ...one, start: one.start - sentence.start, end: one.end - sentence.start });
      const own = predicate.roles.some((role) => role.start === predicate.start) ? [] : [{ ...move(predicate), label: "V" }];
      const spans = [...predicate.roles.map(move), ...own];
      return [element("h2", {}, predicate.text), text(letters.slice(sentence.start, sentence.end).join(""), spans, numbered(spans), language), table([...predicate.roles], `Roles of “${predicate.text}”`)];
    }),
  );
  return parts.length ? parts.flat() : [element("p", { class: "hint" }, "The model finds no predicate.")];
}

// A tag above each word, the words as far apart as they are written.
function tagged(content, tokens, language) {
  const letters = [...content];
  let at = 0;
  const words = tokens.map((token) => {
    const between = letters.slice(at, token.start).join("");
    at = token.end;
    return [between, element("ruby", {}, token.text, element("rt", {}, token.tag))];
  });
  return element("p", { class: "sentence tagged", lang: language, dir: "auto" }, words);
}

// A number for each label, by which it is coloured.
function numbered(spans) {
  const labels = [...new Set(spans.map((span) => span.label))].sort();
  return new Map(labels.map((label, n) => [label, n % GROUPS]));
}

// A text with spans marked in it, which may lie in each other. Places count whole characters, as Python does.
function text(content, spans, numbers, language) {
  const letters = [...content];
  const order = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const fill = (from, to) => {
    const parts = [];
    let at = from;
    while (order.length && order[0].start < to) {
      const span = order.shift();
      if (span.start < at || span.end > to) continue; // crosses one that is drawn already; the table has it
      parts.push(letters.slice(at, span.start).join(""));
      const made = element("span", { class: "span" }, fill(span.start, span.end), element("small", {}, span.label));
      made.style.setProperty("--own", `var(--g${numbers.get(span.label)})`);
      parts.push(made);
      at = span.end;
    }
    parts.push(letters.slice(at, to).join(""));
    return parts;
  };
  return element("p", { class: "sentence answer", lang: language, dir: "auto" }, fill(0, letters.length));
}

function table(spans, title) {
  const sure = (span) => (span.probability === null || span.probability === undefined ? "–" : span.probability.toFixed(3));
  return element(
    "details",
    {},
    element("summary", {}, `${title}: as a table`),
    element(
      "table",
      { class: "small" },
      element("thead", {}, element("tr", {}, ["Text", "Label", "Probability"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, spans.map((span) => element("tr", {}, element("td", {}, span.text), element("td", {}, span.label ?? span.tag ?? ""), element("td", { class: "num" }, sure(span))))),
    ),
  );
}
