// The host around this page: JSON-RPC 2.0 by messages to the window that holds it, as MCP Apps (2026-01-26) has it.

const PROTOCOL = "2026-01-26";

class Host {
  #next = 1; #waiting = new Map(); #listeners = new Map();

  constructor() {
    addEventListener("message", (event) => {
      if (event.source === parent && event.data?.jsonrpc === "2.0") this.#take(event.data);
    });
  }

  // Say hello; what the host tells of itself comes back.
  async begin(info) {
    const told = await this.request("ui/initialize", {
      protocolVersion: PROTOCOL, appInfo: info, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    this.notify("ui/notifications/initialized", {});
    return told;
  }

  on(method, listener) {
    this.#listeners.set(method, listener);
  }

  request(method, params) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method, params) {
    this.#send({ method, params });
  }

  #send(message) {
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #take(message) {
    if (message.method === undefined) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message.result);
      return;
    }
    this.#listeners.get(message.method)?.(message.params ?? {});
    if (message.id === undefined) return;
    const known = message.method === "ping" || message.method === "ui/resource-teardown";
    this.#send({ id: message.id, ...(known ? { result: {} } : { error: { code: -32601, message: `no method ${message.method}` } }) });
  }
}
