// Where data come from: the server that sent the page, or the page itself where it was saved as one file.

const embedded = document.getElementById("data");
const saved = embedded ? JSON.parse(embedded.textContent) : null;
const kept = new Map(); // of this visit: what was asked before is shown at once
const KEPT = 60;

export const isSaved = saved !== null;

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function post(path, fields) {
  let response;
  try {
    const headers = { "content-type": "application/json" };
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(fields) });
  } catch {
    throw new Refused("The server does not answer. Is `elmo explore` still running?", 0);
  }
  if (response.ok) return response;
  const found = await response.json().catch(() => null);
  throw new Refused(found?.error?.message ?? `The server answered with ${response.status}.`, response.status);
}

export async function ask(name, fields = {}) {
  if (saved) return fromPage(name, fields);
  const key = JSON.stringify([name, fields]);
  if (kept.has(key)) return kept.get(key);
  const response = await post(`explore/data/${name}`, fields);
  const found = await response.json();
  kept.set(key, found);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return found;
}

// What a trained task answers to one input.
export async function predict(task, input) {
  const response = await post("predict", { task, inputs: [input] });
  return (await response.json()).results[0];
}

export async function askForPage(words) {
  const response = await post("explore/page", { words: words.join(" ") });
  return response.blob();
}

const UNSAVED =
  "This page was saved without the model. It has what was asked before it was saved; `elmo explore` answers the rest.";

function fromPage(name, fields) {
  if (name === "start") return saved.start;
  if (name === "words") return { words: Object.entries(saved.words).map(([word, own]) => [word, own.uses.found]) };
  const own = saved.words[fields.word];
  if (own && name === "uses") return { ...own.uses, uses: own.uses.uses.map((use) => ({ ...use, tokens: saved.sentences[use.tokens] })) };
  if (own && name === "likeness") return { cosines: likenessOf(own, fields.use, fields.centred) };
  if (own && name === "clusters") return { clusterings: own.clusterings[fields.layer] };
  if (own && name === "neighbors") return unfold(own.neighbors[fields.use]);
  const found = saved.answers[JSON.stringify([name, fields])];
  if (found === undefined) throw new Refused(UNSAVED, 404);
  return found;
}

// Cosines are saved as whole numbers of 1/10,000, in 16 bits each: [layers, uses, uses].
function likenessOf(own, use, centred) {
  const field = centred ? "centred" : "plain";
  if (typeof own[field] === "string") {
    const bytes = Uint8Array.from(atob(own[field]), (letter) => letter.charCodeAt(0));
    own[field] = new Int16Array(bytes.buffer);
  }
  const uses = own.uses.uses.length;
  return own.uses.points.map((_, layer) => {
    const first = (layer * uses + use) * uses;
    return Array.from(own[field].subarray(first, first + uses), (number) => number / 10000);
  });
}

function unfold(found) {
  const layers = found.layers.map((layer) =>
    layer.map(([sentence, place, similarity]) => ({ tokens: saved.sentences[sentence], place, similarity })),
  );
  return { ...found, layers };
}
