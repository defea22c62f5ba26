// A reader for GLB files: meshes, materials and images, with the nodes' transforms applied. It ignores references to other files.

const COMPONENTS = {
  5120: [Int8Array, 127], 5121: [Uint8Array, 255], 5122: [Int16Array, 32767], 5123: [Uint16Array, 65535], 5125: [Uint32Array, 0],
  5126: [Float32Array, 0],
};
const SIZES = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT2: 4, MAT3: 9, MAT4: 16 };
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
const MAGIC = 0x46546c67;
const DEEPEST = 512;

export const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row] * b[column * 4 + k];
      out[column * 4 + row] = sum;
    }
  }
  return out;
}

function composed(node) {
  if (node.matrix) return new Float32Array(node.matrix);
  const [x, y, z, w] = node.rotation ?? [0, 0, 0, 1];
  const [sx, sy, sz] = node.scale ?? [1, 1, 1];
  const [tx, ty, tz] = node.translation ?? [0, 0, 0];
  return new Float32Array([
    (1 - 2 * (y * y + z * z)) * sx, 2 * (x * y + z * w) * sx, 2 * (x * z - y * w) * sx, 0,
    2 * (x * y - z * w) * sy, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z + x * w) * sy, 0,
    2 * (x * z + y * w) * sz, 2 * (y * z - x * w) * sz, (1 - 2 * (x * x + y * y)) * sz, 0,
    tx, ty, tz, 1,
  ]);
}

class Reader {
  constructor(json, binary) {
    this.json = json;
    this.binary = binary;
  }

  view(index) {
    const view = this.json.bufferViews?.[index];
    if (!view || view.buffer !== 0) throw new Error("the GLB refers to a buffer that it does not contain");
    const start = view.byteOffset ?? 0;
    if (start + view.byteLength > this.binary.byteLength) throw new Error("the GLB is truncated");
    return { bytes: this.binary.subarray(start, start + view.byteLength), stride: view.byteStride };
  }

  // Returns the values of an accessor without gaps: floats, or integers for indices.
  values(index, asIndices = false) {
    const accessor = this.json.accessors?.[index];
    if (!accessor) throw new Error("the GLB refers to values that it does not contain");
    const [Kind, most] = COMPONENTS[accessor.componentType];
    const size = SIZES[accessor.type];
    const total = accessor.count * size;
    const out = asIndices ? new Uint32Array(total) : new Float32Array(total);
    const scale = !asIndices && accessor.normalized && most ? 1 / most : 1;
    if (accessor.bufferView !== undefined) {
      const { bytes, stride } = this.view(accessor.bufferView);
      this.#copy(bytes, stride, accessor.byteOffset ?? 0, Kind, size, accessor.count, scale, out);
    }
    if (accessor.sparse) {
      const { count, indices, values } = accessor.sparse;
      const [IndexKind] = COMPONENTS[indices.componentType];
      const places = new Uint32Array(count);
      const replaced = new Float32Array(count * size);
      this.#copy(this.view(indices.bufferView).bytes, 0, indices.byteOffset ?? 0, IndexKind, 1, count, 1, places);
      this.#copy(this.view(values.bufferView).bytes, 0, values.byteOffset ?? 0, Kind, size, count, scale, replaced);
      places.forEach((place, at) => out.set(replaced.subarray(at * size, (at + 1) * size), place * size));
    }
    return out;
  }

  #copy(bytes, stride, offset, Kind, size, count, scale, out) {
    const width = Kind.BYTES_PER_ELEMENT;
    const step = stride || width * size;
    if (offset + step * (count - 1) + width * size > bytes.byteLength) throw new Error("the GLB is truncated");
    const start = bytes.byteOffset + offset;
    if (step === width * size && start % width === 0) {
      const source = new Kind(bytes.buffer, start, count * size);
      if (scale === 1) out.set(source);
      else for (let i = 0; i < source.length; i++) out[i] = Math.max(-1, source[i] * scale);
      return;
    }
    const data = new DataView(bytes.buffer, start);
    const read = `get${Kind.name.replace("Array", "")}`;
    for (let item = 0; item < count; item++) {
      for (let part = 0; part < size; part++) {
        out[item * size + part] = data[read](item * step + part * width, true) * scale;
      }
    }
  }
}

function material(json, index) {
  const found = json.materials?.[index] ?? {};
  const surface = found.pbrMetallicRoughness ?? {};
  const texture = surface.baseColorTexture;
  const strength = found.extensions?.KHR_materials_emissive_strength?.emissiveStrength ?? 1;
  return {
    color: surface.baseColorFactor ?? [1, 1, 1, 1],
    metallic: surface.metallicFactor ?? 1,
    roughness: surface.roughnessFactor ?? 1,
    emissive: (found.emissiveFactor ?? [0, 0, 0]).map((value) => value * Math.min(strength, 8)),
    unlit: Boolean(found.extensions?.KHR_materials_unlit),
    transmission: found.extensions?.KHR_materials_transmission?.transmissionFactor ?? 0,
    mode: found.alphaMode ?? "OPAQUE",
    cutoff: found.alphaMode === "MASK" ? found.alphaCutoff ?? 0.5 : -1,
    doubleSided: Boolean(found.doubleSided),
    texture: texture ? json.textures?.[texture.index]?.source : undefined,
    uvSet: texture?.extensions?.KHR_texture_transform?.texCoord ?? texture?.texCoord ?? 0,
    uvTransform: texture?.extensions?.KHR_texture_transform,
  };
}

function parts(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 20 || data.getUint32(0, true) !== MAGIC) throw new Error("this is not a GLB file");
  let json;
  let binary = new Uint8Array(0);
  for (let at = 12; at + 8 <= bytes.byteLength; ) {
    const length = data.getUint32(at, true);
    const chunk = bytes.subarray(at + 8, at + 8 + length);
    const kind = data.getUint32(at + 4, true);
    if (kind === JSON_CHUNK) json = JSON.parse(new TextDecoder().decode(chunk));
    if (kind === BINARY_CHUNK) binary = chunk;
    at += 8 + length;
  }
  if (!json) throw new Error("this GLB has no content");
  return { json, binary };
}

// Returns everything to draw, in world space: one entry per primitive and node, with the object's name. `cameras` are matrices.
export function readGlb(source) {
  const bytes = source instanceof Uint8Array ? source : new Uint8Array(source);
  const { json, binary } = parts(bytes);
  const reader = new Reader(json, binary);
  const geometry = new Map();
  const drawn = [];
  const cameras = [];

  function primitiveOf(mesh, index, primitive) {
    const key = `${mesh}:${index}`;
    if (!geometry.has(key)) {
      const { attributes } = primitive;
      const optional = (name) => (attributes[name] === undefined ? undefined : reader.values(attributes[name]));
      const look = material(json, primitive.material);
      const color = attributes.COLOR_0;
      geometry.set(key, {
        positions: reader.values(attributes.POSITION),
        normals: optional("NORMAL"),
        uvs: optional(`TEXCOORD_${look.uvSet}`),
        colors: optional("COLOR_0"),
        colorSize: color === undefined ? 0 : SIZES[json.accessors[color].type],
        indices: primitive.indices === undefined ? undefined : reader.values(primitive.indices, true),
        mode: primitive.mode ?? 4,
        material: look,
      });
    }
    return geometry.get(key);
  }

  function visit(index, parent, depth) {
    const node = json.nodes?.[index];
    if (!node || depth > DEEPEST) return;
    const matrix = multiply(parent, composed(node));
    if (node.camera !== undefined) cameras.push(matrix);
    if (node.mesh !== undefined) {
      // The bones determine the position of a skinned mesh; its node has no effect.
      const place = node.skin === undefined ? matrix : IDENTITY;
      json.meshes[node.mesh].primitives.forEach((primitive, at) => {
        if (primitive.attributes?.POSITION === undefined) return;
        drawn.push({ name: node.name ?? "", matrix: place, geometry: primitiveOf(node.mesh, at, primitive) });
      });
    }
    for (const child of node.children ?? []) visit(child, matrix, depth + 1);
  }

  const scene = json.scenes?.[json.scene ?? 0];
  for (const root of scene?.nodes ?? []) visit(root, IDENTITY, 0);
  const images = (json.images ?? []).map((image) =>
    image.bufferView === undefined ? null : new Blob([reader.view(image.bufferView).bytes], { type: image.mimeType }),
  );
  return { drawn, images, cameras };
}
