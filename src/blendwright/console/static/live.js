// Live events of a workspace or batch. All events of one frame are delivered together in the next frame.

import { raw } from "./api.js";

const AGAIN_MS = 1000;

export class Live extends EventTarget {
  #path; #together; #ended = new AbortController(); #changes = []; #pictures = []; #waits = false;

  // `together` combines several changes of one frame.
  constructor(path, together) {
    super();
    [this.#path, this.#together, this.connected] = [path, together, false];
    this.#follow();
  }

  close() {
    this.#ended.abort();
  }

  // Reads the server's stream and reconnects when it ends. An EventSource could not send the key of this tab.
  async #follow() {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        const { body } = await raw(`${this.#path}/events`, signal);
        this.connected = true;
        this.#tell("open");
        await this.#read(body.pipeThrough(new TextDecoderStream()).getReader());
      } catch {
        // the loop connects again
      }
      this.connected = false;
      if (signal.aborted) return;
      this.#tell("lost");
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  }

  // Parses blocks of lines that end with an empty line. A heartbeat has no event.
  async #read(reader) {
    let begun = "";
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      const blocks = (begun + value).split("\n\n");
      begun = blocks.pop();
      for (const block of blocks) {
        const found = /^event: (\w+)\ndata: (.*)$/.exec(block);
        if (found) this.#take(found[1], JSON.parse(found[2]));
      }
    }
  }

  #take(name, detail) {
    if (name === "changes") this.#collect(this.#changes, detail);
    else if (name === "picture") this.#collect(this.#pictures, detail);
    else this.#tell(name, detail);
  }

  #collect(list, detail) {
    list.push(detail);
    if (this.#waits) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      const [changes, pictures] = [this.#changes, this.#pictures];
      [this.#changes, this.#pictures] = [[], []];
      if (changes.length) this.#tell("changes", this.#together(changes));
      for (const each of pictures) this.#tell("picture", each);
    });
  }

  #tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
