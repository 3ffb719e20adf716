// The map: a dot for each use, which moves from layer to layer. Pointer, keyboard and lasso.

import { CanvasDots, ElementDots, MOST_ELEMENTS, radius } from "./dots.js";
import { drawn, element, excerpt, reducedMotion, say } from "./elements.js";
import { UNKNOWN } from "./marks.js";
import { middles, placeNames } from "./placing.js";

const EDGE = 26; // between the outermost dots and the frame
const NEAR = 16; // pixels from a dot at which the pointer means it
const MOVE = 750; // milliseconds from one layer to the next
const SAME = 1e-6; // dots of one layer that are all nearer together than that are one

export class WordMap {
  // `on`: choose(use), point(use or -1), mark(uses).
  constructor(on) {
    this.on = on;
    this.under = element("div", { class: "under" });
    this.over = drawn("svg", { class: "over", "aria-hidden": "true" });
    this.note = element("p", { class: "mapnote" });
    this.tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.plane = element("div", { class: "plane", tabindex: "0" }, this.under, this.over, this.note, this.tip);
    this.node = element("div", { class: "map" }, this.plane);
    this.uses = [];
    this.marked = new Set();
    this.chosen = this.pointed = -1;
    this.level = 0;
    this.frames = 0; // drawn so far, for whoever measures
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.plane);
  }

  show(data, level) {
    cancelAnimationFrame(this.moving);
    this.uses = data.uses;
    this.points = data.points;
    this.level = level;
    this.word = data.word;
    this.marked = new Set();
    this.pointed = this.chosen = -1;
    this.size = radius(this.uses.length);
    const single = this.uses.length <= MOST_ELEMENTS;
    this.dots = single ? new ElementDots(this.uses, this.size) : new CanvasDots(this.uses, this.size);
    this.under.replaceChildren(this.dots.node);
    this.plane.setAttribute("role", single ? "listbox" : "application");
    if (single) this.plane.setAttribute("aria-multiselectable", "true");
    else this.plane.removeAttribute("aria-multiselectable");
    this.plane.setAttribute("aria-label", `Map of ${this.uses.length} uses of ${data.word}. Arrows go to the nearest dot, Enter chooses it. The table below has the same uses.`);
    this.groups = { names: [], of: this.uses.map(() => 0) };
    this.resize();
  }

  dress(groups) {
    this.groups = groups;
    this.dots?.dress(groups.of);
    this.draw();
  }

  resize() {
    const { width, height } = this.plane.getBoundingClientRect();
    if (!this.dots || !width) return;
    [this.width, this.height] = [width, height];
    this.over.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.dots.resize(width, height);
    this.draw();
  }

  // Where the dots stand at a level, which may lie between two layers.
  placesAt(level, width = this.width, height = this.height) {
    const below = Math.floor(level);
    const above = Math.min(below + 1, this.points.length - 1);
    const share = level - below;
    const reach = Math.min(width, height) / 2 - EDGE;
    const from = this.points[below];
    const to = this.points[above];
    const xs = new Array(from.length);
    const ys = new Array(from.length);
    const wide = Math.min(1.5, (width / 2 - EDGE) / reach); // a wide frame is used, within reason
    for (let n = 0; n < from.length; n += 1) {
      xs[n] = width / 2 + (from[n][0] + (to[n][0] - from[n][0]) * share) * reach * wide;
      ys[n] = height / 2 - (from[n][1] + (to[n][1] - from[n][1]) * share) * reach;
    }
    return [xs, ys];
  }

  // Move to a level; `glide`: in the time that the eye needs to follow.
  move(level, { glide = true } = {}) {
    cancelAnimationFrame(this.moving);
    if (!this.dots) return Promise.resolve();
    if (!glide || reducedMotion() || level === this.level) {
      this.level = level;
      this.draw();
      return Promise.resolve();
    }
    const from = this.level;
    const time = MOVE * Math.min(1.6, Math.max(0.4, Math.abs(level - from)));
    return new Promise((done) => {
      let start = null;
      const frame = (now) => {
        start ??= now;
        const share = Math.min(1, (now - start) / time);
        const eased = share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2;
        this.level = share === 1 ? level : from + (level - from) * eased;
        this.draw({ still: share === 1 });
        if (share < 1) this.moving = requestAnimationFrame(frame);
        else done();
      };
      this.moving = requestAnimationFrame(frame);
    });
  }

  draw({ still = true } = {}) {
    if (!this.dots || !this.width) return;
    [this.xs, this.ys] = this.placesAt(this.level);
    const some = this.marked.size > 0;
    const { chosen, pointed, marked } = this;
    this.dots.draw(this.xs, this.ys, { chosen, pointed, marked, dimmed: (n) => some && !marked.has(n) && n !== chosen });
    this.frames += 1;
    if (still) this.drawNames();
    else this.over.replaceChildren();
    this.placeTip();
  }

  isOnePoint() {
    const layer = this.points[Math.round(this.level)];
    return layer.every(([x, y]) => Math.abs(x - layer[0][0]) < SAME && Math.abs(y - layer[0][1]) < SAME);
  }

  drawNames() {
    const one = this.uses.length > 1 && Number.isInteger(this.level) && this.isOnePoint();
    this.note.textContent = one
      ? `All ${this.uses.length} dots lie on one place: this layer reads the letters of “${this.word}” and nothing around it.`
      : "";
    if (one) return this.over.replaceChildren();
    const points = middles(this.xs, this.ys, this.groups.of, this.groups.names.length);
    const placed = placeNames(this.groups.names, points, this.xs, this.ys, this.width, this.height, this.size);
    this.over.replaceChildren(
      ...placed.map(({ x, y, name, group }) =>
        drawn("text", { x, y: y + 5, class: "name", "data-group": group }, name),
      ),
    );
    for (const label of this.over.children) label.style.setProperty("--own", `var(--g${label.dataset.group})`);
    return undefined;
  }

  // What other panels say: the chosen use, the one under the pointer, those of the lasso.
  highlight({ chosen = this.chosen, pointed = this.pointed, marked = this.marked }) {
    Object.assign(this, { chosen, pointed, marked });
    const active = pointed >= 0 ? pointed : chosen;
    if (this.uses.length <= MOST_ELEMENTS && active >= 0) this.plane.setAttribute("aria-activedescendant", `dot-${active}`);
    else this.plane.removeAttribute("aria-activedescendant");
    this.draw();
  }

  placeTip() {
    const use = this.pointed;
    this.tip.hidden = use < 0 || !this.uses[use] || Boolean(this.lasso);
    if (this.tip.hidden) return;
    const [before, word, after] = excerpt(this.uses[use], 60);
    const group = this.groups.of[use];
    const name = group === UNKNOWN ? "" : (this.groups.names[group] ?? "");
    this.tip.replaceChildren(element("span", {}, before, element("mark", {}, word), after), name ? element("small", {}, name) : "");
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    const x = Math.min(Math.max(4, this.xs[use] - wide / 2), Math.max(4, this.width - wide - 4));
    const above = this.ys[use] - high - 14;
    this.tip.style.setProperty("left", `${x}px`);
    this.tip.style.setProperty("top", `${above > 4 ? above : this.ys[use] + 16}px`);
  }

  nearestTo(x, y, within = Infinity) {
    let best = -1;
    let least = within;
    for (let n = 0; n < this.xs.length; n += 1) {
      const far = Math.hypot(this.xs[n] - x, this.ys[n] - y);
      if (far < least) [best, least] = [n, far];
    }
    return best;
  }

  listen() {
    const at = (event) => {
      const box = this.plane.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.plane.addEventListener("pointermove", (event) => {
      if (!this.dots) return;
      const [x, y] = at(event);
      if (this.lasso) return this.extendLasso(x, y);
      if (this.pressed && Math.hypot(x - this.pressed[0], y - this.pressed[1]) > 8 && event.pointerType !== "touch") {
        this.lasso = [this.pressed];
        this.plane.setPointerCapture(event.pointerId);
      }
      return this.on.point(this.nearestTo(x, y, NEAR));
    });
    this.plane.addEventListener("pointerleave", () => this.on.point(-1));
    this.plane.addEventListener("pointerdown", (event) => {
      if (event.button === 0) this.pressed = at(event);
    });
    this.plane.addEventListener("pointercancel", () => {
      this.pressed = this.lasso = null;
    });
    this.plane.addEventListener("pointerup", (event) => {
      const { lasso } = this;
      this.pressed = this.lasso = null;
      if (!this.dots) return;
      if (lasso) return this.endLasso(lasso, event.shiftKey);
      const use = this.nearestTo(...at(event), NEAR);
      if (use < 0) return this.marked.size ? this.on.mark(new Set()) : undefined;
      return event.shiftKey ? this.toggle(use) : this.on.choose(use);
    });
    this.plane.addEventListener("keydown", (event) => this.key(event));
    this.plane.addEventListener("blur", () => this.on.point(-1));
  }

  toggle(use) {
    const marked = new Set(this.marked);
    if (!marked.delete(use)) marked.add(use);
    this.on.mark(marked);
  }

  extendLasso(x, y) {
    this.lasso.push([x, y]);
    this.over.replaceChildren(drawn("polygon", { class: "lasso", points: this.lasso.map((point) => point.join(",")).join(" ") }));
  }

  endLasso(lasso, more) {
    const inside = (x, y) => {
      let odd = false;
      for (let n = 0, m = lasso.length - 1; n < lasso.length; m = n, n += 1) {
        const [[x1, y1], [x2, y2]] = [lasso[n], lasso[m]];
        if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
      }
      return odd;
    };
    const found = new Set(more ? this.marked : []);
    this.xs.forEach((x, n) => inside(x, this.ys[n]) && found.add(n));
    this.on.mark(found);
    this.draw();
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const now = this.pointed >= 0 ? this.pointed : this.chosen;
    if (step && this.dots && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.goTo(now < 0 ? 0 : this.towards(now, step));
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      this.goTo(event.key === "Home" ? 0 : this.uses.length - 1);
    } else if (event.key === "Enter" && now >= 0) {
      event.preventDefault();
      this.on.choose(now);
    } else if (event.key === " " && now >= 0) {
      event.preventDefault();
      this.toggle(now);
    }
  }

  goTo(use) {
    this.on.point(use);
    if (this.uses.length > MOST_ELEMENTS) say(excerpt(this.uses[use]).join(""));
  }

  // The nearest dot in a direction; where dots lie on each other, the next or the one before.
  towards(use, [right, down]) {
    let best = -1;
    let least = Infinity;
    for (let n = 0; n < this.xs.length; n += 1) {
      const x = this.xs[n] - this.xs[use];
      const y = this.ys[n] - this.ys[use];
      const along = x * right + y * down;
      const beside = Math.abs(x * down) + Math.abs(y * right);
      if (along > 0.5 && beside <= 1.5 * along && along + 2 * beside < least) [best, least] = [n, along + 2 * beside];
    }
    if (best >= 0) return best;
    if (!this.isOnePoint()) return use;
    return (use + (right + down > 0 ? 1 : this.uses.length - 1)) % this.uses.length;
  }
}
