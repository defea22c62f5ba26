// A batch: its progress, its cases in pages of a table or of pictures, and a single case. This view is read-only.

import { get } from "./api.js";
import { caseView, casePicture, STATES } from "./case.js";
import { duration, empty, h, icon, named, note, plural, waiting } from "./dom.js";

const PAGE = { cases: 50, pictures: 48 };
const RELOAD_MS = 800;
// The view shows how often figures are counted if they may be older than this.
const MAX_SILENT_AGE_SECONDS = 10;

function progress(place) {
  const { counts, runs, per_second: rate, seconds_left: left, pause } = place.state;
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const share = (count) => `${total ? (100 * count) / total : 0}%`;
  const ended = counts.done + counts.failed;
  const words = [`${ended.toLocaleString("en")} of ${plural(total, "case")} finished`, runs && rate && `${rate >= 1 ? rate.toFixed(1) : (rate * 60).toFixed(1)} ${rate >= 1 ? "per second" : "per minute"}`,
    runs && left && `about ${duration(left * 1000)} left`, pause > MAX_SILENT_AGE_SECONDS && `updated about every ${duration(pause * 1000)}`].filter(Boolean);
  const [tone, word] = place.state.away ? ["warn", "unknown"] : runs ? ["accent", "running"] : total && ended === total ? ["ok", "finished"] : ["", "not running"];
  return [
    h("div", { class: "row wrap" }, h("p", { class: "grow", role: "status" }, words.join(" · ")), h("span", { class: `chip ${tone}` }, word)),
    h("div", { class: "meter tall", role: "img", "aria-label": `${counts.done} done, ${counts.failed} failed, ${counts.running} running, ${counts.waiting} waiting` },
      [["ok", counts.done], ["bad", counts.failed], ["run", counts.running]].map(([color, count]) => h("i", { class: color, style: { "--part": share(count) } }))),
  ];
}

// The problem of an unreadable batch. The rest of the view shows its last known state.
function away(place) {
  return place.state.away ? [note("bad", place.state.away.message, place.state.away.cure)] : [];
}

function about(place) {
  const { program, blender } = place.state;
  const results = place.engine ? `results in ${named(place.engine, 120)}` : "";
  if (!program) return [place.state.away ? "" : "No batch has run here yet.", results].filter(Boolean).join(" · ");
  return [`${named(program, 80)} in Blender ${named(blender, 20)}`, results].filter(Boolean).join(" · ");
}

function reasons(place) {
  const { failures } = place.state;
  if (!failures.length) return [];
  return [h("h2", {}, "Reasons of failures"), h("ul", { class: "changes" }, failures.map((each) => h("li", {},
    h("span", { class: "chip bad" }, each.cases.toLocaleString("en")), h("span", { class: "grow" }, named(each.message || "no finding", 300)), h("span", { class: "tool" }, named(each.code, 40)))))];
}

function tableRow(place, each) {
  const [tone, word] = STATES[each.status];
  return h("tr", {},
    h("td", {}, h("a", { class: "mono", href: place.address("cases", "case", each.number) }, String(each.number).padStart(6, "0"))),
    h("td", {}, h("span", { class: `chip ${tone}` }, word)),
    h("td", { class: "mono params" }, named(each.params, 160)),
    h("td", {}, each.finding ? h("span", { class: "was" }, named(each.finding, 160)) : each.attempts > 1 ? h("span", { class: "dim" }, `attempt ${each.attempts}`) : ""),
    h("td", { class: "dim" }, each.seconds === null ? "" : duration(each.seconds * 1000)));
}

function tile(place, each) {
  const [tone, word] = STATES[each.status];
  const picture = each.picture
    ? casePicture(place, each.number, each.picture, { alt: "" })
    : icon(each.status === "failed" ? "warn" : "scene");
  return h("a", { class: "tile", href: place.address("cases", "case", each.number), title: named(each.finding ?? each.params, 300) },
    h("div", { class: "picture" }, picture),
    h("span", { class: "row" }, h("span", { class: "mono grow" }, String(each.number).padStart(6, "0")), h("span", { class: `chip ${tone}` }, word)));
}

const FORMS = {
  cases: {
    make: tableRow,
    list: () => {
      const body = h("tbody");
      return [h("div", { class: "card scroll-x", tabindex: 0, role: "region", "aria-label": "Cases" }, h("table", {},
        h("thead", {}, h("tr", {}, ["Case", "State", "Parameters", "Finding", "Time"].map((name) => h("th", { scope: "col" }, name)))), body)), body];
    },
  },
  pictures: { make: tile, list: () => Array(2).fill(h("div", { class: "sheet" })) },
};

class Cases {
  #place; #kind; #status; #page; #ended = false; #shown = new Map(); #list; #body; #later = 0; #failed; #busy = false;

  constructor(place, kind, status, page) {
    [this.#place, this.#kind, this.#status, this.#page, this.#failed] = [place, kind, status, page, place.state.counts.failed];
    this.about = h("section", { class: "card" });
    this.filter = h("nav", { class: "row wrap", "aria-label": "Filter by state" });
    [this.#list, this.#body] = FORMS[kind].list();
    this.place = h("div", {}, waiting("Loading the cases…"));
    this.pager = h("nav", { class: "row wrap", "aria-label": "Pages" });
    this.what = h("p", { class: "dim" });
    this.element = h("div", { class: "page wide" }, h("header", { class: "stack", style: { gap: "4px" } }, h("h1", {}, named(place.name, 80)), this.what),
      this.about, this.filter, this.place, this.pager);
    this.#tell();
    this.#load();
    this.changed = () => {
      this.#tell();
      if (!this.#later) this.#later = setTimeout(() => this.#load(), RELOAD_MS);
    };
    this.told = () => this.#tell();
    for (const name of ["changes", "back"]) place.live.addEventListener(name, this.changed);
    place.live.addEventListener("away", this.told);
  }

  #tell() {
    const { counts } = this.#place.state;
    this.what.textContent = about(this.#place);
    this.about.replaceChildren(h("div", { class: "inside stack" }, away(this.#place), progress(this.#place), reasons(this.#place)));
    const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
    this.#keep(this.filter, [["all", "All", total], ...Object.entries(STATES).map(([name, [, word]]) => [name, word, counts[name]])].map(([name, word, count]) => [name, `${word} ${count.toLocaleString("en")}`]));
  }

  // Changes only the text of existing links, so that the keyboard focus stays.
  #keep(nav, wanted) {
    if (!nav.children.length) {
      nav.append(...wanted.map(([name]) => h("a", { class: "button", href: this.#place.address(this.#kind, name, 0), "aria-current": name === this.#status ? "true" : null })));
    }
    wanted.forEach(([, text], at) => { nav.children[at].textContent = text; });
  }

  async #load() {
    this.#later = 0;
    if (this.#busy) return;
    this.#busy = true;
    const size = PAGE[this.#kind];
    try {
      if (this.#place.state.counts.failed !== this.#failed) {
        this.#failed = this.#place.state.counts.failed;
        Object.assign(this.#place.state, { failures: (await get(this.#place.path)).failures });
        this.#tell();
      }
      const found = await get(`${this.#place.path}/cases?offset=${this.#page * size}&limit=${size}&status=${this.#status === "all" ? "" : this.#status}`);
      if (!this.#ended) this.#show(found);
    } catch (error) {
      if (!this.#ended) this.place.replaceChildren(note("bad", error.message, error.cure));
    }
    this.#busy = false;
  }

  #show({ total, cases }) {
    const make = FORMS[this.#kind].make;
    const same = cases.length === this.#shown.size && cases.every((each, at) => [...this.#shown.keys()][at] === each.number);
    if (!cases.length) this.place.replaceChildren(empty("batch", "No cases", "No case is in this state now."));
    else if (!same || !this.#list.isConnected) {
      this.#shown = new Map(cases.map((each) => [each.number, { text: JSON.stringify(each), element: make(this.#place, each) }]));
      this.#body.replaceChildren(...[...this.#shown.values()].map((each) => each.element));
      this.place.replaceChildren(this.#list);
    } else {
      for (const each of cases) {
        const [kept, text] = [this.#shown.get(each.number), JSON.stringify(each)];
        if (kept.text === text) continue;
        const element = make(this.#place, each);
        kept.element.replaceWith(element);
        this.#shown.set(each.number, { text, element });
      }
    }
    const pages = Math.max(1, Math.ceil(total / PAGE[this.#kind]));
    const link = (label, symbol, to, on) => (on
      ? h("a", { class: "button", href: this.#place.address(this.#kind, this.#status, to) }, icon(symbol), label)
      : h("span", { class: "button off", "aria-hidden": "true" }, icon(symbol), label));
    const text = `${pages} ${this.#page} ${total}`;
    if (this.pager.dataset.of === text) return;
    this.pager.dataset.of = text;
    this.pager.replaceChildren(link("Previous", "back", this.#page - 1, this.#page > 0), h("span", { class: "dim" }, `Page ${this.#page + 1} of ${pages.toLocaleString("en")}`), link("Next", "go", this.#page + 1, this.#page + 1 < pages));
  }

  end() {
    this.#ended = true;
    clearTimeout(this.#later);
    for (const name of ["changes", "back"]) this.#place.live.removeEventListener(name, this.changed);
    this.#place.live.removeEventListener("away", this.told);
  }
}

// Returns a view of one kind, which shows the list or a single case.
const viewOf = (kind) => (place, rest) => {
  const element = h("div", {});
  let shown = null;
  const show = ([first = "", second = "0"]) => {
    shown?.end();
    if (first === "case") shown = caseView(place, Number(second) || 0);
    else shown = new Cases(place, kind, STATES[first] ? first : "all", Math.max(0, Math.trunc(Number(second)) || 0));
    element.replaceChildren(shown.element);
  };
  show(rest);
  return { element, show, end: () => shown?.end() };
};

export const batchCases = viewOf("cases");
export const batchPictures = viewOf("pictures");
