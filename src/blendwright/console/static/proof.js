// The audit chain: the result of its verification, its head, and a proof bundle for other people.

import { get, save } from "./api.js";
import { ago, button, h, icon, named, note, plural, waiting } from "./dom.js";

const TONES = { succeeded: "ok", skipped_idempotent: "ok", failed: "bad", rolled_back: "warn" };

export function proof(place) {
  const result = h("div", { class: "stack" });
  const again = button("Verify again", "again", () => verify());
  const element = h("div", { class: "page" },
    h("header", { class: "row wrap" }, h("div", { class: "grow stack", style: { gap: "4px" } }, h("h1", {}, "Proof"),
      h("p", { class: "dim" }, "Every attempted operation has a record, and every record contains the hash of the previous one.")), again), result);
  let ended = false;

  // Downloads a bundle that is signed with the key of the console's user.
  const bundle = async (event) => {
    const pressed = event.currentTarget;
    pressed.disabled = true;
    await save(`${place.path}/proof/bundle`, `${place.name.replace(/[^\w-]/g, "") || "workspace"}.proof.jsonl`);
    pressed.disabled = false;
  };

  const verify = async () => {
    again.disabled = true;
    result.replaceChildren(waiting("Checking every record…"));
    try {
      const found = await get(`${place.path}/proof`);
      if (!ended) show(found);
    } catch (error) {
      result.replaceChildren(note("bad", error.message, error.cure));
    }
    again.disabled = false;
  };

  const show = (found) => {
    result.replaceChildren(
      h("section", { class: "card seal" }, h("div", { class: `disc ${found.ok ? "" : "bad"}` }, icon(found.ok ? "check" : "warn")),
        h("div", { class: "stack grow", style: { gap: "2px" } }, h("h2", {}, found.ok ? "The audit chain is valid" : "The audit chain is not valid"),
          h("p", { class: "dim" }, `${plural(found.records, "record")} checked, from the first to the last.`))),
      ...found.problems.map((problem) => note("bad", problem)),
      ...(found.not_covered ? [note("warn", `Arguments and receipts of ${found.not_covered} commits and readings are not protected by the chain, because an older version wrote them.`)] : []),
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Head of the chain")), h("div", { class: "inside stack" },
        h("p", { class: "hash" }, `${found.head.sequence} ${found.head.hash}`),
        h("p", { class: "dim" }, "Keep a copy of this hash elsewhere: a rewritten history cannot have the same hash. To check it later:"),
        h("pre", { class: "code wrapped", tabindex: 0 }, `blendwright audit verify --known ${found.head.sequence}:${found.head.hash}`))),
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Proof for others")), h("div", { class: "inside stack" },
        h("p", { class: "dim" }, "A signed bundle contains the journal, the receipts and the hashes of the saved scenes. Others can check it without this workspace and without Blender:"),
        h("pre", { class: "code wrapped", tabindex: 0 }, "blendwright audit verify BUNDLE"),
        h("div", {}, button("Export a signed bundle", "download", bundle, { disabled: !found.ok })))),
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Latest records")), h("div", { class: "scroll-x", tabindex: 0, role: "region", "aria-label": "Latest records" }, h("table", {},
        h("thead", {}, h("tr", {}, ["Record", "Operation", "Status", "Approved by", "Time", "Hash"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, found.last.map((record) => h("tr", {},
          h("td", { class: "mono" }, String(record.sequence)),
          h("td", {}, h("div", { class: "mono" }, named(record.tool_name, 60)), h("div", { class: "dim" }, named(record.operation_id, 60))),
          h("td", {}, h("span", { class: `chip ${TONES[record.status] ?? ""}` }, record.status.replace("_", " "))),
          h("td", {}, record.approval_by ? named(record.approval_by, 40) : "—"),
          h("td", { class: "dim" }, ago(record.timestamp)),
          h("td", { class: "mono dim" }, record.hash.slice(0, 12)))))))));
  };

  verify();
  return { element, show() {}, end() { ended = true; } };
}
