// Dots on a map: as SVG up to some hundred, where each is an element of its own, and on a canvas beyond.

import { drawn, joined } from "./elements.js";
import { shape, shownColours } from "./marks.js";

export const MOST_ELEMENTS = 500;

export function radius(count) {
  return count <= 60 ? 7 : count <= 200 ? 6 : count <= 500 ? 5 : 3.5;
}

export class ElementDots {
  constructor(uses, size) {
    this.size = size;
    this.dots = uses.map((use, n) => {
      const path = drawn("path", { class: "shape" });
      const label = joined(use.tokens);
      return drawn("g", { id: `dot-${n}`, class: "dot", role: "option", "aria-selected": "false", "aria-label": label }, path);
    });
    this.layer = drawn("g", { role: "none" }, this.dots);
    this.node = drawn("svg", { role: "none", class: "dots" }, this.layer);
  }

  resize(width, height) {
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  dress(groups) {
    groups.forEach((group, n) => {
      this.dots[n].firstChild.setAttribute("d", shape(group));
      this.dots[n].firstChild.setAttribute("transform", `scale(${this.size})`);
      this.dots[n].style.setProperty("--own", `var(--g${group})`);
    });
  }

  draw(xs, ys, { chosen, pointed, marked, dimmed }) {
    this.dots.forEach((dot, n) => {
      dot.setAttribute("transform", `translate(${xs[n].toFixed(1)} ${ys[n].toFixed(1)})`);
      dot.setAttribute("class", `dot${n === chosen ? " chosen" : ""}${n === pointed ? " pointed" : ""}${marked.has(n) ? " marked" : ""}${dimmed(n) ? " dimmed" : ""}`);
      dot.setAttribute("aria-selected", String(n === chosen || marked.has(n)));
    });
    const top = this.dots[pointed >= 0 ? pointed : chosen];
    if (top && this.layer.lastChild !== top) this.layer.append(top);
  }
}

export class CanvasDots {
  constructor(uses, size) {
    this.size = size;
    this.groups = uses.map(() => 0);
    this.node = document.createElement("canvas");
    this.node.className = "dots";
    this.colours = shownColours();
    this.sprites = new Map();
  }

  resize(width, height) {
    this.scale = Math.min(2, window.devicePixelRatio || 1);
    this.node.width = Math.round(width * this.scale);
    this.node.height = Math.round(height * this.scale);
  }

  dress(groups) {
    this.groups = groups;
    this.sprites.clear(); // the scheme may have changed
    this.colours = shownColours();
  }

  // A mark is drawn once and copied, which is many times faster than filling its path again.
  sprite(group, kind) {
    const key = `${group} ${kind}`;
    if (!this.sprites.has(key)) {
      const made = document.createElement("canvas");
      const large = kind === "plain" || kind === "dimmed" ? 1 : 1.7;
      const half = Math.ceil((this.size * large * 1.4 + 3) * this.scale);
      made.width = made.height = 2 * half;
      const pen = made.getContext("2d");
      pen.translate(half, half);
      pen.scale(this.size * large * this.scale, this.size * large * this.scale);
      const path = new Path2D(shape(group));
      pen.globalAlpha = kind === "dimmed" ? 0.2 : 1;
      pen.fillStyle = this.colours.groups[group];
      pen.fill(path);
      pen.lineWidth = (kind === "plain" || kind === "dimmed" ? 0.8 : 2.2) / this.size;
      pen.strokeStyle = kind === "plain" || kind === "dimmed" ? this.colours.surface : this.colours.ink;
      pen.stroke(path);
      this.sprites.set(key, [made, half]);
    }
    return this.sprites.get(key);
  }

  draw(xs, ys, { chosen, pointed, marked, dimmed }) {
    const pen = this.node.getContext("2d");
    pen.clearRect(0, 0, this.node.width, this.node.height);
    const put = (n, kind) => {
      const [made, half] = this.sprite(this.groups[n], kind);
      pen.drawImage(made, Math.round(xs[n] * this.scale) - half, Math.round(ys[n] * this.scale) - half);
    };
    for (let n = 0; n < xs.length; n += 1) put(n, dimmed(n) ? "dimmed" : "plain");
    for (const n of marked) put(n, "marked");
    if (chosen >= 0) put(chosen, "chosen");
    if (pointed >= 0) put(pointed, "pointed");
  }
}
