// Elements of the page in one expression each, and what is said to those who do not see it.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// The last sentence stands in a live region, which screen readers read out.
export function say(text) {
  document.getElementById("said").textContent = text;
}

export function reducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Whether a space stands before each token, as far as tokens tell: the text itself is not here.
const known = new WeakMap();
const CLOSING = /^([.,;:!?%)\]}’”»…]|\.\.\.|n't|'s|'re|'ve|'ll|'d|'m)$/i;
const OPENING = /^[([{$£€“‘«]$/;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}、。]/u;

function spaces(tokens) {
  if (known.has(tokens)) return known.get(tokens);
  const open = { '"': false, "'": false };
  let glued = true; // to what stands before
  const found = tokens.map((token, n) => {
    const quote = token in open;
    const closes = quote ? open[token] || (token === "'" && /s$/.test(tokens[n - 1] ?? "")) : CLOSING.test(token);
    const space = !glued && !closes && !(UNSPACED.test(token) && UNSPACED.test(tokens[n - 1] ?? ""));
    glued = OPENING.test(token) || (quote && !closes);
    if (quote) open[token] = !closes;
    return space;
  });
  known.set(tokens, found);
  return found;
}

// Tokens as they are written, from one place up to another.
export function joined(tokens, from = 0, to = tokens.length) {
  const space = spaces(tokens);
  let text = "";
  for (let n = from; n < to; n += 1) text += (space[n] ? " " : "") + tokens[n];
  return text;
}

// What stands before the word and behind it, with the spaces between.
export function around(use) {
  const before = joined(use.tokens, 0, use.place) + (spaces(use.tokens)[use.place] ? " " : "");
  return [before, use.tokens[use.place], joined(use.tokens, use.place + 1)];
}

export function excerpt(use, most = 38) {
  let [before, word, after] = around(use);
  if (before.length > most) before = "… " + before.slice(-most).replace(/^\S* /, "");
  if (after.length > most) after = after.slice(0, most).replace(/ \S*$/, "") + " …";
  return [before, word, after];
}

export function sentenceOf(use) {
  const [before, word, after] = around(use);
  return [before, element("mark", {}, word), after];
}

export function placeOf(use) {
  if (use.file && use.line) return `${use.file.split(/[\\/]/).pop()}:${use.line}`;
  return use.line ? `line ${use.line}` : "";
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
