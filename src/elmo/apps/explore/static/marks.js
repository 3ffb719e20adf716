// The marks of groups: each has a colour and a shape of its own, so that nobody needs to tell colours apart.

import { drawn } from "./elements.js";

// Paths around (0, 0) that look equally large at radius 1.
const SHAPES = [
  "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z", // circle
  "M0 -1.2L1.14 0.8L-1.14 0.8Z", // triangle
  "M-0.88 -0.88H0.88V0.88H-0.88Z", // square
  "M0 -1.28L1.28 0L0 1.28L-1.28 0Z", // diamond
  "M0 1.2L1.14 -0.8L-1.14 -0.8Z", // triangle down
  "M-0.4 -1.15H0.4V-0.4H1.15V0.4H0.4V1.15H-0.4V0.4H-1.15V-0.4H-0.4Z", // plus
  "M0 -1.3L0.36 -0.45L1.24 -0.4L0.56 0.17L0.78 1.05L0 0.56L-0.78 1.05L-0.56 0.17L-1.24 -0.4L-0.36 -0.45Z", // star
  "M-0.6 -1.05H0.6L1.2 0L0.6 1.05H-0.6L-1.2 0Z", // hexagon
];

// By number; the page's style sheet has the same colours for light and dark. [after Okabe and Ito 2008]
export const PRINTED = ["#0067a5", "#c04a00", "#00785a", "#9b3f86", "#7a6200", "#3f4fb5", "#a8324a", "#4d5b66"];
export const UNKNOWN = 8; // the mark of uses without a group
const PRINTED_UNKNOWN = "#6b7080";

export const GROUPS = SHAPES.length;

export function shape(group) {
  return group === UNKNOWN ? "M-0.6 0A0.6 0.6 0 1 0 0.6 0A0.6 0.6 0 1 0 -0.6 0Z" : SHAPES[group % SHAPES.length];
}

export function printedColour(group) {
  return group === UNKNOWN ? PRINTED_UNKNOWN : PRINTED[group % PRINTED.length];
}

// The colours of the scheme that is shown now, for a canvas, which knows no variables.
export function shownColours() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const resolve = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const groups = Array.from({ length: UNKNOWN + 1 }, (_, group) => resolve(`--g${group}`));
  const found = { groups, ink: resolve("--ink"), surface: resolve("--surface"), dark: style.colorScheme === "dark" };
  probe.remove();
  return found;
}

// A group's mark beside its name.
export function mark(group) {
  const made = drawn("svg", { class: "mark", viewBox: "-1.4 -1.4 2.8 2.8", "aria-hidden": "true" }, drawn("path", { d: shape(group) }));
  made.style.setProperty("--own", `var(--g${group})`);
  return made;
}
