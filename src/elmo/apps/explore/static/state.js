// What is looked at stands in the page's address, so that a link shows the same and "back" undoes. Behind the #, which
// browsers send to no server.

const DEFAULTS = {
  view: "uses", // uses, compare, near, answers
  word: "",
  text: "", // the name of a pasted text; none: the text that the page was started with
  case: false, // whether Bank is a use of bank
  most: 500,
  layer: -1, // -1: the top one
  use: -1,
  group: "",
  clusters: 0, // 0: as many as fit best
  centred: false,
  sort: "like",
  a: "",
  b: "",
  sentence: "",
  place: -1,
  task: "",
  input: "",
  other: "",
};

export const state = { ...DEFAULTS };
const listeners = [];

function parse() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = { ...DEFAULTS };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = given.get(name);
    if (value === null) continue;
    if (typeof usual === "number") found[name] = /^-?\d{1,6}$/.test(value) ? Number(value) : usual;
    else found[name] = typeof usual === "boolean" ? value === "1" : value;
  }
  return found;
}

export function address(wanted = state) {
  const query = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (wanted[name] !== usual) query.set(name, wanted[name] === true ? "1" : wanted[name]);
  }
  return `#${query}`;
}

function take(found) {
  const changed = Object.keys(DEFAULTS).filter((name) => found[name] !== state[name]);
  Object.assign(state, found);
  if (changed.length) for (const listener of listeners) listener(new Set(changed));
}

// `step`: whether "back" undoes this change alone; small ones, as moving a slider, are no steps. `tell`: whether the
// panels are told; a view that fills in what the address left open knows it already.
export function change(values, { step = true, tell = true } = {}) {
  const found = { ...state, ...values };
  if (address(found) === address()) return;
  history[step ? "pushState" : "replaceState"](null, "", address(found));
  if (tell) take(found);
  else Object.assign(state, found);
}

export function onChange(listener) {
  listeners.push(listener);
}

export function startState() {
  Object.assign(state, parse());
  addEventListener("popstate", () => {
    if (location.hash === "" || location.hash.includes("=")) take(parse());
  });
}
