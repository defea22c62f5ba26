// The page: who is here, which workspace and view the address names, and what is shown of the state of the workspace everywhere.

import { ApiError, enter, get, leave, session } from "./api.js";
import { button, empty, h, icon, named, note, toast } from "./dom.js";
import { Live } from "./live.js";
import { approvals } from "./approvals.js";
import { historyView } from "./history.js";
import { plans } from "./plans.js";
import { proof } from "./proof.js";
import { scene } from "./scene.js";

const VIEWS = {
  history: ["History", "history", historyView],
  plans: ["Plans", "plan", plans],
  approvals: ["Approvals", "approval", approvals],
  scene: ["Scene", "scene", scene],
  proof: ["Proof", "proof", proof],
};
const THEMES = { auto: ["Theme: as the system", "auto"], light: ["Theme: light", "sun"], dark: ["Theme: dark", "moon"] };

const root = document.getElementById("app");
let shell = null;

// What a view gets: where it is, what is known of the workspace, and how to be told of more.
class Place {
  constructor(workspace) {
    this.workspace = workspace;
    this.path = `workspaces/${workspace.id}`;
    this.live = new Live(workspace.id);
    this.state = null;
  }

  address(view, ...rest) {
    return `#/${[this.workspace.id, view, ...rest].join("/")}`;
  }

  go(view, ...rest) {
    location.hash = this.address(view, ...rest);
  }

  // A workspace that was made from here is shown here too.
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
  #place = null; #view = null; #name = ""; #tabs = new Map(); #main; #live; #choice; #count; #running = 0;

  constructor() {
    this.#main = h("main", { id: "content", tabindex: -1 });
    this.#live = h("span", { class: "live wide-only" }, "live");
    this.#count = h("span", { class: "count hidden" });
    this.#choice = h("select", { class: "field", "aria-label": "Workspace", onchange: (event) => { location.hash = `#/${event.target.value}/history`; } });
    const list = () => this.#choice.replaceChildren(...session.workspaces.map(({ id, name, directory }) => h("option", { value: id, title: named(directory, 300) }, named(name, 60))));
    addEventListener("workspaces", list);
    list();
    const tabs = h("nav", { class: "tabs", "aria-label": "Views" });
    for (const [name, [title, symbol]] of Object.entries(VIEWS)) {
      const tab = h("a", { href: "#" }, icon(symbol), h("span", {}, title), name === "approvals" && this.#count);
      this.#tabs.set(name, tab);
      tabs.append(tab);
    }
    root.replaceChildren(h("div", { class: "shell" },
      h("header", { class: "bar" }, h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "" }), h("span", {}, "Blendwright")), this.#choice),
      tabs,
      h("div", { class: "state" }, session.readOnly && h("span", { class: "chip warn" }, "read-only"), this.#live, themeButton(),
        button("End this session", "leave", leave, { only: true, class: "wide-only" })),
      this.#main));
    addEventListener("hashchange", () => this.show());
    setInterval(() => this.#beat(), 1000);
  }

  async show() {
    const [, id, name = "history", ...rest] = location.hash.split("/").map(decodeURIComponent);
    const workspace = session.workspaces.find((each) => each.id === id);
    if (!workspace) {
      location.replace(`#/${session.workspaces[0].id}/history`);
      return;
    }
    if (this.#place?.workspace.id !== workspace.id) await this.#open(workspace);
    const view = VIEWS[name] ? name : "history";
    for (const [each, tab] of this.#tabs) {
      tab.href = this.#place.address(each);
      if (each === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    document.title = `${VIEWS[view][0]} · ${named(workspace.name, 60)} · Blendwright`;
    if (this.#view && this.#name === view && this.#view.show) {
      this.#view.show(rest);
      return;
    }
    this.#view?.end?.();
    [this.#name, this.#view] = [view, null];
    try {
      this.#view = VIEWS[view][2](this.#place, rest);
      this.#main.replaceChildren(this.#view.element);
    } catch (error) {
      this.#main.replaceChildren(h("div", { class: "page" }, note("bad", error.message)));
    }
  }

  async #open(workspace) {
    this.#view?.end?.();
    this.#view = null;
    this.#place?.live.close();
    const place = new Place(workspace);
    this.#place = place;
    this.#choice.value = workspace.id;
    try {
      place.state = await get(place.path);
    } catch (error) {
      place.state = { head: null, length: 0, total: 0, redo: null, tags: {}, branches: [], approvals: 0, quarantine: null, holder: null };
      toast("bad", error.message, error.cure);
    }
    this.#waiting(place.state.approvals);
    if (place.state.quarantine) toast("bad", `The workspace is quarantined: ${place.state.quarantine}`, "blendwright recover says how to get out of it.");
    place.live.addEventListener("changes", ({ detail }) => {
      Object.assign(place.state, detail.state, { approvals: detail.state.approvals.length });
      this.#waiting(place.state.approvals);
      if (detail.records.length) this.#running = Date.now();
      this.#beat();
    });
    place.live.addEventListener("problem", ({ detail }) => toast("bad", detail.message, detail.cure));
  }

  #waiting(count) {
    this.#count.textContent = String(count);
    this.#count.classList.toggle("hidden", !count);
    this.#count.setAttribute("aria-label", `${count} waiting`);
  }

  #beat() {
    const connected = this.#place?.live.connected ?? false;
    const busy = connected && Date.now() - this.#running < 1500;
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
      empty("approval", link ? "This page needs a link from its terminal" : "The console does not answer", null),
      h("p", {}, named(error.message, 300)), error.cure && h("p", {}, named(error.cure, 300)))));
    return;
  }
  shell = new Shell();
  await shell.show();
}

start();
