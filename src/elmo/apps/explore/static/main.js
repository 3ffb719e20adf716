// The page: its views, what is saved and opened from them, and the keys.

import { AnswersView } from "./answersview.js";
import { CompareView } from "./compareview.js";
import { helpDialog, saveDialog, textDialog } from "./dialogs.js";
import { count, element } from "./elements.js";
import { NearView } from "./nearview.js";
import { download, heatPicture, mapPicture, pairsTable, toPng, usesObject, usesTable } from "./saving.js";
import { ask, askForPage, isSaved } from "./source.js";
import { address, change, onChange, startState, state } from "./state.js";
import { Texts } from "./texts.js";
import { UsesView } from "./usesview.js";

const VIEWS = [
  ["uses", "Uses of a word"],
  ["compare", "Two sentences"],
  ["near", "A made-up word"],
  ["answers", "Answers"],
];
const SCHEMES = ["auto", "light", "dark"];

let start;
let views;
let texts;
const content = document.getElementById("content");

function showAbout() {
  const own = texts.find(state.text);
  const source = state.text ? "your text" : start.source;
  document.getElementById("about").textContent = `${start.model} · ${source}: ${count(own.sentences, "sentence")}, ${count(own.tokens, "word")}`;
}

function showNavigation() {
  document.getElementById("views").replaceChildren(
    ...VIEWS.filter(([view]) => views[view]).map(([view, name]) => {
      const open = (event) => {
        event.preventDefault();
        change({ view });
      };
      return element("li", {}, element("a", { href: address({ ...state, view }), "aria-current": view === state.view ? "page" : null, onclick: open }, name));
    }),
  );
}

async function update(changed) {
  const view = views[state.view] ?? views.uses;
  if (content.firstChild !== view.node) content.replaceChildren(view.node);
  showNavigation();
  await view.update(changed);
  showAbout();
}

function choices() {
  const found = [];
  const name = (ending) => `elmo-${(state.view === "compare" ? "compare" : state.word).replace(/[^\p{L}\p{N}]+/gu, "-") || "view"}.${ending}`;
  const { uses, compare } = views;
  if (state.view === "uses" && uses.data) {
    const picture = () => mapPicture(uses.map, uses.scene);
    found.push(
      ["PNG", "the map, as a picture", async () => download(name("png"), await toPng(picture()))],
      ["SVG", "the map, for print and for drawing programs", () => download(name("svg"), picture(), "image/svg+xml")],
      ["CSV", "the uses with labels, cosines and places, for a spreadsheet", () => download(name("csv"), usesTable(uses.scene), "text/csv")],
      ["JSON", "the same, for programs", () => download(name("json"), usesObject(uses.scene, start, address()), "application/json")],
    );
  }
  if (state.view === "compare" && compare.found) {
    const picture = () => heatPicture(compare.found, compare.layer, start.layers);
    found.push(
      ["PNG", "the table, as a picture", async () => download(name("png"), await toPng(picture()))],
      ["SVG", "the same, for print", () => download(name("svg"), picture(), "image/svg+xml")],
      ["CSV", "all cosines, in every layer", () => download(name("csv"), pairsTable(compare.found, start.layers), "text/csv")],
      ["JSON", "the same, for programs", () => download(name("json"), JSON.stringify({ model: start.model, layers: start.layers, ...compare.found }), "application/json")],
    );
  }
  found.push(["Link", "copy the address of what you see", copyLink]);
  if (!isSaved && !state.text) found.push(["Page", "this page with the example words as one file, for mail or a stick", savePage]);
  return found;
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    return "The link is in the clipboard.";
  } catch {
    return location.href;
  }
}

async function savePage() {
  const words = [...new Set([state.word, ...start.examples])].filter((word) => word && !/\s/.test(word));
  download("elmo-explore.html", await askForPage(words));
}

function setScheme(scheme) {
  document.documentElement.dataset.scheme = scheme;
  try {
    localStorage.setItem("elmo-scheme", scheme);
  } catch {
    // it holds for this visit
  }
}

function keptScheme() {
  try {
    return localStorage.getItem("elmo-scheme");
  } catch {
    return null;
  }
}

function repaint() {
  if (state.view === "compare" && views.compare.found) views.compare.render();
  if (views.uses.scene) views.uses.map.dress(views.uses.scene.groups);
}

function showTools() {
  const help = helpDialog();
  const save = saveDialog(choices);
  const scheme = element("button", { type: "button", onclick: () => nextScheme() });
  const name = () => {
    scheme.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[document.documentElement.dataset.scheme];
  };
  const nextScheme = () => {
    setScheme(SCHEMES[(SCHEMES.indexOf(document.documentElement.dataset.scheme) + 1) % SCHEMES.length]);
    name();
    repaint();
  };
  name();
  const own = isSaved ? null : textDialog(start, takeText, () => change({ text: "", word: "", use: 0 }));
  document.getElementById("tools").replaceChildren(
    ...[
      own && element("button", { type: "button", onclick: () => own.showModal() }, "Text …"),
      element("button", { type: "button", onclick: () => save.open() }, "Save …"),
      scheme,
      element("button", { type: "button", "aria-label": "Help and keys", onclick: () => help.showModal() }, "?"),
    ].filter(Boolean),
  );
  return { help, save };
}

async function takeText(text) {
  const found = await texts.take(text);
  change({ view: state.view === "near" ? "near" : "uses", text: found.text, word: found.examples[0] ?? "", use: 0, group: "" });
}

function listenToKeys({ help, save }) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.matches("input:not([type=range], [type=checkbox]), textarea, select");
    if (typing && event.key !== "Escape") return;
    const { uses } = views;
    const layer = Number(event.key) - 1;
    if (event.key === "/") {
      const field = document.querySelector("#word, #first, #sentence, #input");
      field?.focus();
      field?.select();
    } else if (event.key === "?") help.showModal();
    else if (event.key === "s") save.open();
    else if (event.key === "c" && state.view === "uses") uses.compareMarked();
    else if (event.key === "w" && state.view === "uses" && uses.data && !uses.play.disabled) uses.walkLayers();
    else if (event.key === "Escape") escape(typing, event);
    else if (layer >= 0 && layer < start.layers.length && views[state.view].goToLayer) views[state.view].goToLayer(layer);
    else return;
    event.preventDefault();
  });
}

function escape(typing, event) {
  if (typing) event.target.blur();
  else if (state.view !== "uses") history.back();
  else if (views.uses.marked?.size) views.uses.mark(new Set());
  else change({ use: -1 });
}

async function begin() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address holds what is shown
    content.focus();
  });
  document.documentElement.dataset.scheme = keptScheme() ?? "auto";
  startState();
  start = await ask("start");
  texts = new Texts(start);
  views = { uses: new UsesView(start, texts), compare: new CompareView(start), near: new NearView(start, texts) };
  if (start.tasks.length && !isSaved) views.answers = new AnswersView(start);
  if (!views[state.view]) state.view = "uses";
  listenToKeys(showTools());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  onChange(update);
  await update(new Set(["view"]));
  document.documentElement.dataset.ready = "";
}

begin().catch((error) => {
  content.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message));
  throw error;
});
