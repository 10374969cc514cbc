// Triangles on the GPU, for marks that are neither boxes nor straight lines:
// polygons with their outlines, and paths. The order of triangles is the order of
// drawing, so that what lies in front hides what lies behind, outlines included.

import type { Device, Drawable } from "./device";

/** Collects corners and triangles. A corner is a place, moved across by pixels that do not scale. */
export class Mesh {
  /** x, y, and the move across in pixels. */
  private corners = new Float32Array(1024);
  /** Colour in the low half, flags above. */
  private looks = new Uint32Array(256);
  private index = new Uint32Array(1024);
  private count = 0;
  private indices = 0;

  /** Adds a corner and gives its number. */
  corner(x: number, y: number, dx: number, dy: number, colour: number, flags: number): number {
    if ((this.count + 1) * 4 > this.corners.length) {
      this.corners = grown(this.corners);
      this.looks = grown(this.looks);
    }
    this.corners.set([x, y, dx, dy], this.count * 4);
    this.looks[this.count] = colour | (flags << 16);
    return this.count++;
  }

  triangle(a: number, b: number, c: number): void {
    if (this.indices + 3 > this.index.length) this.index = grown(this.index);
    this.index[this.indices++] = a;
    this.index[this.indices++] = b;
    this.index[this.indices++] = c;
  }

  /** A straight line with flat ends, half as wide as given to each side. */
  segment(x0: number, y0: number, x1: number, y1: number, half: number, colour: number, flags: number): void {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (!(length > 0)) return;
    const [nx, ny] = [(-(y1 - y0) / length) * half, ((x1 - x0) / length) * half];
    const a = this.corner(x0, y0, nx, ny, colour, flags);
    const b = this.corner(x0, y0, -nx, -ny, colour, flags);
    const c = this.corner(x1, y1, nx, ny, colour, flags);
    const d = this.corner(x1, y1, -nx, -ny, colour, flags);
    this.triangle(a, b, c);
    this.triangle(c, b, d);
  }

  upload(d: Device): Drawable {
    const { gl } = d;
    const array = gl.createVertexArray()!;
    const buffers = [gl.createBuffer()!, gl.createBuffer()!, gl.createBuffer()!];
    const p = d.program("mesh", vertex, fragment);
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]!);
    gl.bufferData(gl.ARRAY_BUFFER, this.corners.subarray(0, this.count * 4), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[1]!);
    gl.bufferData(gl.ARRAY_BUFFER, this.looks.subarray(0, this.count), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[2]!);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.index.subarray(0, this.indices), gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    const n = this.indices;
    return {
      draw(t) {
        d.use(p, t);
        gl.bindVertexArray(array);
        gl.drawElements(gl.TRIANGLES, n, gl.UNSIGNED_INT, 0);
        gl.bindVertexArray(null);
      },
      free() {
        gl.deleteVertexArray(array);
        for (const b of buffers) gl.deleteBuffer(b);
      },
    };
  }
}

function grown<T extends Float32Array | Uint32Array>(a: T): T {
  const out = new (a.constructor as new (n: number) => T)(a.length * 2);
  out.set(a);
  return out;
}

const vertex = `
layout(location = 0) in vec4 aCorner;
layout(location = 1) in uint aLook;
flat out vec4 vFill;
flat out uint vFlags;

void main() {
  vFlags = aLook >> 16;
  vFill = look(aLook & 0xffffu, (vFlags & 4u) != 0u);
  gl_Position = place(aCorner.xy * uMap.xz + uMap.yw + aCorner.zw * uScale);
}`;

const fragment = `
flat in vec4 vFill;
flat in uint vFlags;
out vec4 colour;

void main() {
  colour = vFill;
  if ((vFlags & 3u) == 0u) return;
  colour = hatched(colour, vFlags, vec2(floor(gl_FragCoord.x), uSize.y - 1.0 - floor(gl_FragCoord.y)));
}`;
