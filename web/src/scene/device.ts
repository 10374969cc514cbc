// The GPU: one WebGL2 context for all painters of the page (browsers allow about
// sixteen, a workbench may have more panels), and what the marks share on it.
//
// Columns go to the GPU as they came over the wire, as textures of 2048 numbers a
// row; vertex shaders fetch what they need by gl_VertexID. Quads are indexed, four
// corners each: instancing is many times slower on some drivers.

import type { Map2 } from "./raster";

export interface Drawable {
  draw(target: Target): void;
  free(): void;
}

/** Where a layer is drawn: its map and the size of the picture in device pixels. */
export interface Target {
  map: Map2;
  width: number;
  height: number;
  scale: number;
}

export type ColumnData = Float32Array | Uint32Array | Uint16Array | Uint8Array;

const rowLength = 2048;
const quadsABatch = 16384;
const softwareNames = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export class Device {
  readonly canvas = document.createElement("canvas");
  readonly gl: WebGL2RenderingContext;
  lost = false;
  private readonly programs = new Map<string, Program>();
  private readonly quads: WebGLBuffer;
  private readonly palettes = new Map<Uint32Array, WebGLTexture>();
  private readonly zero: WebGLTexture;
  private current: WebGLTexture | null = null;

  /** Throws where there is no WebGL2, or none on a GPU unless software will do. */
  constructor(allowSoftware: boolean) {
    const gl = this.canvas.getContext("webgl2", {
      alpha: false, antialias: true, depth: true, stencil: false, failIfMajorPerformanceCaveat: !allowSoftware,
    });
    if (!gl) throw new Error("no WebGL2");
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    if (!allowSoftware && softwareNames.test(name)) {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
      throw new Error(`WebGL2 is drawn in software: ${name}`);
    }
    this.gl = gl;
    this.canvas.addEventListener("webglcontextlost", () => (this.lost = true));
    this.quads = this.quadIndices();
    this.zero = this.column(new Uint8Array(1));
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  private quadIndices(): WebGLBuffer {
    const { gl } = this;
    const index = new Uint16Array(quadsABatch * 6);
    for (let i = 0, v = 0; i < index.length; i += 6, v += 4) index.set([v, v + 1, v + 2, v + 2, v + 1, v + 3], i);
    const buffer = gl.createBuffer()!;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.STATIC_DRAW);
    return buffer;
  }

  /** Starts a picture; it grows the shared canvas, which never shrinks. */
  begin(width: number, height: number, table: Uint32Array, dimmed: Uint32Array): void {
    const { gl, canvas } = this;
    if (canvas.width < width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.ONE, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.scissor(0, 0, width, height);
    const ground = table[0]!;
    gl.clearColor((ground & 255) / 255, ((ground >>> 8) & 255) / 255, ((ground >>> 16) & 255) / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.current = this.paletteOf(table, dimmed);
  }

  /** Clips to a box of device pixels, from the top left. */
  clip(x0: number, y0: number, x1: number, y1: number, height: number): void {
    this.gl.scissor(x0, height - y1, Math.max(x1 - x0, 0), Math.max(y1 - y0, 0));
  }

  private paletteOf(table: Uint32Array, dimmed: Uint32Array): WebGLTexture {
    const known = this.palettes.get(table);
    if (known) return known;
    const { gl } = this;
    const texture = this.texture();
    const bytes = new Uint32Array(rowLength * 2);
    bytes.set(table.subarray(0, rowLength), 0);
    bytes.set(dimmed.subarray(0, rowLength), rowLength);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, rowLength, 2);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, rowLength, 2, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(bytes.buffer));
    this.palettes.set(table, texture);
    return texture;
  }

  private texture(): WebGLTexture {
    const { gl } = this;
    const texture = gl.createTexture()!;
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  }

  /** Puts a column on the GPU, without changing it. */
  column(data: ColumnData): WebGLTexture {
    const { gl } = this;
    const texture = this.texture();
    const [inside, format, type] =
      data instanceof Float32Array ? [gl.R32F, gl.RED, gl.FLOAT]
      : data instanceof Uint32Array ? [gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT]
      : data instanceof Uint16Array ? [gl.R16UI, gl.RED_INTEGER, gl.UNSIGNED_SHORT]
      : [gl.R8UI, gl.RED_INTEGER, gl.UNSIGNED_BYTE];
    const whole = Math.floor(data.length / rowLength);
    const rest = data.length - whole * rowLength;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texStorage2D(gl.TEXTURE_2D, 1, inside, rowLength, Math.max(whole + (rest > 0 ? 1 : 0), 1));
    if (whole > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, rowLength, whole, format, type, data, 0);
    if (rest > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, whole, rest, 1, format, type, data, whole * rowLength);
    return texture;
  }

  /** An optional column: one zero stands for an absent one. */
  optional(data: Uint8Array | null | undefined): WebGLTexture | null {
    return data ? this.column(data) : null;
  }

  free(...textures: (WebGLTexture | null)[]): void {
    for (const t of textures) if (t) this.gl.deleteTexture(t);
  }

  /** The program of a name; it is made at first use. */
  program(name: string, vertex: string, fragment: string): Program {
    let p = this.programs.get(name);
    if (!p) this.programs.set(name, (p = new Program(this.gl, vertex, fragment)));
    return p;
  }

  /** Makes a program current, with what all programs share. */
  use(p: Program, t: Target): void {
    const { gl } = this;
    gl.useProgram(p.handle);
    gl.uniform4f(p.at("uMap"), t.map.ax, t.map.bx, t.map.ay, t.map.by);
    gl.uniform2f(p.at("uSize"), t.width, t.height);
    gl.uniform1f(p.at("uScale"), t.scale);
    this.bind(p, "uPalette", 0, this.current);
  }

  bind(p: Program, name: string, unit: number, texture: WebGLTexture | null): void {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture ?? this.zero);
    gl.uniform1i(p.at(name), unit);
  }

  /** Draws n quads; the shader finds quad and corner as uBase + gl_VertexID / 4 and gl_VertexID % 4. */
  drawQuads(p: Program, n: number): void {
    const { gl } = this;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.quads);
    for (let from = 0; from < n; from += quadsABatch) {
      gl.uniform1i(p.at("uBase"), from);
      gl.drawElements(gl.TRIANGLES, Math.min(n - from, quadsABatch) * 6, gl.UNSIGNED_SHORT, 0);
    }
  }
}

/** A linked program that remembers where its uniforms are. */
export class Program {
  readonly handle: WebGLProgram;
  private readonly places = new Map<string, WebGLUniformLocation | null>();

  constructor(private readonly gl: WebGL2RenderingContext, vertex: string, fragment: string) {
    this.handle = gl.createProgram()!;
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, prelude + text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`shader: ${gl.getShaderInfoLog(shader) ?? ""}`);
      }
      gl.attachShader(this.handle, shader);
    }
    gl.linkProgram(this.handle);
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`shaders do not fit: ${gl.getProgramInfoLog(this.handle) ?? ""}`);
    }
  }

  at(name: string): WebGLUniformLocation | null {
    let place = this.places.get(name);
    if (place === undefined) this.places.set(name, (place = this.gl.getUniformLocation(this.handle, name)));
    return place;
  }
}

/** What every shader may use; the same rules as raster.ts. Pixels count from the top left. */
const prelude = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
uniform vec4 uMap;
uniform vec2 uSize;
uniform float uScale;
uniform sampler2D uPalette;

ivec2 cellOf(int i) { return ivec2(i & 2047, i >> 11); }
float number(sampler2D column, int i) { return texelFetch(column, cellOf(i), 0).r; }
uint whole(usampler2D column, int i) { return texelFetch(column, cellOf(i), 0).r; }

// A colour, premultiplied; nothing past the table.
vec4 look(uint index, bool isDimmed) {
  if (index >= 2048u) return vec4(0);
  vec4 c = texelFetch(uPalette, ivec2(int(index), isDimmed ? 1 : 0), 0);
  return vec4(c.rgb * c.a, c.a);
}
vec4 over(vec4 under, vec4 c, float cover) { c *= cover; return c + under * (1.0 - c.a); }
vec4 place(vec2 pixel) { return vec4(pixel.x / uSize.x * 2.0 - 1.0, 1.0 - pixel.y / uSize.y * 2.0, 0, 1); }
// Outside every clip: for things that are not drawn.
vec4 nowhere() { return vec4(2, 2, 2, 1); }
float band(float inside) { return clamp(inside + 0.5, 0.0, 1.0); }
bool drawable(float v) { return v > -1048576.0 && v < 1048576.0; }

float hatchAt(vec2 at, float stepWidth, float lineWidth, bool rising) {
  float across = (rising ? at.x + at.y + 1.0 : at.x - at.y) * 0.70710678;
  across -= floor(across / stepWidth) * stepWidth;
  float d = min(abs(across - lineWidth * 0.5), abs(across - stepWidth - lineWidth * 0.5));
  return clamp(lineWidth * 0.5 + 0.5 - d, 0.0, 1.0);
}
// Lines of aggregated and hatched things; 15 is UIHatch.
vec4 hatched(vec4 c, uint flags, vec2 at) {
  vec4 ink = look(15u, false);
  if ((flags & 1u) != 0u) c = over(c, ink, hatchAt(at, 6.0 * uScale, 1.5 * uScale, true));
  if ((flags & 2u) != 0u) c = over(c, ink, hatchAt(at, 4.0 * uScale, uScale, false));
  return c;
}
`;

let shared: Device | null = null;
let refused = false;

/** The page's device, or null where there is no GPU. It is made anew after it was lost. */
export function device(allowSoftware: boolean): Device | null {
  if (shared && !shared.lost) return shared;
  if (refused && !allowSoftware) return null;
  try {
    shared = new Device(allowSoftware);
  } catch {
    refused = true;
    shared = null;
  }
  return shared;
}

const settleFor = 500;
let waiting: ((d: Device) => void)[] | null = null;

/** The page's device if it is there; else found is called with it later, unless there is no GPU. */
export function deviceAtRest(found: (d: Device) => void): Device | null {
  if (shared && !shared.lost) return shared;
  if (refused) return null;
  if (waiting) waiting.push(found);
  else {
    waiting = [found];
    setTimeout(() => atRest(seek), settleFor);
  }
  return null;
}

function seek(): void {
  const d = device(false);
  const tell = waiting ?? [];
  waiting = null;
  if (d) for (const f of tell) f(d);
}

function atRest(f: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(f, { timeout: 2000 }); // Safari has none
  else f();
}
