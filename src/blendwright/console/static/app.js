// The frame of the page: the session, the workspace or batch and the view that the address names, and the state in the header.

import { ApiError, ahead, enter, forget, get, leave, session } from "./api.js";
import { button, empty, h, icon, named, note, toast } from "./dom.js";
import { Live } from "./live.js";
import { commitsPath, historyView } from "./history.js";

// The views of a workspace and of a batch. The first one opens by default; the page loads the others on demand.
const VIEWS = {
  workspace: {
    history: ["History", "history", () => historyView],
    plans: ["Plans", "plan", async () => (await import("./plans.js")).plans],
    lines: ["Branches", "merge", async () => (await import("./lines.js")).lines],
    approvals: ["Approvals", "approval", async () => (await import("./approvals.js")).approvals],
    scene: ["Scene", "scene", async () => (await import("./scene.js")).scene],
    proof: ["Proof", "proof", async () => (await import("./proof.js")).proof],
  },
  batch: {
    cases: ["Cases", "list", async () => (await import("./batch.js")).batchCases],
    pictures: ["Pictures", "batch", async () => (await import("./batch.js")).batchPictures],
  },
};
// Functions that combine several changes within one frame into one.
const TOGETHER = {
  workspace: (changes) => ({ state: changes.at(-1).state, records: changes.flatMap((each) => each.records), runs: changes.some((each) => each.runs) }),
  batch: (changes) => changes.at(-1),
};
const NOTHING = {
  workspace: { head: null, length: 0, total: 0, redo: null, tags: {}, branches: [], approvals: 0, quarantine: null, holder: null },
  batch: { program: null, counts: { waiting: 0, running: 0, done: 0, failed: 0 }, pause: 0, runs: false, failures: [] },
};
const AGAIN_MS = 2000;
const THEMES = { auto: ["Theme: same as the system", "auto"], light: ["Theme: light", "sun"], dark: ["Theme: dark", "moon"] };

const root = document.getElementById("app");
let shell = null;

const pathOf = (kind, id) => `${kind === "batch" ? "batches" : "workspaces"}/${id}`;

// A workspace or batch as its views see it: its address, its state, and a source of live events.
class Place {
  constructor(kind, { id, name, engine = null }) {
    Object.assign(this, { kind, id, name, engine, path: pathOf(kind, id), state: null });
    this.live = new Live(this.path, TOGETHER[kind]);
  }

  address(view, ...rest) {
    return `#/${[this.id, view, ...rest].join("/")}`;
  }

  go(view, ...rest) {
    location.hash = this.address(view, ...rest);
  }

  // Adds a workspace that this page created, and opens it.
  opened(workspace) {
    if (!session.workspaces.some((each) => each.id === workspace.id)) session.workspaces.push(workspace);
    dispatchEvent(new Event("workspaces"));
    location.hash = `#/${workspace.id}/history`;
  }

  get readOnly() {
    return session.readOnly;
  }
}

class Shell {
  #place = null; #opening = null; #turn = 0; #view = null; #name = ""; #tabs = new Map(); #bar; #main; #live; #choice; #count; #running = 0;

  constructor() {
    this.#main = h("main", { id: "content", tabindex: -1 });
    this.#live = h("span", { class: "live wide-only" }, "live");
    this.#count = h("span", { class: "count hidden" });
    this.#choice = h("select", { class: "field", "aria-label": "Workspace", onchange: (event) => { location.hash = `#/${event.target.value}`; } });
    const options = (told) => told.map(({ id, name, directory }) => h("option", { value: id, title: named(directory, 300) }, named(name, 60)));
    const list = () => this.#choice.replaceChildren(...(session.batches.length
      ? [["Workspaces", session.workspaces], ["Batches", session.batches]].filter(([, told]) => told.length).map(([label, told]) => h("optgroup", { label }, options(told)))
      : options(session.workspaces)));
    addEventListener("workspaces", list);
    list();
    this.#bar = h("nav", { class: "tabs", "aria-label": "Views" });
    root.replaceChildren(h("div", { class: "shell" },
      h("header", { class: "bar" }, h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "" }), h("span", {}, "Blendwright")), this.#choice),
      this.#bar,
      h("div", { class: "state" }, session.readOnly && h("span", { class: "chip warn" }, "read-only"), this.#live, themeButton(),
        button("End this session", "leave", leave, { only: true, class: "wide-only" })),
      this.#main));
    addEventListener("hashchange", () => this.show());
    setInterval(() => this.#beat(), 1000);
  }

  async show() {
    const turn = ++this.#turn;
    const [, id, name = "", ...rest] = location.hash.split("/").map(decodeURIComponent);
    const batch = session.batches.find((each) => each.id === id);
    const told = batch ?? session.workspaces.find((each) => each.id === id);
    if (!told) {
      location.replace(`#/${[...session.workspaces, ...session.batches][0].id}`);
      return;
    }
    const kind = batch ? "batch" : "workspace";
    if (this.#place?.id !== told.id) this.#opening = this.#open(kind, told);
    await this.#opening;
    if (turn !== this.#turn) return; // the user has navigated on in the meantime
    const views = VIEWS[kind];
    const view = Object.hasOwn(views, name) ? name : Object.keys(views)[0];
    for (const [each, tab] of this.#tabs) {
      tab.href = this.#place.address(each);
      if (each === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    document.title = `${views[view][0]} · ${named(told.name, 60)} · Blendwright`;
    if (this.#view && this.#name === view && this.#view.show) {
      this.#view.show(rest);
      return;
    }
    this.#view?.end?.();
    [this.#name, this.#view] = [view, null];
    try {
      const create = await views[view][2]();
      if (turn !== this.#turn) return;
      this.#view = create(this.#place, rest);
      this.#main.replaceChildren(this.#view.element);
      forget();
    } catch (error) {
      if (turn === this.#turn) this.#main.replaceChildren(h("div", { class: "page" }, note("bad", error.message)));
    }
  }

  // Shows the tabs of a workspace or of a batch.
  #offer(kind) {
    this.#tabs = new Map(Object.entries(VIEWS[kind]).map(([name, [title, symbol]]) =>
      [name, h("a", { href: "#" }, icon(symbol), h("span", {}, title), name === "approvals" && this.#count)]));
    this.#bar.replaceChildren(...this.#tabs.values());
  }

  async #open(kind, told) {
    this.#view?.end?.();
    this.#view = null;
    this.#place?.live.close();
    const place = new Place(kind, told);
    this.#place = place;
    this.#choice.value = told.id;
    this.#offer(kind);
    try {
      place.state = await get(place.path);
    } catch (error) {
      place.state = structuredClone(NOTHING[kind]);
      if (kind === "batch") place.state.away = { message: error.message, cure: error.cure };
      else toast("bad", error.message, error.cure);
    }
    if (kind === "batch") {
      this.#watchBatch(place);
      return;
    }
    this.#waiting(place.state.approvals);
    if (place.state.quarantine) toast("bad", `The workspace is quarantined: ${place.state.quarantine}`, "Run blendwright recover for the next steps.");
    place.live.addEventListener("changes", ({ detail }) => {
      Object.assign(place.state, detail.state, { approvals: detail.state.approvals.length });
      this.#waiting(place.state.approvals);
      if (detail.records.length) this.#running = Date.now();
      this.#beat();
    });
    place.live.addEventListener("problem", ({ detail }) => toast("bad", detail.message, detail.cure));
  }

  // Requests an unreadable batch again until it can be read, for example when its database is back.
  #watchBatch(place) {
    const again = async () => {
      if (this.#place !== place || !place.state.away) return;
      try {
        Object.assign(place.state, await get(place.path), { away: null });
        place.live.dispatchEvent(new Event("back"));
      } catch {
        setTimeout(again, AGAIN_MS);
      }
    };
    place.live.addEventListener("changes", ({ detail }) => {
      Object.assign(place.state, detail);
      this.#beat();
    });
    place.live.addEventListener("away", ({ detail }) => {
      if (!place.state.away) setTimeout(again, AGAIN_MS);
      Object.assign(place.state, { away: detail, runs: false });
      this.#beat();
    });
    if (place.state.away) setTimeout(again, AGAIN_MS);
  }

  #waiting(count) {
    this.#count.textContent = String(count);
    this.#count.classList.toggle("hidden", !count);
    this.#count.setAttribute("aria-label", `${count} waiting`);
  }

  #beat() {
    const connected = this.#place?.live.connected ?? false;
    const busy = connected && (this.#place.kind === "batch" ? this.#place.state?.runs : Date.now() - this.#running < 1500);
    this.#live.className = `live wide-only ${connected ? (busy ? "busy" : "") : "off"}`;
    this.#live.textContent = connected ? (busy ? "running" : "live") : "not connected";
  }
}

function themeButton() {
  const names = Object.keys(THEMES);
  const current = () => document.documentElement.dataset.theme ?? "auto";
  const made = button("", "auto", () => {
    const next = names[(names.indexOf(current()) + 1) % names.length];
    if (next === "auto") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem("blendwright-theme");
    } else {
      document.documentElement.dataset.theme = next;
      localStorage.setItem("blendwright-theme", next);
    }
    show();
    dispatchEvent(new Event("themechange"));
  }, { only: true });
  const show = () => {
    const [label, symbol] = THEMES[current()];
    made.replaceChildren(icon(symbol), h("span", { class: "visually-hidden" }, label));
    made.title = label;
  };
  show();
  return made;
}

async function start() {
  try {
    await enter();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const link = error.code === "link_used" || error.status === 401;
    root.replaceChildren(h("main", { class: "boot" }, h("div", { class: "stack" },
      empty("approval", link ? "This tab needs a new link" : "The console does not answer", null),
      h("p", {}, named(error.message, 300)), error.cure && h("p", {}, named(error.cure, 300)))));
    return;
  }
  if (!location.hash && session.workspaces.length) {
    // The page will open this view first, so request its data while the page is built.
    const path = pathOf("workspace", session.workspaces[0].id);
    ahead(path);
    ahead(commitsPath(path));
  }
  shell = new Shell();
  await shell.show();
}

start();
