// Lines by layer: how like the chosen use each of the others is, from the letters to the top. With the means as a table.

import { drawn, element } from "./elements.js";
import { mark, UNKNOWN } from "./marks.js";

const [WIDTH, HEIGHT] = [360, 220];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 14, 12, 26];
const MOST_LINES = 200;

export function scale(values) {
  const least = Math.min(...values);
  const floor = Math.max(-1, Math.floor(Math.min(least, 0.95) * 5) / 5);
  return (value) => TOP + ((1 - value) / (1 - floor)) * (HEIGHT - TOP - BOTTOM);
}

function ticks(y) {
  return [1, 0.8, 0.6, 0.4, 0.2, 0, -0.2, -0.4, -0.6, -0.8].filter((value) => y(value) <= HEIGHT - BOTTOM + 0.5);
}

function axis(layers, y) {
  const x = (layer) => LEFT + (layer / Math.max(1, layers.length - 1)) * (WIDTH - LEFT - RIGHT);
  const last = layers.length - 1;
  return [
    ticks(y).map((value) => [
      drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      drawn("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(1)),
    ]),
    layers.map((name, layer) => drawn("text", { class: "tick", x: x(layer), y: HEIGHT - 8, "text-anchor": layer === 0 ? "start" : layer === last ? "end" : "middle" }, name)),
  ].flat(2);
}

function points(values) {
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, values.length - 1);
  return (y) => values.map((value, layer) => `${LEFT + layer * step},${y(value).toFixed(1)}`).join(" ");
}

// `lines`: [{values: [by layer], group, use}]; `means`: [{name, group, values}].
export function lineChart(layers, layer, lines, means, label) {
  const y = scale([...lines, ...means].flatMap(({ values }) => values));
  const step = Math.max(1, Math.ceil(lines.length / MOST_LINES));
  const own = (made, group) => {
    made.style.setProperty("--own", `var(--g${group})`);
    return made;
  };
  const x = LEFT + (layer / Math.max(1, layers.length - 1)) * (WIDTH - LEFT - RIGHT);
  return drawn(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    drawn("line", { class: "now", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }),
    axis(layers, y),
    lines.filter((_, n) => n % step === 0).map(({ values, group, use }) => own(drawn("polyline", { class: "thin", "data-use": use, points: points(values)(y) }), group)),
    means.map(({ values, group }) => own(drawn("polyline", { class: "thick", points: points(values)(y) }), group)),
  );
}

export function meansTable(layers, means) {
  return element(
    "table",
    { class: "small" },
    element("caption", {}, "Mean cosine with the chosen use"),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Group"), layers.map((name) => element("th", { scope: "col", class: "num" }, name)))),
    element("tbody", {}, means.map(({ name, group, values }) => element("tr", {}, element("th", { scope: "row" }, mark(group), name), values.map((value) => element("td", { class: "num" }, value.toFixed(2)))))),
  );
}

// The mean of each group by layer, the chosen use left out.
export function meansOf(groups, likeness, chosen) {
  const wanted = [...groups.names.map((name, group) => [name, group]), ["no group", UNKNOWN]];
  if (!groups.names.length) wanted.splice(0, 1, ["all others", groups.of[0]]);
  return wanted
    .map(([name, group]) => {
      const own = groups.of.map((_, use) => use).filter((use) => groups.of[use] === group && use !== chosen);
      return { name, group, own: own.length, values: likeness.map((layer) => own.reduce((sum, use) => sum + layer[use], 0) / own.length) };
    })
    .filter(({ own }) => own > 0);
}
