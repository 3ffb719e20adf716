// The legend: the groups with their marks, their names to be changed, and the label of those that the lasso holds.

import { count, element } from "./elements.js";
import { mark, UNKNOWN } from "./marks.js";

export class Legend {
  // `on`: label(uses, text), mark(uses).
  constructor(on) {
    this.on = on;
    this.node = element("div", { class: "legend" });
  }

  show({ data, groups, kind, marked, clustering }) {
    const members = (group) => data.uses.map((_, use) => use).filter((use) => groups.of[use] === group);
    const rows = groups.names.map((name, group) => this.row(name, group, members(group), kind));
    const rest = members(UNKNOWN);
    if (rest.length && groups.names.length) {
      const what = kind === "labels" ? "no label" : kind === "sense" ? "sense not known" : "others";
      rows.push(element("li", {}, mark(UNKNOWN), element("span", {}, what), element("span", { class: "num" }, String(rest.length))));
    }
    this.node.replaceChildren(
      ...[
        rows.length ? element("ul", { "aria-label": "Groups" }, rows) : null,
        kind === "clusters" && clustering ? element("p", { class: "hint" }, `Silhouette ${clustering.silhouette.toFixed(2)} (1: far apart, 0: no clusters). Type a name for a cluster to label its uses.`) : null,
        kind === "clusters" && !clustering ? element("p", { class: "hint" }, "There are no clusters here: the vectors of this layer do not differ.") : null,
        marked.size ? this.markedRow(marked) : null,
      ].filter(Boolean),
    );
  }

  row(name, group, members, kind) {
    const all = element("button", { type: "button", class: "plain", title: "Mark these uses", "aria-label": `Mark the ${members.length} uses of ${name}`, onclick: () => this.on.mark(new Set(members)) }, mark(group));
    const editable = kind === "clusters" || kind === "labels";
    const input = editable
      ? element("input", { value: name, "aria-label": `Name of group ${group + 1}`, maxlength: "60", size: "12", onchange: (event) => this.on.label(members, event.target.value.trim() === `cluster ${group + 1}` ? "" : event.target.value.trim()) })
      : element("span", { class: "groupname" }, name);
    return element("li", {}, all, input, element("span", { class: "num" }, String(members.length)));
  }

  markedRow(marked) {
    const input = element("input", { "aria-label": "Label for the marked uses", placeholder: "a label, such as: river", maxlength: "60" });
    const give = (event) => {
      event.preventDefault();
      this.on.label([...marked], input.value.trim());
    };
    return element(
      "form",
      { class: "row markedform", onsubmit: give },
      element("b", {}, `${count(marked.size, "use")} marked`),
      input,
      element("button", { type: "submit" }, "Label"),
      element("button", { type: "button", onclick: () => this.on.mark(new Set()) }, "Unmark"),
    );
  }
}
