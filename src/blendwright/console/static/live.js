// What happens in a workspace or batch while the page is open. Many events in one frame are told at once, in the next one.

export class Live extends EventTarget {
  #source; #together; #changes = []; #pictures = []; #waits = false;

  // `together` makes one of several changes that come in one frame.
  constructor(path, together) {
    super();
    this.#together = together;
    this.#source = new EventSource(`/api/${path}/events`);
    this.#source.addEventListener("open", () => this.#tell("open"));
    this.#source.addEventListener("error", () => this.#tell("lost"));
    this.#source.addEventListener("changes", (event) => this.#collect(this.#changes, event));
    this.#source.addEventListener("picture", (event) => this.#collect(this.#pictures, event));
    this.#source.addEventListener("bisect", (event) => this.#tell("bisect", JSON.parse(event.data)));
    this.#source.addEventListener("problem", (event) => this.#tell("problem", JSON.parse(event.data)));
  }

  get connected() {
    return this.#source.readyState === EventSource.OPEN;
  }

  close() {
    this.#source.close();
  }

  #collect(list, event) {
    list.push(JSON.parse(event.data));
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
