// The branches of a workspace: merging two of them, with the conflicts, and the search for the commit that broke a check.

import { act, get } from "./api.js";
import { bisectCard } from "./bisect.js";
import { button, h, icon, named, note, plural, requestName, waiting } from "./dom.js";

const MOST_TAKEN = 30;

function taken(place, plan) {
  return h("ul", { class: "changes" },
    plan.taken.slice(0, MOST_TAKEN).map((each) => h("li", {}, h("a", { class: "mono", href: place.address("history", each.commit) }, `#${each.commit}`),
      h("span", { class: "tool" }, named(each.tool, 60)), h("span", { class: "clip grow" }, named(each.operation, 60)), h("span", { class: "dim clip" }, requestName(each.request)))),
    plan.total > MOST_TAKEN && h("li", { class: "dim" }, `and ${plan.total - MOST_TAKEN} more`));
}

function verdict(place, plan) {
  if (plan.kind === "up_to_date") return [note("ok", `${named(plan.source, 60)} is already merged.`)];
  if (plan.findings.length) {
    return [h("h3", {}, "This merge is not possible"), ...plan.findings.map((finding) => note("bad", finding.message, finding.cure)),
      h("p", { class: "row wrap" }, "Compare the conflicting commits:", plan.conflicts.slice(0, 5).map((each) => {
        const [first, last] = [each.ours.commit, each.theirs.commit].sort((a, b) => a - b);
        return h("a", { class: "button", href: place.address("history", "compare", first, last) }, icon("compare"), `#${first} and #${last}`);
      }))];
  }
  const how = plan.kind === "fast_forward" ? "The branch only moves forward to there" : "They run again on top, all or none. Pressing Merge approves them, including deletions";
  return [note("info", `${plural(plan.total, "commit")} since commit ${plan.base}. ${how}.`), taken(place, plan)];
}

function mergeCard(place) {
  const into = h("select", { class: "field", name: "into", onchange: () => look() });
  const source = h("select", { class: "field", name: "source", onchange: () => look() });
  const seen = h("div", { class: "stack" });
  const press = button("Merge", "merge", async () => {
    press.disabled = true;
    seen.replaceChildren(waiting("Rehearsing the merge on a copy, then running it…"));
    const done = await act(`${place.path}/merge`, { source: source.value, into: into.value }, (merged) => (merged.ok ? `Merged: HEAD is at commit ${merged.head}` : null));
    await look();
    if (done && !done.ok) seen.prepend(note("bad", "The merge failed.", "The scene is unchanged."), ...done.findings.map((finding) => note("bad", finding.message, finding.cure)));
  }, { class: "primary", disabled: true });
  let asked = 0;
  let names = "";

  const look = async () => {
    const mine = ++asked;
    press.disabled = true;
    if (!source.value || source.value === into.value) {
      seen.replaceChildren(h("p", { class: "dim" }, place.state.branches.length > 1 ? "Choose two different branches." : "There is only one branch. Start another one with Branch at a commit of the history."));
      return;
    }
    try {
      const plan = await get(`${place.path}/merge?source=${encodeURIComponent(source.value)}&into=${encodeURIComponent(into.value)}`);
      if (mine !== asked) return;
      seen.replaceChildren(...verdict(place, plan));
      press.disabled = place.readOnly || !plan.ok || plan.kind === "up_to_date";
    } catch (error) {
      if (mine === asked) seen.replaceChildren(note("bad", error.message, error.cure));
    }
  };

  const tell = () => {
    const { branches } = place.state;
    const now = JSON.stringify(branches);
    if (now === names) return;
    names = now;
    const kept = [into.value, source.value];
    const current = branches.find((each) => each.current);
    const option = (each) => h("option", { value: each.name }, `${named(each.name, 40)}${each.current ? " (HEAD)" : ""}`);
    into.replaceChildren(...(current ? [] : [h("option", { value: "HEAD" }, "HEAD")]), ...branches.map(option));
    source.replaceChildren(...branches.map(option));
    into.value = branches.some((each) => each.name === kept[0]) ? kept[0] : current?.name ?? "HEAD";
    source.value = branches.some((each) => each.name === kept[1]) ? kept[1] : branches.find((each) => each.name !== into.value)?.name ?? "";
    look();
  };
  tell();
  return { tell, element: h("section", { class: "card" }, h("header", {}, icon("merge"), h("h2", {}, "Merge two branches")), h("div", { class: "inside stack" },
    h("div", { class: "row wrap fields" }, h("label", {}, "From", source), h("label", {}, "Into", into), press), seen)) };
}

export function lines(place) {
  const merge = mergeCard(place);
  const bisect = bisectCard(place);
  const element = h("div", { class: "page" }, h("header", { class: "stack", style: { gap: "4px" } }, h("h1", {}, "Branches"),
    h("p", { class: "dim" }, "Merge branches whose work does not conflict, and search the history for the commit that broke something.")), merge.element, bisect.element);
  const changed = () => merge.tell();
  place.live.addEventListener("changes", changed);
  return { element, show() {}, end() {
    place.live.removeEventListener("changes", changed);
    bisect.end();
  } };
}
