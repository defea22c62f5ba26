// The search for the commit that broke a check: the check, the scenes that were checked, and the result.

import { act, get } from "./api.js";
import { ago, button, h, icon, named, note, requestName } from "./dom.js";

const EXAMPLES = ["audit.errors == 0", '"Lamp" in scene.objects', 'scene.objects["Lamp"].location[2] > 0'];

function guilty(place, { first_bad: bad, last_good: good, message, commits, rebuilds }) {
  return h("section", { class: "guilty", "aria-label": "The commit that broke it" }, h("div", { class: "row wrap" }, icon("warn"), h("h3", { class: "grow" }, `The check first fails at commit ${bad.number}`)),
    h("p", {}, h("span", { class: "mono" }, named(bad.tool, 60)), ` ${named(bad.operation_id, 80)}, request ${requestName(bad.request_id)}, ${ago(bad.timestamp)}`),
    message && h("p", {}, named(message, 400)),
    h("p", { class: "row wrap" }, h("a", { class: "button primary", href: place.address("history", bad.number) }, icon("go"), `Open commit ${bad.number}`),
      h("a", { class: "button", href: place.address("history", "compare", good.number, bad.number) }, icon("compare"), `Compare with commit ${good.number}`)),
    h("p", { class: "dim" }, `Blendwright rebuilt ${rebuilds} of ${commits.toLocaleString("en")} scenes.`));
}

export function bisectCard(place) {
  const check = h("input", { class: "field grow mono", id: "check", required: true, maxlength: 4000, autocomplete: "off", spellcheck: "false", placeholder: EXAMPLES[0], disabled: place.readOnly });
  const number = (label) => h("input", { class: "field", type: "text", maxlength: 100, placeholder: label, autocomplete: "off", disabled: place.readOnly, style: { width: "110px" } });
  const [good, bad] = [number("the first"), number("HEAD")];
  const begin = h("button", { class: "button primary", type: "submit", disabled: place.readOnly }, icon("search"), "Search");
  const stop = button("Stop", "cross", () => act(`${place.path}/bisect/stop`, {}), { class: "hidden" });
  const result = h("div", { class: "stack" });
  const live = h("p", { class: "dim", role: "status" });

  const show = (told) => {
    if (told.state === "none") return;
    const running = told.state === "running";
    stop.classList.toggle("hidden", !running);
    begin.disabled = running || place.readOnly;
    if (!check.value) check.value = told.expect;
    const most = Math.ceil(Math.log2(Math.max(2, place.state.length))) + 1;
    live.textContent = running ? `Checking scene ${told.looked.length + 1} of at most ${most}…` : "";
    const seen = [...told.looked].sort((a, b) => a.commit - b.commit);
    result.replaceChildren(...[
      seen.length && h("ol", { class: "looked", "aria-label": "Checked scenes" }, seen.map((each) => {
        const found = told.found?.first_bad.number === each.commit;
        return h("li", {}, h("a", { class: `chip ${each.holds ? "ok" : "bad"} ${found ? "found" : ""}`, href: place.address("history", each.commit), title: named(each.message ?? "", 300) },
          icon(each.holds ? "check" : "cross"), `#${each.commit} ${each.holds ? "holds" : "fails"}`));
      })),
      told.state === "found" && guilty(place, told.found),
      told.state === "refused" && note("bad", told.message, told.cure),
      told.state === "stopped" && note("info", "The search was stopped."),
    ].filter(Boolean));
  };
  const told = ({ detail }) => show(detail);
  place.live.addEventListener("bisect", told);
  get(`${place.path}/bisect`).then(show, () => {});

  const submit = async (event) => {
    event.preventDefault();
    const begun = await act(`${place.path}/bisect`, { expect: check.value, good: good.value.trim(), bad: bad.value.trim() });
    if (begun) show(begun);
  };
  const element = h("section", { class: "card" }, h("header", {}, icon("search"), h("h2", {}, "Find the commit that broke something")), h("form", { class: "inside stack", onsubmit: submit },
    h("label", { class: "stack", style: { gap: "6px" } }, "Condition", check),
    h("p", { class: "dim" }, "An expression that uses ", h("code", {}, "scene"), " or ", h("code", {}, "audit"), ", such as ",
      EXAMPLES.flatMap((each, at) => [at ? ", " : "", h("code", {}, each)]), "."),
    h("div", { class: "row wrap fields" }, h("label", {}, "It holds at", good), h("label", {}, "and fails at", bad), begin, stop), live, result));
  return { element, end: () => place.live.removeEventListener("bisect", told) };
}
