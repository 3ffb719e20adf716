// What can be taken along: the map as a picture, the uses as a table, all numbers, a link, the page as one file.

import { joined } from "./elements.js";
import { heat } from "./heat.js";
import { printedColour, shape, UNKNOWN } from "./marks.js";
import { placeNames, middles } from "./placing.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif";

function escape(text) {
  return String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);
}

export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The map as it stands, in the colours for paper, with its legend.
export function mapPicture(map, scene) {
  const [width, height, top] = [760, 560, 56];
  const [xs, ys] = map.placesAt(scene.layer, width, height);
  const { names, of } = scene.groups;
  const labels = map.isOnePoint() ? [] : placeNames(names, middles(xs, ys, of, names.length), xs, ys, width, height, map.size);
  const dots = xs.map((x, n) => `<path d="${shape(of[n])}" fill="${printedColour(of[n])}" stroke="#ffffff" stroke-width="${(1 / map.size).toFixed(2)}" transform="translate(${x.toFixed(1)} ${(ys[n] + top).toFixed(1)}) scale(${map.size})"><title>${escape(joined(scene.data.uses[n].tokens))}</title></path>`);
  const texts = labels.map(({ x, y, name, group }) => `<text x="${x.toFixed(1)}" y="${(y + top + 5).toFixed(1)}" text-anchor="middle" font-size="14" font-weight="600" fill="${printedColour(group)}" stroke="#ffffff" stroke-width="4" paint-order="stroke">${escape(name)}</text>`);
  let [x, y] = [20, top + height + 22];
  const legend = [...names.keys(), ...(of.includes(UNKNOWN) ? [UNKNOWN] : [])].map((group) => {
    const name = names[group] ?? "other";
    const wide = name.length * 7.5 + 44;
    if (x + wide > width) [x, y] = [20, y + 24];
    const made = `<path d="${shape(group)}" fill="${printedColour(group)}" transform="translate(${x + 7} ${y - 5}) scale(6)"/><text x="${x + 20}" y="${y}" font-size="13" fill="#1d2230">${escape(name)}</text>`;
    x += wide;
    return made;
  });
  const title = `“${scene.data.word}”: ${scene.data.uses.length} uses, layer ${scene.layers[scene.layer]}`;
  const end = y + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${end}" viewBox="0 0 ${width} ${end}" font-family="${FONT}"><rect width="100%" height="100%" fill="#ffffff"/><text x="20" y="34" font-size="19" font-weight="600" fill="#1d2230">${escape(title)}</text><rect x="10" y="${top - 6}" width="${width - 20}" height="${height + 6}" rx="8" fill="none" stroke="#d9d7d0"/>${dots.join("")}${texts.join("")}${legend.join("")}</svg>`;
}

// The heat map of two sentences.
export function heatPicture(found, layer, layers) {
  const side = 40;
  const left = 20 + 9 * Math.max(...found.first.map((word) => word.length));
  const top = 60 + 7 * Math.max(...found.second.map((word) => word.length));
  const [width, height] = [left + side * found.second.length + 20, top + side * found.first.length + 20];
  const heads = found.second.map((word, n) => `<text transform="translate(${left + side * n + 24} ${top - 8}) rotate(-50)" font-size="14" fill="#1d2230">${escape(word)}</text>`);
  const rows = found.first.map((word, row) => {
    const cells = found.cosines[layer][row].map((value, column) => {
      const { back, ink } = heat(value, "light");
      const [x, y] = [left + side * column, top + side * row];
      return `<rect x="${x}" y="${y}" width="${side - 2}" height="${side - 2}" fill="${back}" stroke="#d9d7d0"/><text x="${x + side / 2 - 1}" y="${y + 24}" text-anchor="middle" font-size="12" fill="${ink}">${value.toFixed(2)}</text>`;
    });
    return `<text x="${left - 8}" y="${top + side * row + 24}" text-anchor="end" font-size="14" fill="#1d2230">${escape(word)}</text>${cells.join("")}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.max(width, 300)}" height="${height}" viewBox="0 0 ${Math.max(width, 300)} ${height}" font-family="${FONT}"><rect width="100%" height="100%" fill="#ffffff"/><text x="16" y="28" font-size="16" font-weight="600" fill="#1d2230">Cosines, layer ${escape(layers[layer])}</text>${heads.join("")}${rows.join("")}</svg>`;
}

export async function toPng(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * 2, image.naturalHeight * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// A cell that begins like a formula is one to spreadsheets, whoever wrote the text.
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function table(rows) {
  return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

export function usesTable({ data, groups, labels, likeness, layers, clustering }) {
  const head = ["sentence", "place", "left", "word", "right", "group", "sense", "label", "cluster", "file", "line", ...layers.map((name) => `cosine ${name}`), ...layers.flatMap((name) => [`x ${name}`, `y ${name}`])];
  const rows = data.uses.map((use, n) => {
    const own = [use.tokens.slice(0, use.place).join(" "), use.tokens[use.place], use.tokens.slice(use.place + 1).join(" ")];
    const group = groups.of[n] === UNKNOWN ? "" : (groups.names[groups.of[n]] ?? "");
    const cosines = layers.map((_, at) => (likeness ? likeness[at][n] : ""));
    return [use.sentence + 1, use.place + 1, ...own, group, use.sense, labels.of(use), clustering ? clustering.labels[n] + 1 : "", use.file, use.line, ...cosines, ...data.points.flatMap((points) => points[n])];
  });
  return table([head, ...rows]);
}

export function usesObject({ data, groups, labels, likeness, chosen, layers, layer, clustering }, { model, source }, address) {
  const uses = data.uses.map((use, n) => ({
    ...use,
    group: groups.of[n] === UNKNOWN ? null : (groups.names[groups.of[n]] ?? null),
    label: labels.of(use) || null,
    cluster: clustering ? clustering.labels[n] + 1 : null,
    points: data.points.map((points) => points[n]),
    cosines: likeness ? likeness.map((values) => values[n]) : null,
  }));
  return JSON.stringify({ model, source, address, word: data.word, found: data.found, layers, layer: layers[layer], explained: data.explained, silhouette: clustering?.silhouette ?? null, chosen: chosen < 0 ? null : chosen, uses }, null, 1);
}

export function pairsTable(found, layers) {
  const rows = found.first.flatMap((first, row) => found.second.map((second, column) => [row + 1, first, column + 1, second, ...layers.map((_, layer) => found.cosines[layer][row][column])]));
  return table([["place 1", "word 1", "place 2", "word 2", ...layers.map((name) => `cosine ${name}`)], ...rows]);
}
