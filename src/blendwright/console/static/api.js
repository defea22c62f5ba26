// Requests to the server of this page, and the session that they are made in.

import { toast } from "./dom.js";

export class ApiError extends Error {
  constructor(status, { error = {}, holder = null } = {}) {
    super(error.message ?? `the console answered ${status}`);
    Object.assign(this, { status, code: error.code, cure: error.cure ?? null, findings: error.findings ?? [], holder });
  }
}

export const session = { id: "", csrf: "", readOnly: false, workspaces: [], batches: [] };

async function ask(method, path, body) {
  const headers = method === "GET" ? {} : { "content-type": "application/json", "x-csrf-token": session.csrf };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method, headers, credentials: "same-origin", body: body === undefined ? null : JSON.stringify(body) });
  } catch {
    throw new ApiError(0, { error: { code: "gone", message: "the console does not answer", cure: "Is it still running in its terminal?" } });
  }
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return answer;
}

export const get = async (path) => (await ask("GET", path)).json();
export const raw = (path) => ask("GET", path);
export const post = async (path, body) => (await ask("POST", path, body)).json();

function remember({ session: id, csrf, read_only: readOnly, workspaces, batches }) {
  Object.assign(session, { id, csrf, readOnly, workspaces, batches });
}

// With the link of the address, or with the cookie from before. Raises ApiError.
export async function enter() {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (link) {
    history.replaceState(null, "", location.pathname);
    remember(await post("session", { link }));
  } else remember(await get("session"));
}

export async function leave() {
  await ask("DELETE", "session");
  location.reload();
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
