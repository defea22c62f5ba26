// Runs of plans: their list, the graph of one plan, and the result of each operation.

import { act, get } from "./api.js";
import { ago, button, duration, empty, h, icon, named, note, plural, pretty, requestName, visible, waiting } from "./dom.js";
import { PlanGraph } from "./graph.js";

const STATES = { running: ["running", "accent"], succeeded: ["succeeded", "ok"], failed: ["failed", "bad"], partial: ["partial", "warn"], refused: ["refused", "bad"], rolled_back: ["rolled back", "warn"], broken_off: ["interrupted", "bad"] };
const WORDS = { waiting: "waiting", running: "running", succeeded: "done", skipped_idempotent: "done before", failed: "failed", refused: "refused", rolled_back: "rolled back", skipped: "not run" };
const ACTIONS = { retry: "runs again unchanged", replace_args: "needs other arguments", drop: "is removed", insert_precondition: "needs another operation before it" };
const MAX_LISTED = 300;

const chip = (state) => h("span", { class: `chip ${STATES[state]?.[1] ?? ""}` }, STATES[state]?.[0] ?? named(state, 20));

function runRow(place, run, current) {
  const done = (run.counts.succeeded ?? 0) + (run.counts.skipped_idempotent ?? 0);
  return h("a", { class: "run-row", href: place.address("plans", run.id), "aria-current": run.id === current ? "true" : null },
    h("div", { class: "row" }, h("strong", { class: "clip grow" }, requestName(run.request)), chip(run.state)),
    h("div", { class: "row dim", style: { "font-size": "12px" } }, h("span", { class: "grow clip" }, `${ago(run.started * 1000)} · ${named(run.dialect, 20)}`), h("span", { class: "clip", style: { flex: "none" } }, `${run.state === "running" ? "" : `${done.toLocaleString("en")} of `}${plural(run.operations, "operation")}`)));
}

function findingsOf(list) {
  return list.map((each) => h("div", { class: "note bad" }, icon("warn"), h("div", { class: "grow" }, h("p", {}, named(each.message, 600)), each.cure && h("p", {}, named(each.cure, 600)),
    (each.place || each.pointer) && h("p", { class: "mono" }, named(each.place ?? each.pointer, 200)))));
}

class RunView {
  #place; #id; #run = null; #graph = new PlanGraph(); #index = new Map(); #selected = -1; #rows = []; #lines = []; #ended = false; #onended; #meter; #left; #reloading = 0; #at = 0;

  constructor(place, id, onended) {
    this.#place = place;
    this.#id = id;
    this.#onended = onended;
    this.element = h("div", { class: "padded" }, waiting("Loading the run…"));
    this.#graph.addEventListener("pick", ({ detail }) => this.select(detail));
    this.load();
  }

  async load() {
    try {
      const run = await get(`${this.#place.path}/runs/${this.#id}`);
      if (!this.#ended) this.#fill(run);
    } catch (error) {
      if (!this.#ended) this.element.replaceChildren(note("bad", error.message, error.cure));
    }
  }

  end() {
    this.#ended = true;
    clearTimeout(this.#reloading);
    this.#graph.end();
  }

  themed() {
    this.#graph.themed();
  }

  // Applies new audit records. It updates only changed operations and draws the graph once.
  told({ records, runs }) {
    if (!this.#run) return;
    let changed = false;
    for (const record of records) {
      const index = record.request === this.#run.request ? this.#index.get(record.operation) : undefined;
      if (index === undefined || this.#run.state !== "running") continue;
      Object.assign(this.#run.operations[index], { status: record.status, ms: record.ms, fault: record.error });
      this.#show(index);
      changed = true;
    }
    if (changed) {
      this.#next();
      this.#graph.refresh();
      this.#progress();
    }
    if (runs && this.#run.state === "running") {
      clearTimeout(this.#reloading);
      this.#reloading = setTimeout(() => this.load().then(() => this.#run?.state !== "running" && this.#onended()), 150);
    }
  }

  // Marks the running operation. Operations run in order, so it is the first one without a result.
  #next() {
    const { operations, state } = this.#run;
    while (this.#at < operations.length && !["waiting", "running"].includes(operations[this.#at].status)) this.#at++;
    if (state !== "running" || this.#at >= operations.length) return;
    operations[this.#at].status = "running";
    this.#show(this.#at);
  }

  select(index) {
    this.#selected = index;
    this.#rows.forEach((row, at) => row?.setAttribute("aria-pressed", at === index));
    this.#graph.select(index, true);
    const operation = this.#run.operations[index];
    this.#lines.forEach((line, at) => line.classList.toggle("on", operation && at + 1 === operation.line));
    this.#lines[(operation?.line ?? 0) - 1]?.scrollIntoView({ block: "nearest" });
    this.#details.replaceChildren(...this.#about(operation));
  }

  #details = h("section", { "aria-live": "polite" });

  #fill(run) {
    const before = this.#run;
    this.#run = run;
    run.operations.forEach((each) => { each.short = named(each.id, 40); });
    this.#index = new Map(run.operations.map((each, at) => [each.id, at]));
    this.#meter = h("div", { class: "meter", role: "progressbar", "aria-label": "Operations done", "aria-valuemin": 0, "aria-valuemax": run.operations.length });
    this.#left = h("span", { class: "dim" });
    const tools = h("div", { class: "tools" }, button("Zoom in", "plus", () => this.#graph.zoom(1.3), { only: true }), button("Zoom out", "minus", () => this.#graph.zoom(1 / 1.3), { only: true }), button("Show everything", "frame", () => this.#graph.fit(), { only: true }));
    const legend = h("div", { class: "legend" }, Object.entries({ waiting: "waiting", running: "running", succeeded: "done", failed: "failed", skipped: "not run or rolled back" }).map(([state, word]) => h("span", {}, h("i", { class: `tone-${state}` }), word)));
    this.element.className = "plan";
    this.element.replaceChildren(
      h("header", {}, h("a", { class: "button quiet back", href: this.#place.address("plans") }, icon("back"), "All plans"),
        h("div", { class: "row wrap" }, h("h1", { class: "clip" }, requestName(run.request)), chip(run.state), h("span", { class: "grow" }), this.#left),
        this.#meter, legend),
      h("div", { class: "plan-body" }, h("div", { class: "graph" }, this.#graph.element, tools), this.#side(run)));
    this.#graph.operations = run.operations;
    this.#at = 0;
    this.#next();
    this.#progress();
    const failed = run.operations.findIndex((each) => each.findings?.length);
    if (before && this.#selected >= 0) this.select(this.#selected);
    else if (failed >= 0) this.select(failed);
    else this.#details.replaceChildren(h("p", { class: "dim" }, "Select an operation in the graph or in the list."));
  }

  #side(run) {
    this.#rows = [];
    const listed = run.operations.slice(0, MAX_LISTED).map((each, at) => {
      const row = h("button", { class: "operation", type: "button", "aria-pressed": "false", onclick: () => this.select(at) },
        h("i", { class: `tone-${each.status}` }), h("span", { class: "clip grow" }, each.short), h("span", { class: "dim tool" }, WORDS[each.status] ?? each.status));
      this.#rows[at] = row;
      return row;
    });
    const parts = [this.#repair(run), this.#details, this.#program(run),
      h("section", {}, h("h2", {}, plural(run.operations.length, "operation")), h("div", { class: "operations" }, listed,
        run.operations.length > MAX_LISTED && h("p", { class: "dim" }, `and ${run.operations.length - MAX_LISTED} more in the graph`)))];
    return h("aside", { class: "plan-side", "aria-label": "Operations", tabindex: 0 }, parts.filter(Boolean));
  }

  #program(run) {
    if (!run.program) return null;
    const first = new Map();
    run.operations.forEach((each, at) => { if (each.line && !first.has(each.line)) first.set(each.line, at); });
    this.#lines = run.program.text.split("\n").map((text, at) => {
      const made = first.get(at + 1);
      return h("button", { type: "button", tabindex: made === undefined ? -1 : 0, onclick: () => made !== undefined && this.select(made) },
        h("span", { class: "n" }, String(at + 1)), h("span", { class: made === undefined ? "mark" : `mark tone-${run.operations[made].status}` }), h("span", {}, visible(text, "\t")));
    });
    return h("section", {}, h("h2", {}, "Program"), h("p", { class: "dim" }, "A dot marks a line that created operations."), h("div", { class: "source" }, this.#lines));
  }

  #repair(run) {
    if (!run.repair.length && !run.findings.length) return null;
    const editors = new Map();
    const entries = run.repair.map(({ operation_id: id, action }) => {
      const editable = action === "replace_args" && run.repeatable;
      const editor = editable && h("textarea", { class: "field", "aria-label": `Arguments of ${named(id, 60)}`, spellcheck: "false", value: JSON.stringify(run.operations[this.#index.get(id)]?.args ?? {}, null, 2) });
      if (editable) editors.set(id, editor);
      return h("li", { class: "stack", style: { gap: "6px" } }, h("p", {}, h("strong", {}, named(id, 60)), ` ${ACTIONS[action] ?? action}.`), editor);
    });
    const again = button("Run again with this repair", "again", async () => {
      const changes = {};
      for (const [id, editor] of editors) {
        try {
          changes[id] = JSON.parse(editor.value);
          editor.removeAttribute("aria-invalid");
        } catch {
          editor.setAttribute("aria-invalid", "true");
          editor.focus();
          return;
        }
      }
      again.disabled = true;
      const answer = await act(`${this.#place.path}/runs/${run.id}/again`, { changes }, "The plan runs again. Finished operations do not run twice.");
      again.disabled = false;
      if (answer) this.#onended(true);
    }, { class: "primary", disabled: this.#place.readOnly || !run.repeatable });
    return h("section", {}, h("h2", {}, run.repair.length ? "Repair" : "Problems"), ...findingsOf(run.findings), h("ul", { class: "stack" }, entries), run.repair.length ? h("div", {}, again) : null,
      !run.repeatable && run.repair.length ? h("p", { class: "dim" }, "This page cannot run the plan again. Run it again from its source.") : null);
  }

  #about(operation) {
    if (!operation) return [];
    const receipt = h("div", {});
    return [
      h("div", { class: "row" }, h("h2", { class: "clip grow" }, named(operation.id, 80)), h("span", { class: "chip" }, WORDS[operation.status] ?? operation.status)),
      h("p", { class: "tool" }, [named(operation.tool, 60), operation.ms ? duration(operation.ms) : "", operation.line ? `line ${operation.line}` : ""].filter(Boolean).join(" · ")),
      operation.message && !operation.findings?.length && h("p", { class: "dim" }, named(operation.message, 400)),
      ...findingsOf(operation.findings ?? []),
      Object.keys(operation.implied ?? {}).length > 0 && h("p", { class: "dim" }, `Waits for ${Object.entries(operation.implied).map(([id, why]) => `${named(id, 40)} (${named(why, 80)})`).join(", ")}; the plan does not declare this.`),
      operation.args && h("details", {}, h("summary", {}, "Arguments"), h("pre", { class: "code", tabindex: 0 }, pretty(operation.args))),
      operation.commit && h("div", { class: "row wrap" }, h("a", { class: "button", href: this.#place.address("history", operation.commit) }, icon("history"), `Commit ${operation.commit}`),
        button("Receipt", "proof", async (event) => {
          event.currentTarget.disabled = true;
          try {
            receipt.replaceChildren(h("pre", { class: "code", tabindex: 0 }, pretty((await get(`${this.#place.path}/commits/${operation.commit}`)).receipt)));
          } catch (error) {
            receipt.replaceChildren(note("bad", error.message, error.cure));
          }
        })), receipt,
    ].filter(Boolean);
  }

  #show(index) {
    const row = this.#rows[index];
    const operation = this.#run.operations[index];
    if (row) {
      row.firstChild.className = `tone-${operation.status}`;
      row.lastChild.textContent = WORDS[operation.status] ?? operation.status;
    }
    const line = this.#lines[(operation.line ?? 0) - 1];
    if (line) line.children[1].className = `mark tone-${operation.status}`;
    if (index === this.#selected) this.#details.replaceChildren(...this.#about(operation));
  }

  #progress() {
    const { operations, state, ms } = this.#run;
    const counts = { ok: 0, bad: 0, warn: 0 };
    for (const { status } of operations) {
      if (status === "succeeded" || status === "skipped_idempotent") counts.ok++;
      else if (status === "failed" || status === "refused") counts.bad++;
      else if (status !== "waiting" && status !== "running") counts.warn++;
    }
    this.#meter.replaceChildren(...Object.entries(counts).map(([tone, count]) => h("i", { class: tone, style: { "--part": `${(100 * count) / Math.max(1, operations.length)}%` } })));
    this.#meter.setAttribute("aria-valuenow", counts.ok);
    this.#left.textContent = [`${counts.ok.toLocaleString("en")} of ${plural(operations.length, "operation")}`, state === "running" ? "" : duration(ms)].filter(Boolean).join(" · ");
  }
}

export function plans(place, rest) {
  const list = h("nav", { class: "runs", "aria-label": "Runs" }, waiting("Loading the runs…"));
  const content = h("div", { class: "content" });
  const element = h("div", { class: "split slim" }, h("section", { class: "side", "aria-label": "Plans" }, h("header", {}, h("h1", { class: "visually-hidden" }, "Plans"), h("span", { class: "dim grow" }, "Newest first")), list), content);
  let [shown, current, runs, ended, follow] = [null, "", [], false, false];

  const load = async () => {
    try {
      ({ runs } = await get(`${place.path}/runs`));
    } catch (error) {
      list.replaceChildren(note("bad", error.message, error.cure));
      return;
    }
    if (ended) return;
    const newest = runs[0]?.id;
    if (follow && newest && newest !== current) {
      follow = false;
      place.go("plans", newest);
    }
    list.replaceChildren(...(runs.length ? runs.map((run) => runRow(place, run, current)) : [empty("plan", "No plan has run yet", "A run appears here as soon as it starts.")]));
    // If the address names no run, show the newest one, also one that starts later.
    if (newest && !element.classList.contains("open")) open(newest);
    else if (!runs.length) content.replaceChildren(empty("plan", "Nothing to show", null));
  };
  const open = (id) => {
    if (id === current) return;
    shown?.end();
    current = id;
    shown = new RunView(place, id, (again = false) => {
      follow ||= again;
      load();
    });
    content.replaceChildren(shown.element);
    for (const row of list.querySelectorAll(".run-row")) row.setAttribute("aria-current", row.getAttribute("href").endsWith(`/${id}`));
  };
  const show = ([id]) => {
    element.classList.toggle("open", Boolean(id));
    if (id) open(id);
  };
  const changed = ({ detail }) => {
    shown?.told(detail);
    if (detail.runs) load();
  };
  const themed = () => shown?.themed();
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  place.live.addEventListener("changes", changed);
  addEventListener("themechange", themed);
  preferred.addEventListener("change", themed);
  show(rest);
  load();
  return {
    element,
    show,
    end() {
      ended = true;
      shown?.end();
      place.live.removeEventListener("changes", changed);
      removeEventListener("themechange", themed);
      preferred.removeEventListener("change", themed);
    },
  };
}
