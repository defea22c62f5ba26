// The scene of a commit in 3D, its objects with their authors, and the findings of an audit.

import { get, raw } from "./api.js";
import { button, empty, h, icon, named, note, plural, waiting } from "./dom.js";
import { author } from "./history.js";
import { SceneView } from "./scene-view.js";

const ICONS = { MESH: "mesh", LIGHT: "light", CAMERA: "camera" };
const TONES = { error: "bad", warning: "warn", info: "info" };
const PAGE = 200;

export function scene(place, rest) {
  const stage = h("div", { class: "view" });
  const veil = h("div", { class: "veil" });
  const heading = h("div", { class: "row wrap" });
  const about = h("span", { class: "chip" });
  const list = h("div", { class: "list" });
  const filter = h("input", { class: "field", type: "search", placeholder: "Find an object", "aria-label": "Find an object", oninput: () => shows(), style: { margin: "10px 12px" } });
  const tabs = { objects: button("Objects", null, () => choose("objects"), { "aria-pressed": "true" }), audit: button("Findings", null, () => choose("audit"), { "aria-pressed": "false" }) };
  const element = h("div", { class: "scene" },
    h("section", { class: "stage", "aria-label": "Scene" }, stage, veil, h("div", { class: "over top" }, heading),
      h("div", { class: "over bottom" }, about, h("span", { class: "grow" }), button("Frame everything", "frame", () => view?.frame(view.selected), { only: true, class: "card" }))),
    h("aside", { class: "panel", "aria-label": "Objects and findings" }, h("div", { class: "segments" }, tabs.objects, tabs.audit), filter, list));
  let [view, number, mode, objects, audit, ended] = [null, 0, "objects", null, null, false];

  stage.addEventListener("pick", ({ detail }) => {
    shows();
    list.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
    void detail;
  });
  const themed = () => view?.refresh();
  addEventListener("themechange", themed);
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  preferred.addEventListener("change", themed);

  const choose = (name) => {
    mode = name;
    for (const [each, tab] of Object.entries(tabs)) tab.setAttribute("aria-pressed", each === name);
    filter.classList.toggle("hidden", name !== "objects");
    shows();
  };

  const select = (name) => {
    view?.select(view.selected === name ? null : name);
    if (view?.selected && view.objects.includes(name)) view.frame(name);
    shows();
  };

  const blamed = ({ type, blame }) => {
    if (!blame) return `${type.toLowerCase()} · existed when the workspace began`;
    const { first, last } = blame;
    return `${author({ by: first.by, name: first.name })}${first.commit === last.commit ? "" : ` · last changed in #${last.commit}`}`;
  };

  const objectRow = (each) => {
    const made = each.blame?.first;
    return h("div", { class: "object-row" }, h("button", { type: "button", "aria-pressed": view?.selected === each.name, onclick: () => select(each.name) },
      icon(ICONS[each.type] ?? "dot"),
      h("span", { class: "stack", style: { gap: "0" } }, h("span", { class: "clip" }, named(each.name)),
        h("span", { class: "dim clip", style: { "font-size": "12px" } }, blamed(each)))),
      made && h("a", { class: "chip", href: place.address("history", made.commit), title: named(made.asked ?? made.request, 200) }, `#${made.commit}`));
  };

  const finding = (each) => h("div", { class: "finding" },
    h("div", { class: "row" }, h("span", { class: `chip ${TONES[each.severity] ?? ""}` }, each.severity), h("strong", { class: "clip" }, named(each.object ?? "scene")), h("span", { class: "grow" }), h("span", { class: "tool" }, named(each.rule, 40))),
    h("p", { class: "dim" }, [audit.rules.find((rule) => rule.rule === each.rule)?.meaning, each.other && `(${named(each.other, 60)})`].filter(Boolean).join(" ")));

  const shows = () => {
    if (mode === "objects") {
      if (objects === null) return list.replaceChildren(waiting("Loading the objects…"));
      if (objects instanceof Error) return list.replaceChildren(note("bad", objects.message, objects.cure));
      const words = filter.value.trim().toLowerCase();
      const found = objects.filter((each) => each.name.toLowerCase().includes(words));
      list.replaceChildren(...found.slice(0, PAGE).map(objectRow), ...(found.length > PAGE ? [h("p", { class: "finding dim" }, `and ${found.length - PAGE} more: search for their names`)] : []),
        ...(found.length ? [] : [empty("scene", words ? "No matching objects" : "The scene is empty", null)]));
      return undefined;
    }
    if (audit === null) return list.replaceChildren(waiting("Auditing the scene…"));
    if (audit instanceof Error) return list.replaceChildren(note("bad", audit.message, audit.cure));
    list.replaceChildren(...(audit.findings.length ? audit.findings.slice(0, PAGE).map(finding) : [empty("check", "No findings", "The audit found no problems in this scene.")]));
    return undefined;
  };

  const open = async (which) => {
    const wanted = which || place.state.head;
    if (!wanted) {
      veil.replaceChildren(empty("scene", "There is no scene yet", "Run a plan to see its scene here."));
      objects = [];
      audit = { rules: [], findings: [] };
      shows();
      return;
    }
    if (wanted === number) return;
    number = wanted;
    [objects, audit] = [null, null];
    heading.replaceChildren(h("h1", { class: "visually-hidden" }, "Scene"), h("span", { class: "chip accent" }, number === place.state.head ? `HEAD · commit ${number}` : `commit ${number}`),
      number !== place.state.head && h("a", { class: "button", href: place.address("scene") }, "Show HEAD") || "");
    if (!view) veil.replaceChildren(waiting("Loading the scene…"));
    shows();
    const still = () => !ended && number === wanted;
    try {
      const answer = await raw(`${place.path}/scenes/${wanted}/glb`);
      if (!still()) return;
      if (answer.status === 204) {
        view?.dispose();
        view = null;
        veil.replaceChildren(empty("scene", "This scene is empty", null));
        about.textContent = "empty";
      } else {
        const bytes = new Uint8Array(await answer.arrayBuffer());
        const position = view?.position;
        const selected = view?.selected;
        view?.dispose();
        view = new SceneView(stage, bytes);
        if (position) view.position = position;
        if (selected) view.select(selected);
        element.view = view;
        veil.replaceChildren();
        about.textContent = `${plural(view.objects.length, "object")} · ${plural(Math.round(view.triangles), "triangle")} · ${(bytes.length / 1048576).toFixed(1)} MB`;
      }
    } catch (error) {
      if (still()) veil.replaceChildren(note("bad", error.message, error.cure));
    }
    try {
      const found = (await get(`${place.path}/scenes/${wanted}/objects`)).objects;
      if (!still()) return;
      objects = found;
      tabs.objects.textContent = `Objects ${found.length}`;
    } catch (error) {
      objects = error;
    }
    shows();
    try {
      const found = await get(`${place.path}/scenes/${wanted}/audit`);
      if (!still()) return;
      audit = found;
      tabs.audit.textContent = `Findings ${found.findings.length}`;
    } catch (error) {
      audit = error;
    }
    shows();
  };

  let follows = !Number(rest[0]);
  const changed = ({ detail }) => {
    if (follows && detail.state.head !== number) {
      clearTimeout(later);
      later = setTimeout(() => open(place.state.head), 600);
    }
  };
  let later = 0;
  place.live.addEventListener("changes", changed);
  open(Number(rest[0]));
  return {
    element,
    show(where) {
      follows = !Number(where[0]);
      open(Number(where[0]));
    },
    end() {
      ended = true;
      clearTimeout(later);
      place.live.removeEventListener("changes", changed);
      removeEventListener("themechange", themed);
      preferred.removeEventListener("change", themed);
      view?.dispose();
    },
  };
}
