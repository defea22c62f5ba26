// One case of a batch: its parameters, its result, its times, and its files.

import { get, raw, save } from "./api.js";
import { ago, clock, duration, h, icon, named, note, pretty, shortHash, waiting } from "./dom.js";

export const STATES = { done: ["ok", "done"], failed: ["bad", "failed"], running: ["accent", "running"], waiting: ["", "waiting"] };
const units = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
const size = (bytes) => {
  const [unit, one] = units.find(([, one]) => bytes >= one) ?? ["B", 1];
  return `${one === 1 ? bytes : (bytes / one).toFixed(1)} ${unit}`;
};

const filePath = (place, number, name) => `${place.path}/cases/${number}/files/${name.split("/").map(encodeURIComponent).join("/")}`;
// The page loads pictures up to this far outside the visible area.
const NEAR = "1250px 0px";

// Returns an element that loads a case's picture when it becomes visible.
export function casePicture(place, number, name, given) {
  const image = h("img", { ...given, decoding: "async", draggable: "false" });
  const show = async () => {
    try {
      image.src = URL.createObjectURL(await (await raw(filePath(place, number, name))).blob());
      await image.decode();
    } catch {
      image.replaceWith(icon("warn"));
    }
    URL.revokeObjectURL(image.src);
  };
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((each) => each.isIntersecting)) return;
    seen.disconnect();
    show();
  }, { root: document.getElementById("content"), rootMargin: NEAR });
  seen.observe(image);
  return image;
}

function files(place, number, row) {
  if (!row.files.length) return h("p", { class: "inside dim" }, "This case made no files.");
  return h("div", { class: "scroll-x", tabindex: 0, role: "region", "aria-label": "Files" }, h("table", {},
    h("thead", {}, h("tr", {}, ["File", "Size", "sha256"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, row.files.map((file) => h("tr", {},
      h("td", {}, row.has_files
        ? h("button", { type: "button", class: "link", onclick: () => save(filePath(place, number, file.name), file.name.split("/").at(-1)) }, named(file.name, 120))
        : named(file.name, 120)),
      h("td", { class: "dim" }, Number.isFinite(file.bytes) ? size(file.bytes) : ""),
      h("td", { class: "mono dim", title: named(file.sha256 ?? "", 80) }, named(file.sha256 ?? "", 13))))),
    row.total_files > row.files.length && h("tbody", {}, h("tr", {}, h("td", { colspan: 3, class: "dim" }, `and ${row.total_files - row.files.length} more`)))));
}

function times(row) {
  const all = Object.entries(row.times);
  const longest = Math.max(...all.map(([, seconds]) => seconds), 1e-9);
  return h("dl", { class: "facts" }, all.flatMap(([name, seconds]) => [h("dt", {}, named(name, 30)),
    h("dd", {}, h("div", { class: "row" }, h("span", { class: "meter grow" }, h("i", { class: "run", style: { "--part": `${(100 * seconds) / longest}%` } })), h("span", { class: "dim" }, duration(seconds * 1000))))]));
}

export function caseView(place, number) {
  const element = h("article", { class: "page wide" }, waiting("Loading the case…"));
  const [total, finished] = [Object.values(place.state.counts).reduce((sum, each) => sum + each, 0), ["done", "failed"]];
  let [ended, seen] = [false, ""];

  const load = async () => {
    try {
      const found = await get(`${place.path}/cases/${number}`);
      const text = JSON.stringify(found);
      if (!ended && text !== seen) fill(found);
      seen = text;
    } catch (error) {
      if (!ended) element.replaceChildren(h("a", { class: "button quiet", href: place.address("cases") }, icon("back"), "All cases"), note("bad", error.message, error.cure));
    }
  };

  const fill = (found) => {
    const [tone, word] = STATES[found.status];
    const { row } = found;
    const facts = [
      found.source && ["Row", named(found.source, 120)],
      row?.scene_hash && ["Scene", h("span", { class: "mono", title: row.scene_hash }, shortHash(row.scene_hash))],
      row && ["Operations", `${row.operations}, ${row.reused} of them reused`],
      found.attempts > 0 && ["Attempts", String(found.attempts)],
      found.worker && ["Worker process", named(found.worker, 80)],
      row?.finished && ["Finished", `${clock(row.finished)} (${ago(row.finished)})`],
      row?.memory_mb > 0 && ["Memory", `${row.memory_mb} MB`],
      row?.location && [place.engine ? "Location" : "Directory", h("span", { class: "mono" }, named(row.location, 240))],
      place.state.keep && place.state.keep !== "drop" && row?.location && !place.engine && ["Workspace", h("code", {}, named(`blendwright ui ${row.location}/workspace`, 300))],
      ["Key", h("span", { class: "mono", title: found.key }, found.key.slice(0, 16))],
    ].filter(Boolean);
    const step = (label, symbol, to, on) => on && h("a", { class: "button quiet icon-only", href: place.address("cases", "case", to), title: label }, icon(symbol), h("span", { class: "visually-hidden" }, label));
    element.replaceChildren(
      h("header", { class: "row wrap" }, h("a", { class: "button quiet", href: place.address("cases") }, icon("back"), "All cases"),
        h("h1", {}, `Case ${String(number).padStart(6, "0")}`), h("span", { class: `chip ${tone}` }, word), h("span", { class: "grow" }),
        step("Previous case", "back", number - 1, number > 0), step("Next case", "go", number + 1, number + 1 < total)),
      ...(row?.findings ?? []).map((finding) => note("bad", `${finding.code}: ${finding.message}${finding.pointer ? ` (${finding.pointer})` : ""}`, finding.cure)),
      h("div", { class: "columns" },
        h("div", { class: "stack" },
          row?.picture && h("div", { class: "figure" }, h("div", { class: "picture" }, casePicture(place, number, row.picture, { alt: `The picture of case ${number}` }))),
          h("section", { class: "card" }, h("header", {}, h("h2", {}, "Parameters")), h("div", { class: "inside" }, h("pre", { class: "code wrapped", tabindex: 0 }, pretty(found.params)))),
          row && h("section", { class: "card" }, h("header", {}, h("h2", {}, "Files")), files(place, number, row),
            row.files.length > 0 && !row.has_files && h("p", { class: "inside dim" }, "This machine cannot read the files. See their location."))),
        h("div", { class: "stack" },
          h("section", { class: "card" }, h("header", {}, h("h2", {}, "About")), h("div", { class: "inside" }, h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])))),
          row && h("section", { class: "card" }, h("header", {}, h("h2", {}, "Times")), h("div", { class: "inside" }, times(row))))));
  };

  const changed = () => {
    if (!finished.includes(seen && JSON.parse(seen).status)) load();
  };
  for (const name of ["changes", "back"]) place.live.addEventListener(name, changed);
  load();
  return {
    element,
    end() {
      ended = true;
      for (const name of ["changes", "back"]) place.live.removeEventListener(name, changed);
    },
  };
}
