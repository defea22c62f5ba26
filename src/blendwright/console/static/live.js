// What happens in a workspace or batch while the page is open. Many events in one frame are told at once, in the next one.

import { raw } from "./api.js";

const AGAIN_MS = 1000;

export class Live extends EventTarget {
  #path; #together; #ended = new AbortController(); #changes = []; #pictures = []; #waits = false;

  // `together` makes one of several changes that come in one frame.
  constructor(path, together) {
    super();
    [this.#path, this.#together, this.connected] = [path, together, false];
    this.#follow();
  }

  close() {
    this.#ended.abort();
  }

  // The stream of the server, again and again: an EventSource could not say which tab it is for.
  async #follow() {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        const { body } = await raw(`${this.#path}/events`, signal);
        this.connected = true;
        this.#tell("open");
        await this.#read(body.pipeThrough(new TextDecoderStream()).getReader());
      } catch {
        // it is asked for again
      }
      this.connected = false;
      if (signal.aborted) return;
      this.#tell("lost");
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  }

  // Blocks of lines with an empty line behind each; one that only says that somebody is there has no event.
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
