// Where the names of groups stand on a map: near the middle of their dots, clear of each other, over as few dots as can be.

const HEIGHT = 18;
const LETTER = 7.4;
const RINGS = [0, 22, 40, 60, 85, 110];
const ANGLES = 12;

export function middles(xs, ys, of, groups) {
  return Array.from({ length: groups }, (_, group) => {
    const own = xs.map((_, n) => n).filter((n) => of[n] === group);
    if (!own.length) return null;
    const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    return [median(own.map((n) => xs[n])), median(own.map((n) => ys[n]))];
  });
}

function overlaps(a, b) {
  return Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;
}

// Labels with the middle of their boxes; one for which there is no room has none.
export function placeNames(names, points, xs, ys, width, height, size) {
  const placed = [];
  const step = Math.max(1, Math.floor(xs.length / 400));
  names.forEach((name, group) => {
    if (!points[group]) return;
    const box = { width: name.length * LETTER + 12, height: HEIGHT + 4 };
    let best = null;
    for (const ring of RINGS) {
      for (let turn = 0; turn < (ring ? ANGLES : 1); turn += 1) {
        const angle = -Math.PI / 2 + (2 * Math.PI * turn) / ANGLES;
        const half = ring ? box.width / 2 - 16 : 0; // a wide box is pushed out by its edge
        const x = points[group][0] + (ring + Math.max(0, half)) * Math.cos(angle);
        const y = points[group][1] + ring * Math.sin(angle);
        const own = { ...box, x, y };
        if (x < box.width / 2 || x > width - box.width / 2 || y < box.height / 2 || y > height - box.height / 2) continue;
        if (placed.some((other) => overlaps(own, other))) continue;
        let covered = 0;
        for (let n = 0; n < xs.length; n += step) {
          if (Math.abs(xs[n] - x) < box.width / 2 + size && Math.abs(ys[n] - y) < box.height / 2 + size) covered += 1;
        }
        const cost = covered * 30 + ring;
        if (!best || cost < best.cost) best = { ...own, cost, name, group };
      }
    }
    if (best) placed.push(best);
  });
  return placed;
}
