// What the uses are grouped by: known senses, clusters, files, or the labels that the user gives. Labels belong to uses
// and stay in this browser; a cluster is called by the label that most of its uses have.

import { GROUPS, UNKNOWN } from "./marks.js";

const KEPT = "elmo-labels:";

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null; // switched off: labels last as long as the page
  }
}

export class Labels {
  constructor(scope) {
    this.key = KEPT + scope;
    this.byUse = {};
    try {
      this.byUse = JSON.parse(storage()?.getItem(this.key) ?? "{}");
    } catch {
      this.byUse = {};
    }
  }

  of(use) {
    return this.byUse[`${use.sentence}:${use.place}`] ?? "";
  }

  give(uses, label) {
    for (const use of uses) {
      if (label) this.byUse[`${use.sentence}:${use.place}`] = label;
      else delete this.byUse[`${use.sentence}:${use.place}`];
    }
    try {
      storage()?.setItem(this.key, JSON.stringify(this.byUse));
    } catch {
      // full: the labels last as long as the page
    }
  }

  any(uses) {
    return uses.some((use) => this.of(use));
  }
}

// Which groupings a word has.
export function groupings(uses, labels) {
  const found = [];
  if (uses.some((use) => use.sense)) found.push(["sense", "known senses"]);
  found.push(["clusters", "clusters"]);
  if (new Set(uses.map((use) => use.file)).size > 1) found.push(["file", "files"]);
  if (labels.any(uses)) found.push(["labels", "my labels"]);
  found.push(["none", "nothing"]);
  return found;
}

function frequent(names) {
  const counts = new Map();
  for (const name of names) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

// The groups with their names, and the group of each use: {names, of: [number of a use's group, or UNKNOWN]}.
export function grouped(kind, uses, labels, clustering) {
  if (kind === "clusters" && clustering) {
    const names = [];
    for (let cluster = 0; cluster < clustering.count; cluster += 1) {
      const members = uses.filter((_, use) => clustering.labels[use] === cluster);
      const [best] = frequent(members.map((use) => labels.of(use)));
      const share = best ? members.filter((use) => labels.of(use) === best).length / members.length : 0;
      names.push(share > 0.5 ? best : `cluster ${cluster + 1}`);
    }
    return { names, of: clustering.labels };
  }
  const nameOf = { sense: (use) => use.sense, file: (use) => use.file?.split(/[\\/]/).pop(), labels: (use) => labels.of(use) }[kind];
  if (!nameOf) return { names: [], of: uses.map(() => (kind === "none" ? 0 : UNKNOWN)) };
  const all = kind === "file" ? [...new Set(uses.map(nameOf))] : frequent(uses.map(nameOf));
  const names = all.slice(0, GROUPS);
  const of = uses.map((use) => {
    const found = names.indexOf(nameOf(use));
    return found < 0 ? UNKNOWN : found;
  });
  return { names, of };
}
