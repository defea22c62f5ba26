// Two commits compared: both pictures under one slider, and every property that differs.

import { get } from "./api.js";
import { h, icon, named, note, visible, waiting } from "./dom.js";

const MAX_CHARACTERS = 300;

function shownValue(value) {
  if (value === null || value === undefined) return "—";
  const text = typeof value === "string" ? value : JSON.stringify(value, (_, each) => (typeof each === "number" && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each));
  return visible(text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text);
}

export function slider(before, after, captions) {
  const frame = h("div", { class: "slider" },
    h("img", { src: `data:image/webp;base64,${before}`, alt: `Picture of the scene: ${captions[0]}` }), h("img", { class: "after", src: `data:image/webp;base64,${after}`, alt: `Picture of the scene: ${captions[1]}` }),
    h("span", { class: "caption left" }, captions[0]), h("span", { class: "caption right" }, captions[1]), h("span", { class: "edge" }),
    h("input", { type: "range", min: 0, max: 100, value: 50, "aria-label": `Position of the border between ${captions[0]} and ${captions[1]}`,
      oninput: (event) => frame.style.setProperty("--cut", `${event.target.value}%`) }));
  return frame;
}

function group(kind, word, entries) {
  return entries.map((each) => h("div", { class: "change-group" },
    h("div", { class: "head" }, h("span", { class: `chip ${kind}` }, word), h("strong", { class: "clip" }, named(each.name)),
      each.old && h("span", { class: "dim clip" }, `was ${named(each.old)}`), h("span", { class: "tool" }, named(each.kind, 30))),
    each.properties && h("div", { class: "scroll-x" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Property"), h("th", { scope: "col" }, "Before"), h("th", { scope: "col" }, "After"))),
      h("tbody", {}, each.properties.map((change) => h("tr", {}, h("td", {}, named(change.property)), h("td", { class: "was" }, shownValue(change.old)), h("td", { class: "is" }, shownValue(change.new)))))))));
}

export function differenceCard(found) {
  const { totals } = found;
  const total = Object.values(totals).reduce((sum, each) => sum + each, 0);
  const body = [...group("ok", "created", found.created), ...group("info", "changed", found.changed), ...group("info", "renamed", found.renamed ?? []), ...group("bad", "removed", found.removed)];
  return h("section", { class: "card" },
    h("header", {}, h("h2", { class: "grow" }, "Differences"), ["created", "changed", "renamed", "removed"].filter((name) => totals[name]).map((name) =>
      h("span", { class: `chip ${{ created: "ok", removed: "bad" }[name] ?? "info"}` }, `${totals[name]} ${name}`))),
    total ? body : h("p", { class: "inside dim" }, found.unseen ? "The scenes differ in data that a snapshot does not contain." : "The scenes are equal."));
}

export function compareView(place, before, after) {
  const pictures = h("div", {}, waiting("Rendering both pictures from the same position…"));
  const differences = h("div", {}, waiting("Comparing property by property…"));
  let ended = false;
  const swap = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    place.go("history", "compare", Number(form.get("before")), Number(form.get("after")));
  };
  const number = (name, label, value) => h("label", { class: "row" }, label,
    h("input", { class: "field", type: "number", name, min: 1, max: place.state.total, value, style: { width: "92px" }, required: true }));
  const element = h("article", { class: "padded" },
    h("a", { class: "button quiet back", href: place.address("history") }, icon("back"), "All commits"),
    h("header", { class: "row wrap" }, h("h1", { class: "grow" }, `Commits ${before} and ${after}`),
      h("form", { class: "row wrap", onsubmit: swap }, number("before", "Before", before), number("after", "After", after), h("button", { class: "button", type: "submit" }, icon("compare"), "Compare"))),
    pictures, differences);

  const load = async (path, into, show) => {
    try {
      const found = await get(`${place.path}/compare/${before}/${after}${path}`);
      if (!ended) into.replaceChildren(show(found));
    } catch (error) {
      if (!ended) into.replaceChildren(note("bad", error.message, error.cure));
    }
  };
  load("", differences, differenceCard).then(() => load("/pictures", pictures, (pair) =>
    pair.before ? slider(pair.before, pair.after, [`commit ${before}`, `commit ${after}`]) : note("info", "At least one of these scenes is empty.")));
  return { element, end() { ended = true; } };
}
