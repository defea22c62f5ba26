// What happens in a workspace while the page is open. Many events in one frame are told at once, in the next one.

export class Live extends EventTarget {
  #source; #changes = []; #pictures = []; #waits = false;

  constructor(workspace) {
    super();
    this.#source = new EventSource(`/api/workspaces/${workspace}/events`);
    this.#source.addEventListener("open", () => this.#tell("open"));
    this.#source.addEventListener("error", () => this.#tell("lost"));
    this.#source.addEventListener("changes", (event) => this.#collect(this.#changes, event));
    this.#source.addEventListener("picture", (event) => this.#collect(this.#pictures, event));
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
      if (changes.length) {
        const records = changes.flatMap((each) => each.records);
        this.#tell("changes", { state: changes.at(-1).state, records, runs: changes.some((each) => each.runs) });
      }
      for (const each of pictures) this.#tell("picture", each);
    });
  }

  #tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
