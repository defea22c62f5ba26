// Small pictures of scenes, rendered on demand. The page shows a picture as soon as the server announces it.

import { raw } from "./api.js";
import { h, icon } from "./dom.js";

export class Pictures {
  #place; #known = new Map(); #wanted = new Map(); #ended = false;

  constructor(place) {
    this.#place = place;
    this.ready = ({ detail }) => {
      for (const [key, shown] of this.#wanted) {
        if (key.startsWith(`${detail.hash} `)) this.#fetch(shown);
      }
    };
    place.live.addEventListener("picture", this.ready);
  }

  // Returns an element that shows the scene of a commit.
  element(commit, size = "small") {
    const frame = h("div", { class: `picture ${size}` }, icon("scene"));
    const key = `${commit.hash} ${size}`;
    const shown = { frame, number: commit.number, size, key };
    if (this.#known.has(key)) this.#show(shown, this.#known.get(key));
    return { frame, want: () => this.#want(shown) };
  }

  #want(shown) {
    if (this.#known.has(shown.key)) {
      this.#show(shown, this.#known.get(shown.key));
      return;
    }
    const already = this.#wanted.get(shown.key);
    this.#wanted.set(shown.key, shown);
    if (!already || !already.frame.isConnected) this.#fetch(shown);
  }

  async #fetch(shown) {
    try {
      const answer = await raw(`${this.#place.path}/pictures/${shown.number}?size=${shown.size}`);
      if (this.#ended || answer.status === 202) return;
      const address = answer.status === 200 ? URL.createObjectURL(await answer.blob()) : null;
      this.#known.set(shown.key, address);
      const wanted = this.#wanted.get(shown.key) ?? shown;
      this.#wanted.delete(shown.key);
      this.#show(wanted, address);
      this.#show(shown, address);
    } catch {
      this.#wanted.delete(shown.key); // the page requests it again when it becomes visible
    }
  }

  #show({ frame }, address) {
    if (address) frame.replaceChildren(h("img", { src: address, alt: "", draggable: "false" }));
  }

  end() {
    this.#ended = true;
    this.#place.live.removeEventListener("picture", this.ready);
    for (const address of this.#known.values()) if (address) URL.revokeObjectURL(address);
  }
}
