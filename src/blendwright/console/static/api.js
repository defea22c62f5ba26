// Requests to the server of this page, and the session of this tab.

import { toast } from "./dom.js";

export class ApiError extends Error {
  constructor(status, { error = {}, holder = null } = {}) {
    super(error.message ?? `the console answered with HTTP status ${status}`);
    Object.assign(this, { status, code: error.code, cure: error.cure ?? null, findings: error.findings ?? [], holder });
  }
}

export const session = { id: "", readOnly: false, workspaces: [], batches: [] };
// The storage key of this tab's secret, which a request needs in addition to the cookie. The secret survives reloading the page.
const KEY = "blendwright-key";

async function ask(method, path, body, signal = null) {
  const headers = { "x-page-key": sessionStorage.getItem(KEY) ?? "", ...(body === undefined ? {} : { "content-type": "application/json" }) };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method, headers, signal, credentials: "same-origin", body: body === undefined ? null : JSON.stringify(body) });
  } catch {
    throw new ApiError(0, { error: { code: "gone", message: "the console does not answer", cure: "Check that blendwright ui still runs in its terminal." } });
  }
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

// Answers requested before their view exists. Each answer is used once, by that view.
const early = new Map();

export function ahead(path) {
  const answer = ask("GET", path).then((answer) => answer.json());
  answer.catch(() => {}); // the view that uses the answer handles the error
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

// Starts a session with the link in the address, or continues the session of this tab. Throws ApiError.
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

// Downloads a file. A plain link would not carry the key of this tab. `name` is used if the answer contains no file name.
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

// Performs an action and shows its result as a toast. Returns the answer, or null after an error.
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
