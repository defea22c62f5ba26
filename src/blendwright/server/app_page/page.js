// The page: the scene of an answer to be turned around, before and after for a preview, and what changes. It looks and does nothing else.

const byId = (id) => document.getElementById(id);
const host = new Host();
const [BEFORE, AFTER] = ["before", "after"];
const MOST_LINES = 60;
let view = null;
let asked = {};
let files = {};

const say = (text) => { byId("state").textContent = text; };

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function wear(context = {}) {
  if (context.theme) document.documentElement.dataset.theme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
    if (value) document.documentElement.style.setProperty(name, value);
  }
  view?.refresh();
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// A file comes in parts, each as a resource in the answer of a tool that only this page may call.
async function fetchScene(tool, args) {
  const pieces = [];
  for (let part = 0, parts = 1; part < parts; part++) {
    const answer = await host.request("tools/call", { name: tool, arguments: { ...args, part } });
    const told = answer.structuredContent ?? {};
    if (answer.isError) throw new Error(told.message ?? "the scene cannot be shown");
    parts = told.result?.parts ?? 0;
    const held = (answer.content ?? []).find((block) => block.type === "resource");
    if (held) pieces.push(bytesOf(held.resource.blob));
    if (parts > 1) say(`Loading, ${part + 1} of ${parts} …`);
  }
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0);
  return whole;
}

function show(side) {
  const bytes = files[side];
  if (!bytes) return;
  const place = view?.position;
  view?.dispose();
  view = null;
  if (!bytes.length) {
    byId("view").replaceChildren();
    say("There is nothing in this scene that can be shown.");
  } else {
    byId("picture").hidden = true;
    view = new SceneView(byId("view"), bytes);
    if (place) view.position = place;
    say(`${view.objects.length} objects, ${Math.round(view.triangles).toLocaleString("en")} triangles. Drag to turn, scroll to zoom.`);
  }
  for (const name of [BEFORE, AFTER]) byId(name).setAttribute("aria-pressed", String(name === side));
}

async function load(side, tool, args) {
  try {
    files[side] = await fetchScene(tool, args);
    return true;
  } catch (error) {
    say(`The scene cannot be turned around here: ${error.message}`);
    return false;
  }
}

function pictureOf(answer) {
  const image = (answer.content ?? []).find((block) => block.type === "image");
  if (!image) return;
  byId("picture").src = `data:${image.mimeType};base64,${image.data}`;
  byId("picture").hidden = false;
}

function lines(difference) {
  const found = [];
  for (const [change, kinds] of Object.entries(difference ?? {})) {
    if (Array.isArray(kinds)) {
      for (const one of kinds) found.push([change, [one.kind, one.name].filter(Boolean).join(" ")]);
    } else if (typeof kinds === "object" && kinds !== null) {
      for (const [kind, names] of Object.entries(kinds)) found.push([change, `${kind} ${typeof names === "string" ? names : JSON.stringify(names)}`]);
    }
  }
  return found;
}

function tell(result) {
  const found = lines(result.result);
  byId("changes").replaceChildren(...found.slice(0, MOST_LINES).map(([change, what]) => {
    const line = document.createElement("li");
    line.append(element("b", change), element("span", what));
    return line;
  }));
  if (found.length > MOST_LINES) byId("changes").append(element("li", `… and ${found.length - MOST_LINES} more`));
  const asks = result.report?.asks ?? [];
  byId("asks").hidden = !asks.length;
  byId("asks").replaceChildren(
    element("p", `A run would ask a person about: ${asks.join(", ")}. This page cannot allow it.`),
    element("code", "blendwright ui"), document.createTextNode("  or  "), element("code", "blendwright approve"),
  );
}

host.on("ui/notifications/tool-input", ({ arguments: given }) => { asked = given ?? {}; });
host.on("ui/notifications/tool-cancelled", () => say("The call was cancelled."));
host.on("ui/notifications/host-context-changed", wear);
host.on("ui/notifications/tool-result", async (answer) => {
  const previewed = ["plan", "program", "program_edit"].some((name) => name in asked);
  const told = answer.structuredContent ?? {};
  pictureOf(answer);
  files = {};
  byId("title").textContent = previewed ? "What the plan would make" : "The scene";
  if (answer.isError) {
    say(told.message ?? "The call failed.");
    return;
  }
  if (previewed) {
    tell(told.result ?? {});
    const { plan, program, program_edit: edit, params } = asked;
    const args = Object.fromEntries(Object.entries({ plan, program, program_edit: edit, params }).filter(([, value]) => value !== undefined));
    say("Loading what it would make …");
    if (await load(AFTER, "app_preview", args)) show(AFTER);
    byId("sides").hidden = !(await load(BEFORE, "app_scene", {})) || !files[AFTER];
    return;
  }
  say("Loading the scene …");
  if (await load(AFTER, "app_scene", {})) show(AFTER);
});
for (const side of [BEFORE, AFTER]) byId(side).addEventListener("click", () => show(side));
new ResizeObserver(() => host.notify("ui/notifications/size-changed", {
  width: Math.ceil(document.documentElement.scrollWidth), height: Math.ceil(document.body.getBoundingClientRect().height),
})).observe(document.body);
wear((await host.begin({ name: "blendwright", version: "1" })).hostContext);
