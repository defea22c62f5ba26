// The graph of a plan on a canvas, with dependencies and progress. All changes within a frame cost one drawing. The list of operations
// next to it contains the same information for assistive technology.

const [WIDE, TALL, ACROSS, DOWN] = [152, 34, 56, 10];
const TEXT_FROM = 0.55;
const TONES = {
  waiting: "--line-strong", running: "--accent", succeeded: "--ok", skipped_idempotent: "--ok", failed: "--bad", refused: "--bad",
  rolled_back: "--warn", skipped: "--warn",
};

// The layout: an operation's column is the length of the longest path to it; within a column, operations are near their dependencies.
export function layout(operations, shape = 1) {
  const at = new Map(operations.map((each, index) => [each.id, index]));
  const waits = operations.map((each) => [...new Set([...each.depends_on, ...Object.keys(each.implied ?? {})])].map((id) => at.get(id)).filter((index) => index !== undefined));
  const depth = new Array(operations.length).fill(0);
  operations.forEach((_, index) => {
    for (const before of waits[index]) if (before < index) depth[index] = Math.max(depth[index], depth[before] + 1);
  });
  const columns = [];
  depth.forEach((column, index) => (columns[column] ??= []).push(index));
  const row = new Array(operations.length).fill(0);
  for (const column of columns) {
    if (!column) continue;
    const middle = (index) => (waits[index].length ? waits[index].reduce((sum, each) => sum + row[each], 0) / waits[index].length : 0);
    column.sort((a, b) => middle(a) - middle(b) || a - b);
    column.forEach((index, place) => { row[index] = place; });
  }
  // Splits long columns into adjacent ones, so that the graph fits the shape of its area.
  const tallest = Math.max(...columns.map((column) => column?.length ?? 0), 1);
  const most = Math.max(8, Math.ceil(Math.sqrt((operations.length * (WIDE + ACROSS)) / (TALL + DOWN) / shape)));
  let left = 0;
  const places = new Array(operations.length);
  for (const column of columns) {
    if (!column) continue;
    const folds = tallest > most ? Math.ceil(column.length / most) : 1;
    const rows = Math.ceil(column.length / folds);
    column.forEach((index, place) => { places[index] = { x: left + Math.floor(place / rows) * (WIDE + 18), y: (place % rows) * (TALL + DOWN) }; });
    left += (folds - 1) * (WIDE + 18) + WIDE + ACROSS;
  }
  const edges = [];
  waits.forEach((each, index) => { for (const before of each) edges.push([before, index, !operations[index].depends_on.includes(operations[before].id)]); });
  return { places, edges, waits };
}

export class PlanGraph extends EventTarget {
  #operations = []; #layout = { places: [], edges: [], waits: [] }; #canvas; #context; #scale = 1; #x = 0; #y = 0; #waits = false; #selected = -1;
  #drag = null; #fitted = true; #colors = {}; #watch;

  constructor() {
    super();
    this.#canvas = document.createElement("canvas");
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", "The graph of the plan. The list of operations contains the same information.");
    this.#context = this.#canvas.getContext("2d");
    this.#watch = new ResizeObserver(() => (this.#fitted ? this.fit() : this.refresh()));
    this.#watch.observe(this.#canvas);
    this.#listen();
  }

  get element() {
    return this.#canvas;
  }

  set operations(list) {
    this.#operations = list;
    this.#layout = layout(list, (this.#canvas.clientWidth || 1) / (this.#canvas.clientHeight || 1));
    this.fit();
  }

  // Selects an operation.
  select(index, follow = false) {
    this.#selected = index;
    const place = this.#layout.places[index];
    if (follow && place) {
      const { clientWidth: width, clientHeight: height } = this.#canvas;
      const [x, y] = [place.x * this.#scale + this.#x, place.y * this.#scale + this.#y];
      if (x < 0 || y < 0 || x + WIDE * this.#scale > width || y + TALL * this.#scale > height) {
        this.#x = width / 2 - (place.x + WIDE / 2) * this.#scale;
        this.#y = height / 2 - (place.y + TALL / 2) * this.#scale;
        this.#fitted = false;
      }
    }
    this.refresh();
  }

  fit() {
    const { places } = this.#layout;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (!places.length || !width) return;
    const right = places.reduce((most, each) => Math.max(most, each.x), 0) + WIDE;
    const bottom = places.reduce((most, each) => Math.max(most, each.y), 0) + TALL;
    this.#scale = Math.min(1, (width - 48) / right, (height - 48) / bottom);
    this.#x = (width - right * this.#scale) / 2;
    this.#y = (height - bottom * this.#scale) / 2;
    this.#fitted = true;
    this.refresh();
  }

  zoom(by, x = this.#canvas.clientWidth / 2, y = this.#canvas.clientHeight / 2) {
    const scale = Math.min(2.5, Math.max(0.02, this.#scale * by));
    this.#x = x - ((x - this.#x) * scale) / this.#scale;
    this.#y = y - ((y - this.#y) * scale) / this.#scale;
    this.#scale = scale;
    this.#fitted = false;
    this.refresh();
  }

  refresh() {
    if (this.#waits) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      this.#draw();
    });
  }

  end() {
    this.#watch.disconnect();
  }

  themed() {
    this.#colors = {};
    this.refresh();
  }

  #draw() {
    const canvas = this.#canvas;
    const context = this.#context;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    // The colours are CSS expressions for two themes. An element evaluates each one once.
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(this.#x, this.#y);
    context.scale(this.#scale, this.#scale);
    const { places, edges } = this.#layout;
    const [left, top] = [-this.#x / this.#scale - WIDE, -this.#y / this.#scale - TALL];
    const [right, bottom] = [left + width / this.#scale + 2 * WIDE, top + height / this.#scale + 2 * TALL];
    const seen = ({ x, y }) => x > left && x < right && y > top && y < bottom;
    this.#edges(context, edges, places, seen);
    const tones = Object.fromEntries(Object.entries(TONES).map(([name, tone]) => [name, this.#resolved(tone)]));
    const [surface, text, dim, line, accent] = ["--surface", "--text", "--dim", "--line-strong", "--accent"].map((name) => this.#resolved(name));
    const wordy = this.#scale >= TEXT_FROM;
    context.textBaseline = "middle";
    this.#operations.forEach((each, index) => {
      const place = places[index];
      if (!seen(place)) return;
      const tone = tones[each.status] ?? tones.waiting;
      context.beginPath();
      context.roundRect(place.x, place.y, WIDE, TALL, 8);
      context.fillStyle = wordy ? surface : tone;
      context.fill();
      context.lineWidth = index === this.#selected ? 2.5 : 1;
      context.strokeStyle = index === this.#selected ? accent : wordy ? line : tone;
      context.stroke();
      if (!wordy) return;
      context.fillStyle = tone;
      context.beginPath();
      context.roundRect(place.x + 6, place.y + 7, 5, TALL - 14, 2.5);
      context.fill();
      context.fillStyle = text;
      context.font = `600 12px ${this.#font}`;
      context.fillText(each.short, place.x + 19, place.y + 12, WIDE - 26);
      context.fillStyle = dim;
      context.font = `11px ${this.#font}`;
      context.fillText(each.ms ? `${each.tool}  ${Math.round(each.ms)} ms` : each.tool, place.x + 19, place.y + 25, WIDE - 26);
    });
  }

  #edges(context, edges, places, seen) {
    const chosen = this.#selected;
    for (const [strong, style, width] of [[false, this.#resolved("--line-strong"), 1], [true, this.#resolved("--accent"), 2]]) {
      context.beginPath();
      for (const [from, to] of edges) {
        if ((from === chosen || to === chosen) !== strong) continue;
        const [a, b] = [places[from], places[to]];
        if (!seen(a) && !seen(b)) continue;
        const [x1, y1, x2, y2] = [a.x + WIDE, a.y + TALL / 2, b.x, b.y + TALL / 2];
        const bend = Math.max(24, Math.abs(x2 - x1) / 2);
        context.moveTo(x1, y1);
        context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      }
      context.strokeStyle = style;
      context.lineWidth = width / Math.max(this.#scale, 0.35);
      context.stroke();
    }
  }

  get #font() {
    return (this.#colors.font ??= getComputedStyle(document.body).fontFamily);
  }

  #resolved(name) {
    if (!this.#colors[name]) {
      this.#canvas.style.setProperty("color", `var(${name})`);
      this.#colors[name] = getComputedStyle(this.#canvas).color;
      this.#canvas.style.removeProperty("color");
    }
    return this.#colors[name];
  }

  #listen() {
    const canvas = this.#canvas;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#drag = { x: event.clientX, y: event.clientY, far: 0 };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.#drag) return;
      const [dx, dy] = [event.clientX - this.#drag.x, event.clientY - this.#drag.y];
      this.#drag = { x: event.clientX, y: event.clientY, far: this.#drag.far + Math.abs(dx) + Math.abs(dy) };
      this.#x += dx;
      this.#y += dy;
      this.#fitted = false;
      this.refresh();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.#drag && this.#drag.far < 5) this.#pick(event);
      this.#drag = null;
    });
    canvas.addEventListener("pointercancel", () => { this.#drag = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0016), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  #pick(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - this.#x) / this.#scale, (event.clientY - box.top - this.#y) / this.#scale];
    const index = this.#layout.places.findIndex((place) => x >= place.x && x <= place.x + WIDE && y >= place.y && y <= place.y + TALL);
    if (index >= 0) this.dispatchEvent(new CustomEvent("pick", { detail: index }));
  }
}
