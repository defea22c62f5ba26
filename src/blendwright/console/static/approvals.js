// Pending approvals: the exact operation, a preview of its effects, and the two answers.

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
      said === "approve" ? `${asked.id} is approved once. The waiting client continues.` : `${asked.id} is declined.`);
    if (!done) yes.disabled = no.disabled = false;
  };
  const yes = button("Approve once", "check", () => answer("approve"), { class: "primary", disabled: !answerable || asked.in_person });
  const no = button("Decline", "cross", () => answer("decline"), { disabled: !answerable });
  const seen = h("div", { class: "stack" });
  const preview = button("Preview its effects", "eye", async () => {
    preview.disabled = true;
    seen.replaceChildren(waiting("Running it on a copy of the scene…"));
    try {
      const found = await get(`${place.path}/approvals/${asked.id}/preview`);
      seen.replaceChildren(...(found.available
        ? [!found.ok && note("warn", "The plan fails on a copy of the scene."),
          found.picture && h("figure", { class: "figure" }, h("div", { class: "picture" }, h("img", { src: `data:image/png;base64,${found.picture}`, alt: "The scene after the plan" }))),
          differenceCard({ ...found, totals: found.totals })].filter(Boolean)
        : [note("info", "This call does not belong to a plan, so there is no preview.")]));
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
      asked.shown && h("div", { class: "stack", style: { gap: "8px" } }, h("h3", {}, "Complete code"),
        h("pre", { class: "code numbered", tabindex: 0 }, asked.shown.split("\n").map((line) => h("span", {}, ...escaped(line), line ? "" : " ")))),
      h("div", { class: "row wrap" }, h("span", { class: "dim" }, "Needs approval because of"), asked.why.map((reason) => h("span", { class: "chip warn" }, visible(reason)))),
      h("p", { class: "dim" }, "Request ", h("span", { class: "mono" }, named(asked.request_id, 80)), ". An approval counts once, for this operation on this scene."),
      h("div", {}, preview), seen),
    h("footer", {}, asked.in_person && h("label", { class: "consent" }, consent, "I have read the complete code"), yes, no, h("span", { class: "grow" }), until));
  return { element, tick };
}

export function approvals(place) {
  const list = h("div", { class: "stack" }, waiting("Loading the approvals…"));
  const element = h("div", { class: "page" }, h("header", { class: "stack", style: { gap: "4px" } }, h("h1", {}, "Approvals"),
    h("p", { class: "dim" }, "Operations that need a person's approval wait here, whether they come from the command line or from a host.")), list);
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
    list.replaceChildren(...(shown.size ? [...shown.values()].map((each) => each.element) : [empty("check", "No pending approvals", "A request appears here as soon as an operation needs your approval.")]));
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
