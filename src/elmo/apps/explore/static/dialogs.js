// What opens over the page: the keys, a text of one's own, and what to save.

import { count, element } from "./elements.js";

export function dialog(title, ...content) {
  const close = element("button", { type: "button", class: "plain close", "aria-label": "Close", onclick: () => made.close() }, "✕");
  const id = `dialog-${title.replace(/\W+/g, "-").toLowerCase()}`;
  const made = element("dialog", { "aria-labelledby": id }, element("div", { class: "cardhead" }, element("h2", { id }, title), close), ...content);
  made.addEventListener("click", (event) => {
    if (event.target === made) made.close(); // beside it
  });
  document.body.append(made);
  return made;
}

const KEYS = [
  ["/", "type a word"],
  ["arrows", "on the map: to the nearest dot in that direction; in a table: from row to row"],
  ["Enter", "choose the dot"],
  ["space", "mark the dot, to label it or to compare"],
  ["1 2 3", "the layers, from the letters up"],
  ["w", "walk through the layers"],
  ["c", "the chosen use beside the marked one"],
  ["Esc", "take the choice back"],
  ["s", "save"],
  ["?", "these keys"],
];

export function helpDialog() {
  return dialog(
    "How to use this page",
    element(
      "div",
      { class: "stack" },
      element("p", {}, "Each dot is the word in one sentence. Dots are near to each other where the model finds the uses alike. Move the slider: the lowest layer reads letters only, the higher ones read the sentence."),
      element("p", {}, "Draw around dots with the mouse to mark them, and give them a label. The browser’s Back undoes a step; the address is a link to what you see."),
      element("dl", { class: "keys" }, KEYS.map(([key, meaning]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)])),
    ),
  );
}

// `take(content)` gives the text to the server, and throws what is wrong with it.
export function textDialog(start, take, leave) {
  const area = element("textarea", { id: "own-text", rows: "10", maxlength: String(start.longest_text), placeholder: "Paste sentences here: an article, a chapter, lines of a corpus." });
  const file = element("input", { type: "file", id: "own-file", accept: ".txt,text/plain" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const send = element("button", { type: "submit", class: "main" }, "Use this text");
  file.addEventListener("change", async () => {
    if (file.files[0]) area.value = (await file.files[0].text()).slice(0, start.longest_text);
  });
  const submit = async (event) => {
    event.preventDefault();
    problem.hidden = true;
    send.disabled = true;
    try {
      await take(area.value);
      made.close();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    } finally {
      send.disabled = false;
    }
  };
  const back = element("button", { type: "button", onclick: () => (leave(), made.close()) }, `Back to: ${start.source}`);
  const made = dialog(
    "A text of your own",
    element(
      "form",
      { class: "stack", onsubmit: submit },
      element("div", { class: "field" }, element("label", { for: "own-text" }, "The text"), area),
      element("div", { class: "field" }, element("label", { for: "own-file" }, "or a text file"), file),
      element("p", { class: "hint" }, `It stays on this machine: in this browser's tab, and in the memory of the program. At most ${count(start.longest_text, "character")}.`),
      problem,
      element("div", { class: "row" }, send, back),
    ),
  );
  return made;
}

// `choices`: [name, what it is, function], which may return a promise.
export function saveDialog(choices) {
  const told = element("p", { class: "hint", role: "status" });
  const rows = element("ul", { class: "choices" });
  const made = dialog("Save", rows, told);
  const open = () => {
    told.textContent = "";
    rows.replaceChildren(
      ...choices().map(([name, what, act]) => {
        const run = async () => {
          try {
            told.textContent = (await act()) ?? "Saved.";
          } catch (error) {
            told.textContent = error.message;
          }
        };
        return element("li", {}, element("button", { type: "button", onclick: run }, name), element("span", { class: "hint" }, what));
      }),
    );
    made.showModal();
  };
  return { open };
}
