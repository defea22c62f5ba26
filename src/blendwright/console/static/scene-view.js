// An interactive 3D view of a scene: `new SceneView(element, glbBytes)`. It uses WebGL2 and only glb.js.
//
// Mouse: drag turns, right or shift and drag moves, wheel zooms. Touch: one finger turns, two move and zoom. Keys: arrows turn, shift and
// arrows move, + and - zoom, Home frames everything. Events on the element: `pick` with { name } of the clicked object, or null.
// Colours come from the custom properties --scene-top, --scene-bottom, --scene-grid and --accent of the element.

import { multiply, readGlb } from "./glb.js";

const VERTEX = `#version 300 es
precision highp float;
layout(location=0) in vec3 position;
layout(location=1) in vec3 normal;
layout(location=2) in vec2 uv;
layout(location=3) in vec4 color;
uniform mat4 world, camera;
uniform mat3 turned;
uniform vec3 uvX, uvY;
out vec3 at, facing;
out vec2 place;
out vec4 tint;
void main() {
  vec4 where = world * vec4(position, 1.0);
  at = where.xyz;
  facing = turned * normal;
  place = vec2(dot(uvX, vec3(uv, 1.0)), dot(uvY, vec3(uv, 1.0)));
  tint = color;
  gl_Position = camera * where;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 at, facing;
in vec2 place;
in vec4 tint;
uniform vec3 eye, right, up, emissive, chosen;
uniform vec4 base;
uniform float metallic, roughness, cutoff, smoothed, textured, unlit, picked, solid;
uniform sampler2D image;
out vec4 shown;
vec3 lit(vec3 n, vec3 v, vec3 l, vec3 light, vec3 albedo, vec3 f0, float rough) {
  vec3 h = normalize(l + v);
  float nl = max(dot(n, l), 0.0), nh = max(dot(n, h), 0.0), nv = max(dot(n, v), 0.02), vh = max(dot(v, h), 0.0);
  float a = rough * rough, a2 = a * a, d = nh * nh * (a2 - 1.0) + 1.0;
  float k = (rough + 1.0) * (rough + 1.0) / 8.0;
  float spread = a2 / (3.1416 * d * d) / (4.0 * (nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
  vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - vh, 5.0);
  return (albedo * (1.0 - fresnel) / 3.1416 + fresnel * min(spread, 12.0)) * light * nl;
}
void main() {
  vec4 surface = base * tint;
  if (textured > 0.5) surface *= texture(image, place);
  if (surface.a < cutoff) discard;
  vec3 v = normalize(eye - at);
  vec3 n = smoothed > 0.5 ? normalize(facing) : normalize(cross(dFdx(at), dFdy(at)));
  if (dot(n, v) < 0.0) n = -n;
  vec3 color = surface.rgb;
  if (unlit < 0.5) {
    float rough = clamp(roughness, 0.06, 1.0);
    vec3 albedo = surface.rgb * (1.0 - metallic), f0 = mix(vec3(0.04), surface.rgb, metallic);
    vec3 toEye = normalize(cross(right, up));
    vec3 key = normalize(toEye * 0.75 + up * 0.8 - right * 0.55), fill = normalize(toEye * 0.8 + right * 0.9 + up * 0.1);
    vec3 rim = normalize(-toEye + up * 0.6 + right * 0.4);
    float sky = n.y * 0.5 + 0.5;
    vec3 around = mix(vec3(0.30, 0.28, 0.26), vec3(0.72, 0.76, 0.82), sky);
    vec3 mirrored = reflect(-v, n);
    vec3 beyond = mix(vec3(0.22, 0.20, 0.19), vec3(0.95, 0.97, 1.0), smoothstep(-0.3, 0.8, mirrored.y));
    vec3 sheen = f0 + (max(vec3(1.0 - rough), f0) - f0) * pow(1.0 - max(dot(n, v), 0.0), 5.0);
    color = albedo * around * 0.75 + sheen * beyond * mix(0.9, 0.35, rough);
    color += lit(n, v, key, vec3(2.5, 2.42, 2.3), albedo, f0, rough);
    color += lit(n, v, fill, vec3(0.75, 0.8, 0.9), albedo, f0, rough);
    color += lit(n, v, rim, vec3(0.9), albedo, f0, rough);
  }
  color += emissive;
  color = mix(color, chosen, picked * (0.28 + 0.4 * pow(1.0 - max(dot(n, v), 0.0), 2.0)));
  color *= 0.7;
  color = color * (color * 2.51 + 0.03) / (color * (color * 2.43 + 0.59) + 0.14);
  float alpha = mix(surface.a, 1.0, solid);
  shown = vec4(pow(clamp(color, 0.0, 1.0), vec3(1.0 / 2.2)) * alpha, alpha);
}`;

const BACKDROP_VERTEX = `#version 300 es
precision highp float;
out vec2 at;
void main() { at = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2); gl_Position = vec4(at * 2.0 - 1.0, 0.9999, 1.0); }`;

const BACKDROP = `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 top, bottom;
out vec4 shown;
void main() { shown = vec4(mix(bottom, top, smoothstep(0.0, 1.0, at.y)), 1.0); }`;

const GRID_VERTEX = `#version 300 es
precision highp float;
uniform mat4 camera;
uniform vec3 middle;
uniform float reach;
out vec2 at;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1) * reach;
  at = corner + middle.xz;
  gl_Position = camera * vec4(at.x, -reach * 0.0004, at.y, 1.0);
}`;

const GRID = `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 middle, color;
uniform float reach, step_;
out vec4 shown;
float lines(float size) {
  vec2 wide = fwidth(at / size), near = abs(fract(at / size - 0.5) - 0.5) / wide;
  return (1.0 - min(min(near.x, near.y), 1.0)) * clamp(1.0 - max(wide.x, wide.y) * 3.0, 0.0, 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(at - middle.xz) / reach);
  float alpha = max(lines(step_) * 0.35, lines(step_ * 10.0) * 0.7) * fade;
  shown = vec4(color * alpha, alpha);
}`;

const FIELD = (40 * Math.PI) / 180;
const MOST_PIXELS = 2;
const TURN = 0.0075;
const KEY_TURN = Math.PI / 24;

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b, k = 1) => [a[0] + b[0] * k, a[1] + b[1] * k, a[2] + b[2] * k];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => {
  const length = Math.hypot(...a) || 1;
  return a.map((value) => value / length);
};
const moved = (m, p) => [0, 1, 2].map((row) => m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row]);

// The inverse of the upper part of a matrix, as rows.
function inverted(m) {
  const [a, b, c, d, e, f, g, h, i] = [m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]];
  const by = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) || 1e-12;
  return [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g, b * g - a * h, a * e - b * d]
    .map((value) => value / by);
}

function linear(text) {
  const [red, green, blue] = text.match(/[\d.]+/g)?.map(Number) ?? [128, 128, 128];
  return [red / 255, green / 255, blue / 255];
}

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(`the scene cannot be drawn: ${gl.getProgramInfoLog(made)}`);
  const at = new Map();
  return { made, at: (name) => at.get(name) ?? at.set(name, gl.getUniformLocation(made, name)).get(name) };
}

export class SceneView {
  #element; #canvas; #gl; #scene; #programs; #buffers; #textures; #waits = false; #ended = false; #quiet;
  #turn = -0.7; #lift = 0.45; #away = 10; #target = [0, 0, 0]; #pointers = new Map(); #travelled = 0; #chosen = null; #watch; #pace = 0;

  constructor(element, glbBytes) {
    this.#element = element;
    this.#scene = readGlb(glbBytes);
    this.#quiet = matchMedia("(prefers-reduced-motion: reduce)");
    this.#canvas = document.createElement("canvas");
    this.#canvas.className = "scene-canvas";
    this.#canvas.tabIndex = 0;
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", "The scene. Arrow keys turn it, plus and minus zoom, Home shows everything.");
    element.replaceChildren(this.#canvas);
    this.#gl = this.#canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "low-power" });
    if (!this.#gl) throw new Error("this browser has no WebGL2");
    this.#bounds();
    this.#prepare();
    this.#listen();
    this.#stand();
    this.frame();
  }

  // Returns the names of the objects in the scene.
  get objects() {
    return [...new Set(this.#scene.drawn.map((each) => each.name))];
  }

  get triangles() {
    return this.#scene.drawn.reduce((sum, { geometry }) => sum + (geometry.indices ?? geometry.positions).length / 3, 0);
  }

  get position() {
    return { turn: this.#turn, lift: this.#lift, away: this.#away, target: [...this.#target] };
  }

  set position({ turn, lift, away, target }) {
    [this.#turn, this.#lift, this.#away, this.#target] = [turn, lift, away, [...target]];
    this.refresh();
  }

  get selected() {
    return this.#chosen;
  }

  // Highlights an object; null for none.
  select(name) {
    this.#chosen = name;
    this.refresh();
  }

  // Moves the view so that everything, or one object, is visible.
  frame(name = null) {
    const shown = name === null ? withoutGround(this.#scene.drawn) : this.#scene.drawn.filter((each) => each.name === name);
    const [low, high] = joined(shown.map((each) => each.bounds));
    const middle = low.map((value, axis) => (value + high[axis]) / 2);
    const radius = Math.max(Math.hypot(...sub(high, low)) / 2, 0.01);
    const shape = Math.min(1, (this.#canvas.clientWidth || 4) / (this.#canvas.clientHeight || 3));
    this.#go({ target: middle, away: (radius * 1.12) / Math.sin(FIELD / 2) / shape });
  }

  refresh() {
    if (this.#waits || this.#ended) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      if (!this.#ended && !this.#gl.isContextLost()) this.#draw();
    });
  }

  dispose() {
    this.#ended = true;
    this.#watch.disconnect();
    this.#gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.#canvas.remove();
  }

  // Starts on the side of the scene's camera, because its author chose that side.
  #stand() {
    const [camera] = this.#scene.cameras;
    if (!camera) return;
    const [x, y, z] = unit([camera[8], camera[9], camera[10]]);
    this.#turn = Math.atan2(x, z);
    this.#lift = Math.min(1.2, Math.max(-0.3, Math.asin(y)));
  }

  #go({ target, away }) {
    const from = { target: [...this.#target], away: this.#away };
    const pace = ++this.#pace;
    if (this.#quiet.matches || from.away === 10) {
      [this.#target, this.#away] = [target, away];
      this.refresh();
      return;
    }
    const started = performance.now();
    const step = (now) => {
      if (this.#ended || pace !== this.#pace) return;
      const part = Math.min(1, (now - started) / 260);
      const eased = 1 - (1 - part) ** 3;
      this.#target = from.target.map((value, axis) => value + (target[axis] - value) * eased);
      this.#away = from.away + (away - from.away) * eased;
      this.refresh();
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  #bounds() {
    for (const each of this.#scene.drawn) {
      const { positions } = each.geometry;
      const low = [Infinity, Infinity, Infinity];
      const high = [-Infinity, -Infinity, -Infinity];
      for (let i = 0; i < positions.length; i += 3) {
        for (let axis = 0; axis < 3; axis++) {
          low[axis] = Math.min(low[axis], positions[i + axis]);
          high[axis] = Math.max(high[axis], positions[i + axis]);
        }
      }
      each.box = [low, high];
      const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((n) =>
        moved(each.matrix, [n & 1 ? high[0] : low[0], n & 2 ? high[1] : low[1], n & 4 ? high[2] : low[2]]));
      each.bounds = joined(corners.map((corner) => [corner, corner]));
    }
  }

  #prepare() {
    const gl = this.#gl;
    this.#programs = {
      surface: program(gl, VERTEX, FRAGMENT),
      backdrop: program(gl, BACKDROP_VERTEX, BACKDROP),
      grid: program(gl, GRID_VERTEX, GRID),
    };
    this.#buffers = new Map();
    for (const { geometry } of this.#scene.drawn) {
      if (!this.#buffers.has(geometry)) this.#buffers.set(geometry, this.#upload(geometry));
    }
    this.#textures = this.#scene.images.map(() => null);
    this.#scene.images.forEach((blob, index) => blob && this.#decode(blob, index));
  }

  #upload(geometry) {
    const gl = this.#gl;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const attribute = (at, values, size) => {
      if (!values) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
    };
    attribute(0, geometry.positions, 3);
    attribute(1, geometry.normals, 3);
    attribute(2, geometry.uvs, 2);
    attribute(3, geometry.colors, geometry.colorSize);
    if (geometry.indices) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, geometry.indices, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return array;
  }

  async #decode(blob, index) {
    let bitmap;
    try {
      bitmap = await createImageBitmap(blob, { premultiplyAlpha: "none", colorSpaceConversion: "none" });
    } catch {
      return; // an unreadable image leaves the plain colour
    }
    if (this.#ended || this.#gl.isContextLost()) return;
    const gl = this.#gl;
    this.#textures[index] = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.#textures[index]);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.SRGB8_ALPHA8, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    bitmap.close();
    this.refresh();
  }

  #eye() {
    const flat = Math.cos(this.#lift);
    const back = [Math.sin(this.#turn) * flat, Math.sin(this.#lift), Math.cos(this.#turn) * flat];
    const right = unit(cross([0, 1, 0], back));
    return { eye: add(this.#target, back, this.#away), back, right, up: cross(back, right) };
  }

  #camera({ eye, back, right, up }) {
    const near = Math.max(this.#away / 200, 0.001);
    const far = this.#away * 40;
    const tall = 1 / Math.tan(FIELD / 2);
    const shape = this.#canvas.width / this.#canvas.height;
    const view = new Float32Array([
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
    ]);
    const lens = new Float32Array([
      tall / shape, 0, 0, 0, 0, tall, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
    ]);
    return multiply(lens, view);
  }

  #draw() {
    const gl = this.#gl;
    const scale = Math.min(devicePixelRatio || 1, MOST_PIXELS);
    const width = Math.max(1, Math.round(this.#canvas.clientWidth * scale));
    const height = Math.max(1, Math.round(this.#canvas.clientHeight * scale));
    if (this.#canvas.width !== width || this.#canvas.height !== height) [this.#canvas.width, this.#canvas.height] = [width, height];
    const style = getComputedStyle(this.#element);
    const color = (name, otherwise) => linear(style.getPropertyValue(name).trim() || otherwise);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.DEPTH_TEST);
    const eyes = this.#eye();
    const camera = this.#camera(eyes);
    this.#backdrop(color("--scene-top", "rgb(120 124 130)"), color("--scene-bottom", "rgb(80 84 90)"));
    const away = (each) => Math.hypot(...sub(each.bounds[0].map((v, axis) => (v + each.bounds[1][axis]) / 2), eyes.eye));
    const clear = (each) => each.geometry.material.mode === "BLEND" || each.geometry.material.transmission > 0;
    const surface = this.#programs.surface;
    gl.useProgram(surface.made);
    gl.uniformMatrix4fv(surface.at("camera"), false, camera);
    gl.uniform3fv(surface.at("eye"), eyes.eye);
    gl.uniform3fv(surface.at("right"), eyes.right);
    gl.uniform3fv(surface.at("up"), eyes.up);
    gl.uniform3fv(surface.at("chosen"), color("--accent", "rgb(220 110 30)").map((value) => value ** 2.2));
    gl.uniform1i(surface.at("image"), 0);
    gl.disable(gl.BLEND);
    for (const each of this.#scene.drawn) if (!clear(each)) this.#surface(surface, each);
    this.#grid(camera, color("--scene-grid", "rgb(160 164 170)"));
    gl.useProgram(surface.made);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    const behind = this.#scene.drawn.filter(clear).sort((a, b) => away(b) - away(a));
    for (const each of behind) this.#surface(surface, each);
    gl.depthMask(true);
    gl.bindVertexArray(null);
  }

  #backdrop(top, bottom) {
    const gl = this.#gl;
    gl.useProgram(this.#programs.backdrop.made);
    gl.uniform3fv(this.#programs.backdrop.at("top"), top);
    gl.uniform3fv(this.#programs.backdrop.at("bottom"), bottom);
    gl.disable(gl.BLEND);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }

  #grid(camera, color) {
    const gl = this.#gl;
    const grid = this.#programs.grid;
    const step = 10 ** Math.floor(Math.log10(this.#away / 4));
    gl.useProgram(grid.made);
    gl.uniformMatrix4fv(grid.at("camera"), false, camera);
    gl.uniform3fv(grid.at("middle"), this.#target);
    gl.uniform3fv(grid.at("color"), color);
    gl.uniform1f(grid.at("reach"), this.#away * 3);
    gl.uniform1f(grid.at("step_"), step);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
  }

  #surface(surface, { name, matrix, geometry }) {
    const gl = this.#gl;
    const look = geometry.material;
    const rows = inverted(matrix);
    gl.uniformMatrix4fv(surface.at("world"), false, matrix);
    // Normals turn with the transposed inverse; its columns are the rows of the inverse.
    gl.uniformMatrix3fv(surface.at("turned"), false, rows);
    const alpha = look.color[3] * (1 - 0.75 * look.transmission);
    gl.uniform4fv(surface.at("base"), [...look.color.slice(0, 3), alpha]);
    gl.uniform3fv(surface.at("emissive"), look.emissive);
    gl.uniform1f(surface.at("metallic"), look.metallic);
    gl.uniform1f(surface.at("roughness"), look.roughness);
    gl.uniform1f(surface.at("cutoff"), look.cutoff);
    gl.uniform1f(surface.at("smoothed"), geometry.normals ? 1 : 0);
    gl.uniform1f(surface.at("unlit"), look.unlit || geometry.mode < 4 ? 1 : 0);
    gl.uniform1f(surface.at("picked"), name === this.#chosen ? 1 : 0);
    gl.uniform1f(surface.at("solid"), look.mode === "BLEND" || look.transmission > 0 ? 0 : 1);
    const texture = look.texture === undefined ? null : this.#textures[look.texture];
    gl.uniform1f(surface.at("textured"), texture && geometry.uvs ? 1 : 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    const { offset = [0, 0], rotation = 0, scale = [1, 1] } = look.uvTransform ?? {};
    const [sine, cosine] = [Math.sin(rotation), Math.cos(rotation)];
    gl.uniform3f(surface.at("uvX"), cosine * scale[0], sine * scale[1], offset[0]);
    gl.uniform3f(surface.at("uvY"), -sine * scale[0], cosine * scale[1], offset[1]);
    (look.doubleSided || look.transmission > 0 ? gl.disable : gl.enable).call(gl, gl.CULL_FACE);
    gl.frontFace(turnsOver(matrix) ? gl.CW : gl.CCW);
    gl.bindVertexArray(this.#buffers.get(geometry));
    if (!geometry.colors) gl.vertexAttrib4f(3, 1, 1, 1, 1);
    if (!geometry.normals) gl.vertexAttrib3f(1, 0, 1, 0);
    if (geometry.indices) gl.drawElements(geometry.mode, geometry.indices.length, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(geometry.mode, 0, geometry.positions.length / 3);
  }

  #listen() {
    const canvas = this.#canvas;
    this.#watch = new ResizeObserver(() => this.refresh());
    this.#watch.observe(canvas);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      if (this.#ended) return;
      this.#prepare();
      this.refresh();
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.#travelled = 0;
    });
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    for (const kind of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, (event) => {
        if (kind === "pointerup" && this.#travelled < 5 && this.#pointers.size === 1 && event.button === 0) this.#pick(event);
        this.#pointers.delete(event.pointerId);
      });
    }
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.#zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.0018));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.frame(this.#chosen));
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  #drag(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    this.#travelled += Math.abs(dx) + Math.abs(dy);
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.#pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (others.length) {
      const span = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1;
      this.#zoom(span(before) / span([event.clientX, event.clientY]));
      this.#pan(dx / 2, dy / 2);
    } else if (event.buttons & 6 || event.shiftKey) this.#pan(dx, dy);
    else this.#orbit(-dx * TURN, dy * TURN);
  }

  #orbit(turn, lift) {
    this.#pace++;
    this.#turn += turn;
    this.#lift = Math.min(1.55, Math.max(-1.55, this.#lift + lift));
    this.refresh();
  }

  #pan(dx, dy) {
    this.#pace++;
    const { right, up } = this.#eye();
    const size = (2 * this.#away * Math.tan(FIELD / 2)) / this.#canvas.clientHeight;
    this.#target = add(add(this.#target, right, -dx * size), up, dy * size);
    this.refresh();
  }

  #zoom(by) {
    this.#pace++;
    this.#away = Math.min(1e5, Math.max(1e-3, this.#away * by));
    this.refresh();
  }

  #key(event) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (x || y) {
      if (event.shiftKey) this.#pan(-x * 24, y * 24);
      else this.#orbit(x * KEY_TURN, y * KEY_TURN);
    } else if (event.key === "+" || event.key === "=") this.#zoom(0.88);
    else if (event.key === "-") this.#zoom(1 / 0.88);
    else if (event.key === "Home" || event.key === "f") this.frame();
    else return;
    event.preventDefault();
  }

  #pick(event) {
    const place = this.#canvas.getBoundingClientRect();
    const x = ((event.clientX - place.left) / place.width) * 2 - 1;
    const y = 1 - ((event.clientY - place.top) / place.height) * 2;
    const { eye, back, right, up } = this.#eye();
    const wide = Math.tan(FIELD / 2);
    const shape = place.width / place.height;
    const ray = unit(add(add(back.map((value) => -value), right, x * wide * shape), up, y * wide));
    let [nearest, name] = [Infinity, null];
    for (const each of this.#scene.drawn) {
      const met = hit(each, eye, ray);
      if (met < nearest) [nearest, name] = [met, each.name];
    }
    this.select(name);
    this.#element.dispatchEvent(new CustomEvent("pick", { detail: { name } }));
  }
}

function joined(boxes) {
  if (!boxes.length) return [[-1, -1, -1], [1, 1, 1]];
  return boxes.reduce(([low, high], box) => [
    low.map((value, axis) => Math.min(value, box[0][axis])),
    high.map((value, axis) => Math.max(value, box[1][axis])),
  ]);
}

// Finds objects that are far larger than the rest, such as a floor, a wall or a sky.
function withoutGround(drawn) {
  const size = (each) => Math.hypot(...sub(each.bounds[1], each.bounds[0]));
  const sizes = drawn.map(size).sort((a, b) => a - b);
  const usual = sizes[Math.floor(sizes.length * 0.75)] ?? 0;
  const rest = drawn.filter((each) => size(each) <= usual * 5);
  return rest.length ? rest : drawn;
}

function turnsOver(m) {
  return dot(cross([m[0], m[1], m[2]], [m[4], m[5], m[6]]), [m[8], m[9], m[10]]) < 0;
}

// Returns the distance along a ray to the nearest triangle, or Infinity without a hit.
function hit({ matrix, geometry, box }, eye, ray) {
  if (geometry.mode !== 4) return Infinity;
  const rows = inverted(matrix);
  const turned = (v) => [dot(rows.slice(0, 3), v), dot(rows.slice(3, 6), v), dot(rows.slice(6, 9), v)];
  const from = turned(sub(eye, [matrix[12], matrix[13], matrix[14]]));
  const along = turned(ray);
  let [enter, leave] = [0, Infinity];
  for (let axis = 0; axis < 3; axis++) {
    const [one, other] = [(box[0][axis] - from[axis]) / along[axis], (box[1][axis] - from[axis]) / along[axis]];
    enter = Math.max(enter, Math.min(one, other));
    leave = Math.min(leave, Math.max(one, other));
  }
  if (!(enter <= leave)) return Infinity;
  const { positions, indices } = geometry;
  const count = indices ? indices.length : positions.length / 3;
  const corner = (at) => {
    const start = (indices ? indices[at] : at) * 3;
    return [positions[start], positions[start + 1], positions[start + 2]];
  };
  let nearest = Infinity;
  for (let at = 0; at + 2 < count; at += 3) {
    const a = corner(at);
    const [first, second] = [sub(corner(at + 1), a), sub(corner(at + 2), a)];
    const p = cross(along, second);
    const by = dot(first, p);
    if (Math.abs(by) < 1e-14) continue;
    const s = sub(from, a);
    const u = dot(s, p) / by;
    if (u < 0 || u > 1) continue;
    const q = cross(s, first);
    const v = dot(along, q) / by;
    if (v < 0 || u + v > 1) continue;
    const t = dot(second, q) / by;
    if (t > 0 && t < nearest) nearest = t;
  }
  return nearest;
}
