// Functions that create elements. Text stays text: no code of this page turns it into markup.

const ICONS = {
  history: "M3 12a9 9 0 1 0 3-6.7M3 4v4h4M12 7v5l3 2",
  plan: "M5 4h5v5H5zM14 15h5v5h-5zM7.5 9v5.5a3 3 0 0 0 3 3H14M14 4h5v5h-5zM10 6.5h4",
  approval: "M12 3l7 3v5c0 4.5-3 8-7 10-4-2-7-5.5-7-10V6zM9 11.5l2.2 2.2L15.5 9.5",
  scene: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  proof: "M6 3h9l4 4v14H6zM15 3v4h4M9.5 14l2 2 4-4",
  merge: "M7 4v16M17 4v3c0 5-10 4-10 9M17 4h.01M4 17l3 3 3-3", search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20",
  list: "M4 6h16M4 12h16M4 18h16",
  batch: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  undo: "M9 7H15a5 5 0 0 1 0 10H8M9 7l3-3M9 7l3 3", redo: "M15 7H9a5 5 0 0 0 0 10h7M15 7l-3-3M15 7l-3 3",
  go: "M5 12h13M13 7l5 5-5 5", tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01", compare: "M12 3v18M4 6h5v12H4M20 6h-5v12h5",
  download: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14", fork: "M6 4v16M6 14c0-4 12-3 12-9M18 5V4M15 7l3-3 3 3",
  check: "M5 12.5l4.5 4.5L19 7", cross: "M6 6l12 12M18 6L6 18", back: "M19 12H6M11 7l-5 5 5 5", frame: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z", auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  leave: "M14 4h5v16h-5M15 12H4M8 8l-4 4 4 4", warn: "M12 4l9 16H3zM12 10v4M12 17h.01", info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8h.01",
  plus: "M12 5v14M5 12h14", minus: "M5 12h14", eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  mesh: "M12 3l8 4.5v9L12 21l-8-4.5v-9z", light: "M9 18h6M10 21h4M8 14a6 6 0 1 1 8 0c-.7.7-1 1.2-1 2H9c0-.8-.3-1.3-1-2z",
  camera: "M3 8h4l2-3h6l2 3h4v11H3zM12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z", dot: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  model: "M12 3l2 5.5L19.5 11 14 13l-2 6-2-6-5.5-2L10 8.5z", person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 21c0-4 3.5-6 7.5-6s7.5 2 7.5 6",
  code: "M8 7l-5 5 5 5M16 7l5 5-5 5", workspace: "M4 6h6l2 2h8v11H4z", again: "M20 12a8 8 0 1 1-2.5-5.8M20 3v4h-4",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name] ?? ICONS.dot);
  svg.append(path);
  return svg;
}

// h("p", { class: "dim", onclick: … }, "text", element). Properties that are null or false are omitted.
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else if (name === "style") for (const [property, set] of Object.entries(value)) made.style.setProperty(property, set);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function button(label, symbol, onclick, more = {}) {
  const shown = more.only ? [icon(symbol), h("span", { class: "visually-hidden" }, label)] : [symbol && icon(symbol), label];
  const { only, ...rest } = more;
  const kind = `button ${only ? "icon-only quiet" : ""} ${rest.class ?? ""}`;
  return h("button", { type: "button", title: only ? label : null, ...rest, class: kind, onclick }, ...shown);
}

// Characters that are invisible or change the writing direction. The page shows them as their code points.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0\uFE00-\uFE0F\u180B-\u180F]|[\p{Zs}--[ ]]/gv;
export function visible(text, keep = "") {
  return String(text).replace(UNSEEN, (character) => (keep.includes(character) ? character : `\\u{${character.codePointAt(0).toString(16)}}`));
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Returns a name, shortened for display in one line.
export function named(text, most = 120) {
  return visible(shortened(String(text), most));
}

// Returns the id of a request for display. An id that is a hash is shortened.
export function requestName(id) {
  return /^[0-9a-f]{64}$/.test(id) ? `program ${id.slice(0, 10)}` : /^[0-9a-f]{32}$/.test(id) ? `call ${id.slice(0, 10)}` : named(id, 80);
}

export function pretty(value) {
  return visible(JSON.stringify(value, null, 2), "\n");
}

// Returns text with its escaped characters highlighted.
export function escaped(text) {
  return text.split(/(\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|u\{[0-9a-f]+\}))/).map((part, at) =>
    at % 2 ? h("span", { class: "escape" }, part) : part);
}

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
export function ago(time) {
  const seconds = (new Date(time).getTime() - Date.now()) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1);
  return relative.format(Math.round(seconds / size), unit);
}

export const clock = (time) => new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
export const shortHash = (hash) => (hash ?? "").split(":").at(-1).slice(0, 12);
export const duration = (ms) => (ms === null || ms === undefined ? "" : ms >= 60000 ? `${(ms / 60000).toFixed(1)} min` : ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`);
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export function note(kind, message, cure = null) {
  const symbol = { bad: "warn", warn: "warn", ok: "check" }[kind] ?? "info";
  return h("div", { class: `note ${kind}` }, icon(symbol), h("div", { class: "grow" }, h("p", {}, named(message, 2000)), cure && h("p", {}, named(cure, 2000))));
}

export const waiting = (text) => h("div", { class: "waiting", role: "status" }, h("span", { class: "spinner" }), text);

export function empty(symbol, title, text) {
  return h("div", { class: "empty" }, icon(symbol), h("h2", {}, title), text && h("p", {}, text));
}

const toasts = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
document.body.append(toasts);
export function toast(kind, message, cure = null) {
  const shown = note(kind, message, cure);
  shown.append(button("Close", "cross", () => shown.remove(), { only: true }));
  toasts.append(shown);
  while (toasts.children.length > 4) toasts.firstChild.remove();
  setTimeout(() => shown.remove(), kind === "bad" ? 15000 : 5000);
}

// Asks a question in a dialog. Resolves to the entered text, or to null if the user cancels.
export function ask(title, text, { field = null, action = "OK" } = {}) {
  return new Promise((resolve) => {
    const input = field && h("input", { class: "field", "aria-label": field, maxlength: 100, required: true, autocomplete: "off" });
    const dialog = h("dialog", { "aria-label": title });
    const close = (answer) => {
      dialog.close();
      dialog.remove();
      resolve(answer);
    };
    dialog.append(h("form", { onsubmit: (event) => { event.preventDefault(); close(input ? input.value : true); } },
      h("h2", {}, title), text && h("p", { class: "dim" }, text), input && h("label", { class: "stack" }, field, input),
      h("div", { class: "actions" }, button("Cancel", null, () => close(null)), h("button", { class: "button primary", type: "submit" }, action))));
    dialog.addEventListener("cancel", () => close(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}
