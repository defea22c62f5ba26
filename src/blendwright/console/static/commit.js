// One commit: its picture, its author, its changes, and actions that start from it.

import { act, get, save } from "./api.js";
import { ago, ask, button, clock, h, icon, named, note, pretty, requestName, shortHash, waiting } from "./dom.js";
import { author, title, WHO } from "./history.js";

const KINDS = { created: "ok", changed: "info", removed: "bad", renamed: "info" };
const MAX_CHANGES = 60;

function actions(place, commit) {
  const number = commit.number;
  const { head, redo } = place.state;
  const off = place.readOnly;
  const busy = (made) => async (path, body, done) => {
    made.classList.add("busy");
    await act(`${place.path}/${path}`, body, done);
    made.classList.remove("busy");
  };
  const move = (label, symbol, kind, more, done) => {
    const made = button(label, symbol, () => busy(made)("move", { kind, ...more.body }, done), { ...more.attributes, disabled: off || more.disabled });
    return made;
  };
  const list = [];
  if (number === head) {
    list.push(move("Undo", "undo", "undo", { disabled: commit.parent === null, attributes: { class: "primary" } }, (moved) => `HEAD is at commit ${moved.head}`));
    if (redo) list.push(move("Redo", "redo", "redo", {}, (moved) => `HEAD is at commit ${moved.head}`));
  } else {
    list.push(move("Go here", "go", "checkout", { body: { to: number }, attributes: { class: "primary" } }, (moved) => `HEAD is at commit ${moved.head}`));
    if (redo === number) list.push(move("Redo", "redo", "redo", {}, (moved) => `HEAD is at commit ${moved.head}`));
  }
  const link = (label, symbol, href, more = {}) => h("a", { class: "button", href, ...more }, icon(symbol), label);
  list.push(link("Open in 3D", "scene", place.address("scene", number)));
  if (commit.parent !== null) list.push(link("Compare", "compare", place.address("history", "compare", commit.parent, number), { title: "Compare with the previous commit" }));
  if (head && number !== head) list.push(link("With HEAD", "compare", place.address("history", "compare", Math.min(number, head), Math.max(number, head)), { title: "Compare with the scene of HEAD" }));
  const tagged = button("Tag", "tag", async () => {
    const name = await ask("Name this commit", `The name becomes a tag of commit ${number}.`, { field: "Name", action: "Tag" });
    if (name) await busy(tagged)("tags", { name, number }, `Commit ${number} is “${named(name, 60)}”`);
  }, { disabled: off });
  const branched = button("Branch", "fork", async () => {
    const name = await ask("Start a branch here", `HEAD moves to commit ${number}, and later commits belong to the new branch.`, { field: "Name", action: "Start" });
    if (name) await busy(branched)("branches", { name, create_at: number }, `On the new branch “${named(name, 60)}”`);
  }, { disabled: off });
  const forked = button("Fork", "workspace", async () => {
    const name = await ask("Fork into a new workspace", `Creates a directory next to this workspace that starts with the scene of commit ${number}.`, { field: "Directory", action: "Fork" });
    if (!name) return;
    forked.classList.add("busy");
    const made = await act(`${place.path}/forks`, { name, number }, ({ workspace }) => `Created workspace ${named(workspace.name, 60)}`);
    forked.classList.remove("busy");
    if (made) place.opened(made.workspace);
  }, { disabled: off });
  list.push(tagged, branched, forked,
    saved(place, number, "blend", "Download the scene as a .blend file"), saved(place, number, "glb", "Download the scene as a GLB file"));
  return h("div", { class: "actions" }, ...list);
}

function saved(place, number, kind, title) {
  const made = button(`.${kind}`, "download", async () => {
    made.classList.add("busy");
    await save(`${place.path}/scenes/${number}/${kind}?download=1`, `scene-${number}.${kind}`);
    made.classList.remove("busy");
  }, { title });
  return made;
}

function changeList(changes) {
  const told = changes.filter((each) => each.kind !== "member");
  if (!told.length) return h("p", { class: "dim" }, "This commit did not change the scene.");
  return h("ul", { class: "changes" },
    told.slice(0, MAX_CHANGES).map((each) => h("li", {}, h("span", { class: `chip ${KINDS[each.change] ?? ""}` }, named(each.change, 20)),
      h("span", { class: "clip" }, named(each.name)), h("span", { class: "dim tool" }, named(each.kind, 30)))),
    told.length > MAX_CHANGES && h("li", { class: "dim" }, `and ${told.length - MAX_CHANGES} more`));
}

export function commitView(place, pictures, number) {
  const element = h("article", { class: "padded" }, waiting("Loading the commit…"));
  let ended = false;

  const load = async () => {
    try {
      const details = await get(`${place.path}/commits/${number}`);
      if (!ended) fill(details);
    } catch (error) {
      if (!ended) element.replaceChildren(note("bad", error.message, error.cure));
    }
  };

  const fill = (details) => {
    const { receipt } = details;
    const commit = { ...details, hash: details.hash_after, operation: details.operation_id };
    const large = pictures.element(commit, "large");
    const { who } = details;
    const facts = [
      ["Author", h("span", { class: "row" }, icon(WHO[who.by]), author(who))],
      details.asked && ["Request", named(details.asked, 240)],
      ["Request id", h("span", { class: "mono", title: named(details.request_id, 200) }, requestName(details.request_id))],
      ["Operation", h("span", { class: "mono" }, named(details.operation_id))],
      details.approved_by && ["Approved by", named(details.approved_by, 80)],
      ["When", `${clock(details.timestamp)} (${ago(details.timestamp)})`],
      ["Scene", h("span", { class: "mono", title: details.hash_after }, shortHash(details.hash_after))],
      ["Determinism", receipt.determinism_class ? named(receipt.determinism_class, 40) : "—"],
      ["Audit record", `${details.audit_sequence}`],
    ].filter(Boolean);
    element.replaceChildren(
      h("a", { class: "button quiet back", href: place.address("history") }, icon("back"), "All commits"),
      h("header", { class: "stack", style: { gap: "8px" } },
        h("div", { class: "row wrap" }, h("h1", {}, title(commit)), h("span", { class: "chip" }, `#${number}`),
          number === place.state.head && h("span", { class: "chip accent" }, "HEAD"), details.branches.map((name) => h("span", { class: "chip ok" }, named(name, 40))), details.tags.map((tag) => h("span", { class: "chip info" }, named(tag, 40)))),
        h("p", { class: "tool" }, `${named(details.tool, 80)} · version ${details.tool_version}`)),
      actions(place, details),
      h("div", { class: "columns" },
        h("div", { class: "figure" }, large.frame),
        h("div", { class: "stack" },
          h("section", { class: "card" }, h("header", {}, h("h2", {}, "About")), h("div", { class: "inside" }, h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])))),
          h("section", { class: "card" }, h("header", {}, h("h2", {}, "Changes")), h("div", { class: "inside" }, changeList(receipt.changes ?? []))))),
      h("section", { class: "card" }, h("div", { class: "inside" },
        h("details", { open: true }, h("summary", {}, "Arguments"), h("pre", { class: "code", tabindex: 0 }, pretty(details.args))),
        h("details", {}, h("summary", {}, "Receipt"), h("pre", { class: "code", tabindex: 0 }, pretty(receipt))))));
    large.want();
  };

  load();
  return { element, refresh: load, end() { ended = true; } };
}
