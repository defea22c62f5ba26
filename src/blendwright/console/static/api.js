// Requests to the server of this page, and the session that they are made in.

import { toast } from "./dom.js";

export class ApiError extends Error {
  constructor(status, { error = {}, holder = null } = {}) {
    super(error.message ?? `the console answered ${status}`);
    Object.assign(this, { status, code: error.code, cure: error.cure ?? null, findings: error.findings ?? [], holder });
  }
}

export const session = { id: "", readOnly: false, workspaces: [], batches: [] };
// What stands for this tab, beside the cookie. A browser keeps it for this origin, port and all, and for this tab; it stays when the page is loaded again.
const KEY = "blendwright-key";

async function ask(method, path, body, signal = null) {
  const headers = { "x-page-key": sessionStorage.getItem(KEY) ?? "", ...(body === undefined ? {} : { "content-type": "application/json" }) };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method, headers, signal, credentials: "same-origin", body: body === undefined ? null : JSON.stringify(body) });
  } catch {
    throw new ApiError(0, { error: { code: "gone", message: "the console does not answer", cure: "Is it still running in its terminal?" } });
  }
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

// What is asked for before the view that needs it exists; it is good for one answer, and for that view.
const early = new Map();

export function ahead(path) {
  const answer = ask("GET", path).then((answer) => answer.json());
  answer.catch(() => {}); // whoever gets it is told
  early.set(path, answer);
}

export const forget = () => early.clear();

export async function get(path) {
  const answer = early.get(path);
  early.delete(path);
  return answer ?? (await ask("GET", path)).json();
}
export const raw = (path, signal) => ask("GET", path, undefined, signal);
export const post = async (path, body) => (await ask("POST", path, body)).json();

function remember({ session: id, key, read_only: readOnly, workspaces, batches }) {
  if (key) sessionStorage.setItem(KEY, key);
  Object.assign(session, { id, readOnly, workspaces, batches });
}

// With the link of the address, or as what this tab was before. Raises ApiError.
export async function enter() {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (link) {
    history.replaceState(null, "", location.pathname);
    remember(await post("session", { link }));
  } else remember(await get("session"));
}

export async function leave() {
  await ask("DELETE", "session");
  sessionStorage.removeItem(KEY);
  location.reload();
}

// A file of the console, saved by the browser: an address alone would not say which tab asks for it. `name` is for one that the console does not name.
export async function save(path, name) {
  try {
    const answer = await raw(path);
    const given = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "");
    const address = URL.createObjectURL(await answer.blob());
    Object.assign(document.createElement("a"), { href: address, download: given?.[1] ?? name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  } catch (error) {
    toast("bad", error.message, error.cure ?? null);
  }
}

// An act of a person: what became of it is told where they look.
export async function act(path, body, done) {
  try {
    const answer = await post(path, body);
    if (done) toast("ok", typeof done === "function" ? done(answer) : done);
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast("bad", error.message, error.cure);
    return null;
  }
}
