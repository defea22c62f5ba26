// The history of a workspace: a list of commits, of which only the visible rows exist, next to the selected commit or a comparison.

import { act, get } from "./api.js";
import { commitView } from "./commit.js";
import { compareView } from "./compare.js";
import { ago, button, empty, h, icon, named, plural } from "./dom.js";
import { Pictures } from "./pictures.js";

const ROW = 76;
const PAGE = 50;
const AROUND = 4;
// The list requests pictures only after it has not moved for this time.
const STILL_MS = 160;

export const commitsPath = (path, page = 0, all = false) => `${path}/commits?offset=${page * PAGE}&limit=${PAGE}&all=${all ? 1 : 0}`;

export const WHO = { model: "model", person: "person", code: "code", file: "workspace" };

// Returns the author of a commit in words.
export function author(who) {
  if (who.by === "person") return "a person";
  if (who.by === "file") return "the workspace";
  return `${who.name ? named(who.name, 40) : `a ${who.by === "code" ? "program" : "model"}`}${who.program ? ", by a program" : ""}`;
}

export function title(commit) {
  if (commit.kind === "baseline") return "Start of the workspace";
  if (commit.kind === "adopt") return `Adopted ${commit.about[0] ? named(commit.about[0], 60) : "a file"}`;
  if (commit.kind === "rebaseline") return "Moved to another Blender";
  return commit.about.length ? commit.about.map((name) => named(name, 40)).join(", ") : named(commit.operation, 60);
}

class Commits {
  #place; #pictures; #pages = new Map(); #rows = new Map(); #total = 0; #all = false; #active = 0; #still = 0; #generation = 0; #onselect; #chosen = null;

  constructor(place, pictures, onselect) {
    this.#place = place;
    this.#pictures = pictures;
    this.#onselect = onselect;
    this.spacer = h("div");
    this.element = h("div", { class: "commits", role: "listbox", tabindex: 0, "aria-label": "Commits, newest first",
      onscroll: () => this.#draw(), onkeydown: (event) => this.#key(event) }, this.spacer);
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  get all() {
    return this.#all;
  }

  set all(value) {
    this.#all = value;
    this.reload();
  }

  reload() {
    this.#generation++;
    this.#pages.clear();
    this.#total = this.#all ? this.#place.state.total : this.#place.state.length;
    this.spacer.style.height = `${this.#total * ROW}px`;
    for (const row of this.#rows.values()) row.element.remove();
    this.#rows.clear();
    this.#draw();
  }

  choose(number) {
    this.#chosen = number;
    for (const row of this.#rows.values()) row.element.setAttribute("aria-selected", row.commit.number === number);
    this.#name();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - AROUND);
    const last = Math.min(this.#total - 1, Math.ceil((this.element.scrollTop + this.element.clientHeight) / ROW) + AROUND);
    for (const [at, row] of this.#rows) {
      if (at < first || at > last) {
        row.element.remove();
        this.#rows.delete(at);
      }
    }
    for (let at = first; at <= last; at++) {
      const commit = this.#commit(at);
      if (commit && !this.#rows.has(at)) this.#add(at, commit);
    }
    clearTimeout(this.#still);
    this.#still = setTimeout(() => this.#want(), STILL_MS);
    this.#name();
  }

  // Requests the pictures of visible commits, oldest first, because a Blender gets from one to the next by running the commits between.
  #want() {
    const top = this.element.scrollTop;
    const shown = [...this.#rows].filter(([at]) => at * ROW > top - ROW && at * ROW < top + this.element.clientHeight);
    for (const [, row] of shown.sort(([a], [b]) => a - b)) row.picture.want();
  }

  #commit(at) {
    const page = Math.floor(at / PAGE);
    if (!this.#pages.has(page)) {
      this.#pages.set(page, null);
      this.#load(page);
    }
    return this.#pages.get(page)?.[at % PAGE];
  }

  async #load(page) {
    const generation = this.#generation;
    try {
      const found = await get(commitsPath(this.#place.path, page, this.#all));
      if (generation !== this.#generation) return;
      this.#pages.set(page, found.commits);
    } catch {
      this.#pages.delete(page);
      return;
    }
    this.#draw();
  }

  #add(at, commit) {
    const picture = this.#pictures.element(commit);
    const { who } = commit;
    const element = h("div", {
      class: `commit-row ${commit.head ? "head" : ""} ${commit.current ? "current" : ""} ${at === 0 ? "first" : ""} ${at === this.#total - 1 ? "last" : ""}`,
      id: `commit-${commit.number}`, role: "option", "aria-selected": commit.number === this.#chosen, "aria-posinset": at + 1, "aria-setsize": this.#total,
      style: { top: `${at * ROW}px` },
      onclick: () => { this.#active = at; this.#onselect(commit.number); },
    },
    h("span", { class: "rail" }), picture.frame,
    h("div", { class: "stack", style: { gap: "2px" } },
      h("div", { class: "title" }, h("strong", { class: "clip" }, title(commit)), h("span", { class: "number" }, `#${commit.number}`)),
      h("div", { class: "meta" }, h("span", { class: "tool clip" }, named(commit.tool, 60))),
      h("div", { class: "meta" }, icon(WHO[who.by]), h("span", { class: "clip grow" }, `${author(who)} · ${ago(commit.time)}`),
        commit.head && h("span", { class: "chip accent" }, "HEAD"), !commit.current && h("span", { class: "chip" }, "other branch"),
        commit.branches.slice(0, 2).map((name) => h("span", { class: "chip ok" }, named(name, 24))),
        commit.tags.slice(0, 2).map((tag) => h("span", { class: "chip info" }, named(tag, 24))))));
    this.#rows.set(at, { element, commit, picture });
    this.element.append(element);
  }

  #name() {
    const row = this.#rows.get(this.#active);
    if (row) this.element.setAttribute("aria-activedescendant", row.element.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) {
      if (event.key === "Enter" || event.key === " ") {
        const row = this.#rows.get(this.#active);
        if (row) this.#onselect(row.commit.number);
        event.preventDefault();
      }
      return;
    }
    event.preventDefault();
    this.#active = Math.min(this.#total - 1, Math.max(0, this.#active + step));
    const top = this.#active * ROW;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + ROW > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = top + ROW - this.element.clientHeight;
    this.#draw();
    const row = this.#rows.get(this.#active);
    if (row) this.#onselect(row.commit.number);
  }
}

export function historyView(place, rest) {
  const pictures = new Pictures(place);
  const content = h("div", { class: "content" });
  const commits = new Commits(place, pictures, (number) => place.go("history", number));
  const count = h("span", { class: "dim grow" });
  const all = button("All branches", null, () => {
    commits.all = !commits.all;
    all.setAttribute("aria-pressed", commits.all);
    told();
  }, { "aria-pressed": "false", title: "Also show commits that are not ancestors of HEAD" });
  const branch = h("select", { class: "field", "aria-label": "Branch", onchange: async () => {
    await act(`${place.path}/branches`, { name: branch.value }, (moved) => `On ${named(moved.branch, 60)}, at commit ${moved.head}`);
    told();
  }, disabled: place.readOnly, style: { "max-width": "150px" } });
  const told = () => {
    const current = place.state.branches.find((each) => each.current);
    branch.replaceChildren(...(current ? [] : [h("option", { value: "", disabled: true }, "on no branch")]),
      ...place.state.branches.map(({ name }) => h("option", { value: name }, named(name, 40))));
    branch.value = current?.name ?? "";
    count.textContent = plural(commits.all ? place.state.total : place.state.length, "commit");
  };
  const element = h("div", { class: "split" },
    h("section", { class: "side", "aria-label": "History" }, h("header", {}, h("h1", { class: "visually-hidden" }, "History"), branch, count, all), commits.element), content);
  let shown = null;

  const show = (where) => {
    shown?.end?.();
    const [first, second, third] = where;
    element.classList.toggle("open", where.length > 0 && where[0] !== "");
    if (first === "compare") shown = compareView(place, Number(second), Number(third));
    else {
      const number = Number(first) || place.state.head;
      commits.choose(number);
      shown = number ? commitView(place, pictures, number) : { element: empty("history", "No commits yet", "Run a plan. Its commits appear here immediately.") };
    }
    content.replaceChildren(shown.element);
    content.scrollTop = 0;
  };
  const namesOf = ({ tags, branches }) => JSON.stringify([tags, branches]);
  const changed = ({ detail }) => {
    if (detail.records.length || detail.state.total !== seen.total || detail.state.head !== seen.head || namesOf(detail.state) !== seen.names) {
      seen = { total: detail.state.total, head: detail.state.head, names: namesOf(detail.state) };
      clearTimeout(later);
      later = setTimeout(() => {
        commits.reload();
        told();
        shown?.refresh?.();
      }, 250);
    }
  };
  let later = 0;
  let seen = { total: place.state.total, head: place.state.head, names: namesOf(place.state) };
  place.live.addEventListener("changes", changed);
  told();
  commits.reload();
  show(rest);
  return {
    element,
    show,
    end() {
      clearTimeout(later);
      place.live.removeEventListener("changes", changed);
      shown?.end?.();
      pictures.end();
    },
  };
}
