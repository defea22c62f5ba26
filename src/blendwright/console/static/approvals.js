// What waits for a person: exactly what it would do, what a preview shows of it, and the two answers.

import { act, get } from "./api.js";
import { button, empty, escaped, h, icon, named, note, plural, visible, waiting } from "./dom.js";
import { differenceCard } from "./compare.js";

const LEVELS = { destructive: "bad", safe_write: "info", read_only: "ok" };

function card(place, asked) {
  const answerable = !place.readOnly;
  const until = h("span", { class: "dim" });
  const tick = () => {
    const left = Math.max(0, asked.expires - Date.now() / 1000);
    until.textContent = left ? `expires in ${left >= 90 ? plural(Math.round(left / 60), "minute") : plural(Math.ceil(left), "second")}` : "has expired";
  };
  const consent = h("input", { type: "checkbox", onchange: () => { yes.disabled = !consent.checked || !answerable; } });
  const answer = async (said) => {
    yes.disabled = no.disabled = true;
    const done = await act(`${place.path}/approvals/${asked.id}`, { answer: said, operation_hash: asked.operation_hash },
      said === "approve" ? `${asked.id} is approved, once. Whoever waits for it goes on.` : `${asked.id} is declined.`);
    if (!done) yes.disabled = no.disabled = false;
  };
  const yes = button("Approve once", "check", () => answer("approve"), { class: "primary", disabled: !answerable || asked.in_person });
  const no = button("Decline", "cross", () => answer("decline"), { disabled: !answerable });
  const seen = h("div", { class: "stack" });
  const preview = button("Show what it would do", "eye", async () => {
    preview.disabled = true;
    seen.replaceChildren(waiting("Trying it on a copy of the scene…"));
    try {
      const found = await get(`${place.path}/approvals/${asked.id}/preview`);
      seen.replaceChildren(...(found.available
        ? [!found.ok && note("warn", "On a copy, the plan does not succeed as it is."),
          found.picture && h("figure", { class: "figure" }, h("div", { class: "picture" }, h("img", { src: `data:image/png;base64,${found.picture}`, alt: "The scene as it would be" }))),
          differenceCard({ ...found, totals: found.totals })].filter(Boolean)
        : [note("info", "This call belongs to no plan, so there is nothing to try on a copy.")]));
    } catch (error) {
      seen.replaceChildren(note("bad", error.message, error.cure));
      preview.disabled = false;
    }
  });
  tick();
  const element = h("article", { class: "card approval", "aria-label": `Approval ${asked.id}` },
    h("header", {}, icon("approval"), h("h2", { class: "clip" }, named(asked.operation_id, 80)), h("span", { class: `chip ${LEVELS[asked.safety_level] ?? ""}` }, asked.safety_level.replace("_", " ")),
      h("span", { class: "grow" }), h("span", { class: "mono dim" }, asked.id)),
    h("div", { class: "ask" },
      h("pre", { class: "code wrapped", tabindex: 0 }, escaped(asked.what)),
      asked.shown && h("div", { class: "stack", style: { gap: "8px" } }, h("h3", {}, "The code, whole"),
        h("pre", { class: "code numbered", tabindex: 0 }, asked.shown.split("\n").map((line) => h("span", {}, ...escaped(line), line ? "" : " ")))),
      h("div", { class: "row wrap" }, h("span", { class: "dim" }, "Asked because of"), asked.why.map((reason) => h("span", { class: "chip warn" }, visible(reason)))),
      h("p", { class: "dim" }, "Request ", h("span", { class: "mono" }, named(asked.request_id, 80)), ". An approval is good for this operation on this scene, once."),
      h("div", {}, preview), seen),
    h("footer", {}, asked.in_person && h("label", { class: "consent" }, consent, "I have read all of it"), yes, no, h("span", { class: "grow" }), until));
  return { element, tick };
}

export function approvals(place) {
  const list = h("div", { class: "stack" }, waiting("Looking what waits…"));
  const element = h("div", { class: "page" }, h("header", { class: "stack", style: { gap: "4px" } }, h("h1", {}, "Approvals"),
    h("p", { class: "dim" }, "What the policy does not simply allow waits here, for the command line as well as for hosts.")), list);
  const shown = new Map();
  let ended = false;

  const load = async () => {
    let found;
    try {
      ({ approvals: found } = await get(`${place.path}/approvals`));
    } catch (error) {
      list.replaceChildren(note("bad", error.message, error.cure));
      return;
    }
    if (ended) return;
    const ids = new Set(found.map((each) => each.id));
    for (const id of [...shown.keys()]) if (!ids.has(id)) shown.delete(id);
    for (const each of found) if (!shown.has(each.id)) shown.set(each.id, card(place, each));
    list.replaceChildren(...(shown.size ? [...shown.values()].map((each) => each.element) : [empty("check", "Nothing waits for you", "What needs a person's yes appears here as soon as it is asked.")]));
  };
  const changed = ({ detail }) => {
    if ([...shown.keys()].sort().join() !== detail.state.approvals.join()) load();
  };
  place.live.addEventListener("changes", changed);
  const ticking = setInterval(() => shown.forEach((each) => each.tick()), 1000);
  load();
  return {
    element,
    show() {},
    end() {
      ended = true;
      clearInterval(ticking);
      place.live.removeEventListener("changes", changed);
    },
  };
}
